// SPDX-License-Identifier: Apache-2.0
// Objects are made and looked at piece by piece, so that a piece is still in the nearest cache when its checksum is
// made.
#include "memory/block_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "core/units.hpp"
#include "memory/block_header.hpp"
#include "memory/block_mismatch.hpp"

namespace leadline::memory {
namespace {

using MakePiece = void (*)(std::span<std::byte>, const ObjectPattern&, const ObjectKey&, const Piece&);

void make_object(std::span<std::byte> object, const ObjectPattern& pattern, const ObjectKey& key, MakePiece make) {
  assert(object.size() % word_size_bytes == 0);
  for (std::uint64_t position = 0; position < object.size(); position += block_size_bytes) {
    const Piece piece = piece_at(object.size(), position);
    make(object.subspan(static_cast<std::size_t>(position), piece.num_bytes), pattern, key, piece);
  }
}

bool is_same_stretch(const Mismatch& before, const PieceMismatch& piece, std::uint64_t num_bytes_between,
                     BlockKind kind) {
  if (before.kind != piece.kind || before.found.has_value() != piece.found.has_value()) return false;
  if (!before.found) return true;
  const ObjectKey &first = *before.found, &next = *piece.found;
  return first.run == next.run && first.generation == next.generation && first.file == next.file &&
         first.rank == next.rank &&
         (kind == BlockKind::doubles || next.offset_bytes - first.offset_bytes == num_bytes_between);
}

/// A last piece without a header cannot say whose it is: it belongs to what stands before it.
bool is_silent(const PieceMismatch& piece, std::size_t num_bytes, BlockKind kind) {
  return kind == BlockKind::blocks && num_bytes < block_header_bytes && piece.kind == MismatchKind::unknown;
}

/// Goes through an object until the first wrong stretch ends.
class Inspection {
 public:
  Inspection(std::span<const std::byte> object, std::uint64_t num_read, const ObjectPattern& pattern,
             const ObjectKey& key)
      : object_(object),
        read_(object.first(static_cast<std::size_t>(std::min<std::uint64_t>(num_read, object.size())))),
        pattern_(pattern),
        key_(key) {}

  std::optional<Mismatch> run() {
    for (std::uint64_t position = 0; position < read_.size(); position += block_size_bytes) {
      if (!go_on(piece_at(object_.size(), position))) return wrong_;
    }
    if (!wrong_ && read_.size() < object_.size()) {
      wrong_ = Mismatch{MismatchKind::truncated, key_, read_.size(), object_.size() - read_.size(), std::nullopt, 0};
    }
    return wrong_;
  }

 private:
  /// False where the stretch has ended.
  bool go_on(const Piece& piece) {
    const auto begin = static_cast<std::size_t>(piece.position);
    const std::size_t num = std::min(bytes_checked(pattern_, piece), read_.size() - begin);
    if (num == 0) return !wrong_;
    const std::span<std::byte> complete(expected_.data(), piece.num_bytes);
    write_piece(complete, pattern_, key_, piece);
    if (std::memcmp(complete.data(), read_.data() + begin, num) == 0) return !wrong_;
    return take({read_.subspan(begin, num), complete.first(num), read_.subspan(begin), complete, piece});
  }

  bool take(const PieceFound& piece) {
    const PieceMismatch mismatch =
        pattern_.kind == BlockKind::doubles ? mismatch_of_doubles(piece, pattern_, key_) : mismatch_of_block(piece);
    const std::uint64_t num = mismatch.kind == MismatchKind::bit_flips ? mismatch.num_different : piece.found.size();
    const std::uint64_t position = piece.piece.position;
    if (!wrong_) {
      begin_ = position;
      wrong_ = Mismatch{mismatch.kind, key_, position + mismatch.first_byte, num, mismatch.found, mismatch.xor_mask};
      if (mismatch.kind != MismatchKind::bit_flips) wrong_->xor_mask = 0;
      return true;
    }
    if (!is_same_stretch(*wrong_, mismatch, position - begin_, pattern_.kind) &&
        !is_silent(mismatch, piece.found.size(), pattern_.kind)) {
      return false;
    }
    wrong_->num_bytes += num;
    return true;
  }

