// SPDX-License-Identifier: Apache-2.0
// Latencies over a link with a queue that a load shares: what rounds would measure, and the truth behind them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/congestion/impact.hpp"
#include "core/random.hpp"

namespace leadline::bench::congestion {

/// A message takes what the link takes without any load, what hosts add by chance, and what is in the queue when it
/// comes. The load sends packets of equal length at random moments. Rounds differ: hosts get slower and faster, both
/// states of a round alike, and the load sends more or less.
struct QueueSimulation {
  double utilization = 0.5;  ///< of the link by the load
  double packet_ns = 12'000;
  double base_ns = 20'000;
  double interval_ns = 50'000;
  int messages_of_round = 1800;     ///< of two pairs
  double scatter_of_rounds = 0.03;  ///< of ln of the base
  double scatter_of_load = 0.05;    ///< of the utilization, as a share
  double share_of_noise = 0.004;    ///< of messages that hosts hold up, by 0.3 ms in the mean
  double ramp_up_ns = 20e6;

  RoundTimes round(Random& random) const {
    RoundTimes times;
    const double base = base_ns * std::exp(scatter_of_rounds * normal(random));
    const double load = std::min(utilization * (1 + scatter_of_load * normal(random)), 0.97);
    for (int i = 0; i < messages_of_round; ++i) times.alone.add(base + noise(random));
    double queue_ns = 0, now_ns = 0, next_packet_ns = packet_ns / load * exponential(random);
    for (int i = 0; i < messages_of_round; ++i) {
      const double due_ns = ramp_up_ns + i * interval_ns;
      while (next_packet_ns < due_ns) {
        queue_ns = std::max(queue_ns - (next_packet_ns - now_ns), 0.0) + packet_ns;
        now_ns = next_packet_ns;
        next_packet_ns += packet_ns / load * exponential(random);
      }
      times.loaded.add(base + noise(random) + std::max(queue_ns - (due_ns - now_ns), 0.0));
    }
    return times;
  }

  /// The factors of a run with so many rounds, each of which looks ten times as often.
  Impact truth(Random& random, int num_rounds) const {
    QueueSimulation finer = *this;
    finer.interval_ns /= 10;
    finer.messages_of_round *= 10;
    std::vector<RoundTimes> rounds;
    for (int i = 0; i < num_rounds; ++i) rounds.push_back(finer.round(random));
    return impact_of(rounds);
  }

 private:
  static double exponential(Random& random) { return -std::log1p(-random.uniform()); }
  static double normal(Random& random) {
    return std::sqrt(2 * exponential(random)) * std::cos(2 * 3.14159265358979 * random.uniform());
  }
  double noise(Random& random) const {
    const double small_ns = 800 * exponential(random);
    return random.uniform() < share_of_noise ? small_ns + 300'000 * exponential(random) : small_ns;
  }
};

}  // namespace leadline::bench::congestion
