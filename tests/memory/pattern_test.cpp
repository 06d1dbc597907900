// SPDX-License-Identifier: Apache-2.0
// Patterns are what they say, byte by byte, and every single wrong byte is found.
#include "memory/pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace leadline::memory {
namespace {

constexpr Fill all_fills[] = {Fill::zero, Fill::ramp, Fill::random, Fill::mersenne};
constexpr Fill random_fills[] = {Fill::random, Fill::mersenne};
/// Around words, the ramp's period and the blocks in which patterns are made.
constexpr std::size_t sizes[] = {0, 1, 7, 8, 9, 63, 255, 256, 257, 511, 512, 513, 1024, 1531};

std::vector<std::byte> filled(std::size_t size, Fill with, const PatternKey& key) {
  std::vector<std::byte> bytes(size, std::byte{0xee});
  fill(bytes, with, key);
  return bytes;
}

TEST(name_of_fill, is_the_word_of_the_option) {
  EXPECT_STREQ(name_of(Fill::zero), "zero");
  EXPECT_STREQ(name_of(Fill::ramp), "ramp");
  EXPECT_STREQ(name_of(Fill::random), "random");
  EXPECT_STREQ(name_of(Fill::mersenne), "mersenne");
}

TEST(fill, zero_is_zero) {
  for (const std::byte byte : filled(1531, Fill::zero, {1, 2, 3})) EXPECT_EQ(byte, std::byte{0});
}

TEST(fill, ramp_rises_by_one) {
  const auto bytes = filled(1531, Fill::ramp, {1, 2, 3});
  const auto shift = std::to_integer<std::size_t>(bytes[0]);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    ASSERT_EQ(std::to_integer<std::size_t>(bytes[i]), (i + shift) % 256);
  }
}

/// What the key decides of the random contents, as pattern.cpp has it.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t from_and_to, std::uint64_t message) {
  return mix64(mix64(mix64(seed + splitmix64_increment) + from_and_to) + message);
}

/// Whether `bytes` are these words, the lowest byte of each first.
void expect_words(const std::vector<std::byte>& bytes, const std::function<std::uint64_t()>& next_word) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i % 8 == 0) word = next_word();
    ASSERT_EQ(std::to_integer<std::uint64_t>(bytes[i]), (word >> (8 * (i % 8))) & 0xff) << i;
  }
}

TEST(fill, random_is_a_counter_through_splitmix64) {
  std::uint64_t counter = mixed(8, 0x0000'0005'0000'0006, 7);
  expect_words(filled(1531, Fill::random, {5, 6, 7, 8}), [&] { return mix64(counter += splitmix64_increment); });
}

TEST(fill, mersenne_is_the_output_of_the_standard_mersenne_twister) {
  std::mt19937_64 twister(mixed(8, 0x0000'0005'0000'0006, 7));
  expect_words(filled(5000, Fill::mersenne, {5, 6, 7, 8}), [&] { return twister(); });
  std::mt19937_64 by_default;
  by_default.discard(9999);
  EXPECT_EQ(by_default(), 9981545732273789042u) << "the standard's own test value";
}

TEST(fill, random_contents_follow_the_seed_and_others_do_not) {
  for (const Fill with : random_fills) {
    EXPECT_EQ(filled(64, with, {1, 2, 3, 9876543210}), filled(64, with, {1, 2, 3, 9876543210}));
    EXPECT_NE(filled(64, with, {1, 2, 3, 9876543210}), filled(64, with, {1, 2, 3, 9876543211}));
  }
  EXPECT_NE(filled(64, Fill::random, {1, 2, 3}), filled(64, Fill::mersenne, {1, 2, 3}));
  EXPECT_EQ(filled(64, Fill::ramp, {1, 2, 3, 1}), filled(64, Fill::ramp, {1, 2, 3, 2}));
}

TEST(fill, random_contents_use_all_bytes) {
  for (const Fill with : random_fills) {
    const auto bytes = filled(8192, with, {1, 2, 3});
    EXPECT_EQ(std::set<std::byte>(bytes.begin(), bytes.end()).size(), 256u);
  }
}

TEST(fill, a_byte_does_not_depend_on_the_size) {
  for (const Fill with : all_fills) {
    const auto longest = filled(sizes[std::size(sizes) - 1], with, {1, 2, 3});
    for (const std::size_t size : sizes) {
      const auto bytes = filled(size, with, {1, 2, 3});
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), longest.begin())) << name_of(with) << " " << size;
    }
  }
}

