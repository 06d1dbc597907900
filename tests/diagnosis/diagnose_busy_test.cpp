// SPDX-License-Identifier: Apache-2.0
// A sampled test of a busy machine: pairs scatter by a factor of ten, so single measurements of six hosts prove little.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "made_up.hpp"

namespace leadline::diagnosis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Time {
  std::uint32_t from, to;
  double us;
};

// Measured: two ranks on each of six hosts in network namespaces, four random rounds, other programs beside them. The
// cable of host 2 is 5 ms longer.
const std::vector<Time> busy_times{
    {0, 1, 3.908},  {0, 2, 4.654},   {0, 7, 34.15},  {0, 8, 37.62},  {1, 0, 3.821},  {1, 3, 4.663},  {1, 6, 33.61},
    {1, 9, 43.09},  {2, 0, 4.617},   {2, 3, 5.894},  {2, 5, 5332},   {2, 10, 9.746}, {3, 1, 4.7},    {3, 2, 3.717},
    {3, 4, 5501},   {3, 11, 9.935},  {4, 3, 5479},   {4, 5, 3.811},  {4, 6, 5935},   {4, 8, 5789},   {5, 2, 5547},
    {5, 4, 3.896},  {5, 7, 5972},    {5, 9, 5808},   {6, 1, 37.92},  {6, 4, 5803},   {6, 7, 4.144},  {6, 10, 10.87},
    {7, 0, 46.04},  {7, 5, 5702},    {7, 6, 4.113},  {7, 11, 5.308}, {8, 0, 38.8},   {8, 4, 5691},   {8, 9, 3.522},
    {8, 11, 19.89}, {9, 1, 40.6},    {9, 5, 5534},   {9, 8, 4.08},   {9, 10, 7.553}, {10, 2, 4.674}, {10, 6, 4.211},
    {10, 9, 9.508}, {10, 11, 4.247}, {11, 3, 5.524}, {11, 7, 9.904}, {11, 8, 13.5},  {11, 10, 4.048}};
const std::vector<Time> alone_times{{5, 7, 5998}, {4, 6, 6057}, {5, 9, 5467}, {6, 4, 5666}, {4, 8, 6162},  {7, 5, 5549},
                                    {8, 4, 5934}, {5, 2, 5905}, {9, 5, 5774}, {3, 4, 6346}, {11, 3, 4.617}};

// Simulated: a rank on each of six hosts, three random rounds; other programs make pairs up to ninety times as long.
// Host 0 takes 23 times as long.
const std::vector<Time> busier_times{{0, 1, 1423},  {0, 3, 4622},  {0, 5, 1506},  {1, 0, 8075},  {1, 2, 144.7},
                                     {1, 4, 60.34}, {2, 1, 76.19}, {2, 3, 3689},  {2, 4, 81.39}, {3, 0, 2290},
                                     {3, 2, 106},   {3, 5, 636.1}, {4, 1, 120.8}, {4, 2, 917.5}, {4, 5, 152},
                                     {5, 0, 1604},  {5, 3, 148.5}, {5, 4, 51.33}};
const std::vector<Time> busier_alone{{1, 0, 1026},  {0, 3, 1008},  {2, 3, 42.98}, {3, 0, 965.3},
                                     {5, 0, 977.3}, {0, 5, 1003},  {0, 1, 973.2}, {4, 2, 41.4},
                                     {3, 5, 42.41}, {4, 5, 42.09}, {5, 3, 41.54}, {3, 2, 42.85},
                                     {2, 4, 42.69}, {2, 1, 44.95}, {1, 4, 42.9},  {5, 4, 42.53}};

