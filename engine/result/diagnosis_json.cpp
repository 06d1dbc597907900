// SPDX-License-Identifier: Apache-2.0
// Diagnoses and comparisons in JSON; docs/formats/diagnosis.schema.json and comparison.schema.json say what the keys
// mean.
#include "result/diagnosis_json.hpp"

#include <algorithm>

namespace leadline::result {
namespace {

constexpr int diagnosis_format_version = 1;

/// Null for "none".
Json index(std::int32_t value) { return value < 0 ? Json(nullptr) : Json(value); }

Json pair_json(const ShownPair& pair) {
  return {
      {"from", pair.from}, {"to", pair.to}, {"measured", number(pair.measured)}, {"expected", number(pair.expected)}};
}

Json class_json(const DiagnosedClass& one) {
  return {{"name", one.name},
          {"num_pairs", one.num_pairs},
          {"time_ns_median", number(one.time_ns_median)},
          {"error", number(one.error)},
          {"spread", number(one.spread)}};
}

constexpr int comparison_format_version = 1;

Json class_json(const ComparedClass& one) {
  return {{"name", one.name},
          {"num_pairs", one.num_pairs},
          {"before_ns_median", number(one.before_ns)},
          {"after_ns_median", number(one.after_ns)},
          {"ratio", number(one.ratio)},
          {"ratio_interval", Json::array({number(one.ratio_low), number(one.ratio_high)})},
          {"change", name_of(one.change)}};
}

Json comparison_json(const Comparison& comparison) {
  return {{"message_size_bytes", comparison.message_size_bytes},
          {"threshold", number(comparison.settings.threshold)},
          {"false_discovery_rate", number(comparison.settings.false_discovery_rate)},
          {"num_pairs", comparison.num_pairs},
          {"worse", is_worse(comparison)},
          {"classes", list_json(comparison.classes, class_json)},
          {"slower", list_json(comparison.slower, fault_json)},
          {"faster", list_json(comparison.faster, fault_json)},
          {"notes", comparison.notes}};
}

}  // namespace

Json fault_json(const Fault& fault) {
  return {
      {"kind", name_of(fault.component.kind)},
      {"name", fault.name},
      {"symptom", name_of(fault.symptom)},
      {"direction", name_of(fault.direction)},
      {"component",
       {{"level", index(fault.component.level)},
        {"first", index(fault.component.first)},
        {"second", index(fault.component.second)},
        {"socket", index(fault.component.socket)},
        {"hosts", fault.hosts},
        {"other_hosts", fault.other_hosts}}},
      {"ratio", number(fault.ratio)},
      {"ratio_interval", Json::array({number(fault.ratio_low), number(fault.ratio_high)})},
      {"p_value", number(fault.p_value)},
      {"num_pairs", fault.num_pairs},
      {"pairs", list_json(fault.pairs, pair_json)},
      {"ruled_out", fault.ruled_out},
      {"advice", fault.advice},
      {"persistence", name_of(fault.persistence)},
      {"ratio_alone", fault.ratio_alone > 0 ? number(fault.ratio_alone) : Json(nullptr)},
      {"ratio_concurrent", fault.ratio_concurrent > 0 ? number(fault.ratio_concurrent) : Json(nullptr)},
      {"is_note", fault.is_note},
  };
}

Json diagnosis_json(const Diagnosis& diagnosis) {
  return {
      {"threshold", number(diagnosis.settings.threshold)},
      {"false_discovery_rate", number(diagnosis.settings.false_discovery_rate)},
      {"topology", diagnosis.topology.empty() ? Json(nullptr) : Json(diagnosis.topology)},
      {"num_pairs", diagnosis.num_pairs},
      {"num_measured", diagnosis.num_measured},
      {"classes", list_json(diagnosis.classes, class_json)},
      {"faults", list_json(diagnosis.faults, fault_json)},
      {"notes", diagnosis.notes},
  };
}

std::string diagnosis_document(const std::string& result_path, bool is_complete,
                               const std::vector<DiagnosedSlice>& slices) {
  Json parts = Json::array();
  for (const DiagnosedSlice& one : slices) {
    parts.push_back({{"repeat", one.slice.repeat},
                     {"size_index", one.slice.size_index},
                     {"message_size_bytes", one.slice.message_size_bytes},
                     {"diagnosis", diagnosis_json(one.diagnosis)}});
  }
  return text_of({{"document", "diagnosis"},
                  {"format_version", diagnosis_format_version},
                  {"result", result_path},
                  {"complete", is_complete},
                  {"slices", std::move(parts)}});
}

std::string comparison_document(const std::string& before_path, const std::string& after_path,
                                const std::vector<Comparison>& comparisons) {
  return text_of({{"document", "comparison"},
                  {"format_version", comparison_format_version},
                  {"before", before_path},
                  {"after", after_path},
                  {"worse", std::ranges::any_of(comparisons, is_worse)},
                  {"sizes", list_json(comparisons, comparison_json)}});
}

}  // namespace leadline::result
