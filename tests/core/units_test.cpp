// SPDX-License-Identifier: Apache-2.0
// What is a size and what is not, and how numbers are written for people.
#include "core/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/error.hpp"

namespace leadline {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

template <class Parse>
std::string refusal(Parse parse, const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line) << text;
    EXPECT_FALSE(error.why().empty()) << text;
    EXPECT_THAT(error.hint(), HasSubstr("16MiB"));
    return error.what();
  }
  return "accepted";
}

TEST(parse_bytes, reads_every_unit) {
  struct Case {
    const char* text;
    std::uint64_t bytes;
  };
  for (const Case& c : {Case{"0", 0},
                        {"4096", 4096},
                        {"7B", 7},
                        {"1K", 1024},
                        {"1KiB", 1024},
                        {"1kB", 1000},
                        {"16MiB", 16777216},
                        {"2M", 2097152},
                        {"2MB", 2000000},
                        {"3GiB", 3221225472},
                        {"3G", 3221225472},
                        {"3GB", 3000000000},
                        {"1TiB", 1099511627776},
                        {"1T", 1099511627776},
                        {"1TB", 1000000000000},
                        {"16mib", 16777216},
                        {"16MIB", 16777216},
                        {"5b", 5},
                        {"16 MiB", 16777216},
                        {"1.5KiB", 1536},
                        {"0.5k", 512},
                        {".5k", 512},
                        {"1.0", 1},
                        {"0.001kB", 1},
                        {"18446744073709551615", UINT64_MAX}}) {
    EXPECT_EQ(parse_bytes(c.text), c.bytes) << c.text;
  }
}

TEST(parse_bytes, refuses_with_text_reason_and_example) {
  struct Case {
    const char* text;
    const char* reason;
  };
  for (const Case& c : {Case{"", "empty"},
                        {"-1", "negative"},
                        {"-16MiB", "negative"},
                        {"MiB", "does not start with a number"},
                        {" 1", "does not start with a number"},
                        {"+1", "does not start with a number"},
                        {".", "no digit"},
                        {"1.", "no digit"},
                        {"1.KiB", "no digit"},
                        {"16XiB", "unknown unit 'XiB'"},
                        {"16MiBs", "unknown unit 'MiBs'"},
                        {"1e3", "unknown unit 'e3'"},
                        {"0x10", "unknown unit 'x10'"},
                        {"1,5", "unknown unit"},
                        {"16Mi", "unknown unit"},
                        {"16MiB ", "unknown unit"},
                        {"0.5", "whole number of bytes"},
                        {"1.0001KiB", "whole number of bytes"},
                        {"0.1234567890123456789T", "18 digits"},
                        {"18446744073709551616", "64 bits"},
                        {"99999999999999999999999999", "64 bits"},
                        {"16777216TiB", "64 bits"}}) {
    const std::string message = refusal(parse_bytes, c.text);
    EXPECT_THAT(message, HasSubstr("'" + std::string(c.text) + "'"));
    EXPECT_THAT(message, HasSubstr(c.reason));
  }
}

TEST(parse_bytes, fills_64_bits_and_no_more) {
  EXPECT_EQ(parse_bytes("16777215TiB"), std::uint64_t{16777215} << 40);
  EXPECT_EQ(parse_bytes("16777215.5TiB"), (std::uint64_t{16777215} << 40) + (std::uint64_t{1} << 39));
}

TEST(parse_byte_sizes, one_size_and_lists) {
  EXPECT_THAT(parse_byte_sizes("16MiB"), ElementsAre(16777216));
  EXPECT_THAT(parse_byte_sizes("8B,1KiB,4MiB"), ElementsAre(8, 1024, 4194304));
  EXPECT_THAT(parse_byte_sizes("0,1"), ElementsAre(0, 1));
}

