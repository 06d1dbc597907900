// SPDX-License-Identifier: Apache-2.0
// Parses lists of hosts: entries between commas, each of them texts and brackets in turn.
#include "network/hostlist.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "network/lines.hpp"

namespace leadline::network {
namespace {

constexpr std::size_t most_name_bytes = 255;  // a host's name in the DNS has less

struct NumberRange {
  std::uint64_t first, last;
  std::size_t width;  ///< digits at least, filled up with zeros
};

/// A text and the numbers in the bracket behind it; without a bracket none.
struct Piece {
  std::string_view text;
  std::vector<NumberRange> ranges;
};

std::uint64_t to_index(const Line& line, std::string_view text, std::string_view whole) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  // 18 digits: sums of numbers stay in range.
  if (text.empty() || text.size() > 18 || std::from_chars(text.data(), end, number).ptr != end) {
    line.refuse(fmt::format("{} is no number and no range of numbers", shown(whole)));
  }
  return number;
}

NumberRange to_range(const Line& line, std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash);
  const std::uint64_t first = to_index(line, low, text);
  const std::uint64_t last = dash == std::string_view::npos ? first : to_index(line, text.substr(dash + 1), text);
  if (last < first) line.refuse(fmt::format("the range {} ends before it begins", shown(text)));
  return {first, last, low.size()};
}

std::vector<NumberRange> to_ranges(const Line& line, std::string_view text) {
  std::vector<NumberRange> ranges;
  for (const std::string_view part : split(text, ',')) ranges.push_back(to_range(line, part));
  return ranges;
}

/// Up to the comma behind it; `at` is moved there.
std::vector<Piece> read_entry(const Line& line, std::string_view list, std::size_t& at) {
  std::vector<Piece> pieces;
  const std::size_t begin = at;
  while (true) {
    const std::size_t end = std::min(list.find_first_of("[],", at), list.size());
    pieces.push_back({list.substr(at, end - at), {}});
    at = end;
    if (at == list.size() || list[at] == ',') break;
    const std::size_t close = list.find(']', at);
    if (list[at] == ']') line.refuse(fmt::format("{} has a ] without a [", shown(list)));
    if (close == std::string_view::npos) line.refuse(fmt::format("{} has a [ without a ]", shown(list)));
    pieces.back().ranges = to_ranges(line, list.substr(at + 1, close - at - 1));
    at = close + 1;
  }
  if (at == begin) line.refuse(fmt::format("{} has an empty name", shown(list)));
  return pieces;
}

std::uint64_t count_of(const std::vector<NumberRange>& ranges) {
  std::uint64_t count = 0;
  for (const NumberRange& range : ranges) {
    const std::uint64_t more = range.last - range.first + 1;
    count = more > std::numeric_limits<std::uint64_t>::max() - count ? std::numeric_limits<std::uint64_t>::max()
                                                                     : count + more;
  }
  return count;
}

/// Names of an entry, at most one more than `most`.
std::size_t num_names(const std::vector<Piece>& pieces, std::size_t most) {
  std::uint64_t product = 1;
  for (const Piece& piece : pieces) {
    if (piece.ranges.empty()) continue;
    const std::uint64_t count = count_of(piece.ranges);
    if (count > most / product) return most + 1;
    product *= count;
  }
  return product;
}

void append_numbers(std::vector<std::string>& names, const std::vector<NumberRange>& ranges) {
  std::vector<std::string> longer;
  for (const std::string& name : names) {
    for (const NumberRange& range : ranges) {
      for (std::uint64_t number = range.first; number <= range.last; ++number) {
        longer.push_back(fmt::format("{}{:0{}}", name, number, range.width));
      }
    }
  }
  names = std::move(longer);
}

std::vector<std::string> expand_entry(const Line& line, const std::vector<Piece>& pieces) {
  std::vector<std::string> names{""};
  std::size_t most_bytes = 0;
  for (const Piece& piece : pieces) {
    most_bytes += piece.text.size() + (piece.ranges.empty() ? 0 : 18);
    if (most_bytes > most_name_bytes) {
      line.refuse(fmt::format("the name that begins with {} is too long", shown(pieces.front().text)));
    }
    for (std::string& name : names) name += piece.text;
    if (!piece.ranges.empty()) append_numbers(names, piece.ranges);
  }
  return names;
}

}  // namespace

