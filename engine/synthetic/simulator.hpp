// SPDX-License-Identifier: Apache-2.0
// What a link test of a simulated machine would measure, without time passing. Any pair can be computed alone: each
// number is a function of the machine, the pair and the attempt.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/samples.hpp"
#include "synthetic/machine.hpp"
#include "synthetic/noise.hpp"
#include "synthetic/reach.hpp"

namespace leadline::synthetic {

/// When a pair is measured.
enum class LoadCondition : std::uint8_t {
  main_test,   ///< under load, with whatever disturbed it
  alone,       ///< again, without other pairs: without faults that show under load only or are transient
  concurrent,  ///< again, under load
};

/// Thread-safe. Construction takes some milliseconds, and 16 bytes a rank and fault.
class Simulator {
 public:
  /// Throws Error as check().
  explicit Simulator(Machine machine);

  const Machine& machine() const { return machine_; }

  /// One row of the main test's medians, 0 on the diagonal; `time_ns` has an element for every rank. The fast path:
  /// some 40 ns a pair, and the same numbers as record().
  void medians(std::uint32_t from, std::span<double> time_ns) const;

  /// Two different ranks in the main test.
  PairRecord record(std::uint32_t from, std::uint32_t to) const;

  /// The median of record() alone, some times as fast.
  double median_ns(std::uint32_t from, std::uint32_t to) const;

  /// All of a rank's records; the diagonal is a hole.
  PairRow row(std::uint32_t from) const;

  /// Measured again with fresh noise: attempts count from 1 for each pair and occasion.
  PairRecord retest(std::uint32_t from, std::uint32_t to, std::uint32_t attempt, LoadCondition load_condition) const;
  double retest_median_ns(std::uint32_t from, std::uint32_t to, std::uint32_t attempt,
                          LoadCondition load_condition = LoadCondition::alone) const;

  /// Without noise and losses: what the machine and its faults make of the pair.
  double usual_ns(std::uint32_t from, std::uint32_t to, LoadCondition load_condition = LoadCondition::main_test) const;

 private:
  struct Active {
    PlantedFault fault;
    Reach reach;
  };
  /// What is sent again within a measurement.
  struct Loss {
    double probability, add_ns;
    std::uint32_t num_messages;
  };
  /// A measurement: its pair's time without noise of batches, and where those come from.
  struct Measurement {
    double time_ns = 0;
    std::uint64_t batches_key = 0;
  };

  double message_ns(const Speed& speed) const;
  double healthy_ns(std::uint32_t from, std::uint32_t to) const;
  double between_ns(std::uint32_t host, std::uint32_t other) const;
  double one_way_ns(std::uint32_t from, std::uint32_t to, LoadCondition load_condition) const;
  double both_ways_ns(double there_ns, double back_ns) const;
  void healthy_row(std::uint32_t from, std::span<double> time_ns) const;
  void put_losses(std::uint32_t from, std::span<double> median_ns) const;
  std::vector<Loss> losses(std::uint32_t from, std::uint32_t to, LoadCondition load_condition) const;
  Measurement measurement(std::uint32_t from, std::uint32_t to, LoadCondition load_condition,
                          std::uint32_t attempt) const;
  PairRecord record_of(std::uint32_t from, std::uint32_t to, LoadCondition load_condition, std::uint32_t attempt) const;
  PairRecord with_losses(const Measurement& measurement, const std::vector<Loss>& losses) const;
  bool is_inside(std::uint32_t from, std::uint32_t to) const { return host_of_[from] == host_of_[to]; }

  Machine machine_;
  NoiseModel noise_;
  std::vector<Active> faults_;
  std::vector<std::uint32_t> host_of_;  // by rank
  std::vector<double> far_ns_;          // by rank: more for its messages to other hosts
  std::vector<double> end_factor_;      // by rank: persistent
  double same_socket_ns_ = 0, same_host_ns_ = 0;
  std::vector<double> between_ns_;  // by distance
};

}  // namespace leadline::synthetic
