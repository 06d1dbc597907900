// SPDX-License-Identifier: Apache-2.0
// Random matchings and named patterns.
#include "schedule/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/random.hpp"

namespace leadline::schedule {
namespace {

/// Streams of the seed; an index is added to its own. Schedules have theirs far below.
constexpr std::uint64_t random_pattern_stream = std::uint64_t{1} << 61;
constexpr std::uint64_t swap_stream = std::uint64_t{2} << 61;

std::size_t as_index(std::int32_t index) { return static_cast<std::size_t>(index); }

bool hosts_matter(const Participants& participants) {
  return !participants.within_hosts && !participants.host_of.empty();
}

/// Seats of which seat i plays with seat i + half. With an odd number the last one has no partner: place `half` of the
/// second members.
class Table {
 public:
  Table(std::vector<std::int32_t>& seats, std::span<const std::uint32_t> host_of)
      : seats_(seats), host_of_(host_of), half_(seats.size() / 2), num_seconds_(seats.size() - half_) {}

  /// Parts the pairs on one host, as many as can be.
  void part_hosts() {
    for (std::size_t pair = 0; pair < half_; ++pair) {
      if (host(pair) != host(pair + half_)) continue;
      const std::size_t other = find_exchange(host(pair));
      // Then every pair has a member on this host, and who is left over lies there, too: nothing can be gained.
      if (other == num_seconds_) return;
      std::swap(seats_[pair + half_], seats_[other + half_]);
    }
  }

 private:
  std::uint32_t host(std::size_t seat) const { return host_of_[as_index(seats_[seat])]; }

  bool is_free_of(std::uint32_t host_index, std::size_t pair) const {
    return host(pair + half_) != host_index && (pair == half_ || host(pair) != host_index);
  }

  /// A pair without members on the host, or the participant without partner; num_seconds_ if there is none. Looking on
  /// from where the last search ended passes by the seats about once in all, however many pairs there are to part.
  std::size_t find_exchange(std::uint32_t host_index) {
    for (std::size_t looked = 0; looked < num_seconds_; ++looked) {
      const std::size_t pair = next_;
      next_ = pair + 1 == num_seconds_ ? 0 : pair + 1;
      if (is_free_of(host_index, pair)) return pair;
    }
    return num_seconds_;
  }

