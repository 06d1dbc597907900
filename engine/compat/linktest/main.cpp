// SPDX-License-Identifier: Apache-2.0
// From LinkTest 2.x's command line to a run of the engine, and back to LinkTest's words.
#include "compat/main.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/link/command.hpp"
#include "bench/link/request.hpp"
#include "bench/plan.hpp"
#include "cluster/bootstrap.hpp"
#include "command/reporting.hpp"
#include "compat/linktest/options.hpp"
#include "compat/linktest/text.hpp"
#include "compat/process.hpp"
#include "output/run_text.hpp"

namespace leadline::compat::linktest {
namespace {

const OptionWords own_words{
    {"--all-to-all", "--all-to-all"},
    {"--allocator", "--memory-buffer-allocator"},
    {"--between-hosts", "--group-processes-by-hostname"},
    {"--bisection", "--bisection"},
    {"--buffers", "--num-multi-buffer"},
    {"--check-buffers", "--check-buffers"},
    {"--fill", "--randomize-buffers"},
    {"--message-size", "--size-messages"},
    {"--messages", "--num-messages"},
    {"--min-time", "--min-runtime"},
    {"--output", "--output"},
    {"--repeat", "--min-iterations"},
    {"--retest", "--num-slowest"},
    {"--serial", "--serial-tests"},
    {"--shuffle-ranks", "--num-randomize-tasks"},
    {"--shuffle-rounds", "--randomize-steps"},
    {"--transport", "--mode"},
    {"--warmup", "--num-warmup-messages"},
};

std::optional<std::string> environment_variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::nullopt : std::optional<std::string>(text);
}

/// What LinkTest says on standard error at the end goes there; standard output has had everything by then.
std::string end_of(const bench::link::LinkResult& result, const std::string& path) {
  const Outlet outlet = standard_outlet();
  if (result.request.format == ResultFormat::sion) outlet.err(written_line(bytes_of_records(path)));
  outlet.err(output::findings_text(result.findings));
  return {};
}

void remark(const std::string& text) { standard_outlet().err(fmt::format("linktest: {}\n", text)); }

bench::link::LinkPresentation presentation_of(const bench::link::LinkRequest& request, bool is_first_rank) {
  bench::link::LinkPresentation presentation;
  presentation.adapt = [is_first_rank](bench::link::LinkRequest& adapted, const bench::RankLayout& rank_layout) {
    if (!adapted.between_hosts || !bench::is_on_one_host(rank_layout)) return;
    adapted.between_hosts = false;
    if (is_first_rank) remark("--group-processes-by-hostname has no effect: all tasks are on one host");
  };
  presentation.progress = [](const bench::link::LinkResult& so_far) {
    return make_progress(so_far, standard_outlet());
  };
  presentation.summary = end_of;
  presentation.rank_line = [](int rank, const RankPlacement& placement) {
    return task_line(rank, placement.host, current_core(), resident_bytes());
  };
  presentation.set_up_file = [is_repeated = is_repeated(request)](bench::link::LinkFileSetup& setup) {
    setup.sion_record = bench::link::SionRecord::extended;
    setup.kept_repeats = is_repeated ? bench::link::KeptRepeats::last : bench::link::KeptRepeats::all;
  };
  return presentation;
}

int measure(const Command& command) {
  use_option_words(bench::link::declare_options, own_words);
  const bench::link::LinkRequest& request = command.request;
  constexpr const char* example = "mpirun -n 4 linktest, srun linktest, or the variables LINKTEST_TCP_*";
  Start start = started_ranks(request, {"linktest", example});
  const bool is_first_rank = start.bootstrap->rank() == 0;
  if (is_first_rank) {
    for (const std::string& text : command.remarks) remark(text);
    standard_outlet().err(note_of_replacement("linktest", request.output));
  }
  return bench::link::run_link(request, std::move(start.bootstrap), start.module,
                               presentation_of(request, is_first_rank));
}

int dispatch(const std::vector<std::string>& arguments) {
  const Command command = parse(arguments, environment_variable);
  if (command.action == Action::run) return measure(command);
  if (cluster::rank_hint(cluster::FrontEnd::linktest) == 0) {
    command::say(command.action == Action::help ? help() : version_line());
  }
  return 0;
}

}  // namespace

int run(int argc, char** argv) noexcept {
  return command::reported(cluster::FrontEnd::linktest,
                           [&] { return dispatch(std::vector<std::string>(argv, argv + argc)); });
}

}  // namespace leadline::compat::linktest
