// SPDX-License-Identifier: Apache-2.0
// Collective operations of a transport's own library, for the collective test. Part of the contract of a transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/named.hpp"

namespace leadline::transport {

/// Of single-precision numbers; sums where something is reduced.
enum class Collective : std::uint8_t {
  allreduce,       ///< every rank has the sum of all ranks' numbers
  allgather,       ///< every rank has the blocks of all, in the order of the ranks
  reduce_scatter,  ///< every rank has its block of the sum
  alltoall,        ///< every rank has the block for it of every rank, in the order of the ranks
};

inline constexpr Named<Collective> collective_names[] = {
    {Collective::allreduce, "allreduce", "the sum of all ranks' numbers, on every rank"},
    {Collective::allgather, "allgather", "the blocks of all ranks, on every rank"},
    {Collective::reduce_scatter, "reduce-scatter", "of the sum a block on every rank"},
    {Collective::alltoall, "alltoall", "from every rank a block to every rank"},
};

constexpr std::span<const Named<Collective>> names_of(Collective /*any*/) { return collective_names; }
inline const char* name_of(Collective operation) { return name_in(collective_names, operation); }

/// One rank's part of an operation.
struct CollectiveCall {
  Collective operation = Collective::allreduce;
  std::size_t num_elements = 0;  ///< of an allreduce all numbers, else those of a block; 1 to 2^30
  /// Of reduce-scatter and alltoall as many blocks as there are ranks; memory of the run's allocator.
  const std::byte* send = nullptr;
  /// Likewise of allgather and alltoall; apart from `send`.
  std::byte* receive = nullptr;
};

/// One rank's end of a group of ranks. Made by Transport::collectives(). Its destruction is collective, too, unless an
/// exception is under way.
class Collectives {
 public:
  Collectives() = default;
  Collectives(const Collectives&) = delete;
  Collectives& operator=(const Collectives&) = delete;
  virtual ~Collectives() = default;

  /// Collective over the group: the operation so many times (1 or more), one behind the other, as the library's users
  /// call it. Blocks until this rank's part of the last one is done. Throws Error(run_failed); may otherwise wait for
  /// ever, as Transport::run().
  virtual void run(const CollectiveCall& call, std::uint64_t num) = 0;
};

}  // namespace leadline::transport
