// SPDX-License-Identifier: Apache-2.0
// Faults files: every key, names and numbers alike, and every mistake with its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "small_machine.hpp"
#include "synthetic/faults.hpp"
#include "synthetic/machine.hpp"
#include "synthetic/simulator.hpp"

namespace leadline::synthetic {
namespace {

using testing::HasSubstr;

PlantedFault fault_of(const std::string& text) {
  Machine machine = small_machine();
  parse_faults(R"({"faults": [)" + text + "]}", "faults.json", machine);
  return machine.faults.at(0);
}

std::string complaint(const std::string& text) {
  Machine machine = small_machine();
  try {
    parse_faults(text, "faults.json", machine);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    EXPECT_THAT(error.what(), HasSubstr("faults.json"));
    return error.what();
  }
  return "nothing is wrong";
}

std::string complaint_about(const std::string& fault) { return complaint(R"({"faults": [)" + fault + "]}"); }

TEST(fault_file, names_every_place) {
  const auto component = [](const std::string& text) { return fault_of("{" + text + R"(, "factor": 2})").component; };
  EXPECT_EQ(component(R"("slow_host": "node3")"), (Component{ComponentKind::host, -1, 3}));
  EXPECT_EQ(component(R"("slow_port": 3)"), (Component{ComponentKind::port, -1, 3}));
  EXPECT_EQ(component(R"("slow_inside": 0)"), (Component{ComponentKind::inside, -1, 0}));
  EXPECT_EQ(component(R"("slow_rank": 31)"), (Component{ComponentKind::rank, -1, 31}));
  EXPECT_EQ(component(R"("slow_socket": ["node2", 1])"), (Component{ComponentKind::socket, -1, 2, -1, 1}));
  EXPECT_EQ(component(R"("slow_link": ["node2", 5])"), (Component{ComponentKind::link, -1, 2, 5}));
  EXPECT_EQ(component(R"("slow_pair": [7, 9])"), (Component{ComponentKind::pair, -1, 7, 9}));
  EXPECT_EQ(component(R"("slow_switch": "pod1")"), (Component{ComponentKind::network_switch, 1, 1}));
  EXPECT_EQ(component(R"("slow_switch": 2)"), (Component{ComponentKind::network_switch, 0, 2}));
  EXPECT_EQ(component(R"("slow_uplink": 1, "level": 1)"), (Component{ComponentKind::uplink, 1, 1}));
  EXPECT_EQ(component(R"("slow_cable": ["leaf0", "leaf3"])"), (Component{ComponentKind::cable, 0, 0, 3}));
  EXPECT_EQ(component(R"("slow_rail": 3)"), (Component{ComponentKind::rail, -1, 3}));
}

TEST(fault_file, says_what_a_fault_does) {
  const PlantedFault fault =
      fault_of(R"({"slow_port": 1, "direction": "receiving", "factor": 1.5, "add_ns": 20, "only_under_load": true})");
  EXPECT_EQ(fault.direction, FaultDirection::in);
  EXPECT_EQ(fault.factor, 1.5);
  EXPECT_EQ(fault.add_ns, 20);
  EXPECT_EQ(fault.lasts, Persistence::only_under_load);
  EXPECT_EQ(fault_of(R"({"slow_link": [1, 2], "direction": "there", "factor": 2})").direction, FaultDirection::out);
  const PlantedFault lossy = fault_of(R"({"slow_host": 1, "loss": 0.01, "retry_ns": 1e6, "transient": true})");
  EXPECT_EQ(lossy.loss, 0.01);
  EXPECT_EQ(lossy.retry_ns, 1e6);
  EXPECT_EQ(lossy.lasts, Persistence::transient);
  EXPECT_EQ(symptom_of(lossy), Symptom::unsteady);
}

TEST(fault_file, changes_speeds_and_noise) {
  Machine machine = small_machine();
  parse_faults(R"({"description": "slow", "same_socket": {"latency_ns": 100, "bandwidth_bytes_per_s": 1e9},
                   "between": [{"latency_ns": 5, "bandwidth_bytes_per_s": 1e9}], "far_socket_ns": 0,
                   "noise": "none"})",
               "faults.json", machine);
  EXPECT_EQ(machine.same_socket.latency_ns, 100);
  EXPECT_EQ(machine.far_socket_ns, 0);
  EXPECT_EQ(machine.noise.pair, 0);
  EXPECT_NEAR(Simulator(machine).record(0, 30).time_ns_median, 5 + 1024, 1e-6);
  parse_faults(R"({"noise": {"pair": 0.5, "spike_most": 9}})", "faults.json", machine);
  EXPECT_EQ(machine.noise.pair, 0.5);
  EXPECT_EQ(machine.noise.spike_most, 9);
  EXPECT_EQ(machine.noise.host, Noise{}.host);
}

