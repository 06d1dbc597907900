// SPDX-License-Identifier: Apache-2.0
// Lines and a bar for a bisection test, and the time that remains, from its interval so far.
#include "bench/bisection/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "bench/bisection/stopping.hpp"
#include "bench/bisection/text.hpp"
#include "bench/plan.hpp"
#include "core/units.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

std::uint64_t random_patterns_for(const BisectionRequest& request, const Interval& so_far) {
  if (!(request.precision > 0) || !std::isfinite(so_far.half_width)) return request.rounds;
  const double ratio = so_far.half_width / (so_far.mean * request.precision);
  const double num =
      std::min(std::ceil(static_cast<double>(so_far.num) * ratio * ratio), static_cast<double>(request.rounds));
  const std::uint64_t least = std::max(bench::bisection::Stopping::min_patterns, so_far.num);
  return std::min(std::max(static_cast<std::uint64_t>(num), least), request.rounds);
}

constexpr double pattern_line_interval_s = 1;

class BisectionLineProgress final : public bench::bisection::Progress {
 public:
  BisectionLineProgress(const BisectionRequest& request, std::size_t num_named, ProgressOutlet outlet)
      : remaining_(request, num_named), outlet_(std::move(outlet)) {
    number_width_ = std::to_string(std::max<std::uint64_t>(request.rounds, 1'000'000)).size();
  }

  void size_begins(int size_index, std::uint64_t message_size_bytes) override {
    remaining_.size_begins(size_index);
    message_size_bytes_ = message_size_bytes;
    has_titles_ = false;
  }

  void pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s) override {
    remaining_.pattern_ends(summary, so_far, elapsed_s);
    if (!has_titles_) write_titles(summary);
    waiting_ = line(summary, so_far, elapsed_s);
    if (outlet_.now_s() < next_line_s_) return;
    write_waiting();
  }

  void retest_done(const SlowConnection& connection) override {
    write_waiting();
    outlet_.write(fmt::format("retest {} -> {}: {} with all others, {} alone\n", connection.from, connection.to,
                              format_time_ns(connection.time_ns), format_time_ns(connection.alone_time_ns)));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    write_waiting();
    outlet_.write(line_of_lost_pair(low, high, why));
  }

  void size_ends(const BisectionSummary&) override { write_waiting(); }

 private:
  void write_titles(const PatternSummary& first) {
    unit_ = bandwidth_unit(first.bytes_per_s_mean);
    outlet_.write(fmt::format("message size {}\n{:>{}}  {:<14} {:>12} {:>12} {:>8} {:>11} {:>11}\n",
                              format_bytes(message_size_bytes_), "pattern", number_width_, "", unit_.name, "eBB so far",
                              "±", "elapsed", "left"));
    has_titles_ = true;
    next_line_s_ = outlet_.now_s();
  }

  std::string line(const PatternSummary& summary, const Interval& so_far, double elapsed_s) const {
    return fmt::format("{:>{}}  {:<14} {:>12} {:>12} {:>8} {:>11} {:>11}\n", summary.position.number + 1, number_width_,
                       summary.position.name, in_unit(summary.bytes_per_s_mean, unit_), in_unit(so_far.mean, unit_),
                       percent_text(relative_width(so_far)), format_duration(elapsed_s),
                       format_duration(remaining_.left_s()));
  }

  void write_waiting() {
    if (!waiting_) return;
    outlet_.write(*waiting_);
    waiting_.reset();
    next_line_s_ = outlet_.now_s() + pattern_line_interval_s;
  }

  BisectionRemaining remaining_;
  ProgressOutlet outlet_;
  std::uint64_t message_size_bytes_ = 0;
  bool has_titles_ = false;
  std::optional<std::string> waiting_;
  double next_line_s_ = 0;
  std::size_t number_width_;
  Unit unit_;
};

class BisectionBarProgress final : public bench::bisection::Progress {
 public:
  BisectionBarProgress(const BisectionRequest& request, std::size_t num_named, ProgressOutlet outlet)
      : remaining_(request, num_named), bar_(std::move(outlet)) {}
  ~BisectionBarProgress() override { bar_.vanish(); }
  BisectionBarProgress(const BisectionBarProgress&) = delete;
  BisectionBarProgress& operator=(const BisectionBarProgress&) = delete;

  void size_begins(int size_index, std::uint64_t message_size_bytes) override {
    remaining_.size_begins(size_index);
    size_ = format_bytes(message_size_bytes);
  }

