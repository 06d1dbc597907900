// SPDX-License-Identifier: Apache-2.0
// `leadline compare`: what became slower or faster from one result of the link test to another.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_line.hpp"
#include "cli/commands.hpp"
#include "cli/compared_files.hpp"
#include "cli/declared_options.hpp"
#include "cli/standard_streams.hpp"
#include "cli/verdict_options.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "output/comparison_text.hpp"
#include "result/comparison_json.hpp"
#include "result/reader.hpp"

namespace leadline::cli {
namespace {

constexpr const char* compare_description =
    "Compares two results of the link test, by class of pairs, host, link and pair: what became slower, what faster,\n"
    "beyond a threshold and beyond chance. Hosts are matched by name, ranks by their place on the host.";

constexpr const char* compare_epilogue =
    "Exit status: 0 nothing is worse, 1 something is, 2 the command line is wrong or there is nothing to compare,\n"
    "3 something is missing here, 4 a file is damaged.";

struct CompareRequest {
  ComparedFiles files;
  bool as_json = false;
};

CompareRequest parse_compare(const std::vector<std::string>& arguments) {
  CompareRequest request;
  CLI::App app(compare_description, "leadline compare");
  app.footer(compare_epilogue);
  app.add_option("BASELINE", request.files.before, "a result of the link test, from before")->required()->type_name("");
  app.add_option("RESULT", request.files.after, "the other one")->required()->type_name("");
  DeclaredOptions options(app);
  declare_verdict(options, request.files.topology, request.files.settings);
  options.value("--size", "SIZE", "only this message size. Default: all that both have",
                [&](const std::string&, const std::string& text) { request.files.size_bytes = parse_bytes(text); });
  options.flag("--json", "for programs", request.as_json);
  parse_command_line(app, arguments);
  return request;
}

void compare(const CompareRequest& request) {
  const std::vector<Comparison> comparisons = compare_files(request.files);
  const std::string &before = request.files.before, &after = request.files.after;
  if (request.as_json) {
    say(result::comparison_document(before, after, comparisons));
  } else {
    say(output::comparisons_text(comparisons));
  }
  if (std::ranges::any_of(comparisons, is_worse)) {
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
