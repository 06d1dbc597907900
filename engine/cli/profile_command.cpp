// SPDX-License-Identifier: Apache-2.0
// `leadline profile`: what a site's links take in good runs.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/link/profiled_file.hpp"
#include "bench/link/reader.hpp"
#include "bench/run_options.hpp"
#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "diagnosis/profile.hpp"
#include "result/diagnosis_json.hpp"
#include "result/file_kind.hpp"

namespace leadline::cli {
namespace {

constexpr const char* profile_description =
    "Learns from good runs of the link test what pairs of each class and message size take at this site, and how much\n"
    "runs scatter. The profile is JSON, which 'leadline diagnose --profile' judges later runs by.";

constexpr const char* profile_epilogue =
    "Exit status: 0 fine, 2 the command line is wrong, or a file is no complete result of the link test, or runs are\n"
    "not comparable with each other, 3 something is missing here, 4 a file is damaged.\n"
    "Example:\n"
    "  leadline profile good1.h5 good2.h5 good3.h5 --output site.json";

struct ProfileRequest {
  std::vector<std::string> paths;
  std::string topology;
  command::CommandOutput output;
};

void add_run(const ProfileRequest& request, const std::string& path, std::vector<Profile>& runs,
             command::StepLog& steps) {
  bench::link::expect_link_test(path, "make a profile of");
  const auto reader = bench::link::ResultReader::open(path);
  if (!reader->header().complete) {
    throw Error(ExitStatus::bad_command_line, fmt::format("'{}' is not complete", path),
                printable(reader->header().incomplete_reason, LineEnds::replaced),
                "A profile is learnt from good runs");
  }
  runs.push_back(bench::link::profile_of_file(*reader, request.topology));
  steps.done(bench::link::opened_text(*reader));
  if (const std::string why = diagnosis::difference(runs.front(), runs.back()); !why.empty()) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("'{}' and '{}' do not belong to one profile", request.paths.front(), path), why,
                "Make a profile of each");
  }
}

/// Opens one file within the other, so that the last one sees what all of them have.
void learn(const ProfileRequest& request, std::size_t index, std::vector<Profile>& runs, command::StepLog& steps) {
  if (index == request.paths.size()) {
    return command::put_output(request.output, result::profile_document(diagnosis::joined(runs)));
  }
  const std::string& path = request.paths[index];
  result::work_with(path, result::kind_of_file(path), [&] {
    add_run(request, path, runs, steps);
    learn(request, index + 1, runs, steps);
  });
}

}  // namespace

int profile_command(const std::vector<std::string>& arguments) {
  ProfileRequest request;
  command::OptionParser options("leadline profile", profile_description, profile_epilogue);
  options.files_argument("FILE", "good results of the link test, one or more", request.paths);
  bench::declare_topology(options, request.topology).by_default("that of the runs, as each FILE has it");
  command::declare_output(options, request.output);
  options.parse(arguments);
  command::check_output(request.output);
  command::StepLog steps("leadline profile", request.output.verbose);
  std::vector<Profile> runs;
  learn(request, 0, runs, steps);
  return 0;
}

}  // namespace leadline::cli
