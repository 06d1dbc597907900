// SPDX-License-Identifier: Apache-2.0
// What is the same in all objects of a rank, and what is each object's own.
#include "memory/block_pieces.hpp"

#include <algorithm>
#include <cstring>

#include "memory/block_header.hpp"

namespace leadline::memory {
namespace {

/// Whether anything in this piece tells objects of one rank apart.
bool is_own(const ObjectPattern& pattern, const Piece& piece) {
  switch (pattern.touch) {
    case Touch::never:
      return false;
    case Touch::object:
      return piece.position == 0;
    case Touch::page:
    case Touch::full:
      return true;
  }
  return true;
}

ObjectKey key_of_piece(const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece) {
  ObjectKey of_piece = key;
  if (!is_own(pattern, piece)) {
    of_piece.object = 0;
    of_piece.offset_bytes = 0;
    of_piece.generation = 0;
  }
  of_piece.offset_bytes += piece.position;
  return of_piece;
}

void write_header_of(std::span<std::byte> out, const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece) {
  if (out.size() < block_header_bytes) return;
  write_header(out, {key_of_piece(pattern, key, piece), static_cast<std::uint32_t>(out.size()), 0,
                     first_word_of(pattern, key, piece)});
}

void write_block(std::span<std::byte> out, const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece) {
  const std::size_t header = out.size() < block_header_bytes ? 0 : block_header_bytes;
  write_words(out.subspan(header), {key.run, key.file}, first_word_of(pattern, key, piece) + header / word_size_bytes);
  write_header_of(out, pattern, key, piece);
}

void put_double(std::byte* where, double number) { std::memcpy(where, &number, sizeof number); }

void write_stamp(std::span<std::byte> out, const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece) {
  if (has_stamp(pattern, piece)) put_double(out.data(), static_cast<double>(key.offset_bytes));
}

void write_doubles(std::span<std::byte> out, const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece) {
  double number = element(piece.position / sizeof(double), key.rank);
  for (std::size_t done = 0; done + sizeof number <= out.size(); done += sizeof number, number += 1) {
    put_double(out.data() + done, number);
  }
  write_stamp(out, pattern, key, piece);
}

}  // namespace

std::uint64_t first_word_of(const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece) {
  const std::uint64_t begin = pattern.touch == Touch::full ? key.offset_bytes : 0;
  return (begin + piece.position) / word_size_bytes;
}

bool has_stamp(const ObjectPattern& pattern, const Piece& piece) { return is_own(pattern, piece); }

void write_piece(std::span<std::byte> out, const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece) {
  if (pattern.kind == BlockKind::doubles) return write_doubles(out, pattern, key, piece);
  write_block(out, pattern, key, piece);
}

void renew_piece(std::span<std::byte> out, const ObjectPattern& pattern, const ObjectKey& key, const Piece& piece) {
  if (!is_own(pattern, piece)) return;
  if (pattern.kind == BlockKind::doubles) return write_stamp(out, pattern, key, piece);
  if (pattern.touch == Touch::full) return write_block(out, pattern, key, piece);
  write_header_of(out, pattern, key, piece);
}

std::size_t bytes_checked(const ObjectPattern& pattern, const Piece& piece) {
  if (pattern.check == Check::all) return piece.num_bytes;
  if (pattern.check == Check::none) return 0;
  const std::uint64_t num = pattern.check == Check::two ? 2 : 1;
  if (pattern.kind == BlockKind::blocks) return piece.position < num * block_size_bytes ? piece.num_bytes : 0;
  const std::size_t elements = piece.position == 0 ? static_cast<std::size_t>(num) : has_stamp(pattern, piece) ? 1 : 0;
  return std::min(piece.num_bytes, elements * sizeof(double));
}

}  // namespace leadline::memory
