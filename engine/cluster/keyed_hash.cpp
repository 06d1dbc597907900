// SPDX-License-Identifier: Apache-2.0
// BLAKE2b as RFC 7693 defines it: additions, rotations and exclusive ors of 64 bits, so that its time depends on the
// length alone.
#include "cluster/keyed_hash.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstdint>

#include "cluster/bytes.hpp"
#include "core/error.hpp"

namespace leadline::cluster {
namespace {

constexpr std::size_t hash_block_size_bytes = 128;
constexpr std::size_t hash_size_max_bytes = 64;
constexpr int num_hash_rounds = 12;

using HashState = std::array<std::uint64_t, 8>;

constexpr HashState initial_hash_state{0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                       0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

/// Which word of a block comes when; rounds 10 and 11 are as 0 and 1.
constexpr std::array<std::array<std::uint8_t, 16>, 10> word_order{{
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}};

/// Columns, then diagonals, of the working words as a square.
constexpr std::array<std::array<std::uint8_t, 4>, 8> mixed_words{{{0, 4, 8, 12},
                                                                  {1, 5, 9, 13},
                                                                  {2, 6, 10, 14},
                                                                  {3, 7, 11, 15},
                                                                  {0, 5, 10, 15},
                                                                  {1, 6, 11, 12},
                                                                  {2, 7, 8, 13},
                                                                  {3, 4, 9, 14}}};

enum class BlockKind { inner, last };

void compress(HashState& state, std::string_view block, std::uint64_t num_bytes_so_far, BlockKind kind) {
  std::array<char, hash_block_size_bytes> bytes{};  // the last block ends with zeros
  std::copy(block.begin(), block.end(), bytes.begin());
  std::array<std::uint64_t, 16> words{};
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = take<std::uint64_t>(bytes.data() + 8 * i);
  std::array<std::uint64_t, 16> work{};
  std::copy(state.begin(), state.end(), work.begin());
  std::copy(initial_hash_state.begin(), initial_hash_state.end(), work.begin() + state.size());
  work[12] ^= num_bytes_so_far;  // 2^64 bytes are never reached
  if (kind == BlockKind::last) work[14] = ~work[14];
  for (std::size_t round = 0; round < num_hash_rounds; ++round) {
    const auto& order = word_order[round % word_order.size()];
    for (std::size_t i = 0; i < mixed_words.size(); ++i) {
      std::uint64_t &a = work[mixed_words[i][0]], &b = work[mixed_words[i][1]], &c = work[mixed_words[i][2]],
                    &d = work[mixed_words[i][3]];
      a += b + words[order[2 * i]];
      d = std::rotr(d ^ a, 32);
      c += d;
      b = std::rotr(b ^ c, 24);
      a += b + words[order[2 * i + 1]];
      d = std::rotr(d ^ a, 16);
      c += d;
      b = std::rotr(b ^ c, 63);
    }
  }
  for (std::size_t i = 0; i < state.size(); ++i) state[i] ^= work[i] ^ work[i + state.size()];
}

}  // namespace

std::string hash_of(std::string_view text, std::size_t size_bytes, std::string_view key) {
  assert(size_bytes > 0 && size_bytes <= hash_size_max_bytes && key.size() <= hash_size_max_bytes);
  std::string hashed(key);
  if (!key.empty()) hashed.resize(hash_block_size_bytes);
  hashed += text;
  HashState state = initial_hash_state;
  state[0] ^= 0x01010000U ^ (std::uint64_t{key.size()} << 8) ^ std::uint64_t{size_bytes};
  std::size_t at = 0;
  for (; hashed.size() - at > hash_block_size_bytes; at += hash_block_size_bytes) {
    compress(state, std::string_view(hashed).substr(at, hash_block_size_bytes), at + hash_block_size_bytes,
             BlockKind::inner);
  }
  compress(state, std::string_view(hashed).substr(at), hashed.size(), BlockKind::last);
  std::string hash;
  for (const std::uint64_t word : state) append(hash, word);
  hash.resize(size_bytes);
  return hash;
}

std::string random_bytes(std::size_t size_bytes) {
  std::string bytes(size_bytes, '\0');
  for (std::size_t num_got = 0; num_got < size_bytes;) {
    const ssize_t got = ::getrandom(bytes.data() + num_got, size_bytes - num_got, 0);
    if (got > 0) num_got += static_cast<std::size_t>(got);
    if (got > 0 || errno == EINTR) continue;
    throw Error(ExitStatus::something_missing, "the kernel gives no random numbers", system_error_text(errno),
                "A secret cannot be made without them; a kernel of 3.17 or later has getrandom");
  }
  return bytes;
}

bool are_equal(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  volatile unsigned char difference = 0;  // or a compiler might stop at the first one
  for (std::size_t i = 0; i < left.size(); ++i) {
    difference = static_cast<unsigned char>(difference | (left[i] ^ right[i]));
  }
  return difference == 0;
}

}  // namespace leadline::cluster
