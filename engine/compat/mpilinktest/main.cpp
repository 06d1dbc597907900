// SPDX-License-Identifier: Apache-2.0
// From LinkTest 1.2's command line to a run of the engine, and back to LinkTest's words.
#include "compat/main.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "bench/link/command.hpp"
#include "bench/link/request.hpp"
#include "cluster/bootstrap.hpp"
#include "command/reporting.hpp"
#include "compat/mpilinktest/options.hpp"
#include "compat/mpilinktest/text.hpp"
#include "compat/process.hpp"
#include "output/run_text.hpp"

namespace leadline::compat::mpilinktest {
namespace {

/// LinkTest 1.2 ends so where it has only printed something.
constexpr int status_of_usage = 1;

constexpr cluster::FrontEnd no_variables = cluster::FrontEnd::leadline;  // MPI alone says who the ranks are

const OptionWords own_words{
    {"--all-to-all", "-a"},    {"--message-size", "-s"}, {"--messages", "-i"}, {"--min-time", "-T"},
    {"--repeat", "-N"},        {"--retest", "-Z"},       {"--row-path", "-Y"}, {"--serial", "-S"},
    {"--shuffle-ranks", "-M"}, {"--warmup", "-I"},
};

std::string end_of(const bench::link::LinkResult& result, const std::string& path) {
  standard_outlet().err(output::findings_text(result.findings));
  if (result.request.format != ResultFormat::sion) return {};
  if (!is_repeated(result.request)) return written_line(path, bytes_of_records(path));
  std::string text;
  for (std::size_t iteration = 1; iteration <= result.slices.size(); ++iteration) {
    const std::string file = file_of_iteration(path, static_cast<int>(iteration));
    text += written_line(file, bytes_of_records(file));
  }
  return text;
}

bench::link::LinkPresentation presentation_of(const bench::link::LinkRequest& request, std::uint64_t summary_interval) {
  bench::link::LinkPresentation presentation;
  presentation.progress = [summary_interval](const bench::link::LinkResult& so_far) {
    return make_progress(so_far, summary_interval, standard_outlet());
  };
  presentation.summary = end_of;
  presentation.rank_line = [](int rank, const RankPlacement& placement) {
    return task_line(rank, placement.host, resident_bytes());
  };
  // LinkTest 1.2's own record says it all, unless the ranks have another order: that is in the extension.
  const auto record = request.shuffle_ranks > 0 ? bench::link::SionRecord::extended : bench::link::SionRecord::plain;
  const auto kept = is_repeated(request) ? bench::link::KeptRepeats::one_file_each : bench::link::KeptRepeats::all;
  presentation.set_up_file = [record, kept](bench::link::LinkFileSetup& setup) {
    setup.sion_record = record;
    setup.kept_repeats = kept;
  };
  return presentation;
}

int measure(Command command) {
  use_option_words(bench::link::declare_options, own_words);
  bench::link::LinkRequest& request = command.request;
  Start start = started_ranks(request, {"mpilinktest", "mpirun -n 4 mpilinktest"});
  const int num_ranks = start.bootstrap->size();
  request.retest = num_retests(command, num_ranks);
  if (start.bootstrap->rank() == 0) {
    const Outlet outlet = standard_outlet();
    for (const std::string& remark : command.remarks) outlet.err(fmt::format("mpilinktest: {}\n", remark));
    const std::string file = is_repeated(request) ? file_of_iteration(request.output, 1) : request.output;
    if (request.format == ResultFormat::sion) outlet.err(note_of_replacement("mpilinktest", file));
  }
  return bench::link::run_link(request, std::move(start.bootstrap), start.module,
                               presentation_of(request, command.summary_interval));
}

int print_usage(const Command& command) {
  const std::string reason =
      command.unknown == "-h" ? "" : fmt::format("mpilinktest: there is no option '{}'\n", command.unknown);
  standard_outlet().err(reason + usage());
  return status_of_usage;
}

int dispatch(const std::vector<std::string>& arguments) {
  Command command = parse(arguments);
  if (command.action == Action::run) return measure(std::move(command));
  const bool speaks = cluster::rank_hint(no_variables) == 0;
  if (command.action == Action::help) {
    if (speaks) command::say(usage());
    return 0;
  }
  if (command.action == Action::usage) return speaks ? print_usage(command) : status_of_usage;
  if (speaks) standard_outlet().err(version_line());
  return status_of_usage;
}

}  // namespace

int run(int argc, char** argv) noexcept {
  return command::reported(no_variables, [&] { return dispatch(std::vector<std::string>(argv, argv + argc)); });
}

}  // namespace leadline::compat::mpilinktest
