// SPDX-License-Identifier: Apache-2.0
// The two ways to show progress, and the choice between them.
#include "output/link_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {

namespace {

using bench::link::RoundNumbers;

double left_s(std::int64_t round, std::int64_t num_rounds, double elapsed_s) {
  return time_left_s(static_cast<double>(round), static_cast<double>(num_rounds), elapsed_s);
}

class LinkLineProgress : public bench::link::Progress {
 public:
  LinkLineProgress(Direction direction, ProgressOutlet outlet) : direction_(direction), outlet_(std::move(outlet)) {}

  void slice_begins(const Slice& slice, int slice_number, int num_slices) override {
    slice_ = slice;
    so_far_ = {};
    std::string text = fmt::format("message size {}", format_bytes(slice.message_size_bytes));
    if (num_slices > 1) text += fmt::format(" ({} of {})", slice_number, num_slices);
    if (slice.repeat > 0) text += fmt::format(", repeat {}", slice.repeat + 1);
    if (slice.permutation >= 0) text += fmt::format(", permutation {}", slice.permutation + 1);
    title_ = std::move(text);
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    if (so_far_.num_pairs == 0) begin_table(round, num_rounds);
    add(round);
    const std::string number = fmt::format("{}/{}", round.round, num_rounds);
    outlet_.write(
        fmt::format("{:>{}} {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} |{} {:>10} {:>10}\n",
                    number, number_width_, time(round.time_ns_min), time(round.time_ns_mean), time(round.time_ns_max),
                    bandwidth(round.time_ns_min), bandwidth(round.time_ns_mean), bandwidth(round.time_ns_max),
                    time(so_far_.time_ns_min), time(so_far_.time_ns_mean), time(so_far_.time_ns_max), across(round),
                    format_duration(elapsed_s), format_duration(left_s(round.round, num_rounds, elapsed_s))));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    outlet_.write(line_of_lost_pair(low, high, why));
  }

  void retest_done(const SlowPair& pair) override {
    outlet_.write(fmt::format("retest {} -> {}: {} at first, {} alone\n", pair.from, pair.to,
                              format_time_ns(pair.time_ns), format_time_ns(pair.retest_time_ns)));
  }

 private:
  std::string time(double time_ns) const { return in_unit(time_ns, time_unit_); }
  std::string bandwidth(double time_ns) const {
    return in_unit(bandwidth_bytes_per_s(time_ns, slice_.message_size_bytes, direction_), bandwidth_unit_);
  }

  /// What crosses the cut in a round of a bisection; nothing elsewhere.
  std::string across(const RoundNumbers& round) const {
    if (!round.bisection_bytes_per_s) return "";
    const auto& [num, min, mean, max] = *round.bisection_bytes_per_s;
    return fmt::format(" {:>10} {:>10} {:>10} |", in_unit(min, cut_unit_), in_unit(mean, cut_unit_),
                       in_unit(max, cut_unit_));
  }

  void begin_table(const RoundNumbers& first, std::int64_t num_rounds) {
    time_unit_ = time_unit(first.time_ns_mean);
    bandwidth_unit_ = bandwidth_unit(bandwidth_bytes_per_s(first.time_ns_mean, slice_.message_size_bytes, direction_));
    const bool has_cut = first.bisection_bytes_per_s.has_value();
    if (has_cut) cut_unit_ = bandwidth_unit(first.bisection_bytes_per_s->mean);
    number_width_ = std::max<std::size_t>(5, 2 * std::to_string(num_rounds).size() + 1);
    const std::string groups = fmt::format(
        "{:>{}} {:^32} | {:^32} | {:^32} |{}", "", number_width_, fmt::format("this round, {}", time_unit_.name),
        fmt::format("this round, {}", bandwidth_unit_.name), fmt::format("rounds so far, {}", time_unit_.name),
        has_cut ? fmt::format(" {:^32} |", fmt::format("across the cut, {}", cut_unit_.name)) : "");
    const std::string titles =
        fmt::format("{:>{}} {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} | {:>10} {:>10} {:>10} |{} {:>10} {:>10}",
                    "round", number_width_, "min", "mean", "max", "at min", "at mean", "at max", "min", "mean", "max",
                    has_cut ? fmt::format(" {:>10} {:>10} {:>10} |", "min", "mean", "max") : "", "elapsed", "left");
    outlet_.write(fmt::format("{}\n{}\n{}\n", title_, groups, titles));
  }

  void add(const RoundNumbers& round) {
    if (so_far_.num_pairs == 0) {
      so_far_ = round;
      return;
    }
    const auto pairs_before = static_cast<double>(so_far_.num_pairs);
    const auto pairs_now = static_cast<double>(round.num_pairs);
    so_far_.time_ns_min = std::min(so_far_.time_ns_min, round.time_ns_min);
    so_far_.time_ns_max = std::max(so_far_.time_ns_max, round.time_ns_max);
    so_far_.time_ns_mean =
        (so_far_.time_ns_mean * pairs_before + round.time_ns_mean * pairs_now) / (pairs_before + pairs_now);
    so_far_.num_pairs += round.num_pairs;
  }

  Direction direction_;
  ProgressOutlet outlet_;
  Slice slice_;
  std::string title_;
  RoundNumbers so_far_;
  Unit time_unit_, bandwidth_unit_, cut_unit_;
  std::size_t number_width_ = 5;
};

class LinkBarProgress : public bench::link::Progress {
 public:
  explicit LinkBarProgress(const ProgressOutlet& outlet) : outlet_(outlet), bar_(outlet) {}

  void slice_begins(const Slice& slice, int slice_number, int num_slices) override {
    title_ = format_bytes(slice.message_size_bytes);
    if (num_slices > 1) title_ += fmt::format(" ({}/{})", slice_number, num_slices);
    num_retested_ = 0;
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    if (!bar_.is_due() && round.round < num_rounds) return;
    const std::string left = format_duration(left_s(round.round, num_rounds, elapsed_s));
    const double share = static_cast<double>(round.round) / static_cast<double>(std::max<std::int64_t>(num_rounds, 1));
    bar_.draw(share, fmt::format("{} round {}/{}", title_, round.round, num_rounds),
              fmt::format("{} left, mean {}", left, format_time_ns(round.time_ns_mean)));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    bar_.interrupt(line_of_lost_pair(low, high, why));
  }

  void retest_done(const SlowPair& pair) override {
    ++num_retested_;
    if (!bar_.is_due()) return;
    bar_.draw(1, fmt::format("{} retest {}", title_, num_retested_), fmt::format("{} -> {}", pair.from, pair.to));
  }

  void slice_ends(const SliceSummary&) override { bar_.vanish(); }

 private:
  ProgressOutlet outlet_;
  ProgressBar bar_;
  std::string title_;
  int num_retested_ = 0;
};

}  // namespace

std::unique_ptr<bench::link::Progress> make_line_progress(Direction direction, ProgressOutlet outlet) {
  return std::make_unique<LinkLineProgress>(direction, std::move(outlet));
}

std::unique_ptr<bench::link::Progress> make_bar_progress(ProgressOutlet outlet) {
  return std::make_unique<LinkBarProgress>(std::move(outlet));
}

std::unique_ptr<bench::link::Progress> make_progress(const LinkRequest& request) {
  if (request.quiet) return std::make_unique<bench::link::Progress>();
  if (is_redrawable_terminal()) return make_bar_progress(standard_error_outlet());
  return make_line_progress(request.direction, standard_error_outlet());
}

}  // namespace leadline::output
