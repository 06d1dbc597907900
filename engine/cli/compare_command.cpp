// SPDX-License-Identifier: Apache-2.0
// `leadline compare`: what became slower or faster from earlier results to a later one.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/link/compared_files.hpp"
#include "bench/run_options.hpp"
#include "cli/benchmarks.hpp"
#include "cli/main.hpp"
#include "command/command_output.hpp"
#include "command/option_parser.hpp"
#include "command/reporting.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "core/units.hpp"
#include "diagnosis/compare_runs.hpp"
#include "output/diagnosis_text.hpp"
#include "result/diagnosis_json.hpp"
#include "result/file_kind.hpp"

namespace leadline::cli {
namespace {

constexpr const char* compare_description =
    "Compares the last result with all before it, which are baselines of the same benchmark: what became slower, what\n"
    "faster, beyond a threshold and beyond chance. With several baselines chance is how much these differ among each\n"
    "other; with one it is not known how much launches differ. Link test: by class of pairs, host, link and pair; "
    "ranks\n"
    "are matched by host, socket and adapter. Others: times of topologies, bandwidths, rates of files, and each "
    "host's\n"
    "part in them.";

constexpr const char* compare_epilogue =
    "Exit status: 0 fine, 1 with --strict where something is slower, 2 the command line is wrong, or a file is no "
    "result,\n"
    "or there is nothing to compare, 3 something is missing here, 4 a file is damaged.\n"
    "Example:\n"
    "  leadline compare good1.h5 good2.h5 good3.h5 today.h5 --strict";

struct CompareRequest {
  std::string first;                ///< baseline
  std::vector<std::string> others;  ///< more baselines, and the result
  bench::link::ComparedFiles files;
  command::CommandOutput output;
  bool strict = false;
};

CompareRequest parse_compare(const std::vector<std::string>& arguments) {
  CompareRequest request;
  command::OptionParser options("leadline compare", compare_description, compare_epilogue);
  options.argument("BASELINE", "a result from before", request.first);
  options.files_argument("RESULT", "more results from before, if there are any, and at the end the one to compare",
                         request.others);
  bench::declare_verdict(options, request.files.topology, request.files.settings)
      .topology.by_default("that of the last run, as RESULT has it");
  options
      .value("--message-size", "SIZE", "only this message size",
             [&](const std::string&, const std::string& text) { request.files.size_bytes = parse_bytes(text); })
      .by_default("all that all of them have");
  options.flag("--strict", "end with status 1 where something is slower", request.strict);
  command::declare_output(options, request.output);
  options.parse(arguments);
  command::check_output(request.output);
  request.files.before = {request.first};
  request.files.before.insert(request.files.before.end(), request.others.begin(), request.others.end() - 1);
  request.files.after = request.others.back();
  return request;
}

/// Throws where the files are results of several.
const Benchmark& common_benchmark(const bench::link::ComparedFiles& files) {
  const auto name_of_file = [](const std::string& path) {
    return result::benchmark_of(path, result::kind_of_file(path));
  };
  const std::string name = name_of_file(files.after);
  for (const std::string& path : files.before) {
    const std::string other = name_of_file(path);
    if (other == name) continue;
    throw Error(ExitStatus::bad_command_line, fmt::format("'{}' and '{}' cannot be compared", path, files.after),
                fmt::format("one is a result of leadline {}, the other of leadline {}", other, name),
                "Compare results of one benchmark");
  }
  for (const Benchmark& one : benchmarks()) {
    if (name == one.name) return one;
  }
  throw Error(
      ExitStatus::bad_command_line, fmt::format("'{}' cannot be compared", files.after),
      fmt::format("it is a result of {}, which this program does not know", printable(name, LineEnds::replaced)));
}

bool compare_link(const CompareRequest& request, const result::ComparedFacts& facts, command::StepLog& steps) {
  std::vector<Comparison> comparisons = bench::link::compare_files(request.files, steps);
  if (request.output.is_json) {
    command::put_output(request.output, result::comparison_document(facts, comparisons));
  } else {
    if (request.output.quiet) {
      for (Comparison& one : comparisons) one.notes.clear();
    }
    command::put_output(request.output, output::comparisons_text(comparisons));
  }
  return std::ranges::any_of(comparisons, is_worse);
}

/// Of the message size asked for.
diagnosis::RunNumbers numbers_of_file(const CompareRequest& request, const Benchmark& benchmark,
                                      const std::string& path, command::StepLog& steps) {
  diagnosis::RunNumbers run = benchmark.numbers_of(path);
  steps.done(fmt::format("opened '{}': {} numbers", path, run.numbers.size()));
  if (!request.files.size_bytes) return run;
  std::erase_if(run.numbers, [&](const auto& one) { return one.message_size_bytes != *request.files.size_bytes; });
  if (run.numbers.empty()) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("there is no message size {} in '{}'", format_bytes(*request.files.size_bytes), path), {},
                "Leave out --message-size to compare all that there are");
  }
  return run;
}

bool compare_numbers(const CompareRequest& request, const Benchmark& benchmark, const result::ComparedFacts& facts,
                     command::StepLog& steps) {
  if (!request.files.topology.empty()) {
    throw Error(ExitStatus::bad_command_line, "--topology is for results of the link test",
                fmt::format("'{}' is a result of leadline {}", request.files.after, benchmark.name));
  }
  std::vector<diagnosis::RunNumbers> before;
  for (const std::string& path : request.files.before) {
    before.push_back(numbers_of_file(request, benchmark, path, steps));
  }
  const diagnosis::RunNumbers after = numbers_of_file(request, benchmark, request.files.after, steps);
  ComparedRuns compared = diagnosis::compare_runs(before, after, request.files.settings);
  if (request.output.is_json) {
    command::put_output(request.output, result::comparison_document(facts, compared));
  } else {
    if (request.output.quiet) compared.notes.clear();
    command::put_output(request.output, output::compared_runs_text(compared));
  }
  return has_slower(compared);
}

void compare(const CompareRequest& request) {
  command::StepLog steps("leadline compare", request.output.verbose);
  const Benchmark& benchmark = common_benchmark(request.files);
  const result::ComparedFacts facts{benchmark.name, request.files.before, request.files.after};
  const bool has_slower = benchmark.numbers_of == nullptr ? compare_link(request, facts, steps)
                                                          : compare_numbers(request, benchmark, facts, steps);
  if (!request.strict || !has_slower) return;
  throw Error(ExitStatus::below_threshold, fmt::format("'{}' is worse than {}", request.files.after,
                                                       bench::link::baselines_text(request.files.before)));
}

/// One file within the other, so that an error names the one that is damaged, and the last one sees what all have.
void compare_from(const CompareRequest& request, std::size_t index) {
  const auto& before = request.files.before;
  if (index > before.size()) return compare(request);
  const std::string& path = index < before.size() ? before[index] : request.files.after;
  result::work_with(path, result::kind_of_file(path), [&] { compare_from(request, index + 1); });
}

}  // namespace

int compare_command(const std::vector<std::string>& arguments) {
  compare_from(parse_compare(arguments), 0);
  return 0;
}

}  // namespace leadline::cli
