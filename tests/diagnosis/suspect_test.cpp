// SPDX-License-Identifier: Apache-2.0
// How candidates of one kind are judged: by the threshold, by their own spread, and never by fewer than three.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "diagnosis/evidence.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis::suspect_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Hosts 0, 1, 2 ... with these effects.
std::vector<Candidate> hosts(const std::vector<double>& effects, double standard_error = 0) {
  std::vector<Candidate> candidates;
  for (const double effect : effects) {
    const auto host = static_cast<std::int32_t>(candidates.size());
    candidates.push_back({{ComponentKind::host, -1, host, -1, -1}, effect, standard_error, 10});
  }
  return candidates;
}

std::vector<std::int32_t> found(const std::vector<Candidate>& candidates, const DiagnosisSettings& settings = {}) {
  std::vector<std::int32_t> which;
  for (const Suspect& suspect : judge(candidates, FaultDirection::both, settings))
    which.push_back(suspect.component.first);
  return which;
}

TEST(judge, finds_the_one_that_stands_out_and_says_by_how_much) {
  const auto suspects = judge(hosts({0.01, 0.00, 0.02, 0.51, -0.01, 0.015, 0.005}), FaultDirection::out, {});
  ASSERT_EQ(suspects.size(), 1U);
  const Suspect& one = suspects.front();
  EXPECT_EQ(one.component.first, 3);
  EXPECT_EQ(one.direction, FaultDirection::out);
  EXPECT_EQ(one.num_pairs, 10U);
  EXPECT_NEAR(one.effect, 0.5025, 1e-12) << "beyond the median of the others, 0.0075";
  EXPECT_NEAR(one.error, std::sqrt(0.00058333 / 5), 1e-6) << "their standard deviation";
  EXPECT_NEAR(one.p_value, stats::student_t_tail(one.effect / one.error, 5), 1e-15);
}

TEST(judge, wants_the_threshold) {
  const auto candidates = hosts({0, 0, 0, 0, 0, 0.12});
  EXPECT_THAT(found(candidates), ElementsAre(5)) << "ln 1.1 is 0.095";
  DiagnosisSettings strict;
  strict.threshold = 0.15;
  EXPECT_THAT(found(candidates, strict), IsEmpty());
}

/// Effects that eight hosts on one machine showed.
TEST(judge, finds_what_is_slow_beside_most_where_few_were_faster) {
  EXPECT_THAT(found(hosts({0.322, 0.308, 3.648, 0.326, 0.000, -0.001, 0.340, 0.362}, 0.039)), ElementsAre(2));
  EXPECT_THAT(found(hosts({0.322, 0.308, 0.351, 0.326, 0.000, -0.001, 0.340, 0.362}, 0.039)), IsEmpty());
}

TEST(judge, suspects_nothing_where_all_scatter_as_much) {
  EXPECT_THAT(found(hosts({0, 0.4, -0.3, 0.5, -0.6, 0.2, 0.1, -0.4})), IsEmpty());
}

TEST(judge, suspects_nothing_that_pairs_are_too_few_for) {
  EXPECT_THAT(found(hosts({0, 0, 0, 0, 0, 0.3}, 0.01)), ElementsAre(5));
  EXPECT_THAT(found(hosts({0, 0, 0, 0, 0, 0.3}, 0.2)), IsEmpty());
}

TEST(judge, wants_more_of_one_among_many) {
  // 0.6 is nineteen deviations: enough of a few, not of a million million.
  const auto few = hosts({-0.05, -0.04, -0.03, -0.02, -0.01, 0, 0.01, 0.02, 0.03, 0.04, 0.05, 0.6});
  EXPECT_THAT(found(few), ElementsAre(11));
  EXPECT_EQ(judge(few, {FaultDirection::both, few, 0, 12}, {}).size(), 1U);
  EXPECT_THAT(judge(few, {FaultDirection::both, few, 0, 1'000'000'000'000}, {}), IsEmpty());
  DiagnosisSettings bold;
  bold.false_discovery_rate = 1;
  EXPECT_EQ(judge(few, {FaultDirection::both, few, 0, 1000}, bold).size(), 1U);
}

TEST(judge, of_fewer_than_three_nobody_is_outvoted) {
  EXPECT_THAT(found({}), IsEmpty());
  EXPECT_THAT(found(hosts({5})), IsEmpty());
  EXPECT_THAT(found(hosts({0, 5})), IsEmpty());
  EXPECT_THAT(found(hosts({0, nan, 5, nan})), IsEmpty()) << "nothing is known of two";
  EXPECT_THAT(found(hosts({0, 0, 5})), ElementsAre(2));
}

TEST(judge, leaves_out_what_nothing_is_known_of) {
  EXPECT_THAT(found(hosts({nan, 0, 0, nan, 0, 1, 0})), ElementsAre(5));
}

TEST(judge, compares_with_others_where_it_is_told_to) {
  const auto usual = hosts({0, 0.01, -0.01, 0, 0.01, 0.02, -0.02, 0, 0.01, -0.01, 0, 0.01});
  const auto all = hosts({1, 1.01, 0.99});
  EXPECT_EQ(judge(all, {FaultDirection::in, usual, 0, 100}, {}).size(), 3U) << "all three are bad";
  EXPECT_THAT(judge(all, FaultDirection::in, {}), IsEmpty()) << "none is worse than the others";
}

