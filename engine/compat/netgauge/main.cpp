// SPDX-License-Identifier: Apache-2.0
// From Netgauge's command line to a run of the engine, and back to Netgauge's lines.
#include "compat/main.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/bisection/command.hpp"
#include "bench/bisection/request.hpp"
#include "cluster/bootstrap.hpp"
#include "command/reporting.hpp"
#include "command/version.hpp"
#include "compat/netgauge/options.hpp"
#include "compat/netgauge/text.hpp"
#include "compat/process.hpp"
#include "core/error.hpp"
#include "output/run_text.hpp"

namespace leadline::compat::netgauge {
namespace {

constexpr cluster::FrontEnd no_variables = cluster::FrontEnd::leadline;  // MPI alone says who the ranks are
constexpr const char* example = "mpirun -n 4 netgauge -s 1048576-1048576 -x ebb -r 10";

const OptionWords own_words{
    {"--buckets", "-b"},  {"--exchanges", "-n"},          {"--message-size", "-s"},
    {"--output", "-O"},   {"--overwrite", "--overwrite"}, {"--rounds", "-r"},
    {"--seed", "--seed"},
};

bench::bisection::BisectionPresentation presentation_of(const Command& command) {
  bench::bisection::BisectionPresentation presentation;
  presentation.progress = [shown = command.shown](const bench::bisection::BisectionResult& so_far) {
    return make_progress(so_far, shown, standard_outlet());
  };
  presentation.summary = [](const bench::bisection::BisectionResult& result, const std::string& path) {
    standard_outlet().err(output::findings_text(result.findings));
    return path.empty() ? std::string() : fmt::format("# result: {}\n", path);
  };
  return presentation;
}

int measure(const Command& command) {
  use_option_words(bench::bisection::declare_options, own_words);
  Start start = started_ranks(command.request, {"netgauge", example, "leadline bisection"});
  if (start.bootstrap->size() == 1) {
    throw Error(ExitStatus::bad_command_line, "netgauge -x ebb cannot run with one rank",
                "there is no other rank to exchange messages with", fmt::format("Start it with {}", example));
  }
  return bench::bisection::run_bisection(command.request, std::move(start.bootstrap), start.module,
                                         presentation_of(command));
}

std::string text_for(Action action) {
  if (action == Action::help) return help();
  return action == Action::pattern_help ? pattern_help() : version_line(command::version);
}

int dispatch(const std::vector<std::string>& arguments) {
  const Command command = parse(arguments);
  if (command.action == Action::run) return measure(command);
  if (cluster::rank_hint(no_variables) == 0) command::say(text_for(command.action));
  return 0;
}

}  // namespace

int run(int argc, char** argv) noexcept {
  return command::reported(no_variables, [&] { return dispatch(std::vector<std::string>(argv, argv + argc)); });
}

}  // namespace leadline::compat::netgauge
