// SPDX-License-Identifier: Apache-2.0
// Plain tables for terminals and job logs, and the numbers in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/units.hpp"

namespace leadline::output {

enum class Align : std::uint8_t { left, right };

struct Column {
  std::string title;
  Align align = Align::right;
};

/// Columns as wide as their widest cell, two blanks apart. Widths count characters, not bytes.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many cells as columns; those that are missing are empty.
  void add_row(std::vector<std::string> cells);

  bool has_rows() const { return !rows_.empty(); }

  /// The titles and the rows, each line behind `indent` and with its end; no blanks at ends of lines.
  std::string text(const std::string& indent = "  ") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The value in the column's unit with three decimals, without the unit; "-" for what is not a finite number.
std::string in_unit(double value, const Unit& unit);

/// "1.4 %" of a share; "-" for what is not a finite number.
std::string percent_text(double share);

/// "0.42 s", "12.3 s", "3 min 20 s", "2 h 05 min".
std::string format_duration(double duration_s);

/// What one unit for all these values should go by: the middle between the least and the greatest, as ratios go. Leaves
/// out what is not above 0; NaN where nothing is.
double middle_of(const std::vector<double>& values);

/// Indices below `num`, ascending: all, or `most` evenly chosen ones with the first and the last among them.
std::vector<std::size_t> evenly_chosen(std::size_t num, std::size_t most);

/// "1 pair", "2 pairs".
std::string counted(std::uint64_t count, const std::string& noun);

}  // namespace leadline::output
