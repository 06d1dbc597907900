// SPDX-License-Identifier: Apache-2.0
// Fabrics as ibnetdiscover prints them: hosts, switches, and outputs that are not whole.
#include "network/ib_topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check.hpp"
#include "ib_sample.hpp"
#include "support/refusal.hpp"

namespace leadline::network {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Network discovered(const std::string& text) {
  Network network = parse_ib_topology("ib.txt", text);
  expect_sound(network);
  EXPECT_EQ(network.source, "ib.txt");
  return network;
}

std::string ib_refusal(const std::string& text) {
  return test::refusal_of([&] { parse_ib_topology("ib.txt", text); }, {text});
}

/// One switch with two hosts on it, and what else is given.
std::string one_switch(const std::string& more_ports, const std::string& behind = {}) {
  return "Switch 36 \"S-01\" # \"top\" base port 0 lid 1 lmc 0\n"
         "[1] \"H-01\"[1](1) # \"n1 HCA-1\" lid 2 4xEDR\n"
         "[2] \"H-02\"[1](2) # \"n2 HCA-1\" lid 3 4xEDR\n" +
         more_ports + "\n" + behind;
}

TEST(ib_topology, has_hosts_on_the_switches_of_their_first_adapters) {
  const Network network = discovered(ib_sample);
  EXPECT_THAT(network.hosts, ElementsAre("node01", "node02", "node03"));
  EXPECT_THAT(kinds_of(network), ElementsAre("leaf switch"));
  EXPECT_THAT(groups_of(network.levels[0]),
              ElementsAre("MF0;leaf-1:MQM8700/U1", "MF0;leaf-1:MQM8700/U1", "MF0;leaf-2:MQM8700/U1"));
  EXPECT_THAT(network.hops, IsEmpty());
}

TEST(ib_topology, takes_adapters_in_the_order_of_their_numbers) {
  const std::string two =
      "Switch 36 \"S-0a\" # \"rail 2\"\n[1] \"H-01\"[1] # \"n1 mlx5_10\"\n[2] \"H-02\"[2] # \"n2 mlx5_0\"\n"
      "[9] \"S-0b\"[9] # \"rail 1\"\n\n"
      "Switch 36 \"S-0b\" # \"rail 1\"\n[1] \"H-03\"[1] # \"n1 mlx5_2\"\n[2] \"H-02\"[1] # \"n2 mlx5_0\"\n"
      "[9] \"S-0a\"[9] # \"rail 2\"\n";
  EXPECT_THAT(groups_of(discovered(two).levels[0]), ElementsAre("rail 1", "rail 1"));
}

TEST(ib_topology, tells_switches_of_one_description_apart) {
  const Network network = discovered(
      "Switch 8 \"S-0a\" # \"SwitchIB Mellanox Technologies\" base\n[1] \"H-01\"[1] # \"n1\" lid 1\n[3] \"S-0b\"[3] #\n"
      "Switch 8 \"S-0b\" # \"SwitchIB Mellanox Technologies\" base\n[1] \"H-02\"[1] # \"n2\" lid 1\n[3] \"S-0a\"[3] #\n"
      "[4] \"S-0c\"[1] #\nSwitch 8 \"S-0c\" # \"\"\n[1] \"S-0b\"[4]\n[2] \"H-03\"[1] # \"n3\"\n");
  EXPECT_THAT(network.levels[0].names,
              ElementsAre("SwitchIB Mellanox Technologies S-0a", "SwitchIB Mellanox Technologies S-0b", "S-0c"));
  EXPECT_THAT(network.hops, ElementsAre(0, 1, 2, 1, 0, 1, 2, 1, 0));
}

TEST(ib_topology, leaves_out_what_is_no_host) {
  const Network network =
      discovered(one_switch("[3] \"H-03\"[1](3) # \"Mellanox Technologies Aggregation Node\" lid 9\n"
                            "[4] \"R-04\"[1] # \"router\" lid 8\n[5] \"H-05\"[1]\n"
                            "[6] \"H-06\"[1] # \"MT4115 ConnectX4 Mellanox Technologies\"",
                            "Ca 2 \"H-07\" # \"n7 HCA-1\"\n[1](7) \"H-08\"[1](8) # lid 0\n"
                            "Rt 2 \"R-04\" # \"router\"\n[1] \"S-01\"[4] # lid 8\n"));
  EXPECT_THAT(network.hosts, ElementsAre("n1", "n2"));
}

TEST(ib_topology, reads_grouped_output_and_what_stands_between) {
  const Network network = discovered(
      "ibwarn: [42] something\n#\n# Topology file: generated on some day\n#\nChassis 1 (guid 0x1)\n\nSpine 1\n" +
      one_switch("[3][ext 7] \"H-03\"[1](3) # \"n3 \"quoted\" HCA-1\" lid 9", "Non-Chassis Nodes\nHostname: x\n"));
  EXPECT_THAT(network.hosts, ElementsAre("n1", "n2", "n3"));
}

TEST(ib_topology, names_the_line_that_is_wrong) {
  EXPECT_THAT(ib_refusal("[1] \"S-01\"[1]\n"),
              AllOf(HasSubstr("cannot use 'ib.txt' as a network (line 1: a port without a node"),
                    HasSubstr("complete output of ibnetdiscover")));
  EXPECT_THAT(ib_refusal(one_switch("[3] \"H-0")), HasSubstr("line 4: it names no port"));
  EXPECT_THAT(ib_refusal(one_switch("[3")), HasSubstr("line 4: it names no port"));
  EXPECT_THAT(ib_refusal(one_switch("[x] \"H-03\"[1]")), HasSubstr("line 4: it names no port"));
  EXPECT_THAT(ib_refusal(one_switch("[3] \"H-03\"")), HasSubstr("line 4: no port of 'H-03'"));
  EXPECT_THAT(ib_refusal(one_switch("[99999999999] \"H-03\"[1]")), HasSubstr("line 4: it names no port"));
  EXPECT_THAT(ib_refusal(one_switch("[3] \"S-02\"[1] # \"other\"")),
              HasSubstr("line 4: switch 'S-02' has no lines of its own"));
  EXPECT_THAT(ib_refusal(one_switch("", one_switch(""))), HasSubstr("line 5: 'S-01' is listed twice"));
  EXPECT_THAT(ib_refusal(one_switch("[3] \"S-02\"[3]",
                                    "Switch 8 \"S-02\" # \"x\"\n[3] \"S-01\"[3]\n"
                                    "[4] \"H-01\"[1]\n")),
              HasSubstr("line 7: port 1 of 'H-01' is on two switches"));
  EXPECT_THAT(ib_refusal("Ca 1 \"H-01\" # \"n1\"\n[1](1) \"H-02\"[1](2) #\n"),
              AllOf(HasSubstr("no adapter at a switch names its host"), HasSubstr("rdma-ndd")));
  EXPECT_THAT(ib_refusal(one_switch("", "Switch 8 \"S-02\" # \"x\"\n[1] \"H-03\"[1] # \"n3\"\n")),
              HasSubstr("no cables lead from n1 to n3"));
}

}  // namespace
}  // namespace leadline::network
