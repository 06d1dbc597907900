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

inline double exponential(Random& random) { return -std::log1p(-random.uniform()); }
inline double normal(Random& random) {
  return std::sqrt(2 * exponential(random)) * std::cos(2 * 3.14159265358979 * random.uniform());
}

/// How a load comes to the link.
enum class Arrivals : std::uint8_t {
  packets,  ///< of equal length, at random moments, into a queue without an end
  bursts,   ///< at three times the rate of the link for 0.3 ms in the mean, then nothing; the queue holds 3 ms
};

/// Times in ns. The queue tells how long a message waits that comes at `due_ns`; moments ascend.
class PacketQueue {
 public:
  PacketQueue(double utilization, Random& random) : mean_gap_(packet_ns / utilization) {
    next_ns_ = mean_gap_ * exponential(random);
  }

  double waiting_ns(double due_ns, Random& random) {
    while (next_ns_ < due_ns) {
      queue_ns_ = std::max(queue_ns_ - (next_ns_ - now_ns_), 0.0) + packet_ns;
      now_ns_ = next_ns_;
      next_ns_ += mean_gap_ * exponential(random);
    }
    return std::max(queue_ns_ - (due_ns - now_ns_), 0.0);
  }

 private:
  static constexpr double packet_ns = 12'000;
  double mean_gap_, queue_ns_ = 0, now_ns_ = 0, next_ns_ = 0;
};

class BurstQueue {
 public:
  /// Bursts of a round are longer or shorter, all alike.
  BurstQueue(double utilization, Random& random)
      : on_ns_(300'000 * std::exp(0.2 * normal(random))), off_ns_(on_ns_ * (rate / utilization - 1)) {
    next_ns_ = off_ns_ * exponential(random);
  }

  double waiting_ns(double due_ns, Random& random) {
    while (next_ns_ < due_ns) {
      advance(next_ns_);
      is_on_ = !is_on_;
      next_ns_ += (is_on_ ? on_ns_ : off_ns_) * exponential(random);
    }
    advance(due_ns);
    return queue_ns_;
  }

 private:
  static constexpr double rate = 3, longest_ns = 3e6;

  void advance(double to_ns) {
    const double growth = (is_on_ ? rate - 1 : -1) * (to_ns - now_ns_);
    queue_ns_ = std::clamp(queue_ns_ + growth, 0.0, longest_ns);
    now_ns_ = to_ns;
  }

  double on_ns_, off_ns_, queue_ns_ = 0, now_ns_ = 0, next_ns_ = 0;
  bool is_on_ = false;
};

/// A message takes what the link takes without any load, what hosts add by chance, and what is in the queue when it
/// comes. Rounds differ: hosts get slower and faster, both states of a round alike, and the load sends more or less.
struct QueueSimulation {
  Arrivals arrivals = Arrivals::packets;
  double utilization = 0.5;  ///< of the link by the load
  double base_ns = 20'000;
  double interval_ns = 50'000;
  int messages_of_round = 1800;     ///< of two pairs
  double scatter_of_rounds = 0.03;  ///< of ln of the base
  double scatter_of_load = 0.05;    ///< of the utilization, as a share
  double share_of_noise = 0.004;    ///< of messages that hosts hold up, by 0.3 ms in the mean
  double ramp_up_ns = 20e6;

  RoundTimes round(Random& random) const {
    const double base = base_ns * std::exp(scatter_of_rounds * normal(random));
    const double load = std::min(utilization * (1 + scatter_of_load * normal(random)), 0.97);
    if (arrivals == Arrivals::bursts) return round_behind(BurstQueue(load, random), base, random);
    return round_behind(PacketQueue(load, random), base, random);
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
  template <class Queue>
  RoundTimes round_behind(Queue queue, double base, Random& random) const {
    RoundTimes times;
    for (int i = 0; i < messages_of_round; ++i) times.alone.add(base + noise(random));
    for (int i = 0; i < messages_of_round; ++i) {
      const double own = base + noise(random);
      times.loaded.add(own + queue.waiting_ns(ramp_up_ns + i * interval_ns, random));
    }
    return times;
  }

  double noise(Random& random) const {
    const double small_ns = 800 * exponential(random);
    return random.uniform() < share_of_noise ? small_ns + 300'000 * exponential(random) : small_ns;
  }
};

}  // namespace leadline::bench::congestion
