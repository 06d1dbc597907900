// SPDX-License-Identifier: Apache-2.0
// Named patterns: their words on the command line, what they ask of the players, and who sends to whom.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "schedule/option_text.hpp"
#include "schedule/pattern.hpp"

namespace leadline::schedule {
namespace {

constexpr const char* known_patterns =
    "Known are random, halves, reversal, neighbour, bit-reversal, transpose, shift:K, shift-each and tornado:G";

enum class Argument : std::uint8_t { none, distance, group };

struct PatternFamily {
  std::string_view word;
  NamedPattern pattern;
  Argument argument = Argument::none;
};

constexpr std::array<PatternFamily, 7> pattern_families{{
    {"halves", NamedPattern::halves},
    {"reversal", NamedPattern::reversal},
    {"neighbour", NamedPattern::neighbour},
    {"bit-reversal", NamedPattern::bit_reversal},
    {"transpose", NamedPattern::transpose},
    {"shift", NamedPattern::shift, Argument::distance},
    {"tornado", NamedPattern::tornado, Argument::group},
}};

constexpr std::string_view each_shift = "shift-each";

std::string players_text(std::int64_t num) { return fmt::format("{} player{}", num, num == 1 ? "" : "s"); }

/// Why so many players cannot have the pattern, and what to do.
struct Refusal {
  std::string why, hint;
};

std::int64_t least_factor(std::int64_t number) {
  for (std::int64_t factor = 2; factor * factor <= number; ++factor) {
    if (number % factor == 0) return factor;
  }
  return number;
}

/// Rows of the matrix that is nearest to a square and not higher than wide.
std::int64_t num_rows(std::int64_t num) {
  std::int64_t rows = 1;
  for (std::int64_t row = 2; row * row <= num; ++row) {
    if (num % row == 0) rows = row;
  }
  return rows;
}

std::optional<Refusal> refusal_of_group(std::int64_t group, std::int64_t num) {
  if (group >= 1 && num % group == 0 && num / group >= 2) return std::nullopt;
  // A group of one is always possible, so the search ends.
  std::int64_t fitting = std::clamp<std::int64_t>(group, 1, num / 2);
  while (num % fitting != 0) --fitting;
  return Refusal{fmt::format("{} cannot be split into at least 2 full groups of {}", players_text(num), group),
                 fmt::format("Choose a group size that divides {}, for example tornado:{}", num, fitting)};
}

std::optional<Refusal> refusal(const PatternSpec& spec, std::int64_t num) {
  if (num < 2) return Refusal{"a pattern needs two players", "Let more ranks take part"};
  switch (spec.pattern) {
    case NamedPattern::bit_reversal:
      if (num >= 4) return std::nullopt;
      return Refusal{fmt::format("with {} nobody would send", players_text(num)), "Let at least 4 ranks take part"};
    case NamedPattern::transpose:
      if (least_factor(num) < num) return std::nullopt;
      return Refusal{fmt::format("{} form no matrix, since {} is prime", players_text(num), num),
                     "Choose a number of ranks with more factors"};
    case NamedPattern::shift:
      if (spec.argument >= 1 && spec.argument < num) return std::nullopt;
      return Refusal{fmt::format("{} players have no shift by {}", num, spec.argument),
                     fmt::format("Choose 1 to {}", num - 1)};
    case NamedPattern::tornado:
      return refusal_of_group(spec.argument, num);
    case NamedPattern::halves:
    case NamedPattern::reversal:
    case NamedPattern::neighbour:
      return std::nullopt;
  }
  return std::nullopt;
}

std::int64_t bits_reversed(std::int64_t seat, int num_bits) {
  std::int64_t reversed = 0;
  for (int bit = 0; bit < num_bits; ++bit) reversed |= ((seat >> bit) & 1) << (num_bits - 1 - bit);
  return reversed;
}

/// Whom each seat sends to; it rests where that is itself, or nobody on a seat.
class Destination {
 public:
  Destination(const PatternSpec& spec, std::int64_t num)
      : pattern_(spec.pattern), num_(num), columns_(num / num_rows(num)) {
    if (pattern_ == NamedPattern::shift) distance_ = spec.argument;
    if (pattern_ == NamedPattern::tornado) {
      const std::int64_t num_groups = num / spec.argument;
      distance_ = std::max<std::int64_t>((num_groups + 1) / 2 - 1, 1) * spec.argument;
    }
  }

