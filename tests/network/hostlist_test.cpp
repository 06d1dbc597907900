// SPDX-License-Identifier: Apache-2.0
// Lists of hosts in Slurm's short form.
#include "network/hostlist.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/refusal.hpp"

namespace leadline::network {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

const std::string list_file = "topology.conf";

std::vector<std::string> expanded(std::string_view list, std::size_t most = 1000) {
  return expand_hostlist(Line{list_file, 7}, list, most);
}

std::string list_refusal(const std::string& list, std::size_t most = 1000) {
  return test::refusal_of([&] { expanded(list, most); }, {list});
}

TEST(hostlist, is_names_and_ranges) {
  EXPECT_THAT(expanded("m3"), ElementsAre("m3"));
  EXPECT_THAT(expanded("n[0-2,20],m3"), ElementsAre("n0", "n1", "n2", "n20", "m3"));
  EXPECT_THAT(expanded("b,a,b"), ElementsAre("b", "a", "b"));
  EXPECT_THAT(expanded("n[3]-ib"), ElementsAre("n3-ib"));
  EXPECT_THAT(expanded("[1-2]"), ElementsAre("1", "2"));
}

TEST(hostlist, keeps_leading_zeros_of_the_first_number) {
  EXPECT_THAT(expanded("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(expanded("n[8-10]"), ElementsAre("n8", "n9", "n10"));
  EXPECT_THAT(expanded("n[000,1]"), ElementsAre("n000", "n1"));
  EXPECT_THAT(expanded("n[01-2]"), ElementsAre("n01", "n02"));
}

TEST(hostlist, takes_several_brackets) {
  EXPECT_THAT(expanded("r[1-2]n[0-1]x"), ElementsAre("r1n0x", "r1n1x", "r2n0x", "r2n1x"));
  EXPECT_THAT(expanded("r[0-9]c[00-09]n[0-9]"), SizeIs(1000));
}

TEST(hostlist, says_what_is_wrong) {
  EXPECT_THAT(list_refusal(""),
              AllOf(HasSubstr("cannot use 'topology.conf' as a network (line 7: "), HasSubstr("an empty name")));
  EXPECT_THAT(list_refusal("a,"), HasSubstr("'a,' has an empty name"));
  EXPECT_THAT(list_refusal(",a"), HasSubstr("an empty name"));
  EXPECT_THAT(list_refusal("n[1-2"), HasSubstr("a [ without a ]"));
  EXPECT_THAT(list_refusal("n1]"), HasSubstr("a ] without a ["));
  EXPECT_THAT(list_refusal("n[1-[2]]"), HasSubstr("'1-[2' is no number"));
  EXPECT_THAT(list_refusal("n[]"), HasSubstr("'' is no number"));
  EXPECT_THAT(list_refusal("n[1,]"), HasSubstr("'' is no number"));
  EXPECT_THAT(list_refusal("n[-1]"), HasSubstr("'-1' is no number"));
  EXPECT_THAT(list_refusal("n[1-2-3]"), HasSubstr("'1-2-3' is no number"));
  EXPECT_THAT(list_refusal("n[a-c]"), HasSubstr("'a-c' is no number"));
  EXPECT_THAT(list_refusal("n[5-3]"), HasSubstr("the range '5-3' ends before it begins"));
  EXPECT_THAT(list_refusal("n[0-99999999999999999999]"), HasSubstr("no number"));
  EXPECT_THAT(list_refusal(std::string(300, 'a')), HasSubstr("too long"));
}

TEST(hostlist, refuses_more_names_than_there_may_be_without_making_them) {
  EXPECT_THAT(expanded("n[1-1000]"), SizeIs(1000));
  EXPECT_THAT(list_refusal("n[0-1000]"), HasSubstr("too many"));
  EXPECT_THAT(list_refusal("n[1-1000],m"), HasSubstr("too many"));
  EXPECT_THAT(list_refusal("n[0-999999999999999999]"), HasSubstr("too many"));
  std::string product;
  for (int bracket = 0; bracket < 8; ++bracket) product += "[0-99999999]";
  EXPECT_THAT(list_refusal(product), HasSubstr("too many"));
  std::string sum = "[0";
  for (int range = 0; range < 20; ++range) sum += ",0-999999999999999999";
  EXPECT_THAT(list_refusal(sum + "]"), HasSubstr("too many"));
  EXPECT_THAT(list_refusal("n", 0), HasSubstr("too many"));
}

std::string folded(const std::vector<std::string>& names) { return folded_hostlist(names); }

TEST(hostlist, is_folded) {
  EXPECT_EQ(folded({}), "");
  EXPECT_EQ(folded({"login"}), "login");
  EXPECT_EQ(folded({"node24"}), "node24");
  EXPECT_EQ(folded({"node25", "node24", "node26", "node30"}), "node[24-26,30]");
  EXPECT_EQ(folded({"a1", "a2", "b", "a1", "c7-ib0", "c8-ib0"}), "a[1-2],b,c[7-8]-ib0");
  EXPECT_EQ(folded({"r1n0", "r1n1", "r2n0"}), "r1n[0-1],r2n0");
  EXPECT_EQ(folded({"1", "2"}), "[1-2]");
}

TEST(hostlist, is_folded_with_leading_zeros) {
  EXPECT_EQ(folded({"node08", "node09", "node10", "node11"}), "node[08-11]");
  EXPECT_EQ(folded({"node8", "node9", "node10"}), "node[8-10]");
  EXPECT_EQ(folded({"n9", "n09", "n10"}), "n[9,09-10]");
  EXPECT_EQ(folded({"n099", "n100", "n101"}), "n[099-101]");
}

TEST(hostlist, that_is_folded_expands_to_the_same_names) {
  const std::vector<std::vector<std::string>> lists = {
      {"n9", "n09", "n10", "n11", "n011"},
      {"r01c1", "r01c2", "r02c9", "r02c10", "login", "r1"},
      {"1234567890123456789", "1234567890123456788"},  // too long for a number
      {"a0", "a", "a00", "a1", "0"},
      {"x-", "x1-", "x2-", "x3"}};
  for (const std::vector<std::string>& names : lists) {
    const std::string text = folded(names);
    const std::vector<std::string> again = expanded(text);
    EXPECT_EQ(std::set(again.begin(), again.end()), std::set(names.begin(), names.end())) << text;
    EXPECT_EQ(again.size(), names.size()) << text;
  }
}

}  // namespace
}  // namespace leadline::network
