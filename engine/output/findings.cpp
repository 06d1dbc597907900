// SPDX-License-Identifier: Apache-2.0
// Prints findings, the serious ones first.
#include "output/findings.hpp"

#include <fmt/format.h>

namespace leadline::output {

std::string findings_text(const std::vector<Finding>& findings) {
  std::string text;
  for (const Severity severity : {Severity::warning, Severity::note}) {
    for (const Finding& finding : findings) {
      if (finding.severity != severity) continue;
      text += fmt::format("{}: {}\n", name_of(severity), finding.message);
      if (!finding.evidence.empty()) text += fmt::format("    {}\n", finding.evidence);
      if (!finding.advice.empty()) text += fmt::format("    {}\n", finding.advice);
    }
  }
  return text;
}

}  // namespace leadline::output
