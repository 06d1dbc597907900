// SPDX-License-Identifier: Apache-2.0
// Kinds of mismatches: what a piece says of itself comes first, then what its bytes look like.
#include "memory/block_mismatch.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "memory/block_header.hpp"

namespace leadline::memory {
namespace {

/// More bits than that are no accident to single bits; two wrong bytes still are one.
constexpr std::uint64_t most_flipped_bits = 16;

/// The next word, the lowest byte first; short ones are cut.
std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t first) {
  std::uint64_t word = 0;
  const std::size_t num = std::min(word_size_bytes, bytes.size() - first);
  for (std::size_t i = 0; i < num; ++i) word |= std::to_integer<std::uint64_t>(bytes[first + i]) << (8 * i);
  return word;
}

std::uint64_t poison_of(std::size_t num_bytes) {
  return num_bytes >= word_size_bytes ? poison_word : poison_word & ((std::uint64_t{1} << (8 * num_bytes)) - 1);
}

struct Difference {
  std::size_t first_byte = 0;
  std::uint64_t num_bytes = 0, num_bits = 0, xor_mask = 0;
  bool is_zero = true, is_poison = true;  ///< each word that differs
};

std::uint64_t num_bytes_in(std::uint64_t mask) {
  std::uint64_t num = 0;
  for (; mask != 0; mask >>= 8) num += (mask & 0xff) != 0 ? 1 : 0;
  return num;
}

Difference difference(std::span<const std::byte> found, std::span<const std::byte> expected) {
  Difference all;
  for (std::size_t at = 0; at < found.size(); at += word_size_bytes) {
    const std::uint64_t word = word_at(found, at);
    const std::uint64_t mask = word ^ word_at(expected, at);
    if (mask == 0) continue;
    if (all.num_bytes == 0) {
      all.first_byte = at + static_cast<std::size_t>(std::countr_zero(mask)) / 8;
      all.xor_mask = mask;
    }
    all.num_bytes += num_bytes_in(mask);
    all.num_bits += static_cast<std::uint64_t>(std::popcount(mask));
    all.is_zero = all.is_zero && word == 0;
    all.is_poison = all.is_poison && word == poison_of(found.size() - at);
  }
  return all;
}

PieceMismatch mismatch_from(const Difference& difference) {
  return {MismatchKind::unknown, std::nullopt, difference.first_byte, difference.num_bytes, difference.xor_mask};
}

/// Nothing where it is the one expected.
std::optional<MismatchKind> kind_by_key(const ObjectKey& expected, const ObjectKey& found) {
  if (found.run != expected.run || found.generation != expected.generation) return MismatchKind::other_run;
  if (found.file != expected.file) return MismatchKind::other_file;
  if (found.rank != expected.rank) return MismatchKind::other_rank;
  if (found.object != expected.object || found.offset_bytes != expected.offset_bytes) return MismatchKind::shifted;
  return std::nullopt;
}

/// A whole block that begins at `at`, if it is not the one that belongs here.
bool is_another_block(const PieceFound& piece, const ObjectKey& expected, std::size_t at, PieceMismatch& mismatch) {
  const std::span<const std::byte> bytes = piece.to_end.subspan(at);
  const std::optional<BlockHeader> header = read_header(bytes);
  if (!header || !is_whole(bytes, *header)) return false;
  // Whoever begins within a piece is not in his place, even where it is the right block.
  const std::optional<MismatchKind> kind =
      at == 0 ? kind_by_key(expected, header->key)
              : std::optional(kind_by_key(expected, header->key).value_or(MismatchKind::shifted));
  if (!kind) return false;
  mismatch.kind = *kind;
  mismatch.found = header->key;
  return true;
}

bool begins_within(const PieceFound& piece, const ObjectKey& expected, PieceMismatch& mismatch) {
  const std::size_t first_word = mismatch.first_byte / word_size_bytes * word_size_bytes;
  for (std::size_t at = std::max(first_word, word_size_bytes); at < piece.found.size(); at += word_size_bytes) {
    if (is_another_block(piece, expected, at, mismatch)) return true;
  }
  return false;
}

}  // namespace

