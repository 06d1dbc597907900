// SPDX-License-Identifier: Apache-2.0
// Tables of numbers for other tools, in the format of NumPy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace leadline::cli {

struct TableShape {
  std::size_t num_rows = 0, num_columns = 0;
};

/// A file of these rows, one behind the other.
std::string npy_text(const std::vector<std::int32_t>& numbers, const TableShape& shape);

}  // namespace leadline::cli
