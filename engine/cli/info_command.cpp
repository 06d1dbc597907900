// SPDX-License-Identifier: Apache-2.0
// `leadline info`: what a file is, and what is in it.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "cli/benchmarks.hpp"
#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "core/error.hpp"
#include "output/file_info.hpp"
#include "result/file_kind.hpp"

namespace leadline::cli {
namespace {

constexpr const char* info_description =
    "Describes a result (HDF5 or SION, whatever its name): what was run, where, and whether it is complete. Of any "
    "SION\n"
    "file it says how it is laid out: tasks, files, unused space.";

constexpr const char* info_epilogue =
    "Exit status: 0 fine, also where a result is not complete; 2 the command line is wrong or FILE is neither HDF5 "
    "nor\n"
    "SION; 3 something is missing here; 4 FILE is damaged.";

output::FileInfo info_of(const std::string& path, result::FileKind kind) {
  output::FileInfo info;
  info.path = path;
  info.kind = kind;
  if (info.kind == result::FileKind::sion) {
    info.container =
        result::container_facts(result::sion::Reader::open(path, {.unfinished = result::sion::Unfinished::salvage}));
  }
  // Any SION file is worth a description; what is wrong with it is reported after that.
  try {
    const auto own = std::ranges::find(benchmarks(), result::benchmark_of(path, kind), &Benchmark::name);
    info.result = (own == benchmarks().end() ? benchmarks().front() : *own).info_of(path);
  } catch (const Error& error) {
    if (!info.container) throw;
    info.why_no_result = error.why();
    if (error.status() != ExitStatus::bad_command_line && info.container->is_finished) info.error = error;
  }
  return info;
}

}  // namespace

int info_command(const std::vector<std::string>& arguments) {
  std::string path;
  command::CommandOutput to;
  command::OptionParser options("leadline info", info_description, info_epilogue);
  options.argument("FILE", "a result, or any SION file", path);
  command::declare_output(options, to);
  options.parse(arguments);
  command::check_output(to);

  command::StepLog steps("leadline info", to.verbose);
  const result::FileKind kind = result::kind_of_file(path);
  steps.tell(fmt::format("by its contents '{}' is {}", path,
                         kind == result::FileKind::hdf5 ? "HDF5, which is read in a process of its own" : "SION"));
  result::work_with(path, kind, [&] {
    const output::FileInfo info = info_of(path, kind);
    steps.done("read it");
    command::put_output(to, to.is_json ? output::file_info_json(info) : output::file_info_text(info));
    if (info.error) throw Error(*info.error);
  });
  return 0;
}

}  // namespace leadline::cli
