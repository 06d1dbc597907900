// SPDX-License-Identifier: Apache-2.0
// Forwarding tables: which cables and switches the ways of pairs pass, and tables that are refused.
#include "network/routes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ib_sample.hpp"
#include "support/refusal.hpp"

namespace leadline::network {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Of the two leaves and the spine of the sample: node01 and node02 on leaf 1, node03 on leaf 2.
std::string tables(const std::string& spine_port_to_node03 = "002", const std::string& more = "") {
  const std::string hosts[] = {"0x000b", " : (Channel Adapter portguid 0x0c42a10300000001: 'node01 HCA-1')\n",
                               "0x000c", " : (Channel Adapter portguid 0x0c42a10300000002: 'node02 HCA-1')\n",
                               "0x000d", " : (Channel Adapter portguid 0x0c42a10300000003: 'node03 HCA-1')\n"};
  const auto table = [&](const std::string& guid, const std::vector<std::string>& ports) {
    std::string text = "Unicast lids [0x0-0xd] of switch DR path slid 0; dlid 0; 0,1 guid 0x" + guid +
                       " (MF0;name:MQM8700/U1):\n  Lid  Out   Destination\n       Port     Info \n"
                       "0x0001 000 : (Switch portguid 0xb8599f0300000001: 'MF0;leaf-1:MQM8700/U1')\n";
    for (std::size_t host = 0; host < ports.size(); ++host)
      text += hosts[2 * host] + " " + ports[host] + hosts[2 * host + 1];
    return text + "4 valid lids dumped \n";
  };
  return table("b8599f0300000001", {"001", "002", "040"}) + table("b8599f0300000002", {"040", "040", "001"}) +
         table("b8599f0300000003", {"001", "001", spine_port_to_node03}) + more;
}

const std::vector<std::string> all_hosts{"node01", "node02", "node03"};

Routes routed(const std::string& text, const std::vector<std::string>& hosts = all_hosts) {
  return parse_routes("lfts", text, "ib.txt", ib_sample, hosts);
}

std::string refusal(const std::string& text, const std::vector<std::string>& hosts = all_hosts) {
  return test::refusal_of([&] { routed(text, hosts); }, {text});
}

std::vector<std::string> names_on(const Routes& routes, std::uint32_t from, std::uint32_t to) {
  std::vector<std::string> names;
  for (const std::uint32_t part : routes.way(from, to)) names.push_back(name_of(routes.parts[part]));
  return names;
}

const std::string near_cable = "cable MF0;leaf-1:MQM8700/U1 (port 40) - MF0;spine-1:MQM8700/U1 (port 1)",
                  far_cable = "cable MF0;leaf-2:MQM8700/U1 (port 40) - MF0;spine-1:MQM8700/U1 (port 2)",
                  spine = "switch MF0;spine-1:MQM8700/U1";

TEST(routes, pass_the_cables_and_the_switches_without_hosts_that_tables_say) {
  const Routes routes = routed(tables());
  EXPECT_THAT(names_on(routes, 0, 1), IsEmpty());
  EXPECT_THAT(names_on(routes, 0, 2), ElementsAre(near_cable, spine, far_cable));
  EXPECT_THAT(names_on(routes, 2, 1), ElementsAre(far_cable, spine, near_cable));
}

TEST(routes, are_the_same_for_the_other_ranks_of_a_run_but_for_names) {
  const Routes routes = routed(tables()), packed_and_back = unpacked_routes(packed(routes));
  EXPECT_EQ(packed_and_back.leaf_of, routes.leaf_of);
  EXPECT_EQ(packed_and_back.begin, routes.begin);
  EXPECT_EQ(packed_and_back.passed, routes.passed);
  ASSERT_EQ(packed_and_back.parts.size(), routes.parts.size());
  for (std::size_t part = 0; part < routes.parts.size(); ++part) {
    EXPECT_EQ(packed_and_back.parts[part].is_switch(), routes.parts[part].is_switch()) << part;
  }
}

TEST(routes, are_of_the_hosts_of_the_run_in_their_order) {
  const Routes routes = routed(tables(), {"node03.site", "node01.site"});
  EXPECT_THAT(routes.leaf_of, ElementsAre(0, 1));
  EXPECT_THAT(names_on(routes, 0, 1), ElementsAre(far_cable, spine, near_cable));
}

TEST(routes, read_the_tables_that_opensm_writes) {
  std::string text = tables();
  for (std::size_t at = 0; (at = text.find(" : (", at)) != std::string::npos;) text.replace(at, 4, " # ");
  EXPECT_THAT(names_on(routed(text), 0, 2), ElementsAre(near_cable, spine, far_cable));
}

TEST(routes, are_unknown_where_the_table_of_a_switch_on_the_way_is_missing) {
  const std::string text = tables();
  const std::string without_spine = text.substr(0, text.rfind("Unicast lids"));
  EXPECT_THAT(names_on(routed(without_spine), 0, 2), IsEmpty());
}

TEST(routes, end_in_an_error_where_messages_go_round) {
  EXPECT_THAT(refusal(tables("001")), AllOf(HasSubstr("cannot use 'lfts' as forwarding tables (line 23:"),
                                            HasSubstr("messages to LID 0x000d go round")));
}

TEST(routes, refuse_lines_that_are_no_entries) {
  EXPECT_THAT(refusal("0x0001 001 : (x)\n"), HasSubstr("line 1: an entry without a switch"));
  EXPECT_THAT(refusal(tables("002", "0x0 001\n")), HasSubstr("line 25: '0x0' is no LID"));
  EXPECT_THAT(refusal(tables("002", "0x10000 001\n")), HasSubstr("line 25: '0x10000' is no LID"));
  EXPECT_THAT(refusal(tables("002", "0xzz 001\n")), HasSubstr("line 25: '0xzz' is no LID"));
  EXPECT_THAT(refusal(tables("002", "0x0011\n")), HasSubstr("line 25: it names no port"));
  EXPECT_THAT(refusal(tables("002", "0x0011 256 : x\n")), HasSubstr("line 25: it names no port"));
}

TEST(routes, refuse_tables_of_another_fabric) {
  EXPECT_THAT(refusal("no tables\n"), HasSubstr("it has no table of a switch"));
  EXPECT_THAT(refusal("Unicast lids [0x0-0x1] of switch Lid 9 (name):\n"), HasSubstr("line 1: it names no guid"));
  EXPECT_THAT(refusal("Unicast lids [0x0-0x1] of switch Lid 9 guid 0x99 (name):\n"),
              HasSubstr("line 1: 'ib.txt' has no switch with guid 0x0000000000000099"));
  EXPECT_THAT(refusal(tables("002", "Unicast lids [0x0] of switch Lid 1 guid 0xb8599f0300000001 (x):\n")),
              HasSubstr("line 25: the table of this switch is in line 1, too"));
}

TEST(routes, refuse_tables_that_do_not_lead_to_a_host) {
  const std::string text = tables(), first = text.substr(0, text.find("Unicast lids", 1));
  EXPECT_THAT(refusal(first), HasSubstr("it has no table of MF0;leaf-2:MQM8700/U1, where host node03 is"));
  std::string unnamed = text;
  for (std::size_t at = 0; (at = unnamed.find("node03", at)) != std::string::npos;) unnamed.replace(at, 6, "other3");
  EXPECT_THAT(refusal(unnamed), HasSubstr("no line names host node03"));
  std::string moved = text;
  moved.replace(moved.find("0x000b 001"), 10, "0x000b 005");
  EXPECT_THAT(refusal(moved), HasSubstr("line 1: no entry leads to host node01 by port 1"));
}

}  // namespace
}  // namespace leadline::network