std::vector<std::string> expand_hostlist(const Line& line, std::string_view list, std::size_t most_names) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= list.size(); ++at) {
    const std::vector<Piece> pieces = read_entry(line, list, at);
    const std::size_t most = most_names - names.size();
    if (num_names(pieces, most) > most) line.refuse("it names too many", "Is a range of numbers too long?");
    std::vector<std::string> more = expand_entry(line, pieces);
    names.insert(names.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  return names;
}

namespace {

constexpr std::string_view all_digits = "0123456789";

/// What stands between the numbers, and the numbers: one text more than there are of these. Numbers that are too long
/// for expand_hostlist() are text.
struct Parts {
  std::vector<std::string> texts{""}, numbers;
};

Parts parts_of(const std::string& name) {
  constexpr std::size_t most_digits = 18;
  Parts parts;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find_first_not_of(all_digits, at), name.size());
    if (end > at && end - at <= most_digits) {
      parts.numbers.push_back(name.substr(at, end - at));
      parts.texts.emplace_back();
    } else {
      parts.texts.back() += name.substr(at, std::max<std::size_t>(end - at, 1));
    }
    at = std::max(end, at + 1);
  }
  return parts;
}

std::string joined(const Parts& parts, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t index = begin; index < end; ++index) text += parts.texts[index] + parts.numbers[index];
  return text;
}

/// "08-10,12": numbers with their leading zeros.
std::string bracket_of(std::vector<std::string> numbers) {
  const auto value = [](const std::string& digits) { return std::stoull(digits); };
  std::ranges::sort(numbers, [&](const std::string& a, const std::string& b) {
    return a.size() != b.size() && value(a) == value(b) ? a.size() < b.size() : value(a) < value(b);
  });
  std::vector<std::string> ranges;
  for (std::size_t begin = 0; begin < numbers.size();) {
    std::size_t end = begin + 1;
    while (end < numbers.size() &&
           numbers[end] == fmt::format("{:0{}}", value(numbers[end - 1]) + 1, numbers[begin].size())) {
      ++end;
    }
    ranges.push_back(end - begin == 1 ? numbers[begin] : fmt::format("{}-{}", numbers[begin], numbers[end - 1]));
    begin = end;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

}  // namespace

std::string folded_hostlist(std::span<const std::string> names) {
  // By what stands between their numbers: which of the numbers is the last that differs.
  std::map<std::vector<std::string>, std::pair<Parts, std::size_t>> alike;
  std::vector<Parts> all;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) continue;
    Parts& parts = all.emplace_back(parts_of(name));
    auto& [first, differs] = alike.try_emplace(parts.texts, parts, 0).first->second;
    for (std::size_t index = differs; index < parts.numbers.size(); ++index) {
      if (parts.numbers[index] != first.numbers[index]) differs = index;
    }
  }
  struct Folded {
    std::string before, after;
    std::vector<std::string> numbers;
  };
  std::vector<Folded> folded;
  std::map<std::pair<std::string, std::string>, std::size_t> place_of;
  for (const Parts& parts : all) {
    const std::size_t num = parts.numbers.size(), at = alike.at(parts.texts).second;
    if (num == 0) {
      folded.push_back({parts.texts.front(), "", {}});
      continue;
    }
    const std::string before = joined(parts, 0, at) + parts.texts[at];
    const std::string after = joined(parts, at + 1, num) + parts.texts[num];
    const auto [place, is_new] = place_of.try_emplace({before, after}, folded.size());
    if (is_new) folded.push_back({before, after, {}});
    folded[place->second].numbers.push_back(parts.numbers[at]);
  }
  std::vector<std::string> texts;
  for (const Folded& one : folded) {
    const bool is_one = one.numbers.size() < 2;
    const std::string numbers = one.numbers.empty() ? "" : is_one ? one.numbers.front() : bracket_of(one.numbers);
    texts.push_back(one.before + (is_one ? numbers : "[" + numbers + "]") + one.after);
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace leadline::network
