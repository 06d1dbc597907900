// SPDX-License-Identifier: Apache-2.0
// Bytes and lists of numbers as people write them, and times and bandwidths as people read them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leadline {

/// "16MiB" -> 16777216. A plain number is bytes; B; K M G T and KiB MiB GiB TiB are powers of 1024; kB MB GB TB are
/// powers of 1000. Upper and lower case do not differ, blanks may stand before the unit, and a fraction is fine
/// where it makes whole bytes ("1.5KiB"). Throws Error(bad_command_line) with the text, the reason and an example.
std::uint64_t parse_bytes(std::string_view text);

/// Most sizes that one sweep may have.
inline constexpr std::size_t max_byte_sizes = 64;

/// "16MiB", "8B,1KiB,4MiB" or "1B-4MiB", or a list with ranges in it. A range doubles its first size until the last
/// one, which always belongs to it: "1B-6B" is 1, 2, 4, 6. With a factor ("1KiB-1MiB*4") or a step ("100B-1000B+100B")
/// of its own it ends with the greatest size that is reached: "1B-6B*2" is 1, 2, 4. Sizes must ascend; at most
/// max_byte_sizes of them. Throws Error(bad_command_line).
std::vector<std::uint64_t> parse_byte_sizes(std::string_view text);

/// Exact, in the largest 1024-based unit that divides: "16 MiB", "1000 B", "1536 B".
std::string format_bytes(std::uint64_t bytes);

/// One decimal in the 1024-based unit that fits, for an estimate or a great sum: "1.5 KiB", "12 B".
std::string about_bytes(std::uint64_t bytes);

/// A unit that a whole column is printed in: number = value / divisor.
struct Unit {
  double divisor = 1;
  const char* name = "";
};

/// The unit (ns, us, ms, s) in which a typical value of a column has one to three digits before the point; "us" in
/// ASCII, since tables end up in job logs of any encoding. NaN and 0 give the smallest unit.
Unit time_unit(double typical_ns);

/// The same for bandwidths: B/s, KiB/s, MiB/s, GiB/s (1024-based).
Unit bandwidth_unit(double typical_bytes_per_s);

/// Four significant digits in the value's own unit: "1.234 us"; "not measured" for NaN.
std::string format_time_ns(double time_ns);
std::string format_bandwidth(double bandwidth_bytes_per_s);

/// Ascending numbers, consecutive ones joined: {0,1,2,3,8} -> "0-3,8". Empty for none.
std::string number_ranges(std::span<const int> ascending);

}  // namespace leadline
