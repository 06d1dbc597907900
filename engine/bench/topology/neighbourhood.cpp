// SPDX-License-Identifier: Apache-2.0
// Channels in an order that all ranks agree on, cut into steps.
//
// Why steps cannot deadlock, whatever the cap, and wherever each rank cuts: the round of the tournament in which two
// ranks meet orders all edges. Edges of one round have no rank in common, except two channels between the same ranks,
// which stand in the same order on both. So there is a total order of all channels of which every rank's own order is
// a part. Take the least channel that is not done. Both its ends have done all their lesser ones, hence all steps
// before the one that it lies in, and in that step they have posted it: nothing keeps it from being done. Phased
// exchanges run through that order twice, and the same holds for (way, channel).
#include "bench/topology/neighbourhood.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "kernel/barrier.hpp"

namespace leadline::bench::topology {
namespace {

using kernel::Part;
using schedule::Channel;
using schedule::ChannelMode;
using Indices = std::vector<std::uint32_t>;

enum class ExchangeDirection : std::uint8_t { there, back };

Part part_of(ChannelMode mode, bool starts, ExchangeDirection way) {
  switch (mode) {
    case ChannelMode::answered:
      return starts ? Part::both : Part::answers;
    case ChannelMode::both_ways:
      return Part::both;
    case ChannelMode::phased:
    case ChannelMode::one_way:
      break;
  }
  return starts == (way == ExchangeDirection::there) ? Part::sends : Part::receives;
}

Indices all_of(const std::vector<Channel>& channels) {
  Indices indices(channels.size());
  std::iota(indices.begin(), indices.end(), 0u);
  return indices;
}

Indices in_order_of_meeting(const std::vector<Channel>& channels, int rank, int num_ranks) {
  std::vector<std::int64_t> rounds;
  rounds.reserve(channels.size());
  for (const Channel& channel : channels) rounds.push_back(schedule::meeting_round(num_ranks, rank, channel.partner));
  Indices order = all_of(channels);
  std::stable_sort(order.begin(), order.end(), [&](auto one, auto other) { return rounds[one] < rounds[other]; });
  return order;
}

/// Two channels with one partner stay together where there is room for two: cut apart on one end only, a start and an
/// answer could overtake each other.
Indices cut(const std::vector<Channel>& channels, const Indices& order, std::size_t max_outstanding) {
  const auto partner_at = [&](std::size_t i) { return channels[order[i]].partner; };
  Indices ends;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    end = std::min(order.size(), begin + max_outstanding);
    const bool parts_a_pair = end < order.size() && partner_at(end - 1) == partner_at(end);
    if (parts_a_pair && end - begin > 1) --end;
    ends.push_back(static_cast<std::uint32_t>(end));
  }
  return ends;
}

/// Of two channels with one partner, the message that wants an answer comes before the answer to one's own: so it must
/// be received first. The complete graph has this order by itself, its lower ranks being those that start.
void put_answers_first(const std::vector<Channel>& channels, Indices& order, const Indices& ends) {
  std::ptrdiff_t begin = 0;
  for (const std::uint32_t end : ends) {
    std::stable_partition(order.begin() + begin, order.begin() + end, [&](auto i) { return !channels[i].starts; });
    begin = end;
  }
}

/// A rank's channels in the order in which it serves them, and where in it each step ends.
struct Service {
  const std::vector<Channel>& channels;
  Indices order, ends;
};

void append_direction(Neighbourhood& all, const Service& service, ChannelMode mode, ExchangeDirection way,
                      const auto& slot_of) {
  std::uint32_t begin = 0;
  for (const std::uint32_t end : service.ends) {
    for (std::uint32_t position = begin; position < end; ++position) {
      const std::uint32_t i = service.order[position];
      const Channel& channel = service.channels[i];
      all.entries.push_back({channel.partner, part_of(mode, channel.starts, way), slot_of(i, position - begin)});
      all.channel_of.push_back(i);
    }
    all.step_ends.push_back(static_cast<std::uint32_t>(all.entries.size()));
    begin = end;
  }
}

}  // namespace

Neighbourhood neighbourhood(const schedule::Topology& topology, int rank, const Room& room, SlotUse use) {
  const std::vector<Channel> channels = topology.channels(rank);
  assert(use == SlotUse::by_step || room.num_slots >= channels.size());
  Service service{channels, all_of(channels), {}};
  if (room.max_outstanding > 0) {
    service.order = in_order_of_meeting(channels, rank, topology.num_ranks());
    service.ends = cut(channels, service.order, room.max_outstanding);
  } else if (!channels.empty()) {
    service.ends.push_back(static_cast<std::uint32_t>(channels.size()));
  }
  const ChannelMode mode = topology.spec().mode;
  if (mode == ChannelMode::answered) put_answers_first(channels, service.order, service.ends);

  Neighbourhood all;
  const auto slot_of = [&](std::uint32_t channel, std::uint32_t in_step) {
    return use == SlotUse::by_channel ? channel : in_step % room.num_slots;
  };
  append_direction(all, service, mode, ExchangeDirection::there, slot_of);
  if (mode == ChannelMode::phased) append_direction(all, service, mode, ExchangeDirection::back, slot_of);
  return all;
}

Neighbourhood without(const Neighbourhood& all, const std::function<bool(std::int32_t partner)>& is_lost) {
  Neighbourhood left;
  std::size_t i = 0;
  for (const std::uint32_t end : all.step_ends) {
    for (; i < end; ++i) {
      if (is_lost(all.entries[i].partner)) continue;
      left.entries.push_back(all.entries[i]);
      left.channel_of.push_back(all.channel_of[i]);
    }
    left.step_ends.push_back(static_cast<std::uint32_t>(left.entries.size()));
  }
  return left;
}

std::vector<std::int32_t> partners_to_connect(std::span<const schedule::Topology> topologies, int rank, int num_ranks) {
  std::vector<bool> is_partner(static_cast<std::size_t>(num_ranks));
  const auto note = [&](std::int32_t partner) { is_partner[static_cast<std::size_t>(partner)] = true; };
  for (const schedule::Topology& topology : topologies) {
    for (const Channel& channel : topology.channels(rank)) note(channel.partner);
  }
  for (const std::int32_t partner : kernel::barrier_partners(rank, num_ranks)) note(partner);

  std::vector<Channel> partners;
  for (std::int32_t partner = 0; partner < num_ranks; ++partner) {
    if (is_partner[static_cast<std::size_t>(partner)]) partners.push_back({partner});
  }
  std::vector<std::int32_t> sorted;
  for (const std::uint32_t i : in_order_of_meeting(partners, rank, num_ranks)) sorted.push_back(partners[i].partner);
  return sorted;
}

}  // namespace leadline::bench::topology
