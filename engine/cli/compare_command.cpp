// SPDX-License-Identifier: Apache-2.0
// `leadline compare`: what became slower or faster from one result of the link test to another.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/link/compared_files.hpp"
#include "bench/run_options.hpp"
#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "output/diagnosis_text.hpp"
#include "result/diagnosis_json.hpp"
#include "result/file_kind.hpp"

namespace leadline::cli {
namespace {

constexpr const char* compare_description =
    "Compares two results of the link test, by class of pairs, host, link and pair: what became slower, what faster,\n"
    "beyond a threshold and beyond chance. Hosts are matched by name, ranks by their position on the host.";

constexpr const char* compare_epilogue =
    "Exit status: 0 fine, 1 with --strict where something is slower, 2 the command line is wrong, or a file is no "
    "result\n"
    "of the link test, or there is nothing to compare, 3 something is missing here, 4 a file is damaged.";

struct CompareRequest {
  bench::link::ComparedFiles files;
  command::CommandOutput output;
  bool strict = false;
};

CompareRequest parse_compare(const std::vector<std::string>& arguments) {
  CompareRequest request;
  command::OptionParser options("leadline compare", compare_description, compare_epilogue);
  options.argument("BASELINE", "a result of the link test, from before", request.files.before);
  options.argument("RESULT", "the other one", request.files.after);
  bench::declare_verdict(options, request.files.topology, request.files.settings);
  options
      .value("--message-size", "SIZE", "only this message size",
             [&](const std::string&, const std::string& text) { request.files.size_bytes = parse_bytes(text); })
      .by_default("all that both have");
  options.flag("--strict", "end with status 1 where something is slower", request.strict);
  command::declare_output(options, request.output);
  options.parse(arguments);
  command::check_output(request.output);
  return request;
}

void compare(const CompareRequest& request) {
  command::StepLog steps("leadline compare", request.output.verbose);
  std::vector<Comparison> comparisons = bench::link::compare_files(request.files, steps);
  const std::string &before = request.files.before, &after = request.files.after;
  if (request.output.is_json) {
    command::put_output(request.output, result::comparison_document(before, after, comparisons));
  } else {
    if (request.output.quiet) {
      for (Comparison& one : comparisons) one.notes.clear();
    }
    command::put_output(request.output, output::comparisons_text(comparisons));
  }
  if (request.strict && std::ranges::any_of(comparisons, is_worse)) {
    throw Error(ExitStatus::below_threshold, fmt::format("'{}' is worse than '{}'", after, before));
  }
}

}  // namespace

int compare_command(const std::vector<std::string>& arguments) {
  const CompareRequest request = parse_compare(arguments);
  // One file after the other, so that an error names the one that is damaged.
  const result::FileKind kind = result::kind_of_file(request.files.before);
  result::work_with(request.files.before, kind, [&] {
    result::work_with(request.files.after, result::kind_of_file(request.files.after), [&] { compare(request); });
  });
  return 0;
}

}  // namespace leadline::cli
