// SPDX-License-Identifier: Apache-2.0
// A Feistel network over the next power of four, walked until it comes back into the range: at most four steps on
// average.
#include "schedule/object_order.hpp"

#include <bit>

#include "core/random.hpp"

namespace leadline::schedule {
namespace {

constexpr int num_feistel_rounds = 4;

}  // namespace

ObjectOrder::ObjectOrder(std::uint64_t num, std::uint64_t seed, std::int32_t rank) : num_(num) {
  if (seed == 0 || num < 2) return;
  key_ = mix64(mix64(seed) ^ static_cast<std::uint64_t>(rank)) | 1;
  half_bits_ = (static_cast<unsigned>(std::bit_width(num - 1)) + 1) / 2;
}

std::uint64_t ObjectOrder::shuffled(std::uint64_t value) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = value >> half_bits_, right = value & mask;
  for (int round = 0; round < num_feistel_rounds; ++round) {
    const std::uint64_t next = left ^ (mix64(right ^ mix64(key_ + static_cast<std::uint64_t>(round))) & mask);
    left = right;
    right = next;
  }
  return left << half_bits_ | right;
}

std::uint64_t ObjectOrder::at(std::uint64_t position) const {
  if (key_ == 0) return position;
  // Every cycle of a permutation comes back, so this ends, and no two positions end at the same object.
  std::uint64_t value = shuffled(position);
  while (value >= num_) value = shuffled(value);
  return value;
}

}  // namespace leadline::schedule
