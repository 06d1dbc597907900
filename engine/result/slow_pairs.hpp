// SPDX-License-Identifier: Apache-2.0
// What the retest says about a slow pair: whether it is slow alone, or only under load.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/link_result.hpp"

namespace leadline::result {

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

/// A slow pair with everything that is said about it.
struct SlowPairDetails {
  SlowPair pair;
  std::string from_host, to_host;
  double ratio = 0;  ///< time under load / time alone; NaN = not retested
  Verdict verdict = Verdict::not_retested;
};

/// The slowest pairs of a slice; host names are empty where the result has none.
std::vector<SlowPairDetails> slow_pairs_of(const LinkResult& result, std::size_t slice_index);

}  // namespace leadline::result