TEST(parse_byte_sizes, ranges_double_and_include_their_end) {
  EXPECT_THAT(parse_byte_sizes("1B-8B"), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(parse_byte_sizes("1-6"), ElementsAre(1, 2, 4, 6));
  EXPECT_THAT(parse_byte_sizes("3-25"), ElementsAre(3, 6, 12, 24, 25));
  EXPECT_THAT(parse_byte_sizes("5-5"), ElementsAre(5));
  EXPECT_THAT(parse_byte_sizes("0,8,1KiB-4KiB"), ElementsAre(0, 8, 1024, 2048, 4096));
  EXPECT_EQ(parse_byte_sizes("1B-4MiB").size(), 23u);
}

TEST(parse_byte_sizes, ranges_with_a_factor_end_with_what_is_reached) {
  EXPECT_THAT(parse_byte_sizes("1KiB-1MiB*4"), ElementsAre(1024, 4096, 16384, 65536, 262144, 1048576));
  EXPECT_THAT(parse_byte_sizes("1-6*2"), ElementsAre(1, 2, 4));
  EXPECT_THAT(parse_byte_sizes("5-5*10"), ElementsAre(5));
  EXPECT_THAT(parse_byte_sizes("0,1-100*10,1KiB-2KiB*2"), ElementsAre(0, 1, 10, 100, 1024, 2048));
  EXPECT_THAT(parse_byte_sizes("1-18446744073709551615*4294967296"), ElementsAre(1, std::uint64_t{1} << 32));
}

TEST(parse_byte_sizes, ranges_with_a_step_end_with_what_is_reached) {
  EXPECT_THAT(parse_byte_sizes("100B-500B+100B"), ElementsAre(100, 200, 300, 400, 500));
  EXPECT_THAT(parse_byte_sizes("100-499+100"), ElementsAre(100, 200, 300, 400));
  EXPECT_THAT(parse_byte_sizes("0-2KiB+1KiB"), ElementsAre(0, 1024, 2048));
  EXPECT_THAT(parse_byte_sizes("18446744073709551614-18446744073709551615+1"), ElementsAre(UINT64_MAX - 1, UINT64_MAX));
}

TEST(parse_byte_sizes, refuses_ranges_that_do_not_grow) {
  EXPECT_THAT(refusal(parse_byte_sizes, "1KiB-1MiB*1"), AllOf(HasSubstr("'1KiB-1MiB*1'"), HasSubstr("is 1")));
  EXPECT_THAT(refusal(parse_byte_sizes, "1KiB-1MiB*0"), AllOf(HasSubstr("'1KiB-1MiB*0'"), HasSubstr("is 0")));
  EXPECT_THAT(refusal(parse_byte_sizes, "1-8+0"), AllOf(HasSubstr("'1-8+0'"), HasSubstr("step")));
  EXPECT_THAT(refusal(parse_byte_sizes, "8-4*2"), HasSubstr("'8-4*2' descends"));
  EXPECT_THAT(refusal(parse_byte_sizes, "8-4+2"), HasSubstr("'8-4+2' descends"));
  EXPECT_THAT(refusal(parse_byte_sizes, "0-4*2"), HasSubstr("'0-4*2' cannot start at 0"));
  EXPECT_THAT(refusal(parse_byte_sizes, "1-8*"), HasSubstr("factor ''"));
  EXPECT_THAT(refusal(parse_byte_sizes, "1-8*1.5"), HasSubstr("factor '1.5'"));
  EXPECT_THAT(refusal(parse_byte_sizes, "1-8*2KiB"), HasSubstr("factor '2KiB'"));
  EXPECT_THAT(refusal(parse_byte_sizes, "8*2"), HasSubstr("'*2' stands behind no range"));
  EXPECT_THAT(refusal(parse_byte_sizes, "8+2"), HasSubstr("'+2' stands behind no range"));
}

TEST(parse_byte_sizes, at_most_64) {
  EXPECT_EQ(parse_byte_sizes("1-9223372036854775808").size(), 64u);
  EXPECT_THAT(refusal(parse_byte_sizes, "1-18446744073709551615"), HasSubstr("more than 64 sizes"));
  EXPECT_THAT(refusal(parse_byte_sizes, "0,1-9223372036854775808"), HasSubstr("more than 64 sizes"));
  EXPECT_EQ(parse_byte_sizes("1-64+1").size(), 64u);
  EXPECT_THAT(refusal(parse_byte_sizes, "0-64+1"), HasSubstr("more than 64 sizes"));
  EXPECT_THAT(refusal(parse_byte_sizes, "0-16777215TiB+1"), HasSubstr("more than 64 sizes"));
}

TEST(parse_byte_sizes, refuses_what_does_not_ascend) {
  EXPECT_THAT(refusal(parse_byte_sizes, "8,8"), HasSubstr("8 B stands twice"));
  EXPECT_THAT(refusal(parse_byte_sizes, "1024,1KiB"), HasSubstr("1 KiB stands twice"));
  EXPECT_THAT(refusal(parse_byte_sizes, "1KiB,8"), HasSubstr("8 B comes after 1 KiB"));
  EXPECT_THAT(refusal(parse_byte_sizes, "8-4"), HasSubstr("'8-4' descends"));
  EXPECT_THAT(refusal(parse_byte_sizes, "0-4"), HasSubstr("cannot start at 0"));
}

TEST(parse_byte_sizes, refuses_missing_parts) {
  for (const char* text :
       {"", ",", "8,", ",8", "8,,9", "8-", "-8", "1-2-3", "8 , 9", "1-8+", "1-8*2*2", "1-8+1+1", "-*2"}) {
    EXPECT_NE(refusal(parse_byte_sizes, text), "accepted") << text;
  }
}

TEST(format_bytes, is_exact) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1000), "1000 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1536), "1536 B");
  EXPECT_EQ(format_bytes(16777216), "16 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{5} << 30), "5 GiB");
  EXPECT_EQ(format_bytes(std::uint64_t{3} << 50), "3072 TiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "18446744073709551615 B");
}

TEST(format_bytes, is_read_back_as_the_same_number) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1536}, std::uint64_t{1} << 20,
                                    std::uint64_t{7} << 40, UINT64_MAX}) {
    EXPECT_EQ(parse_bytes(format_bytes(bytes)), bytes);
  }
}