TEST(judge, knows_that_fitted_effects_hide_spread) {
  const auto few = hosts({0, 0.01, -0.01, 0, 0.01, 0.02, -0.02, 0, 0.01, -0.01, 0, 0.2});
  EXPECT_EQ(judge(few, {FaultDirection::out, few, 0, 12}, {}).size(), 1U);
  EXPECT_THAT(judge(few, {FaultDirection::out, few, 9, 12}, {}), IsEmpty()) << "three of twelve are free";
  EXPECT_THAT(judge(few, {FaultDirection::out, few, 12, 12}, {}), IsEmpty()) << "none is";
}

TEST(middle, is_the_median_and_its_spread) {
  const Middle middle = middle_of({nan, 5, 1, 2, nan, 3, 100});
  EXPECT_EQ(middle.num, 5U);
  EXPECT_EQ(middle.median, 3);
  EXPECT_NEAR(middle.spread, 1.4826 * 2, 1e-12);
  EXPECT_EQ(middle_of({1, 2, 3, 4}).median, 2.5);
  EXPECT_EQ(middle_of({nan}).num, 0U);
}

TEST(consensus, is_what_three_quarters_show) {
  const auto of = [](std::vector<double> values) { return consensus(values, 0.25); };
  EXPECT_EQ(of({7}), 7);
  EXPECT_EQ(of({7, 3}), 3) << "of a few all must";
  EXPECT_EQ(of({4, 3, 2, 1}), 1);
  EXPECT_EQ(of({5, 4, 3, 2, 1}), 2) << "four of five show 2 or more";
  EXPECT_EQ(of({8, 7, 6, 5, 4, 3, 2, 1}), 2);
  EXPECT_EQ(of({nan, 4, nan}), 4);
  EXPECT_TRUE(std::isnan(of({nan})));
  EXPECT_TRUE(std::isnan(of({})));
}

TEST(degrees_of_freedom, are_as_many_as_a_median_deviation_is_worth_but_not_above_ten) {
  EXPECT_EQ(degrees_of_freedom(0), 1);
  EXPECT_EQ(degrees_of_freedom(2), 1);
  EXPECT_NEAR(degrees_of_freedom(7), 0.37 * 6, 1e-12);
  EXPECT_EQ(degrees_of_freedom(29), 10);
  EXPECT_EQ(degrees_of_freedom(100'000), 10);
}

/// What sound pairs of 100 ns take when they are measured again; NaN = lost.
double effect_of_one(const std::vector<double>& sound_again_ns) {
  Layout layout;
  layout.host_of = {0, 1};
  Question question{.rows = {}, .layout = layout};
  std::vector<RetestTimes> times;
  question.retest = [&](std::span<const OrderedPair>, Load) { return times; };
  RetestEvaluation look(question, Symptom::slow);
  for (const double time_ns : sound_again_ns) times.push_back({time_ns, time_ns});
  look.calibrate(std::vector<MeasuredPair>(times.size(), MeasuredPair{{0, 1}, std::log(100), std::log(100)}),
                 Load::alone);
  times = {{300, 300}};
  return look.effects(std::vector<MeasuredPair>{{{0, 1}, std::log(100), std::log(100)}}, Load::alone).front();
}

TEST(retest_evaluation, without_sound_pairs_compares_with_the_test_alone) {
  EXPECT_NEAR(effect_of_one({}), std::log(3), 1e-12);
  EXPECT_NEAR(effect_of_one({nan}), std::log(3), 1e-12);
}

TEST(retest_evaluation, leaves_out_sound_pairs_that_were_lost) {
  EXPECT_NEAR(effect_of_one({200, 200, 200}), std::log(1.5), 1e-12);
  EXPECT_NEAR(effect_of_one({200, nan, 200, 200}), std::log(1.5), 1e-12);
  EXPECT_NEAR(effect_of_one({50, 50}), std::log(6), 1e-12) << "alone they may be faster";
  EXPECT_NEAR(effect_of_one({200, 200}), std::log(3), 1e-12) << "but two that are slower may be at fault themselves";
}

TEST(retest_evaluation, compares_pairs_with_each_other_where_the_load_alone_made_them_differ) {
  Layout layout;
  layout.host_of = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  const auto effect_where = [&](const std::vector<double>& sound_again_ns) {
    Question question{.rows = {}, .layout = layout};
    std::vector<RetestTimes> times;
    question.retest = [&](std::span<const OrderedPair>, Load) { return times; };
    RetestEvaluation look(question, Symptom::slow);
    std::vector<MeasuredPair> sound;
    for (const double under_load_ns : {150.0, 200.0, 250.0, 300.0}) {
      const auto rank = static_cast<std::uint32_t>(2 * sound.size());
      sound.push_back({{rank, rank + 1}, std::log(under_load_ns), std::log(under_load_ns)});
    }
    for (const double time_ns : sound_again_ns) times.push_back({time_ns, time_ns});
    look.calibrate(sound, Load::alone);
    times = {{100, 100}};
    const std::vector<MeasuredPair> one{{{8, 9}, std::log(120), std::log(100)}};
    return look.effects(one, Load::alone, 0, true).front();
  };
  EXPECT_NEAR(effect_where({100, 100, 100, 100}), 0, 1e-12) << "it takes what all others take";
  EXPECT_NEAR(effect_where({75, 100, 125, 150}), std::log(2), 1e-12) << "the others are twice as fast as under load";
}

}  // namespace
}  // namespace leadline::diagnosis::suspect_test
