// SPDX-License-Identifier: Apache-2.0
// Seeded random numbers and shuffles that are the same on every platform and with every standard library.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace leadline {

/// The increment of splitmix64's counter (2^64 divided by the golden ratio, odd).
inline constexpr std::uint64_t splitmix64_increment = 0x9e3779b97f4a7c15;

/// splitmix64's output function: a bijection that scatters neighbouring numbers (Steele, Lea and Flood 2014, with
/// Stafford's constants). The n-th output (from 1) of the generator seeded with s is mix64(s + n * increment).
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// xoshiro256** (Blackman and Vigna 2018).
class Random {
 public:
  /// Different streams of one seed are unrelated: one stream for each purpose.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) noexcept;

  /// From a state that is not all zero.
  explicit Random(const std::array<std::uint64_t, 4>& state) noexcept : state_(state) {}

  std::uint64_t next() noexcept;

  /// Any of 0..bound-1, all equally likely; bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept;

  /// In [0, 1), a multiple of 2^-53.
  double uniform() noexcept;

  /// Fisher-Yates: every order equally likely.
  void shuffle(std::span<std::int32_t> values) noexcept;
  void shuffle(std::span<std::int64_t> values) noexcept;

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace leadline
