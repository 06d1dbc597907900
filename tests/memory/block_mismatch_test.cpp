// SPDX-License-Identifier: Apache-2.0
// Whatever is in an object but what should be is found, and called by its name.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "memory/block_objects.hpp"
#include "memory/block_pattern.hpp"

namespace leadline::memory {
namespace {

using namespace test;

void copy_over(Bytes& to, std::size_t at, const Bytes& from, std::size_t first, std::size_t num) {
  std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first), num, to.begin() + static_cast<std::ptrdiff_t>(at));
}

TEST(check_object, finds_every_flipped_byte) {
  for (const Touch touch : all_touches) {
    const ObjectPattern pattern{BlockKind::blocks, touch, Check::all};
    Bytes bytes = filled(4096 + 200, pattern, a_key);
    for (std::size_t i = 0; i < bytes.size(); i += i % 4096 < 130 ? 1 : 97) {
      bytes[i] ^= std::byte{0xff};
      const auto wrong = check_all_read(bytes, pattern, a_key);
      ASSERT_TRUE(wrong.has_value()) << i;
      EXPECT_EQ(wrong->kind, MismatchKind::bit_flips) << i;
      EXPECT_EQ(wrong->first_byte, i);
      EXPECT_EQ(wrong->num_bytes, 1u);
      EXPECT_EQ(wrong->xor_mask, std::uint64_t{0xff} << (8 * (i % 8)));
      bytes[i] ^= std::byte{0xff};
    }
  }
}

TEST(check_object, looks_as_far_as_it_is_told) {
  const auto is_found = [](Check check, std::size_t at) {
    Bytes bytes = filled(4 * 4096, full, a_key);
    bytes[at] ^= std::byte{1};
    return check_all_read(bytes, {BlockKind::blocks, Touch::full, check}, a_key).has_value();
  };
  EXPECT_FALSE(is_found(Check::none, 0));
  for (const std::size_t at : {0u, 63u, 64u, 4095u}) EXPECT_TRUE(is_found(Check::first, at));
  EXPECT_FALSE(is_found(Check::first, 4096));
  EXPECT_TRUE(is_found(Check::two, 4096));
  EXPECT_FALSE(is_found(Check::two, 8192));
  EXPECT_TRUE(is_found(Check::all, 4 * 4096 - 1));
}

TEST(check_object, looks_at_elements_and_stamps_of_doubles) {
  const auto is_found = [](Touch touch, Check check, std::size_t at) {
    const ObjectPattern pattern{BlockKind::doubles, touch, check};
    Bytes bytes = filled(3 * 4096, pattern, a_key);
    bytes[at] ^= std::byte{1};
    return check_all_read(bytes, pattern, a_key).has_value();
  };
  EXPECT_FALSE(is_found(Touch::object, Check::none, 0));
  EXPECT_TRUE(is_found(Touch::object, Check::first, 7));
  EXPECT_FALSE(is_found(Touch::object, Check::first, 8));
  EXPECT_TRUE(is_found(Touch::object, Check::two, 8));
  EXPECT_FALSE(is_found(Touch::object, Check::two, 16));
  EXPECT_FALSE(is_found(Touch::object, Check::two, 4096));
  EXPECT_TRUE(is_found(Touch::page, Check::first, 4096));
  EXPECT_TRUE(is_found(Touch::page, Check::two, 8192));
  EXPECT_FALSE(is_found(Touch::page, Check::two, 4104));
  EXPECT_TRUE(is_found(Touch::never, Check::all, 3 * 4096 - 1));
}

TEST(check_object, tells_zeros) {
  for (const BlockKind kind : all_kinds) {
    const ObjectPattern pattern{kind, Touch::page, Check::all};
    const Bytes hole(3 * 4096);
    auto wrong = check_all_read(hole, pattern, a_key);
    ASSERT_TRUE(wrong.has_value());
    EXPECT_EQ(wrong->kind, MismatchKind::zeros);
    EXPECT_EQ(wrong->first_byte / 8, 0u);
    EXPECT_EQ(wrong->num_bytes, hole.size());
    Bytes in_the_middle = filled(3 * 4096, pattern, a_key);
    std::fill_n(in_the_middle.begin() + 4096 + 512, 1024, std::byte{0});
    wrong = check_all_read(in_the_middle, pattern, a_key);
    ASSERT_TRUE(wrong.has_value());
    EXPECT_EQ(wrong->kind, MismatchKind::zeros);
    EXPECT_EQ(wrong->first_byte / 8, (4096u + 512) / 8);
    EXPECT_EQ(wrong->num_bytes, 4096u) << "of the block concerned";
  }
}

TEST(check_object, tells_what_was_not_read) {
  for_all_patterns([](const ObjectPattern& pattern, std::size_t size) {
    if (pattern.check == Check::none) return;
    Bytes bytes(size);
    poison(bytes);
    const auto wrong = check_all_read(bytes, pattern, a_key);
    ASSERT_TRUE(wrong.has_value());
    EXPECT_EQ(wrong->kind, MismatchKind::not_read);
    EXPECT_EQ(wrong->first_byte, 0u);
  });
  Bytes half = filled(8192, full, a_key);
  poison(std::span(half).subspan(1000));
  const auto wrong = check_all_read(half, full, a_key);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->kind, MismatchKind::not_read);
  EXPECT_EQ(wrong->first_byte, 1000u);
  EXPECT_EQ(wrong->num_bytes, 8192u);
}

