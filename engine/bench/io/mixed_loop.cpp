// SPDX-License-Identifier: Apache-2.0
// What is written again is what was there, so that every read can be verified, whatever came before.
#include "bench/io/mixed_loop.hpp"

#include <cmath>

#include "bench/io/buffers.hpp"
#include "core/random.hpp"

namespace leadline::bench::io {

using StateTimer = Recorder::StateTimer;

bool is_read_in_mix(const PhaseWork& work, std::int32_t owner, std::uint64_t number) {
  constexpr int bits = 53;  // of a double
  const std::uint64_t object = work.passes.at(number).object + work.passes.first_of_pass(number);
  const std::uint64_t mixed = mix64(mix64(static_cast<std::uint64_t>(owner) + 1) ^ object) >> (64 - bits);
  return std::ldexp(static_cast<double>(mixed), -bits) < work.request().mix_read_share;
}

MixedLoop::MixedLoop(PhaseWork& work, Transfers& reads, std::int32_t owner)
    : work_(work), reads_(reads), owner_(owner) {}

void MixedLoop::read(const ObjectInPass& which) {
  const std::span<std::byte> memory = work_.stage.buffers.object(0);
  {
    const StateTimer timer(work_.recorder, IoTime::verify);
    work_.contents.poison(memory);
  }
  const std::uint64_t num_read =
      reads_.move(work_.stage.plan.layout.location(owner_, which.object).offset_bytes, memory);
  const StateTimer timer(work_.recorder, IoTime::verify);
  work_.contents.verify(memory, num_read, owner_, which.object, which.pass);
}

void MixedLoop::write(const ObjectInPass& which) {
  const std::span<std::byte> memory = work_.stage.buffers.object(0);
  {
    const StateTimer timer(work_.recorder, IoTime::fill);
    work_.contents.fill(memory, owner_, which.object, Before::anything, which.pass);
  }
  work_.transfers->move(work_.stage.plan.layout.location(owner_, which.object).offset_bytes, memory);
}

std::uint64_t MixedLoop::move(ObjectRange range, std::optional<std::uint64_t> stop_ns) {
  std::uint64_t number = range.first;
  for (; number < range.end; ++number) {
    const bool is_over = stop_ns && number > 0 && work_.recorder.elapsed_ns() >= *stop_ns;
    if (is_over || work_.failure.has_happened()) break;
    wait_for_rate(work_, number);
    const ObjectInPass which = work_.passes.at(number);
    const bool reads = is_read_in_mix(work_, owner_, number);
    if (!work_.failure.guard([&] { reads ? read(which) : write(which); })) break;
    work_.recorder.add_own_object();
    work_.pace.object_done();
  }
  return number;
}

}  // namespace leadline::bench::io
