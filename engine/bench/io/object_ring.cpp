// SPDX-License-Identifier: Apache-2.0
// Two counters that only grow: objects given back, and objects made or checked.
#include "bench/io/object_ring.hpp"

#include <algorithm>
#include <optional>

#include "cluster/core_binding.hpp"
#include "core/error.hpp"

namespace leadline::bench::io {

ObjectRing::ObjectRing(Contents& contents, const Buffers& buffers, const Task& task, Recorder& recorder,
                       const ContentsWorker& worker)
    : contents_(contents), buffers_(buffers), task_(task), recorder_(recorder), num_moved_(buffers.num_objects(), 0) {
  if (writes()) {
    while (num_done_.load() < num_allowed(0)) do_next();
  } else {
    for (std::size_t slot = 0; slot < std::min<std::uint64_t>(num_slots(), task_.num_objects); ++slot) {
      contents_.poison(memory(slot));
    }
  }
  if (worker.by == ContentsBy::helper) helper_ = std::thread([this, cpus = worker.cpus] { help(cpus); });
}

ObjectRing::~ObjectRing() { stop(); }

/// Objects that may be made or checked when so many have been given back.
std::uint64_t ObjectRing::num_allowed(std::uint64_t num_returned) const {
  return writes() ? std::min(task_.num_objects, num_returned + num_slots()) : num_returned;
}

void ObjectRing::do_next() {
  const std::uint64_t number = num_done_.load(std::memory_order_relaxed);
  const std::span<std::byte> object = memory(number);
  const auto [object_number, pass] = task_.passes.at(number);
  if (writes()) {
    contents_.fill(object, task_.owner, object_number,
                   number < num_slots() ? Before::anything : Before::object_of_same_rank, pass);
  } else {
    contents_.verify(object, num_moved_[number % num_slots()], task_.owner, object_number, pass);
    if (number + num_slots() < task_.num_objects) contents_.poison(object);
  }
  num_done_.store(number + 1, std::memory_order_release);
}

void ObjectRing::help(const cluster::CpuList& cpus) {
  // Bound as the thread that measures, it would take that one's core.
  std::optional<cluster::BoundThread> elsewhere;
  try {
    if (cpus.count() > 0) elsewhere.emplace(cpus);
  } catch (const Error&) {  // it helps where it is
  }
  for (;;) {
    const std::uint64_t num_returned = num_returned_.load(std::memory_order_acquire);
    if ((num_returned & stop_bit) != 0) return;
    {
      const std::lock_guard lock(mutex_);
      const std::uint64_t num_done = num_done_.load(std::memory_order_relaxed);
      if (num_done == task_.num_objects) return;
      if (num_done < num_allowed(num_returned)) {
        do_next();
        continue;
      }
    }
    num_returned_.wait(num_returned, std::memory_order_acquire);
  }
}

std::span<std::byte> ObjectRing::take(std::uint64_t number) {
  const std::uint64_t needed = writes() ? number + 1 : number + 1 - std::min<std::uint64_t>(number + 1, num_slots());
  if (num_done_.load(std::memory_order_acquire) < needed) {
    const Recorder::StateTimer timer(recorder_, writes() ? IoTime::fill : IoTime::verify);
    while (num_done_.load(std::memory_order_acquire) < needed) {
      const std::lock_guard lock(mutex_);
      if (num_done_.load(std::memory_order_relaxed) < needed) do_next();
    }
  }
  return memory(number);
}

void ObjectRing::give_back(std::uint64_t number, std::uint64_t num_moved) {
  if (number != num_returned_.load(std::memory_order_relaxed)) return;
  num_moved_[number % num_slots()] = num_moved;
  num_returned_.store(number + 1, std::memory_order_release);
  if ((number + 1) % told_at_once() == 0) num_returned_.notify_one();
}

void ObjectRing::settle() {
  stop();
  while (!writes() && num_done_.load() < num_allowed(num_returned_.load())) do_next();
}

void ObjectRing::stop() {
  if (!helper_.joinable()) return;
  num_returned_.fetch_or(stop_bit, std::memory_order_release);
  num_returned_.notify_one();
  helper_.join();
  num_returned_.fetch_and(~stop_bit, std::memory_order_relaxed);
}

}  // namespace leadline::bench::io
