// SPDX-License-Identifier: Apache-2.0
// Known patterns that people read off a matrix by eye: far sockets, one bad host, one bad link, an adapter in the wrong
// place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "made_up.hpp"

namespace leadline::diagnosis {
namespace {

using synthetic::Machine;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// One byte between ranks of one socket takes 0.5 us, of two sockets 0.8, of two hosts 2.0, and 0.7 more for each end
/// that is not on the socket with the adapter.
Machine with_far_sockets(std::uint32_t num_hosts, std::uint32_t ranks_per_host) {
  Machine machine = machine_of({num_hosts, 1, ranks_per_host, 2});
  machine.message_size_bytes = 1;
  machine.same_socket.latency_ns = 500;
  machine.same_host.latency_ns = 800;
  machine.between = {{2000, 12e9}};
  machine.far_socket_ns = 700;
  return machine;
}

std::vector<Fault> notes_of(const Diagnosis& diagnosis) {
  std::vector<Fault> notes;
  std::ranges::copy_if(diagnosis.faults, std::back_inserter(notes), &Fault::is_note);
  return notes;
}

TEST(story, of_two_hosts_with_two_sockets_each_is_about_how_they_are_built) {
  const Diagnosis diagnosis = Measured(with_far_sockets(2, 40)).diagnosis();
  EXPECT_THAT(faults_of(diagnosis), IsEmpty());
  const auto notes = notes_of(diagnosis);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].component, (Component{ComponentKind::socket, -1, -1, -1, 1}));
  EXPECT_EQ(notes[0].name, "socket 1 of all hosts");
  EXPECT_NEAR(notes[0].ratio, 1.3, 0.1);
  EXPECT_THAT(notes[0].advice, HasSubstr("other socket"));
  EXPECT_THAT(diagnosis.notes, Contains("of two hosts it cannot be decided which is slow"));
  std::vector<std::string> classes;
  for (const DiagnosedClass& one : diagnosis.classes) classes.push_back(one.name);
  EXPECT_THAT(classes, ElementsAre("same socket", "same host, other socket", "between hosts"));
  EXPECT_NEAR(diagnosis.classes[0].time_ns_median, 500, 20);
  EXPECT_NEAR(diagnosis.classes[1].time_ns_median, 800, 30);
}

TEST(story, of_one_bad_host_is_told_by_its_block_its_row_and_its_column) {
  Machine machine = with_far_sockets(6, 8);
  machine.faults = {planted({ComponentKind::host, -1, 3, -1, -1}, 1.6)};
  const Diagnosis diagnosis = Measured(machine).diagnosis();
  ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
  EXPECT_EQ(diagnosis.faults[0].name, "host node3");
  EXPECT_EQ(notes_of(diagnosis).size(), 1U) << "the far socket";
}

TEST(story, of_a_host_that_is_fine_inside_is_about_its_port) {
  Machine machine = with_far_sockets(6, 8);
  machine.faults = {planted({ComponentKind::port, -1, 3, -1, -1}, 1.6)};
  const Diagnosis diagnosis = Measured(machine).diagnosis();
  ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
  EXPECT_EQ(diagnosis.faults[0].name, "the port of node3");
  EXPECT_THAT(diagnosis.faults[0].ruled_out, Contains(HasSubstr("not the host itself")));
}

TEST(story, of_a_port_has_the_adapters_of_its_ranks) {
  Machine machine = with_far_sockets(6, 8);
  machine.faults = {planted({ComponentKind::port, -1, 3, -1, -1}, 1.6)};
  Measured measured(machine);
  const Question question = measured.question();
  Layout layout = question.layout;
  for (std::size_t rank = 0; rank < layout.host_of.size(); ++rank) {
    layout.adapter_of.push_back(rank % 2 == 0 ? "mlx5_0" : "mlx5_1");
  }
  const Diagnosis diagnosis = diagnose({.rows = question.rows,
                                        .layout = layout,
                                        .settings = question.settings,
                                        .num_pairs = question.num_pairs,
                                        .retest = question.retest});
  ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
  EXPECT_EQ(diagnosis.faults[0].name, "the port of node3 (mlx5_0, mlx5_1)");
  EXPECT_THAT(diagnosis.faults[0].adapters, ElementsAre("mlx5_0", "mlx5_1"));
  EXPECT_THAT(diagnosis.faults[0].host_names, ElementsAre("node3"));
}

TEST(story, of_one_bad_link_is_about_neither_of_its_hosts) {
  Machine machine = with_far_sockets(6, 8);
  machine.faults = {planted({ComponentKind::link, -1, 1, 4, -1}, 1.6)};
  const Diagnosis diagnosis = Measured(machine).diagnosis();
  ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
  EXPECT_EQ(diagnosis.faults[0].name, "the link between node1 and node4");
  EXPECT_THAT(diagnosis.faults[0].ruled_out,
              ElementsAre(HasSubstr("not node1 as a whole"), HasSubstr("not node4 as a whole")));
}

TEST(story, of_a_slow_row_is_about_a_sender) {
  Machine machine = with_far_sockets(6, 8);
  machine.faults = {planted({ComponentKind::rank, -1, 20, -1, -1}, 1.6, FaultDirection::out)};
  const Diagnosis diagnosis = Measured(machine).diagnosis();
  ASSERT_EQ(faults_of(diagnosis), faults_of(machine));
  EXPECT_EQ(diagnosis.faults[0].name, "rank 20 on node2");
  EXPECT_EQ(diagnosis.faults[0].direction, FaultDirection::out);
}

TEST(story, of_an_adapter_on_the_wrong_socket_is_about_that_host_s_sockets) {
  // Host 2's adapter sits on socket 1: its ranks there are as near as those of socket 0 elsewhere, and the other way
  // round.
  Machine machine = with_far_sockets(8, 8);
  Measured measured(machine);
  const Layout& layout = measured.layout();
  const auto delay_ns = [&](std::uint32_t rank) {
    const bool is_far = layout.socket_of[rank] == (layout.host_of[rank] == 2 ? 0 : 1);
    return is_far ? 700.0 : 0.0;
  };
  DenseRows rows(machine.num_ranks, 1);
  fill(rows, [&](std::uint32_t from, std::uint32_t to) {
    const double as_usual = measured.logarithm(Symptom::slow, from, to);
    if (layout.host_of[from] == layout.host_of[to]) return as_usual;
    const double usual_ns = measured.simulator().usual_ns(from, to);
    return as_usual + std::log((2000 + delay_ns(from) + delay_ns(to)) / usual_ns);
  });
  Question question = measured.question();
  question.rows = [&](Symptom) -> const Rows& { return rows; };
  question.retest = {};
  const Diagnosis diagnosis = diagnose(question);
  EXPECT_THAT(faults_of(diagnosis),
              ElementsAre(described({ComponentKind::socket, -1, 2, -1, 0}, FaultDirection::both)));
  EXPECT_EQ(diagnosis.faults.front().name, "socket 0 of node2");
  EXPECT_THAT(diagnosis.faults.front().advice, HasSubstr("which socket its adapter sits on"));
  EXPECT_EQ(notes_of(diagnosis).size(), 1U);
}

}  // namespace
}  // namespace leadline::diagnosis
