// SPDX-License-Identifier: Apache-2.0
// Declares the options of `leadline topology`.
#include "bench/run_options.hpp"
#include "bench/topology/request.hpp"
#include "schedule/edge_list.hpp"

namespace leadline::bench::topology {
namespace {

constexpr double least_duration_s = 0.1;

void declare_patterns(OptionTable& options, TopologyRequest& request) {
  options.group("Which patterns");
  // Checked as far as that goes without knowing how many ranks there are.
  options.words("--pattern", "names with commas between, see below", request.patterns,
                [](const std::string& option, const std::string& word) {
                  schedule::parse_topology(option, word, schedule::ChannelMode::both_ways, 1);
                });
  options.file("--edges",
               "channels from a file, two ranks a line, the first of them starts; alone, or behind --pattern",
               request.edges_file);
  options.choice("--mode", "how channels carry messages, of patterns whose name does not say", request.mode);
}

void declare_what(OptionTable& options, TopologyRequest& request) {
  options.group("What is measured");
  declare_message_size(options, request, 1);
  options.count("--iterations", "timed exchanges of each pattern and size", 1, max_count, request.num_iterations);
  options.count("--warmup", "untimed exchanges before them", 0, max_count, request.num_warmup);
  options.count("--traced",
                "exchanges behind them in which the arrival of every message is timed, for the slowest channel and the "
                "fairness; 0 = none",
                0, max_count, request.num_traced);
  declare_repeat(options, request);
  options
      .count("--retest", "at the end measure N slow pairs again, alone, and N pairs chosen by chance; 0 = none", 0,
             100'000, request.retest)
      .later();
  options.count("--max-outstanding", "a rank has at most N channels under way at once, and memory for as many", 1,
                1u << 26, request.max_outstanding, "all");
  options.flag("--shared-buffers", "all channels of a rank send from one buffer and receive into one",
               request.shared_buffers);
  declare_fill(options, request);
  declare_fill_seed(options, request);
  declare_memory_and_wait(options, request);
}

void declare_checks(OptionTable& options, TopologyRequest& request) {
  options.group("Whether the network withstands the load");
  options.flag("--verify", "before the timing make every exchange once with new contents and check every byte",
               request.verify);
  options.seconds("--duration",
                  "load the network for so long, pattern after pattern, and check every byte, instead of measuring",
                  least_duration_s, request.duration_s, "measure");
  options
      .count("--verify-every", "with --duration: check only every Nth exchange, for more load", 1, max_count,
             request.verify_every)
      .needs("--duration", "it thins out the checks of --duration");
  options
      .flag("--stop-at-first", "with --duration: end at the first wrong byte instead of counting them",
            request.stop_at_first)
      .needs("--duration", "without --duration the first wrong byte ends the run anyway");
  options.no_effect_with("--duration", {"--iterations", "--warmup", "--traced", "--repeat", "--retest"},
                         "with --duration exchanges go on until the time is over");
  options.no_effect_with("--duration", {"--verify"}, "--duration checks every byte anyway");
}

void declare_diagnosis(OptionTable& options, TopologyRequest& request) {
  options.group("What is said about it");
  const VerdictOptions verdict = declare_verdict(options, request.topology, request.diagnosis);
  verdict.threshold.help += "; less than that of an exchange is not told from chance";
  for (OptionEntry* entry : {&verdict.topology, &verdict.threshold, &verdict.false_discovery_rate}) {
    entry->later().no_effect_with("--duration", "under a load nobody is judged");
  }
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-topology-TIME.h5",
          {{ResultFormat::hdf5, name_of(ResultFormat::hdf5), "all times and all else"},
           {ResultFormat::json, name_of(ResultFormat::json), "summary; without --output on standard output"},
           {ResultFormat::none, name_of(ResultFormat::none)}},
          "print the patterns and an estimate of time and memory; measure nothing"};
}

}  // namespace

void declare_options(OptionTable& options, TopologyRequest& request, std::optional<ResultFormat>& format) {
  declare_who(options, request);
  declare_patterns(options, request);
  declare_what(options, request);
  declare_checks(options, request);
  declare_diagnosis(options, request);
  declare_outcome(options, request, format, outcome());
  options.choice("--print", "the rate in the table, see below", request.rate);
}

}  // namespace leadline::bench::topology
