// SPDX-License-Identifier: Apache-2.0
// One rank's exchanges with its neighbours in a topology, and the memory that their messages lie in.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "contract/contents.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "memory/pattern.hpp"
#include "schedule/topology.hpp"

namespace leadline::contract {

/// All channels at once, or one after the other.
enum class Steps { one, one_a_channel };

/// What a rank does on its channels, in the order of topology.channels(rank); those are its slots, too.
class Neighbourhood {
 public:
  Neighbourhood(const schedule::Topology& topology, int rank, Steps steps = Steps::one)
      : mode_(topology.spec().mode), channels_(topology.channels(rank)) {
    std::vector<std::uint32_t> order(channels_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    const auto round = [&](std::uint32_t i) {
      return schedule::meeting_round(topology.num_ranks(), rank, channels_[i].partner);
    };
    if (steps == Steps::one_a_channel) {
      std::stable_sort(order.begin(), order.end(), [&](auto one, auto other) { return round(one) < round(other); });
    }
    const int num_phases = mode_ == schedule::ChannelMode::phased ? 2 : 1;
    for (int phase = 0; phase < num_phases; ++phase) {
      for (const std::uint32_t i : order) {
        parts_.push_back({channels_[i].partner, part_of(channels_[i], phase), i});
        if (steps == Steps::one_a_channel) step_ends_.push_back(static_cast<std::uint32_t>(parts_.size()));
      }
      if (steps == Steps::one) step_ends_.push_back(static_cast<std::uint32_t>(parts_.size()));
    }
  }

  kernel::NeighbourExchange exchange(std::size_t message_size_bytes, std::uint64_t num_warmup) const {
    return {parts_, step_ends_, message_size_bytes, num_warmup};
  }

  const std::vector<schedule::Channel>& channels() const { return channels_; }
  std::span<const kernel::NeighbourChannel> parts() const { return parts_; }

  /// Whether a message comes in on the i-th channel.
  bool receives(std::size_t i) const { return mode_ != schedule::ChannelMode::one_way || !channels_[i].starts; }

  /// Which of the channels to the same partner it is, 0-based; the same at both ends.
  std::uint64_t twin_index(std::size_t i) const {
    const auto here = channels_.begin() + static_cast<std::ptrdiff_t>(i);
    return static_cast<std::uint64_t>(std::count_if(
        channels_.begin(), here, [&](const schedule::Channel& channel) { return channel.partner == here->partner; }));
  }

 private:
  kernel::Part part_of(const schedule::Channel& channel, int phase) const {
    using kernel::Part;
    switch (mode_) {
      case schedule::ChannelMode::answered:
        return channel.starts ? Part::both : Part::answers;
      case schedule::ChannelMode::both_ways:
        return Part::both;
      default:
        return channel.starts == (phase == 0) ? Part::sends : Part::receives;
    }
  }

  schedule::ChannelMode mode_;
  std::vector<schedule::Channel> channels_;
  std::vector<kernel::NeighbourChannel> parts_;
  std::vector<std::uint32_t> step_ends_;
};

/// A slot for every channel with a gap of untouched bytes behind it; those to send from filled, each with contents of
/// its own.
class Slots {
 public:
  Slots(const Neighbourhood& around, int rank, std::size_t size)
      : around_(around), rank_(rank), size_(size), send_(num_bytes(), blank), receive_(num_bytes(), blank) {
    for (std::size_t i = 0; i < around.channels().size(); ++i) {
      const auto contents = key(rank, around.channels()[i].partner, around.twin_index(i));
      send_.fill_part(begin(i), size, Fill::random, contents);
    }
  }

  kernel::NeighbourBuffers buffers() const { return {send_.data(), receive_.data(), size_ + gap}; }

  /// Whether slot i has what the partner of its channel sends on it.
  bool has_message(std::size_t i) const {
    const auto expected = key(around_.channels()[i].partner, rank_, around_.twin_index(i));
    return receive_.is_filled(begin(i), size_, Fill::random, expected);
  }
  bool is_blank(std::size_t i) const { return receive_.is_all(begin(i), size_, blank); }

  bool gaps_are_blank() const {
    for (std::size_t i = 0; i < around_.channels().size(); ++i) {
      if (!receive_.is_all(begin(i) + size_, gap, blank)) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t gap = 24;
  static constexpr std::byte blank{0xee};

  static memory::PatternKey key(int from, int to, std::uint64_t twin_index) {
    return {static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to), twin_index};
  }
  std::size_t begin(std::size_t i) const { return i * (size_ + gap); }
  std::size_t num_bytes() const { return begin(around_.channels().size()); }

  const Neighbourhood& around_;
  int rank_;
  std::size_t size_;
  Bytes send_, receive_;
};

}  // namespace leadline::contract
