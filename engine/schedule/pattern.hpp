// SPDX-License-Identifier: Apache-2.0
// Patterns in which every rank sends to one other and receives from one other at once: random matchings and named
// ones.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace leadline::schedule {

inline constexpr std::int32_t no_rank = -1;

/// One rank's part of a pattern; in a matching both are the same rank. no_rank: it does not send, or not receive.
struct Route {
  std::int32_t to = no_rank, from = no_rank;
  bool operator==(const Route&) const = default;
};

/// Who sends to whom at once.
struct Pattern {
  std::vector<std::int32_t> send_to;  ///< by rank; no_rank = rests. Nobody is in it twice, nobody sends to itself

  std::int64_t num_connections() const;  ///< ranks that send
  Route route(std::int32_t rank) const;  ///< O(N): looks for the sender
  bool is_matching() const;              ///< whether each rank that sends receives from the same one
};

/// Who takes part in random patterns, and what pairs they may have.
struct Participants {
  int num_ranks = 1;
  std::span<const std::uint32_t> host_of{};  ///< host index of every rank
  int per_host = 0;           ///< so many ranks of each host play, those with the lowest numbers; 0 = all
  bool within_hosts = false;  ///< pairs on one host are as good as others
};

/// The ranks that play, ascending. Throws Error(bad_command_line) where those are fewer than two.
std::vector<std::int32_t> participants_of(const Participants& participants);

/// The index-th random pattern of a seed: a matching of all participants. Every rank computes it alone, index by index,
/// alike on every platform: Fisher-Yates over the participants with Random(seed, a stream of its own for each index);
/// seat i plays with seat i + n/2; with an odd number the last seat rests. Each pair on one host then, where such are
/// not wanted, swaps second members with the next pair, or the resting participant, that lets both lie between hosts;
/// where none would do, because one host has more participants than all others together, both rest: there are always as
/// many pairs as the hosts allow. Without pairs on one host every matching is still possible, if not exactly equally
/// likely (docs/methods/bisection.md). Where host_of is empty, every rank has a host to itself. pattern.cpp says every
/// step exactly.
///
/// 8 bytes a rank, O(N). `ranks`: those of participants_of(), or some of them.
Pattern random_pattern(const Participants& participants, std::span<const std::int32_t> ranks, std::uint64_t seed,
                       std::uint64_t index);

/// Classic patterns over n participants, by their seats 0..n-1 in ascending order of ranks.
///
/// - halves: i with i + n/2. reversal: i with n - 1 - i. neighbour: i with i xor 1. bit_reversal: i with its bits in
///   reverse order, of the largest power of two within n. All are matchings; who has no partner, or is its own, rests.
/// - shift: i to i + argument modulo n.
/// - transpose: seats as a matrix of rows x columns, as square as n allows, row by row; i to its place in the
///   transpose. Who would send to itself rests. A prime n has no such matrix.
/// - tornado: seats in groups of `argument`, one behind the other, none incomplete; i to the same place half the groups
///   (rounded up, less one; at least one) further on; the worst case of a dragonfly or torus with minimal routing
///   (Singh 2005).
enum class NamedPattern : std::uint8_t { halves, reversal, neighbour, bit_reversal, transpose, shift, tornado };

struct PatternSpec {
  std::string name;  ///< as shown: "shift:3"
  NamedPattern pattern = NamedPattern::halves;
  std::int32_t argument = 0;  ///< shift: the distance; tornado: the size of a group
};

/// The specs that a word on the command line stands for: a name above with hyphens, "shift:K", "shift-each" (1..n-1),
/// "tornado:G". Throws Error(bad_command_line) that names the option: an unknown word, an argument that is missing,
/// unwanted, or not what n participants have, and participants of whom no rank would send. num_participants = 1:
/// checked as far as that goes without knowing them, and "shift-each" is one spec.
std::vector<PatternSpec> parse_pattern(const std::string& option, const std::string& text, int num_participants);

/// The pattern of all ranks; those that are not in `ranks` (the participants) rest. Throws Error(bad_command_line)
/// where no rank would send.
Pattern named_pattern(const PatternSpec& spec, int num_ranks, std::span<const std::int32_t> ranks);

/// `pattern`, a matching, with the partners of about `share` of its pairs (at least two of them) swapped among each
/// other at random: the step-th proposal of a search. Pairs on one host come about only as `participants` allow.
Pattern with_swapped_partners(const Pattern& pattern, const Participants& participants, double share,
                              std::uint64_t seed, std::uint64_t step);

struct OptionText {
  const std::string& option;
  std::string_view text;

  [[noreturn]] void refuse(const std::string& why, const std::string& hint) const {
    throw Error(ExitStatus::bad_command_line, fmt::format("{} cannot be '{}'", option, text), why, hint);
  }
};

}  // namespace leadline::schedule
