// SPDX-License-Identifier: Apache-2.0
// What a table tells of its options: help, JSON, what a result records, and which of them go together.
#include "options/option_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "core/json.hpp"
#include "support/refusal.hpp"

namespace leadline {
namespace {

using test::refusal_of;
using testing::ElementsAre;

enum class Colour : std::uint8_t { red, green };
constexpr Named<Colour> colour_names[] = {{Colour::red, "red", "like fire"}, {Colour::green, "green"}};
std::span<const Named<Colour>> names_of(Colour /*any*/) { return colour_names; }
const char* name_of(Colour colour) { return name_in(colour_names, colour); }

struct Request {
  std::string output;
  std::uint64_t size = 1 << 20;
  std::vector<std::uint64_t> sizes{1024, 4096};
  std::vector<std::string> words{"ring", "star"};
  int limit = 0;
  double time_s = 1.5;
  double share = 0.25;
  Colour colour = Colour::green;
  bool is_quiet = false;
};

struct Table {
  Request request;
  OptionTable options;

  Table() {
    options.group("What");
    options.file("-o,--output", "what to write", request.output);
    options.size("--object-size", "of each", 8, 1 << 30, request.size);
    options.sizes("--message-size", "of messages", 1, 1 << 30, request.sizes);
    options.words("--pattern", "which", request.words, [](const std::string&, const std::string&) {});
    options.count("--limit", "at most so many", 1, 9, request.limit, "all");
    options.seconds("--time", "so long", 1, request.time_s);
    options.share("--threshold", "so much", 0.1, request.share);
    options.choice("--colour", "of everything", request.colour);
    options.flag("--green", "as the default", request.colour, Colour::green)
        .needs("--time", "nothing is green at once")
        .conflicts_with("--colour", "each says the colour");
    options.flag("-q,--quiet", "silent", request.is_quiet);
    options.no_effect_with("--quiet", {"--limit"}, "nothing is said");
  }

  std::string help_of(const std::string& name) const {
    for (const OptionEntry& entry : options.entries()) {
      if (entry.name == name) return entry.full_help();
    }
    return "no such option";
  }
};

TEST(OptionTable, TakesDefaultsAndChoicesOfTheHelpFromMembersAndNames) {
  const Table table;
  EXPECT_EQ(table.help_of("--object-size"), "of each. Default: 1MiB");
  EXPECT_EQ(table.help_of("--message-size"), "of messages. Default: 1KiB,4KiB");
  EXPECT_EQ(table.help_of("--pattern"), "which. Default: ring,star");
  EXPECT_EQ(table.help_of("--limit"), "at most so many. Default: all");
  EXPECT_EQ(table.help_of("--time"), "so long. Default: 1.5s");
  EXPECT_EQ(table.help_of("--threshold"), "so much. Default: 25%");
  EXPECT_EQ(table.help_of("--colour"), "of everything: red (like fire) or green. Default: green");
  EXPECT_EQ(table.help_of("--quiet"), "silent");
}

TEST(OptionTable, RecordsWhatItsMembersHold) {
  Table table;
  table.request.colour = Colour::red;
  table.request.limit = 3;
  std::vector<std::string> texts;
  for (const Option& option : table.options.recorded())
    texts.push_back(json_name(option) + "=" + as_text(option.value));
  EXPECT_THAT(texts,
              ElementsAre("output=", "object_size_bytes=1048576", "message_size_bytes=1024,4096", "pattern=ring,star",
                          "limit=3", "time_s=1.5", "threshold=0.25", "colour=red", "green=false", "quiet=false"));
}

TEST(OptionTable, TellsOfItsOptionsAsData) {
  const Json told = Table().options.described("leadline paint");
  EXPECT_EQ(told.at("command").get<std::string>(), "paint");
  const Json& colour = told.at("options").at(7);
  EXPECT_EQ(colour.at("long").get<std::string>(), "--colour");
  EXPECT_TRUE(colour.at("short").is_null());
  EXPECT_EQ(colour.at("value").get<std::string>(), "NAME");
  EXPECT_EQ(colour.at("choices").size(), 2u);
  EXPECT_EQ(colour.at("default").get<std::string>(), "green");
  EXPECT_EQ(colour.at("group").get<std::string>(), "What");
  const Json& green = told.at("options").at(8);
  EXPECT_TRUE(green.at("value").is_null());
  EXPECT_EQ(green.at("needs").at(0).get<std::string>(), "--time");
  EXPECT_EQ(green.at("excludes").at(0).get<std::string>(), "--colour");
  EXPECT_TRUE(told.at("options").at(0).at("is_file").get<bool>());
}

TEST(OptionTable, HasASchemaOfWhatResultsSayOfIt) {
  const Json schema = Table().options.recorded_schema();
  const Json& keys = schema.at("properties");
  EXPECT_EQ(keys.at("colour").at("enum").elements().size(), 2u);
  EXPECT_EQ(keys.at("threshold").at("maximum").get<double>(), 1);
  EXPECT_EQ(keys.at("time_s").at("type").get<std::string>(), "number");
}

std::string refused(const std::vector<std::string>& given) {
  return refusal_of([&] {
    Table().options.check_relations(
        [&](const std::string& option) { return std::ranges::find(given, option) != given.end(); });
  });
}

TEST(OptionTable, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(refused({"--green"}), "--green has no effect here (nothing is green at once). Leave it out");
  EXPECT_EQ(refused({"--green", "--time", "--colour"}),
            "--green and --colour do not go together (each says the colour). Leave out --green or --colour");
  EXPECT_EQ(refused({"--limit", "--quiet"}), "--limit has no effect here (nothing is said). Leave it out");
  EXPECT_NO_THROW(Table().options.check_relations([](const std::string& option) { return option == "--limit"; }));
}

}  // namespace
}  // namespace leadline
