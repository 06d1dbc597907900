// SPDX-License-Identifier: Apache-2.0
// Why a piece of an object is not as it should be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "memory/block_header.hpp"
#include "memory/block_pattern.hpp"

namespace leadline::memory {

/// A piece as it is and as it should be. Both spans are of the same length: the part that was read and is looked at.
struct PieceFound {
  std::span<const std::byte> found, expected;
  std::span<const std::byte> to_end;    ///< of what was read of the object, from this piece on
  std::span<const std::byte> complete;  ///< what all of the piece should be
  Piece piece;
};

struct PieceMismatch {
  MismatchKind kind = MismatchKind::unknown;
  std::optional<ObjectKey> found;
  std::size_t first_byte = 0;       ///< in the piece
  std::uint64_t num_different = 0;  ///< bytes
  std::uint64_t xor_mask = 0;       ///< of the first word that differs
};

/// found and expected must differ.
PieceMismatch mismatch_of_block(const PieceFound& piece);
PieceMismatch mismatch_of_doubles(const PieceFound& piece, const ObjectPattern& pattern, const ObjectKey& key);

/// What poison() leaves in a word.
inline constexpr std::uint64_t poison_word = 0xfffbfffbfffbfffb;

}  // namespace leadline::memory
