// SPDX-License-Identifier: Apache-2.0
// Physical networks as lists of cables.
#include "network/cables.hpp"

#include <gtest/gtest.h>

#include "ib_sample.hpp"
#include "network/parse_network.hpp"
#include "support/refusal.hpp"

namespace leadline::network {
namespace {

TEST(cables, of_ibnetdiscover_have_the_rates_that_it_tells) {
  EXPECT_EQ(cables_of_text("ib.txt", ib_sample),
            "hosts: node01 node02 node03\n"
            "node01 switch:MF0;leaf-1:MQM8700/U1 200\n"
            "node02 switch:MF0;leaf-1:MQM8700/U1 200\n"
            "node03 switch:MF0;leaf-2:MQM8700/U1 200\n"
            "switch:MF0;spine-1:MQM8700/U1 switch:MF0;leaf-1:MQM8700/U1 200\n"
            "switch:MF0;spine-1:MQM8700/U1 switch:MF0;leaf-2:MQM8700/U1 200\n");
}

TEST(cables, between_two_switches_are_added_up_and_equal_where_one_is_not_told) {
  std::string text = ib_sample;
  const std::string first = "[1]\t\"S-b8599f0300000001\"[40]\t\t# \"MF0;leaf-1:MQM8700/U1\" lid 1 4xHDR\n";
  const std::size_t at = text.find(first);
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "[3]\t\"S-b8599f0300000001\"[39]\t\t# \"MF0;leaf-1:MQM8700/U1\" lid 1 4xNDR\n");
  EXPECT_NE(cables_of_text("ib.txt", text).find("switch:MF0;leaf-1:MQM8700/U1 600\n"), std::string::npos);
  text.replace(text.find("4xNDR"), 5, "4xNEW");
  const std::string equal = cables_of_text("ib.txt", text);
  EXPECT_NE(equal.find("switch:MF0;leaf-1:MQM8700/U1 2\n"), std::string::npos) << equal;
  EXPECT_NE(equal.find("node02 switch:MF0;leaf-1:MQM8700/U1 1\n"), std::string::npos) << equal;
}

TEST(cables, of_a_topology_conf_lead_up_for_each_host_below) {
  EXPECT_EQ(cables_of_text("topology.conf",
                           "SwitchName=s0 Nodes=n[0-2]\nSwitchName=s1 Nodes=n3\nSwitchName=top Switches=s[0-1]\n"),
            "hosts: n0 n1 n2 n3\n"
            "n0 switch:s0 1\nn1 switch:s0 1\nn2 switch:s0 1\nswitch:s0 switch:top 3\n"
            "n3 switch:s1 1\nswitch:s1 switch:top 1\n");
}

TEST(cables, are_a_network_again) {
  for (const std::string& text : {std::string(ib_sample), std::string("SwitchName=s0 Nodes=n[0-2]\nSwitchName=s1 "
                                                                      "Nodes=n3\nSwitchName=t Switches=s[0-1]\n")}) {
    const Network direct = parse_topology("file", text);
    const Network again = parse_topology("file", cables_of_text("file", text));
    EXPECT_EQ(again.hosts, direct.hosts);
    for (std::uint32_t host = 1; host < direct.hosts.size(); ++host) {
      EXPECT_EQ(distance(again, 0, host), distance(direct, 0, host));
    }
  }
}

TEST(cables, of_a_list_are_that_list) {
  EXPECT_EQ(cables_of_text("list", "a s 2\nb s # c\n"), "a s 2\nb s # c\n");
  EXPECT_NE(test::refusal_of([] { cables_of_text("list", ""); }, {"list"}).find("it is empty"), std::string::npos);
}

}  // namespace
}  // namespace leadline::network
