// SPDX-License-Identifier: Apache-2.0
// What files are filled with, so that every block tells whose it is; and what is wrong with a block that was read.
// Layout of a block: docs/formats/blocks.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/named.hpp"

namespace leadline::memory {

inline constexpr std::size_t block_size_bytes = 4096;
inline constexpr std::size_t block_header_bytes = 64;
inline constexpr std::size_t word_size_bytes = 8;

enum class BlockKind : std::uint8_t {
  blocks,   ///< a header at the start of every block, counter-based words behind it
  doubles,  ///< the MPI-IO Test's: element i of an object of rank r is the double i + r
};

/// How much of an object is new before it is written.
enum class Touch : std::uint8_t {
  never,   ///< filled once, sent again and again
  object,  ///< once for each object: its first header (doubles: its first element is the object's file offset)
  page,    ///< the same in every 4 KiB
  full,    ///< every byte (doubles: the same as page)
};

/// How much of an object is looked at after it was read.
enum class Check : std::uint8_t {
  none,
  first,  ///< the first header of an object and, by its checksum, its block (doubles: the first element and the stamps)
  two,    ///< the first two headers and their blocks (doubles: the first two elements and the stamps)
  all,    ///< every byte
};

const char* name_of(BlockKind kind);
std::span<const Named<BlockKind>> names_of(BlockKind any);
const char* name_of(Touch touch);
std::span<const Named<Touch>> names_of(Touch any);
const char* name_of(Check check);
std::span<const Named<Check>> names_of(Check any);

/// ObjectKey::object where it cannot be told.
inline constexpr std::uint64_t no_object = ~std::uint64_t{0};

/// Of generations that count passes over the objects, rather than repetitions.
inline constexpr std::uint32_t pass_bit = std::uint32_t{1} << 31;

/// Which object it is, and where it lies.
struct ObjectKey {
  std::uint64_t run = 0;  ///< random, one a run
  std::uint32_t rank = 0;
  std::uint32_t file = 0;
  std::uint64_t object = 0;
  std::uint64_t offset_bytes = 0;  ///< in the file
  std::uint32_t generation = 0;    ///< the repetition that wrote it, or with pass_bit the pass
};

enum class MismatchKind : std::uint8_t {
  zeros,       ///< a hole, or never written
  not_read,    ///< the poison of the buffer is still there
  truncated,   ///< the file ends before
  other_run,   ///< whole, but of an earlier run or repetition
  other_rank,  ///< whole, but another rank's
  other_file,  ///< whole, but another file's
  shifted,     ///< whole, this rank's, but of another place
  torn,        ///< header and words are not of one piece
  bit_flips,   ///< as expected but for some bits
  unknown,     ///< bytes that no run has written
};

const char* name_of(MismatchKind kind);
std::span<const Named<MismatchKind>> names_of(MismatchKind any);

/// A stretch of wrong bytes of one kind.
struct Mismatch {
  MismatchKind kind = MismatchKind::unknown;
  ObjectKey expected;
  std::uint64_t first_byte = 0;    ///< in the object: the first that is wrong
  std::uint64_t num_bytes = 0;     ///< of the blocks concerned (bit_flips: bytes that differ)
  std::optional<ObjectKey> found;  ///< whose block it is, where it says so; the offset is the block's own
  std::uint64_t xor_mask = 0;      ///< bit_flips: of the first wrong word
};

/// How the objects of a run are made and looked at.
struct ObjectPattern {
  BlockKind kind = BlockKind::blocks;
  Touch touch = Touch::full;
  Check check = Check::all;
};

/// Everything of a first object, whatever `touch` says. object.size() is a multiple of word_size_bytes. With
/// Touch::never the key's object, offset and generation count as 0, so that all objects of a rank are the same.
void fill_object(std::span<std::byte> object, const ObjectPattern& pattern, const ObjectKey& key);

/// Makes the object before (filled or refilled for any other key of the same run, rank and file) this one, as far as
/// pattern.touch says.
void refill_object(std::span<std::byte> object, const ObjectPattern& pattern, const ObjectKey& key);

/// What no pattern holds, over all of a buffer that is to be read into.
void poison(std::span<std::byte> buffer);

/// The first wrong stretch of an object that was read, as far as pattern.check looks; nothing where all is well.
/// `num_read`: so many bytes were delivered. Allocates nothing.
std::optional<Mismatch> check_object(std::span<const std::byte> object, std::uint64_t num_read,
                                     const ObjectPattern& pattern, const ObjectKey& key);

/// Whose block begins here, if its header is one.
std::optional<ObjectKey> key_of_block(std::span<const std::byte> block);

/// "shifted: holds object 3 of rank 5 (offset 3 MiB)", one line without place or file.
std::string words_of(const Mismatch& mismatch);

/// CRC32C (Castagnoli, RFC 3720), by the processor's instructions where it has them.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace leadline::memory
