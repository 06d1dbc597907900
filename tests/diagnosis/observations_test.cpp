// SPDX-License-Identifier: Apache-2.0
// What is said of connections that were measured under load: who is slow by itself, and who only shares a way.
#include "diagnosis/observations.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "diagnosis/alone_pairs.hpp"
#include "network/parse_network.hpp"

namespace leadline::diagnosis {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::uint32_t hosts_of_test = 16;
constexpr double usual_of_test_ns = 1000;

Layout sixteen_hosts() {
  Layout layout;
  for (std::uint32_t host = 0; host < hosts_of_test; ++host) {
    layout.host_of.push_back(host);
    layout.host_names.push_back(fmt::format("n{:02}", host));
  }
  return layout;
}

/// `factor(a, b)`: of a pair under load; the same alone, unless `alone` says otherwise. Each pair of each pattern has
/// its scatter of 2 %, and behind each pattern one of its pairs is measured alone.
using Factor = std::function<double(std::uint32_t one, std::uint32_t other)>;
ObservedSlice observed(const Factor& factor, Factor alone = {}, int num_patterns = 60) {
  if (!alone) alone = factor;
  Random random(7, 0);
  ObservedSlice slice;
  slice.pattern = "random";
  slice.is_exchange = true;
  const auto scatter = [&] { return 1 + 0.02 * (static_cast<double>(random.below(1000)) / 500 - 1); };
  for (int pattern = 0; pattern < num_patterns; ++pattern) {
    std::vector<std::uint32_t> order(hosts_of_test);
    for (std::uint32_t at = 0; at < hosts_of_test; ++at) {
      order[at] = at;
      std::swap(order[at], order[random.below(at + 1)]);
    }
    for (std::uint32_t at = 0; at < hosts_of_test; at += 2) {
      const double time_ns = usual_of_test_ns * factor(order[at], order[at + 1]) * scatter();
      slice.observations.push_back({order[at], order[at + 1], time_ns});
      slice.observations.push_back({order[at + 1], order[at], time_ns});
    }
    slice.alone.push_back({order[0], order[1], usual_of_test_ns * alone(order[0], order[1]) * scatter()});
  }
  return slice;
}

const Layout sixteen_hosts_of_test = sixteen_hosts();

double sound(std::uint32_t, std::uint32_t) { return 1; }
double host_5(std::uint32_t one, std::uint32_t other) { return one == 5 || other == 5 ? 3 : 1; }

/// Of the last four hosts to others.
double last_four_away(std::uint32_t one, std::uint32_t other) { return (one < 12) != (other < 12) ? 4 : 1; }

std::vector<std::string> names_of(const DiagnosedSlice& told) {
  std::vector<std::string> names;
  for (const Fault& fault : told.diagnosis.faults) names.push_back(fault.name);
  return names;
}

TEST(Observations, OfAPairCountByTheirLowerQuartile) {
  const auto joined = joined_by_pair(
      {{1, 0, 50}, {0, 1, 10}, {1, 0, 10}, {1, 0, 30}, {1, 0, 20}, {1, 0, 40}, {0, 2, 0}, {2, 0, INFINITY}});
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].from, 0U);
  EXPECT_EQ(joined[0].time_ns, 10);
  EXPECT_EQ(joined[1].from, 1U);
  EXPECT_EQ(joined[1].time_ns, 20);
}

TEST(Observations, JoinedTwiceAreTheSame) {
  const auto once = joined_by_pair(observed(host_5).observations), twice = joined_by_pair(once);
  ASSERT_EQ(once.size(), twice.size());
  for (std::size_t index = 0; index < once.size(); ++index) EXPECT_EQ(once[index].time_ns, twice[index].time_ns);
}

TEST(ObservedSlice, OfSoundHostsHasNoFault) {
  const DiagnosedSlice told = diagnosed(observed(sound), sixteen_hosts(), {});
  EXPECT_THAT(told.diagnosis.faults, IsEmpty());
  EXPECT_EQ(told.diagnosis.num_pairs, 240U);
  EXPECT_EQ(told.pattern, "random");
}

