// SPDX-License-Identifier: Apache-2.0
// The whole diagnosis: from a matrix of times, and pairs measured again, to the components at fault.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "model/diagnosis.hpp"
#include "model/samples.hpp"

namespace leadline::diagnosis {

struct OrderedPair {
  std::uint32_t from = 0, to = 0;
};

/// The load under which pairs are measured again.
enum class Load : std::uint8_t {
  alone,       ///< no other rank measures
  concurrent,  ///< all other ranks measure at the same time, in pairs
};

/// What a pair took; NaN = not measured.
struct RetestTimes {
  double median_ns = std::numeric_limits<double>::quiet_NaN(), mean_ns = std::numeric_limits<double>::quiet_NaN();
};

/// Collective over the holders of rows: these pairs measured again, one after the other.
using Retest = std::function<std::vector<RetestTimes>(std::span<const OrderedPair> pairs, Load load)>;

/// What was measured again already.
struct Recorded {
  Retest retest{};                   ///< NaN for all other pairs; empty where there is nothing
  std::vector<OrderedPair> pairs{};  ///< all that were measured alone
};
Recorded recorded(std::span<const SecondMeasurement> measured);

/// So many pairs of a slice are measured again alone, whatever is suspected.
inline constexpr std::size_t num_by_chance = 16;

/// Collective: at most `most` ordered pairs by chance, of those between hosts (inside, where there is one host).
std::vector<OrderedPair> random_pairs(const Rows& rows, const Layout& layout, std::size_t most);

struct Question {
  /// Collective: ln of median times in ns, or for Symptom::unsteady of mean over median. Invalidates what it gave
  /// before.
  std::function<const Rows&(Symptom symptom)> rows;
  const Layout& layout;
  DiagnosisSettings settings{};
  std::uint64_t num_pairs = 0;          ///< ordered pairs to measure
  bool has_means = true;                ///< whether rows() has anything for Symptom::unsteady
  Retest retest{};                      ///< empty = nothing can be measured again
  std::vector<OrderedPair> retested{};  ///< where a file tells what was measured again: all that retest() knows
  bool may_learn = true;         ///< whether groups of hosts may be learnt from the rows: from times, not from ratios
  bool are_times = true;         ///< that rows() gives for Symptom::slow; not ratios of two times
  Load load = Load::concurrent;  ///< under which the test has measured
  bool has_many_loads = false;   ///< under which ranks were measured, so what they share cables with averages out
  bool is_contended = false;     ///< what pairs take under load is known to differ from what they take alone, by chance
  bool is_round_trip = false;    ///< a pair's time is half of a round trip: both orders of a pair show the same path
};

/// Fills in what share of the time each fault costs, by the medians of the classes.
void share_time(const Setting& setting, Diagnosis& diagnosis);

/// Collective; the same on all holders of rows. Deterministic.
Diagnosis diagnose(const Question& question);

}  // namespace leadline::diagnosis
