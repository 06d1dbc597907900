// SPDX-License-Identifier: Apache-2.0
// Diagnoses and comparisons in JSON; docs/formats/diagnosis.schema.json and comparison.schema.json say what the keys
// mean.
#pragma once

#include <string>
#include <vector>

#include "model/diagnosis.hpp"
#include "model/link_result.hpp"
#include "result/json_parts.hpp"

namespace leadline::result {

Json fault_json(const Fault& fault);
Json diagnosis_json(const Diagnosis& diagnosis);

/// One slice of a result and what is said about it.
struct DiagnosedSlice {
  Slice slice;
  Diagnosis diagnosis;
};

/// The document of `leadline diagnose`, with a line end.
std::string diagnosis_document(const std::string& result_path, bool is_complete,
                               const std::vector<DiagnosedSlice>& slices);

/// The document of `leadline compare`, with a line end; one comparison for each message size.
std::string comparison_document(const std::string& before_path, const std::string& after_path,
                                const std::vector<Comparison>& comparisons);

}  // namespace leadline::result
