// SPDX-License-Identifier: Apache-2.0
// The answer for people.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "check/json.hpp"
#include "check/text.hpp"
#include "core/units.hpp"
#include "network/hostlist.hpp"
#include "output/table.hpp"

namespace leadline::check {
namespace {

constexpr std::size_t width = 80, most_lines = 20;
constexpr std::size_t most_numbers = 10, most_of_number = 25;

const char* word_of(State state) {
  switch (state) {
    case State::good:
      return "GOOD";
    case State::warning:
      return "WARNING";
    case State::bad:
      return "BAD";
    case State::untested:
      break;
  }
  return "UNTESTED";
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

/// "32 hosts", "21 of 420 hosts"
std::string hosts_text(const CheckResult& result) {
  const auto num = static_cast<std::uint64_t>(result.provenance.num_hosts);
  return result.sample ? fmt::format("{} of {} hosts", num, result.sample->num_started) : output::counted(num, "host");
}

/// "BAD  64 ranks on 32 hosts, Open MPI v5.0.11, mlx5_0 200 Gb/s, 43 s of 60 s"
std::string headline(const CheckResult& result) {
  const Provenance& provenance = result.provenance;
  std::vector<std::string> facts{fmt::format(
      "{} on {}", output::counted(static_cast<std::uint64_t>(provenance.num_ranks), "rank"), hosts_text(result))};
  const TransportInfo& transport = provenance.transport;
  facts.push_back(transport.library.empty() ? transport.name : transport.library);
  if (!provenance.line_rate.adapter.empty()) facts.push_back(provenance.line_rate.adapter);
  facts.push_back(fmt::format("{:.0f} s of {:g} s", result.elapsed_s, result.request.budget_s));
  return shortened(fmt::format("{}  {}", word_of(result.state), fmt::join(facts, ", ")), width) + "\n";
}

/// Short enough for a column; empty for findings about the machine.
const char* what_to_do(const CheckFinding& finding) {
  struct Known {
    const char *kind, *text;
  };
  constexpr Known known[] = {
      {"host", "check clock, memory, load"},
      {"port", "check cable, adapter, port"},
      {"inside", "check memory and binding"},
      {"socket", "check adapter's socket"},
      {"rank", "check its core and load"},
      {"link", "check the way between"},
      {"pair", "measure it again"},
      {"cable", "check this cable"},
      {"uplink", "check the uplink"},
      {"switch", "check this switch"},
      {"rail", "check this rail"},
      {"target", "check this target"},
      {"class", "check what all share"},
      {"gpu", "check clock and link"},
      {"congestion", "check congestion control"},
  };
  const auto found = std::ranges::find_if(known, [&](const Known& one) { return finding.kind == one.kind; });
  return found == std::end(known) ? "" : found->text;
}

/// "line rate: 94 %", "alone: x12.3"
std::string beside_yardstick(const Number& number) {
  if (number.impact) return fmt::format("{}: x{:.3g}", number.yardstick, number.impact->estimate);
  return std::isfinite(number.share) ? fmt::format("{}: {:.0f} %", number.yardstick, 100 * number.share) : "";
}

std::string numbers_text(const CheckResult& result) {
  output::Table table({{"", output::Align::left},
                       {"latency " + format_bytes(result.request.latency_size_bytes)},
                       {"bandwidth " + format_bytes(result.request.bandwidth_size_bytes)},
                       {"of what it should give", output::Align::left}});
  const std::size_t num = std::min(result.numbers.size(), most_numbers);
  for (std::size_t index = 0; index < num; ++index) {
    const Number& one = result.numbers[index];
    table.add_row({shortened(one.name, most_of_number), std::isfinite(one.time_ns) ? format_time_ns(one.time_ns) : "",
                   std::isfinite(one.bytes_per_s) ? format_bandwidth(one.bytes_per_s) : "", beside_yardstick(one)});
  }
  return num > 0 ? table.text(" ") : "";
}

std::string mark_of(const CheckFinding& finding, std::size_t number) {
  switch (finding.grade) {
    case Grade::bad:
      return std::to_string(number);
    case Grade::warning:
      return "!";
    case Grade::untested:
      return "?";
    case Grade::note:
      break;
  }
  return "-";
}

std::string ratio_text(const CheckFinding& finding) {
  if (finding.ratio <= 0) return "";
  const std::string least = fmt::format("x{:.3g}", finding.ratio), most = fmt::format("{:.3g}", finding.ratio_most);
  return least == "x" + most ? least : least + "-" + most;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

enum class Advice : bool { without, with };

std::vector<std::string> table_lines(const std::vector<const CheckFinding*>& findings, Advice advice) {
  constexpr std::size_t most_of_name = 46;
  std::vector<output::Column> columns(advice == Advice::with ? 5 : 4, {"", output::Align::left});
  output::Table table(std::move(columns));
  std::size_t number = 0;
  for (const CheckFinding* one : findings) {
    std::vector<std::string> cells{mark_of(*one, ++number), shortened(one->name, most_of_name), ratio_text(*one),
                                   one->seen};
    if (advice == Advice::with) cells.emplace_back(what_to_do(*one));
    table.add_row(std::move(cells));
  }
  std::vector<std::string> lines = lines_of(table.text(" "));
  lines.erase(lines.begin());  // the titles are empty
  return lines;
}

/// What has a ratio stands in columns, with advice where there is room for it; a finding about the machine is a
/// sentence.
std::vector<std::string> problem_lines(const CheckResult& result) {
  std::vector<const CheckFinding*> with_ratio;
  std::vector<std::string> sentences;
  for (const CheckFinding& one : result.problems) {
    if (one.grade == Grade::note) continue;
    if (one.ratio > 0) {
      with_ratio.push_back(&one);
    } else {
      sentences.push_back(fmt::format(" {}  {}", mark_of(one, with_ratio.size() + sentences.size() + 1), one.name));
    }
  }
  std::vector<std::string> lines = table_lines(with_ratio, Advice::with);
  const bool fits = std::ranges::all_of(lines, [](const std::string& line) { return line.size() <= width; });
  if (!fits) lines = table_lines(with_ratio, Advice::without);
  lines.insert(lines.end(), sentences.begin(), sentences.end());
  for (std::string& line : lines) line = shortened(line, width);
  return lines;
}

std::string where_it_lies(const CheckResult& result) {
  return result.request.no_files ? "" : fmt::format(" report: leadline report {}\n", result.request.output);
}

}  // namespace

std::string screen_text(const CheckResult& result) {
  std::string text = headline(result);
  if (result.sample) {
    text += shortened(fmt::format(" tested, chosen at random with --seed {}: {}", result.request.seed,
                                  network::folded_hostlist(result.sample->host_names)),
                      width) +
            "\n";
  }
  text += numbers_text(result);
  std::string end;
  for (const Part& part : result.parts) {
    if (!part.why_not.empty()) {
      end += shortened(fmt::format(" {} was not measured: {}", part.name, part.why_not), width) + "\n";
    }
  }
  if (result.state == State::untested && result.complete) end += shortened(" " + result.why, width) + "\n";
  if (!result.drain.empty()) {
    end += shortened(fmt::format(" drain: {}", network::folded_hostlist(result.drain)), width) + "\n";
  }
  end += where_it_lies(result);

  const std::vector<std::string> lines = problem_lines(result);
  const std::size_t taken = lines_of(text).size() + lines_of(end).size();
  const std::size_t room = most_lines - std::min(taken, most_lines - 2);
  const bool fits = lines.size() <= room;
  const std::size_t num_shown = fits ? lines.size() : room - 1;
  for (std::size_t index = 0; index < num_shown; ++index) text += lines[index] + "\n";
  if (!fits) text += fmt::format("    ... and {} more: --json says all\n", lines.size() - num_shown);
  return text + end;
}

std::string text_of(const CheckResult& result) {
  switch (result.request.form) {
    case Form::text:
      break;
    case Form::json:
      return json_text(result);
    case Form::hostlist:
      return hostlist_text(result);
    case Form::slurm:
      return slurm_text(result);
    case Form::nagios:
      return nagios_text(result);
    case Form::junit:
      return junit_text(result);
  }
  return screen_text(result);
}

}  // namespace leadline::check
