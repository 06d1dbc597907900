// SPDX-License-Identifier: Apache-2.0
// The slow ranks of a phase, and its few slow calls and wrong objects that are reported one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.hpp"
#include "model/io_request.hpp"
#include "model/io_result.hpp"

namespace leadline::bench::io {

struct SlowAndWrong {
  std::vector<SlowCall> slow_calls;  ///< slowest first
  std::vector<WrongObject> wrong;    ///< worst first
};

/// Collective: the slowest `num_slow` calls and the worst `num_wrong` objects of all ranks, on all ranks: of calls that
/// took equally long, and of wrong objects of one kind, those of the lowest ranks. Travels in texts of that length.
SlowAndWrong worst_of_all(cluster::Cluster& cluster, SlowAndWrong own, std::size_t num_slow, std::size_t num_wrong);

/// How many are named, slowest first.
inline constexpr std::size_t num_stragglers_named = 32;

/// The numbers by which a rank that moved bytes of files is judged.
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
