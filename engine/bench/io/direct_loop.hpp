// SPDX-License-Identifier: Apache-2.0
// Every rank writes or reads its own objects: N-N, N-1 and N-M.
#pragma once

#include <cstdint>
#include <deque>

#include "bench/io/object_loop.hpp"
#include "bench/io/object_ring.hpp"

namespace leadline::bench::io {

/// Blocking: one object at a time. Non-blocking: as many as there are tickets, and the oldest is waited for.
class DirectLoop final : public ObjectLoop {
 public:
  /// `owner`: the rank whose objects these are; `ring`: their memory.
  DirectLoop(PhaseWork& work, std::int32_t owner, ObjectRing& ring) : work_(work), owner_(owner), ring_(ring) {}

  std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) override;

 private:
  struct Started {
    std::uint64_t number = 0;
    storage::Ticket ticket = 0;
  };

  bool in_step() const { return work_.request().collective || work_.request().barrier; }
  bool is_blocking() const { return work_.request().calls == storage::FileCalls::blocking; }
  void move_one(std::uint64_t number);
  void start_one(std::uint64_t number);
  void finish_oldest();
  void take_part();
  void await_others();
  void done(std::uint64_t number, std::uint64_t num_moved);
  std::uint64_t offset_bytes(std::uint64_t number) const;

  PhaseWork& work_;
  std::int32_t owner_;
  ObjectRing& ring_;
  std::deque<Started> started_;
};

}  // namespace leadline::bench::io