  std::span<const std::byte> object_, read_;
  const ObjectPattern& pattern_;
  const ObjectKey& key_;
  std::optional<Mismatch> wrong_;
  std::uint64_t begin_ = 0;  ///< of the first wrong piece
  std::array<std::byte, block_size_bytes> expected_;
};

std::string words_of(const ObjectKey& key) {
  if (key.object == no_object) return fmt::format("rank {} (offset {})", key.rank, format_bytes(key.offset_bytes));
  return fmt::format("object {} of rank {} (offset {})", key.object, key.rank, format_bytes(key.offset_bytes));
}

std::string words_of_run(const Mismatch& mismatch) {
  const ObjectKey& found = *mismatch.found;
  const std::string whose = words_of(found);
  if (found.run != mismatch.expected.run)
    return fmt::format("another run's: holds {} of run {:016x}", whose, found.run);
  if ((found.generation & pass_bit) != 0) {
    return fmt::format("another pass's: holds {} of pass {}", whose, found.generation & ~pass_bit);
  }
  return fmt::format("another repetition's: holds {} of repetition {}", whose, found.generation);
}

}  // namespace

void fill_object(std::span<std::byte> object, const ObjectPattern& pattern, const ObjectKey& key) {
  make_object(object, pattern, key, write_piece);
}

void refill_object(std::span<std::byte> object, const ObjectPattern& pattern, const ObjectKey& key) {
  if (pattern.touch == Touch::never) return;
  const bool is_first_only = pattern.touch == Touch::object;
  if (is_first_only) object = object.first(piece_at(object.size(), 0).num_bytes);
  make_object(object, pattern, key, renew_piece);
}

void poison(std::span<std::byte> buffer) {
  std::array<std::byte, word_size_bytes> word;
  for (std::size_t i = 0; i < word.size(); ++i) word[i] = static_cast<std::byte>(poison_word >> (8 * i) & 0xff);
  // Of a constant size, so that the compiler makes wide stores of them.
  std::size_t done = 0;
  for (; done + word.size() <= buffer.size(); done += word.size()) {
    std::memcpy(buffer.data() + done, word.data(), word.size());
  }
  std::memcpy(buffer.data() + done, word.data(), buffer.size() - done);
}

std::optional<Mismatch> check_object(std::span<const std::byte> object, std::uint64_t num_read,
                                     const ObjectPattern& pattern, const ObjectKey& key) {
  if (pattern.check == Check::none) return std::nullopt;
  return Inspection(object, num_read, pattern, key).run();
}

std::optional<ObjectKey> key_of_block(std::span<const std::byte> block) {
  const std::optional<BlockHeader> header = read_header(block);
  return header ? std::optional(header->key) : std::nullopt;
}

std::string words_of(const Mismatch& mismatch) {
  const std::string whose = mismatch.found ? words_of(*mismatch.found) : "";
  switch (mismatch.kind) {
    case MismatchKind::zeros:
      return "zeros: a hole, or never written";
    case MismatchKind::not_read:
      return "not read: nothing came into this part of the buffer";
    case MismatchKind::truncated:
      return "truncated: the file ends before";
    case MismatchKind::other_run:
      return words_of_run(mismatch);
    case MismatchKind::other_rank:
      return "another rank's: holds " + whose;
    case MismatchKind::other_file:
      return fmt::format("another file's: holds {} of file {}", whose, mismatch.found->file);
    case MismatchKind::shifted:
      return "shifted: holds " + whose;
    case MismatchKind::torn:
      return "torn: header and words are not of one piece" + (whose.empty() ? "" : ", the header is that of " + whose);
    case MismatchKind::bit_flips:
      return fmt::format("bit flips: {} byte{} differ{}, the first word by {:016x}", mismatch.num_bytes,
                         mismatch.num_bytes == 1 ? "" : "s", mismatch.num_bytes == 1 ? "s" : "", mismatch.xor_mask);
    case MismatchKind::unknown:
      break;
  }
  return whose.empty() ? "unknown: bytes that no run has written" : "unknown: the words are not those of " + whose;
}

constexpr Named<BlockKind> block_kind_names[] = {
    {BlockKind::blocks, "blocks", "a header with a checksum every 4 KiB"},
    {BlockKind::doubles, "doubles", "those of the MPI-IO Test"},
};

std::span<const Named<BlockKind>> names_of(BlockKind /*any*/) { return block_kind_names; }

const char* name_of(BlockKind kind) { return name_in(block_kind_names, kind); }

constexpr Named<Touch> touch_names[] = {
    {Touch::never, "never"},
    {Touch::object, "object", "its first header; for --fill doubles the default"},
    {Touch::page, "page", "every header"},
    {Touch::full, "full"},
};

std::span<const Named<Touch>> names_of(Touch /*any*/) { return touch_names; }

const char* name_of(Touch touch) { return name_in(touch_names, touch); }

constexpr Named<Check> check_names[] = {
    {Check::none, "none"},
    {Check::first, "first", "its first header"},
    {Check::two, "two"},
    {Check::all, "all"},
};

std::span<const Named<Check>> names_of(Check /*any*/) { return check_names; }

const char* name_of(Check check) { return name_in(check_names, check); }

constexpr Named<MismatchKind> mismatch_kind_names[] = {
    {MismatchKind::zeros, "zeros"},           {MismatchKind::not_read, "not_read"},
    {MismatchKind::truncated, "truncated"},   {MismatchKind::other_run, "other_run"},
    {MismatchKind::other_rank, "other_rank"}, {MismatchKind::other_file, "other_file"},
    {MismatchKind::shifted, "shifted"},       {MismatchKind::torn, "torn"},
    {MismatchKind::bit_flips, "bit_flips"},   {MismatchKind::unknown, "unknown"},
};

std::span<const Named<MismatchKind>> names_of(MismatchKind /*any*/) { return mismatch_kind_names; }

const char* name_of(MismatchKind kind) { return name_in(mismatch_kind_names, kind); }

}  // namespace leadline::memory