// Measured: a rank on each of eight hosts in network namespaces, which share a core. The cable of host 2 loses frames.
// For some of the time messages take a third longer, also when pairs are measured alone.
const std::vector<Time> shared_times{
    {0, 1, 13.08}, {0, 2, 141.9}, {0, 3, 13.19}, {0, 4, 12.99}, {0, 5, 13.05}, {0, 6, 13.08}, {0, 7, 21.37},
    {1, 0, 13},    {1, 2, 140.6}, {1, 3, 12.95}, {1, 4, 13.03}, {1, 5, 12.92}, {1, 6, 13},    {1, 7, 12.9},
    {2, 0, 137.7}, {2, 1, 141},   {2, 3, 137},   {2, 4, 139.7}, {2, 5, 141.3}, {2, 6, 139.7}, {2, 7, 145.9},
    {3, 0, 13.03}, {3, 1, 13.18}, {3, 2, 139.2}, {3, 4, 13.26}, {3, 5, 13.2},  {3, 6, 13.18}, {3, 7, 13.16},
    {4, 0, 12.96}, {4, 1, 12.96}, {4, 2, 141.2}, {4, 3, 13.14}, {4, 5, 13.06}, {4, 6, 12.99}, {4, 7, 13.26},
    {5, 0, 13.04}, {5, 1, 13.01}, {5, 2, 143.6}, {5, 3, 13.21}, {5, 4, 13.1},  {5, 6, 13.29}, {5, 7, 13.13},
    {6, 0, 12.96}, {6, 1, 17.08}, {6, 2, 147.1}, {6, 3, 13.14}, {6, 4, 13.03}, {6, 5, 13.12}, {6, 7, 13.16},
    {7, 0, 18.09}, {7, 1, 12.98}, {7, 2, 141.3}, {7, 3, 13.24}, {7, 4, 13.12}, {7, 5, 13.24}, {7, 6, 13.04}};
const std::vector<Time> shared_alone{{6, 4, 12.99}, {0, 3, 17.13}, {4, 1, 13.02}, {6, 0, 12.99}, {0, 5, 12.89},
                                     {1, 7, 12.98}, {1, 4, 15.65}, {4, 6, 16.54}, {7, 2, 163.2}, {5, 6, 16.23},
                                     {3, 0, 12.89}, {3, 6, 13.06}, {5, 0, 16.03}, {2, 4, 142.6}, {7, 4, 13.07},
                                     {2, 0, 142.6}, {0, 7, 17.17}, {7, 0, 17.03}, {0, 2, 187.9}, {3, 2, 184.5},
                                     {4, 2, 163.2}, {1, 2, 175.8}, {6, 2, 182.3}};

Diagnosis of_busy_machine(std::uint32_t ranks_per_host, const std::vector<Time>& times, const std::vector<Time>& alone,
                          std::uint32_t num_hosts = 6) {
  const std::uint32_t num_ranks = num_hosts * ranks_per_host;
  Layout layout;
  for (std::uint32_t rank = 0; rank < num_ranks; ++rank) layout.host_of.push_back(rank / ranks_per_host);
  SparseRows rows(num_ranks, 1);
  for (std::uint32_t from = 0; from < num_ranks; ++from) {
    std::vector<std::uint32_t> partners;
    std::vector<double> logarithms;
    for (const Time& one : times) {
      if (one.from != from) continue;
      partners.push_back(one.to);
      logarithms.push_back(std::log(1e3 * one.us));
    }
    rows.append(partners, logarithms);
  }
  std::vector<SecondMeasurement> again;
  for (const Time& one : alone) again.push_back({one.from, one.to, true, 1e3 * one.us, 1e3 * one.us});
  const Recorded second = recorded(again);
  return diagnose({.rows = [&](Symptom) -> const Rows& { return rows; },
                   .layout = layout,
                   .num_pairs = std::uint64_t{num_ranks} * (num_ranks - 1),
                   .has_means = false,
                   .retest = second.retest,
                   .retested = second.pairs,
                   .is_round_trip = true});
}

/// The same pairs, each as long as the others.
std::vector<Time> all_of(std::vector<Time> times, double us) {
  for (Time& one : times) one.us = us;
  return times;
}

TEST(DiagnosisOfABusyMachine, NamesAHostThatIsSlowAloneToo) {
  EXPECT_THAT(faults_of(of_busy_machine(2, busy_times, alone_times)),
              ElementsAre(described({ComponentKind::port, -1, 2, -1, -1}, FaultDirection::both)));
}

