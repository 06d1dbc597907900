// SPDX-License-Identifier: Apache-2.0
// What a user asked of `leadline topology`: one member per option, same names.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/named.hpp"
#include "diagnosis/exchange.hpp"
#include "model/diagnosis.hpp"
#include "model/request.hpp"
#include "schedule/topology.hpp"

namespace leadline {
class OptionTable;
}
namespace leadline::bench::topology {

/// Which rate a table shows; formulas in docs/metrics.md.
enum class Rate : std::uint8_t { local, total, average };

/// Sizes in bytes, times in seconds.
struct TopologyRequest : RunRequest {
  std::vector<std::string> patterns{"star", "star2", "complete", "complete2", "ring", "ring2"};  ///< --pattern
  std::string edges_file;                                         ///< --edges; empty = none
  schedule::ChannelMode mode = schedule::ChannelMode::both_ways;  ///< of patterns that have none of their own
  std::uint64_t num_iterations = 100;                             ///< timed exchanges of one cell
  std::uint64_t num_warmup = 10;                                  ///< untimed ones before them
  std::uint64_t num_traced = 10;      ///< untimed ones behind them, in which each message's arrival is noted
  std::uint32_t retest = 20;          ///< so many pairs are measured again, alone, and as many by chance
  std::uint32_t max_outstanding = 0;  ///< channels of a rank that are under way at once; 0 = all
  bool shared_buffers = false;        ///< all channels of a rank send from one buffer and receive into one
  double duration_s = 0;              ///< load for so long, everything verified; 0 = measure each cell once a repeat
  std::uint64_t verify_every = 1;     ///< with duration: every so many exchanges is verified
  bool stop_at_first = false;         ///< with duration: the first wrong byte ends it
  std::string topology;               ///< the physical network: a formula, a file, a pattern; empty = unknown
  DiagnosisSettings diagnosis{.threshold = leadline::diagnosis::least_of_exchange};
  Rate rate = Rate::total;  ///< of the table on standard output
};

/// How a pair is measured alone: so often, of which the least counts (guessed), with so many round trips each time,
/// begun by either rank.
inline constexpr int attempts_alone = 3;
inline std::uint64_t traced_alone(const TopologyRequest& request) {
  return std::min<std::uint64_t>(request.num_traced, 5);
}

const char* name_of(Rate rate);
std::span<const Named<Rate>> names_of(Rate any);

/// See bench/run_options.hpp.
void declare_options(OptionTable& options, TopologyRequest& request, std::optional<ResultFormat>& format);

}  // namespace leadline::bench::topology