  void pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s) override {
    remaining_.pattern_ends(summary, so_far, elapsed_s);
    if (!bar_.is_due()) return;
    const auto done = static_cast<double>(remaining_.num_done());
    const double share = done / std::max(static_cast<double>(remaining_.num_patterns()), done);
    bar_.draw(share, fmt::format("{} {} {}", size_, summary.position.name, summary.position.number + 1),
              fmt::format("{} left, {}", format_duration(remaining_.left_s()), so_far_text(summary, so_far)));
  }

  void retest_done(const SlowConnection& connection) override {
    if (bar_.is_due()) bar_.draw(1, size_ + " retest", fmt::format("{} -> {}", connection.from, connection.to));
  }

  void pair_lost(int low, int high, const std::string& why) override {
    bar_.interrupt(line_of_lost_pair(low, high, why));
  }

  void size_ends(const BisectionSummary&) override { bar_.vanish(); }

 private:
  static std::string so_far_text(const PatternSummary& summary, const Interval& so_far) {
    if (std::isnan(so_far.mean)) return "mean " + format_bandwidth(summary.bytes_per_s_mean);
    const std::string text = "eBB " + format_bandwidth(so_far.mean);
    const double width = relative_width(so_far);
    return std::isfinite(width) ? fmt::format("{} to {}", text, percent_text(width)) : text;
  }

  BisectionRemaining remaining_;
  ProgressBar bar_;
  std::string size_;
};

}  // namespace

BisectionRemaining::BisectionRemaining(const BisectionRequest& request, std::size_t num_named)
    : request_(request),
      has_random_(std::find(request.patterns.begin(), request.patterns.end(), name_of(PatternKind::random)) !=
                  request.patterns.end()),
      num_others_(num_named * static_cast<std::uint64_t>(request.repeat) + request.num_worst_steps) {}

void BisectionRemaining::size_begins(int size_index) {
  size_index_ = size_index;
  size_began_s_ = last_s_;
  num_random_ = has_random_ ? request_.rounds : 0;
  num_random_done_ = num_others_done_ = 0;
}

/// Of the sizes that are still to come, as shares of this one.
double BisectionRemaining::later_sizes() const {
  const bench::CostAssumption assumption;
  const auto& sizes = request_.message_sizes_bytes;
  const auto now = static_cast<std::size_t>(size_index_);
  double sum = 0;
  for (std::size_t size = now + 1; size < sizes.size(); ++size) {
    sum += bench::message_s(assumption, sizes[size]) / bench::message_s(assumption, sizes[now]);
  }
  return sum;
}

void BisectionRemaining::pattern_ends(const PatternSummary& summary, const Interval& so_far, double elapsed_s) {
  last_s_ = elapsed_s;
  if (summary.position.kind == PatternKind::random) {
    ++num_random_done_;
    num_random_ = random_patterns_for(request_, so_far);
  } else {
    ++num_others_done_;
    num_random_ = num_random_done_;  // there will be no more
  }
  const double pattern_s = (elapsed_s - size_began_s_) / static_cast<double>(num_done());
  const auto take_s = [&](std::uint64_t all, std::uint64_t done) {
    return (static_cast<double>(all - std::min(all, done)) + static_cast<double>(all) * later_sizes()) * pattern_s;
  };
  left_s_ = take_s(num_random_, num_random_done_) + take_s(num_others_, num_others_done_);
  if (request_.time_limit_s > 0) left_s_ = std::min(left_s_, std::max(request_.time_limit_s - elapsed_s, 0.0));
}

std::unique_ptr<bench::bisection::Progress> make_bisection_lines(const BisectionRequest& request, std::size_t num_named,
                                                                 ProgressOutlet outlet) {
  return std::make_unique<BisectionLineProgress>(request, num_named, std::move(outlet));
}

std::unique_ptr<bench::bisection::Progress> make_bisection_bar(const BisectionRequest& request, std::size_t num_named,
                                                               ProgressOutlet outlet) {
  return std::make_unique<BisectionBarProgress>(request, num_named, std::move(outlet));
}

std::unique_ptr<bench::bisection::Progress> make_bisection_progress(const BisectionRequest& request,
                                                                    std::size_t num_named) {
  if (request.quiet) return std::make_unique<bench::bisection::Progress>();
  if (is_redrawable_terminal()) return make_bisection_bar(request, num_named, standard_error_outlet());
  return make_bisection_lines(request, num_named, standard_error_outlet());
}

}  // namespace leadline::output
