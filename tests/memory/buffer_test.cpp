// SPDX-License-Identifier: Apache-2.0
// One suite for every allocator: memory that can be used, or an error that says why there is none.
#include "memory/buffer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace leadline::memory {

// How GoogleTest shows an allocator; without it, its bytes.
static void PrintTo(const Allocator& allocator, std::ostream* out) { *out << allocator.name; }

namespace {

using testing::HasSubstr;

std::string name_of_case(const testing::TestParamInfo<Allocator>& info) { return info.param.name; }

class EveryAllocator : public testing::TestWithParam<Allocator> {
 protected:
  /// Nothing where this machine sets no such memory aside; the reason is then the test's.
  std::optional<Buffer> buffer_of(std::size_t bytes) {
    try {
      return Buffer(GetParam(), bytes);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), ExitStatus::something_missing);
      EXPECT_THAT(error.problem(), HasSubstr(GetParam().name));
      EXPECT_FALSE(error.why().empty());
      reason_ = error.what();
      return std::nullopt;
    }
  }
  std::string reason_;
};

INSTANTIATE_TEST_SUITE_P(allocators, EveryAllocator, testing::ValuesIn(allocators().begin(), allocators().end()),
                         name_of_case);

TEST_P(EveryAllocator, gives_whole_usable_pages) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, std::size_t{100000}}) {
    const auto buffer = buffer_of(bytes);
    if (!buffer) GTEST_SKIP() << reason_;
    EXPECT_EQ(buffer->size(), bytes);
    EXPECT_EQ(buffer->span().size(), bytes);
    if (GetParam().location != Location::host) continue;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % page, 0u);
    std::memset(buffer->data(), 0x5a, bytes);
    EXPECT_EQ(buffer->span().back(), std::byte{0x5a});
  }
}

TEST_P(EveryAllocator, gives_back_what_was_copied_in) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4097}}) {
    const auto buffer = buffer_of(bytes);
    if (!buffer) GTEST_SKIP() << reason_;
    std::vector<std::byte> in(bytes), out(bytes);
    for (std::size_t i = 0; i < bytes; ++i) in[i] = static_cast<std::byte>(i % 251 + 1);
    GetParam().copy_in(buffer->data(), in);
    GetParam().copy_out(out, buffer->data());
    EXPECT_EQ(out, in);
    GetParam().copy_in(buffer->data(), {});
    GetParam().copy_out({}, buffer->data());
    EXPECT_TRUE(GetParam().location != Location::host || std::memcmp(buffer->data(), in.data(), bytes) == 0);
  }
}

TEST_P(EveryAllocator, refuses_more_than_the_address_space_without_wrapping_around) {
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX - 4095, SIZE_MAX / 2 + 1, SIZE_MAX / 2 - 100}) {
    EXPECT_FALSE(buffer_of(bytes).has_value());
  }
}

TEST_P(EveryAllocator, releases_once_however_often_it_is_moved) {
  auto first = buffer_of(5000);
  if (!first) GTEST_SKIP() << reason_;
  std::byte* const data = first->data();
  Buffer second(std::move(*first));
  EXPECT_EQ(first->data(), nullptr);
  EXPECT_EQ(first->size(), 0u);
  Buffer third(GetParam(), 100);
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size(), 5000u);
}

TEST_P(EveryAllocator, gives_back_what_it_took) {
  for (int i = 0; i < 200; ++i) {
    if (!buffer_of(1 << 20)) GTEST_SKIP() << reason_;
  }
}

TEST_P(EveryAllocator, of_no_bytes_owns_nothing) {
  const Buffer buffer(GetParam(), 0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_TRUE(buffer.span().empty());
}

TEST_P(EveryAllocator, has_a_purpose_and_is_found_by_its_name) {
  EXPECT_GT(std::strlen(GetParam().purpose), 0u);
  EXPECT_EQ(allocator_named(GetParam().name).allocate, GetParam().allocate);
}

TEST(allocator_named, lists_what_there_is) {
  try {
    allocator_named("magnetic");
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_STREQ(error.what(),
                 "there is no allocator 'magnetic'. Choose from aligned, posix, mmap, pinned, huge, cuda");
  }
}

TEST(allocators, the_default_comes_first_and_the_one_for_gpus_last) {
  EXPECT_STREQ(allocators().front().name, "aligned");
  for (const Allocator& allocator : allocators()) {
    EXPECT_EQ(allocator.location, &allocator == &allocators().back() ? Location::gpu : Location::host)
        << allocator.name;
  }
}

TEST(name_of_component, is_its_word) {
  EXPECT_STREQ(name_of(Location::host), "host");
  EXPECT_STREQ(name_of(Location::gpu), "gpu");
}

// In a process of its own that may lock nothing: without privilege, and with a limit of 0.
TEST(pinned, says_why_and_what_helps_where_nothing_may_be_locked) {
#ifdef LEADLINE_SANITIZE
  GTEST_SKIP() << "the address sanitizer makes mlock do nothing";
#endif
  const auto attempt = [] {
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_MEMLOCK, &none) != 0 || (getuid() == 0 && setuid(65534) != 0)) _exit(2);
    try {
      Buffer buffer(allocator_named("pinned"), 4096);
    } catch (const Error& error) {
      fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
    _exit(0);
  };
  EXPECT_EXIT(attempt(), testing::ExitedWithCode(1), "'pinned' cannot provide 4 KiB .mlock: .*ulimit -l");
}

// More than any machine sets aside, so this fails on all of them.
TEST(huge, says_why_and_what_helps_where_too_little_is_set_aside) {
  try {
    Buffer buffer(allocator_named("huge"), std::size_t{1} << 46);
    FAIL() << "allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_THAT(error.problem(), HasSubstr("'huge' cannot provide 64 TiB"));
    EXPECT_FALSE(error.why().empty());
  }
}

}  // namespace
}  // namespace leadline::memory
