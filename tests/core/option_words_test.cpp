// SPDX-License-Identifier: Apache-2.0
// Names of options in errors and in advice, for a front end that has some of them under names of its own.
#include "core/option_words.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace leadline {
namespace {

class OptionWordsTest : public testing::Test {
 protected:
  OptionWordsTest() {
    set_option_words({{"--message-size", "-s"}, {"--output", "-O"}, {"--timeout", ""}, {"--overwrite", ""}});
  }
  ~OptionWordsTest() override { set_option_words({}); }
};

TEST_F(OptionWordsTest, NameTheOptionsThatThereAre) {
  EXPECT_EQ(in_option_words("--message-size 4 is more than --message-size-limit"),
            "-s 4 is more than --message-size-limit");
  EXPECT_EQ(in_option_words("a--message-size, --timeout and --mpi=pmix"), "a--message-size, --timeout and --mpi=pmix");
  EXPECT_EQ(in_option_words(""), "");
}

TEST_F(OptionWordsTest, LeaveOutAdviceThatNeedsOthers) {
  const auto advice = advice_in_option_words;
  EXPECT_EQ(advice("Choose another place with --output"), "Choose another place with -O");
  EXPECT_EQ(advice("Look at that host; --timeout sets the patience; what was measured is kept"),
            "Look at that host; what was measured is kept");
  EXPECT_EQ(advice("--timeout sets the patience; what was measured is kept"), "What was measured is kept");
  EXPECT_EQ(advice("Check it. --timeout sets the patience. Try again"), "Check it. Try again");
  EXPECT_EQ(advice("Choose another name, or add --overwrite"), "Choose another name");
  EXPECT_EQ(advice("Choose another place with --timeout, or make room"), "Choose another place, or make room");
  EXPECT_EQ(advice("Choose a longer --timeout, or fewer ranks"), "");
  EXPECT_EQ(advice("--timeout"), "");
  EXPECT_EQ(advice("leadline link --timeout 9 waits longer"), "leadline link --timeout 9 waits longer");
  EXPECT_EQ(advice("Start with srun --mpi=pmix"), "Start with srun --mpi=pmix");
}

TEST_F(OptionWordsTest, AreThoseOfErrors) {
  const Error error(ExitStatus::run_failed, "--message-size is too large", "above --message-size 4",
                    "Choose a smaller --message-size, or add --overwrite");
  EXPECT_STREQ(error.what(), "-s is too large (above -s 4). Choose a smaller -s");
  EXPECT_EQ(error.hint(), "Choose a smaller -s");
}

TEST(OptionWords, AreTheEnginesWithoutAFrontEnd) {
  const Error error(ExitStatus::run_failed, "p", "", "Look there; --timeout sets the patience");
  EXPECT_STREQ(error.what(), "p. Look there; --timeout sets the patience");
}

}  // namespace
}  // namespace leadline