TEST(time_unit, fits_the_typical_value) {
  EXPECT_STREQ(time_unit(0).name, "ns");
  EXPECT_STREQ(time_unit(999).name, "ns");
  EXPECT_STREQ(time_unit(1000).name, "us");
  EXPECT_STREQ(time_unit(5e6).name, "ms");
  EXPECT_STREQ(time_unit(5e12).name, "s");
  EXPECT_STREQ(time_unit(std::nan("")).name, "ns");
  EXPECT_EQ(time_unit(5e6).divisor, 1e6);
}

TEST(bandwidth_unit, is_1024_based) {
  EXPECT_STREQ(bandwidth_unit(1023).name, "B/s");
  EXPECT_STREQ(bandwidth_unit(1024).name, "KiB/s");
  EXPECT_STREQ(bandwidth_unit(2e6).name, "MiB/s");
  EXPECT_STREQ(bandwidth_unit(1e13).name, "GiB/s");
  EXPECT_EQ(bandwidth_unit(2e6).divisor, 1048576);
}

TEST(format_time, has_four_digits) {
  EXPECT_EQ(format_time_ns(0), "0.000 ns");
  EXPECT_EQ(format_time_ns(1234), "1.234 us");
  EXPECT_EQ(format_time_ns(12345), "12.35 us");
  EXPECT_EQ(format_time_ns(123456), "123.5 us");
  EXPECT_EQ(format_time_ns(1.5e9), "1.500 s");
  EXPECT_EQ(format_time_ns(12345e9), "12345 s");
}

TEST(format_bandwidth, has_four_digits) {
  EXPECT_EQ(format_bandwidth(1536), "1.500 KiB/s");
  EXPECT_EQ(format_bandwidth(1023 * 1048576.0), "1023 MiB/s");
  EXPECT_EQ(format_bandwidth(std::numeric_limits<double>::infinity()), "inf GiB/s");
}

TEST(format_bandwidth, says_what_was_not_measured) {
  EXPECT_EQ(format_bandwidth(std::nan("")), "not measured");
  EXPECT_EQ(format_time_ns(std::nan("")), "not measured");
}

TEST(NumberRanges, neighbours_are_joined) {
  EXPECT_EQ(number_ranges(std::vector<int>{}), "");
  EXPECT_EQ(number_ranges(std::vector<int>{7}), "7");
  EXPECT_EQ(number_ranges(std::vector<int>{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(number_ranges(std::vector<int>{0, 2, 4}), "0,2,4");
  EXPECT_EQ(number_ranges(std::vector<int>{1, 2}), "1-2");
}

}  // namespace
}  // namespace leadline
