// SPDX-License-Identifier: Apache-2.0
// The documents of diagnoses and comparisons, and what of them is in no other document.
#include "result/diagnosis_json.hpp"

#include <algorithm>
#include <span>

namespace leadline::result {
namespace {

struct DiagnosisDocument {
  std::string result_path;
  bool is_complete = false;
  std::span<const DiagnosedSlice> slices;
};

struct ComparisonDocument {
  std::string before_path, after_path;
  std::span<const Comparison> sizes;
};

/// How both documents begin.
template <FixedText document, typename Document>
constexpr auto beginning() {
  return std::tuple{
      field(
          "document", [](const Document& /*any*/) { return Constant<document>(); }, "", "which document this is"),
      field(
          "format_version", [](const Document& /*any*/) { return std::uint32_t{1}; }, "",
          "rises with every change that a reader must know of; keys may be added without"),
  };
}

}  // namespace

template <>
inline constexpr const char* about<DiagnosisDocument> =
    "What leadline diagnose --json writes; the numbers are defined in docs/metrics.md, Diagnosis. Ratios are of times: "
    "2 "
    "= twice as long. null = none.";

template <>
inline constexpr const char* about<ComparisonDocument> =
    "What leadline compare --json writes; the numbers are defined in docs/metrics.md, Comparison. Ratios are of times, "
    "after over before: 2 = twice as long.";

}  // namespace leadline::result

namespace leadline {

template <>
inline constexpr auto fields<result::DiagnosisDocument> = std::tuple_cat(
    result::beginning<"diagnosis", result::DiagnosisDocument>(),
    std::tuple{
        field("result", &result::DiagnosisDocument::result_path, "", "the file that was diagnosed, as it was named"),
        field("complete", &result::DiagnosisDocument::is_complete, "", "whether the run that wrote it ended well"),
        field("slices", &result::DiagnosisDocument::slices, "",
              "one entry for each message size in each repeat that was asked for, in the order measured"),
    });

template <>
inline constexpr auto fields<Comparison> = std::tuple_cat(
    std::tuple{field("message_size_bytes", &Comparison::message_size_bytes, "bytes", "message size")},
    result::fields_through<DiagnosisSettings>(&Comparison::settings),
    std::tuple{
        field("num_pairs", &Comparison::num_pairs, "1", "ordered pairs that both results have"),
        field("worse", is_worse, "", "whether a class or a component became slower"),
        field("classes", &Comparison::classes, "", "pairs by their distance, nearer ones first"),
        field("slower", &Comparison::slower, "",
              "components that became slower by more than their class did; ratio: by how much beyond it"),
        field("faster", &Comparison::faster, "",
              "components that became faster by more than their class did; ratio: before over after, beyond it"),
        field("notes", &Comparison::notes, "",
              "what differs between the two, and what could not be compared; with the first size"),
    });

template <>
inline constexpr auto fields<result::ComparisonDocument> = std::tuple_cat(
    result::beginning<"comparison", result::ComparisonDocument>(),
    std::tuple{
        field("before", &result::ComparisonDocument::before_path, "", "the baseline, as it was named"),
        field("after", &result::ComparisonDocument::after_path, "", "the other result"),
        field(
            "worse",
            [](const result::ComparisonDocument& document) { return std::ranges::any_of(document.sizes, is_worse); },
            "", "whether anything became slower in any size"),
        field("sizes", &result::ComparisonDocument::sizes, "",
              "one entry for each message size that both results have"),
    });

}  // namespace leadline

namespace leadline::result {

std::string diagnosis_document(const std::string& result_path, bool is_complete,
                               const std::vector<DiagnosedSlice>& slices) {
  return text_of(json_of(DiagnosisDocument{result_path, is_complete, slices}));
}

std::string comparison_document(const std::string& before_path, const std::string& after_path,
                                const std::vector<Comparison>& comparisons) {
  return text_of(json_of(ComparisonDocument{before_path, after_path, comparisons}));
}

Json diagnosis_schema() {
  return document_schema<DiagnosisDocument>("diagnosis", "What a diagnosis says about a link test");
}

Json comparison_schema() {
  return document_schema<ComparisonDocument>("comparison", "What changed between two link tests");
}

}  // namespace leadline::result
