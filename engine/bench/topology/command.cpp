// SPDX-License-Identifier: Apache-2.0
// `leadline topology`: what the help says, which combinations of options are refused, and what then runs.
#include "bench/topology/command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/topology/plan.hpp"
#include "bench/topology/request.hpp"
#include "bench/topology/text.hpp"
#include "command/option_parser.hpp"
#include "command/run_command.hpp"
#include "command/text_file.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "options/values.hpp"
#include "result/result_file.hpp"
#include "schedule/edge_list.hpp"

namespace leadline::bench::topology {
namespace {

constexpr const char* default_topology_sizes = "1KiB-1MiB*4";

constexpr const char* topology_description =
    "Measures exchanges of many ranks at once: each rank with all its neighbours in a pattern, for example all with\n"
    "one (star), all with all (complete) or each with the next (ring), as NETTEST does. It says what one rank, the\n"
    "whole network and a mean channel move, which rank and which channel are slowest, and which hosts or ranks are "
    "slow\n"
    "with most of their partners. Without a launcher it starts local processes by itself; under mpirun, mpiexec or "
    "srun it\n"
    "measures the ranks they started.";

constexpr const char* topology_notes =
    "Patterns: star, star:RANK (another centre), star-each (every rank in turn), complete, ring, and with a 2 "
    "behind\n"
    "the name (star2:RANK, star2-each) both ways at once; chaos and chaos2 are complete and complete2; torus-2d,\n"
    "torus-3d, torus:4x4x2, hypercube, tree, halves (rank i with i + P/2), incast:K and outcast:K (K ranks receive "
    "from,\n"
    "or send to, all others). Without --pattern and --edges: star,star2,complete,complete2,ring,ring2.\n"
    "Rates: local is what the busiest rank sends and receives, total what all channels carry, average the mean "
    "channel.\n";

constexpr const char* topology_examples =
    "Examples:\n"
    "  leadline topology --local 4                          the six of NETTEST, over TCP on loopback\n"
    "  mpirun -n 64 leadline topology --pattern torus-3d --message-size 1MiB\n"
    "  mpirun -n 64 leadline topology --pattern star-each  which centre is slow?\n"
    "  mpirun -n 64 leadline topology --pattern complete2 --duration 1h    load the network, check every byte\n"
    "  leadline topology --dry-run --ranks 4096             what a large run would do, and its cost";

void check_mode(const command::IsGiven& is_given, const TopologyRequest& request) {
  const bool is_taken = !request.edges_file.empty() ||
                        std::any_of(request.patterns.begin(), request.patterns.end(), schedule::takes_mode);
  if (is_given("--mode") && !is_taken) throw_no_effect("--mode", "the names of these patterns say theirs");
}

void check_contents(const TopologyRequest& request) {
  if (!request.verify && request.duration_s == 0) return;
  const std::string checker = request.verify ? "--verify" : "--duration";
  if (request.shared_buffers) {
    throw_apart(checker, "--shared-buffers", "messages would overwrite each other before they are checked");
  }
  command::check_verifiable(checker, request);
}

bool is_pattern(const std::string& word) {
  try {
    schedule::parse_topology("--pattern", word, schedule::ChannelMode::both_ways, 1);
    return true;
  } catch (const Error&) {
    return false;
  }
}

void check_verdict(const command::IsGiven& is_given, const TopologyRequest& request) {
  // A torus may be both.
  const bool is_mistaken = is_pattern(request.topology) && !request.topology.starts_with("torus") &&
                           !std::filesystem::exists(request.topology);
  if (is_mistaken) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--topology cannot be '{}'", printable(request.topology, LineEnds::replaced)),
                "it is the physical network", "Did you mean --pattern?");
  }
  if (request.num_traced > 0 && request.max_outstanding == 0) return;
  for (const char* option : {"--retest", "--topology", "--threshold", "--false-discovery-rate"}) {
    if (!is_given(option)) continue;
    throw_no_effect(option, request.num_traced == 0 ? "with --traced 0 nobody is judged"
                                                    : "with --max-outstanding nobody is judged");
  }
}

void check_outcome(const command::IsGiven& is_given, const TopologyRequest& request) {
  command::refuse_sion(request, "a topology test");
  const bool json_on_stdout = request.output == "-" || (request.format == ResultFormat::json && request.output.empty());
  if (is_given("--print") && json_on_stdout) {
    throw_no_effect("--print", "where the result goes to standard output there is no table");
  }
}

}  // namespace

TopologyRequest parse_topology_command(const std::vector<std::string>& arguments) {
  TopologyRequest request;
  request.command_line = arguments;
  request.message_sizes_bytes = parse_byte_sizes(default_topology_sizes);
  std::optional<ResultFormat> format;

  command::OptionParser options(
      "leadline topology", topology_description,
      std::string(topology_notes) + command::sizes_help + command::exit_status_help + topology_examples);
  declare_options(options, request, format);

  options.parse(arguments);
  if (!request.edges_file.empty() && !options.is_given("--pattern")) request.patterns.clear();
  request.format = result::format_for(request.output, format);
  const command::IsGiven is_given = [&options](const char* option) { return options.is_given(option); };
  command::settle_allocator(is_given, request);
  validate_options(is_given, request);
  return request;
}

void validate_options(const command::IsGiven& is_given, const TopologyRequest& request) {
  check_mode(is_given, request);
  check_contents(request);
  check_verdict(is_given, request);
  command::validate_run_options(is_given, request);
  check_outcome(is_given, request);
}

int topology_command(const std::vector<std::string>& arguments) {
  TopologyRequest request = parse_topology_command(arguments);
  if (request.dry_run) {
    return command::say_plan([&] {
      const command::DryRunRanks ranks = command::dry_run_ranks(request, "topology");
      const std::string edges = command::read_edges_file(request.edges_file);
      return topology_plan_text(request, plan(request, ranks.rank_layout(), edges));
    });
  }
  return command::run_ranks(request, "topology",
                            [&](std::unique_ptr<cluster::Bootstrap> bootstrap, const transport::LoadedModule& module) {
                              return run_topology(request, std::move(bootstrap), module, own_presentation(request));
                            });
}

}  // namespace leadline::bench::topology
