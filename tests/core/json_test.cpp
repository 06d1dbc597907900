// SPDX-License-Identifier: Apache-2.0
// JSON values: what is written is what is read; wrong texts and types.
#include "core/json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace leadline {
namespace {

using testing::HasSubstr;

Json document() {
  Json json = {{"text", "a \"b\" \\ \n \x01 \u00fc"},
               {"numbers", Json::array({0, -1, 1.0, 0.1, 1e300, std::numeric_limits<std::uint64_t>::max()})},
               {"nothing", nullptr},
               {"empty", {{"list", Json::array()}, {"object", Json::object()}}},
               {"truth", true}};
  json["later"] = std::vector<std::string>{"x", "y"};
  return json;
}

TEST(Json, IsWrittenInTheOrderOfItsMembers) {
  EXPECT_EQ(document().in_one_line(),
            R"({"text":"a \"b\" \\ \n \u0001 ü","numbers":[0,-1,1.0,0.1,1e+300,18446744073709551615],"nothing":null,)"
            R"("empty":{"list":[],"object":{}},"truth":true,"later":["x","y"]})");
  EXPECT_EQ(Json({{"a", Json::array({1, 2})}}).indented(), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
}

TEST(Json, IsParsedAsItWasWritten) {
  const Json parsed = Json::parse(document().indented());
  EXPECT_EQ(parsed.in_one_line(), document().in_one_line());
  EXPECT_TRUE(parsed.at("numbers").at(0).is_number_unsigned());
  EXPECT_FALSE(parsed.at("numbers").at(1).is_number_unsigned());
  EXPECT_EQ(parsed.at("numbers").at(1).get<int>(), -1);
  EXPECT_EQ(parsed.at("later").size(), 2U);
  std::vector<std::string> later;
  parsed.at("later").get_to(later);
  EXPECT_THAT(later, testing::ElementsAre("x", "y"));
}

TEST(Json, EveryDoubleComesBack) {
  for (const double value : {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789012345680.0, 1e21}) {
    const double parsed = Json::parse(Json(value).in_one_line()).get<double>();
    EXPECT_EQ(parsed, value);
    EXPECT_EQ(std::signbit(parsed), std::signbit(value));
  }
  EXPECT_EQ(Json(std::nan("")).in_one_line(), "null");
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) {
  for (const std::string text : {"\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80"}) {
    EXPECT_THAT(Json::parse(Json(text).in_one_line()).get<std::string>(), HasSubstr("\xef\xbf\xbd"));
  }
  EXPECT_EQ(Json("\xc3\xbc").in_one_line(), "\"\xc3\xbc\"");
}

TEST(Json, WrongTextsAreRefusedWithTheirPlace) {
  for (const char* const text : {"", "{", "[1,]", "{\"a\" 1}", "nul", "\"\xff\"", "1 2"}) {
    try {
      Json::parse(text);
      ADD_FAILURE() << text << " was parsed";
    } catch (const JsonError& error) {
      EXPECT_GT(error.byte, 0U) << text;
    }
  }
  EXPECT_NO_THROW(Json::parse(std::string(100, '[') + std::string(100, ']')));
  EXPECT_THROW(Json::parse(std::string(101, '[') + std::string(101, ']')), JsonError);
  EXPECT_THROW(Json::parse(std::string(1'000'000, '[')), JsonError);
}

TEST(Json, OfTwoMembersWithOneNameTheLastCounts) {
  const Json json = Json::parse(R"({"a": {"x": 1}, "a": {"y": [2, {"z": 3}]}, "b": 4})");
  EXPECT_EQ(json.in_one_line(), R"({"a":{"y":[2,{"z":3}]},"b":4})");
}

TEST(Json, AWrongTypeOrAMissingMemberIsAnError) {
  const Json json = document();
  EXPECT_THROW(json.at("text").get<int>(), JsonError);
  EXPECT_THROW(json.at("truth").get<double>(), JsonError);
  EXPECT_THROW(json.at("numbers").get<std::string>(), JsonError);
  EXPECT_THROW(json.at("missing"), JsonError);
  EXPECT_THROW(json.at("numbers").at(6), JsonError);
  EXPECT_THROW(json.at("text").elements(), JsonError);
  EXPECT_EQ(json.find("missing"), nullptr);
  EXPECT_EQ(Json(1).find("a"), nullptr);
  try {
    json.at("missing");
  } catch (const JsonError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'missing'"));
  }
}

TEST(Json, ElementsAreAddedAndRemovedAtTheEnd) {
  Json list;
  for (int i = 0; i < 5; ++i) list.push_back(i);
  list.remove_last(2);
  EXPECT_EQ(list.in_one_line(), "[0,1,2]");
  EXPECT_THROW(list["name"], JsonError);
}

}  // namespace
}  // namespace leadline
