// SPDX-License-Identifier: Apache-2.0
// The words for how serious a finding is.
#include "model/finding.hpp"

namespace leadline {

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
  }
  return "unknown";
}

}  // namespace leadline
