// SPDX-License-Identifier: Apache-2.0
// Numbers of a run beside earlier ones: what counts as a change, what cannot be compared.
#include "diagnosis/compare_runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"

namespace leadline::diagnosis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunNumbers run_with(std::vector<RunNumber> numbers) {
  return {.path = "run.h5",
          .incomplete_reason = {},
          .conditions = {{"mode", "both-ways"}},
          .noted = {{"transport", "tcp"}},
          .hosts = {"n0", "n1"},
          .numbers = std::move(numbers)};
}

RunNumber rate(double value, double error = std::nan("")) {
  return {.name = "write",
          .message_size_bytes = 0,
          .part = {},
          .unit = NumberUnit::bytes_per_s,
          .value = value,
          .error = error};
}

RunNumber time(double value) {
  return {.name = "exchange, ring", .message_size_bytes = 1024, .part = {}, .unit = NumberUnit::ns, .value = value};
}

std::vector<RunNumbers> runs_with(const std::vector<double>& times) {
  std::vector<RunNumbers> runs;
  for (const double value : times) runs.push_back(run_with({time(value)}));
  return runs;
}

ComparedNumber only(const ComparedRuns& compared) {
  EXPECT_EQ(compared.numbers.size(), 1U);
  return compared.numbers.at(0);
}

TEST(compare_runs, a_change_is_beyond_threshold_and_scatter_of_the_baselines) {
  const auto steady = runs_with({1000, 1001, 999, 1000}), unsteady = runs_with({800, 1000, 1250, 1000});
  EXPECT_EQ(only(compare_runs(steady, run_with({time(1050)}), {})).change, Change::none) << "below the threshold";
  EXPECT_EQ(only(compare_runs(steady, run_with({time(1150)}), {})).change, Change::slower);
  EXPECT_EQ(only(compare_runs(steady, run_with({time(850)}), {})).change, Change::faster);
  EXPECT_EQ(only(compare_runs(unsteady, run_with({time(1300)}), {})).change, Change::none) << "within the scatter";
  EXPECT_EQ(only(compare_runs(steady, run_with({time(1150)}), {.threshold = 0.2})).change, Change::none);
}

TEST(compare_runs, the_interval_is_students_about_the_ratio) {
  const auto runs = runs_with({1000 * std::exp(0.1), 1000, 1000 * std::exp(-0.1)});
  const ComparedNumber number = only(compare_runs(runs, run_with({time(1500)}), {}));
  EXPECT_EQ(number.num_runs, 3U);
  EXPECT_NEAR(number.before, 1000, 1e-6);
  EXPECT_NEAR(number.ratio, 1.5, 1e-9);
  // 0.1 is the standard deviation; two degrees of freedom.
  EXPECT_NEAR(std::log(number.ratio_high / number.ratio), 4.302652729749464 * 0.1 * std::sqrt(4.0 / 3), 1e-9);
  EXPECT_NEAR(number.ratio_low * number.ratio_high, 1.5 * 1.5, 1e-9);
}

TEST(compare_runs, a_lower_rate_is_slower) {
  const std::vector<RunNumbers> before = {run_with({rate(1000)}), run_with({rate(1001)}), run_with({rate(999)})};
  const ComparedRuns compared = compare_runs(before, run_with({rate(500)}), {});
  EXPECT_EQ(only(compared).change, Change::slower);
  EXPECT_NEAR(only(compared).ratio, 0.5, 1e-9);
  EXPECT_TRUE(has_slower(compared));
  const ComparedRuns back = compare_runs(before, run_with({rate(2000)}), {});
  EXPECT_EQ(only(back).change, Change::faster);
  EXPECT_FALSE(has_slower(back));
}

TEST(compare_runs, one_baseline_is_judged_by_what_both_know_of_themselves) {
  const std::vector<RunNumbers> sure = {run_with({rate(1000, 0.01)})}, unsure = {run_with({rate(1000, 0.3)})},
                                unknown = {run_with({rate(1000)})};
  const RunNumbers after = run_with({rate(700, 0.01)});
  const ComparedRuns compared = compare_runs(sure, after, {});
  EXPECT_EQ(only(compared).change, Change::slower);
  EXPECT_THAT(compared.notes, ElementsAre(HasSubstr("one baseline")));
  EXPECT_EQ(only(compare_runs(unsure, after, {})).change, Change::none);
  const ComparedNumber by_threshold = only(compare_runs(unknown, after, {}));
  EXPECT_EQ(by_threshold.change, Change::slower);
  EXPECT_EQ(by_threshold.ratio_low, by_threshold.ratio_high);
}

