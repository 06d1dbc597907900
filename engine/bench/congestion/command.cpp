// SPDX-License-Identifier: Apache-2.0
// `leadline congestion`: what the help says, which combinations of options are refused, and what then runs.
#include "bench/congestion/command.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/congestion/plan.hpp"
#include "bench/congestion/text.hpp"
#include "command/option_parser.hpp"
#include "command/run_command.hpp"
#include "core/error.hpp"
#include "options/values.hpp"
#include "result/result_file.hpp"

namespace leadline::bench::congestion {
namespace {

constexpr const char* congestion_description =
    "Measures what load does to the messages of others, as GPCNeT does: some hosts (victims) measure latency, "
    "bandwidth and\n"
    "an allreduce, alone and while the other hosts load the network, in turn. It says how many times as long the "
    "median and\n"
    "the slowest hundredth take under load, with intervals, and how that grows with the load. Without a launcher it "
    "starts\n"
    "local processes by itself; under mpirun, mpiexec or srun it measures the ranks they started.";

constexpr const char* congestion_notes =
    "Loads: incast (all send to one), complete (each with all others, both ways), random (random pairs, both ways, "
    "new ones\n"
    "each round), bisection (one half with the other, both ways). Intensity 0 is no load at all: what chance alone "
    "does.\n"
    "A factor is the time under load by that alone, the median over rounds; these are the independent samples of its\n"
    "95 % interval, which needs 6 of them.\n";

constexpr const char* congestion_examples =
    "Examples:\n"
    "  leadline congestion --local 4                        4 processes over TCP on loopback\n"
    "  mpirun -n 64 leadline congestion --load incast,random --intensity 0,50,100%\n"
    "  mpirun -n 64 leadline congestion --topology topology.conf    by what victims share with the load\n"
    "  mpirun -n 64 leadline congestion --fail-above 10     status 1 where the tail grows tenfold\n"
    "  leadline congestion --dry-run --ranks 256 --ranks-per-host 4";

void check_options(const command::IsGiven& is_given, const CongestionRequest& request) {
  if (request.message_sizes_bytes.size() > 1) {
    throw Error(ExitStatus::bad_command_line, "--message-size has several sizes", "the bandwidth test has one",
                "Name one size");
  }
  const bool has_load = std::ranges::any_of(
      request.intensities, [](const std::string& word) { return parse_intensity("--intensity", word) > 0; });
  if (has_load) return;
  for (const char* option : {"--load", "--load-size", "--fail-above"}) {
    if (is_given(option)) throw_no_effect(option, "--intensity 0 is no load");
  }
}

}  // namespace

CongestionRequest parse_congestion_command(const std::vector<std::string>& arguments) {
  CongestionRequest request;
  request.command_line = arguments;
  std::optional<ResultFormat> format;

  command::OptionParser options("leadline congestion", congestion_description,
                                std::string(congestion_notes) + command::exit_status_help + congestion_examples);
  declare_options(options, request, format);

  options.parse(arguments);
  request.format = result::format_for(request.output, format);
  const command::IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  check_options(is_given, request);
  command::validate_run_options(is_given, request);
  command::refuse_sion(request, "a congestion test");
  return request;
}

int congestion_command(const std::vector<std::string>& arguments) {
  CongestionRequest request = parse_congestion_command(arguments);
  if (request.dry_run) {
    return command::say_plan([&] {
      const command::DryRunRanks ranks = command::dry_run_ranks(request, "congestion");
      const std::vector<bool> is_absent(ranks.host_of.size(), false);
      return congestion_plan_text(request, plan(request, ranks.rank_layout(), is_absent));
    });
  }
  return command::run_ranks(request, "congestion",
                            [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                              return run_congestion(request, std::move(bootstrap), module);
                            });
}

}  // namespace leadline::bench::congestion
