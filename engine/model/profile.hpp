// SPDX-License-Identifier: Apache-2.0
// What pairs of each class take in good runs of a site: its profile. Definitions: docs/metrics.md, "Site profile".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace leadline {

/// Pairs of one class and message size, over all runs of a profile.
struct ProfiledClass {
  std::uint64_t message_size_bytes = 0;
  std::string name;             ///< "same socket", "between hosts", as a diagnosis names it without learnt groups
  std::uint64_t num_pairs = 0;  ///< ordered, measured, of the run that has most
  std::uint64_t num_runs = 0;   ///< that have such pairs
  double time_ns_median = 0;    ///< median over the runs of the median of the pairs
  double scatter = 0;           ///< standard deviation over the runs of the logarithm of that median; 0 = one run only
};

/// Of one run: what its pairs took, without scatter.
struct Profile {
  // Times are comparable only where these are the same.
  std::string transport, direction;
  bool is_serial = false;
  std::uint64_t ranks_per_host = 0;  ///< of the host that has most

  std::uint64_t num_runs = 0;
  std::vector<ProfiledClass> classes;
};

}  // namespace leadline
