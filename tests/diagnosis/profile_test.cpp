// SPDX-License-Identifier: Apache-2.0
// What a site profile learns of several runs, and what it says of another.
#include "diagnosis/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace leadline::diagnosis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Profile run_of(double time_ns) {
  return {.transport = "tcp",
          .direction = "unidirectional",
          .ranks_per_host = 2,
          .num_runs = 1,
          .classes = {{1024, "between hosts", 56, 1, time_ns, 0}}};
}

ComparedClass judged_alone(const Profile& profile, double time_ns) {
  std::vector<std::string> notes;
  const auto judged = judged_by(profile, run_of(time_ns).classes, notes);
  EXPECT_EQ(judged.size(), 1U);
  return judged.at(0);
}

TEST(profile, has_the_median_and_the_scatter_of_its_runs) {
  const std::vector<Profile> runs = {run_of(1000), run_of(1000 * std::exp(0.1)), run_of(1000 * std::exp(-0.1))};
  const Profile profile = joined(runs);
  EXPECT_EQ(profile.num_runs, 3U);
  ASSERT_EQ(profile.classes.size(), 1U);
  EXPECT_NEAR(profile.classes[0].time_ns_median, 1000, 1e-6);
  EXPECT_NEAR(profile.classes[0].scatter, 0.1, 1e-9);
  EXPECT_EQ(profile.classes[0].num_runs, 3U);
}

TEST(profile, finds_a_class_slower_beyond_threshold_and_scatter) {
  const std::vector<Profile> steady = {run_of(1000), run_of(1010), run_of(990)};
  EXPECT_EQ(judged_alone(joined(steady), 1240).change, Change::none) << "within the threshold";
  EXPECT_EQ(judged_alone(joined(steady), 1300).change, Change::slower);
  EXPECT_EQ(judged_alone(joined(steady), 700).change, Change::faster);
  const std::vector<Profile> unsteady = {run_of(700), run_of(1000), run_of(1400)};
  EXPECT_EQ(judged_alone(joined(unsteady), 1300).change, Change::none) << "within the scatter";
}

TEST(profile, of_one_run_judges_by_the_threshold_and_says_so) {
  std::vector<std::string> notes;
  const std::vector<Profile> runs = {run_of(1000)};
  const auto judged = judged_by(joined(runs), run_of(1300).classes, notes);
  EXPECT_EQ(judged.at(0).change, Change::slower);
  EXPECT_EQ(judged.at(0).ratio_low, judged.at(0).ratio_high);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("of one run")));
}

TEST(profile, without_the_network_judges_all_pairs_between_hosts) {
  Profile fine = run_of(1100);  // of all pairs
  fine.classes.insert(fine.classes.begin(),
                      {{1024, "same leaf switch", 8, 1, 900, 0}, {1024, "other", 48, 1, 1200, 0}});
  std::vector<std::string> notes;
  const auto names_judged = [&](const Profile& profile, const Profile& run) {
    std::vector<std::string> names;
    for (const ComparedClass& one : judged_by(profile, run.classes, notes)) names.push_back(one.name);
    return names;
  };
  const Profile coarse = joined(std::vector{run_of(1000), run_of(1001)}), known = joined(std::vector{fine, fine});
  EXPECT_THAT(names_judged(coarse, fine), ElementsAre("between hosts"));
  EXPECT_THAT(names_judged(known, run_of(1000)), ElementsAre("between hosts"));
  EXPECT_THAT(names_judged(known, fine), ElementsAre("same leaf switch", "other"));
  EXPECT_THAT(notes, IsEmpty());
}

TEST(profile, tells_what_is_not_comparable) {
  std::vector<std::string> notes;
  Profile other = run_of(1000);
  other.classes[0].name = "same leaf switch";
  EXPECT_THAT(judged_by(run_of(1000), other.classes, notes), IsEmpty());
  EXPECT_THAT(notes, ElementsAre(HasSubstr("no pairs 'same leaf switch' with 1 KiB")));
  EXPECT_EQ(difference(run_of(1000), run_of(2000)), "");
  other.transport = "mpi";
  EXPECT_EQ(difference(run_of(1000), other), "transport tcp and mpi");
  other = run_of(1000);
  other.is_serial = true;
  EXPECT_THAT(difference(run_of(1000), other), HasSubstr("one by one"));
}

}  // namespace
}  // namespace leadline::diagnosis
