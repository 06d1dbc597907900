// SPDX-License-Identifier: Apache-2.0
// The few numbers that describe a slice, from its summary or, where there is none, from its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/link/reader.hpp"
#include "bench/link/result.hpp"
#include "core/named.hpp"

namespace leadline::bench::link {

/// Of header().repeats[repeat_index] and that size: as the summary has it, NaN for what that of an older file lacks.
/// Without a summary all rows are read several times: all but the interval of the median; memory is that of one row and
/// 512 KiB for each order statistic.
PairSummary slice_facts(ResultReader& reader, std::size_t repeat_index, std::size_t size_index);

/// The slices that have a diagnosis, in the order measured.
std::vector<DiagnosedSlice> diagnosed_slices(const LinkResult& result);

enum class Verdict : std::uint8_t {
  not_retested,
  not_slow,         ///< below slow_factor times the median of its class already under load
  slow_alone_too,   ///< slow under load, and alone slow or hardly faster
  only_under_load,  ///< slow under load, not alone, and by more than jitter
};

/// How many times the median of its class (same host, between hosts) a time must reach to be called slow. A guess
/// that keeps jitter out and halved links in.
inline constexpr double slow_factor = 1.5;

/// How many times its time alone a pair's time under load must be to blame the load: a pair just above the line
/// of slow_factor must not change its verdict by jitter. A guess.
inline constexpr double load_factor = 1.2;

/// "slow_alone_too"; the word in files.
const char* name_of(Verdict verdict);
std::span<const Named<Verdict>> names_of(Verdict any);

/// A slow pair with everything that is said about it.
struct SlowPairDetails {
  SlowPair pair;
  std::string from_host, to_host;
  double ratio = 0;  ///< time under load / time alone; NaN = not retested
  Verdict verdict = Verdict::not_retested;
};

/// The slowest pairs of a slice; host names are empty where the result has none.
std::vector<SlowPairDetails> slow_pairs_of(const LinkResult& result, std::size_t slice_index);

}  // namespace leadline::bench::link
