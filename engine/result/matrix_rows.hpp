// SPDX-License-Identifier: Apache-2.0
// A result file's matrix as a diagnosis takes it: who stands where, and logarithms by rows.
#pragma once

#include <cstddef>
#include <memory>

#include "diagnosis/coded_rows.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "result/reader.hpp"

namespace leadline::result {

/// Hosts, sockets and names of all ranks; nothing of the network. Throws what the reader throws.
diagnosis::Layout layout_of(ResultReader& reader);

/// The logarithms of a slice's times for slow places, or of mean over median for unsteady ones. Reading and coding go
/// side by side. Throws what the reader throws.
void load(ResultReader& reader, std::size_t repeat_index, std::size_t size_index, Symptom symptom,
          diagnosis::DenseRows& rows);

/// What the file says of pairs that were measured again in this slice; NaN for all others. Empty where it has none.
diagnosis::Retest recorded_retests(const ResultReader& reader, std::size_t repeat_index, std::size_t size_index);

}  // namespace leadline::result
