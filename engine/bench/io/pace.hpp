// SPDX-License-Identifier: Apache-2.0
// What is told of every object that is done: to the watch, to whoever asks where this rank is, to the progress line.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/io/current_step.hpp"
#include "bench/io/output.hpp"
#include "bench/io/recorder.hpp"
#include "core/progress_counter.hpp"

namespace leadline::bench::io {

class Pace {
 public:
  struct Work {
    PhasePosition place;
    std::uint64_t num_objects = 0;  ///< that pass through this rank
    std::uint64_t bytes_total = 0;  ///< of all ranks
  };

  /// `progress`: rank 0 only.
  Pace(const Work& work, const Recorder& recorder, ProgressCounter& progress_counter, CurrentStep& current_step,
       Progress* progress)
      : work_(work),
        recorder_(recorder),
        progress_counter_(progress_counter),
        current_step_(current_step),
        progress_(progress) {}

  /// Outside timed calls.
  void object_done() {
    ++num_done_;
    progress_counter_.advance();
    current_step_.object_done();
    if (progress_ != nullptr) show();
  }

 private:
  static constexpr std::uint64_t interval_ns = 200'000'000;  // what an eye can follow

  void show() {
    const std::uint64_t now = recorder_.elapsed_ns();
    if (now < next_ns_) return;
    next_ns_ = now + interval_ns;
    const double share = static_cast<double>(num_done_) / static_cast<double>(std::max(work_.num_objects, num_done_));
    progress_->phase_goes_on({work_.place, static_cast<std::uint64_t>(share * static_cast<double>(work_.bytes_total)),
                              work_.bytes_total, static_cast<double>(now) / 1e9});
  }

  Work work_;
  const Recorder& recorder_;
  ProgressCounter& progress_counter_;
  CurrentStep& current_step_;
  Progress* progress_;
  std::uint64_t num_done_ = 0, next_ns_ = interval_ns;
};

}  // namespace leadline::bench::io
