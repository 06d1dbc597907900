// SPDX-License-Identifier: Apache-2.0
// Where progress goes, and how a bar is drawn there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace leadline::output {

/// The environment of a progress display; tests replace it.
struct ProgressOutlet {
  std::function<void(std::string_view text)> write;
  std::function<int()> width;     ///< of the terminal now, in characters
  std::function<double()> now_s;  ///< any clock that only rises
};

ProgressOutlet standard_error_outlet();

/// Whether standard error is a terminal that can move its cursor.
bool is_redrawable_terminal();

/// Seconds that `total` things take beyond `done`, if they go on as fast.
double time_left_s(double done, double total, double elapsed_s);

/// With its end.
std::string line_of_lost_pair(int low, int high, const std::string& why);

/// Which shares of the work have a line in a log, where progress cannot be redrawn: the first that is known, then 1, 2,
/// 5, 10, 20, 30 ... 100 %.
class ProgressMarks {
 public:
  /// Whether the work has come to a mark, or past it, since the last call. `share`: 0 to 1.
  bool passes(double share);

 private:
  static constexpr int marks[] = {0, 1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};

  std::size_t num_passed_ = 0;
};

/// Progress of a run in rounds, in a log: a line at each mark.
class RoundLines {
 public:
  RoundLines(std::uint32_t num_rounds, ProgressOutlet outlet) : num_rounds_(num_rounds), outlet_(std::move(outlet)) {}

  /// `round`: from 0.
  void round_ends(std::uint32_t round, double elapsed_s);
  void pair_lost(int low, int high, const std::string& why) { outlet_.write(line_of_lost_pair(low, high, why)); }

 private:
  std::uint32_t num_rounds_;
  ProgressOutlet outlet_;
  ProgressMarks marks_;
};

/// One line that is redrawn at most ten times a second.
class ProgressBar {
 public:
  explicit ProgressBar(ProgressOutlet outlet) : outlet_(std::move(outlet)) {}

  bool is_due() const { return !is_drawn_ || outlet_.now_s() - drawn_at_s_ >= least_interval_s; }

  /// The text comes first; the bar takes the rest, and the last column stays free so that nothing wraps.
  void draw(double share, const std::string& before, const std::string& after);

  /// Leaves an empty line.
  void vanish();

  /// A line, with its end, in place of the bar.
  void interrupt(const std::string& line);

 private:
  static constexpr double least_interval_s = 0.1;

  ProgressOutlet outlet_;
  bool is_drawn_ = false;
  double drawn_at_s_ = 0;
};

}  // namespace leadline::output
