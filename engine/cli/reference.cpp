// SPDX-License-Identifier: Apache-2.0
// Tables of what the program says, for `leadline schema` and through it for docs/findings.md and docs/exit-status.md.
#include "cli/reference.hpp"

#include "core/exit_statuses.hpp"
#include "diagnosis/fault_text.hpp"
#include "model/finding_kinds.hpp"

namespace leadline::cli {

Json exit_statuses() {
  Json statuses = Json::array();
  for (const Named<ExitStatus>& one : names_of(ExitStatus{})) {
    statuses.push_back({{"status", static_cast<int>(one.value)}, {"name", one.name}, {"meaning", one.meaning}});
  }
  return statuses;
}

Json findings_reference() {
  Json components = Json::array(), lists = Json::array(), measurement = Json::array();
  for (const Named<ComponentKind>& one : names_of(ComponentKind{})) {
    Json advice = Json::object();
    for (const Named<Symptom>& symptom : names_of(Symptom{})) {
      advice[symptom.name] = diagnosis::advice_for(one.value, symptom.value, "it");
    }
    components.push_back({{"kind", one.name}, {"meaning", one.meaning}, {"advice", advice}});
  }
  for (const Named<FindingList>& one : names_of(FindingList{})) {
    lists.push_back({{"list", one.name}, {"meaning", one.meaning}});
  }
  for (const FindingKind& one : finding_kinds()) {
    Json severities = Json::array({name_of(one.severity)});
    if (one.least_severity != one.severity) severities.push_back(name_of(one.least_severity));
    measurement.push_back({{"id", one.id}, {"severities", severities}, {"where", one.where}, {"rule", one.rule}});
  }
  return {{"components", components}, {"lists", lists}, {"measurement", measurement}};
}

}  // namespace leadline::cli
