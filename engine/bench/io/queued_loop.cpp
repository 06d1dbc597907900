// SPDX-License-Identifier: Apache-2.0
// As many calls as may be under way; memory is given back in the order of objects, whatever is done first.
#include "bench/io/queued_loop.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "bench/io/buffers.hpp"
#include "bench/io/mixed_loop.hpp"

namespace leadline::bench::io {

using StateTimer = Recorder::StateTimer;

QueuedLoop::QueuedLoop(PhaseWork& work, QueuedTransfers& transfers, std::int32_t owner, ObjectRing* ring)
    : work_(work), transfers_(transfers), owner_(owner), ring_(ring), moved_(work.stage.buffers.num_objects()) {}

bool QueuedLoop::is_read(std::uint64_t number) const {
  if (work_.position.operation != IoOperation::mix) return !work_.writes();
  return is_read_in_mix(work_, owner_, number);
}

std::span<std::byte> QueuedLoop::take(std::uint64_t number) {
  if (ring_ != nullptr) return ring_->take(number);
  const std::span<std::byte> memory = work_.stage.buffers.object(slot_of(number));
  const auto [object, pass] = work_.passes.at(number);
  const bool reads = is_read(number);
  const StateTimer timer(work_.recorder, reads ? IoTime::verify : IoTime::fill);
  if (reads) {
    work_.contents.poison(memory);
  } else {
    work_.contents.fill(memory, owner_, object, Before::anything, pass);
  }
  return memory;
}

void QueuedLoop::give_back(std::uint64_t number, std::uint64_t num_moved) {
  if (ring_ != nullptr) return ring_->give_back(number, num_moved);
  if (!is_read(number)) return;
  const auto [object, pass] = work_.passes.at(number);
  const StateTimer timer(work_.recorder, IoTime::verify);
  work_.contents.verify(work_.stage.buffers.object(slot_of(number)), num_moved, owner_, object, pass);
}

void QueuedLoop::start(std::uint64_t number) {
  const std::span<std::byte> memory = take(number);
  const std::uint64_t object = work_.passes.at(number).object;
  work_.failure.guard([&] {
    transfers_.start(number, is_read(number) ? IoOperation::read : IoOperation::write,
                     work_.stage.plan.layout.location(owner_, object).offset_bytes, memory);
  });
}

/// One, for which it waits until then, and all others that are done. Contents behind them, so that no call seems to
/// last while these are checked.
void QueuedLoop::finish(Deadline deadline) {
  work_.failure.guard([&] {
    for (auto done = transfers_.finish_one(deadline); done; done = transfers_.finish_one(Deadline::after({}))) {
      moved_[slot_of(done->number)] = done->num_moved;
      work_.recorder.add_own_object();
      work_.pace.object_done();
    }
  });
  while (const auto num_moved = std::exchange(moved_[slot_of(oldest_)], std::nullopt)) give_back(oldest_++, *num_moved);
}

/// Until --rate-limit allows this object. While something is under way, that is waited for.
void QueuedLoop::wait_for_turn(std::uint64_t number) {
  while (transfers_.num_under_way() > 0) {
    const std::chrono::nanoseconds left = time_until_due(work_, number);
    if (left.count() <= 0) return;
    finish(Deadline::after(left));
  }
  wait_for_rate(work_, number);
}

std::uint64_t QueuedLoop::move(ObjectRange range, std::optional<std::uint64_t> stop_ns) {
  // The watch ends the run long before.
  const auto whenever = [] { return Deadline::after(std::chrono::hours(24)); };
  const auto is_over = [&](std::uint64_t number) {
    return work_.failure.has_happened() || (stop_ns && number > 0 && work_.recorder.elapsed_ns() >= *stop_ns);
  };
  // An object is under way once at a time, or nobody knows which pass wrote it last.
  const std::uint64_t most = std::min<std::uint64_t>(moved_.size(), work_.passes.num_objects());
  std::uint64_t number = oldest_ = range.first;
  while (number < range.end && !is_over(number)) {
    if (transfers_.is_full() || number - oldest_ == most) {
      finish(whenever());
      continue;
    }
    wait_for_turn(number);
    if (!work_.failure.has_happened()) start(number++);
    finish(Deadline::after({}));  // what was done at once
  }
  while (transfers_.num_under_way() > 0) finish(whenever());
  return number;
}

}  // namespace leadline::bench::io
