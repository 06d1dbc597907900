// SPDX-License-Identifier: Apache-2.0
// Puts LinkTest 2.x's lines in their order.
#include "compat/linktest/progress.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "compat/linktest/text.hpp"
#include "compat/times.hpp"

namespace leadline::compat::linktest {
namespace {

using bench::link::Phase;
using bench::link::RoundNumbers;

bool is_of_file(Phase phase) {
  return phase == Phase::opening_file || phase == Phase::writing || phase == Phase::closing_file;
}

class LinktestProgress final : public bench::link::Progress {
 public:
  LinktestProgress(LinkRequest request, Outlet outlet) : request_(std::move(request)), outlet_(std::move(outlet)) {
    outlet_.out(arguments_box(request_));
  }

  void slice_begins(const Slice& slice, int /*slice_number*/, int /*num_slices*/) override {
    iteration_ = slice.repeat + 1;
    scale_ = {slice.message_size_bytes, request_.direction};
    so_far_ = {};
    retests_ = {};
    num_retested_ = 0;
    results_are_out_ = false;
    across_.reset();
    if (request_.bisection && !request_.serial) across_.emplace();  // one pair alone says nothing of the cut
    if (slice.permutation >= 0) {
      outlet_.out(fmt::format("Random task order {} of {}:\n", slice.permutation + 1, request_.shuffle_ranks));
    }
    outlet_.out(start_lines());
  }

  void round_done(const RoundNumbers& round, std::int64_t num_rounds, double elapsed_s) override {
    const Times times = times_of(round);
    so_far_.add(times);
    const std::optional<Spread> across = across_ ? round.bisection_bytes_per_s : std::nullopt;
    if (across) across_->add(across->mean);
    outlet_.out(step_line(request_, round.round, times, across, scale_) + analyse_line(so_far_, across_, scale_) +
                timing_line({round.round, num_rounds, elapsed_s}));
  }

  void retest_done(const SlowPair& pair) override {
    print_results();
    outlet_.out(slow_pair_line(num_retested_++, pair, scale_));
    if (pair.retest_time_ns > 0) retests_.add(times_of(pair.retest_time_ns));
  }

  void slice_ends(const SliceSummary& summary) override {
    print_results();
    if (retests_.num_pairs > 0) outlet_.out(slow_pair_results(iteration_, retests_, scale_));
    if (const std::string text = all_to_all_results(iteration_, summary.all_to_all); !text.empty()) outlet_.out(text);
  }

  void phase_done(Phase phase, double seconds) override {
    if (request_.format == ResultFormat::none && is_of_file(phase)) return;
    outlet_.err(phase_line(phase, seconds));
  }

 private:
  /// Once a slice, behind its last step.
  void print_results() {
    if (results_are_out_ || so_far_.num_pairs == 0) return;
    outlet_.out(timing_results(iteration_, so_far_, across_, scale_));
    results_are_out_ = true;
  }

  LinkRequest request_;
  Outlet outlet_;
  Scale scale_;
  int iteration_ = 1;
  Times so_far_, retests_;
  std::optional<BisectionSoFar> across_;
  std::size_t num_retested_ = 0;
  bool results_are_out_ = false;
};

}  // namespace

std::unique_ptr<bench::link::Progress> make_progress(const LinkResult& so_far, Outlet outlet) {
  return std::make_unique<LinktestProgress>(so_far.request, std::move(outlet));
}

}  // namespace leadline::compat::linktest
