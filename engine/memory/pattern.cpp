// SPDX-License-Identifier: Apache-2.0
// Makes patterns block by block, to write them or to compare with them.
#include "memory/pattern.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <functional>
#include <random>

#include "core/random.hpp"

namespace leadline {

constexpr Named<Fill> fill_names[] = {
    {Fill::zero, "zero"},
    {Fill::ramp, "ramp"},
    {Fill::random, "random"},
    {Fill::mersenne, "mersenne", "Mersenne Twister 19937"},
};

std::span<const Named<Fill>> names_of(Fill /*any*/) { return fill_names; }

const char* name_of(Fill fill) { return name_in(fill_names, fill); }

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

/// Two bijections, so that for one seed no two pairs of ranks, and for one pair no two seeds, start alike.
std::uint64_t seed_of(const PatternKey& key) {
  const std::uint64_t pair = std::uint64_t{key.from} << 32 | key.to;
  return mix64(mix64(mix64(key.seed + splitmix64_increment) + pair) + key.message);
}

/// A pattern is the same on hosts of either byte order.
std::uint64_t little_endian(std::uint64_t word) {
  return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
}

/// Words one after the other as little-endian bytes, the last one cut where `num` ends.
template <class NextWord>
void write_words(std::byte* out, std::size_t num, NextWord&& next_word) {
  const std::size_t num_left = num % sizeof(std::uint64_t);
  for (std::byte* const end = out + num - num_left; out != end; out += sizeof(std::uint64_t)) {
    const std::uint64_t word = little_endian(next_word());
    std::memcpy(out, &word, sizeof word);  // a length known beforehand: one store, and under sanitizers no call
  }
  if (num_left == 0) return;
  const std::uint64_t word = little_endian(next_word());
  std::memcpy(out, &word, num_left);
}

class Pattern {
 public:
  Pattern(Fill fill, const PatternKey& key)
      : fill_(fill), ramp_(two_ramps.data() + ramp_shift(key)), counter_(seed_of(key)) {
    if (fill == Fill::mersenne) mersenne_.emplace(counter_);
  }

  /// The next `num` bytes; block_bytes of them in every call but the last.
  void write(std::byte* out, std::size_t num) {
    switch (fill_) {
      case Fill::zero:
        std::memset(out, 0, num);
        break;
      case Fill::ramp:
        std::memcpy(out, ramp_, num);
        break;
      case Fill::random:
        write_words(out, num, [this] { return mix64(counter_ += splitmix64_increment); });
        break;
      case Fill::mersenne:
        write_words(out, num, std::ref(*mersenne_));
        break;
    }
  }

 private:
  Fill fill_;
  const std::uint8_t* ramp_;
  std::uint64_t counter_;
  std::optional<std::mt19937_64> mersenne_;  ///< 2.5 KiB, and slow to seed
};

}  // namespace

void fill(std::span<std::byte> buffer, Fill fill, const PatternKey& key) {
  Pattern pattern(fill, key);
  for (std::size_t first = 0; first < buffer.size(); first += block_bytes) {
    pattern.write(buffer.data() + first, std::min(block_bytes, buffer.size() - first));
  }
}

std::optional<WrongByte> first_wrong_byte(std::span<const std::byte> buffer, Fill fill, const PatternKey& key) {
  Pattern pattern(fill, key);
  std::array<std::byte, block_bytes> expected;
  for (std::size_t first = 0; first < buffer.size(); first += block_bytes) {
    const auto found = buffer.subspan(first, std::min(block_bytes, buffer.size() - first));
    pattern.write(expected.data(), found.size());
    if (std::memcmp(expected.data(), found.data(), found.size()) == 0) continue;
    const auto [wrong, right] = std::mismatch(found.begin(), found.end(), expected.begin());
    return WrongByte{first + static_cast<std::uint64_t>(wrong - found.begin()), std::to_integer<std::uint8_t>(*right),
                     std::to_integer<std::uint8_t>(*wrong)};
  }
  return std::nullopt;
}

}  // namespace leadline::memory
