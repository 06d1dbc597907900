// SPDX-License-Identifier: Apache-2.0
// Whoever holds the rows, and however many pairs are in them: one diagnosis, of what was measured.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "core/random.hpp"
#include "made_up.hpp"
#include "shared_rows.hpp"
#include "synthetic/faults.hpp"

namespace leadline::diagnosis {
namespace {

using synthetic::Machine;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

/// A machine with something of everything: places, links, single pairs, an unsteady port.
Machine busy_machine() {
  Machine machine = machine_of({4, 4, 4, 2});
  machine.faults = {planted({ComponentKind::uplink, 0, 3, -1, -1}), planted({ComponentKind::host, -1, 2, -1, -1}, 1.3),
                    planted({ComponentKind::link, -1, 4, 9, -1}, 2, FaultDirection::out),
                    planted({ComponentKind::pair, -1, 24, 45, -1}, 4),
                    planted({ComponentKind::port, -1, 7, -1, -1}, 1)};
  machine.faults.back().loss = 0.02;
  return machine;
}

TEST(diagnosis, is_the_same_for_any_number_of_workers) {
  const std::string expected = in_full(Measured(busy_machine(), 1).diagnosis());
  for (const std::size_t num_workers : {2U, 3U, 7U}) {
    EXPECT_EQ(in_full(Measured(busy_machine(), num_workers).diagnosis()), expected) << num_workers;
  }
}

/// As the ranks of a run diagnose together: each holds some rows of both matrices, and asks for retests as the others
/// do.
std::vector<std::string> diagnosed_together(const Machine& machine, std::size_t num_holders) {
  Measured measured(machine);
  const std::uint32_t num_ranks = machine.num_ranks;
  DenseRows slow(num_ranks, 1), unsteady(num_ranks, 1);
  fill(slow, [&](std::uint32_t from, std::uint32_t to) { return measured.logarithm(Symptom::slow, from, to); });
  fill(unsteady, [&](std::uint32_t from, std::uint32_t to) { return measured.logarithm(Symptom::unsteady, from, to); });
  Meeting meeting(num_holders);
  std::vector<std::string> results(num_holders);
  {
    std::vector<std::jthread> threads;
    for (std::size_t holder = 0; holder < num_holders; ++holder) {
      threads.emplace_back([&, holder] {
        const SharedRows slow_rows(slow, meeting, holder), unsteady_rows(unsteady, meeting, holder);
        Question question = measured.question();
        question.rows = [&](Symptom symptom) -> const Rows& {
          return symptom == Symptom::slow ? slow_rows : unsteady_rows;
        };
        results[holder] = in_full(diagnose(question));
      });
    }
  }
  return results;
}

TEST(diagnosis, is_the_same_for_those_who_hold_a_part_of_the_rows_each) {
  const Machine machine = busy_machine();
  const std::string expected = in_full(Measured(machine).diagnosis());
  EXPECT_THAT(expected, testing::HasSubstr("link 4 9"));
  for (const std::size_t num_holders : {2U, 5U}) {
    EXPECT_THAT(diagnosed_together(machine, num_holders), testing::Each(expected)) << num_holders << " holders";
  }
}

/// Four leaf switches with four hosts of two ranks each, and two switches above them: what is for a host takes the one
/// of its parity.
Layout routed_layout() {
  constexpr std::uint32_t num_leaves = 4, hosts_a_leaf = 4, num_hosts = num_leaves * hosts_a_leaf, num_spines = 2;
  Layout layout;
  network::Level leaves{"leaf switch", {}, {}};
  for (std::uint32_t rank = 0; rank < 2 * num_hosts; ++rank) layout.host_of.push_back(rank / 2);
  for (std::uint32_t leaf = 0; leaf < num_leaves; ++leaf) {
    leaves.names.push_back(fmt::format("leaf{}", leaf));
    for (std::uint32_t spine = 0; spine < num_spines; ++spine) {
      layout.routes.parts.push_back({leaves.names.back(), fmt::format("spine{}", spine), 1 + spine, 1 + leaf});
    }
  }
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    layout.host_names.push_back(fmt::format("host{}", host));
    leaves.group_of.push_back(host / hosts_a_leaf);
    layout.routes.leaf_of.push_back(host / hosts_a_leaf);
  }
  for (std::uint32_t leaf = 0; leaf < num_leaves; ++leaf) {
    for (std::uint32_t host = 0; host < num_hosts; ++host) {
      layout.routes.begin.push_back(layout.routes.passed.size());
      if (leaf == host / hosts_a_leaf) continue;
      for (const std::uint32_t end : {leaf, host / hosts_a_leaf}) {
        layout.routes.passed.push_back(num_spines * end + host % num_spines);
      }
    }
  }
  layout.routes.begin.push_back(layout.routes.passed.size());
  layout.network = {"tables", layout.host_names, {leaves}, {}};
  return layout;
}

TEST(diagnosis, names_a_cable_of_forwarding_tables_whoever_holds_the_rows) {
  const Layout layout = routed_layout();
  constexpr std::uint32_t bad_cable = 3;  // leaf1, spine1
  const auto num_ranks = static_cast<std::uint32_t>(layout.host_of.size());
  Random random(1, 0);
  DenseRows all(num_ranks, 1);
  fill(all, [&](std::uint32_t from, std::uint32_t to) {
    const auto way = layout.routes.way(layout.host_of[from], layout.host_of[to]);
    const bool is_slow = std::ranges::find(way, bad_cable) != way.end();
    const double usual = layout.host_of[from] == layout.host_of[to] ? 500 : 2000;
    return from == to ? std::numeric_limits<double>::quiet_NaN()
                      : std::log(usual * (is_slow ? 3 : 1)) + 0.02 * random.uniform();
  });
  const auto question = [&](const Rows& rows) {
    Question asked{.rows = [&](Symptom) -> const Rows& { return rows; }, .layout = layout, .settings = {}};
    asked.has_means = false;
    asked.load = Load::alone;
    return asked;
  };
  const Diagnosis whole = diagnose(question(all));
  ASSERT_EQ(whole.faults.size(), 1U);
  EXPECT_EQ(whole.faults.front().name, "the cable leaf1 (port 2) - spine1 (port 2)");
  EXPECT_NEAR(whole.faults.front().ratio, 3, 0.2);
  constexpr std::size_t num_holders = 3;
  Meeting meeting(num_holders);
  std::vector<std::string> results(num_holders);
  {
    std::vector<std::jthread> threads;
    for (std::size_t holder = 0; holder < num_holders; ++holder) {
      threads.emplace_back(
          [&, holder] { results[holder] = in_full(diagnose(question(SharedRows(all, meeting, holder)))); });
    }
  }
  EXPECT_THAT(results, testing::Each(in_full(whole)));
}

/// Each rank's own choice of so many partners, as a large machine is sampled.
void fill_sparse(SparseRows& rows, const Measured& measured, std::uint32_t num_partners) {
  Random random(5);
  for (std::uint32_t from = 0; from < rows.num_ranks(); ++from) {
    std::vector<std::uint32_t> partners;
    std::vector<double> logarithms;
    while (partners.size() < num_partners) {
      const auto to = static_cast<std::uint32_t>(random.below(rows.num_ranks()));
      if (to == from || std::ranges::count(partners, to) > 0) continue;
      partners.push_back(to);
      logarithms.push_back(measured.logarithm(Symptom::slow, from, to));
    }
    rows.append(partners, logarithms);
  }
}

TEST(diagnosis, of_a_sample_of_the_pairs_finds_components) {
  for (const Component component :
       {Component{ComponentKind::host, -1, 3, -1, -1}, Component{ComponentKind::port, -1, 60, -1, -1},
        Component{ComponentKind::uplink, 0, 5, -1, -1}, Component{ComponentKind::rank, -1, 77, -1, -1}}) {
    Machine machine = machine_of({8, 8, 4, 2});
    machine.faults = {planted(component)};
    Measured measured(machine);
    SparseRows rows(machine.num_ranks, 2);
    fill_sparse(rows, measured, 64);
    Question question = measured.question();
    question.rows = [&](Symptom) -> const Rows& { return rows; };
    const Diagnosis diagnosis = diagnose(question);
    EXPECT_THAT(faults_of(diagnosis), Contains(faults_of(machine).front()));
    EXPECT_LE(faults_of(diagnosis).size(), 2U);
    EXPECT_EQ(diagnosis.num_measured, 256U * 64);
    EXPECT_EQ(diagnosis.num_pairs, 256U * 255);
  }
}

TEST(diagnosis, of_all_pairs_is_that_of_sparse_rows_that_hold_all) {
  Machine machine = machine_of({4, 4, 4, 2});
  machine.faults = {planted({ComponentKind::link, -1, 4, 9, -1}, 2), planted({ComponentKind::rank, -1, 50, -1, -1})};
  Measured measured(machine);
  SparseRows rows(machine.num_ranks, 1);
  fill_sparse(rows, measured, machine.num_ranks - 1);
  const std::string expected = in_full(measured.diagnosis());
  Question question = measured.question();
  question.rows = [&](Symptom) -> const Rows& { return rows; };
  EXPECT_EQ(in_full(diagnose(question)), expected);
}

TEST(diagnosis, of_a_run_that_lost_a_rank_is_about_the_others) {
  Machine machine = machine_of({4, 4, 4, 2});
  machine.faults = {planted({ComponentKind::host, -1, 12, -1, -1})};
  Measured measured(machine);
  // Rank 21 died when a third of the rounds were done.
  measured.leave_out(
      [](std::uint32_t from, std::uint32_t to) { return from == 21 || to == 21 || (from ^ to) % 3 != 0; });
  const Diagnosis diagnosis = measured.diagnosis();
  EXPECT_EQ(faults_of(diagnosis), faults_of(machine));
  EXPECT_LT(diagnosis.num_measured, 64U * 63 / 2);
  EXPECT_EQ(diagnosis.num_pairs, 64U * 63);
}

TEST(diagnosis, of_nothing_is_nothing) {
  Measured measured(machine_of({4, 4, 4, 2}));
  measured.leave_out([](std::uint32_t, std::uint32_t) { return true; });
  const Diagnosis diagnosis = measured.diagnosis();
  EXPECT_EQ(diagnosis.num_measured, 0U);
  EXPECT_THAT(diagnosis.faults, IsEmpty());
  EXPECT_THAT(diagnosis.classes, IsEmpty());
}

TEST(diagnosis, of_very_few_ranks_accuses_nobody) {
  for (const std::uint32_t num_hosts : {1U, 2U}) {
    for (const std::uint32_t ranks_per_host : {1U, 2U}) {
      Machine machine = machine_of({num_hosts, 1, ranks_per_host, 1});
      const Diagnosis diagnosis = Measured(machine).diagnosis();
      EXPECT_THAT(faults_of(diagnosis), IsEmpty()) << num_hosts << " hosts of " << ranks_per_host;
    }
  }
}

TEST(diagnosis, without_a_network_still_finds_hosts_and_links) {
  Machine machine = machine_of({8, 4, 4, 2});
  machine.faults = {planted({ComponentKind::port, -1, 11, -1, -1}), planted({ComponentKind::link, -1, 2, 30, -1}, 2)};
  Measured measured(machine);
  Layout layout = measured.layout();
  layout.network = {};
  const Question known = measured.question();
  const Question question{known.rows, layout, {}, known.num_pairs, false, known.retest};
  const Diagnosis diagnosis = diagnose(question);
  EXPECT_EQ(diagnosis.topology, "learnt from the times");
  for (const std::string& fault : faults_of(machine)) EXPECT_THAT(faults_of(diagnosis), Contains(fault));
  EXPECT_EQ(diagnosis.faults.size(), 2U);
}

}  // namespace
}  // namespace leadline::diagnosis