TEST(ObservedSlice, NamesAHostThatIsSlowAloneToo) {
  const DiagnosedSlice told = diagnosed(observed(host_5), sixteen_hosts(), {});
  EXPECT_THAT(names_of(told), ElementsAre("host n05"));
  EXPECT_TRUE(counts(told.diagnosis.faults[0]));
  EXPECT_EQ(told.diagnosis.num_measured, joined_by_pair(observed(host_5).observations).size());
  EXPECT_NEAR(told.diagnosis.faults[0].ratio, 3, 0.2);
  EXPECT_NEAR(told.diagnosis.faults[0].ratio_alone, 3, 0.2);
}

/// Of three hosts a switch that reach each other in half of the time; of host 5 twice of either.
double near_host_5(std::uint32_t one, std::uint32_t other) {
  return (one / 3 == other / 3 ? 0.5 : 1) * (one == 5 || other == 5 ? 2 : 1);
}

TEST(ObservedSlice, NamesAHostThatReachesNearOnesInTheUsualTimeOfFarOnes) {
  const auto far_alone = [](std::uint32_t one, std::uint32_t other) { return one == 5 || other == 5 ? 2.0 : 1.0; };
  EXPECT_THAT(names_of(diagnosed(observed(near_host_5, far_alone), sixteen_hosts(), {})), ElementsAre("host n05"));
}

TEST(ObservedSlice, SaysOfAHostThatIsAsFastAloneAsOthersThatItIsSlowOnlyUnderLoad) {
  const DiagnosedSlice told = diagnosed(observed(host_5, sound), sixteen_hosts(), {});
  ASSERT_THAT(names_of(told), ElementsAre("host n05"));
  EXPECT_EQ(told.diagnosis.faults[0].persistence, Persistence::only_under_load);
  EXPECT_FALSE(counts(told.diagnosis.faults[0]));
}

/// Messages of these hosts take 1.4 times as long in two of five patterns.
ObservedSlice late_at_times(const std::vector<std::uint32_t>& hosts) {
  ObservedSlice slice = observed(sound);
  for (std::size_t at = 0; at < slice.observations.size(); ++at) {
    Observation& one = slice.observations[at];
    const bool is_late = std::ranges::count(hosts, one.from) + std::ranges::count(hosts, one.to) > 0;
    if (is_late && at / hosts_of_test % 5 < 2) one.time_ns *= 1.4;
  }
  return slice;
}

TEST(ObservedSlice, NamesTheOneHostWhoseSlowerMessagesAreLate) {
  const DiagnosedSlice told = diagnosed(late_at_times({5}), sixteen_hosts_of_test, {});
  ASSERT_THAT(names_of(told), ElementsAre(HasSubstr("n05")));
  EXPECT_EQ(told.diagnosis.faults[0].persistence, Persistence::only_under_load);
  EXPECT_THAT(told.diagnosis.faults[0].advice, HasSubstr("counters"));
  EXPECT_THAT(told.diagnosis.notes, Contains(HasSubstr("late in the slower ones of its messages alone")));
  EXPECT_THAT(names_of(diagnosed(late_at_times({5, 11}), sixteen_hosts_of_test, {})), IsEmpty());
}

TEST(ObservedSlice, OfTwoHostsThatAreAsFastAloneAsOthersNamesNone) {
  const auto two_hosts = [](std::uint32_t one, std::uint32_t other) {
    return one == 5 || other == 5 || one == 9 || other == 9 ? 3.0 : 1.0;
  };
  const DiagnosedSlice told = diagnosed(observed(two_hosts, sound), sixteen_hosts(), {});
  EXPECT_THAT(told.diagnosis.faults, IsEmpty());
  EXPECT_THAT(told.diagnosis.notes,
              Contains(HasSubstr("slow only while others send, maybe since they share a way, so no fault: host n")));
}

/// Of four hosts that are no neighbours to others.
double four_away(std::uint32_t one, std::uint32_t other) { return (one % 5 == 1) != (other % 5 == 1) ? 4 : 1; }

TEST(ObservedSlice, NamesTheWayToHostsThatAreFastWithEachOther) {
  const DiagnosedSlice told = diagnosed(observed(four_away), sixteen_hosts(), {});
  ASSERT_THAT(names_of(told), ElementsAre(HasSubstr("and the others")));
  EXPECT_THAT(told.diagnosis.faults[0].hosts, UnorderedElementsAre(1, 6, 11));
  EXPECT_EQ(told.diagnosis.faults[0].component.kind, ComponentKind::uplink);
}

