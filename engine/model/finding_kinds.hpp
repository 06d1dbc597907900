// SPDX-License-Identifier: Apache-2.0
// The kinds of findings about a measurement: where each is looked for, and by which rule; docs/findings.md shows them.
#pragma once

#include <span>

#include "model/result.hpp"

namespace leadline {

struct FindingKind {
  const char* id;     ///< Finding::id
  const char* where;  ///< in which runs
  Severity least_severity, severity;
  const char* rule;
};

/// Those about the machine first, then what was lost, then those of one benchmark each.
std::span<const FindingKind> finding_kinds();

}  // namespace leadline
