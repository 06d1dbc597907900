// SPDX-License-Identifier: Apache-2.0
// `leadline bisection`: what the help says, which combinations of options are refused, and what then runs.
#include "bench/bisection/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/bisection/plan.hpp"
#include "bench/bisection/request.hpp"
#include "bench/bisection/result.hpp"
#include "bench/bisection/stopping.hpp"
#include "bench/bisection/text.hpp"
#include "command/option_parser.hpp"
#include "command/run_command.hpp"
#include "core/units.hpp"
#include "options/values.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::bisection {
namespace {

constexpr const char* default_bisection_sizes = "1MiB";

constexpr const char* bisection_description =
    "Measures the effective bisection bandwidth: all ranks in random pairs, every pair exchanging messages both ways "
    "at\n"
    "once, pattern after pattern of other random pairs, until the mean is known well enough. It says what share of an\n"
    "isolated pair's bandwidth the network keeps up under such a load, which hosts, ports, links or switches are slow, "
    "and\n"
    "which connections are slow only under load. Without a launcher it starts local processes by itself; under "
    "mpirun,\n"
    "mpiexec or srun it measures the ranks they started.";

constexpr const char* bisection_notes =
    "The number: eBB is the mean bandwidth of all connections of all random patterns (each rank that sends has one), "
    "as\n"
    "published by Hoefler, Schneider and Lumsdaine. Patterns are the independent samples of its 95 % interval. "
    "The\n"
    "harmonic mean beside it is the bandwidth of the mean time, which Netgauge prints; it is never the greater.\n"
    "Patterns: random, and with commas between: halves (i with i + P/2), reversal (i with P - 1 - i), neighbour (i "
    "with\n"
    "i xor 1), bit-reversal, transpose, shift:K (i to i + K), shift-each (every K in turn), tornado:G (groups of G "
    "ranks,\n"
    "each to the group half way round). Random pairs come from --seed: the same seed gives the same patterns "
    "anywhere.\n";

constexpr const char* bisection_examples =
    "Examples:\n"
    "  leadline bisection --local 4                         random pairs of 4 processes, over TCP on loopback\n"
    "  mpirun -n 64 leadline bisection --active-ranks-per-host 1    one rank of each host: what the network does\n"
    "  mpirun -n 64 leadline bisection --pattern random,halves,tornado:8 --worst 200\n"
    "  mpirun -n 64 leadline bisection --rounds 100 --precision 0 --time-limit 0    100 patterns, whatever comes\n"
    "  leadline bisection --dry-run --ranks 4096            what a large run would do, and its cost";

void check_without_random(const command::IsGiven& is_given) {
  for (const char* option : {"--seed", "--within-hosts", "--worst", "--rounds", "--precision", "--baseline-pairs",
                             "--retest", "--topology", "--threshold", "--false-discovery-rate", "--buckets"}) {
    if (is_given(option)) throw_no_effect(option, "it is about random patterns, and --pattern names none");
  }
}

void check_patterns(const command::IsGiven& is_given, const BisectionRequest& request) {
  const auto num_random = std::count(request.patterns.begin(), request.patterns.end(), name_of(PatternKind::random));
  if (num_random == 0) check_without_random(is_given);
  if (is_given("--repeat") && num_random == static_cast<std::ptrdiff_t>(request.patterns.size())) {
    throw_no_effect("--repeat",
                    "it is about named patterns, and --pattern has none; --rounds says how many are random");
  }
  if (request.active_ranks_per_host == 1 && request.within_hosts) {
    throw_no_effect("--within-hosts", "with --active-ranks-per-host 1 every pair is between hosts");
  }
}

void check_end(const command::IsGiven& is_given, const BisectionRequest& request) {
  constexpr std::uint64_t least = Stopping::min_patterns;
  if (is_given("--precision") && request.precision > 0 && request.rounds <= least) {
    throw_no_effect("--precision",
                    fmt::format("it is checked from {} patterns on, and --rounds ends at {}", least, request.rounds));
  }
}

}  // namespace

BisectionRequest parse_bisection_command(const std::vector<std::string>& arguments) {
  BisectionRequest request;
  request.command_line = arguments;
  request.message_sizes_bytes = parse_byte_sizes(default_bisection_sizes);
  std::optional<ResultFormat> format;

  command::OptionParser options(
      "leadline bisection", bisection_description,
      std::string(bisection_notes) + command::sizes_help + command::exit_status_help + bisection_examples);
  declare_options(options, request, format);

  options.parse(arguments);
  request.format = result::format_for(request.output, format);
  const command::IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  command::settle_allocator(is_given, request);
  validate_options(is_given, request);
  return request;
}

void validate_options(const command::IsGiven& is_given, const BisectionRequest& request) {
  check_patterns(is_given, request);
  check_end(is_given, request);
  if (request.verify) command::check_verifiable("--verify", request);
  command::validate_run_options(is_given, request);
  command::refuse_sion(request, "a bisection test");
}

int bisection_command(const std::vector<std::string>& arguments) {
  BisectionRequest request = parse_bisection_command(arguments);
  if (request.dry_run) {
    return command::say_plan([&] {
      const command::DryRunRanks ranks = command::dry_run_ranks(request, "bisection");
      return bisection_plan_text(request, plan(request, ranks.rank_layout()));
    });
  }
  return command::run_ranks(request, "bisection",
                            [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                              return run_bisection(request, std::move(bootstrap), module, own_presentation(request));
                            });
}

}  // namespace leadline::bench::bisection
