// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline bisection`: every option with its help, its check and its member of the request.
#include "cli/bisection_options.hpp"

#include <optional>

#include "cli/arguments.hpp"
#include "cli/bisection_validation.hpp"
#include "cli/run_options.hpp"
#include "core/units.hpp"
#include "model/bisection_result.hpp"
#include "result/link_result_file.hpp"
#include "schedule/pattern.hpp"

namespace leadline::cli {
namespace {

constexpr const char* default_sizes = "1MiB";
constexpr std::uint64_t max_exchanges = 1'000'000;  // each is a step with an end of its own, in memory
constexpr std::uint64_t max_patterns = 10'000'000;
constexpr double least_threshold = 0.001;

constexpr const char* description =
    "Measures the effective bisection bandwidth: all ranks in random pairs, every pair exchanging messages both ways "
    "at\n"
    "once, pattern after pattern of other random pairs, until the mean is known well enough. It says what share of an\n"
    "isolated pair's bandwidth the network keeps up under such a load, which ranks are slow in nearly all their pairs, "
    "and\n"
    "which connections are slow only under load. Without a launcher it starts local processes by itself; under "
    "mpirun,\n"
    "mpiexec or srun it measures the ranks they started.";

constexpr const char* words =
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

constexpr const char* examples =
    "Examples:\n"
    "  leadline bisection --local 4                         random pairs of 4 processes, over TCP on loopback\n"
    "  mpirun -n 64 leadline bisection --active-ranks-per-host 1    one rank of each host: what the network does\n"
    "  mpirun -n 64 leadline bisection --pattern random,halves,tornado:8 --worst 200\n"
    "  mpirun -n 64 leadline bisection --rounds 100 --precision 0 --time-limit 0    100 patterns, whatever comes\n"
    "  leadline bisection --dry-run --ranks 4096            what a large run would do, and its cost";

/// Checked as far as that goes without knowing how many ranks there are.
std::vector<std::string> pattern_words(const std::string& option, const std::string& text) {
  std::vector<std::string> list = words_of(text);
  for (const std::string& word : list) {
    if (word != name_of(PatternKind::random)) schedule::parse_pattern(option, word, 1);
  }
  return list;
}

void declare_players(OptionParser& options, BisectionRequest& request) {
  options.count("--active-ranks-per-host", "only so many ranks of each host take part, the lowest; the others wait", 1,
                1u << 26, request.active_ranks_per_host, "all");
  options.flag("--within-hosts", "random pairs may lie on one host, too. Default: only where there is just one host",
               request.within_hosts);
}

void declare_patterns(OptionParser& options, BisectionRequest& request) {
  options.group("Which patterns");
  options.value(
      "--pattern", "LIST", "names with commas between, see below. Default: random",
      [&](const std::string& option, const std::string& text) { request.patterns = pattern_words(option, text); });
  options.count("--seed", "of random patterns and all other random choices", 0, UINT64_MAX, request.seed);
  options.count("--worst",
                "search for bad patterns in N steps: the worst one again, then each swaps partners of the worst so far",
                0, 1'000'000, request.num_worst_steps);
}

void declare_what(OptionParser& options, BisectionRequest& request) {
  options.group("What is measured");
  declare_message_size(options, request, 1, default_sizes);
  options.count("--exchanges", "timed exchanges of a pattern, one after the other", 1, max_exchanges,
                request.num_exchanges);
  options.count("--warmup", "untimed exchanges before them, with the new partners", 0, max_exchanges,
                request.num_warmup);
  options.count("--repeat", "measure all named patterns N times, each kept", 1, 100'000, request.repeat);
  declare_fill(options, request);
  declare_fill_seed(options, request, "1");
  options.flag("--verify",
               "before the timing of a pattern make its exchanges once with new contents, checked byte by "
               "byte",
               request.verify);
  declare_memory_and_wait(options, request);
}

void declare_end(OptionParser& options, BisectionRequest& request) {
  options.group("When it ends (whatever comes first)");
  options.count("--rounds", "so many random patterns of each message size", 1, max_patterns, request.rounds);
  options.share("--precision",
                "the 95 % interval of a size is the mean +- so much, from 20 random patterns on; 0 = never", 0,
                request.precision);
  options.seconds("--time-limit", "so long for all patterns of all message sizes together; 0 = as long as it takes", 0,
                  request.time_limit_s);
}

void declare_beside(OptionParser& options, BisectionRequest& request) {
  options.group("What is measured beside them");
  options.count("--baseline-pairs",
                "after each random pattern N of its pairs again, each alone: what the network gives an isolated pair; "
                "0 = none",
                0, 1000, request.num_baseline_pairs);
  options.count("--retest", "at the end of a size the N slowest connections again, alone", 0, 100'000, request.retest);
  options.share("--threshold", "a connection is slow that is so much slower than the median connection",
                least_threshold, request.threshold);
  options.count("--buckets", "of the histogram over all connections; 0 = none", 0, 1000, request.num_buckets);
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-bisection-TIME.h5",
          "hdf5 (all times and all else), json (summary; without --output on standard output) or none",
          {ResultFormat::hdf5, ResultFormat::json, ResultFormat::none},
          "print the first patterns and an estimate of time and memory; measure nothing"};
}

}  // namespace

BisectionRequest parse_bisection_command(const std::vector<std::string>& arguments) {
  BisectionRequest request;
  request.command_line = arguments;
  request.message_sizes_bytes = parse_byte_sizes(default_sizes);
  std::optional<ResultFormat> format;

  OptionParser options("leadline bisection", description,
                       std::string(words) + sizes_help + exit_status_help + examples);
  declare_who(options, request);
  declare_players(options, request);
  declare_patterns(options, request);
  declare_what(options, request);
  declare_end(options, request);
  declare_beside(options, request);
  declare_outcome(options, request, format, outcome());

  options.parse(arguments);
  request.format = result::format_for(request.output, format);
  const IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  settle_allocator(is_given, request);
  validate_options(is_given, request);
  return request;
}

}  // namespace leadline::cli
