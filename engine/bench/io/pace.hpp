// SPDX-License-Identifier: Apache-2.0
// The progress of a rank: its current step, for the watch thread, and what it reports of every object that is done.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bench/io/output.hpp"
#include "bench/io/recorder.hpp"
#include "bench/io/result.hpp"
#include "core/clock.hpp"
#include "core/progress_counter.hpp"

namespace leadline::bench::io {

/// What a rank has of a phase, as it travels when the run ends in the middle of it: as bytes, and behind them the text
/// of the file call that it is in.
struct PartialPhase {
  std::uint64_t phase = 0;  ///< index
  std::int32_t file = -1;
  double time_ns = 0;
  std::uint64_t bytes = 0, message_bytes = 0, num_objects = 0;
};

/// Only numbers change, and they are atomic.
class CurrentStep {
 public:
  /// What a rank does outside of phases.
  enum class Between : std::uint8_t { nothing, opening_links, checking_files, deleting_files };

  /// What a rank does in a phase, and with which file; empty = with none of its own.
  struct Phase {
    IoOperation operation = IoOperation::write;
    std::string file;
    bool repeats = false;  ///< it goes through its objects again and again
  };

  /// `file_call` outlives it.
  CurrentStep(std::vector<Phase> phases, const CurrentFileCall& file_call)
      : phases_(std::move(phases)), file_call_(file_call) {}

  void enter(std::size_t phase, std::uint64_t num_objects) {
    begin_ns_.store(0);
    end_ns_.store(0, std::memory_order_relaxed);
    num_objects_.store(num_objects, std::memory_order_relaxed);
    object_.store(0, std::memory_order_relaxed);
    moved(RankPhase{});
    phase_.store(phase, std::memory_order_relaxed);
    enter(Between::nothing);
  }
  /// Where the times of the phase begin and end.
  void begin(const RankPhase& row) {
    file_.store(row.file, std::memory_order_relaxed);
    begin_ns_.store(now_ns());
  }
  void end(const RankPhase& row) {
    moved(row);
    end_ns_.store(now_ns(), std::memory_order_relaxed);
  }
  void object_done(const RankPhase& row) {
    object_.store(object_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    moved(row);
  }
  /// Behind the phase entered last.
  void enter(Between between) { between_.store(between, std::memory_order_relaxed); }

  /// "write phase 1 of 2, object 17 of 64, FILE"; the watch adds the call into a file system, which names its file.
  std::string text() const {
    const std::size_t phase = phase_.load(std::memory_order_relaxed);
    const Between between = between_.load(std::memory_order_relaxed);
    if (between == Between::opening_links) return "the opening of links";
    if (between == Between::checking_files) return "the check of the files";
    if (between == Between::deleting_files) return "the deletion of the files";
    const std::uint64_t num_done = object_.load(std::memory_order_relaxed);
    const std::uint64_t num_objects = num_objects_.load(std::memory_order_relaxed);
    const Phase& here = phases_[phase];
    const std::uint64_t num_passes = here.repeats && num_objects > 0 ? num_done / num_objects : 0;
    const std::string pass = num_passes > 0 ? fmt::format(" in pass {}", num_passes + 1) : "";
    const std::string object =
        num_done < num_objects || num_passes > 0
            ? fmt::format("object {} of {}{}", num_done - num_passes * num_objects, num_objects, pass)
            : "behind its last object";
    const bool is_named = here.file.empty() || file_call_.kind() != FileCallKind::none;
    return fmt::format("{} phase {} of {}, {}{}{}", name_of(here.operation), phase + 1, phases_.size(), object,
                       is_named ? "" : ", ", is_named ? "" : here.file);
  }

  /// What this rank has of the phase; nothing where that has not begun. For interrupted_phase().
  std::string partial_result() const {
    const std::uint64_t begin_ns = begin_ns_.load();
    if (begin_ns == 0) return {};
    const std::uint64_t end_ns = end_ns_.load(std::memory_order_relaxed);
    const PartialPhase partial{phase_.load(std::memory_order_relaxed),
                               file_.load(std::memory_order_relaxed),
                               static_cast<double>((end_ns > 0 ? end_ns : now_ns()) - begin_ns),
                               bytes_.load(std::memory_order_relaxed),
                               message_bytes_.load(std::memory_order_relaxed),
                               num_own_objects_.load(std::memory_order_relaxed)};
    return std::string(reinterpret_cast<const char*>(&partial), sizeof partial) + file_call_.text();
  }

 private:
  void moved(const RankPhase& row) {
    bytes_.store(row.bytes + row.ramp_bytes, std::memory_order_relaxed);
    message_bytes_.store(row.message_bytes, std::memory_order_relaxed);
    num_own_objects_.store(row.num_objects + row.ramp_objects, std::memory_order_relaxed);
  }

  std::vector<Phase> phases_;
  const CurrentFileCall& file_call_;
  std::atomic<std::size_t> phase_{0};
  std::atomic<Between> between_{Between::opening_links};
  std::atomic<std::uint64_t> object_{0}, num_objects_{0};
  std::atomic<std::uint64_t> begin_ns_{0}, end_ns_{0};  ///< 0: not yet
  std::atomic<std::uint64_t> bytes_{0}, message_bytes_{0}, num_own_objects_{0};
  std::atomic<std::int32_t> file_{-1};
};

class Pace {
 public:
  struct Work {
    PhasePosition position;
    std::uint64_t num_objects = 0;  ///< that pass through this rank, in one pass
    std::uint64_t bytes_total = 0;  ///< of all ranks, likewise
  };

  /// `progress`: rank 0 only.
  Pace(const Work& work, Recorder& recorder, ProgressCounter& progress_counter, CurrentStep& current_step,
       Progress* progress)
      : work_(work),
        recorder_(recorder),
        progress_counter_(progress_counter),
        current_step_(current_step),
        progress_(progress) {}

  /// Outside timed calls.
  void object_done() {
    ++num_done_;
    recorder_.object_done();
    progress_counter_.advance();
    current_step_.object_done(recorder_.row());
    if (progress_ != nullptr) show();
  }

 private:
  static constexpr std::uint64_t interval_ns = 200'000'000;  // as fast as a person can read

  void show() {
    const std::uint64_t now = recorder_.elapsed_ns();
    if (now < next_ns_) return;
    next_ns_ = now + interval_ns;
    const double passes =
        static_cast<double>(num_done_) / static_cast<double>(std::max<std::uint64_t>(work_.num_objects, 1));
    progress_->phase_goes_on({work_.position,
                              static_cast<std::uint64_t>(passes * static_cast<double>(work_.bytes_total)),
                              work_.bytes_total, static_cast<double>(now) / 1e9});
  }

  Work work_;
  Recorder& recorder_;
  ProgressCounter& progress_counter_;
  CurrentStep& current_step_;
  Progress* progress_;
  std::uint64_t num_done_ = 0, next_ns_ = interval_ns;
};

}  // namespace leadline::bench::io
