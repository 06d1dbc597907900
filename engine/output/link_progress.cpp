// SPDX-License-Identifier: Apache-2.0
// The two ways to show progress, and the choice between them.
#include "output/link_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {

namespace {

using bench::link::Progress;
using bench::link::RoundNumbers;

/// Elapsed time times what remains over what is done.
double time_left_s(std::int64_t round, std::int64_t num_rounds, double elapsed_s) {
  return elapsed_s * static_cast<double>(num_rounds - round) / static_cast<double>(std::max<std::int64_t>(round, 1));
}

class NoProgress : public Progress {
 public:
  void slice_begins(const Slice&, int, int) override {}
  void round_done(const RoundNumbers&, std::int64_t, double) override {}
  void retest_done(const SlowPair&) override {}
  void slice_ends(const SliceSummary&) override {}
};

class LineProgress : public Progress {
 public:
  LineProgress(Direction direction, ProgressOutlet outlet) : direction_(direction), outlet_(std::move(outlet)) {}

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
                    format_duration(elapsed_s), format_duration(time_left_s(round.round, num_rounds, elapsed_s))));
  }

  void retest_done(const SlowPair& pair) override {
    outlet_.write(fmt::format("retest {} -> {}: {} at first, {} alone\n", pair.from, pair.to,
                              format_time_ns(pair.time_ns), format_time_ns(pair.retest_time_ns)));
  }

  void slice_ends(const SliceSummary&) override {}

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

class BarProgress : public Progress {
 public:
  explicit BarProgress(ProgressOutlet outlet) : outlet_(std::move(outlet)) {}

  void slice_begins(const Slice& slice, int slice_number, int num_slices) override {
    title_ = format_bytes(slice.message_size_bytes);
    if (num_slices > 1) title_ += fmt::format(" ({}/{})", slice_number, num_slices);
    num_retested_ = 0;
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    if (!is_due() && round.round < num_rounds) return;
    const std::string left = format_duration(time_left_s(round.round, num_rounds, elapsed_s));
    const double share = static_cast<double>(round.round) / static_cast<double>(std::max<std::int64_t>(num_rounds, 1));
    draw(share, fmt::format("{} round {}/{}", title_, round.round, num_rounds),
         fmt::format("{} left, mean {}", left, format_time_ns(round.time_ns_mean)));
  }

  void retest_done(const SlowPair& pair) override {
    ++num_retested_;
    if (is_due())
      draw(1, fmt::format("{} retest {}", title_, num_retested_), fmt::format("{} -> {}", pair.from, pair.to));
  }

  void slice_ends(const SliceSummary&) override {
    if (is_drawn_) outlet_.write(erase_line);
    is_drawn_ = false;
  }

 private:
  static constexpr const char* erase_line = "\r\x1b[K";
  static constexpr double least_interval_s = 0.1;
  static constexpr std::size_t least_bar = 10, greatest_bar = 40;

  bool is_due() const { return !is_drawn_ || outlet_.now_s() - drawn_at_s_ >= least_interval_s; }

  /// The words come first; the bar takes what they leave, and the last column stays free so that nothing wraps.
  void draw(double share, const std::string& before, const std::string& after) {
    const auto width = static_cast<std::size_t>(std::max(outlet_.width() - 1, 1));
    std::string line = before;
    const std::size_t words = before.size() + after.size() + 4;
    if (width >= words + least_bar) {
      const std::size_t bar = std::min(greatest_bar, width - words);
      const auto done = static_cast<std::size_t>(share * static_cast<double>(bar));
      line += fmt::format(" [{}{}] {}", std::string(done, '#'), std::string(bar - done, '.'), after);
    } else if (width >= before.size() + after.size() + 2) {
      line += ", " + after;
    }
    if (line.size() > width) line.resize(width);
    outlet_.write(erase_line + line);
    is_drawn_ = true;
    drawn_at_s_ = outlet_.now_s();
  }

  ProgressOutlet outlet_;
  std::string title_;
  int num_retested_ = 0;
  bool is_drawn_ = false;
  double drawn_at_s_ = 0;
};

int terminal_width() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

double steady_now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::unique_ptr<Progress> make_line_progress(Direction direction, ProgressOutlet outlet) {
  return std::make_unique<LineProgress>(direction, std::move(outlet));
}

std::unique_ptr<Progress> make_bar_progress(ProgressOutlet outlet) {
  return std::make_unique<BarProgress>(std::move(outlet));
}

std::unique_ptr<Progress> make_progress(const LinkRequest& request) {
  if (request.quiet) return std::make_unique<NoProgress>();
  const auto write = [](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  };
  const char* terminal = std::getenv("TERM");
  const bool can_redraw = terminal != nullptr && std::string_view(terminal) != "dumb";
  const ProgressOutlet outlet{write, terminal_width, steady_now_s};
  if (can_redraw && ::isatty(STDERR_FILENO) == 1) return make_bar_progress(outlet);
  return make_line_progress(request.direction, outlet);
}

}  // namespace leadline::output