TEST(ObservedSlice, OfNeighboursThatAreSlowAlikeNamesNone) {
  const DiagnosedSlice told = diagnosed(observed(last_four_away), sixteen_hosts(), {});
  EXPECT_THAT(told.diagnosis.faults, IsEmpty());
  EXPECT_THAT(told.diagnosis.notes, Contains(HasSubstr("n[12-15]")));
}

TEST(ObservedSlice, NamesTheUplinkWhereTheNetworkIsTold) {
  Layout layout = sixteen_hosts();
  layout.network = network::parse_network("fat-tree:4x4", layout.host_names);
  const DiagnosedSlice told = diagnosed(observed(last_four_away), layout, {});
  ASSERT_EQ(told.diagnosis.faults.size(), 1U);
  EXPECT_EQ(told.diagnosis.faults[0].component.kind, ComponentKind::uplink);
  EXPECT_EQ(told.diagnosis.faults[0].component.first, 3);
}

TEST(ObservedSlice, SaysThatFarPairsLoseMoreUnderLoad) {
  Layout layout = sixteen_hosts();
  layout.network = network::parse_network("fat-tree:8x2", layout.host_names);
  const auto far = [](std::uint32_t one, std::uint32_t other) { return (one < 8) != (other < 8) ? 4.0 : 1.0; };
  const DiagnosedSlice told = diagnosed(observed(far, sound), layout, {});
  EXPECT_TRUE(std::ranges::none_of(told.diagnosis.faults, counts)) << "a tapered network looks the same";
  EXPECT_THAT(told.diagnosis.notes, Contains(HasSubstr("take 4 times as long under load as alone")));
  EXPECT_THAT(diagnosed(observed(sound), layout, {}).diagnosis.notes, IsEmpty());
}

double link_2_9(std::uint32_t one, std::uint32_t other) {
  return std::min(one, other) == 2 && std::max(one, other) == 9 ? 4 : 1;
}

TEST(ObservedSlice, NamesALinkOnlyWhereTheBestOfSeveralAloneIsSlow) {
  ObservedSlice slice = observed(link_2_9, sound);
  EXPECT_THAT(diagnosed(slice, sixteen_hosts(), {}).diagnosis.faults, IsEmpty());
  slice.retested = {{2, 9, 4 * usual_of_test_ns}, {3, 4, usual_of_test_ns}};
  EXPECT_THAT(names_of(diagnosed(slice, sixteen_hosts(), {})), ElementsAre("the link between n02 and n09"));
  slice.retested[0].time_ns = usual_of_test_ns;
  EXPECT_THAT(diagnosed(slice, sixteen_hosts(), {}).diagnosis.faults, IsEmpty());
}

TEST(ObservedSlice, OfFewPairsAloneTheirScatterIsHardlyKnown) {
  ObservedSlice slice = observed(link_2_9);
  slice.alone.clear();
  std::uint32_t rank = 0;
  for (const double factor : {0.95, 0.97, 0.99, 1.0, 1.0, 1.02, 1.04, 1.09}) {
    slice.alone.push_back({rank, rank + 1, factor * usual_of_test_ns});
    rank += 2;
  }
  slice.retested.assign(10, {3, 4, usual_of_test_ns});
  slice.retested[0] = {2, 9, 1.5 * usual_of_test_ns};  // nine spreads
  EXPECT_THAT(diagnosed(slice, sixteen_hosts(), {}).diagnosis.faults, IsEmpty());
  slice.retested[0].time_ns = 4 * usual_of_test_ns;
  EXPECT_THAT(names_of(diagnosed(slice, sixteen_hosts(), {})), ElementsAre("the link between n02 and n09"));
}

TEST(ObservedSlice, NamesTheEndThatSlowPairsHaveInCommonWhereLoadHidesIt) {
  ObservedSlice slice = observed([](std::uint32_t, std::uint32_t) { return 4; }, host_5);
  EXPECT_THAT(names_of(diagnosed(slice, sixteen_hosts(), {})), ElementsAre("host n05"));
}

TEST(ObservedSlice, NamesNoLinkThatIsFastUnderLoad) {
  ObservedSlice slice = observed(sound);
  slice.retested = {{2, 9, 4 * usual_of_test_ns}, {2, 9, 4 * usual_of_test_ns}};
  EXPECT_THAT(diagnosed(slice, sixteen_hosts(), {}).diagnosis.faults, IsEmpty());
}

double every_second_host(std::uint32_t one, std::uint32_t other) { return one % 2 == 1 || other % 2 == 1 ? 3 : 1; }

