// SPDX-License-Identifier: Apache-2.0
// From NETTEST's command line to a run of the engine, and back to NETTEST's table.
#include "compat/main.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/topology/command.hpp"
#include "bench/topology/request.hpp"
#include "cluster/bootstrap.hpp"
#include "command/reporting.hpp"
#include "compat/nettest/options.hpp"
#include "compat/nettest/text.hpp"
#include "compat/process.hpp"
#include "core/error.hpp"
#include "output/run_text.hpp"

namespace leadline::compat::nettest {
namespace {

constexpr cluster::FrontEnd no_variables = cluster::FrontEnd::leadline;  // MPI alone says who the ranks are
constexpr const char* example = "mpirun -np 4 nettest uK m1 M16 K2";

const OptionWords own_words{
    {"--iterations", "T"}, {"--message-size", "m or M"}, {"--output", "o"}, {"--print", "P"}, {"--repeat", "R"},
};

/// The state of rank 0 between two texts.
struct OutputState {
  Outlet outlet = standard_outlet();
  double elapsed_s = 0;
};

bench::topology::TopologyPresentation presentation_of(const Command& command) {
  bench::topology::TopologyPresentation presentation;
  auto state = std::make_shared<OutputState>();
  presentation.progress = [state, lengths = command.lengths,
                           path = command.file](const bench::topology::TopologyResult& so_far) {
    if (!path.empty()) {
      const std::string note = note_of_replacement("nettest", path);
      state->outlet.out = appending_to(path, "o");
      state->outlet.err(note);
    }
    return make_progress(so_far, lengths, state->outlet, state->elapsed_s);
  };
  presentation.summary = [state](const bench::topology::TopologyResult& result, const std::string& /*path*/) {
    state->outlet.out(ending(result, state->elapsed_s));
    state->outlet.err(output::findings_text(result.findings));
    return std::string();
  };
  return presentation;
}

int measure(const Command& command) {
  use_option_words(bench::topology::declare_options, own_words);
  Start start = started_ranks(command.request, {"nettest", example, "leadline topology"});
  if (start.bootstrap->size() == 1) {
    throw Error(ExitStatus::bad_command_line, "nettest cannot run with one process",
                "there is no other rank to exchange messages with", fmt::format("Start it with {}", example));
  }
  if (start.bootstrap->rank() == 0 && !command.unused_step.empty()) {
    standard_outlet().err(fmt::format("nettest: {} is not used, since K is given\n", command.unused_step));
  }
  return bench::topology::run_topology(command.request, std::move(start.bootstrap), start.module,
                                       presentation_of(command));
}

int dispatch(const std::vector<std::string>& arguments) {
  const Command command = parse(arguments);
  if (command.action == Action::run) return measure(command);
  if (cluster::rank_hint(no_variables) == 0) command::say(usage());
  return 0;
}

}  // namespace

int run(int argc, char** argv) noexcept {
  return command::reported(no_variables, [&] { return dispatch(std::vector<std::string>(argv, argv + argc)); });
}

}  // namespace leadline::compat::nettest