  std::vector<std::int32_t>& seats_;
  std::span<const std::uint32_t> host_of_;
  std::size_t half_, num_seconds_;
  std::size_t next_ = 0;  ///< the pair that the next search looks at first
};

std::size_t num_to_swap(std::size_t num_pairs, double share) {
  const auto wanted =
      static_cast<std::size_t>(std::llround(std::clamp(share, 0.0, 1.0) * static_cast<double>(num_pairs)));
  return std::min(std::max<std::size_t>(wanted, 2), num_pairs);
}

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

std::string participants_text(std::int64_t num) { return fmt::format("{} participant{}", num, num == 1 ? "" : "s"); }

/// Why so many participants cannot have the pattern, and what to do.
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
  return Refusal{fmt::format("{} cannot be split into at least 2 full groups of {}", participants_text(num), group),
                 fmt::format("Choose a group size that divides {}, for example tornado:{}", num, fitting)};
}

std::optional<Refusal> refusal(const PatternSpec& spec, std::int64_t num) {
  if (num < 2) return Refusal{"a pattern needs two participants", "Let more ranks take part"};
  switch (spec.pattern) {
    case NamedPattern::bit_reversal:
      if (num >= 4) return std::nullopt;
      return Refusal{fmt::format("with {} no rank would send", participants_text(num)),
                     "Let at least 4 ranks take part"};
    case NamedPattern::transpose:
      if (least_factor(num) < num) return std::nullopt;
      return Refusal{fmt::format("{} form no matrix, since {} is prime", participants_text(num), num),
                     "Choose a number of ranks with more factors"};
    case NamedPattern::shift:
      if (spec.argument >= 1 && spec.argument < num) return std::nullopt;
      return Refusal{fmt::format("{} participants have no shift by {}", num, spec.argument),
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
  word.refuse(fmt::format("'{}' is no {}", text, is_distance ? "distance" : "number of participants in a group"),
              is_distance ? "Write for example shift:1, or shift-each for every distance"
                          : "Write for example tornado:16, where a group has 16 participants");
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

std::int64_t Pattern::num_connections() const {
  return std::ranges::count_if(send_to, [](std::int32_t to) { return to != no_rank; });
}

bool Pattern::is_matching() const {
  for (std::size_t rank = 0; rank < send_to.size(); ++rank) {
    const std::int32_t to = send_to[rank];
    if (to != no_rank && send_to[as_index(to)] != static_cast<std::int32_t>(rank)) return false;
  }
  return true;
}

Route Pattern::route(std::int32_t rank) const {
  const auto sender = std::ranges::find(send_to, rank);
  return {send_to[as_index(rank)],
          sender == send_to.end() ? no_rank : static_cast<std::int32_t>(sender - send_to.begin())};
}

std::vector<std::int32_t> participants_of(const Participants& participants) {
  assert(participants.host_of.empty() ||
         participants.host_of.size() == static_cast<std::size_t>(participants.num_ranks));
  std::vector<std::int32_t> ranks;
  ranks.reserve(static_cast<std::size_t>(std::max(participants.num_ranks, 0)));
  std::vector<std::int32_t> num_of_host;
  for (std::int32_t rank = 0; rank < participants.num_ranks; ++rank) {
    if (participants.per_host > 0 && !participants.host_of.empty()) {
      const std::size_t host = participants.host_of[as_index(rank)];
      if (host >= num_of_host.size()) num_of_host.resize(host + 1);
      if (++num_of_host[host] > participants.per_host) continue;
    }
    ranks.push_back(rank);
  }
  if (ranks.size() >= 2) return ranks;
  throw Error(ExitStatus::bad_command_line, ranks.size() == 1 ? "1 rank forms no pair" : "0 ranks form no pair",
              "a pair needs two",
              participants.num_ranks < 2 ? "Start at least 2 ranks" : "Let more ranks of a host take part");
}

// All random numbers come from Random(seed, 2^61 + index), modulo 2^64:
//   1. seats = ranks, shuffled (Random::shuffle). half = n / 2, rounded down.
//   2. Where pairs on one host are not wanted: for every pair i = 0 .. half - 1 whose seats i and i + half lie on one
//      host h, look for a pair j of which neither seat j nor seat j + half is on h. j = half stands for the last seat
//      of an odd number, who has no partner. The search begins at j = 0, a later search of the same pattern behind the
//      j that the last one found; behind n - half - 1 comes 0. Seats i + half and j + half change places. If there is
//      no such j at all, the whole step ends. (No random number is needed: where a participant sits is random already.)
//   3. Seat i and seat i + half send to each other, unless they lie on one host and may not.
Pattern random_pattern(const Participants& participants, std::span<const std::int32_t> ranks, std::uint64_t seed,
                       std::uint64_t index) {
  assert(!hosts_matter(participants) ||
         participants.host_of.size() == static_cast<std::size_t>(participants.num_ranks));
  Random random(seed, random_pattern_stream + index);
  std::vector<std::int32_t> seats(ranks.begin(), ranks.end());
  random.shuffle(seats);
  if (hosts_matter(participants)) Table(seats, participants.host_of).part_hosts();

  Pattern pattern{std::vector<std::int32_t>(static_cast<std::size_t>(participants.num_ranks), no_rank)};
  const std::size_t half = seats.size() / 2;
  for (std::size_t pair = 0; pair < half; ++pair) {
    const std::int32_t first = seats[pair], second = seats[pair + half];
    if (hosts_matter(participants) && participants.host_of[as_index(first)] == participants.host_of[as_index(second)])
      continue;
    pattern.send_to[as_index(first)] = second;
    pattern.send_to[as_index(second)] = first;
  }
  return pattern;
}

// Pairs in random order, each turned at random, all from Random(seed, 2^62 + step): the second member of each chosen
// pair changes places with that of the next, or, where that would put a pair on one host, with its first member. Of two
// pairs between hosts one of both ways is always free. So each chosen pair is parted, and none meets again.
Pattern with_swapped_partners(const Pattern& pattern, const Participants& participants, double share,
                              std::uint64_t seed, std::uint64_t step) {
  struct Pair {
    std::int32_t first, second;
  };
  std::vector<Pair> pairs;
  for (std::int32_t rank = 0; rank < static_cast<std::int32_t>(pattern.send_to.size()); ++rank) {
    if (rank < pattern.send_to[as_index(rank)]) pairs.push_back({rank, pattern.send_to[as_index(rank)]});
  }
  std::vector<std::int32_t> order(pairs.size());
  std::iota(order.begin(), order.end(), 0);
  Random random(seed, swap_stream + step);
  random.shuffle(order);
  order.resize(num_to_swap(pairs.size(), share));

  const auto may_meet = [&participants](std::int32_t one, std::int32_t other) {
    return !hosts_matter(participants) || participants.host_of[as_index(one)] != participants.host_of[as_index(other)];
  };
  for (std::size_t i = 1; i < order.size(); ++i) {
    Pair& here = pairs[as_index(order[i - 1])];
    Pair& next = pairs[as_index(order[i])];
    if (random.below(2) == 1) std::swap(next.first, next.second);
    if (!may_meet(here.first, next.second) || !may_meet(next.first, here.second)) std::swap(next.first, next.second);
    if (!may_meet(here.first, next.second) || !may_meet(next.first, here.second)) continue;
    std::swap(here.second, next.second);
  }
  Pattern swapped{std::vector<std::int32_t>(pattern.send_to.size(), no_rank)};
  for (const Pair& pair : pairs) {
    swapped.send_to[as_index(pair.first)] = pair.second;
    swapped.send_to[as_index(pair.second)] = pair.first;
  }
  return swapped;
}

std::vector<PatternSpec> parse_pattern(const std::string& option, const std::string& text, int num_participants) {
  const OptionText word{option, text};
  if (text == each_shift) {
    if (num_participants == 1) return {{text, NamedPattern::shift, 0}};
    std::vector<PatternSpec> specs;
    for (std::int32_t distance = 1; distance < num_participants; ++distance) {
      specs.push_back({fmt::format("shift:{}", distance), NamedPattern::shift, distance});
    }
    return specs;
  }
  PatternSpec spec = parse_spec(word);
  if (num_participants > 1) {
    if (const auto refused = refusal(spec, num_participants)) word.refuse(refused->why, refused->hint);
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