/// ln times of six hosts, one of them `factor` times as slow, in a run that takes `common` times as long as usual.
RunNumbers run_of_hosts(double factor, double common, double noise) {
  RunNumbers run = run_with({});
  TimesOfParts times;
  const double wobble[] = {1, -1, 0.5, -0.5, 0.2, -0.2};
  for (int host = 0; host < 6; ++host) {
    times["n" + std::to_string(host)] = {std::log(common * (host == 3 ? factor : 1)) + noise * wobble[host]};
  }
  add_parts(run, "exchange, ring", 1024, times);
  return run;
}

TEST(compare_runs, a_host_is_judged_beside_the_others_of_its_run) {
  const std::vector<RunNumbers> before = {run_of_hosts(1, 1, 0.01), run_of_hosts(1, 1.7, -0.01),
                                          run_of_hosts(1, 0.8, 0)};
  const auto slower = [](const ComparedRuns& compared) {
    std::vector<std::string> parts;
    for (const ComparedNumber& one : compared.numbers) {
      if (one.change == Change::slower) parts.push_back(one.part);
    }
    return parts;
  };
  EXPECT_THAT(slower(compare_runs(before, run_of_hosts(1, 3, 0.01), {})), IsEmpty()) << "all are";
  EXPECT_THAT(slower(compare_runs(before, run_of_hosts(1.5, 1, 0.01), {})), ElementsAre("n3"));
  const std::vector<RunNumbers> one = {before.front()};
  EXPECT_THAT(slower(compare_runs(one, run_of_hosts(2, 1, -0.01), {})), ElementsAre("n3"));
}

TEST(compare_runs, of_two_hosts_there_are_no_parts) {
  RunNumbers run = run_with({});
  add_parts(run, "exchange, ring", 1024, {{"n0", {1.0}}, {"n1", {2.0}}});
  EXPECT_THAT(run.numbers, IsEmpty());
}

std::string why_refused(const RunNumbers& before, const RunNumbers& after) {
  try {
    (void)compare_runs(std::span(&before, 1), after, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::bad_command_line);
    return error.why();
  }
  return "";
}

TEST(compare_runs, refuses_what_is_unlike) {
  const RunNumbers usual = run_with({time(1000)});
  RunNumbers other = usual;
  other.conditions[0].second = "one-way";
  EXPECT_EQ(why_refused(usual, other), "mode: 'both-ways' in one and 'one-way' in the other");
  other = usual;
  other.hosts = {"m0", "m1"};
  EXPECT_THAT(why_refused(usual, other), HasSubstr("no host has the same name in both: n[0-1], and m[0-1]"));
  EXPECT_THAT(why_refused(usual, run_with({rate(5)})), HasSubstr("no number in common"));
}

TEST(compare_runs, what_is_not_known_is_said) {
  RunNumbers before = run_with({time(1000)});
  before.path = "old.h5";
  before.conditions[0].second = not_known;
  const ComparedRuns compared = compare_runs(std::vector{before}, run_with({time(1000)}), {});
  EXPECT_THAT(compared.notes, Contains("not known of 'old.h5': mode"));
}

TEST(compare_runs, says_what_differs_otherwise) {
  RunNumbers before = run_with({time(1000)}), after = run_with({time(1000), rate(5)});
  after.noted[0].second = "ucx";
  after.hosts = {"n0", "n7"};
  before.incomplete_reason = "rank 2 died";
  const auto notes = compare_runs(std::span(&before, 1), after, {}).notes;
  EXPECT_THAT(notes, Contains("transport was 'tcp' and is 'ucx'"));
  EXPECT_THAT(notes, Contains("1 of 2 hosts are those of 'run.h5'"));
  EXPECT_THAT(notes, Contains("'run.h5' is not complete: rank 2 died"));
  EXPECT_THAT(notes, Contains("1 number is not in the baseline"));
}

}  // namespace
}  // namespace leadline::diagnosis
