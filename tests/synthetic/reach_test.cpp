// SPDX-License-Identifier: Apache-2.0
// Every kind of fault, each way: the cells that it meets, written down anew from its definition, and no other.
#include "synthetic/reach.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "small_machine.hpp"
#include "synthetic/simulator.hpp"

namespace leadline::synthetic {
namespace {

/// Whether a message from one rank to another leaves the place (FaultDirection::out); `in` is the same the other way
/// round.
using Leaves = std::function<bool(std::uint32_t from, std::uint32_t to)>;

struct Case {
  std::string name;
  Component component;
  Leaves leaves;
};

constexpr std::uint32_t per_host = 4;

std::uint32_t host(std::uint32_t rank) { return rank / per_host; }
std::uint32_t leaf(std::uint32_t rank) { return host(rank) / 2; }
std::uint32_t pod(std::uint32_t rank) { return host(rank) / 4; }
std::uint32_t slot(std::uint32_t rank) { return rank % per_host; }
bool apart(std::uint32_t from, std::uint32_t to) { return host(from) != host(to); }

std::vector<Case> cases() {
  return {
      {"switch", {ComponentKind::network_switch, 0, 1}, [](auto a, auto b) { return leaf(a) == 1 && apart(a, b); }},
      {"pod", {ComponentKind::network_switch, 1, 1}, [](auto a, auto b) { return pod(a) == 1 && apart(a, b); }},
      {"uplink", {ComponentKind::uplink, 0, 2}, [](auto a, auto b) { return leaf(a) == 2 && leaf(b) != 2; }},
      {"uplink of a pod", {ComponentKind::uplink, 1, 0}, [](auto a, auto b) { return pod(a) == 0 && pod(b) == 1; }},
      {"cable", {ComponentKind::cable, 0, 0, 3}, [](auto a, auto b) { return leaf(a) == 0 && leaf(b) == 3; }},
      {"rail", {ComponentKind::rail, -1, 2}, [](auto a, auto b) { return slot(a) == 2 && apart(a, b); }},
      {"host", {ComponentKind::host, -1, 3}, [](auto a, auto) { return host(a) == 3; }},
      {"port", {ComponentKind::port, -1, 3}, [](auto a, auto b) { return host(a) == 3 && apart(a, b); }},
      {"inside", {ComponentKind::inside, -1, 5}, [](auto a, auto b) { return host(a) == 5 && host(b) == 5; }},
      {"socket",
       {ComponentKind::socket, -1, 5, -1, 1},
       [](auto a, auto b) { return host(a) == 5 && slot(a) >= 2 && apart(a, b); }},
      {"rank", {ComponentKind::rank, -1, 9}, [](auto a, auto) { return a == 9; }},
      {"link", {ComponentKind::link, -1, 1, 6}, [](auto a, auto b) { return host(a) == 1 && host(b) == 6; }},
      {"pair", {ComponentKind::pair, -1, 30, 2}, [](auto a, auto b) { return a == 30 && b == 2; }},
  };
}

bool is_met(const Case& one, FaultDirection direction, std::uint32_t from, std::uint32_t to) {
  return (direction != FaultDirection::in && one.leaves(from, to)) ||
         (direction != FaultDirection::out && one.leaves(to, from));
}

PlantedFault fault_of(const Case& one, FaultDirection direction) {
  PlantedFault fault;
  fault.component = one.component;
  fault.direction = direction;
  return fault;
}

/// Compares a machine with the fault with the same machine without it, cell by cell.
void expect_only(const Case& one, const PlantedFault& fault, const std::function<double(double)>& change) {
  Machine machine = small_machine();
  const Simulator sound(machine);
  machine.faults = {fault};
  const Simulator broken(machine);
  std::vector<double> was(machine.num_ranks), is(machine.num_ranks);
  for (std::uint32_t from = 0; from < machine.num_ranks; ++from) {
    sound.medians(from, was);
    broken.medians(from, is);
    for (std::uint32_t to = 0; to < machine.num_ranks; ++to) {
      const bool changes = to != from && is_met(one, fault.direction, from, to);
      const double expected = changes ? change(was[to]) : was[to];
      EXPECT_NEAR(is[to], expected, changes ? 1e-9 * expected : 0) << from << " to " << to;
    }
  }
}

TEST(reach, of_every_place_and_way_is_its_cells) {
  for (const Case& one : cases()) {
    for (const FaultDirection direction : {FaultDirection::both, FaultDirection::out, FaultDirection::in}) {
      SCOPED_TRACE(one.name + ", way " + std::to_string(static_cast<int>(direction)));
      PlantedFault fault = fault_of(one, direction);
      fault.factor = 1.5;
      expect_only(one, fault, [](double time_ns) { return 1.5 * time_ns; });
    }
  }
}

TEST(reach, says_beforehand_which_rows_and_columns_it_may_meet) {
  const Machine machine = small_machine();
  for (const Case& one : cases()) {
    for (const FaultDirection direction : {FaultDirection::both, FaultDirection::out, FaultDirection::in}) {
      const Reach reach(machine, fault_of(one, direction));
      for (std::uint32_t from = 0; from < machine.num_ranks; ++from) {
        for (std::uint32_t to = 0; to < machine.num_ranks; ++to) {
          if (from == to || !reach.meets(from, to, !apart(from, to))) continue;
          EXPECT_TRUE(reach.may_meet_from(from) && reach.may_meet_to(to)) << one.name << ' ' << from << ' ' << to;
        }
      }
    }
  }
}

TEST(reach, of_several_faults_is_met_in_their_order) {
  Machine machine = small_machine();
  const double was = Simulator(machine).usual_ns(0, 30);
  PlantedFault first, second;
  first.component = {ComponentKind::host, -1, 0};
  first.factor = 2;
  second.component = {ComponentKind::rank, -1, 30};
  second.add_ns = 700;
  machine.faults = {first, second};
  EXPECT_DOUBLE_EQ(Simulator(machine).usual_ns(0, 30), 2 * was + 700);
  machine.faults = {second, first};
  EXPECT_DOUBLE_EQ(Simulator(machine).usual_ns(0, 30), 2 * (was + 700));
}

TEST(reach, of_one_way_shows_by_half_in_both_cells_of_a_ping_pong) {
  Machine machine = small_machine();
  machine.direction = Direction::semidirectional;
  const double was = Simulator(machine).usual_ns(4, 24);
  PlantedFault fault;
  fault.component = {ComponentKind::link, -1, 1, 6};
  fault.direction = FaultDirection::out;
  fault.factor = 2;
  machine.faults = {fault};
  const Simulator simulator(machine);
  EXPECT_DOUBLE_EQ(simulator.usual_ns(4, 24), 1.5 * was);
  EXPECT_DOUBLE_EQ(simulator.usual_ns(24, 4), 1.5 * was);
  machine.direction = Direction::bidirectional;
  EXPECT_DOUBLE_EQ(Simulator(machine).usual_ns(24, 4), 2 * was);
}

}  // namespace
}  // namespace leadline::synthetic
