// SPDX-License-Identifier: Apache-2.0
// The command line of `leadline topology`: every option with its help, its check and its member of the request.
#include "cli/topology_options.hpp"

#include <optional>

#include <CLI/CLI.hpp>

#include "cli/arguments.hpp"
#include "cli/run_options.hpp"
#include "cli/topology_effects.hpp"
#include "core/units.hpp"
#include "result/result_file.hpp"
#include "schedule/edge_list.hpp"

namespace leadline::cli {
namespace {

using schedule::ChannelMode;

constexpr const char* default_sizes = "1KiB-1MiB*4";

constexpr const char* description =
    "Measures exchanges of many ranks at once: each rank with all its neighbours in a topology, for example all with\n"
    "one (star), all with all (complete) or each with the next (ring), as NETTEST does. It says what one rank, the\n"
    "whole network and a mean channel move, and which rank and which channel are slowest. Without a launcher it "
    "starts\n"
    "local processes by itself; under mpirun, mpiexec or srun it measures the ranks they started.";

constexpr const char* words =
    "Topologies: star, star:RANK (another centre), star-each (every rank in turn), complete, ring, and with a 2 "
    "behind\n"
    "the name (star2:RANK, star2-each) both ways at once; chaos and chaos2 are complete and complete2; torus-2d,\n"
    "torus-3d, torus:4x4x2, hypercube, tree, halves (rank i with i + P/2), incast:K and outcast:K (K ranks receive "
    "from,\n"
    "or send to, all others). Without --topology and --edges: star,star2,complete,complete2,ring,ring2.\n"
    "Rates: local is what the busiest rank sends and receives, total what all channels carry, average the mean "
    "channel.\n";

constexpr const char* examples =
    "Examples:\n"
    "  leadline topology --local 4                          the six of NETTEST, over TCP on loopback\n"
    "  mpirun -n 64 leadline topology --topology torus-3d --message-size 1MiB\n"
    "  mpirun -n 64 leadline topology --topology star-each  which centre is slow?\n"
    "  mpirun -n 64 leadline topology --topology complete2 --duration 1h    load the network, check every byte\n"
    "  leadline topology --dry-run --ranks 4096             what a large run would do, and its cost";

/// Checked as far as that goes without knowing how many ranks there are.
std::vector<std::string> topology_words(const std::string& option, const std::string& text) {
  std::vector<std::string> list = words_of(text);
  for (const std::string& word : list) schedule::parse_topology(option, word, ChannelMode::both_ways, 1);
  return list;
}

ChannelMode parse_mode(const std::string& option, const std::string& text) {
  std::vector<std::pair<std::string, ChannelMode>> choices;
  for (const ChannelMode mode :
       {ChannelMode::answered, ChannelMode::phased, ChannelMode::both_ways, ChannelMode::one_way}) {
    choices.emplace_back(schedule::name_of(mode), mode);
  }
  return parse_choice<ChannelMode>(option, text, choices);
}

void declare_topologies(DeclaredOptions& options, TopologyRequest& request) {
  options.group("Which topologies");
  options.value(
      "--topology", "LIST", "names with commas between, see below. Default: star,star2,complete,... (six)",
      [&](const std::string& option, const std::string& text) { request.topologies = topology_words(option, text); });
  options.value("--edges", "FILE",
                "channels from a file, two ranks a line, the first of them starts; alone, or behind --topology",
                [&](const std::string& option, const std::string& text) {
                  if (text.empty()) throw_bad_value(option, text, "it must name a file");
                  request.edges_file = text;
                });
  options.value("--mode", "NAME",
                "how channels carry messages, of topologies whose name does not say: answered (there, then back), "
                "phased (all there, then all back), both-ways (at once) or one-way. Default: both-ways",
                [&](const std::string& option, const std::string& text) { request.mode = parse_mode(option, text); });
}

void declare_what(DeclaredOptions& options, TopologyRequest& request) {
  options.group("What is measured");
  declare_message_size(options, request, 1, default_sizes);
  options.count("--iterations", "timed exchanges of each topology and size. Default: 100", 1, max_count,
                [&](std::uint64_t n) { request.num_iterations = n; });
  options.count("--warmup", "untimed exchanges before them. Default: 10", 0, max_count,
                [&](std::uint64_t n) { request.num_warmup = n; });
  options.count("--traced",
                "exchanges behind them in which the arrival of every message is timed, for the slowest channel and the "
                "fairness; 0 = none. Default: 10",
                0, max_count, [&](std::uint64_t n) { request.num_traced = n; });
  declare_repeat(options, request);
  options.count("--max-outstanding",
                "a rank has at most N channels under way at once, and memory for as many. Default: all", 1, 1u << 26,
                [&](std::uint64_t n) { request.max_outstanding = static_cast<std::uint32_t>(n); });
  options.flag("--shared-buffers", "all channels of a rank send from one buffer and receive into one",
               request.shared_buffers);
  declare_fill(options, request);
  declare_fill_seed(options, request, "1");
  declare_memory_and_wait(options, request);
}

void declare_checks(DeclaredOptions& options, TopologyRequest& request) {
  options.group("Does the network bear it");
  options.flag("--verify", "before the timing make every exchange once with new contents and check every byte",
               request.verify);
  options.value("--duration", "TIME",
                "load the network for so long, topology after topology, and check every byte, instead of measuring",
                [&](const std::string& option, const std::string& text) {
                  request.duration_s = parse_seconds(option, text, 0.1);
                });
  options.count("--verify-every", "with --duration: check only every Nth exchange, for more load. Default: 1", 1,
                max_count, [&](std::uint64_t n) { request.verify_every = n; });
}

Outcome outcome() {
  return {".h5 or .json",
          "leadline-topology-TIME.h5",
          "hdf5 (all times and all else), json (summary; without --output on standard output) or none",
          {{"hdf5", ResultFormat::hdf5}, {"json", ResultFormat::json}, {"none", ResultFormat::none}},
          "print the topologies and an estimate of time and memory; measure nothing"};
}

void declare_rate(DeclaredOptions& options, TopologyRequest& request) {
  options.value("--print", "NAME", "the rate in the table: local, total or average, see below. Default: total",
                [&](const std::string& option, const std::string& text) {
                  request.rate = parse_choice<Rate>(
                      option, text, {{"local", Rate::local}, {"total", Rate::total}, {"average", Rate::average}});
                });
}

}  // namespace

TopologyRequest parse_topology_command(const std::vector<std::string>& arguments) {
  TopologyRequest request;
  request.command_line = arguments;
  request.message_sizes_bytes = parse_byte_sizes(default_sizes);
  std::optional<ResultFormat> format;

  CLI::App app(description, "leadline topology");
  app.footer(std::string(words) + sizes_help + exit_status_help + examples);
  DeclaredOptions options(app);
  declare_who(options, request);
  declare_topologies(options, request);
  declare_what(options, request);
  declare_checks(options, request);
  declare_outcome(options, request, format, outcome());
  declare_rate(options, request);

  parse_command_line(app, arguments);
  if (!request.edges_file.empty() && app.count("--topology") == 0) request.topologies.clear();
  request.format = result::format_for(request.output, format);
  const IsGiven is_given = [&app](const char* option) { return app.count(option) > 0; };
  settle_allocator(is_given, request);
  check_effects(is_given, request);
  return request;
}

}  // namespace leadline::cli
