// SPDX-License-Identifier: Apache-2.0
// The answer for programs that watch a machine: Slurm, Nagios, Prometheus, test systems.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "check/text.hpp"
#include "core/units.hpp"
#include "network/hostlist.hpp"
#include "output/table.hpp"

namespace leadline::check {
namespace {

bool concerns(const CheckFinding& finding, const std::string& host) {
  return std::ranges::find(finding.host_names, host) != finding.host_names.end();
}

/// "host node2 x3"
std::string in_short(const CheckFinding& finding) {
  return finding.ratio > 0 ? fmt::format("{} x{:.3g}", finding.name, finding.ratio) : finding.name;
}

/// What is bad about a host, or about anything where it is empty.
std::string what_is_bad(const CheckResult& result, const std::string& host = {}) {
  std::string text;
  for (const CheckFinding& one : result.problems) {
    if (one.grade != Grade::bad || (!host.empty() && !(one.is_of_hosts && concerns(one, host)))) continue;
    text += (text.empty() ? "" : "; ") + in_short(one);
  }
  return text;
}

/// `text` where `special` characters stand as the function writes them.
template <typename Written>
std::string escaped(std::string_view text, const Written& written) {
  std::string all;
  for (const char letter : text) all += written(letter);
  return all;
}

std::string in_xml(std::string_view text) {
  return escaped(text, [](char letter) -> std::string {
    switch (letter) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      default:
        return static_cast<unsigned char>(letter) < ' ' ? std::string(" ") : std::string(1, letter);
    }
  });
}

/// A label's value: OpenMetrics 1.0, "escaped-string".
std::string in_label(std::string_view text) {
  return escaped(text, [](char letter) -> std::string {
    switch (letter) {
      case '\\':
        return "\\\\";
      case '"':
        return "\\\"";
      case '\n':
        return "\\n";
      default:
        return std::string(1, letter);
    }
  });
}

/// Between quotes of a shell, and without what Slurm takes for the end of a reason.
std::string in_reason(std::string_view text) {
  return escaped(text, [](char letter) { return std::string(1, letter == '"' || letter == '\'' ? ' ' : letter); });
}

}  // namespace

std::string hostlist_text(const CheckResult& result) {
  return result.drain.empty() ? "" : network::folded_hostlist(result.drain) + "\n";
}

std::string why_drained(const CheckResult& result, const std::string& host) {
  if (std::ranges::find(result.drain, host) == result.drain.end()) return "";
  return fmt::format("{} is to be drained ({})", host, what_is_bad(result, host));
}

std::string slurm_text(const CheckResult& result) {
  std::string text;
  for (const std::string& host : result.drain) {
    text += fmt::format("scontrol update NodeName={} State=DRAIN Reason='leadline: {}'\n", host,
                        in_reason(what_is_bad(result, host)));
  }
  return text;
}

int nagios_status(State state) {
  switch (state) {
    case State::good:
      return 0;
    case State::warning:
      return 1;
    case State::bad:
      return 2;
    case State::untested:
      break;
  }
  return 3;
}

Error nagios_error(const Error& error) {
  return {static_cast<ExitStatus>(nagios_status(State::untested)), error.problem(), error.why(), error.hint()};
}

std::string nagios_text(const CheckResult& result) {
  constexpr const char* words[] = {"OK", "WARNING", "CRITICAL", "UNKNOWN"};
  const std::string bad = what_is_bad(result);
  std::string line =
      fmt::format("LEADLINE {} - {}", words[nagios_status(result.state)], bad.empty() ? result.why : bad);
  if (result.sample) {
    line += fmt::format(", {} of {} hosts tested", result.sample->host_names.size(), result.sample->num_started);
  }
  std::ranges::replace(line, '|', '/');
  line += " |";
  for (const Number& one : result.numbers) {
    if (std::isfinite(one.time_ns)) line += fmt::format(" 'latency {}'={:.4g}us", one.name, 1e-3 * one.time_ns);
    if (std::isfinite(one.bytes_per_s)) line += fmt::format(" 'bandwidth {}'={:.0f}B", one.name, one.bytes_per_s);
    if (one.impact) line += fmt::format(" 'impact {}'={:.4g}", one.name, one.impact->estimate);
  }
  return line + fmt::format(" faults={};;0 time={:.3g}s\n",
                            std::ranges::count(result.problems, Grade::bad, &CheckFinding::grade), result.elapsed_s);
}

