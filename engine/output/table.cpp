// SPDX-License-Identifier: Apache-2.0
// Lays out tables and writes numbers for people.
#include "output/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

namespace leadline::output {

namespace {

std::size_t width_of(const std::string& text) {
  const auto begins_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, width_of(text)), ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

}  // namespace

void Table::add_row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::text(const std::string& indent) const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);

  std::vector<std::size_t> widths;
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    std::size_t width = width_of(titles[index]);
    for (const auto& row : rows_) width = std::max(width, width_of(row[index]));
    widths.push_back(width);
  }

  std::string text;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line = indent;
    for (std::size_t index = 0; index < cells.size(); ++index) {
      if (index > 0) line += "  ";
      line += padded(cells[index], widths[index], columns_[index].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line(titles);
  for (const auto& row : rows_) add_line(row);
  return text;
}

std::string in_unit(double value, const Unit& unit) {
  return std::isfinite(value) ? fmt::format("{:.3f}", value / unit.divisor) : "-";
}

std::string percent_text(double share) { return std::isfinite(share) ? fmt::format("{:.1f} %", 100 * share) : "-"; }

std::string format_duration(double duration_s) {
  if (!std::isfinite(duration_s)) return "-";
  if (duration_s < 9.995) return fmt::format("{:.2f} s", duration_s);
  if (duration_s < 99.95) return fmt::format("{:.1f} s", duration_s);
  const auto whole_s = static_cast<std::uint64_t>(std::llround(duration_s));
  if (whole_s < 3600) return fmt::format("{} min {:02} s", whole_s / 60, whole_s % 60);
  const std::uint64_t whole_min = (whole_s + 30) / 60;
  return fmt::format("{} h {:02} min", whole_min / 60, whole_min % 60);
}

double middle_of(const std::vector<double>& values) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const double value : values) {
    if (!(value > 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high > 0 ? std::sqrt(low * high) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::size_t> evenly_chosen(std::size_t num, std::size_t most) {
  std::vector<std::size_t> chosen(std::min(num, most));
  std::iota(chosen.begin(), chosen.end(), 0);
  if (num <= most) return chosen;
  for (std::size_t& index : chosen) index = index * (num - 1) / (most - 1);
  return chosen;
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace leadline::output