TEST(fill, writes_nothing_behind_the_buffer) {
  for (const Fill with : all_fills) {
    for (const std::size_t size : sizes) {
      std::vector<std::byte> bytes(size + 16, std::byte{0xee});
      fill(std::span(bytes).first(size), with, {1, 2, 3});
      for (std::size_t i = size; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], std::byte{0xee}) << name_of(with);
    }
  }
}

TEST(fill, needs_no_alignment) {
  for (const Fill with : all_fills) {
    std::vector<std::byte> bytes(601);
    const auto unaligned = std::span(bytes).subspan(1);
    fill(unaligned, with, {1, 2, 3});
    const auto aligned = filled(600, with, {1, 2, 3});
    EXPECT_TRUE(std::equal(unaligned.begin(), unaligned.end(), aligned.begin()));
    EXPECT_EQ(first_wrong_byte(unaligned, with, {1, 2, 3}), std::nullopt);
  }
}

TEST(fill, the_next_message_and_the_answer_have_other_contents) {
  for (const Fill with : {Fill::ramp, Fill::random, Fill::mersenne}) {
    for (std::uint32_t from = 0; from < 16; ++from) {
      for (std::uint32_t to = 0; to < 16; ++to) {
        const PatternKey key{from, to, from * to};
        const auto bytes = filled(8, with, key);
        EXPECT_NE(bytes, filled(8, with, {from, to, key.message + 1}));
        EXPECT_EQ(bytes == filled(8, with, {to, from, key.message}), from == to);
      }
    }
  }
}

TEST(first_wrong_byte, finds_nothing_wrong_with_what_was_filled) {
  for (const Fill with : all_fills) {
    for (const std::size_t size : sizes) {
      EXPECT_FALSE(first_wrong_byte(filled(size, with, {1, 2, 3}), with, {1, 2, 3})) << name_of(with) << " " << size;
    }
  }
}

TEST(first_wrong_byte, finds_every_single_wrong_byte) {
  for (const Fill with : all_fills) {
    auto bytes = filled(1531, with, {1, 2, 3});
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const std::byte right = bytes[i];
      bytes[i] ^= std::byte{0x10};
      const auto wrong = first_wrong_byte(bytes, with, {1, 2, 3});
      ASSERT_TRUE(wrong.has_value()) << name_of(with) << " " << i;
      ASSERT_EQ(wrong->byte, i);
      ASSERT_EQ(wrong->expected, std::to_integer<std::uint8_t>(right));
      ASSERT_EQ(wrong->found, std::to_integer<std::uint8_t>(bytes[i]));
      bytes[i] = right;
    }
  }
}

TEST(first_wrong_byte, is_the_first_of_several) {
  auto bytes = filled(1531, Fill::random, {1, 2, 3});
  for (const std::size_t i : {1530u, 700u, 701u}) bytes[i] ^= std::byte{1};
  EXPECT_EQ(first_wrong_byte(bytes, Fill::random, {1, 2, 3})->byte, 700u);
}

TEST(first_wrong_byte, notices_the_message_before) {
  for (const Fill with : {Fill::ramp, Fill::random, Fill::mersenne}) {
    EXPECT_TRUE(first_wrong_byte(filled(64, with, {1, 2, 3}), with, {1, 2, 4}).has_value());
  }
}

}  // namespace
}  // namespace leadline::memory
