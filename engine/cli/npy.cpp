// SPDX-License-Identifier: Apache-2.0
// Tables of numbers for other tools, in the format of NumPy.
#include "cli/npy.hpp"

#include <fmt/format.h>

#include <bit>
#include <span>
#include <string_view>

namespace leadline::cli {

/// Version 1.0 of the format: the header is padded so that the numbers begin at a multiple of 64 bytes.
std::string npy_text(const std::vector<std::int32_t>& numbers, const TableShape& shape) {
  constexpr std::size_t length_bytes = 2, alignment = 64;
  constexpr std::string_view magic("\x93NUMPY\x01\x00", 8);
  const char order = std::endian::native == std::endian::little ? '<' : '>';
  std::string head = fmt::format("{{'descr': '{}i4', 'fortran_order': False, 'shape': ({}, {}), }}", order,
                                 shape.num_rows, shape.num_columns);
  while ((magic.size() + length_bytes + head.size() + 1) % alignment != 0) head += ' ';
  head += '\n';
  std::string text(magic);
  text += static_cast<char>(head.size() & 0xffU);  // little-endian on all machines
  text += static_cast<char>(head.size() >> 8U);
  text += head;
  const auto bytes = std::as_bytes(std::span(numbers));
  text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text;
}

}  // namespace leadline::cli
