// SPDX-License-Identifier: Apache-2.0
// The objects that a rank moves by itself, in memory for a few of them: made ahead of the calls, checked behind them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "bench/io/buffers.hpp"
#include "bench/io/contents.hpp"
#include "bench/io/passes.hpp"
#include "bench/io/recorder.hpp"
#include "bench/io/result.hpp"

namespace leadline::bench::io {

/// Of one phase. Objects are numbered as they are moved, from 0; object n lies in slot n % num_slots. What the ring
/// holds is made before the phase begins, and checked when it is over: neither is in its time. All else is done by a
/// helper thread while calls go on; what it has not done in time, and all where there is none, by the rank between its
/// calls.
class ObjectRing {
 public:
  struct Task {
    IoOperation operation = IoOperation::write;
    std::int32_t owner = 0;         ///< whose objects these are
    std::uint64_t num_objects = 0;  ///< at most, over all passes
    Passes passes{};                ///< in which they are moved
  };

  /// Blocks until all slots are ready. References outlive it; until settle() it alone uses `contents`.
  ObjectRing(Contents& contents, const Buffers& buffers, const Task& task, Recorder& recorder,
             const ContentsWorker& worker);
  ~ObjectRing();
  ObjectRing(const ObjectRing&) = delete;
  ObjectRing& operator=(const ObjectRing&) = delete;

  /// Its number in the file.
  std::uint64_t object_at(std::uint64_t number) const { return task_.passes.at(number).object; }

  /// The memory of the next object: made, or ready to be read into. Does what is left for that, or waits until the
  /// helper has done what it is at: that time counts as fill or verify. At most num_slots objects are taken and not
  /// given back.
  std::span<std::byte> take(std::uint64_t number);

  /// Calls on this object are over, and so many bytes of it were moved. In order; what follows one that failed does not
  /// count.
  void give_back(std::uint64_t number, std::uint64_t num_moved);

  /// Behind the phase: checks what is left.
  void settle();

 private:
  static constexpr std::uint64_t stop_bit = std::uint64_t{1} << 63;

  bool writes() const { return task_.operation == IoOperation::write; }
  std::size_t num_slots() const { return num_moved_.size(); }
  std::span<std::byte> memory(std::uint64_t number) const { return buffers_.object(number % num_slots()); }
  std::uint64_t num_allowed(std::uint64_t num_returned) const;
  /// A helper that waits is told once for so many objects, since that may take as long as a small call.
  std::uint64_t told_at_once() const { return std::max<std::uint64_t>(num_slots() / 2, 1); }
  void do_next();
  void help(const cluster::CpuList& cpus);
  void stop();

  Contents& contents_;
  const Buffers& buffers_;
  Task task_;
  Recorder& recorder_;
  std::vector<std::uint64_t> num_moved_;        ///< by slot: bytes of the object that was read into it
  std::atomic<std::uint64_t> num_done_{0};      ///< objects made (of a write) or checked (of a read)
  std::atomic<std::uint64_t> num_returned_{0};  ///< given back; with stop_bit where the helper is to end
  std::mutex mutex_;                            ///< of what do_next() uses
  std::thread helper_;
};

}  // namespace leadline::bench::io
