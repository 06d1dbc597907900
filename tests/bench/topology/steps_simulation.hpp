// SPDX-License-Identifier: Apache-2.0
// All ranks' steps carried out without a machine: who waits for whom, and which message meets which receive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "bench/topology/neighbourhood.hpp"

namespace leadline::bench::topology {

/// A message and the receive that it met, each as an entry of its rank's neighbourhood.
struct Match {
  int from = 0, to = 0;
  std::uint32_t sent = 0, received = 0;
};

/// Messages between the same two ranks meet receives in order, and a send is done only when its message is received:
/// what completes so completes over every transport.
class StepsSimulation {
 public:
  explicit StepsSimulation(const std::vector<Neighbourhood>& ranks) : ranks_(ranks), states_(ranks.size()) {}

  /// Whether all ranks come to the end of all steps.
  bool completes() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) post_next_step(static_cast<int>(rank));
    while (move_one()) {
    }
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (states_[rank].num_open > 0 || states_[rank].steps_begun < ranks_[rank].step_ends.size()) return false;
    }
    return true;
  }

  const std::vector<Match>& matches() const { return matches_; }

 private:
  struct State {
    std::size_t steps_begun = 0, num_open = 0;
  };
  struct Wire {
    std::deque<std::uint32_t> sent, wanted;
  };

  const kernel::NeighbourChannel& entry(int rank, std::uint32_t i) const {
    return ranks_[static_cast<std::size_t>(rank)].entries[i];
  }
  State& state(int rank) { return states_[static_cast<std::size_t>(rank)]; }

  void post_send(int rank, std::uint32_t i) { wires_[{rank, entry(rank, i).partner}].sent.push_back(i); }

  void post_next_step(int rank) {
    const Neighbourhood& own = ranks_[static_cast<std::size_t>(rank)];
    State& current = state(rank);
    if (current.steps_begun == own.step_ends.size()) return;
    const std::uint32_t begin = current.steps_begun == 0 ? 0 : own.step_ends[current.steps_begun - 1];
    const std::uint32_t end = own.step_ends[current.steps_begun++];
    for (std::uint32_t i = begin; i < end; ++i) {
      const kernel::Part part = own.entries[i].part;
      if (kernel::sends_first(part)) post_send(rank, i);
      if (kernel::receives(part)) wires_[{own.entries[i].partner, rank}].wanted.push_back(i);
      current.num_open += part == kernel::Part::both || part == kernel::Part::answers ? 2 : 1;
    }
  }

  void finish_one(int rank) {
    if (--state(rank).num_open == 0) post_next_step(rank);
  }

  bool move_one() {
    for (auto& [ends, wire] : wires_) {
      if (wire.sent.empty() || wire.wanted.empty()) continue;
      const auto [from, to] = ends;
      const Match match{from, to, wire.sent.front(), wire.wanted.front()};
      wire.sent.pop_front();
      wire.wanted.pop_front();
      matches_.push_back(match);
      if (entry(to, match.received).part == kernel::Part::answers) post_send(to, match.received);
      finish_one(from);
      finish_one(to);
      return true;
    }
    return false;
  }

  const std::vector<Neighbourhood>& ranks_;
  std::vector<State> states_;
  std::map<std::pair<int, int>, Wire> wires_;
  std::vector<Match> matches_;
};

}  // namespace leadline::bench::topology
