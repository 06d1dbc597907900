// SPDX-License-Identifier: Apache-2.0
// Objects hold what docs/formats/blocks.md says, and pass for what they are.
#include "memory/block_pattern.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/random.hpp"
#include "memory/block_header.hpp"
#include "memory/block_objects.hpp"
#include "memory/crc32c.hpp"

namespace leadline::memory {
namespace {

using namespace test;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// --- checksums -------------------------------------------------------------------------------------------------------

TEST(crc32c, has_the_values_of_rfc_3720) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283u);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0})), 0x8a9136aau);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0xff})), 0x62a8ab43u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(crc32c, goes_on_where_it_stopped) {
  const Bytes bytes = filled(5000, full, a_key);
  for (const std::size_t cut : {0u, 1u, 63u, 64u, 4095u, 5000u}) {
    const std::span<const std::byte> all(bytes);
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all)) << cut;
  }
}

TEST(crc32c, is_the_same_by_tables_and_by_instructions) {
  if (!has_crc32c_instructions()) GTEST_SKIP() << "this processor has no SSE 4.2";
  const Bytes bytes = filled(13000, full, a_key);
  for (std::size_t size = 0; size < bytes.size(); size += size < 100 ? 1 : 997) {
    const auto unaligned = std::span(bytes).subspan(size % 9 != 0 && size + 9 < bytes.size() ? size % 9 : 0, size);
    EXPECT_EQ(crc32c_by_tables(unaligned, 5), crc32c_by_instructions(unaligned, 5)) << size;
  }
}

// --- words -----------------------------------------------------------------------------------------------------------

/// As docs/formats/blocks.md has it, written once more.
std::uint64_t word_of_document(std::uint64_t run, std::uint32_t file, std::uint64_t number) {
  const std::uint64_t seeds = mix64(mix64(mix64(run + splitmix64_increment) + file) + (number >> 31));
  std::uint64_t word = 0;
  for (std::uint64_t half = 0; half < 2; ++half) {
    auto x = static_cast<std::uint32_t>(2 * number + half) + static_cast<std::uint32_t>(seeds);
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15 ^ static_cast<std::uint32_t>(seeds >> 32)) * 0x846ca68b;
    word |= std::uint64_t{x ^ x >> 16} << (32 * half);
  }
  return word;
}

TEST(words, are_those_of_the_document_at_any_place) {
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{12345}, (std::uint64_t{1} << 31) - 5, (std::uint64_t{1} << 60) + 77}) {
    Bytes fast(8 * 37 + 3), portable(fast.size());
    write_words(fast, {99, 4}, first);
    write_words_portably(portable, {99, 4}, first);
    EXPECT_EQ(fast, portable);
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const std::uint64_t word = word_of_document(99, 4, first + i / 8);
      ASSERT_EQ(std::to_integer<std::uint64_t>(fast[i]), word >> (8 * (i % 8)) & 0xff) << first << " byte " << i;
    }
  }
}

TEST(words, do_not_repeat) {
  Bytes bytes(1 << 20);
  write_words(bytes, {1, 0}, 0);
  std::set<std::uint64_t> words;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    EXPECT_NE(word >> 32, word & 0xffffffff) << "the poison has equal halves";
    words.insert(word);
  }
  EXPECT_EQ(words.size(), bytes.size() / 8);
}

// --- objects that are as they should be ------------------------------------------------------------------------------

TEST(blocks, have_the_header_of_the_document) {
  const Bytes bytes = filled(4096 + 1000, full, a_key);
  const auto number = [&](std::size_t at, std::size_t num) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < num; ++i) value |= std::to_integer<std::uint64_t>(bytes[4096 + at + i]) << (8 * i);
    return value;
  };
  EXPECT_EQ(std::memcmp(bytes.data() + 4096, "LEADBLK\1", 8), 0);
  EXPECT_EQ(number(8, 8), a_key.run);
  EXPECT_EQ(number(16, 4), a_key.file);
  EXPECT_EQ(number(20, 4), a_key.rank);
  EXPECT_EQ(number(24, 8), a_key.object);
  EXPECT_EQ(number(32, 8), a_key.offset_bytes + 4096);
  EXPECT_EQ(number(40, 4), 1000u);
  EXPECT_EQ(number(44, 4), a_key.generation);
  EXPECT_EQ(number(52, 4), 0u);
  EXPECT_EQ(number(56, 8), (a_key.offset_bytes + 4096) / 8);
  EXPECT_EQ(number(64, 8), word_of_document(a_key.run, a_key.file, number(56, 8) + 8));
  Bytes block(bytes.begin() + 4096, bytes.end());
  std::fill_n(block.begin() + 48, 4, std::byte{0});
  EXPECT_EQ(number(48, 4), crc32c_by_tables(block));
}

