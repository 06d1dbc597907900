// SPDX-License-Identifier: Apache-2.0
// An object piece by piece: 4 KiB each, the last one perhaps shorter. What each must hold, made on the spot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/block_pattern.hpp"

namespace leadline::memory {

/// A piece of an object: where it begins and how long it is.
struct Piece {
  std::uint64_t position = 0;  ///< in the object
  std::size_t num_bytes = 0;
};

inline Piece piece_at(std::uint64_t object_bytes, std::uint64_t position) {
  const std::uint64_t left = object_bytes - position;
  return {position, left < block_size_bytes ? static_cast<std::size_t>(left) : block_size_bytes};
}

/// All bytes of the piece. out.size() == piece.num_bytes.
void write_piece(std::span<std::byte> out, const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece);

/// What of it is new with every object, over the same piece of an object before.
void renew_piece(std::span<std::byte> out, const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece);

/// So many bytes from its start are looked at.
std::size_t bytes_checked(const ObjectPattern& pattern, const Piece& piece);

/// The number of the word at the start of this piece.
std::uint64_t first_word_of(const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece);

/// Whether the first element of this piece of an object of doubles is the object's offset.
bool has_stamp(const ObjectPattern& pattern, const Piece& piece);

/// Element `index` of an object of doubles, without stamps.
inline double element(std::uint64_t index, std::uint32_t rank) { return static_cast<double>(index + rank); }

}  // namespace leadline::memory
