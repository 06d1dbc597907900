// SPDX-License-Identifier: Apache-2.0
// The one list that pairs what a rank did in a phase with the tables that it goes to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/io_result.hpp"

namespace leadline::result::io {

/// Bit 0: before the phase, bit 1: behind it, the page cache could be asked.
inline std::uint8_t cache_known(const RankPhase& its) {
  return static_cast<std::uint8_t>((its.cache_before.is_known ? 1 : 0) | (its.cache_after.is_known ? 2 : 0));
}

/// Calls visit(name, value) for every table of /io/ranks, always in the same order; a value is a double, a whole number
/// or an array of those. The time of the end comes last: where that is not 0, all else is there.
template <typename Visit>
void each_rank_column(const RankPhase& its, const Visit& visit) {
  visit("begin_ns", its.begin_ns);
  visit("io_ns", its.io_ns);
  for (std::size_t index = 0; index < num_io_times; ++index) {
    visit(std::string(name_of(static_cast<IoTime>(index))) + "_ns", its.times_ns.at(index));
  }
  visit("num_objects", its.num_objects);
  visit("bytes", its.bytes);
  visit("message_bytes", its.message_bytes);
  visit("num_calls", its.num_calls);
  visit("num_continued", its.num_continued);
  visit("bytes_at_stop", its.bytes_at_stop);
  visit("num_mismatches", its.num_mismatches);
  visit("call_ns_min", its.call_ns_min);
  visit("call_ns_max", its.call_ns_max);
  visit("file", its.file);
  visit("latencies", its.latencies);
  visit("series_bin_ns", its.series.bin_ns);
  visit("series_bytes", its.series.bytes);
  visit("cache_known", cache_known(its));
  visit("cache_pages", its.cache_before.is_known ? its.cache_before.pages : its.cache_after.pages);
  visit("cached_before", its.cache_before.cached);
  visit("dirty_before", its.cache_before.dirty);
  visit("writeback_before", its.cache_before.writeback);
  visit("cached_after", its.cache_after.cached);
  visit("dirty_after", its.cache_after.dirty);
  visit("writeback_after", its.cache_after.writeback);
  visit("end_ns", its.end_ns);
}

}  // namespace leadline::result::io
