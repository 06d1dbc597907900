// SPDX-License-Identifier: Apache-2.0
// Values of historical options, turned into numbers; errors name the option, the value and what it may be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/link/output.hpp"
#include "model/result.hpp"

namespace leadline::compat {

inline constexpr std::uint64_t max_message_size_bytes = std::uint64_t{1} << 40;
inline constexpr std::uint64_t max_count = 1'000'000'000'000;
inline constexpr std::uint64_t max_repeats = 100'000;
inline constexpr std::uint64_t max_retests = 100'000;

/// Throws Error(bad_command_line).
[[noreturn]] void refuse(const std::string& problem, const std::string& why, const std::string& hint);

/// An option as it stands in one word of the line, "--name", "--name=value", "-n" or "-nvalue".
struct OptionToken {
  std::string option;
  std::optional<std::string> value;
};

OptionToken taken_apart(const std::string& word);

/// Which numbers an option takes, and whose help says more.
struct NumberRange {
  std::uint64_t min = 0, max = max_count;
  const char* program = "";
};

/// A plain whole number. Throws Error(bad_command_line), as all here.
std::uint64_t whole_number(const std::string& option, const std::string& text, const NumberRange& range);

/// A plain number, fraction allowed, from `min`; never infinite.
double number_from(const std::string& option, const std::string& text, double min, const char* program);

/// Over ordered pairs, nanoseconds a message. With as many pairs in every round, the mean is also the mean of the
/// rounds' means, which is what LinkTest calls its overall average.
struct Times {
  std::uint64_t num_pairs = 0;
  double min_ns = 0, mean_ns = 0, max_ns = 0;

  void add(const Times& other) {
    if (other.num_pairs == 0) return;
    if (num_pairs == 0) {
      *this = other;
      return;
    }
    const auto before = static_cast<double>(num_pairs), now = static_cast<double>(other.num_pairs);
    min_ns = std::min(min_ns, other.min_ns);
    max_ns = std::max(max_ns, other.max_ns);
    mean_ns = (mean_ns * before + other.mean_ns * now) / (before + now);
    num_pairs += other.num_pairs;
  }
};

inline Times times_of(const bench::link::RoundNumbers& round) {
  return {round.num_pairs, round.time_ns_min, round.time_ns_mean, round.time_ns_max};
}

/// Of one value.
inline Times times_of(double time_ns) { return {1, time_ns, time_ns, time_ns}; }

/// Hosts by rank out of the ranks of each host.
std::vector<std::string> host_of_each_rank(const std::vector<HostRanks>& hosts);

}  // namespace leadline::compat