  std::int64_t of(std::int64_t seat) const {
    switch (pattern_) {
      case NamedPattern::halves:
        if (seat >= num_ / 2 * 2) return seat;
        return (seat + num_ / 2) % (num_ / 2 * 2);
      case NamedPattern::reversal:
        return num_ - 1 - seat;
      case NamedPattern::neighbour:
        return (seat ^ 1) < num_ ? seat ^ 1 : seat;
      case NamedPattern::bit_reversal:
        return seat < std::int64_t{1} << num_bits_ ? bits_reversed(seat, num_bits_) : seat;
      case NamedPattern::transpose:
        return seat % columns_ * (num_ / columns_) + seat / columns_;
      case NamedPattern::shift:
      case NamedPattern::tornado:
        return (seat + distance_) % num_;
    }
    return seat;
  }

 private:
  NamedPattern pattern_;
  std::int64_t num_, columns_, distance_ = 0;
  int num_bits_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(num_))) - 1;
};

/// `text`: what stands behind the colon.
std::int32_t parse_argument(const OptionText& word, const PatternFamily& family, std::string_view text) {
  const bool is_distance = family.argument == Argument::distance;
  std::int32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stop == end && number >= 1) return number;
  word.refuse(fmt::format("'{}' is no {}", text, is_distance ? "distance" : "number of players in a group"),
              is_distance ? "Write for example shift:1, or shift-each for every distance"
                          : "Write for example tornado:16, where a group has 16 players");
}

PatternSpec parse_spec(const OptionText& word) {
  const std::size_t colon = word.text.find(':');
  const auto* const family = std::ranges::find(pattern_families, word.text.substr(0, colon), &PatternFamily::word);
  if (family == pattern_families.end()) word.refuse("there is no such pattern", known_patterns);
  PatternSpec spec{std::string(word.text), family->pattern, 0};
  const bool has_argument = colon != std::string_view::npos;
  if (has_argument && family->argument == Argument::none) {
    word.refuse(fmt::format("nothing may follow '{}'", family->word), known_patterns);
  }
  if (family->argument != Argument::none) {
    spec.argument = parse_argument(word, *family, has_argument ? word.text.substr(colon + 1) : std::string_view());
    spec.name = fmt::format("{}:{}", family->word, spec.argument);
  }
  return spec;
}

}  // namespace

std::vector<PatternSpec> parse_pattern(const std::string& option, const std::string& text, int num_players) {
  const OptionText word{option, text};
  if (text == each_shift) {
    if (num_players == 1) return {{text, NamedPattern::shift, 0}};
    std::vector<PatternSpec> specs;
    for (std::int32_t distance = 1; distance < num_players; ++distance) {
      specs.push_back({fmt::format("shift:{}", distance), NamedPattern::shift, distance});
    }
    return specs;
  }
  PatternSpec spec = parse_spec(word);
  if (num_players > 1) {
    if (const auto refused = refusal(spec, num_players)) word.refuse(refused->why, refused->hint);
  }
  return {std::move(spec)};
}

Pattern named_pattern(const PatternSpec& spec, int num_ranks, std::span<const std::int32_t> ranks) {
  const auto num = static_cast<std::int64_t>(ranks.size());
  if (const auto refused = refusal(spec, num)) {
    throw Error(ExitStatus::bad_command_line, fmt::format("there is no pattern {}", spec.name), refused->why,
                refused->hint);
  }
  Pattern pattern{std::vector<std::int32_t>(static_cast<std::size_t>(num_ranks), no_rank)};
  const Destination destination(spec, num);
  for (std::int64_t seat = 0; seat < num; ++seat) {
    const std::int64_t to = destination.of(seat);
    if (to == seat) continue;
    pattern.send_to[static_cast<std::size_t>(ranks[static_cast<std::size_t>(seat)])] =
        ranks[static_cast<std::size_t>(to)];
  }
  return pattern;
}

}  // namespace leadline::schedule
