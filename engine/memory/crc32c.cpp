// SPDX-License-Identifier: Apache-2.0
// CRC32C by tables, and by the processor's instruction in three streams that are joined afterwards.
#include "memory/crc32c.hpp"

#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "memory/block_pattern.hpp"

// Functions with the instruction are compiled for processors that have it, whatever the others are compiled for.
#if defined(__x86_64__)
#include <nmmintrin.h>
#define LEADLINE_CRC32C_TARGET [[gnu::target("sse4.2,crc32")]]
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define LEADLINE_CRC32C_TARGET [[gnu::target("+crc")]]
#endif

namespace leadline::memory {
namespace {

constexpr std::uint32_t polynomial = 0x82f63b78;  ///< Castagnoli's, lowest bit first

using ByteTable = std::array<std::uint32_t, 256>;

constexpr ByteTable after_one_byte = [] {
  ByteTable table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? polynomial : 0);
    table[byte] = crc;
  }
  return table;
}();

constexpr std::uint32_t after_zero_bytes(std::uint32_t crc, std::size_t num_bytes) {
  for (std::size_t i = 0; i < num_bytes; ++i) crc = (crc >> 8) ^ after_one_byte[crc & 0xff];
  return crc;
}

constexpr std::uint32_t step(std::uint32_t crc, std::byte byte) {
  return (crc >> 8) ^ after_one_byte[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
}

/// The eight bytes of a word, lowest first, on hosts of either byte order.
std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

/// Table i: a byte behind which i zero bytes come.
constexpr auto eight_tables = [] {
  std::array<ByteTable, 8> tables{};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) tables[i][byte] = after_zero_bytes(after_one_byte[byte], i);
  }
  return tables;
}();

}  // namespace

std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint64_t word = word_at(bytes.data()) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= eight_tables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (const std::byte byte : bytes) crc = step(crc, byte);
  return ~crc;
}

#if defined(LEADLINE_CRC32C_TARGET)

namespace {

LEADLINE_CRC32C_TARGET std::uint64_t step_by_instruction(std::uint64_t crc, std::uint64_t word) {
#if defined(__x86_64__)
  return _mm_crc32_u64(crc, word);
#else
  return __crc32cd(static_cast<std::uint32_t>(crc), word);
#endif
}

/// Bytes of a stream: with three of them, what lies behind the header of a whole block.
constexpr std::size_t stream_bytes = (block_size_bytes - block_header_bytes) / 3;
static_assert(stream_bytes % word_size_bytes == 0);

/// What stream_bytes zero bytes make of each byte of a CRC; the CRC is linear, so that they may be taken apart.
constexpr auto behind_a_stream = [] {
  std::array<std::uint32_t, 32> of_bit{};
  for (std::size_t bit = 0; bit < of_bit.size(); ++bit) of_bit[bit] = after_zero_bytes(1U << bit, stream_bytes);
  std::array<ByteTable, 4> tables{};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      for (std::size_t bit = 0; bit < 8; ++bit) {
        if ((byte >> bit & 1) != 0) tables[i][byte] ^= of_bit[8 * i + bit];
      }
    }
  }
  return tables;
}();

std::uint32_t shifted(std::uint64_t crc) {
  return behind_a_stream[0][crc & 0xff] ^ behind_a_stream[1][crc >> 8 & 0xff] ^ behind_a_stream[2][crc >> 16 & 0xff] ^
         behind_a_stream[3][crc >> 24 & 0xff];
}

/// The instruction takes three cycles but starts every cycle: three at once hide that.
LEADLINE_CRC32C_TARGET std::uint32_t three_streams(std::uint32_t crc, const std::byte* at) {
  std::uint64_t first = crc, second = 0, third = 0;
  for (std::size_t i = 0; i < stream_bytes; i += word_size_bytes) {
    first = step_by_instruction(first, word_at(at + i));
    second = step_by_instruction(second, word_at(at + stream_bytes + i));
    third = step_by_instruction(third, word_at(at + 2 * stream_bytes + i));
  }
  return shifted(shifted(first) ^ second) ^ static_cast<std::uint32_t>(third);
}

}  // namespace

bool has_crc32c_instructions() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") != 0;
#else
  return (::getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#endif
}

LEADLINE_CRC32C_TARGET std::uint32_t crc32c_by_instructions(std::span<const std::byte> bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 3 * stream_bytes; bytes = bytes.subspan(3 * stream_bytes)) {
    crc = three_streams(crc, bytes.data());
  }
  for (; bytes.size() >= word_size_bytes; bytes = bytes.subspan(word_size_bytes)) {
    crc = static_cast<std::uint32_t>(step_by_instruction(crc, word_at(bytes.data())));
  }
  for (const std::byte byte : bytes) crc = step(crc, byte);
  return ~crc;
}

#else

bool has_crc32c_instructions() { return false; }

std::uint32_t crc32c_by_instructions(std::span<const std::byte> bytes, std::uint32_t before) {
  assert(false && "asked for instructions that this processor does not have");
  return crc32c_by_tables(bytes, before);
}

#endif

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
  static const bool by_instructions = has_crc32c_instructions();
  return by_instructions ? crc32c_by_instructions(bytes, before) : crc32c_by_tables(bytes, before);
}

}  // namespace leadline::memory
