// SPDX-License-Identifier: Apache-2.0
// Declares the options of `leadline bisection`.
#include "bench/bisection/request.hpp"
#include "bench/bisection/result.hpp"
#include "bench/run_options.hpp"
#include "schedule/pattern.hpp"

namespace leadline::bench::bisection {
namespace {

constexpr std::uint64_t max_exchanges = 1'000'000;  // each is a step with an end of its own, in memory
constexpr std::uint64_t max_patterns = 10'000'000;

void declare_participants(OptionTable& options, BisectionRequest& request) {
  options.count("--active-ranks-per-host", "only so many ranks of each host take part, the lowest; the others wait", 1,
                1u << 26, request.active_ranks_per_host, "all");
  options.flag("--within-hosts", "random pairs may lie on one host, too, as they do where there is just one host",
               request.within_hosts);
}

void declare_patterns(OptionTable& options, BisectionRequest& request) {
  options.group("Which patterns");
  // Checked as far as that goes without knowing how many ranks there are.
  options.words("--pattern", "names with commas between, see below", request.patterns,
                [](const std::string& option, const std::string& word) {
                  if (word != name_of(PatternKind::random)) schedule::parse_pattern(option, word, 1);
                });
  options.count("--seed", "seed of random patterns and all other random choices", 0, UINT64_MAX, request.seed);
  options.count("--worst",
                "search for bad patterns in N steps: the worst one again, then each swaps partners of the worst so far",
                0, 1'000'000, request.num_worst_steps);
}

void declare_what(OptionTable& options, BisectionRequest& request) {
  options.group("What is measured");
  declare_message_size(options, request, 1);
  options.count("--exchanges", "timed exchanges of a pattern, one behind the other", 1, max_exchanges,
                request.num_exchanges);
  options.count("--warmup", "untimed exchanges before them, with the new partners", 0, max_exchanges,
                request.num_warmup);
  options.count("--repeat", "measure all named patterns N times, each kept", 1, 100'000, request.repeat);
  declare_fill(options, request);
  declare_fill_seed(options, request);
  options.flag("--verify",
               "before the timing of a pattern make its exchanges once with new contents, checked byte by "
               "byte",
               request.verify);
  declare_memory_and_wait(options, request);
}

void declare_end(OptionTable& options, BisectionRequest& request) {
  options.group("When it ends (whatever comes first)");
  options.count("--rounds", "so many random rounds of each message size, each a pattern", 1, max_patterns,
                request.rounds);
  options.share("--precision",
                "the 95 % interval of a size is the mean +- so much, from 20 random patterns on; 0 = never", 0,
                request.precision);
  options.seconds("--time-limit", "so long for all patterns of all message sizes together; 0 = as long as it takes", 0,
                  request.time_limit_s);
}

void declare_beside(OptionTable& options, BisectionRequest& request) {
  options.group("What is measured beside them");
  options.count("--baseline-pairs",
                "behind each random pattern N of its pairs again, each alone: what the network gives an isolated pair; "
                "0 = none",
                0, 1000, request.num_baseline_pairs);
  options.count("--retest", "at the end of a size N connections again, alone: of slow ranks and the slowest", 0,
                100'000, request.retest);
  options.count("--buckets", "buckets of the histogram over all connections; 0 = none", 0, 1000, request.num_buckets);
}

void declare_diagnosis(OptionTable& options, BisectionRequest& request) {
  options.group("What is said about it");
  const VerdictOptions verdict = declare_verdict(options, request.topology, request.diagnosis);
  verdict.topology.later();
  verdict.false_discovery_rate.later();
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-bisection-TIME.h5",
          {{ResultFormat::hdf5, name_of(ResultFormat::hdf5), "all times and all else"},
           {ResultFormat::json, name_of(ResultFormat::json), "summary; without --output on standard output"},
           {ResultFormat::none, name_of(ResultFormat::none)}},
          "print the first patterns and an estimate of time and memory; measure nothing"};
}

}  // namespace

void declare_options(OptionTable& options, BisectionRequest& request, std::optional<ResultFormat>& format) {
  declare_who(options, request);
  declare_participants(options, request);
  declare_patterns(options, request);
  declare_what(options, request);
  declare_end(options, request);
  declare_beside(options, request);
  declare_diagnosis(options, request);
  declare_outcome(options, request, format, outcome());
}

}  // namespace leadline::bench::bisection
