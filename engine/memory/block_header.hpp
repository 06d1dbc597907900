// SPDX-License-Identifier: Apache-2.0
// The 64 bytes at the start of a block, and the words behind them: docs/formats/blocks.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "memory/block_pattern.hpp"

namespace leadline::memory {

/// Which words: those of one file of one run. A word follows from its number and from this; no two words whose numbers
/// have the same number / 2^31 are the same, and none consists of two equal halves.
struct WordsKey {
  std::uint64_t run = 0;
  std::uint32_t file = 0;
};

/// Fills `out` (any alignment, any length: the last word may be cut) with the words from `first_word` on.
void write_words(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word);

/// The same without the instructions that only some processors have.
void write_words_portably(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word);

struct BlockHeader {
  ObjectKey key;                   ///< offset_bytes: of the block itself
  std::uint32_t length_bytes = 0;  ///< of the block, header included
  std::uint32_t crc = 0;           ///< over the block, with this field zero
  std::uint64_t first_word = 0;    ///< number of the word that would lie at the block's start
};

/// Writes the header at the start of `block`, with the checksum over what stands behind it. header.crc is not used.
void write_header(std::span<std::byte> block, const BlockHeader& header);

/// The header that `bytes` begin with; nothing where there is none of this version. Says nothing about the checksum.
std::optional<BlockHeader> read_header(std::span<const std::byte> bytes);

/// What the checksum of this block must be. At least block_header_bytes.
std::uint32_t crc_of_block(std::span<const std::byte> block);

/// Whether `bytes` begin with a header and all of its block lies there and fits its checksum; or, where the block ends
/// behind `bytes`, whether the words that are there fit the header.
bool is_whole(std::span<const std::byte> bytes, const BlockHeader& header);

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
