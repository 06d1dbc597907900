// SPDX-License-Identifier: Apache-2.0
// Options declared once: their defaults in the help, short forms, values that may be left out, and what was meant.
#include "command/option_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "core/error.hpp"

namespace leadline::command {
namespace {

using testing::HasSubstr;
using testing::Not;

enum class Colour : std::uint8_t { red, green };

constexpr Named<Colour> colour_names[] = {{Colour::red, "red"}, {Colour::green, "green"}};
std::span<const Named<Colour>> names_of(Colour /*any*/) { return colour_names; }
const char* name_of(Colour colour) { return name_in(colour_names, colour); }

struct Request {
  std::string file, output, json;
  int num = 3;
  int limit = 0;
  double seconds = 1.5, share = 0.25;
  Colour colour = Colour::green;
  std::optional<Colour> other;
  bool is_quiet = false, is_verbose = false, is_loud = false;
};

struct Parsed {
  Request request;
  OptionParser options{"leadline test", "Tests.", "The end."};

  Parsed() {
    options.argument("FILE", "what to read", request.file);
    options.text("-o,--output", "FILE", "what to write", request.output, "it must name a file");
    options.count("--num", "so many", 1, 9, request.num);
    options.count("--limit", "at most so many", 1, 9, request.limit, "all");
    options.seconds("--time", "so long", 1, request.seconds);
    options.share("--threshold", "so much", 0.1, request.share);
    options.choice("--colour", "which", request.colour);
    options.choice("--other", "which else", request.other, std::vector{colour_names[0]});
    options.quiet_and_verbose(request.is_quiet, request.is_verbose, "silent");
    options.flag("-l,--loud", "noisy", request.is_loud);
    options.without("-l,--loud", "nobody would hear it");
    options.optional_value("--json", "FILE", "as JSON", [this](const std::string&, const std::string& text) {
      request.json = text.empty() ? "-" : text;
    });
  }

