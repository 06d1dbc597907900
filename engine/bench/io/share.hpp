// SPDX-License-Identifier: Apache-2.0
// A rank's part of a phase: which file it opens and with whom, whose objects it moves, where they lie. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/io/plan.hpp"
#include "model/io_request.hpp"
#include "model/io_result.hpp"
#include "storage/page_cache.hpp"

namespace leadline::bench::io {

struct Share {
  std::int32_t file = -1;  ///< that this rank opens, or whose opener does its I/O; -1 = there are no files
  bool opens = false;
  std::vector<std::int32_t> openers;  ///< of this file, ascending, this rank included; empty where it opens none
  std::vector<std::int32_t> owners;   ///< whose objects it moves to or from the file, ascending

  bool is_lowest_opener(int rank) const { return opens && openers.front() == rank; }
};

Share share_of(const IoRequest& request, const Plan& plan, IoOperation operation, int rank);

/// Objects [0, num_objects) of these ranks, which lie in one file; neighbours are joined.
std::vector<storage::ByteRange> stretches_of(const schedule::FileLayout& layout,
                                             const std::vector<std::int32_t>& owners, std::uint64_t num_objects);

/// Whether a rank is the lowest of these on its host.
bool is_lowest_on_host(const std::vector<std::int32_t>& ranks, int rank, std::span<const std::uint32_t> host_of);

}  // namespace leadline::bench::io
