// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline topology`: every option with its help, its check and its member of the request.
#include "cli/topology_options.hpp"

#include <optional>

#include "cli/arguments.hpp"
#include "cli/run_options.hpp"
#include "cli/topology_validation.hpp"
#include "core/units.hpp"
#include "result/link_result_file.hpp"
#include "schedule/edge_list.hpp"

namespace leadline::cli {
namespace {

using schedule::ChannelMode;

constexpr const char* default_sizes = "1KiB-1MiB*4";

constexpr const char* description =
    "Measures exchanges of many ranks at once: each rank with all its neighbours in a pattern, for example all with\n"
    "one (star), all with all (complete) or each with the next (ring), as NETTEST does. It says what one rank, the\n"
    "whole network and a mean channel move, and which rank and which channel are slowest. Without a launcher it "
    "starts\n"
    "local processes by itself; under mpirun, mpiexec or srun it measures the ranks they started.";

constexpr const char* words =
    "Patterns: star, star:RANK (another centre), star-each (every rank in turn), complete, ring, and with a 2 "
    "behind\n"
    "the name (star2:RANK, star2-each) both ways at once; chaos and chaos2 are complete and complete2; torus-2d,\n"
    "torus-3d, torus:4x4x2, hypercube, tree, halves (rank i with i + P/2), incast:K and outcast:K (K ranks receive "
    "from,\n"
    "or send to, all others). Without --pattern and --edges: star,star2,complete,complete2,ring,ring2.\n"
    "Rates: local is what the busiest rank sends and receives, total what all channels carry, average the mean "
    "channel.\n";

constexpr const char* examples =
    "Examples:\n"
    "  leadline topology --local 4                          the six of NETTEST, over TCP on loopback\n"
    "  mpirun -n 64 leadline topology --pattern torus-3d --message-size 1MiB\n"
    "  mpirun -n 64 leadline topology --pattern star-each  which centre is slow?\n"
    "  mpirun -n 64 leadline topology --pattern complete2 --duration 1h    load the network, check every byte\n"
    "  leadline topology --dry-run --ranks 4096             what a large run would do, and its cost";

/// Checked as far as that goes without knowing how many ranks there are.
std::vector<std::string> pattern_words(const std::string& option, const std::string& text) {
  std::vector<std::string> list = words_of(text);
  for (const std::string& word : list) schedule::parse_topology(option, word, ChannelMode::both_ways, 1);
  return list;
}

void declare_patterns(OptionParser& options, TopologyRequest& request) {
  options.group("Which patterns");
  options.value(
      "--pattern", "LIST", "names with commas between, see below. Default: star,star2,complete,... (six)",
      [&](const std::string& option, const std::string& text) { request.patterns = pattern_words(option, text); });
  options.text("--edges", "FILE",
               "channels from a file, two ranks a line, the first of them starts; alone, or after those of --pattern",
               request.edges_file, "it must name a file");
  options.choice("--mode",
                 "how channels carry messages, of patterns whose name does not say: answered (there, then back), "
                 "phased (all there, then all back), both-ways (at once) or one-way",
                 request.mode,
                 {ChannelMode::answered, ChannelMode::phased, ChannelMode::both_ways, ChannelMode::one_way});
}

void declare_what(OptionParser& options, TopologyRequest& request) {
  options.group("What is measured");
  declare_message_size(options, request, 1, default_sizes);
  options.count("--iterations", "timed exchanges of each pattern and size", 1, max_count, request.num_iterations);
  options.count("--warmup", "untimed exchanges before them", 0, max_count, request.num_warmup);
  options.count("--traced",
                "exchanges after them in which the arrival of every message is timed, for the slowest channel and the "
                "fairness; 0 = none",
                0, max_count, request.num_traced);
  declare_repeat(options, request);
  options.count("--max-outstanding", "a rank has at most N channels under way at once, and memory for as many", 1,
                1u << 26, request.max_outstanding, "all");
  options.flag("--shared-buffers", "all channels of a rank send from one buffer and receive into one",
               request.shared_buffers);
  declare_fill(options, request);
  declare_fill_seed(options, request, "1");
  declare_memory_and_wait(options, request);
}

void declare_checks(OptionParser& options, TopologyRequest& request) {
  options.group("Whether the network withstands the load");
  options.flag("--verify", "before the timing make every exchange once with new contents and check every byte",
               request.verify);
  options.value("--duration", "TIME",
                "load the network for so long, pattern after pattern, and check every byte, instead of measuring",
                [&](const std::string& option, const std::string& text) {
                  request.duration_s = parse_seconds(option, text, 0.1);
                });
  options.count("--verify-every", "with --duration: check only every Nth exchange, for more load", 1, max_count,
                request.verify_every);
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-topology-TIME.h5",
          "hdf5 (all times and all else), json (summary; without --output on standard output) or none",
          {ResultFormat::hdf5, ResultFormat::json, ResultFormat::none},
          "print the patterns and an estimate of time and memory; measure nothing"};
}

void declare_rate(OptionParser& options, TopologyRequest& request) {
  options.choice("--print", "the rate in the table: local, total or average, see below", request.rate,
                 {Rate::local, Rate::total, Rate::average});
}

}  // namespace

TopologyRequest parse_topology_command(const std::vector<std::string>& arguments) {
  TopologyRequest request;
  request.command_line = arguments;
  request.message_sizes_bytes = parse_byte_sizes(default_sizes);
  std::optional<ResultFormat> format;

  OptionParser options("leadline topology", description, std::string(words) + sizes_help + exit_status_help + examples);
  declare_who(options, request);
  declare_patterns(options, request);
  declare_what(options, request);
  declare_checks(options, request);
  declare_outcome(options, request, format, outcome());
  declare_rate(options, request);

  options.parse(arguments);
  if (!request.edges_file.empty() && !options.is_given("--pattern")) request.patterns.clear();
  request.format = result::format_for(request.output, format);
  const IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  settle_allocator(is_given, request);
  validate_options(is_given, request);
  return request;
}

}  // namespace leadline::cli
