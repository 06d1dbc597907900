// SPDX-License-Identifier: Apache-2.0
// Netgauge's range of message sizes and the sizes it takes from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leadline::compat::netgauge {

inline constexpr std::size_t max_sizes = 10'000;

struct SizeRange {
  std::uint64_t min_bytes = 1, max_bytes = 131072;
  std::vector<std::string> remarks;  ///< where Netgauge would have read something else
};

/// "A-B", "-B" (from 1), "N". Throws Error(bad_command_line) that names `option`, as all here.
SizeRange size_range(const std::string& option, const std::string& text);

/// From min to max, which always belongs to them: 2^(grad - 1) sizes an octave.
std::vector<std::uint64_t> sizes_in(const SizeRange& range, std::uint64_t grad);

}  // namespace leadline::compat::netgauge
