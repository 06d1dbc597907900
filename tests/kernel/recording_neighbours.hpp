// SPDX-License-Identifier: Apache-2.0
// Channels to many neighbours that write down what the loops do with them; their clock moves by one at each reading.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernel/neighbours.hpp"

namespace leadline::kernel {

/// s send, r receive, S and R posted, each with the partner's digit behind it; a a message that was awaited, from whom;
/// p a send or receive that was awaited, the first posted first; w complete, B barrier, | start, c clock.
struct RecordingNeighbours {
  std::span<const NeighbourChannel> channels{};
  std::string calls{};
  std::vector<std::size_t> posted{};          ///< receives that were not handed out; the last posted comes first
  std::vector<std::size_t> not_handed_out{};  ///< sends and receives, in the order posted
  std::function<void(std::size_t channel)> deliver = [](std::size_t) {};
  std::uint64_t clock_ns = 0;
  std::uint64_t clock_step_ns = 1;

  void barrier() { calls += 'B'; }
  void start() { calls += '|'; }
  void send(std::size_t channel) { note('s', channel); }
  void receive(std::size_t channel) {
    note('r', channel);
    deliver(channel);
  }
  void post_send(std::size_t channel) {
    note('S', channel);
    not_handed_out.push_back(channel);
  }
  void post_receive(std::size_t channel) {
    note('R', channel);
    posted.push_back(channel);
    not_handed_out.push_back(channel);
  }
  std::size_t await_any_receive() {
    const std::size_t channel = posted.at(posted.size() - 1);
    posted.pop_back();
    note('a', channel);
    deliver(channel);
    return channel;
  }
  std::size_t await_any_posted() {
    const std::size_t channel = not_handed_out.at(0);
    not_handed_out.erase(not_handed_out.begin());
    std::erase(posted, channel);
    note('p', channel);
    return channel;
  }
  void complete_posted() {
    calls += 'w';
    std::for_each(posted.begin(), posted.end(), deliver);
    posted.clear();
    not_handed_out.clear();
  }
  std::uint64_t now_ns() {
    calls += 'c';
    return clock_ns += clock_step_ns;
  }

 private:
  void note(char call, std::size_t channel) { calls += call + std::to_string(channels[channel].partner); }
};

static_assert(NeighbourLinks<RecordingNeighbours>);

}  // namespace leadline::kernel
