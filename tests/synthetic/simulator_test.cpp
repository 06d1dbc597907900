// SPDX-License-Identifier: Apache-2.0
// All ways to a number give the same number; statistics are ordered; retests repeat what lasts and nothing else.
#include "synthetic/simulator.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/error.hpp"
#include "small_machine.hpp"

namespace leadline::synthetic {
namespace {

PlantedFault slow_port(double factor) {
  PlantedFault fault;
  fault.component = {ComponentKind::port, -1, 2};
  fault.factor = factor;
  return fault;
}

PlantedFault lossy_host(double loss) {
  PlantedFault fault;
  fault.component = {ComponentKind::host, -1, 1};
  fault.loss = loss;
  return fault;
}

TEST(simulator, gives_the_same_median_by_row_and_by_cell) {
  for (const Direction direction : {Direction::unidirectional, Direction::semidirectional, Direction::bidirectional}) {
    Machine machine = small_machine();
    machine.direction = direction;
    machine.noise.disturbed_probability = 0.05;
    machine.faults = {slow_port(1.7), lossy_host(0.05)};
    machine.faults[0].direction = FaultDirection::in;
    const Simulator simulator(machine);
    std::vector<double> medians(machine.num_ranks);
    for (std::uint32_t from = 0; from < machine.num_ranks; ++from) {
      simulator.medians(from, medians);
      const PairRow row = simulator.row(from);
      for (std::uint32_t to = 0; to < machine.num_ranks; ++to) {
        EXPECT_EQ(medians[to], row[&PairRecord::time_ns_median][to]) << from << " to " << to;
        EXPECT_EQ(row[&PairRecord::count][to], to == from ? 0 : machine.num_batches);
      }
      EXPECT_EQ(medians[from], 0);
    }
  }
}

TEST(simulator, orders_its_statistics) {
  Machine machine = small_machine();
  machine.faults = {lossy_host(0.02)};
  const Simulator simulator(machine);
  for (std::uint32_t from = 0; from < machine.num_ranks; ++from) {
    for (std::uint32_t to = 0; to < machine.num_ranks; ++to) {
      if (to == from) continue;
      const PairRecord record = simulator.record(from, to);
      EXPECT_LE(record.time_ns_min, record.time_ns_median);
      EXPECT_LE(record.time_ns_median, record.time_ns_p99);
      EXPECT_LE(record.time_ns_p99, record.time_ns_max);
      EXPECT_LE(record.time_ns_min, record.time_ns_mean);
      EXPECT_LE(record.time_ns_mean, record.time_ns_max);
      EXPECT_GT(record.time_ns_min, 0);
    }
  }
}

TEST(simulator, without_noise_says_what_is_usual) {
  Machine machine = small_machine();
  machine.noise = no_noise();
  machine.faults = {slow_port(1.5)};
  const Simulator simulator(machine);
  const double size_ns = 1024 / 12.5;
  // Same socket, other socket, same leaf switch (both ends near, one far, both far), same pod, beyond; the slow port.
  EXPECT_NEAR(simulator.record(0, 1).time_ns_median, 400 + 1024 / 12.0, 1e-6);
  EXPECT_NEAR(simulator.record(0, 2).time_ns_median, 600 + 1024 / 10.0, 1e-6);
  EXPECT_NEAR(simulator.record(0, 4).time_ns_median, 1300 + size_ns, 1e-6);
  EXPECT_NEAR(simulator.record(0, 6).time_ns_median, 1360 + size_ns, 1e-6);
  EXPECT_NEAR(simulator.record(3, 7).time_ns_median, 1420 + size_ns, 1e-6);
  EXPECT_NEAR(simulator.record(0, 12).time_ns_median, 1550 + size_ns, 1e-6);
  EXPECT_NEAR(simulator.record(0, 16).time_ns_median, 1800 + size_ns, 1e-6);
  EXPECT_NEAR(simulator.record(0, 8).time_ns_median, 1.5 * (1550 + size_ns), 1e-6);
  EXPECT_NEAR(simulator.record(0, 8).time_ns_max, simulator.usual_ns(0, 8), 1e-6);
}

TEST(simulator, depends_on_the_seed_and_on_nothing_else) {
  Machine machine = small_machine();
  const Simulator first(machine), again(machine);
  machine.seed = 2;
  const Simulator other(machine);
  int num_equal = 0;
  for (std::uint32_t to = 1; to < machine.num_ranks; ++to) {
    EXPECT_EQ(first.record(0, to).time_ns_mean, again.record(0, to).time_ns_mean);
    if (first.record(0, to).time_ns_mean == other.record(0, to).time_ns_mean) ++num_equal;
  }
  EXPECT_EQ(num_equal, 0);
}

TEST(simulator, gives_a_pair_the_same_numbers_in_a_larger_machine) {
  EXPECT_EQ(Simulator(small_machine(8)).record(3, 17).time_ns_p99,
            Simulator(small_machine(16)).record(3, 17).time_ns_p99);
}

TEST(losses, show_in_the_mean_and_the_maximum_rather_than_in_the_median) {
  Machine machine = small_machine();
  const Simulator sound(machine);
  machine.faults = {lossy_host(0.01)};
  const Simulator lossy(machine);
  double median_ratio = 0, mean_ratio = 0;
  int num_pairs = 0;
  for (std::uint32_t from = 4; from < 8; ++from) {
    for (std::uint32_t to = 8; to < machine.num_ranks; ++to, ++num_pairs) {
      median_ratio += std::log(lossy.record(from, to).time_ns_median / sound.record(from, to).time_ns_median);
      mean_ratio += lossy.record(from, to).time_ns_mean / sound.record(from, to).time_ns_mean;
    }
  }
  EXPECT_LT(median_ratio / num_pairs, 0.01);
  EXPECT_GT(mean_ratio / num_pairs, 5);
  // One message of a hundred, 4 ms each: 40 us more a message.
  double more_ns = 0;
  for (std::uint32_t to = 8; to < machine.num_ranks; ++to)
    for (std::uint32_t from = 4; from < 8; ++from)
      more_ns += lossy.record(from, to).time_ns_mean - sound.record(from, to).time_ns_mean;
  EXPECT_NEAR(more_ns / num_pairs, 0.01 * usual_retry_ns, 0.3 * 0.01 * usual_retry_ns);
  EXPECT_EQ(lossy.record(8, 20).time_ns_max, sound.record(8, 20).time_ns_max);
}

TEST(losses, of_all_messages_are_in_every_batch) {
  Machine machine = small_machine();
  machine.noise = no_noise();
  machine.faults = {lossy_host(1)};
  for (const Direction direction : {Direction::unidirectional, Direction::semidirectional}) {
    machine.direction = direction;
    const Simulator simulator(machine);
    EXPECT_NEAR(simulator.record(4, 20).time_ns_min, simulator.usual_ns(4, 20) + usual_retry_ns, 1e-3);
  }
}

TEST(retest, repeats_what_lasts_with_fresh_noise) {
  Machine machine = small_machine();
  machine.faults = {slow_port(2)};
  const Simulator simulator(machine);
  const double usual = simulator.usual_ns(0, 8);
  double before = simulator.record(0, 8).time_ns_median;
  for (std::uint32_t attempt = 1; attempt < 50; ++attempt) {
    for (const LoadCondition load_condition : {LoadCondition::alone, LoadCondition::concurrent}) {
      const double again = simulator.retest_median_ns(0, 8, attempt, load_condition);
      EXPECT_NE(again, before);
      EXPECT_NEAR(again, usual, 0.1 * usual);
      EXPECT_EQ(again, simulator.retest(0, 8, attempt, load_condition).time_ns_median);
      before = again;
    }
  }
}

TEST(retest, has_no_disturbance) {
  Machine machine = small_machine();
  machine.noise = no_noise();
  machine.noise.disturbed_probability = 1;
  const Simulator simulator(machine);
  EXPECT_GT(simulator.record(0, 8).time_ns_min, 1.49 * simulator.usual_ns(0, 8));
  EXPECT_NEAR(simulator.retest_median_ns(0, 8, 1), simulator.usual_ns(0, 8), 1e-6);
}

TEST(retest, shows_load_and_passing_faults_only_where_they_are) {
  Machine machine = small_machine();
  machine.noise = no_noise();
  const double sound = Simulator(machine).usual_ns(0, 8);
  machine.faults = {slow_port(2)};
  machine.faults[0].lasts = Persistence::only_under_load;
  const Simulator loaded(machine);
  EXPECT_NEAR(loaded.record(0, 8).time_ns_median, 2 * sound, 1e-6);
  EXPECT_NEAR(loaded.retest_median_ns(0, 8, 1), sound, 1e-6);
  EXPECT_NEAR(loaded.retest_median_ns(0, 8, 1, LoadCondition::concurrent), 2 * sound, 1e-6);
  machine.faults[0].lasts = Persistence::transient;
  const Simulator passing(machine);
  EXPECT_NEAR(passing.record(0, 8).time_ns_median, 2 * sound, 1e-6);
  EXPECT_NEAR(passing.retest_median_ns(0, 8, 1), sound, 1e-6);
  EXPECT_NEAR(passing.retest_median_ns(0, 8, 1, LoadCondition::concurrent), sound, 1e-6);
}

TEST(simulator, refuses_what_cannot_be) {
  const auto refused = [](const Machine& machine) { EXPECT_THROW(Simulator{machine}, Error); };
  Machine machine = small_machine();
  machine.num_ranks = 33;
  refused(machine);
  const auto refused_fault = [&](const Component& component, double factor = 2) {
    Machine broken = small_machine();
    PlantedFault fault;
    fault.component = component;
    fault.factor = factor;
    broken.faults = {fault};
    refused(broken);
  };
  refused_fault({ComponentKind::host, -1, 8});
  refused_fault({ComponentKind::host, -1, -1});
  refused_fault({ComponentKind::rank, -1, 32});
  refused_fault({ComponentKind::pair, -1, 3, 3});
  refused_fault({ComponentKind::link, -1, 3, 8});
  refused_fault({ComponentKind::socket, -1, 3, -1, 2});
  refused_fault({ComponentKind::rail, -1, 4});
  refused_fault({ComponentKind::uplink, 2, 0});
  refused_fault({ComponentKind::uplink, -1, 0});
  refused_fault({ComponentKind::network_switch, 1, 2});
  refused_fault({ComponentKind::cable, 0, 1, 1});
  refused_fault({ComponentKind::host, -1, 1}, 0.5);
  refused_fault({ComponentKind::host, -1, 1}, std::nan(""));
}

}  // namespace
}  // namespace leadline::synthetic