double host_5_only_with_6(std::uint32_t one, std::uint32_t other) {
  return std::min(one, other) == 5 && std::max(one, other) == 6 ? 3 : 1;
}

TEST(ObservedSlice, NamesAHostByOnePairWhereAllOthersAreFasterWithSomebody) {
  ObservedSlice slice = observed(host_5);
  std::erase_if(slice.alone, [](const Observation& one) { return one.from == 5 || one.to == 5; });
  slice.alone.push_back({5, 6, 3 * usual_of_test_ns});
  const ObservedSlice once = slice;
  slice.retested = {{5, 6, 3 * usual_of_test_ns}};
  EXPECT_THAT(AlonePairs(slice, Setting(sixteen_hosts_of_test), {}).what_is_slow(), SizeIs(1));
  EXPECT_THAT(AlonePairs(once, Setting(sixteen_hosts_of_test), {}).what_is_slow(), IsEmpty()) << "it may be disturbed";
  slice.observations = observed(host_5_only_with_6).observations;
  EXPECT_THAT(AlonePairs(slice, Setting(sixteen_hosts_of_test), {}).what_is_slow(), IsEmpty())
      << "it is fast with others";
}

TEST(ObservedSlice, NamesHalfOfTheHostsByWhatPairsTakeAlone) {
  EXPECT_THAT(names_of(diagnosed(observed(every_second_host, {}, 120), sixteen_hosts(), {})),
              UnorderedElementsAre("host n01", "host n03", "host n05", "host n07", "host n09", "host n11", "host n13",
                                   "host n15"));
  const auto but_for_15 = [](std::uint32_t one, std::uint32_t other) {
    return one == 15 || other == 15 ? 1.0 : every_second_host(one, other);
  };
  EXPECT_THAT(names_of(diagnosed(observed(but_for_15, {}, 120), sixteen_hosts(), {})), IsEmpty())
      << "hosts that are fast with host 15 are not slow";
}

/// Sixteen hosts below a line of four switches.
Layout a_line() {
  Layout layout = sixteen_hosts();
  std::string cables;
  for (std::uint32_t host = 0; host < hosts_of_test; ++host) cables += fmt::format("n{:02} s{}\n", host, host / 4);
  for (std::uint32_t one = 0; one < 3; ++one) cables += fmt::format("s{} s{}\n", one, one + 1);
  layout.network = network::for_hosts(network::parse_topology("cables", cables), layout.host_names);
  return layout;
}

TEST(ObservedSlice, NamesTheCableOfALineThatSlowPairsShare) {
  const auto beyond_12 = [](std::uint32_t one, std::uint32_t other) { return (one < 12) != (other < 12) ? 4.0 : 1.0; };
  const DiagnosedSlice told = diagnosed(observed(beyond_12), a_line(), {});
  EXPECT_THAT(names_of(told), ElementsAre("the way between leaf switch s2 and leaf switch s3"));
  EXPECT_THAT(told.diagnosis.faults[0].hosts, ElementsAre(8, 9, 10, 11));
}

TEST(ObservedSlice, NamesTheLinkOfHostsWithSeveralRanksByItsPairs) {
  // Of the sixteen each two are ranks of one host now.
  Layout layout = sixteen_hosts();
  for (std::uint32_t rank = 0; rank < hosts_of_test; ++rank) layout.host_of[rank] = rank / 2;
  layout.host_names.resize(hosts_of_test / 2);
  const auto link = [](std::uint32_t one, std::uint32_t other) {
    return std::min(one, other) / 2 == 1 && std::max(one, other) / 2 == 4 ? 4.0 : 1.0;
  };
  const DiagnosedSlice told = diagnosed(observed(link, {}, 300), layout, {});
  EXPECT_THAT(names_of(told), ElementsAre("the link between n01 and n04"));
}

TEST(ObservedSlice, CouldNotBeTestedWhereRanksMetFewOthers) {
  const DiagnosedSlice told = diagnosed(observed(host_5, {}, 2), sixteen_hosts(), {});
  EXPECT_THAT(told.diagnosis.faults, IsEmpty());
  EXPECT_EQ(told.diagnosis.untested, "most ranks met fewer than 3 others");
}

TEST(ObservedSlice, OfNothingSaysSo) { EXPECT_THAT(diagnosed({}, sixteen_hosts(), {}).diagnosis.faults, IsEmpty()); }

}  // namespace
}  // namespace leadline::diagnosis
