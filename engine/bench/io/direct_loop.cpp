// SPDX-License-Identifier: Apache-2.0
// Object by object, out of the ring and back.
#include "bench/io/direct_loop.hpp"

#include <algorithm>

namespace leadline::bench::io {

using StateTimer = Recorder::StateTimer;

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

std::uint64_t DirectLoop::offset_bytes(std::uint64_t number) const {
  return work_.stage.plan.layout.location(owner_, ring_.object_at(number)).offset_bytes;
}

void DirectLoop::done(std::uint64_t number, std::uint64_t num_moved) {
  ring_.give_back(number, num_moved);
  work_.recorder.add_own_object();
  work_.pace.object_done();
}

void DirectLoop::move_one(std::uint64_t number) {
  const std::span<std::byte> object = ring_.take(number);
  await_others();
  std::uint64_t num_moved = 0;
  const bool is_well = work_.failure.guard([&] { num_moved = work_.transfers->move(offset_bytes(number), object); });
  if (is_well) done(number, num_moved);
}

void DirectLoop::start_one(std::uint64_t number) {
  const std::size_t most = work_.transfers->max_started();
  // An object is under way once at a time, or nobody knows which pass wrote it last.
  if (started_.size() == std::min<std::uint64_t>(most, work_.passes.num_objects())) finish_oldest();
  if (work_.failure.has_happened()) return take_part();
  const std::span<std::byte> object = ring_.take(number);
  await_others();
  const storage::Ticket ticket = number % most;
  const bool is_well = work_.failure.guard([&] { work_.transfers->start(ticket, offset_bytes(number), object); });
  if (is_well) started_.push_back({number, ticket});
}

void DirectLoop::finish_oldest() {
  const Started oldest = started_.front();
  started_.pop_front();
  std::uint64_t num_moved = 0;
  const bool is_well = work_.failure.guard([&] { num_moved = work_.transfers->finish(oldest.ticket); });
  if (is_well) done(oldest.number, num_moved);
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
      move_one(number);
    } else {
      start_one(number);
    }
  }
  while (!started_.empty()) finish_oldest();
  return number;
}

}  // namespace leadline::bench::io
