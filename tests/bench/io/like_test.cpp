// SPDX-License-Identifier: Apache-2.0
// IOR's table of a made-up result, and what has no such table.
#include "bench/io/like.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "bench/io/command.hpp"
#include "bench/io/made_up.hpp"
#include "support/refusal.hpp"

namespace leadline::bench::io::like_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

IoResult like_ior() {
  IoResult result;
  result.request.like = Like::ior;
  result.request.num_objects = result.num_objects = 16;
  result.contents_by = ContentsBy::helper;
  for (const int repeat : {0, 1}) {
    result.phases.push_back(test::made_up_phase(IoOperation::write, repeat, 1 + repeat));
    result.phases.push_back(test::made_up_phase(IoOperation::read, repeat, 0.5));
  }
  return result;
}

TEST(IoLike, IorHasBytesOverTheTimeFromOpenToClose) {
  const std::string text = like_text(like_ior());
  EXPECT_THAT(text,
              HasSubstr("\nwrite     1024.00    -          -           16384      1024.00    -          -          "
                        "-          0.125000   0\n"));
  EXPECT_THAT(text,
              HasSubstr("\nread      512.00     -          -           16384      1024.00    -          -          "
                        "-          0.250000   1\n"));
  EXPECT_THAT(text, HasSubstr("\nMax Write: 2048.00 MiB/sec (2147.48 MB/sec)\n"
                              "Max Read:  512.00 MiB/sec (536.87 MB/sec)\n"));
  EXPECT_THAT(text, Not(HasSubstr("not as IOR")));
}

TEST(IoLike, TheSummaryIsOverTheRepetitions) {
  const std::string text = like_text(like_ior());
  EXPECT_THAT(text, HasSubstr("\nSummary of all tests:\nOperation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev "));
  EXPECT_THAT(text, HasSubstr("\nwrite        2048.00    1024.00    1536.00     512.00    2048.00    1024.00    "
                              "1536.00     512.00    0.09375\n"));
  EXPECT_THAT(text, HasSubstr("\nread          512.00     512.00     512.00       0.00     512.00     512.00     "
                              "512.00       0.00    0.25000\n"));
}

IoRequest request_of(std::vector<std::string> words) {
  words.insert(words.begin(), {"leadline", "io", "--like", "ior"});
  return parse_io_command(words);
}

TEST(IoLike, IorByDefaultSharesAFileOfBlocksOf1MiB) {
  const IoRequest request = request_of({});
  EXPECT_EQ(request.movement, schedule::Movement::n_1);
  EXPECT_EQ(request.object_size_bytes, 256u << 10);
  EXPECT_EQ(request.num_objects, 4u);
  EXPECT_EQ(request.backend, "posix");
  EXPECT_EQ(request.sync, SyncTiming::none);
}

TEST(IoLike, OptionsAndPresetsCountInstead) {
  const IoRequest request = request_of({"--movement", "N-N", "--objects", "2", "--sync", "inside"});
  EXPECT_EQ(request.movement, schedule::Movement::n_n);
  EXPECT_EQ(request.num_objects, 2u);
  EXPECT_EQ(request.sync, SyncTiming::inside);
  EXPECT_EQ(request.object_size_bytes, 256u << 10);
  const IoRequest easy = request_of({"--preset", "ior-easy"});
  EXPECT_EQ(easy.object_size_bytes, 2u << 20);
  EXPECT_EQ(easy.sync, SyncTiming::inside);
  EXPECT_EQ(easy.like, Like::ior);
}

TEST(IoLike, ABlockIsWhatARankHasWithoutAGap) {
  IoResult result = like_ior();
  result.request.order = schedule::Order::strided;
  EXPECT_THAT(like_text(result), HasSubstr("1024.00    1024.00"));
}

TEST(IoLike, DifferencesAreTold) {
  IoResult result = like_ior();
  result.contents_by = ContentsBy::rank;
  result.request.sync = SyncTiming::outside;
  EXPECT_THAT(like_text(result), HasSubstr("# not as IOR: fsync is not in the time\n# not as IOR: contents"));
}

TEST(IoLike, PhasesWithoutARateAreLeftOut) {
  IoResult result = like_ior();
  for (PhaseSummary& phase : result.phases) phase.is_complete = phase.position.operation == IoOperation::read;
  EXPECT_THAT(like_text(result), Not(HasSubstr("rite:")));
  result.phases.clear();
  EXPECT_THAT(like_text(result), IsEmpty());
  result = like_ior();
  result.request.like = Like::none;
  EXPECT_THAT(like_text(result), IsEmpty());
}

TEST(IoLike, RefusesWhatIorDoesNot) {
  const auto refusal = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"leadline", "io", "--like", "ior"});
    return test::refusal_of([&] { parse_io_command(words); }, words);
  };
  EXPECT_THAT(refusal({"--metadata"}), HasSubstr("--like ior and --metadata do not go together"));
  EXPECT_THAT(refusal({"--preset", "mdtest-easy"}), HasSubstr("--like ior and --preset do not go together"));
  EXPECT_THAT(refusal({"--mix", "70:30"}), HasSubstr("--mix"));
}

}  // namespace
}  // namespace leadline::bench::io::like_test
