// SPDX-License-Identifier: Apache-2.0
// Where each number of a header lies, lowest byte first.
#include "memory/block_header.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "memory/block_words.hpp"

namespace leadline::memory {
namespace {

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

}  // namespace

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

}  // namespace leadline::memory
