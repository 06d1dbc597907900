// SPDX-License-Identifier: Apache-2.0
// What is written again is what was there, so that every read can be verified, whatever came before.
#include "bench/io/mixed_loop.hpp"

#include <cmath>

#include "bench/io/buffers.hpp"
#include "core/random.hpp"

namespace leadline::bench::io {

using StateTimer = Recorder::StateTimer;

bool is_read_in_mix(double read_share, std::int32_t owner, std::uint64_t object) {
  constexpr int bits = 53;  // of a double
  const std::uint64_t number = mix64(mix64(static_cast<std::uint64_t>(owner) + 1) ^ object) >> (64 - bits);
  return std::ldexp(static_cast<double>(number), -bits) < read_share;
}

MixedLoop::MixedLoop(PhaseWork& work, Transfers& reads, std::int32_t owner)
    : work_(work),
      reads_(reads),
      owner_(owner),
      order_(work.stage.plan.num_objects, work.stage.request.random_seed, owner) {}

void MixedLoop::read(std::uint64_t object) {
  const std::span<std::byte> memory = work_.stage.buffers.object(0);
  {
    const StateTimer timer(work_.recorder, IoTime::verify);
    work_.contents.poison(memory);
  }
  const std::uint64_t num_read = reads_.move(work_.stage.plan.layout.location(owner_, object).offset_bytes, memory);
  const StateTimer timer(work_.recorder, IoTime::verify);
  work_.contents.verify(memory, num_read, owner_, object);
}

void MixedLoop::write(std::uint64_t object) {
  const std::span<std::byte> memory = work_.stage.buffers.object(0);
  {
    const StateTimer timer(work_.recorder, IoTime::fill);
    work_.contents.fill(memory, owner_, object, Before::anything);
  }
  work_.transfers->move(work_.stage.plan.layout.location(owner_, object).offset_bytes, memory);
}

std::uint64_t MixedLoop::move(ObjectRange range, std::optional<std::uint64_t> stop_ns) {
  std::uint64_t number = range.first;
  for (; number < range.end; ++number) {
    const bool is_over = stop_ns && number > 0 && work_.recorder.elapsed_ns() >= *stop_ns;
    if (is_over || work_.failure.has_happened()) break;
    wait_for_rate(work_, number);
    const std::uint64_t object = order_.at(number);
    const bool reads = is_read_in_mix(work_.request().mix_read_share, owner_, object);
    if (!work_.failure.guard([&] { reads ? read(object) : write(object); })) break;
    work_.recorder.add_own_object();
    work_.pace.object_done();
  }
  return number;
}

}  // namespace leadline::bench::io