TEST(check_object, tells_a_file_that_ends_before) {
  for_all_patterns([](const ObjectPattern& pattern, std::size_t size) {
    Bytes bytes = filled(size, pattern, a_key);
    for (const std::size_t num_read : {std::size_t{0}, size / 2, size / 2 + 3, size - 1}) {
      if (num_read == size) continue;
      poison(bytes);
      copy_over(bytes, 0, filled(size, pattern, a_key), 0, num_read);
      const auto wrong = check_object(bytes, num_read, pattern, a_key);
      ASSERT_EQ(wrong.has_value(), pattern.check != Check::none) << num_read;
      if (!wrong) continue;
      EXPECT_EQ(wrong->kind, MismatchKind::truncated);
      EXPECT_EQ(wrong->first_byte, num_read);
      EXPECT_EQ(wrong->num_bytes, size - num_read);
    }
  });
}

/// What is told of an object of `found` where one of `a_key` belongs.
Mismatch mismatch_of(const ObjectKey& found, const ObjectPattern& pattern = full, std::size_t size = 3 * 4096) {
  const auto wrong = check_all_read(filled(size, pattern, found), pattern, a_key);
  EXPECT_TRUE(wrong.has_value());
  return wrong.value_or(Mismatch{});
}

ObjectKey a_key_but(const std::function<void(ObjectKey&)>& change) {
  ObjectKey key = a_key;
  change(key);
  return key;
}

TEST(check_object, tells_whose_the_block_is) {
  const struct {
    MismatchKind kind;
    ObjectKey found;
  } cases[] = {
      {MismatchKind::other_run, a_key_but([](ObjectKey& key) { ++key.run; })},
      {MismatchKind::other_run, a_key_but([](ObjectKey& key) { --key.generation; })},
      {MismatchKind::other_rank, a_key_but([](ObjectKey& key) { ++key.rank; })},
      {MismatchKind::other_file, a_key_but([](ObjectKey& key) { ++key.file; })},
      {MismatchKind::shifted, a_key_but([](ObjectKey& key) { key.offset_bytes += 8; })},
      {MismatchKind::shifted, a_key_but([](ObjectKey& key) { ++key.object; })},
  };
  for (const auto& [kind, found] : cases) {
    for (const Touch touch : {Touch::page, Touch::full}) {
      const Mismatch wrong = mismatch_of(found, {BlockKind::blocks, touch, Check::all});
      EXPECT_EQ(wrong.kind, kind) << name_of(wrong.kind);
      EXPECT_EQ(wrong.num_bytes, 3 * 4096u);
      ASSERT_TRUE(wrong.found.has_value());
      EXPECT_EQ(wrong.found->run, found.run);
      EXPECT_EQ(wrong.found->rank, found.rank);
      EXPECT_EQ(wrong.found->object, found.object);
      EXPECT_EQ(wrong.found->offset_bytes, found.offset_bytes);
    }
  }
}

TEST(check_object, counts_a_rest_without_a_header_as_what_stands_before_it) {
  const ObjectKey other = a_key_but([](ObjectKey& key) { ++key.rank, ++key.file; });
  EXPECT_EQ(mismatch_of(other, full, 2 * 4096 + 32).num_bytes, 2 * 4096u + 32);
}

TEST(check_object, sees_no_difference_between_objects_that_nobody_touched) {
  const ObjectPattern never{BlockKind::blocks, Touch::never, Check::all};
  const ObjectKey next = a_key_but([](ObjectKey& key) { ++key.object; });
  EXPECT_FALSE(check_all_read(filled(8192, never, next), never, a_key));
  EXPECT_EQ(mismatch_of(a_key_but([](ObjectKey& key) { ++key.rank; }), never).kind, MismatchKind::other_rank);
  EXPECT_EQ(mismatch_of(a_key_but([](ObjectKey& key) { ++key.run; }), never).kind, MismatchKind::other_run);
}

TEST(check_object, tells_a_shift_by_less_than_a_block) {
  const ObjectKey before = a_key_but([](ObjectKey& key) { key.offset_bytes -= 4 * 4096, --key.object; });
  const Bytes first = filled(4 * 4096, full, before), second = filled(4 * 4096, full, a_key);
  Bytes shifted(4 * 4096);
  copy_over(shifted, 0, first, 4 * 4096 - 512, 512);
  copy_over(shifted, 512, second, 0, shifted.size() - 512);
  const auto wrong = check_all_read(shifted, full, a_key);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->kind, MismatchKind::shifted);
  EXPECT_EQ(wrong->num_bytes, shifted.size());
}