TEST(DiagnosisOfABusyMachine, NamesAHostThatPairsAloneShowAndOthersDoNot) {
  const Diagnosis diagnosis = of_busy_machine(1, busier_times, busier_alone);
  EXPECT_THAT(faults_of(diagnosis), ElementsAre(described({ComponentKind::host, -1, 0, -1, -1}, FaultDirection::both)));
  EXPECT_NEAR(diagnosis.faults.front().ratio, 23, 1);
  EXPECT_EQ(diagnosis.faults.front().persistence, Persistence::persistent);
  EXPECT_EQ(diagnosis.num_measured, busier_times.size());
}

TEST(DiagnosisOfABusyMachine, NamesNoLinkThatTakesAsLongAsSoundPairsDidAlone) {
  EXPECT_THAT(faults_of(of_busy_machine(1, shared_times, shared_alone, 8)),
              ElementsAre(described({ComponentKind::host, -1, 2, -1, -1}, FaultDirection::both)));
  std::vector<Time> alone = shared_alone;
  for (Time& one : alone) {
    if (one.us < 100 && one.from + one.to != 7) one.us = 13;  // all but the link between hosts 0 and 7
  }
  EXPECT_THAT(faults_of(of_busy_machine(1, shared_times, alone, 8)), testing::SizeIs(2));
}

/// Eight hosts, of which messages of host 3 took a quarter longer; then eight sound pairs alone, and those of host 3
/// with sound ones between them, which take so long.
std::vector<Fault> faults_with_sound_between(double sound_us) {
  std::vector<Time> times, alone;
  for (std::uint32_t from = 0; from < 8; ++from) {
    for (std::uint32_t to = 0; to < 8; ++to) {
      const double scattered = 13 + 0.01 * static_cast<double>((5 * from + 3 * to) % 7);
      if (from != to) times.push_back({from, to, from == 3 || to == 3 ? 1.25 * scattered : scattered});
    }
  }
  for (std::uint32_t from : {0U, 1U, 2U, 4U}) {
    for (std::uint32_t to : {5U, 6U}) alone.push_back({from, to, 13.02});
  }
  for (std::uint32_t from : {0U, 1U, 2U, 4U, 5U, 6U, 7U}) {
    alone.push_back({from, 3, 16.3});
    if (from % 2 == 0) alone.push_back({from, 7, sound_us});
  }
  return of_busy_machine(1, times, alone, 8).faults;
}

TEST(DiagnosisOfABusyMachine, ProvesNothingWhileSoundPairsTakeAsLong) {
  const auto is_told_as = [](bool is_unproven) {
    return ElementsAre(testing::AllOf(testing::Field(&Fault::component, testing::Field(&Component::first, 3)),
                                      testing::Field(&Fault::is_unproven, is_unproven)));
  };
  EXPECT_THAT(faults_with_sound_between(13.02), is_told_as(false));
  EXPECT_THAT(faults_with_sound_between(16.3), is_told_as(true));
}

TEST(DiagnosisOfABusyMachine, SaysThatItWasBusy) {
  const auto is_told = Contains(StartsWith("the machine was busy: "));
  EXPECT_THAT(of_busy_machine(1, busier_times, busier_alone).notes, is_told);
  EXPECT_THAT(of_busy_machine(1, all_of(busier_times, 43), all_of(busier_alone, 43)).notes, Not(is_told));
}

TEST(DiagnosisOfABusyMachine, NamesNobodyByOneMeasurement) {
  EXPECT_THAT(faults_of(of_busy_machine(2, busy_times, {})), IsEmpty());
  EXPECT_THAT(faults_of(of_busy_machine(1, busier_times, {})), IsEmpty());
}

TEST(DiagnosisOfABusyMachine, NamesNobodyWhoIsFastAlone) {
  EXPECT_THAT(faults_of(of_busy_machine(2, busy_times, all_of(alone_times, 4.8))), IsEmpty());
  EXPECT_THAT(faults_of(of_busy_machine(1, busier_times, all_of(busier_alone, 43))), IsEmpty());
}

}  // namespace
}  // namespace leadline::diagnosis
