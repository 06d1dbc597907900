// SPDX-License-Identifier: Apache-2.0
// Writes the summary of a parallel file test, part by part.
#include <fmt/format.h>

#include <string>

#include "output/findings.hpp"
#include "output/io_conspicuous.hpp"
#include "output/io_rates.hpp"
#include "output/io_request_text.hpp"
#include "output/io_text.hpp"
#include "output/io_times.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

/// "4 files on ext4: /scratch/t.0 ...".
std::string files_words(const IoResult& result) {
  std::string text = counted(result.files.size(), "file");
  if (!result.file_system.empty()) text += " on " + result.file_system;
  if (!result.files.empty()) text += ": " + result.files.front();
  return result.files.size() > 1 ? text + " ..." : text;
}

std::string what_was_done(const IoResult& result) {
  const IoRequest& request = result.request;
  std::string text = fmt::format("{}: {} a rank", movement_description(request),
                                 objects_description(result.num_objects, request.object_size_bytes));
  if (schedule::is_funnel(request.movement)) text += fmt::format(", {}", counted(result.io_ranks.size(), "I/O rank"));
  text += "\n";
  if (request.no_file) return text;
  return text + fmt::format("{}: {}\n{}\n", result.backend_library, calls_description(request), files_words(result));
}

std::string verified_line(const IoResult& result) {
  if (result.verified_bytes == 0) return "";
  return fmt::format("verified: {} read as written\n", about_bytes(result.verified_bytes));
}

}  // namespace

std::string io_summary(const IoResult& result, const std::string& path) {
  std::string text = run_head(result) + what_was_done(result) + simulated_line(result);
  const auto add_part = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  add_part(io_headlines(result));
  add_part(io_rates_table(result));
  add_part(io_times_text(result));
  add_part(io_latencies_text(result));
  add_part(io_throughput_text(result));
  add_part(io_stragglers_text(result));
  add_part(io_slow_calls_text(result));
  add_part(io_hints_text(result));
  add_part(io_wrong_text(result));
  add_part(findings_text(result.findings));
  add_part(verified_line(result) + where_it_lies(result.request.format, path));
  return text;
}

}  // namespace leadline::output
