// SPDX-License-Identifier: Apache-2.0
// Writes and checks headers; makes the words that follow from where they lie.
#include "memory/block_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "core/random.hpp"

namespace leadline::memory {
namespace {

constexpr std::uint64_t lane_bytes = 4;
constexpr std::uint64_t lanes_of_word = 2;
/// Lanes whose seeds are the same.
constexpr std::uint64_t region_lanes = std::uint64_t{1} << 32;
constexpr std::size_t num_together = 8;

struct Seeds {
  std::uint32_t before, between;
};

Seeds seeds_of(const WordsKey& key, std::uint64_t region) {
  const std::uint64_t mixed = mix64(mix64(mix64(key.run + splitmix64_increment) + key.file) + region);
  return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

/// A bijection of its number: the mixer "lowbias32" of C. Wellons, with one seed before it and one within. `Lane` is
/// a number, or a vector of them.
template <class Lane>
[[gnu::always_inline]] inline void mix_lane(Lane& lane, const Seeds& seeds) {
  lane += seeds.before;
  lane ^= lane >> 16;
  lane *= 0x7feb352dU;
  lane ^= lane >> 15;
  lane ^= seeds.between;
  lane *= 0x846ca68bU;
  lane ^= lane >> 16;
}

std::uint32_t little_endian(std::uint32_t lane) {
  return std::endian::native == std::endian::little ? lane : __builtin_bswap32(lane);
}

/// All lanes lie in one region; `lane` is the first one's number in it.
void write_one_by_one(std::byte* out, std::size_t num_bytes, std::uint32_t lane, const Seeds& seeds) {
  for (std::size_t done = 0; done < num_bytes; done += lane_bytes) {
    std::uint32_t mixed = lane++;
    mix_lane(mixed, seeds);
    mixed = little_endian(mixed);
    std::memcpy(out + done, &mixed, std::min<std::size_t>(lane_bytes, num_bytes - done));
  }
}

/// The same for whole vectors; returns how many bytes that were. Compiled once for each instruction set, so it must
/// become a part of its caller.
[[gnu::always_inline]] inline std::size_t write_together(std::byte* out, std::size_t num_bytes, std::uint32_t lane,
                                                         const Seeds& seeds) {
  using Lanes [[gnu::vector_size(num_together * lane_bytes)]] = std::uint32_t;
  constexpr auto step = static_cast<std::uint32_t>(num_together);
  if constexpr (std::endian::native != std::endian::little) return 0;
  Lanes numbers = {0, 1, 2, 3, 4, 5, 6, 7};
  numbers += lane;
  std::size_t done = 0;
  for (; num_bytes - done >= sizeof(Lanes); done += sizeof(Lanes)) {
    Lanes mixed = numbers;
    mix_lane(mixed, seeds);
    std::memcpy(out + done, &mixed, sizeof mixed);
    numbers += step;
  }
  return done;
}

using WriteTogether = std::size_t (*)(std::byte*, std::size_t, std::uint32_t, const Seeds&);

std::size_t write_together_portably(std::byte* out, std::size_t num_bytes, std::uint32_t lane, const Seeds& seeds) {
  return write_together(out, num_bytes, lane, seeds);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] std::size_t write_together_by_avx2(std::byte* out, std::size_t num_bytes, std::uint32_t lane,
                                                           const Seeds& seeds) {
  return write_together(out, num_bytes, lane, seeds);
}
#endif

WriteTogether fastest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) return write_together_by_avx2;
#endif
  return write_together_portably;
}

void write(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word, WriteTogether write_many) {
  while (!out.empty()) {
    const std::uint64_t region = first_word / (region_lanes / lanes_of_word);
    const std::uint64_t lane = first_word % (region_lanes / lanes_of_word) * lanes_of_word;
    const std::span<std::byte> here =
        out.first(std::min<std::uint64_t>(out.size(), (region_lanes - lane) * lane_bytes));
    const Seeds seeds = seeds_of(key, region);
    const auto number = static_cast<std::uint32_t>(lane);
    const std::size_t done = write_many(here.data(), here.size(), number, seeds);
    write_one_by_one(here.data() + done, here.size() - done, number + static_cast<std::uint32_t>(done / lane_bytes),
                     seeds);
    first_word += here.size() / (lanes_of_word * lane_bytes);
    out = out.subspan(here.size());
  }
}

using HeaderBytes = std::array<std::byte, block_header_bytes>;

/// "LEADBLK" and the version of the layout.
constexpr std::array<unsigned char, 8> magic = {'L', 'E', 'A', 'D', 'B', 'L', 'K', 1};

namespace at {
constexpr std::size_t run = 8, file = 16, rank = 20, object = 24, offset = 32, length = 40, generation = 44, crc = 48,
                      zero = 52, first_word = 56;
}  // namespace at

template <class Number>
void put(std::byte* where, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) where[i] = static_cast<std::byte>(number >> (8 * i) & 0xff);
}

