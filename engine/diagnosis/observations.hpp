// SPDX-License-Identifier: Apache-2.0
// Results that are no matrix as rows of a diagnosis: messages between some pairs of ranks, all under load, pairs of
// which some were measured alone, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/layout.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// A message, while others were under way.
struct Observation {
  std::uint32_t from = 0, to = 0;
  double time_ns = 0;
};

/// One message size of a pattern.
struct ObservedSlice {
  int size_index = 0;
  std::uint64_t message_size_bytes = 0;
  std::string pattern;  ///< see DiagnosedSlice
  std::vector<Observation> observations;
  std::vector<Observation> alone;     ///< pairs, in either order, by chance
  std::vector<Observation> retested;  ///< pairs that were slow, likewise alone: the best of several
  bool is_exchange = false;           ///< both orders of a pair were measured at once, and each waits for the other
  bool is_exchange_of_all = false;    ///< all pairs at once, each time the same ones
};

/// Of each ordered pair one observation, sorted by pair: the lower quartile of its times, since others that pass the
/// same way make a pair slower and never faster. Of two times it is nearer to the lesser one.
std::vector<Observation> joined_by_pair(std::vector<Observation> observations);

/// The same as of a link test, but for what follows from the load: others that pass the same way make a pair slower.
/// So what alone is as fast as others is no fault of a host or rank; a host that is fast with some others is not slow
/// by itself; and a link is a fault only where it is slow alone. Under one load a host or rank is a fault where most of
/// its messages are slow in both directions, each beside other messages of the same partner; all else only where it is
/// slow alone.
DiagnosedSlice diagnosed(const ObservedSlice& slice, const Layout& layout, const DiagnosisSettings& settings);

/// What is said of one message size of a pattern by which nobody can be judged.
DiagnosedSlice untested(const ObservedSlice& slice, const Layout& layout, const DiagnosisSettings& settings,
                        std::string why);

}  // namespace leadline::diagnosis
