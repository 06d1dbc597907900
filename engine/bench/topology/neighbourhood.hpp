// SPDX-License-Identifier: Apache-2.0
// A topology as one rank executes it: what it does on which channel, step by step, and from which memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kernel/neighbour_exchange.hpp"
#include "schedule/topology.hpp"

namespace leadline::bench::topology {

/// Which slot a message lies in.
enum class SlotUse : std::uint8_t {
  by_step,     ///< those under way at once in turn, going round where there are fewer slots
  by_channel,  ///< each channel its own, so that what arrived can be verified at the end
};

struct Room {
  std::uint32_t max_outstanding = 0;  ///< channels that are under way at once; 0 = all
  std::uint32_t num_slots = 1;        ///< by_channel: at least as many as the rank has channels
};

struct Neighbourhood {
  std::vector<kernel::NeighbourChannel> entries;  ///< the kernel's channels; phased has two for each channel
  std::vector<std::uint32_t> step_ends;           ///< where in `entries`
  std::vector<std::uint32_t> channel_of;          ///< by entry: which of schedule::Topology::channels it belongs to

  /// Views this.
  kernel::NeighbourExchange exchange(std::size_t message_size_bytes, std::uint64_t num_warmup) const {
    return {entries, step_ends, message_size_bytes, num_warmup};
  }
};

/// Local. Without a cap all channels are one step (phased: two), in the order of schedule::Topology::channels; with one
/// they are cut into steps of at most so many. The steps of all ranks fit together, whatever the cap.
Neighbourhood neighbourhood(const schedule::Topology& topology, int rank, const Room& room, SlotUse use);

/// Local: the same without channels to partners that are lost, as they see it, too; its steps still fit together.
Neighbourhood without(const Neighbourhood& all, const std::function<bool(std::int32_t partner)>& is_lost);

/// Local: all ranks to which `rank` needs an open link, for the channels of all topologies and for barriers; each once,
/// in an order in which all ranks can open theirs without waiting for each other in a circle.
std::vector<std::int32_t> partners_to_connect(std::span<const schedule::Topology> topologies, int rank, int num_ranks);

}  // namespace leadline::bench::topology
