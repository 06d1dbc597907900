// SPDX-License-Identifier: Apache-2.0
// The command line of `nettest`: every letter, every spelling, and what cannot be meant.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compat/nettest/options.hpp"
#include "support/refusal.hpp"

namespace leadline::compat::nettest {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Line = std::vector<std::string>;

Command command(Line words) {
  words.insert(words.begin(), "nettest");
  return parse(words);
}

bench::topology::TopologyRequest parsed(const Line& words) { return command(words).request; }

std::string refusal(const test::Words& words) {
  return test::refusal_of([&] { command(words); }, words);
}

TEST(NettestOptions, AreThoseOfThePage) {
  const Command all = command({"uK", "m1", "M16", "K2", "R2", "T1000", "Ptotal", "otransfer.dat"});
  const bench::topology::TopologyRequest& request = all.request;
  EXPECT_THAT(request.message_sizes_bytes, ElementsAre(1024, 2048, 4096, 8192, 16384));
  EXPECT_EQ(request.repeat, 2);
  EXPECT_EQ(request.num_iterations, 1000u);
  EXPECT_EQ(request.rate, bench::topology::Rate::total);
  EXPECT_THAT(request.patterns, ElementsAre("star", "star2", "complete", "complete2", "ring", "ring2"));
  EXPECT_EQ(all.file, "transfer.dat");
  EXPECT_EQ(all.lengths.min, 1u);
  EXPECT_EQ(all.lengths.max, 16u);
  EXPECT_EQ(all.lengths.step, 0u);
  EXPECT_EQ(all.lengths.multiplier, 2u);
  EXPECT_THAT(parsed({"uK", "m16", "M16", "K2", "R1", "T500", "Paverage"}).message_sizes_bytes, ElementsAre(16384));
  const bench::topology::TopologyRequest steps = parsed({"ub", "m100", "M1000", "s100", "R1", "T100", "Plocal"});
  EXPECT_THAT(steps.message_sizes_bytes, ElementsAre(100, 200, 300, 400, 500, 600, 700, 800, 900, 1000));
  EXPECT_EQ(steps.rate, bench::topology::Rate::local);
}

TEST(NettestOptions, MeasureAsNettestDid) {
  const bench::topology::TopologyRequest request = parsed({"T5"});
  EXPECT_EQ(request.transport, "mpi");
  EXPECT_EQ(request.num_iterations, 5u);
  EXPECT_EQ(request.num_warmup, 0u);
  EXPECT_EQ(request.num_traced, 0u);
  EXPECT_EQ(request.format, ResultFormat::none);
  EXPECT_EQ(request.output, "");
  EXPECT_FALSE(request.verify);
}

TEST(NettestOptions, HaveTheirDefaults) {
  const Command plain = command({"R1"});
  EXPECT_EQ(plain.lengths.unit, 'K');
  EXPECT_THAT(plain.request.message_sizes_bytes, ElementsAre(1024));
  EXPECT_EQ(plain.request.num_iterations, 1000u);
  EXPECT_EQ(plain.request.repeat, 1);
  EXPECT_EQ(plain.request.rate, bench::topology::Rate::total);
  EXPECT_THAT(plain.request.patterns, SizeIs(6));
  EXPECT_EQ(plain.file, "");
  EXPECT_THAT(parsed({"m7"}).message_sizes_bytes, ElementsAre(7168));
  EXPECT_THAT(parsed({"M3", "s1"}).message_sizes_bytes, ElementsAre(1024, 2048, 3072));
}

TEST(NettestOptions, ComeInAnyOrder) {
  const Command all = command({"otransfer.dat", "Ptotal", "T1000", "R2", "K2", "M16", "m1", "uK"});
  EXPECT_THAT(all.request.message_sizes_bytes, ElementsAre(1024, 2048, 4096, 8192, 16384));
  EXPECT_EQ(all.request.command_line.front(), "nettest");
  EXPECT_THAT(all.request.command_line, SizeIs(9));
}

TEST(NettestOptions, DistinguishTheLetterKFromTheUnitK) {
  EXPECT_THAT(parsed({"ub", "m1", "M100", "K10"}).message_sizes_bytes, ElementsAre(1, 10, 100));
  EXPECT_THAT(parsed({"uM", "m1", "M2", "K2"}).message_sizes_bytes, ElementsAre(1 << 20, 2 << 20));
}

TEST(NettestOptions, EndAtTheLastLengthThatFits) {
  EXPECT_THAT(parsed({"ub", "m1", "M10", "K3"}).message_sizes_bytes, ElementsAre(1, 3, 9));
  EXPECT_THAT(parsed({"ub", "m1", "M10", "s4"}).message_sizes_bytes, ElementsAre(1, 5, 9));
  EXPECT_THAT(parsed({"ub", "m6", "M10", "K2"}).message_sizes_bytes, ElementsAre(6));
  EXPECT_THAT(parsed({"ub", "m1", "M3", "K1099511627776"}).message_sizes_bytes, ElementsAre(1));
  EXPECT_THAT(parsed({"ub", "m1", "M3", "s1099511627776"}).message_sizes_bytes, ElementsAre(1));
  EXPECT_THAT(parsed({"ub", "m1", "M1099511627776", "K2"}).message_sizes_bytes, SizeIs(41));
}

TEST(NettestOptions, MultiplyWhereBothWaysAreGiven) {
  const Command both = command({"ub", "m1", "M8", "s3", "K2"});
  EXPECT_THAT(both.request.message_sizes_bytes, ElementsAre(1, 2, 4, 8));
  EXPECT_EQ(both.lengths.step, 0u);
  EXPECT_EQ(both.unused_step, "s3");
  EXPECT_EQ(command({"ub", "m1", "M8", "s3"}).unused_step, "");
}

TEST(NettestOptions, SwitchTheFullGraph) {
  const auto only = ElementsAre("star", "star2", "ring", "ring2");
  EXPECT_THAT(parsed({"C"}).patterns, only);
  EXPECT_THAT(parsed({"C0"}).patterns, only);
  EXPECT_THAT(parsed({"C1"}).patterns, SizeIs(6));
  EXPECT_THAT(parsed({"\xD0\xA1"}).patterns, only);
  EXPECT_THAT(parsed({"\xD0\xA1"
                      "0"})
                  .patterns,
              only);
  EXPECT_THAT(parsed({"\xD0\xA1"
                      "1"})
                  .patterns,
              SizeIs(6));
  EXPECT_THAT(refusal({"C2"}), HasSubstr("C cannot be '2'"));
}

TEST(NettestOptions, ChooseWhatIsPrinted) {
  EXPECT_EQ(parsed({"Paverage"}).rate, bench::topology::Rate::average);
  EXPECT_EQ(parsed({"Pavg"}).rate, bench::topology::Rate::average);
  EXPECT_EQ(parsed({"Ptotal"}).rate, bench::topology::Rate::total);
  EXPECT_EQ(parsed({"Plocal"}).rate, bench::topology::Rate::local);
  EXPECT_THAT(refusal({"Pmax"}), AllOf(HasSubstr("P cannot be 'max'"), HasSubstr("average, avg, total, local")));
}

TEST(NettestOptions, NeedAWayFromTheFirstLengthToTheLast) {
  EXPECT_THAT(refusal({"m1", "M16"}), AllOf(HasSubstr("from m1 to M16"), HasSubstr("Add K2"), HasSubstr("s1")));
  EXPECT_THAT(refusal({"M2"}), HasSubstr("from m1 to M2"));
  EXPECT_THAT(parsed({"m16", "M16"}).message_sizes_bytes, ElementsAre(16384));
}

TEST(NettestOptions, RefuseWhatCannotBeMeant) {
  EXPECT_THAT(refusal({"m4", "M2", "K2"}), HasSubstr("M2 is below m4"));
  EXPECT_THAT(refusal({"M0"}), HasSubstr("M cannot be '0'"));
  EXPECT_THAT(refusal({"m0"}), HasSubstr("m cannot be '0'"));
  EXPECT_THAT(refusal({"K0"}), HasSubstr("K cannot be '0'"));
  EXPECT_THAT(refusal({"K1"}), HasSubstr("K cannot be '1'"));
  EXPECT_THAT(refusal({"s0"}), HasSubstr("s cannot be '0'"));
  EXPECT_THAT(refusal({"s0", "K2"}), HasSubstr("s cannot be '0'"));
  EXPECT_THAT(refusal({"T0"}), HasSubstr("T cannot be '0'"));
  EXPECT_THAT(refusal({"R0"}), HasSubstr("R cannot be '0'"));
  EXPECT_THAT(refusal({"uG"}), AllOf(HasSubstr("u cannot be 'G'"), HasSubstr("b, K, M")));
  for (const char* value : {"m1k", "m-1", "m1.5", "m ", "mx", "m+1", "m99999999999999999999"}) {
    EXPECT_THAT(refusal({value}), HasSubstr("m cannot be")) << value;
  }
  EXPECT_THAT(refusal({"uM", "m2000000"}), HasSubstr("from 1 to 1048576"));
}

TEST(NettestOptions, NameLettersWithoutValue) {
  for (const char* letter : {"u", "m", "M", "s", "K", "R", "T", "P", "o"}) {
    EXPECT_THAT(refusal({letter}), HasSubstr(std::string(letter) + " needs a value")) << letter;
  }
  EXPECT_THAT(refusal({"m", "1"}), HasSubstr("m needs a value"));
}

TEST(NettestOptions, NameWhatTheyDoNotKnow) {
  EXPECT_THAT(refusal({"x1"}), HasSubstr("nettest knows no argument 'x1'"));
  EXPECT_THAT(refusal({"T5", "1"}), HasSubstr("nettest knows no argument '1'"));
  EXPECT_THAT(refusal({""}), HasSubstr("it is empty"));
  EXPECT_THAT(refusal({"-m1"}), AllOf(HasSubstr("'-m1'"), HasSubstr("no dashes")));
  EXPECT_THAT(refusal({"t1000"}), AllOf(HasSubstr("'t1000'"), HasSubstr("there is T")));
  EXPECT_THAT(refusal({"\xD0\xA2"}), HasSubstr("nettest knows no argument"));
}

TEST(NettestOptions, AreGivenOnce) {
  EXPECT_THAT(refusal({"m1", "m2"}), AllOf(HasSubstr("m is given twice"), HasSubstr("m1 and m2")));
  EXPECT_THAT(refusal({"C",
                       "\xD0\xA1"
                       "1"}),
              HasSubstr("C is given twice"));
  EXPECT_NO_THROW(command({"m1", "M1"}));
}

TEST(NettestOptions, KeepTheTableFinite) {
  EXPECT_THAT(parsed({"ub", "m1", "M10000", "s1"}).message_sizes_bytes, SizeIs(max_lengths));
  EXPECT_THAT(refusal({"ub", "m1", "M10001", "s1"}), HasSubstr("m1 to M10001 are too many lengths"));
  EXPECT_NO_THROW(command({"ub", "m1", "M10000", "s1", "R10"}));
  EXPECT_THAT(refusal({"ub", "m1", "M10000", "s1", "R11"}), HasSubstr("R11 makes a table of 110000 lines"));
}

TEST(NettestOptions, AreExplained) {
  EXPECT_EQ(command({"-h"}).action, Action::help);
  EXPECT_EQ(command({"m1", "--help"}).action, Action::help);
  EXPECT_THAT(refusal({}), AllOf(HasSubstr("there are no arguments"), HasSubstr("nettest -h")));
  for (const char* letter : {"uK", "mN", "MN", "KN", "sN", "TN", "RN", "C0", "Ptotal", "Paverage", "Plocal", "oFILE"}) {
    EXPECT_THAT(usage(), HasSubstr(letter));
  }
}

}  // namespace
}  // namespace leadline::compat::nettest