std::string junit_text(const CheckResult& result) {
  struct Case {
    std::string name, failure, skipped;
  };
  std::vector<Case> cases;
  for (const HostRanks& one : result.hosts) cases.push_back({"host " + one.host, what_is_bad(result, one.host), ""});
  if (result.sample) {
    for (const std::string& host : result.sample->not_tested)
      cases.push_back({"host " + host, "", "not in the sample"});
  }
  for (const Part& part : result.parts) cases.push_back({part.name + " measured", "", part.why_not});
  std::string others;
  for (const CheckFinding& one : result.problems) {
    if (one.grade == Grade::bad && !one.is_of_hosts) others += (others.empty() ? "" : "; ") + in_short(one);
  }
  cases.push_back({"network and storage", others, ""});
  const auto num_failed = std::ranges::count_if(cases, [](const Case& one) { return !one.failure.empty(); });
  const auto num_skipped = std::ranges::count_if(cases, [](const Case& one) { return !one.skipped.empty(); });
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"leadline check\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3f}\" "
      "timestamp=\"{}\">\n",
      cases.size(), num_failed, num_skipped, result.elapsed_s, in_xml(result.provenance.start_utc));
  for (const Case& one : cases) {
    text += fmt::format(R"(    <testcase classname="leadline.check" name="{}")", in_xml(one.name));
    if (!one.failure.empty()) {
      text += fmt::format("><failure message=\"{}\"/></testcase>\n", in_xml(one.failure));
    } else if (!one.skipped.empty()) {
      text += fmt::format("><skipped message=\"{}\"/></testcase>\n", in_xml(one.skipped));
    } else {
      text += "/>\n";
    }
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string metrics_text(const CheckResult& result, double now_s) {
  std::string text;
  const auto family = [&](const char* name, const char* unit, const char* help) {
    text += fmt::format("# TYPE {} gauge\n", name);
    if (*unit != '\0') text += fmt::format("# UNIT {} {}\n", name, unit);
    text += fmt::format("# HELP {} {}\n", name, help);
  };
  family("leadline_check_state", "", "1 for the state of the last check.");
  for (const Named<State>& one : names_of(State{})) {
    text += fmt::format("leadline_check_state{{state=\"{}\"}} {}\n", one.name, one.value == result.state ? 1 : 0);
  }
  family("leadline_check_end_timestamp_seconds", "seconds", "When it ended, since 1970.");
  text += fmt::format("leadline_check_end_timestamp_seconds {:.3f}\n", now_s);
  family("leadline_check_duration_seconds", "seconds", "How long it took.");
  text += fmt::format("leadline_check_duration_seconds {:.3f}\n", result.elapsed_s);
  family("leadline_check_ranks", "", "Ranks that took part.");
  text += fmt::format("leadline_check_ranks {}\n", result.provenance.num_ranks);
  family("leadline_check_hosts", "", "Hosts that took part.");
  text += fmt::format("leadline_check_hosts {}\n", result.provenance.num_hosts);
  if (result.sample) {
    family("leadline_check_hosts_started", "", "Hosts from which those that took part were chosen at random.");
    text += fmt::format("leadline_check_hosts_started {}\n", result.sample->num_started);
    family("leadline_check_tested", "", "1 for each host that was chosen.");
    for (const std::string& host : result.sample->host_names) {
      text += fmt::format("leadline_check_tested{{host=\"{}\"}} 1\n", in_label(host));
    }
  }
  family("leadline_check_latency_seconds", "seconds", "Median time of a small message.");
  for (const Number& one : result.numbers) {
    if (!std::isfinite(one.time_ns)) continue;
    text += fmt::format("leadline_check_latency_seconds{{between=\"{}\",message_size=\"{}\"}} {:.6g}\n",
                        in_label(one.name), result.request.latency_size_bytes, 1e-9 * one.time_ns);
  }
  family("leadline_check_bandwidth_bytes_per_second", "", "Bandwidth with large messages, or of files or memory.");
  for (const Number& one : result.numbers) {
    if (!std::isfinite(one.bytes_per_s)) continue;
    text += fmt::format("leadline_check_bandwidth_bytes_per_second{{of=\"{}\"}} {:.6g}\n", in_label(one.name),
                        one.bytes_per_s);
  }
  family("leadline_check_share_ratio", "ratio", "Of the speed that it should have.");
  for (const Number& one : result.numbers) {
    if (!std::isfinite(one.share)) continue;
    text += fmt::format("leadline_check_share_ratio{{of=\"{}\",yardstick=\"{}\"}} {:.6g}\n", in_label(one.name),
                        in_label(one.yardstick), one.share);
  }
  if (std::ranges::any_of(result.numbers, [](const Number& one) { return one.impact.has_value(); })) {
    family("leadline_check_impact_ratio", "ratio", "Times as long under load as alone.");
    for (const Number& one : result.numbers) {
      if (!one.impact) continue;
      text +=
          fmt::format("leadline_check_impact_ratio{{of=\"{}\"}} {:.6g}\n", in_label(one.name), one.impact->estimate);
    }
  }
  family("leadline_check_findings", "", "Findings by grade.");
  for (const Named<Grade>& one : names_of(Grade{})) {
    text += fmt::format("leadline_check_findings{{grade=\"{}\"}} {}\n", one.name,
                        std::ranges::count(result.problems, one.value, &CheckFinding::grade));
  }
  family("leadline_check_slowdown_ratio", "ratio", "How many times as long what is slow takes.");
  for (const CheckFinding& one : result.problems) {
    if (one.ratio <= 0 || one.grade == Grade::note) continue;
    text += fmt::format("leadline_check_slowdown_ratio{{kind=\"{}\",name=\"{}\",grade=\"{}\",hosts=\"{}\"}} {:.6g}\n",
                        in_label(one.kind), in_label(one.name), name_of(one.grade),
                        in_label(network::folded_hostlist(one.host_names)), one.ratio_most);
  }
  family("leadline_check_drain", "", "1 for each host that should be taken out of service.");
  for (const std::string& host : result.drain) {
    text += fmt::format("leadline_check_drain{{host=\"{}\"}} 1\n", in_label(host));
  }
  return text + "# EOF\n";
}

}  // namespace leadline::check