TEST(blocks, say_whose_they_are) {
  const Bytes bytes = filled(2 * 4096, full, a_key);
  const auto key = key_of_block(std::span(bytes).subspan(4096));
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(key->run, a_key.run);
  EXPECT_EQ(key->rank, a_key.rank);
  EXPECT_EQ(key->file, a_key.file);
  EXPECT_EQ(key->object, a_key.object);
  EXPECT_EQ(key->offset_bytes, a_key.offset_bytes + 4096);
  EXPECT_EQ(key->generation, a_key.generation);
  EXPECT_FALSE(key_of_block(std::span(bytes).subspan(8)));
  EXPECT_FALSE(key_of_block(std::span(bytes).first(63)));
}

TEST(doubles, are_index_plus_rank_and_the_true_offset) {
  const auto at = [](const Bytes& bytes, std::size_t index) {
    double number = 0;
    std::memcpy(&number, bytes.data() + 8 * index, sizeof number);
    return number;
  };
  const auto offset = static_cast<double>(a_key.offset_bytes);
  const auto stamped = [&](Touch touch) { return filled(3 * 4096, {BlockKind::doubles, touch, Check::all}, a_key); };
  for (std::size_t i = 0; i < 3 * 512; ++i) {
    const double plain = static_cast<double>(i) + 7;
    EXPECT_EQ(at(stamped(Touch::never), i), plain);
    EXPECT_EQ(at(stamped(Touch::object), i), i == 0 ? offset : plain);
    EXPECT_EQ(at(stamped(Touch::page), i), i % 512 == 0 ? offset : plain);
  }
}

TEST(objects, are_right_as_they_were_filled_and_refilled) {
  for_all_patterns([](const ObjectPattern& pattern, std::size_t size) {
    ObjectKey key{17, 3, 2, 0, 24 * size, 0};
    Bytes bytes = filled(size, pattern, key);
    EXPECT_FALSE(check_all_read(bytes, pattern, key));
    for (int i = 0; i < 3; ++i) {
      key.object += 2;
      key.offset_bytes += 5 * size;
      ++key.generation;
      refill_object(bytes, pattern, key);
      EXPECT_FALSE(check_all_read(bytes, pattern, key));
      EXPECT_EQ(bytes, filled(size, pattern, key)) << "a refilled object is a filled one";
    }
  });
}

TEST(objects, may_lie_anywhere_in_memory_and_keep_to_themselves) {
  for_all_patterns([](const ObjectPattern& pattern, std::size_t size) {
    Bytes bytes(size + 32, std::byte{0xee});
    const auto object = std::span(bytes).subspan(3, size);
    fill_object(object, pattern, a_key);
    refill_object(object, pattern, a_key);
    EXPECT_TRUE(std::equal(object.begin(), object.end(), filled(size, pattern, a_key).begin()));
    EXPECT_FALSE(check_object(object, size, pattern, a_key));
    for (std::size_t i = size + 3; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], std::byte{0xee});
    EXPECT_EQ(bytes[2], std::byte{0xee});
  });
}

TEST(objects, of_one_rank_are_the_same_only_where_nothing_is_touched) {
  ObjectKey next = a_key;
  next.object += 1;
  next.offset_bytes += 8192;
  for (const BlockKind kind : all_kinds) {
    for (const Touch touch : all_touches) {
      const ObjectPattern pattern{kind, touch, Check::all};
      EXPECT_EQ(filled(8192, pattern, a_key) == filled(8192, pattern, next), touch == Touch::never);
    }
  }
}

}  // namespace
}  // namespace leadline::memory
