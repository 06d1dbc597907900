// SPDX-License-Identifier: Apache-2.0
// Which ranks are slower than the others, and what takes them longer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/io_request.hpp"
#include "model/io_result.hpp"

namespace leadline::bench::io {

/// So many are named, the slowest first.
inline constexpr std::size_t num_stragglers_named = 32;

/// What a rank that moved bytes of files is judged by.
struct JudgedRank {
  std::int32_t rank = -1;
  std::int32_t file = -1;  ///< index
  std::uint64_t bytes = 0;
  double io_ns = 0;
  std::array<double, num_io_times> times_ns{};
  std::string_view host;
};

/// Those whose rate is below (1 - threshold) times the median rank's and, in its logarithm, more than 3.5 robust
/// standard deviations (1.4826 times the median absolute deviation) below it; none among fewer than four ranks.
/// `files`: names.
std::vector<Straggler> find_stragglers(const std::vector<JudgedRank>& ranks, const IoRequest& request,
                                       const std::vector<std::string>& files);

}  // namespace leadline::bench::io
