// SPDX-License-Identifier: Apache-2.0
// Makes patterns block by block, to write them or to compare with them.
#include "memory/pattern.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#include "core/random.hpp"

namespace leadline {

const char* name_of(Fill fill) {
  switch (fill) {
    case Fill::zero:
      return "zero";
    case Fill::ramp:
      return "ramp";
    case Fill::random:
      return "random";
  }
  assert(false && "a fill that is not listed");
  return "?";
}

}  // namespace leadline

namespace leadline::memory {
namespace {

/// A multiple of the ramp's period and of a word; small enough for the stack and the nearest cache.
constexpr std::size_t block_bytes = 512;

constexpr auto two_ramps = [] {
  std::array<std::uint8_t, 2 * block_bytes> ramp{};
  for (std::size_t i = 0; i < ramp.size(); ++i) ramp[i] = static_cast<std::uint8_t>(i);
  return ramp;
}();

/// Neighbouring messages differ, and, since the last two factors differ by an odd number, so does the answer to a
/// message from the message.
std::size_t ramp_shift(const PatternKey& key) {
  return static_cast<std::size_t>((key.message + std::uint64_t{101} * key.from + std::uint64_t{210} * key.to) % 256);
}

/// A pattern is the same on hosts of either byte order.
std::uint64_t little_endian(std::uint64_t word) {
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

class Pattern {
 public:
  Pattern(Fill fill, const PatternKey& key)
      : fill_(fill),
        ramp_(two_ramps.data() + ramp_shift(key)),
        seed_(mix64(mix64((std::uint64_t{key.from} << 32 | key.to) + splitmix64_increment) + key.message)) {}

  /// Bytes first .. first + num - 1; `first` is a multiple of block_bytes, `num` at most that.
  void write(std::byte* out, std::uint64_t first, std::size_t num) const {
    switch (fill_) {
      case Fill::zero:
        std::memset(out, 0, num);
        break;
      case Fill::ramp:
        std::memcpy(out, ramp_, num);
        break;
      case Fill::random:
        write_random(out, first / sizeof(std::uint64_t), num);
        break;
    }
  }

 private:
  void write_random(std::byte* out, std::uint64_t word_index, std::size_t num) const {
    std::uint64_t counter = seed_ + word_index * splitmix64_increment;
    std::size_t done = 0;
    for (; done + sizeof(std::uint64_t) <= num; done += sizeof(std::uint64_t)) {
      const std::uint64_t word = little_endian(mix64(counter += splitmix64_increment));
      std::memcpy(out + done, &word, sizeof word);
    }
    const std::uint64_t last_word = little_endian(mix64(counter + splitmix64_increment));
    std::memcpy(out + done, &last_word, num - done);
  }

  Fill fill_;
  const std::uint8_t* ramp_;
  std::uint64_t seed_;
};

}  // namespace

void fill(std::span<std::byte> buffer, Fill fill, const PatternKey& key) {
  const Pattern pattern(fill, key);
  for (std::size_t first = 0; first < buffer.size(); first += block_bytes) {
    pattern.write(buffer.data() + first, first, std::min(block_bytes, buffer.size() - first));
  }
}

std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> buffer, Fill fill, const PatternKey& key) {
  const Pattern pattern(fill, key);
  std::array<std::byte, block_bytes> expected;
  for (std::size_t first = 0; first < buffer.size(); first += block_bytes) {
    const auto found = buffer.subspan(first, std::min(block_bytes, buffer.size() - first));
    pattern.write(expected.data(), first, found.size());
    if (std::memcmp(expected.data(), found.data(), found.size()) == 0) continue;
    const auto [wrong, right] = std::mismatch(found.begin(), found.end(), expected.begin());
    return WrongByte{first + static_cast<std::uint64_t>(wrong - found.begin()), std::to_integer<std::uint8_t>(*right),
                     std::to_integer<std::uint8_t>(*wrong)};
  }
  return std::nullopt;
}

}  // namespace leadline::memory
