// SPDX-License-Identifier: Apache-2.0
// Every rank writes or reads its own objects: N-N, N-1 and N-M.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "bench/io/object_loop.hpp"
#include "schedule/object_order.hpp"

namespace leadline::bench::io {

/// Blocking: one object at a time. Non-blocking: as many as the ring holds, and the oldest is waited for.
class DirectLoop final : public ObjectLoop {
 public:
  /// `owner`: the rank whose objects these are.
  DirectLoop(PhaseWork& work, std::int32_t owner)
      : work_(work), owner_(owner), order_(work.stage.plan.num_objects, work.stage.request.random_seed, owner) {}

  std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) override;

 private:
  struct Started {
    std::uint64_t number = 0;
    std::size_t slot = 0;
  };

  bool in_step() const { return work_.request().collective || work_.request().barrier; }
  bool is_blocking() const { return work_.request().calls == storage::FileCalls::blocking; }
  void move_one(std::uint64_t number);
  void start_one(std::uint64_t number);
  void finish_oldest();
  void take_part();
  void make_ready(std::span<std::byte> object, std::size_t slot, std::uint64_t number);
  void await_others();
  void done(std::span<const std::byte> object, std::uint64_t num_moved, std::uint64_t number);

  PhaseWork& work_;
  std::int32_t owner_;
  schedule::ObjectOrder order_;
  std::size_t num_filled_ = 0;  ///< slots, in order
  std::size_t next_slot_ = 0;
  std::deque<Started> started_;
};

}  // namespace leadline::bench::io
