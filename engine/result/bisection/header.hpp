// SPDX-License-Identifier: Apache-2.0
// Everything that the result file of a bisection test says beside its measurements.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "model/bisection_result.hpp"
#include "result/hdf5/facts.hpp"
#include "result/run_header.hpp"

namespace leadline::result::bisection {

/// A result without its numbers. Lists are in the order of the file.
struct Header : RunHeader {
  hdf5::Texts<64> pattern_names;  ///< of the named patterns
  std::int64_t num_participants = 0;
  std::int64_t num_exchanges = 0;  ///< timed, of a pattern
  std::uint64_t seed = 0;
  bool within_hosts = false;
  std::uint64_t max_patterns = 0;  ///< of a message size: there is room for so many
  std::uint64_t max_baseline = 0;  ///< likewise for pairs alone
};

/// What a run knows before its first message: not complete, no nonce, no room.
Header header_of(const BisectionResult& so_far);

}  // namespace leadline::result::bisection

namespace leadline {

template <>
inline constexpr auto fields<result::bisection::Header> = std::tuple{
    field("num_participants", &result::bisection::Header::num_participants, "1", "ranks that take part in patterns"),
    field("num_exchanges", &result::bisection::Header::num_exchanges, "1", "timed exchanges of a pattern"),
    field("seed", &result::bisection::Header::seed, "", "of random patterns"),
    field("within_hosts", &result::bisection::Header::within_hosts, "",
          "random pairs may lie on one host: asked for, or there is only one"),
    field("pattern_names", &result::bisection::Header::pattern_names, "", "named patterns: halves, shift:3"),
};

}  // namespace leadline
