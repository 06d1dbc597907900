// SPDX-License-Identifier: Apache-2.0
// A bisection test as text for people: its plan, its progress, its summary, and what a file has of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/bisection/hdf5_reader.hpp"
#include "bench/bisection/output.hpp"
#include "bench/bisection/plan.hpp"
#include "bench/bisection/request.hpp"
#include "bench/bisection/result.hpp"
#include "core/units.hpp"
#include "output/file_info.hpp"
#include "output/progress_outlet.hpp"

namespace leadline::bench::bisection {

/// For standard output, at the end: per message size the eBB with its interval, its share of pairs alone and why there
/// were no more patterns; the distribution over connections; named patterns; the worst one found; what is slow;
/// findings. `path`: where the result lies, empty = nowhere.
std::string bisection_summary(const BisectionResult& result, const std::string& path);

/// On standard error; mute with --quiet. `num_named`: named patterns of a message size, each counted once.
std::unique_ptr<Progress> make_bisection_progress(const BisectionRequest& request, std::size_t num_named);

/// For --dry-run.
std::string bisection_plan_text(const BisectionRequest& request, const Plan& plan);

/// "3.214 ± 0.031"; the mean alone where there is no interval, "-" where nothing was measured.
std::string plus_minus(const Interval& interval, const Unit& unit);

/// A ratio: "0.830".
std::string share_text(double share);

/// Half width / mean.
double relative_width(const Interval& interval);

/// That of the size with this index; null where no random pattern was measured.
const BisectionSummary* summary_of(const BisectionResult& result, int size_index);

bool has_random_patterns(const BisectionResult& result);

/// The eBB of all sizes goes in one unit, and so does everything beside it.
Unit unit_of_bandwidths(const BisectionResult& result);

/// For `leadline info`; reads as much of the result as that takes.
output::ResultInfo info_of(const Hdf5Reader& reader);

/// The first pattern of a message size, then the latest one every second, and the last: its mean, eBB and interval so
/// far, time since the beginning, and how long it will still take if the spread stays as it is.
std::unique_ptr<Progress> make_bisection_lines(const BisectionRequest& request, std::size_t num_named,
                                               output::ProgressOutlet outlet);

/// One line that is redrawn, and disappears at the end.
std::unique_ptr<Progress> make_bisection_bar(const BisectionRequest& request, std::size_t num_named,
                                             output::ProgressOutlet outlet);

/// All sizes, at the pace of the present one: later sizes are assumed to need as many patterns, and longer ones for
/// larger messages. The time limit ends it all.
class BisectionRemaining {
 public:
  BisectionRemaining(const BisectionRequest& request, std::size_t num_named);

  void size_begins(int size_index);
  void pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s);

  /// How many patterns of this size there will be. A guess: the half-width goes with the root of their number.
  std::uint64_t num_patterns() const { return num_random_ + num_others_; }
  std::uint64_t num_done() const { return num_random_done_ + num_others_done_; }

  double left_s() const { return left_s_; }

 private:
  double later_sizes() const;

  const BisectionRequest request_;
  const bool has_random_;
  const std::uint64_t num_others_;
  int size_index_ = 0;
  double size_began_s_ = 0, last_s_ = 0, left_s_ = 0;
  std::uint64_t num_random_ = 0, num_random_done_ = 0, num_others_done_ = 0;
};

}  // namespace leadline::bench::bisection
