// SPDX-License-Identifier: Apache-2.0
// Puts LinkTest 1.2's lines in their order; in a serial test the engine's rounds, one a pair, make up its steps.
#include "compat/mpilinktest/progress.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "compat/mpilinktest/text.hpp"
#include "compat/times.hpp"

namespace leadline::compat::mpilinktest {
namespace {

using bench::link::RoundNumbers;

void widen(std::optional<Spread>& all, const std::optional<Spread>& one) {
  if (!one) return;
  if (!all) {
    all = one;
    return;
  }
  all->min = std::min(all->min, one->min);
  all->max = std::max(all->max, one->max);
}

/// Pairs that the tournament of so many ranks plays at once; a serial test has them one after the other.
int pairs_of_a_step(int num_ranks) { return std::max(num_ranks / 2, 1); }

class MpilinktestProgress final : public bench::link::Progress {
 public:
  MpilinktestProgress(const LinkResult& so_far, std::uint64_t summary_interval, Outlet outlet)
      : is_serial_(so_far.request.serial),
        pairs_a_step_(so_far.request.serial ? pairs_of_a_step(so_far.provenance.num_ranks) : 1),
        summary_interval_(static_cast<std::int64_t>(summary_interval)),
        outlet_(std::move(outlet)) {
    outlet_.out(arguments_text(so_far.request, so_far.provenance.num_ranks));
  }

  void slice_begins(const Slice& slice, int /*slice_number*/, int /*num_slices*/) override {
    iteration_ = slice.repeat + 1;
    size_bytes_ = slice.message_size_bytes;
    so_far_ = {};
    step_ = {};
    step_all_to_all_.reset();
    retests_ = {};
    num_retested_ = 0;
    results_are_out_ = false;
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    const std::int64_t step = (round.round - 1) / pairs_a_step_ + 1;
    const bool ends_step = round.round % pairs_a_step_ == 0;
    std::string text;
    if (is_serial_ && step_.num_pairs == 0) text += serial_step_title(step);
    if (round.only_pair) text += pair_lines(*round.only_pair);
    step_.add(times_of(round));
    widen(step_all_to_all_, round.all_to_all);
    if (ends_step) text += end_of_step({step, num_rounds / pairs_a_step_, elapsed_s});
    outlet_.out(text);
  }

  void retest_done(const SlowPair& pair) override {
    print_results();
    outlet_.out(slow_pair_line(num_retested_++, pair, size_bytes_));
    if (pair.retest_time_ns > 0) retests_.add(times_of(pair.retest_time_ns));
  }

  void slice_ends(const SliceSummary& /*summary*/) override {
    print_results();
    if (retests_.num_pairs > 0) outlet_.out(results(Part::retest, retests_, iteration_, size_bytes_));
  }

 private:
  std::string pair_lines(const bench::link::SerialPair& pair) const {
    std::string text = serial_pair_line(pair.first, pair.second, pair.first_time_ns, size_bytes_);
    if (pair.first == pair.second) return text;
    return text + serial_pair_line(pair.second, pair.first, pair.second_time_ns, size_bytes_);
  }

  std::string end_of_step(const StepCount& steps) {
    std::string text = is_serial_ ? serial_step_end(step_, step_all_to_all_, size_bytes_)
                                  : parallel_step_line(steps.done, step_, step_all_to_all_, size_bytes_);
    so_far_.add(step_);
    step_ = {};
    step_all_to_all_.reset();
    if (steps.done % summary_interval_ == 0) text += running_summary(so_far_, steps, size_bytes_);
    return text;
  }

  /// Once an iteration, behind its last step.
  void print_results() {
    if (results_are_out_ || so_far_.num_pairs == 0) return;
    outlet_.out(results(Part::all_steps, so_far_, iteration_, size_bytes_));
    results_are_out_ = true;
  }

  bool is_serial_;
  std::int64_t pairs_a_step_;
  std::int64_t summary_interval_;
  Outlet outlet_;
  int iteration_ = 1;
  std::uint64_t size_bytes_ = 0;
  Times step_, so_far_, retests_;
  std::optional<Spread> step_all_to_all_;
  std::size_t num_retested_ = 0;
  bool results_are_out_ = false;
};

}  // namespace

std::unique_ptr<bench::link::Progress> make_progress(const LinkResult& so_far, std::uint64_t summary_interval,
                                                     Outlet outlet) {
  return std::make_unique<MpilinktestProgress>(so_far, summary_interval, std::move(outlet));
}

}  // namespace leadline::compat::mpilinktest
