// SPDX-License-Identifier: Apache-2.0
// Shuffles the hosts and takes the first.
#include "check/sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "core/error.hpp"
#include "core/random.hpp"
#include "options/values.hpp"

namespace leadline::check {

constexpr std::uint64_t fewest_hosts = 2;

std::uint64_t sample_size(const std::string& text, std::uint64_t num_hosts) {
  std::uint64_t size = 0;
  if (text.ends_with('%')) {
    constexpr double least_share = 1e-6;
    constexpr double rounding = 1e-9;  // 7 % of 100 are 7
    size = static_cast<std::uint64_t>(
        std::ceil(parse_share("--sample", text, least_share) * static_cast<double>(num_hosts) - rounding));
  } else {
    try {
      size = parse_count("--sample", text, fewest_hosts, std::numeric_limits<std::int32_t>::max());
    } catch (const Error&) {
      throw_bad_value("--sample", text, "it must be a number of hosts, at least 2, or a share such as 5%");
    }
  }
  return std::min(std::max(size, fewest_hosts), num_hosts);
}

std::vector<std::uint32_t> sampled_hosts(std::uint32_t num_hosts, std::uint64_t size, std::uint64_t seed) {
  constexpr std::uint64_t stream = 0x73616d706c65;  // "sample": unrelated to the rounds and patterns of the same seed
  std::vector<std::int32_t> order(num_hosts);
  std::iota(order.begin(), order.end(), 0);
  Random(seed, stream).shuffle(std::span(order).subspan(1));
  std::vector<std::uint32_t> hosts(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(size));
  std::ranges::sort(hosts);
  return hosts;
}

}  // namespace leadline::check
