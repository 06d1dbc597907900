// SPDX-License-Identifier: Apache-2.0
// Every rank writes or reads its own objects, or some of each, with several calls under way at once: N-N, N-1 and N-M.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bench/io/object_loop.hpp"
#include "bench/io/object_ring.hpp"
#include "bench/io/queued_transfers.hpp"
#include "core/deadline.hpp"

namespace leadline::bench::io {

class QueuedLoop final : public ObjectLoop {
 public:
  /// `owner`: the rank whose objects these are; `ring`: who makes and checks them, null in a mix, where the rank does.
  QueuedLoop(PhaseWork& work, QueuedTransfers& transfers, std::int32_t owner, ObjectRing* ring);

  std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) override;

 private:
  bool is_read(std::uint64_t number) const;
  std::size_t slot_of(std::uint64_t number) const { return number % moved_.size(); }
  std::span<std::byte> take(std::uint64_t number);
  void give_back(std::uint64_t number, std::uint64_t num_moved);
  void start(std::uint64_t number);
  void finish(Deadline deadline);
  void wait_for_turn(std::uint64_t number);

  PhaseWork& work_;
  QueuedTransfers& transfers_;
  std::int32_t owner_;
  ObjectRing* ring_;
  /// By slot of memory: bytes of an object that is done before one that was begun earlier.
  std::vector<std::optional<std::uint64_t>> moved_;
  std::uint64_t oldest_ = 0;  ///< the first that was not given back
};

}  // namespace leadline::bench::io
