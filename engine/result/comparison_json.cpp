// SPDX-License-Identifier: Apache-2.0
// Writes comparisons key by key.
#include "result/comparison_json.hpp"

#include <algorithm>

#include "result/diagnosis_json.hpp"

namespace leadline::result {
namespace {

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