TEST(fault_file, refuses_mistakes_and_says_where) {
  EXPECT_THAT(complaint("["), HasSubstr("not JSON"));
  EXPECT_THAT(complaint("[]"), HasSubstr("is not an object"));
  EXPECT_THAT(complaint(R"({"fault": []})"), HasSubstr("fault: is not a known key"));
  EXPECT_THAT(complaint(R"({"faults": {}})"), HasSubstr("faults: is not a list"));
  EXPECT_THAT(complaint(R"({"between": []})"), HasSubstr("between: is empty"));
  EXPECT_THAT(complaint(R"({"noise": {"pair": 2}})"), HasSubstr("noise.pair"));
  EXPECT_THAT(complaint(R"({"noise": {"spike_scale": 60}})"), HasSubstr("spike_most"));
  EXPECT_THAT(complaint_about(R"({"factor": 2})"), HasSubstr("faults[0]: names no known fault"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1})"), HasSubstr("has no effect"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1, "factor": 0.5})"), HasSubstr("faults[0].factor: is not from 1"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 8, "factor": 2})"), HasSubstr("there is no host 8, there are 8"));
  EXPECT_THAT(complaint_about(R"({"slow_host": "node9", "factor": 2})"), HasSubstr("no host node9"));
  EXPECT_THAT(complaint_about(R"({"slow_host": -1, "factor": 2})"), HasSubstr("faults[0].slow_host"));
  EXPECT_THAT(complaint_about(R"({"slow_rank": 32, "factor": 2})"), HasSubstr("no rank 32"));
  EXPECT_THAT(complaint_about(R"({"slow_rail": 4, "factor": 2})"), HasSubstr("no slot 4"));
  EXPECT_THAT(complaint_about(R"({"slow_socket": [1, 2], "factor": 2})"), HasSubstr("no socket 2"));
  EXPECT_THAT(complaint_about(R"({"slow_socket": 1, "factor": 2})"), HasSubstr("[host, socket]"));
  EXPECT_THAT(complaint_about(R"({"slow_link": [1, 1], "factor": 2})"), HasSubstr("the same"));
  EXPECT_THAT(complaint_about(R"({"slow_switch": "spine7", "factor": 2})"), HasSubstr("no switch spine7"));
  EXPECT_THAT(complaint_about(R"({"slow_switch": 4, "factor": 2})"), HasSubstr("no leaf switch 4"));
  EXPECT_THAT(complaint_about(R"({"slow_switch": 0, "level": 2, "factor": 2})"), HasSubstr("no level 2"));
  EXPECT_THAT(complaint_about(R"({"slow_cable": ["leaf0", "pod1"], "factor": 2})"), HasSubstr("no switch pod1"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1, "level": 0, "factor": 2})"), HasSubstr("level: is not a known key"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1, "slow_rank": 2, "factor": 2})"), HasSubstr("slow_rank"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1, "direction": "there", "factor": 2})"), HasSubstr("sending"));
  EXPECT_THAT(complaint_about(R"({"slow_inside": 1, "direction": "both", "factor": 2})"), HasSubstr("no direction"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1, "factor": 2, "retry_ns": 5})"), HasSubstr("without loss"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1, "loss": 1.5})"), HasSubstr("loss: is not from 0 to 1"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1, "factor": 2, "only_under_load": 1})"), HasSubstr("true nor false"));
  EXPECT_THAT(complaint_about(R"({"slow_host": 1, "factor": 2, "only_under_load": true, "transient": true})"),
              HasSubstr("both"));
  EXPECT_THAT(complaint_about("7"), HasSubstr("is not an object"));
}

TEST(fault_file, that_cannot_be_read_is_named) {
  Machine machine = small_machine();
  EXPECT_THROW(load_faults("/nowhere/faults.json", machine), Error);
  EXPECT_THROW(load_faults("/", machine), Error);
}

TEST(words, say_where_and_what) {
  const Machine machine = small_machine();
  const auto words = [&](const std::string& text) { return words_of(machine, fault_of(text)); };
  EXPECT_EQ(words(R"({"slow_port": 1, "direction": "sending", "factor": 1.5})"),
            "the port of node1, sending only: takes 1.5 times as long");
  EXPECT_EQ(words(R"({"slow_link": [1, 2], "direction": "back", "add_ns": 200, "transient": true})"),
            "the link node1 - node2, back only: takes 200 ns more, not when it is measured again");
  EXPECT_EQ(words(R"({"slow_uplink": "pod1", "loss": 0.01, "only_under_load": true})"),
            "the uplink of pod pod1: loses 1 % of messages, under load only");
  EXPECT_EQ(words(R"({"slow_pair": [7, 9], "factor": 2})"),
            "the pair rank 7 (node1) - rank 9 (node2): takes 2 times as long");
}

}  // namespace
}  // namespace leadline::synthetic
