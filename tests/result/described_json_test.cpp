// SPDX-License-Identifier: Apache-2.0
// One description of a struct gives its JSON and the schema of that, for every type that a value may have.
#include "result/described_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "support/schema.hpp"

namespace leadline::test {
namespace {

enum class Colour : std::uint8_t { red, green };

constexpr Named<Colour> colour_names[] = {{Colour::red, "red", "of fire"}, {Colour::green, "green", "of grass"}};

std::span<const Named<Colour>> names_of(Colour /*any*/) { return colour_names; }
const char* name_of(Colour colour) { return name_in(colour_names, colour); }

struct Inner {
  std::int32_t rank = -1;
  std::string host;
};

struct Everything {
  bool is_there = true;
  std::int64_t num = 3;
  double time_ns = 2.5, share = 0.5;
  std::string text = "a";
  Colour colour = Colour::green;
  std::vector<Inner> list{{2, "node2"}, {}};
  std::optional<Inner> none;
  Inner part{7, ""};
  std::array<double, 2> of_colour{1, std::numeric_limits<double>::quiet_NaN()};
  std::optional<std::int32_t> extent;

  double twice_ns() const { return 2 * time_ns; }
};

}  // namespace
}  // namespace leadline::test

template <>
inline constexpr const char* leadline::result::about<leadline::test::Inner> = "Where it is.";

namespace leadline {

template <>
inline constexpr auto fields<test::Inner> = std::tuple{
    field("rank", result::or_null(&test::Inner::rank), "", "which rank"),
    field("host", result::or_null(&test::Inner::host), "", "its host"),
};

template <>
inline constexpr auto fields<test::Everything> = std::tuple_cat(
    std::tuple{
        field(
            "kind", [](const test::Everything& /*any*/) { return result::Constant<"all">(); }, "", "which document"),
        field("is_there", &test::Everything::is_there, "", "whether it is there"),
        field("num", &test::Everything::num, "1", "so many"),
        field("time_ns", &test::Everything::time_ns, "ns", "how long"),
        field("twice_ns", &test::Everything::twice_ns, "ns", "twice that"),
        field("share", result::as<result::Share>(&test::Everything::share), "", "of the whole"),
        field("text", &test::Everything::text, "", "any text"),
        field("colour", &test::Everything::colour, "", "of two"),
        field("list", &test::Everything::list, "", "some of them"),
        field("none", &test::Everything::none, "", "one, or none"),
    },
    result::fields_through<test::Inner>(&test::Everything::part),
    std::tuple{
        field("of_colour", result::as<result::ByName<test::Colour, double>>(&test::Everything::of_colour), "",
              "by colour"),
        field("extent", result::as<result::OptionalKey<std::int32_t>>(&test::Everything::extent), "", "of some only"),
    });

}  // namespace leadline

namespace leadline::test {
namespace {

using nlohmann::json;
using result::json_of;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(DescribedJson, HasTheKeysInTheOrderOfTheFields) {
  EXPECT_EQ(json_of(Everything()).in_one_line(),
            R"({"kind":"all","is_there":true,"num":3,"time_ns":2.5,"twice_ns":5.0,"share":0.5,"text":"a",)"
            R"("colour":"green","list":[{"rank":2,"host":"node2"},{"rank":null,"host":null}],"none":null,)"
            R"("rank":7,"host":null,"of_colour":{"red":1.0,"green":null}})");
  Everything with_more;
  with_more.none = Inner{1, "node1"};
  with_more.extent = 4;
  const Json more = json_of(with_more);
  EXPECT_EQ(more.at("none").in_one_line(), R"({"rank":1,"host":"node1"})");
  EXPECT_EQ(more.at("extent").get<int>(), 4);
}

TEST(DescribedJson, HasASchemaOfTheSameKeys) {
  const json schema = json::parse(result::document_schema<Everything>("all", "All").in_one_line());
  EXPECT_EQ(schema["$id"], "urn:leadline:all:1");
  EXPECT_EQ(schema["required"].size(), 13U);
  EXPECT_EQ(schema["properties"].size(), 14U);
  const auto of = [&](const char* key) { return schema["properties"][key].dump(); };
  EXPECT_EQ(of("kind"), R"({"const":"all","description":"Which document."})");
  EXPECT_EQ(of("num"), R"({"description":"So many.","minimum":0,"type":"integer"})");
  EXPECT_EQ(of("time_ns"), R"({"description":"How long (nanoseconds).","minimum":0,"type":["number","null"]})");
  EXPECT_EQ(of("share"), R"({"description":"Of the whole.","exclusiveMinimum":0,"maximum":1,"type":"number"})");
  EXPECT_EQ(of("colour"), R"({"description":"Of two.","enum":["red","green"]})");
  EXPECT_EQ(of("rank"), R"({"description":"Which rank.","minimum":0,"type":["integer","null"]})");
  EXPECT_EQ(schema["properties"]["none"]["description"], "One, or none. Where it is.");
  EXPECT_EQ(schema["properties"]["none"]["type"], json({"object", "null"}));
  EXPECT_EQ(schema["properties"]["list"]["items"]["description"], "Where it is.");
  EXPECT_EQ(schema["properties"]["of_colour"]["properties"]["red"]["description"], "Of fire.");
}

TEST(DescribedJson, FitsItsSchemaAndAnythingElseDoesNot) {
  const Schema schema(result::document_schema<Everything>("all", "All"));
  json document = json::parse(json_of(Everything()).in_one_line());
  EXPECT_THAT(schema.complaints(document), IsEmpty());
  document["extent"] = 4;
  EXPECT_THAT(schema.complaints(document), IsEmpty());
  document["list"][0].erase("rank");
  document["colour"] = "blue";
  EXPECT_EQ(schema.complaints(document).size(), 2U);
}

}  // namespace
}  // namespace leadline::test
