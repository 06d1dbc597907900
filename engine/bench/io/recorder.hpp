// SPDX-License-Identifier: Apache-2.0
// A record of what one rank did in one phase: clock readings around each state, calls, bytes over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/io/result.hpp"
#include "core/clock.hpp"

namespace leadline::bench::io {

/// The bucket of a call that took so long.
std::size_t latency_bucket(std::uint64_t time_ns);

/// Adds bytes that moved evenly in [begin, end), times since the phase began; the bins grow where they must.
void spread_bytes(ByteSeries& series, std::uint64_t begin_ns, std::uint64_t end_ns, std::uint64_t bytes);

/// A call of the backend that is done, times since the phase began.
struct DoneCall {
  std::uint64_t offset_bytes = 0, size_bytes = 0;  ///< asked for
  std::uint64_t moved_bytes = 0;
  std::uint64_t begin_ns = 0, end_ns = 0;
};

/// When a rank came to a call that ranks make together, and when it left it, since the phase began.
struct JointCall {
  double enter_ns = 0, exit_ns = 0;
};

/// Local. Nothing of it lies inside a timed call, and nothing allocates while a phase goes on.
class Recorder {
 public:
  /// Of calls that ranks make together the first `most_joint_calls` are kept.
  explicit Recorder(std::size_t num_slow_calls, std::size_t most_joint_calls = 0);

  /// Where the phase begins: time 0 is now, or `origin_ns` by this rank's clock. What is recorded before `ramp_ns` is
  /// told apart: see RankPhase::ramp_bytes.
  void begin() { begin(now_ns()); }
  void begin(std::uint64_t origin_ns, std::uint64_t ramp_ns = 0);
  /// The clock stood still from `at_ns` on, when this rank was through, and for all ranks goes on from `until_ns`, at
  /// `origin_ns` by this rank's clock.
  void go_on(std::uint64_t origin_ns, std::uint64_t at_ns, std::uint64_t until_ns) {
    origin_ns_ = origin_ns - until_ns;
    aside_ns_ += static_cast<double>(until_ns - at_ns);
  }
  /// `other` records the same rank in the same phase: both begin to count at one moment. It outlives this one's calls.
  void count_with(Recorder& other) { beside_ = &other; }
  /// Behind each object.
  void object_done() {
    if (is_in_ramp_ && elapsed_ns() >= ramp_ns_) count_from(elapsed_ns());
  }
  std::uint64_t elapsed_ns() const { return elapsed_ns(now_ns()); }
  std::uint64_t elapsed_ns(std::uint64_t at_ns) const { return at_ns - origin_ns_; }
  /// Spent until now on making and comparing contents.
  double contents_ns() const {
    return row_.times_ns[static_cast<std::size_t>(IoTime::fill)] +
           row_.times_ns[static_cast<std::size_t>(IoTime::verify)];
  }

  /// Adds the time of its own life to a sum.
  class SumTimer {
   public:
    explicit SumTimer(double& sum_ns) : sum_ns_(sum_ns), begin_ns_(now_ns()) {}
    ~SumTimer() { sum_ns_ += static_cast<double>(now_ns() - begin_ns_); }
    SumTimer(const SumTimer&) = delete;
    SumTimer& operator=(const SumTimer&) = delete;

   private:
    double& sum_ns_;
    std::uint64_t begin_ns_;
  };

  /// The same to that of a state.
  class StateTimer : public SumTimer {
   public:
    StateTimer(Recorder& recorder, IoTime on) : SumTimer(recorder.row_.times_ns[static_cast<std::size_t>(on)]) {}
  };

  /// The same for what belongs to no state: what ranks agree on while a phase goes on.
  class AgreementTimer : public SumTimer {
   public:
    explicit AgreementTimer(Recorder& recorder) : SumTimer(recorder.aside_ns_) {}
  };

  void add_call(const DoneCall& call);
  void add_joint_call(const JointCall& call) {
    if (joint_calls_.size() < most_joint_calls_) joint_calls_.push_back(call);
  }
  void add_continued() { ++row_.num_continued; }
  /// Bytes that count as moved without a call (no files).
  void add_bytes(std::uint64_t bytes);
  void add_message(std::uint64_t bytes) { row_.message_bytes += bytes; }
  void add_own_object() { ++row_.num_objects; }
  /// What this rank does by itself is done now: calls and, where it counts, sync.
  void done() { row_.done_ns = static_cast<double>(elapsed_ns()); }
  /// The time limit passed now.
  void stop_here() { row_.bytes_at_stop = row_.bytes; }

  /// Behind everything.
  void end(SyncTiming sync);

  /// What another one has recorded of the same rank in the same phase.
  void add(const Recorder& other);

  RankPhase& row() { return row_; }
  const RankPhase& row() const { return row_; }
  /// The slowest calls, in no order; without rank, host and file.
  std::vector<SlowCall> slow_calls() const { return slow_calls_; }
  const std::vector<JointCall>& joint_calls() const { return joint_calls_; }

 private:
  void count_from(std::uint64_t at_ns);
  void keep_if_slow(const SlowCall& call);

  RankPhase row_;
  std::uint64_t origin_ns_ = 0, ramp_ns_ = 0;
  bool is_in_ramp_ = false;
  Recorder* beside_ = nullptr;
  double aside_ns_ = 0;
  std::size_t num_slow_calls_, most_joint_calls_;
  std::vector<JointCall> joint_calls_;
  std::vector<SlowCall> slow_calls_;  ///< a heap, the fastest of them in front
};

}  // namespace leadline::bench::io