PieceMismatch mismatch_of_block(const PieceFound& piece) {
  const Difference differs = difference(piece.found, piece.expected);
  PieceMismatch mismatch = mismatch_from(differs);
  const std::optional<BlockHeader> expected = read_header(piece.complete);
  if (expected && is_another_block(piece, expected->key, 0, mismatch)) return mismatch;
  if (differs.num_bits <= std::min<std::uint64_t>(most_flipped_bits, piece.found.size())) {
    mismatch.kind = MismatchKind::bit_flips;
  } else if (differs.is_zero) {
    mismatch.kind = MismatchKind::zeros;
  } else if (differs.is_poison) {
    mismatch.kind = MismatchKind::not_read;
  } else if (!expected || begins_within(piece, expected->key, mismatch)) {
    return mismatch;
  } else if (const std::optional<BlockHeader> header = read_header(piece.found)) {
    // One that fits its checksum is of one piece, but of words that no run of this kind has written here.
    const bool is_one = is_whole(piece.to_end, *header);
    mismatch.kind = is_one ? MismatchKind::unknown : MismatchKind::torn;
    if (is_one || kind_by_key(expected->key, header->key)) mismatch.found = header->key;
  }
  return mismatch;
}

namespace {

/// The largest whole number up to which all are doubles.
constexpr double most_exact = 9007199254740992.0;

double double_at(std::span<const std::byte> bytes, std::size_t index) {
  double number = 0;
  std::memcpy(&number, bytes.data() + index * sizeof number, sizeof number);
  return number;
}

bool is_count(double number) { return number >= 0 && number <= most_exact && number == std::floor(number); }

/// The rank by which all elements but the stamp are explained.
std::optional<std::uint32_t> rank_of(const PieceFound& piece, std::size_t first_element) {
  const std::uint64_t before = piece.piece.position / sizeof(double);
  const std::size_t num = piece.found.size() / sizeof(double);
  std::optional<std::uint32_t> rank;
  for (std::size_t i = first_element; i < num; ++i) {
    const double difference = double_at(piece.found, i) - static_cast<double>(before + i);
    if (!is_count(difference) || difference > 4294967295.0) return std::nullopt;
    if (rank && static_cast<double>(*rank) != difference) return std::nullopt;
    rank = static_cast<std::uint32_t>(difference);
  }
  return rank;
}

}  // namespace

PieceMismatch mismatch_of_doubles(const PieceFound& piece, const ObjectPattern& pattern, const ObjectKey& key) {
  const Difference differs = difference(piece.found, piece.expected);
  PieceMismatch mismatch = mismatch_from(differs);
  if (differs.is_zero || differs.is_poison) {
    mismatch.kind = differs.is_zero ? MismatchKind::zeros : MismatchKind::not_read;
    return mismatch;
  }
  const bool is_stamped = has_stamp(pattern, piece.piece);
  if (piece.found.size() < sizeof(double)) return mismatch;
  const double stamp = is_stamped ? double_at(piece.found, 0) : static_cast<double>(key.offset_bytes);
  const std::optional<std::uint32_t> rank = rank_of(piece, is_stamped ? 1 : 0);
  const bool has_others = piece.found.size() / sizeof(double) > (is_stamped ? 1 : 0);
  if (!is_count(stamp) || (has_others && !rank)) return mismatch;
  const bool is_expected = rank.value_or(key.rank) == key.rank && stamp == static_cast<double>(key.offset_bytes);
  if (is_expected) return mismatch;  // an element that was read in part
  mismatch.kind = rank.value_or(key.rank) == key.rank ? MismatchKind::shifted : MismatchKind::other_rank;
  mismatch.found = key;
  mismatch.found->rank = rank.value_or(key.rank);
  mismatch.found->object = no_object;
  mismatch.found->offset_bytes = static_cast<std::uint64_t>(stamp) + piece.piece.position;
  return mismatch;
}

}  // namespace leadline::memory