TEST(check_object, tells_torn_blocks) {
  const Bytes old = filled(4096, full, a_key_but([](ObjectKey& key) { ++key.rank, key.file = 9; }));
  Bytes words_of_another = filled(4096, full, a_key);
  copy_over(words_of_another, 2048, old, 2048, 2048);
  auto wrong = check_all_read(words_of_another, full, a_key);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->kind, MismatchKind::torn);
  EXPECT_GE(wrong->first_byte, 2048u);
  EXPECT_FALSE(wrong->found.has_value());
  Bytes header_of_another = filled(4096, full, a_key);
  copy_over(header_of_another, 0, old, 0, 512);
  wrong = check_all_read(header_of_another, full, a_key);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->kind, MismatchKind::torn);
  ASSERT_TRUE(wrong->found.has_value());
  EXPECT_EQ(wrong->found->file, 9u);
}

TEST(check_object, calls_the_rest_unknown) {
  Bytes bytes = filled(3 * 4096, full, a_key);
  for (std::size_t i = 4096; i < 8192; ++i) bytes[i] = std::byte{0x5a};
  const auto wrong = check_all_read(bytes, full, a_key);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->kind, MismatchKind::unknown);
  EXPECT_EQ(wrong->first_byte, 4096u);
  EXPECT_EQ(wrong->num_bytes, 4096u);
  EXPECT_EQ(mismatch_of(a_key_but([](ObjectKey& key) { key.offset_bytes += 8; }), full, 56).kind, MismatchKind::unknown)
      << "without a header nothing tells whose it is";
}

TEST(check_object, reports_the_first_stretch_only) {
  Bytes bytes = filled(5 * 4096, full, a_key);
  const Bytes other = filled(5 * 4096, full, a_key_but([](ObjectKey& key) { ++key.rank, key.file = 6; }));
  copy_over(bytes, 4096, other, 4096, 2 * 4096);
  std::fill_n(bytes.begin() + 3 * 4096, 4096, std::byte{0});
  const auto wrong = check_all_read(bytes, full, a_key);
  ASSERT_TRUE(wrong.has_value());
  EXPECT_EQ(wrong->kind, MismatchKind::other_file);
  EXPECT_EQ(wrong->first_byte / 4096, 1u);
  EXPECT_EQ(wrong->num_bytes, 2 * 4096u);
  EXPECT_EQ(wrong->found->offset_bytes, a_key.offset_bytes + 4096);
  EXPECT_EQ(wrong->expected.object, a_key.object);
}

TEST(check_object, tells_of_doubles_what_they_can_tell) {
  const ObjectPattern page{BlockKind::doubles, Touch::page, Check::all};
  const ObjectPattern never{BlockKind::doubles, Touch::never, Check::all};
  const ObjectKey other_rank = a_key_but([](ObjectKey& key) { key.rank += 4; });
  for (const ObjectPattern& pattern : {page, never}) {
    const Mismatch wrong = mismatch_of(other_rank, pattern, 8192);
    EXPECT_EQ(wrong.kind, MismatchKind::other_rank);
    EXPECT_EQ(wrong.found->rank, other_rank.rank);
    EXPECT_EQ(wrong.num_bytes, 8192u);
  }
  const Mismatch shifted = mismatch_of(a_key_but([](ObjectKey& key) { key.offset_bytes += 65536; }), page, 8192);
  EXPECT_EQ(shifted.kind, MismatchKind::shifted);
  EXPECT_EQ(shifted.found->offset_bytes, a_key.offset_bytes + 65536);
  EXPECT_EQ(shifted.found->object, no_object);
  Bytes garbage = filled(8192, page, a_key);
  for (std::size_t i = 5000; i < 5100; ++i) garbage[i] = std::byte{0x41};
  EXPECT_EQ(check_all_read(garbage, page, a_key)->kind, MismatchKind::unknown);
}

TEST(words_of_mismatch, are_one_line_that_names_what_was_found) {
  EXPECT_EQ(words_of(mismatch_of(a_key_but([](ObjectKey& key) { key.object = 4, key.offset_bytes = 3 << 20; }))),
            "shifted: holds object 4 of rank 7 (offset 3 MiB)");
  EXPECT_EQ(words_of(mismatch_of(a_key_but([](ObjectKey& key) { key.run = 255; }))),
            "another run's: holds object 3 of rank 7 (offset 16 GiB) of run 00000000000000ff");
  EXPECT_EQ(words_of(mismatch_of(a_key_but([](ObjectKey& key) { key.generation = 1; }))),
            "another repetition's: holds object 3 of rank 7 (offset 16 GiB) of repetition 1");
  EXPECT_EQ(words_of(mismatch_of(a_key_but([](ObjectKey& key) { key.file = 1; }))),
            "another file's: holds object 3 of rank 7 (offset 16 GiB) of file 1");
  EXPECT_EQ(words_of(mismatch_of(a_key_but([](ObjectKey& key) { key.offset_bytes = 8192; }),
                                 {BlockKind::doubles, Touch::object, Check::first})),
            "shifted: holds rank 7 (offset 8 KiB)");
  Bytes bytes = filled(64, full, a_key);
  bytes[8] ^= std::byte{1};
  EXPECT_EQ(words_of(*check_all_read(bytes, full, a_key)),
            "bit flips: 1 byte differs, the first word by 0000000000000001");
}

}  // namespace
}  // namespace leadline::memory
