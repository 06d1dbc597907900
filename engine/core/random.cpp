// SPDX-License-Identifier: Apache-2.0
// The generator, its seeding, and random numbers in a range.
#include "core/random.hpp"

#include <bit>
#include <cassert>
#include <utility>

namespace leadline {
namespace {

template <class T>
void shuffle_with(Random& random, std::span<T> values) noexcept {
  for (std::size_t left = values.size(); left > 1; --left) {
    std::swap(values[left - 1], values[random.below(left)]);
  }
}

}  // namespace

Random::Random(std::uint64_t seed, std::uint64_t stream) noexcept {
  // Two bijections in a row: for one seed no two streams share a starting point, for one stream no two seeds.
  std::uint64_t counter = mix64(mix64(seed + splitmix64_increment) + stream);
  for (auto& word : state_) word = mix64(counter += splitmix64_increment);
}

std::uint64_t Random::next() noexcept {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t bound) noexcept {
  assert(bound > 0);
  // Numbers below the remainder of 2^64 / bound would make some results likelier than others; they are rejected.
  // That remainder is less than bound, so the division for it is nearly never needed.
  std::uint64_t number = next();
  while (number < bound && number < (0 - bound) % bound) number = next();
  return number % bound;
}

double Random::uniform() noexcept { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

void Random::shuffle(std::span<std::int32_t> values) noexcept { shuffle_with(*this, values); }

void Random::shuffle(std::span<std::int64_t> values) noexcept { shuffle_with(*this, values); }

}  // namespace leadline
