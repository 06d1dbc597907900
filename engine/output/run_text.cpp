// SPDX-License-Identifier: Apache-2.0
// Beginning, findings and end of a summary.
#include "output/run_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "core/option_words.hpp"
#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

/// `word` as a shell takes it for one word; as it is where nothing in it means anything to a shell.
std::string shell_word(const std::string& word) {
  constexpr std::string_view with_a_meaning = " \t\n\"'`\\$&|;<>()[]{}*?!#~";
  if (!word.empty() && word.find_first_of(with_a_meaning) == std::string::npos) return word;
  std::string text = "'";
  for (const char letter : word) text += letter == '\'' ? std::string(R"('\'')") : std::string(1, letter);
  return text + "'";
}

}  // namespace

std::string incomplete_line(const RunResult& result) {
  if (result.complete) return "";
  return fmt::format("INCOMPLETE: {}\n",
                     result.incomplete_reason.empty() ? "the run did not end well" : result.incomplete_reason);
}

std::string participants_line(const RunResult& result) {
  const Provenance& from = result.provenance;
  const std::string library = from.transport.library.empty() ? "" : " (" + from.transport.library + ")";
  return fmt::format(
      "{} on {}, transport {}{}, waiting: {}\n", counted(static_cast<std::uint64_t>(from.num_ranks), "rank"),
      counted(static_cast<std::uint64_t>(from.num_hosts), "host"), from.transport.name, library, name_of(from.wait));
}

std::string run_head(const RunResult& result) { return incomplete_line(result) + participants_line(result); }

bool has_finding(const RunResult& result, const std::string& id) {
  return std::any_of(result.findings.begin(), result.findings.end(),
                     [&](const Finding& finding) { return finding.id == id; });
}

std::string simulated_line(const RunResult& result) {
  if (!result.provenance.transport.simulated || has_finding(result, "simulated")) return "";
  return "simulated: these times come from a model of a fabric, not from hardware\n";
}

std::string estimate_head(const bench::CostAssumption& assumption) {
  return fmt::format("Estimate (if a message takes {} + size at {}):\n", format_time_ns(assumption.latency_ns),
                     format_bandwidth(assumption.bandwidth_bytes_per_s));
}

std::string run_tail(const RunResult& result, ResultFormat format, const std::string& result_path) {
  std::string text;
  if (result.verified_bytes > 0) {
    text += fmt::format("verified: {} arrived as sent\n", about_bytes(result.verified_bytes));
  }
  return text + where_it_lies(format, result_path);
}

std::string where_it_lies(ResultFormat format, const std::string& result_path) {
  if (result_path.empty() || result_path == "-") return "";
  std::string text = fmt::format("result: {}\n", result_path);
  if (format == ResultFormat::hdf5) text += fmt::format("next:   leadline report {}\n", shell_word(result_path));
  return text;
}

std::string findings_text(const std::vector<Finding>& findings, NoteDetail notes) {
  std::string text;
  for (const Severity severity : {Severity::warning, Severity::note}) {
    for (const Finding& finding : findings) {
      if (finding.severity != severity) continue;
      text += fmt::format("{}: {}\n", name_of(severity), in_option_words(finding.message));
      if (severity == Severity::note && notes == NoteDetail::message_alone) continue;
      for (const std::string& line : {in_option_words(finding.evidence), advice_in_option_words(finding.advice)}) {
        if (!line.empty()) text += fmt::format("    {}\n", line);
      }
    }
  }
  return text;
}

HostsOfRanks::HostsOfRanks(const std::vector<HostRanks>& hosts) : has_several_(hosts.size() > 1) {
  for (const HostRanks& host : hosts) {
    const char* at = host.ranks.data();
    const char* const end = at + host.ranks.size();
    while (at < end) {
      std::int32_t first = 0, last = 0;
      at = std::from_chars(at, end, first).ptr;
      last = first;
      if (at < end && *at == '-') at = std::from_chars(at + 1, end, last).ptr;
      ranges_[first] = {last, host.host};
      ++at;  // the comma
    }
  }
}

std::string HostsOfRanks::of(std::int32_t rank) const {
  const auto behind = ranges_.upper_bound(rank);
  if (behind == ranges_.begin()) return "";
  const Ranks& range = std::prev(behind)->second;
  return rank <= range.last ? range.host : "";
}

std::string HostsOfRanks::with_host(std::int32_t rank) const {
  if (rank < 0) return "-";
  const std::string host = has_several_ ? of(rank) : "";
  return host.empty() ? std::to_string(rank) : fmt::format("{} ({})", rank, host);
}

}  // namespace leadline::output