  Request parse(std::vector<std::string> words) {
    words.insert(words.begin(), {"leadline", "test"});
    options.parse(words);
    return request;
  }
};

Request parse(const std::vector<std::string>& words) { return Parsed().parse(words); }

std::string refusal(const std::vector<std::string>& words) {
  try {
    Parsed().parse(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.what();
  }
  return "taken";
}

TEST(OptionParser, SetsMembers) {
  const Request request = parse({"a.h5", "-o", "b", "--num", "7", "--time", "2m", "--threshold", "50%", "--colour",
                                 "red", "--other", "red", "-q", "--json", "c"});
  EXPECT_EQ(request.file, "a.h5");
  EXPECT_EQ(request.output, "b");
  EXPECT_EQ(request.num, 7);
  EXPECT_EQ(request.seconds, 120);
  EXPECT_EQ(request.share, 0.5);
  EXPECT_EQ(request.colour, Colour::red);
  EXPECT_EQ(request.other, Colour::red);
  EXPECT_TRUE(request.is_quiet);
  EXPECT_EQ(request.json, "c");
  EXPECT_EQ(parse({"a.h5", "--json"}).json, "-");
  EXPECT_EQ(parse({"a.h5", "--json", "--quiet"}).json, "-");
  EXPECT_EQ(parse({"a.h5", "--json=c"}).json, "c");
  EXPECT_EQ(parse({"--json", "c", "a.h5"}).json, "c");
  EXPECT_EQ(parse({"--json", "a.h5"}).json, "-") << "the file to read is needed";
}

TEST(OptionParser, KnowsWhatWasGiven) {
  Parsed parsed;
  parsed.parse({"a.h5", "-o", "b"});
  EXPECT_TRUE(parsed.options.is_given("--output"));
  EXPECT_FALSE(parsed.options.is_given("--num"));
  EXPECT_FALSE(parsed.options.is_given("--nothing"));
}

TEST(OptionParser, TakesDefaultsOfTheHelpFromTheMembers) {
  try {
    parse({"--help"});
    FAIL() << "no help";
  } catch (const HelpWanted& wanted) {
    for (const char* text :
         {"so many. Default: 3", "at most so many. Default: all", "so long. Default: 1.5s", "so much. Default: 25%",
          "which: red or green. Default: green", "-o,--output FILE", "[FILE]", "The end."}) {
      EXPECT_THAT(wanted.text, HasSubstr(text));
    }
    EXPECT_THAT(wanted.text, Not(HasSubstr("which else: red. Default")));
  }
}

TEST(OptionParser, TellsOfItsOptionsWhateverElseIsWrong) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--describe-options"}, {"--nmu", "--describe-options"}}) {
    try {
      parse(words);
      FAIL() << "parsed";
    } catch (const DescriptionWanted& wanted) {
      EXPECT_EQ(wanted.description.at("command").get<std::string>(), "test");
      EXPECT_EQ(wanted.description.at("arguments").at(0).at("name").get<std::string>(), "FILE");
    }
  }
}

TEST(OptionParser, SaysWhyAnOptionIsMissing) {
  for (const char* word : {"--loud", "--loud=x", "-l", "-lx"}) {
    EXPECT_EQ(refusal({"a.h5", word}), "leadline test has no --loud (nobody would hear it). Leave it out") << word;
  }
  EXPECT_THAT(refusal({"a.h5", "--lous"}), Not(HasSubstr("--loud")));
  const Json without = Parsed().options.described("leadline test").at("without");
  ASSERT_EQ(without.size(), 1U);
  EXPECT_EQ(without.at(0).at("long").get<std::string>(), "--loud");
  EXPECT_EQ(without.at(0).at("why").get<std::string>(), "nobody would hear it");
}

TEST(OptionParser, TakesLessOrMoreToBeSaid) {
  EXPECT_TRUE(parse({"a.h5", "-v"}).is_verbose);
  EXPECT_EQ(refusal({"a.h5", "-q", "-v"}),
            "--verbose and --quiet do not go together (the one wants less to be said, the other more). Leave out "
            "--verbose or --quiet");
}

TEST(OptionParser, RefusesWhatIsWrong) {
  EXPECT_THAT(refusal({"a.h5", "--num", "0"}),
              HasSubstr("--num cannot be '0' (it must be a whole number from 1 to 9)"));
  EXPECT_THAT(refusal({"a.h5", "-o", ""}), HasSubstr("--output cannot be '' (it must name a file)"));
  EXPECT_THAT(refusal({"a.h5", "--colour", "blue"}), HasSubstr("it must be one of red, green"));
  EXPECT_THAT(refusal({"a.h5", "--num", "1", "--num", "2"}), HasSubstr("--num"));
  EXPECT_THAT(refusal({"a.h5", "--quiet", "-q"}), HasSubstr("--quiet"));
  EXPECT_THAT(refusal({"a.h5", "--quiet=maybe"}), HasSubstr("--quiet"));
  EXPECT_THAT(refusal({"a.h5", "b.h5"}), HasSubstr("b.h5"));
  EXPECT_THAT(refusal({}), HasSubstr("FILE is required. See leadline test --help"));
}

TEST(OptionParser, SaysWhatWasMeant) {
  EXPECT_EQ(refusal({"a.h5", "--nmu", "3"}), "unknown option --nmu. Did you mean --num?");
  EXPECT_EQ(refusal({"--slow-below=80%", "a.h5"}), "unknown option --slow-below. Did you mean --threshold?");
  EXPECT_EQ(refusal({"a.h5", "--zzzzzz"}), "unknown option --zzzzzz. See leadline test --help");
}

TEST(Suggestion, IsNearByEditDistance) {
  EXPECT_EQ(command::nearest("lnik", {"link", "io", "info"}), "link");
  EXPECT_EQ(command::nearest("topolgy", {"link", "topology"}), "topology");
  EXPECT_EQ(command::nearest("frobnicate", {"link", "topology"}), "");
  EXPECT_EQ(command::nearest("x", {"io"}), "");
}

TEST(Suggestion, KnowsEarlierSpellingsAndParts) {
  EXPECT_EQ(command::meant_option("--size", {"--message-size", "--seed"}), "--message-size");
  EXPECT_EQ(command::meant_option("--per-host", {"--ranks-per-host"}), "--ranks-per-host");
  EXPECT_EQ(command::meant_option("--per-host", {"--ranks-per-host", "--active-ranks-per-host"}),
            "--active-ranks-per-host");
  EXPECT_EQ(command::meant_option("--buckets-of", {"--seed"}), "");
  EXPECT_EQ(command::meant_option("--discovery", {"--seed", "--false-discovery-rate"}), "--false-discovery-rate");
}

}  // namespace
}  // namespace leadline::command
