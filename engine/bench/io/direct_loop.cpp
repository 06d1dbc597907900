// SPDX-License-Identifier: Apache-2.0
// Fill, call, next; or call, verify, next.
#include "bench/io/direct_loop.hpp"

#include "bench/io/buffers.hpp"

namespace leadline::bench::io {

using StateTimer = Recorder::StateTimer;

void DirectLoop::make_ready(std::span<std::byte> object, std::size_t slot, std::uint64_t number) {
  if (!work_.writes()) return work_.contents.poison(object);
  const bool is_first = slot >= num_filled_;
  work_.contents.fill(object, owner_, number, is_first ? Before::anything : Before::object_of_same_rank);
  if (is_first) num_filled_ = slot + 1;
}

void DirectLoop::await_others() {
  if (!work_.request().barrier || !work_.writes()) return;
  const StateTimer timer(work_.recorder, IoTime::barrier);
  work_.stage.cluster.barrier();
}

/// What other ranks depend on, of a rank that makes no more calls.
void DirectLoop::take_part() {
  while (!started_.empty()) finish_oldest();
  await_others();
  if (!work_.request().collective) return;
  work_.failure.guard([&] { work_.transfers->move_nothing(); });
}

void DirectLoop::done(std::span<const std::byte> object, std::uint64_t num_moved, std::uint64_t number) {
  if (!work_.writes()) work_.contents.verify(object, num_moved, owner_, number);
  work_.recorder.add_own_object();
  work_.pace.object_done();
}

void DirectLoop::move_one(std::uint64_t number) {
  const std::span<std::byte> object = work_.stage.buffers.object(0);
  make_ready(object, 0, number);
  await_others();
  std::uint64_t num_moved = 0;
  const bool is_well = work_.failure.guard([&] {
    num_moved = work_.transfers->move(work_.stage.plan.layout.location(owner_, number).offset_bytes, object);
  });
  if (is_well) done(object, num_moved, number);
}

void DirectLoop::start_one(std::uint64_t number) {
  const Buffers& buffers = work_.stage.buffers;
  if (started_.size() == buffers.num_objects()) finish_oldest();
  if (work_.failure.has_happened()) return take_part();
  const std::size_t slot = next_slot_;
  const std::span<std::byte> object = buffers.object(slot);
  make_ready(object, slot, number);
  await_others();
  const bool is_well = work_.failure.guard(
      [&] { work_.transfers->start(slot, work_.stage.plan.layout.location(owner_, number).offset_bytes, object); });
  if (!is_well) return;
  started_.push_back({number, slot});
  next_slot_ = (slot + 1) % buffers.num_objects();
}

void DirectLoop::finish_oldest() {
  const Started oldest = started_.front();
  started_.pop_front();
  std::uint64_t num_moved = 0;
  const bool is_well = work_.failure.guard([&] { num_moved = work_.transfers->finish(oldest.slot); });
  if (is_well) done(work_.stage.buffers.object(oldest.slot), num_moved, oldest.number);
}

std::uint64_t DirectLoop::move(ObjectRange range, std::optional<std::uint64_t> stop_ns) {
  std::uint64_t number = range.first;
  for (; number < range.end; ++number) {
    const bool is_over = stop_ns && number > 0 && work_.recorder.elapsed_ns() >= *stop_ns;
    if (is_over) break;
    wait_for_rate(work_, number);
    if (work_.failure.has_happened()) {
      if (!in_step()) break;
      take_part();
    } else if (is_blocking()) {
      move_one(order_.at(number));
    } else {
      start_one(order_.at(number));
    }
  }
  while (!started_.empty()) finish_oldest();
  return number;
}

}  // namespace leadline::bench::io
