// SPDX-License-Identifier: Apache-2.0
// Numbers with units, and lists of numbers, in text.
#include "core/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "core/error.hpp"

namespace leadline {
namespace {

constexpr std::uint64_t kibi = 1024, mebi = kibi * kibi, gibi = mebi * kibi, tebi = gibi * kibi;
constexpr std::uint64_t kilo = 1000, mega = kilo * kilo, giga = mega * kilo, tera = giga * kilo;

struct Suffix {
  std::string_view name;  // lower case
  std::uint64_t bytes;
};
constexpr std::array<Suffix, 14> suffixes{{{"", 1},
                                           {"b", 1},
                                           {"k", kibi},
                                           {"kib", kibi},
                                           {"kb", kilo},
                                           {"m", mebi},
                                           {"mib", mebi},
                                           {"mb", mega},
                                           {"g", gibi},
                                           {"gib", gibi},
                                           {"gb", giga},
                                           {"t", tebi},
                                           {"tib", tebi},
                                           {"tb", tera}}};

[[noreturn]] void refuse(std::string_view text, std::string why) {
  throw Error(ExitStatus::bad_command_line, fmt::format("'{}' is not a size", text), std::move(why),
              "Write for example 4096, 64KiB or 16MiB");
}

[[noreturn]] void refuse_sizes(std::string_view text, std::string why) {
  throw Error(ExitStatus::bad_command_line, fmt::format("'{}' is not a list of sizes", text), std::move(why),
              "Write for example 16MiB, 8B,1KiB,4MiB, 1B-4MiB, 1KiB-1MiB*4 or 100B-1000B+100B");
}

// Not <cctype>: that one asks the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view take_digits(std::string_view& rest) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), is_digit);
  const auto digits = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(digits.size());
  return digits;
}

/// Nothing where the number does not fit.
std::optional<std::uint64_t> to_number(std::string_view digits) {
  std::uint64_t number = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(number, std::uint64_t{10}, &number)) return std::nullopt;
    if (__builtin_add_overflow(number, static_cast<std::uint64_t>(c - '0'), &number)) return std::nullopt;
  }
  return number;
}

/// Bytes in 0.DIGITS of a unit. Of 19 digits or more not all numbers fit, and no unit needs so many.
std::uint64_t fraction_bytes(std::string_view text, std::string_view digits, std::uint64_t unit_bytes) {
  const auto last = digits.find_last_not_of('0');
  digits = last == std::string_view::npos ? std::string_view{} : digits.substr(0, last + 1);
  if (digits.size() > 18) refuse(text, "more than 18 digits behind the point");
  __extension__ using Wide = unsigned __int128;
  Wide denominator = 1;
  for (std::size_t i = 0; i < digits.size(); ++i) denominator *= 10;
  const Wide numerator = Wide{to_number(digits).value_or(0)} * unit_bytes;
  if (numerator % denominator != 0) refuse(text, "not a whole number of bytes");
  return static_cast<std::uint64_t>(numerator / denominator);
}

std::uint64_t unit_bytes_of(std::string_view text, std::string_view unit) {
  const auto name = lower(unit);
  const auto* found = std::find_if(suffixes.begin(), suffixes.end(), [&](const Suffix& s) { return s.name == name; });
  if (found == suffixes.end()) refuse(text, fmt::format("unknown unit '{}'", unit));
  return found->bytes;
}

/// How one size of a range follows from the one before it.
struct Growth {
  std::uint64_t factor = 1, step = 0;

  /// Nothing where 64 bits cannot count it.
  std::optional<std::uint64_t> after(std::uint64_t size) const {
    std::uint64_t next = 0;
    if (__builtin_mul_overflow(size, factor, &next) || __builtin_add_overflow(next, step, &next)) return std::nullopt;
    return next;
  }
};

/// What stands behind the range: "*4" or "+100B".
Growth growth_of(std::string_view text, std::string_view item, std::string_view behind) {
  const std::string_view amount = behind.substr(1);
  if (behind.front() == '+') {
    const std::uint64_t step = parse_bytes(amount);
    if (step == 0) refuse_sizes(text, fmt::format("the step of '{}' is 0", item));
    return {1, step};
  }
  std::string_view rest = amount;
  const auto factor = to_number(take_digits(rest));
  if (amount.empty() || !rest.empty() || !factor) {
    refuse_sizes(text, fmt::format("the factor '{}' of '{}' is not a whole number", amount, item));
  }
  if (*factor < 2) refuse_sizes(text, fmt::format("the factor of '{}' is {}: its sizes would not grow", item, *factor));
  return {*factor, 0};
}

struct Range {
  std::uint64_t first = 0, last = 0;
};

Range range_of(std::string_view text, std::string_view item, std::size_t dash) {
  const auto behind = std::min(item.find_first_of("*+", dash), item.size());
  const Range range{parse_bytes(item.substr(0, dash)), parse_bytes(item.substr(dash + 1, behind - dash - 1))};
  if (range.last < range.first) refuse_sizes(text, fmt::format("the range '{}' descends", item));
  return range;
}

/// Stops as soon as there are more sizes than a sweep may have.
void append_growing(const Range& range, const Growth& growth, std::vector<std::uint64_t>& sizes) {
  std::optional<std::uint64_t> size = range.first;
  for (; size && *size <= range.last && sizes.size() <= max_byte_sizes; size = growth.after(*size)) {
    sizes.push_back(*size);
  }
}

