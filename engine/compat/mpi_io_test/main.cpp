// SPDX-License-Identifier: Apache-2.0
// From the MPI-IO Test's command line to a run of the engine, and back to its text.
#include "compat/main.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/command.hpp"
#include "bench/io/options.hpp"
#include "cluster/bootstrap.hpp"
#include "command/reporting.hpp"
#include "command/text_file.hpp"
#include "compat/mpi_io_test/options.hpp"
#include "compat/mpi_io_test/text.hpp"
#include "compat/process.hpp"
#include "core/error.hpp"
#include "output/run_text.hpp"

namespace leadline::compat::mpi_io_test {
namespace {

/// Local: from now on what goes to standard error goes to the file, which is made anew. An error is given back, since
/// the ranks do not know each other yet and must agree on it later.
std::optional<Error> redirect_errors(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    return Error(ExitStatus::bad_command_line, fmt::format("-errout {} cannot be written", path),
                 system_error_text(errno), "Name a file in a directory that is there");
  }
  std::fflush(stderr);
  ::dup2(file, STDERR_FILENO);
  ::close(file);
  return std::nullopt;
}

constexpr cluster::FrontEnd no_variables = cluster::FrontEnd::leadline;  // MPI alone says who the ranks are
constexpr int failed = 255;
const HowToStart how_to_start{"mpi_io_test.x", "mpirun -np 4 mpi_io_test.x -type 2 -size 64K -nobj 16", "leadline io"};

const OptionWords own_words{
    {"--ahead", "-ahead"},
    {"--allow-fragile", "-allow_fragile"},
    {"--backend", "-backend"},
    {"--barrier", "-barrier"},
    {"--buffer-size", "-csize"},
    {"--check", "-chkdata"},
    {"--collective", "-collective"},
    {"--delete", "-deletefile"},
    {"--files", "-num_io"},
    {"--hints", "-hints"},
    {"--io-hosts", "-host"},
    {"--io-ranks", "-num_io"},
    {"--movement", "-type"},
    {"--no-file", "-nofile"},
    {"--no-self-send", "-norsend"},
    {"--object-size", "-size"},
    {"--objects", "-nobj"},
    {"--op", "-op"},
    {"--output", "-result"},
    {"--overwrite", "-overwrite"},
    {"--preallocate", "-preallocate"},
    {"--sleep", "-sleep"},
    {"--strided", "-strided"},
    {"--sync", "-sync"},
    {"--target", "-target"},
    {"--targets", "-targets"},
    {"--timeout", "-timeout"},
    {"--touch", "-touch"},
};

/// The state of rank 0 between two texts.
struct OutputState {
  Outlet outlet = standard_outlet();
  std::optional<Error> errout_problem;
  std::size_t num_shown = 0;  ///< phases
};

void begin(OutputState& state, const Command& command, const bench::io::IoResult& so_far) {
  if (state.errout_problem) throw Error(*state.errout_problem);
  if (const std::string& path = command.shown.output; !path.empty()) {
    const std::string note = note_of_replacement("mpi_io_test.x", path);
    state.outlet.out = appending_to(path, "-output");
    state.outlet.err(note);
  }
  state.outlet.err(remark_lines(command.shown));
  state.outlet.out(opening(command.shown, so_far, [](const char* name) -> const char* { return std::getenv(name); }));
}

/// Phases that were not shown when they ended are those of a run that an error has ended.
void end(OutputState& state, const Command& command, const bench::io::IoResult& result) {
  std::string text;
  for (std::size_t i = state.num_shown; i < result.phases.size(); ++i) {
    text += phase_lines(command.shown, result, result.phases[i]);
  }
  state.outlet.out(text + ending(result));
  state.outlet.err(without_sync_values(output::findings_text(result.findings)));
}

bench::io::IoPresentation presentation_of(const Command& command, std::optional<Error> errout_problem) {
  auto state = std::make_shared<OutputState>();
  state->errout_problem = std::move(errout_problem);
  bench::io::IoPresentation presentation;
  presentation.progress = [state, command](const bench::io::IoResult& so_far) {
    begin(*state, command, so_far);
    return make_progress(so_far, command.shown, state->outlet, state->num_shown);
  };
  presentation.summary = [state, command](const bench::io::IoResult& result, const std::string& /*path*/) {
    end(*state, command, result);
    return std::string();
  };
  presentation.summarizes_failures = true;
  return presentation;
}

void check_number_of_ranks(const Command& command, int num_ranks) {
  if (!command.num_ranks_needed || *command.num_ranks_needed == static_cast<std::uint64_t>(num_ranks)) return;
  throw Error(ExitStatus::bad_command_line, fmt::format("-num_io cannot be {}", *command.num_ranks_needed),
              fmt::format("with types 1 and 2 all {} processes do I/O", num_ranks),
              "Leave it out, or use -type 3, 4 or 5");
}

int measure(Command command) {
  use_option_words(bench::io::declare_options, own_words);
  need_launcher(command.request, how_to_start);
  std::optional<Error> errout_problem;
  if (!command.shown.errout.empty() && cluster::rank_hint(no_variables) == 0) {
    errout_problem = redirect_errors(command.shown.errout);
  }
  const bench::io::IoStart io_start = bench::io::start_io(command.request, no_variables);  // before MPI begins
  Start start = started_ranks(command.request, how_to_start);
  check_number_of_ranks(command, start.bootstrap->size());
  return bench::io::run_io(command.request, std::move(start.bootstrap), start.module, io_start,
                           presentation_of(command, std::move(errout_problem)));
}

int dispatch(const std::vector<std::string>& arguments) {
  Command command = parse(arguments, [](const std::string& path) {
    return command::read_text_file("-setup", path, "Name a file with one option in each line");
  });
  if (command.action == Action::run) return measure(std::move(command));
  if (cluster::rank_hint(no_variables) == 0) command::say(command.action == Action::help ? help() : command.setup);
  return 0;
}

}  // namespace

int run(int argc, char** argv) noexcept {
  const int status =
      command::reported(no_variables, [&] { return dispatch(std::vector<std::string>(argv, argv + argc)); });
  return status == 0 ? 0 : failed;
}

}  // namespace leadline::compat::mpi_io_test
