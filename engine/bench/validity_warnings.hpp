// SPDX-License-Identifier: Apache-2.0
// Validity warnings that all benchmarks share.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/adapter.hpp"
#include "model/provenance.hpp"
#include "model/result.hpp"

namespace leadline::bench {

/// Ranks whose adapters the kernel tells the same of.
struct AdapterGroup {
  cluster::Adapter adapter;  ///< of the first of them
  std::uint64_t num_ranks = 0;
  std::set<std::string> hosts;
};

/// What a rank of a host copies from memory to memory.
struct HostMemory {
  std::string host;
  double bytes_per_s = 0;
};

/// Less of what most hosts copy is told.
inline constexpr double least_share_of_copy = 0.7;

/// Over the hosts; 0 where there are none.
double median_copy(const std::vector<HostMemory>& hosts);

/// The conditions of a run that can make it invalid.
struct Conditions {
  double ranks_per_core_max = 0;  ///< on the fullest host
  bool is_bound = true;           ///< false where a rank may run on all cores of a host that it shares with others
  WaitMode wait = WaitMode::spin;
  ClockInfo clock;
  bool simulated = false;
  std::vector<HostMemory> memories;    ///< on rank 0 alone, none where all are on one host
  std::vector<AdapterGroup> adapters;  ///< those of most ranks first; on rank 0 alone, none where all are on one host
};

/// The shortest thing that a benchmark has timed with one reading of the clock at either end, and the text about it.
struct ShortestTimed {
  double time_ns = 0;            ///< infinite where nothing was timed
  const char* name = "";         ///< "fastest message"
  const char* consequence = "";  ///< what is inexact when the clock is coarse
  const char* advice = "";
};

/// Oversubscribed, clock too coarse, adapters, memory, not bound: most serious first. Nothing where times are
/// simulated, since virtual time does not depend on this machine.
std::vector<Finding> machine_validity_warnings(const Conditions& conditions, const ShortestTimed& shortest);

std::optional<Finding> simulated(const Conditions& conditions);

/// Names for the message of a finding: the first five, and how many more there are.
std::string listed(const std::vector<std::string>& names);

}  // namespace leadline::bench