/// "A", "A-B", "A-B*FACTOR" or "A-B+STEP" appended to sizes.
void append_item(std::string_view text, std::string_view item, std::vector<std::uint64_t>& sizes) {
  const auto dash = item.find('-', 1);
  const auto behind = item.find_first_of("*+", 1);
  if (dash == std::string_view::npos) {
    if (behind != std::string_view::npos) {
      refuse_sizes(text, fmt::format("'{}' stands behind no range", item.substr(behind)));
    }
    sizes.push_back(parse_bytes(item));
    return;
  }
  const Range range = range_of(text, item, dash);
  const bool has_growth = behind != std::string_view::npos;
  const Growth growth = has_growth ? growth_of(text, item, item.substr(behind)) : Growth{2, 0};
  if (range.first == 0 && growth.step == 0) {
    refuse_sizes(text, fmt::format("the range '{}' cannot start at 0 bytes, since it multiplies", item));
  }
  append_growing(range, growth, sizes);
  if (!has_growth && sizes.back() != range.last) sizes.push_back(range.last);
}

constexpr std::array<Unit, 4> time_units{{{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
constexpr std::array<Unit, 4> bandwidth_units{
    {{1, "B/s"}, {double{kibi}, "KiB/s"}, {double{mebi}, "MiB/s"}, {double{gibi}, "GiB/s"}}};

Unit largest_not_above(std::span<const Unit> units, double typical) {
  Unit chosen = units.front();
  for (const Unit& unit : units) {
    if (std::abs(typical) >= unit.divisor) chosen = unit;
  }
  return chosen;
}

std::string format_in(Unit unit, double value) {
  if (std::isnan(value)) return "not measured";
  const double number = value / unit.divisor;
  const double size = std::abs(number);
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return fmt::format("{:.{}f} {}", number, decimals, unit.name);
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  if (text.empty()) refuse(text, "it is empty");
  if (text.front() == '-') refuse(text, "it is negative");
  std::string_view rest = text;
  const auto whole_digits = take_digits(rest);
  std::string_view fraction_digits;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction_digits = take_digits(rest);
    if (fraction_digits.empty()) refuse(text, "no digit behind the point");
  }
  if (whole_digits.empty() && fraction_digits.empty()) refuse(text, "it does not start with a number");
  if (const auto unit_at = rest.find_first_not_of(' '); unit_at != std::string_view::npos) rest.remove_prefix(unit_at);
  const std::uint64_t unit_bytes = unit_bytes_of(text, rest);

  const auto whole = to_number(whole_digits);
  std::uint64_t bytes = 0;
  if (!whole || __builtin_mul_overflow(*whole, unit_bytes, &bytes) ||
      __builtin_add_overflow(bytes, fraction_bytes(text, fraction_digits, unit_bytes), &bytes)) {
    refuse(text, "more than 64 bits can count");
  }
  return bytes;
}

std::vector<std::uint64_t> parse_byte_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const auto comma = rest.find(',');
    append_item(text, rest.substr(0, comma), sizes);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
    if (sizes.size() > max_byte_sizes) refuse_sizes(text, fmt::format("more than {} sizes", max_byte_sizes));
  }
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    if (sizes[i] == sizes[i - 1]) refuse_sizes(text, fmt::format("{} stands twice", format_bytes(sizes[i])));
    if (sizes[i] < sizes[i - 1]) {
      refuse_sizes(text, fmt::format("{} comes after {}; sizes must ascend", format_bytes(sizes[i]),
                                     format_bytes(sizes[i - 1])));
    }
  }
  return sizes;
}

std::string format_bytes(std::uint64_t bytes) {
  struct Name {
    std::uint64_t bytes;
    const char* text;
  };
  constexpr std::array<Name, 4> names{{{tebi, "TiB"}, {gibi, "GiB"}, {mebi, "MiB"}, {kibi, "KiB"}}};
  for (const auto& name : names) {
    if (bytes != 0 && bytes % name.bytes == 0) return fmt::format("{} {}", bytes / name.bytes, name.text);
  }
  return fmt::format("{} B", bytes);
}

std::string about_bytes(std::uint64_t bytes) {
  constexpr std::array names{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < names.size(); ++unit) amount /= 1024;
  return fmt::format("{:.{}f} {}", amount, unit == 0 ? 0 : 1, names[unit]);
}

Unit time_unit(double typical_ns) { return largest_not_above(time_units, typical_ns); }

Unit bandwidth_unit(double typical_bytes_per_s) { return largest_not_above(bandwidth_units, typical_bytes_per_s); }

std::string format_time_ns(double time_ns) { return format_in(time_unit(time_ns), time_ns); }

std::string format_bandwidth(double bandwidth_bytes_per_s) {
  return format_in(bandwidth_unit(bandwidth_bytes_per_s), bandwidth_bytes_per_s);
}

std::string number_ranges(std::span<const int> ascending) {
  std::string text;
  for (std::size_t first = 0, next = 0; first < ascending.size(); first = next) {
    next = first + 1;
    while (next < ascending.size() && ascending[next] == ascending[next - 1] + 1) ++next;
    if (!text.empty()) text += ',';
    text += std::to_string(ascending[first]);
    if (next - first > 1) text += '-' + std::to_string(ascending[next - 1]);
  }
  return text;
}

}  // namespace leadline