template <class Number>
Number number_at(const std::byte* where) {
  Number number = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) number |= std::to_integer<Number>(where[i]) << (8 * i);
  return number;
}

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

void write_words(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word) {
  static const WriteTogether write_many = fastest();
  write(out, key, first_word, write_many);
}

void write_words_portably(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word) {
  write(out, key, first_word, write_together_portably);
}

void write_header(std::span<std::byte> block, const BlockHeader& header) {
  assert(block.size() >= block_header_bytes && block.size() == header.length_bytes);
  HeaderBytes bytes{};
  std::memcpy(bytes.data(), magic.data(), magic.size());
  put(bytes.data() + at::run, header.key.run);
  put(bytes.data() + at::file, header.key.file);
  put(bytes.data() + at::rank, header.key.rank);
  put(bytes.data() + at::object, header.key.object);
  put(bytes.data() + at::offset, header.key.offset_bytes);
  put(bytes.data() + at::length, header.length_bytes);
  put(bytes.data() + at::generation, header.key.generation);
  put(bytes.data() + at::first_word, header.first_word);
  put(bytes.data() + at::crc, crc32c(block.subspan(bytes.size()), crc32c(bytes)));
  std::memcpy(block.data(), bytes.data(), bytes.size());
}

std::optional<BlockHeader> read_header(std::span<const std::byte> bytes) {
  if (bytes.size() < block_header_bytes) return std::nullopt;
  if (std::memcmp(bytes.data(), magic.data(), magic.size()) != 0) return std::nullopt;
  BlockHeader header;
  header.key.run = number_at<std::uint64_t>(bytes.data() + at::run);
  header.key.file = number_at<std::uint32_t>(bytes.data() + at::file);
  header.key.rank = number_at<std::uint32_t>(bytes.data() + at::rank);
  header.key.object = number_at<std::uint64_t>(bytes.data() + at::object);
  header.key.offset_bytes = number_at<std::uint64_t>(bytes.data() + at::offset);
  header.key.generation = number_at<std::uint32_t>(bytes.data() + at::generation);
  header.length_bytes = number_at<std::uint32_t>(bytes.data() + at::length);
  header.crc = number_at<std::uint32_t>(bytes.data() + at::crc);
  header.first_word = number_at<std::uint64_t>(bytes.data() + at::first_word);
  const bool is_possible = header.length_bytes >= block_header_bytes && header.length_bytes <= block_size_bytes &&
                           number_at<std::uint32_t>(bytes.data() + at::zero) == 0;
  return is_possible ? std::optional(header) : std::nullopt;
}

std::uint32_t crc_of_block(std::span<const std::byte> block) {
  assert(block.size() >= block_header_bytes);
  HeaderBytes bytes{};
  std::memcpy(bytes.data(), block.data(), bytes.size());
  put(bytes.data() + at::crc, std::uint32_t{0});
  return crc32c(block.subspan(bytes.size()), crc32c(bytes));
}

bool is_whole(std::span<const std::byte> bytes, const BlockHeader& header) {
  if (bytes.size() >= header.length_bytes) return crc_of_block(bytes.first(header.length_bytes)) == header.crc;
  std::array<std::byte, block_size_bytes> words;
  const std::size_t num = bytes.size() - std::min(bytes.size(), block_header_bytes);
  if (num == 0) return false;
  write_words(std::span(words).first(num), {header.key.run, header.key.file},
              header.first_word + block_header_bytes / word_size_bytes);
  return std::memcmp(words.data(), bytes.data() + block_header_bytes, num) == 0;
}

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
