// SPDX-License-Identifier: Apache-2.0
// What a user asked of `leadline bisection`: one member per option, same names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/diagnosis.hpp"
#include "model/request.hpp"

namespace leadline {
class OptionTable;
}
namespace leadline::bench::bisection {

/// Sizes in bytes, times in seconds.
struct BisectionRequest : RunRequest {
  std::vector<std::string> patterns{"random"};  ///< --pattern: "random" and names of schedule/pattern.hpp
  std::uint64_t seed = 1;                       ///< of random patterns and all other draws
  int active_ranks_per_host = 0;                ///< so many ranks of each host take part; 0 = all
  bool within_hosts = false;                    ///< random pairs may lie on one host
  std::uint64_t num_exchanges = 20;             ///< timed, back to back, in a pattern
  std::uint64_t num_warmup = 2;                 ///< untimed, before those
  std::uint64_t rounds = 1000;                  ///< at most so many random patterns of a message size
  double precision = 0.01;    ///< a size is done when the half-width of its interval is below this share of the mean;
                              ///< 0 = never
  double time_limit_s = 120;  ///< for all sizes together; 0 = none
  std::uint32_t num_baseline_pairs = 1;  ///< --baseline-pairs: measured alone behind each random pattern; 0 = none
  std::uint32_t num_worst_steps = 0;     ///< --worst: steps of the search for bad patterns; 0 = none
  std::uint32_t retest = 10;             ///< so many connections are measured again, alone
  std::uint32_t num_buckets = 10;        ///< of the histogram over all connections
  std::string topology;                  ///< the physical network: a formula, a file, a pattern; empty = unknown
  DiagnosisSettings diagnosis;           ///< a connection is slow, too, below (1 - threshold) of the median connection
};

/// See bench/run_options.hpp.
void declare_options(OptionTable& options, BisectionRequest& request, std::optional<ResultFormat>& format);

}  // namespace leadline::bench::bisection
