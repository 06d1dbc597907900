// SPDX-License-Identifier: Apache-2.0
// Words as 32-bit lanes, since processors multiply many of those at once.
#include "memory/block_words.hpp"

#include <algorithm>
#include <array>
#include <bit>
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

}  // namespace

void write_words(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word) {
  static const WriteTogether write_many = fastest();
  write(out, key, first_word, write_many);
}

void write_words_portably(std::span<std::byte> out, const WordsKey& key, std::uint64_t first_word) {
  write(out, key, first_word, write_together_portably);
}

}  // namespace leadline::memory
