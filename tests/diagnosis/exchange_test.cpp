// SPDX-License-Identifier: Apache-2.0
// What is said of an exchange of all with all: who is slow both ways and with most, whatever the order explains.
#include "diagnosis/exchange.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "diagnosis/observations.hpp"

namespace leadline::diagnosis::exchange_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr double usual_ns = 100'000;

Layout layout_of(std::uint32_t num_hosts, std::uint32_t ranks_per_host) {
  Layout layout;
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    layout.host_of.insert(layout.host_of.end(), ranks_per_host, host);
    layout.host_names.push_back(fmt::format("n{:02}", host));
  }
  return layout;
}

/// Each message with 2 % of scatter.
using Factor = std::function<double(std::uint32_t from, std::uint32_t to)>;
ObservedSlice observed(std::uint32_t num_ranks, const Factor& factor, double scatter = 0.02) {
  Random random(11);
  ObservedSlice slice;
  slice.pattern = "complete2";
  slice.is_exchange_of_all = true;
  for (std::uint32_t from = 0; from < num_ranks; ++from) {
    for (std::uint32_t to = 0; to < num_ranks; ++to) {
      if (from == to) continue;
      const double by_chance = 1 + scatter * (2 * random.uniform() - 1);
      slice.observations.push_back({from, to, usual_ns * factor(from, to) * by_chance});
    }
  }
  return slice;
}

Diagnosis told(const ObservedSlice& slice, const Layout& layout) { return diagnosed(slice, layout, {}).diagnosis; }

std::vector<std::string> names_of(const Diagnosis& diagnosis) {
  std::vector<std::string> names;
  for (const Fault& fault : diagnosis.faults) names.push_back(fault.name);
  return names;
}

Factor slow_rank(std::uint32_t rank, double by) {
  return [=](std::uint32_t from, std::uint32_t to) { return from == rank || to == rank ? by : 1; };
}

TEST(Exchange, NamesAHostThatIsSlowWithAll) {
  const Diagnosis diagnosis = told(observed(8, slow_rank(5, 3)), layout_of(8, 1));
  ASSERT_THAT(names_of(diagnosis), ElementsAre("host n05"));
  const Fault& fault = diagnosis.faults.front();
  EXPECT_NEAR(fault.ratio, 3, 0.1);
  EXPECT_LT(fault.ratio_low, 3);
  EXPECT_GT(fault.ratio_high, 3);
  EXPECT_EQ(fault.num_pairs, 14U);
  EXPECT_EQ(list_of(fault), FindingList::persistent);
  ASSERT_THAT(fault.pairs, SizeIs(8));
  EXPECT_NEAR(fault.pairs.front().measured, 3 * usual_ns, 0.03 * 3 * usual_ns) << "as it was measured";
  EXPECT_NEAR(fault.pairs.front().expected, usual_ns, 0.1 * usual_ns);
  EXPECT_EQ(diagnosis.num_pairs, 56U);
  EXPECT_EQ(diagnosis.num_measured, 56U);
}

TEST(Exchange, NamesNobodyWhereNobodyIsSlow) {
  const Diagnosis diagnosis = told(observed(8, [](auto, auto) { return 1; }), layout_of(8, 1));
  EXPECT_THAT(diagnosis.faults, IsEmpty());
  EXPECT_THAT(diagnosis.notes, IsEmpty());
  EXPECT_EQ(diagnosis.untested, "");
}

/// Ranks have their partners in ascending order.
TEST(Exchange, TakesNoPlaceInTheOrderForAFault) {
  const Factor order = [](std::uint32_t from, std::uint32_t to) { return (2.0 + to) * (6.0 + from); };
  EXPECT_THAT(told(observed(12, order), layout_of(12, 1)).faults, IsEmpty());
  for (const std::uint32_t slow : {0U, 6U, 11U}) {
    const Factor with_fault = [&](std::uint32_t from, std::uint32_t to) {
      return order(from, to) * (from == slow || to == slow ? 4 : 1);
    };
    EXPECT_THAT(names_of(told(observed(12, with_fault), layout_of(12, 1))),
                ElementsAre(fmt::format("host n{:02}", slow)));
  }
}

TEST(Exchange, NamesNobodyForOneDirection) {
  const Factor sends_late = [](std::uint32_t from, std::uint32_t) { return from == 3 ? 4 : 1; };
  EXPECT_THAT(told(observed(10, sends_late), layout_of(10, 1)).faults, IsEmpty());
}

/// Some of its ranks send somewhat late, too.
TEST(Exchange, NamesNoRankOfAHostThatReceivesLate) {
  const Factor receives_late = [](std::uint32_t from, std::uint32_t to) {
    if (from / 4 == to / 4) return 1.0;
    if (to / 4 == 2) return 13.0;
    return from / 4 == 2 && from % 4 < 2 ? 2.0 : 1.0;
  };
  EXPECT_THAT(told(observed(32, receives_late), layout_of(8, 4)).faults, IsEmpty());
}

/// What all exchange at once waits for others, so hosts that are sound differ by more than some slow ones are late.
TEST(Exchange, NamesHostsThatStandApartFromOthersThatDiffer) {
  const std::vector<double> of_host{0.3, 3, 0.5, 0.6, 5, 0.7, 3.3, 0.8};
  const Factor apart = [&](std::uint32_t from, std::uint32_t to) {
    return std::max(of_host[from / 4], of_host[to / 4]);
  };
  EXPECT_THAT(names_of(told(observed(32, apart), layout_of(8, 4))),
              UnorderedElementsAre(HasSubstr("n01"), HasSubstr("n04"), HasSubstr("n06")));
}

TEST(Exchange, NamesNobodyForOneLink) {
  const Factor link = [](std::uint32_t from, std::uint32_t to) { return from + to == 7 && from * to == 12 ? 9 : 1; };
  EXPECT_THAT(told(observed(10, link), layout_of(10, 1)).faults, IsEmpty());
}

/// 8 and 9 are late with 0 to 7, which is 80 % of their messages, and fast with each other: an uplink.
TEST(Exchange, NamesNobodyBehindASharedWay) {
  const Factor uplink = [](std::uint32_t from, std::uint32_t to) { return (from < 8) != (to < 8) ? 4 : 1; };
  const Diagnosis diagnosis = told(observed(10, uplink), layout_of(10, 1));
  EXPECT_THAT(diagnosis.faults, IsEmpty());
  EXPECT_THAT(diagnosis.notes, ElementsAre(HasSubstr("messages of 2 hosts are late, but")));
}

TEST(Exchange, NamesNobodyWhereMessagesScatterMore) {
  const Factor slow = slow_rank(4, 1.6);
  EXPECT_THAT(names_of(told(observed(16, slow), layout_of(16, 1))), ElementsAre("host n04"));
  Random random(3);
  const Factor by_turns = [&](std::uint32_t from, std::uint32_t to) {
    return slow(from, to) * (random.below(2) == 0 ? 1 : 4);
  };
  EXPECT_THAT(told(observed(16, by_turns), layout_of(16, 1)).faults, IsEmpty());
}

TEST(Exchange, TellsPortHostAndRankApart) {
  const Layout layout = layout_of(8, 2);
  const auto with = [&](const Factor& between, double inside) {
    return names_of(told(observed(16,
                                  [&](std::uint32_t from, std::uint32_t to) {
                                    const bool is_inside = from / 2 == to / 2;
                                    return is_inside ? (from / 2 == 3 ? 0.2 * inside : 0.2) : between(from, to);
                                  }),
                         layout));
  };
  const Factor host = [](std::uint32_t from, std::uint32_t to) { return from / 2 == 3 || to / 2 == 3 ? 3 : 1; };
  EXPECT_THAT(with(host, 1), ElementsAre("the port of n03"));
  EXPECT_THAT(with(host, 3), ElementsAre("host n03"));
  EXPECT_THAT(with(slow_rank(6, 3), 1), ElementsAre("rank 6 on n03"));
}

TEST(Exchange, NamesAHostByItsInsideWhereTheWaysBetweenHostsHideIt) {
  constexpr std::uint32_t bad_host = 2;
  const auto behind_slow_ways = [](double inside) {
    return [=](std::uint32_t from, std::uint32_t to) {
      if (from / 2 != to / 2) return 30.0;
      return from / 2 == bad_host ? inside : 1.0;
    };
  };
  const Diagnosis diagnosis = told(observed(12, behind_slow_ways(20)), layout_of(6, 2));
  ASSERT_THAT(names_of(diagnosis), ElementsAre("host n02"));
  EXPECT_NEAR(diagnosis.faults.front().ratio, 20, 0.5);
  EXPECT_EQ(diagnosis.faults.front().num_pairs, 2U);
  EXPECT_THAT(told(observed(12, behind_slow_ways(1.3)), layout_of(6, 2)).faults, IsEmpty());
}

/// Alone a message takes a tenth, with this factor. Those by chance are the pairs of neighbours in a ring.
constexpr double alone_ns = usual_ns / 10;
void measure_alone(ObservedSlice& slice, const Layout& layout, const Factor& factor) {
  const auto add = [&](const OrderedPair& pair, std::vector<Observation>& to) {
    to.push_back({pair.from, pair.to, alone_ns * factor(pair.from, pair.to)});
  };
  for (const OrderedPair& pair : pairs_to_measure(slice.observations, layout, {}, 10).suspected) {
    add(pair, slice.retested);
  }
  const auto num = static_cast<std::uint32_t>(layout.host_of.size());
  for (std::uint32_t rank = 0; rank < num; ++rank) add({rank, (rank + 1) % num}, slice.alone);
}

TEST(Exchange, SaysOfAHostWhetherItIsSlowAlone) {
  const Layout layout = layout_of(8, 1);
  const Factor slow = slow_rank(5, 3);
  ObservedSlice alone_too = observed(8, slow), only_under_load = alone_too;
  measure_alone(alone_too, layout, slow);
  Diagnosis diagnosis = told(alone_too, layout);
  ASSERT_THAT(names_of(diagnosis), ElementsAre("host n05"));
  EXPECT_EQ(diagnosis.faults.front().persistence, Persistence::persistent);
  EXPECT_NEAR(diagnosis.faults.front().ratio_alone, 3, 0.1);

  measure_alone(only_under_load, layout, [](auto, auto) { return 1; });
  diagnosis = told(only_under_load, layout);
  ASSERT_THAT(names_of(diagnosis), ElementsAre("host n05"));
  EXPECT_EQ(list_of(diagnosis.faults.front()), FindingList::only_under_load);
}

/// Whatever waits behind a slow end is late, too.
TEST(Exchange, TakesLessAloneThanUnderLoadForTheSameFault) {
  const Layout layout = layout_of(8, 1);
  ObservedSlice slice = observed(8, slow_rank(5, 16));
  measure_alone(slice, layout, slow_rank(5, 2));
  const Diagnosis diagnosis = told(slice, layout);
  ASSERT_THAT(names_of(diagnosis), ElementsAre("host n05"));
  EXPECT_EQ(list_of(diagnosis.faults.front()), FindingList::persistent);
}

TEST(Exchange, NamesALinkThatIsSlowAlone) {
  const Layout layout = layout_of(10, 1);
  const Factor link = [](std::uint32_t from, std::uint32_t to) { return from + to == 7 && from * to == 12 ? 9 : 1; };
  ObservedSlice slice = observed(10, link), sound_alone = slice;
  measure_alone(slice, layout, link);
  const Diagnosis diagnosis = told(slice, layout);
  ASSERT_THAT(names_of(diagnosis), ElementsAre("the link between n03 and n04"));
  EXPECT_EQ(list_of(diagnosis.faults.front()), FindingList::persistent);
  EXPECT_NEAR(diagnosis.faults.front().ratio_alone, 9, 0.5);
  measure_alone(sound_alone, layout, [](auto, auto) { return 1; });
  EXPECT_THAT(told(sound_alone, layout).faults, IsEmpty());
}

/// Late under load is all alike.
TEST(Exchange, NamesAHostThatIsSlowOnlyAlone) {
  const Layout layout = layout_of(8, 1);
  ObservedSlice slice = observed(8, [](auto, auto) { return 40; });
  measure_alone(slice, layout, slow_rank(2, 4));
  const Diagnosis diagnosis = told(slice, layout);
  ASSERT_THAT(names_of(diagnosis), ElementsAre("host n02"));
  EXPECT_NEAR(diagnosis.faults.front().ratio_alone, 4, 0.1);
}

/// One way shows in the load only now and then; half of a round trip has it.
TEST(Exchange, NamesWhatIsSlowOneWayByPairsAlone) {
  const Layout layout = layout_of(10, 1);
  const Factor sends_late = [](std::uint32_t from, std::uint32_t) { return from == 3 ? 4 : 1; };
  const Factor link = [](std::uint32_t from, std::uint32_t to) { return from == 3 && to == 4 ? 9 : 1; };
  const auto names_with = [&](const Factor& factor) {
    ObservedSlice slice = observed(10, factor);
    measure_alone(slice, layout,
                  [&](std::uint32_t from, std::uint32_t to) { return (factor(from, to) + factor(to, from)) / 2; });
    return names_of(told(slice, layout));
  };
  EXPECT_THAT(names_with(sends_late), ElementsAre("host n03"));
  EXPECT_THAT(names_with(link), ElementsAre("the link between n03 and n04"));
}

TEST(Exchange, MeasuresSuspectsWithUsualPartners) {
  const Layout layout = layout_of(10, 1);
  const auto pairs_of = [&](const Factor& factor, std::size_t most) {
    PairsToMeasure chosen = pairs_to_measure(observed(10, factor).observations, layout, {}, most);
    EXPECT_LE(chosen.suspected.size(), most);
    EXPECT_THAT(chosen.by_chance, SizeIs(most));
    return std::move(chosen.suspected);
  };
  EXPECT_THAT(pairs_of([](auto, auto) { return 1; }, 10), IsEmpty());
  const std::vector<OrderedPair> of_host = pairs_of(slow_rank(5, 3), 10);
  EXPECT_THAT(of_host, SizeIs(3));
  for (const OrderedPair& pair : of_host) EXPECT_TRUE(pair.from == 5 || pair.to == 5);
  const Factor link = [](std::uint32_t from, std::uint32_t to) { return from + to == 7 && from * to == 12 ? 9 : 1; };
  const std::vector<OrderedPair> of_link = pairs_of(link, 10);
  ASSERT_THAT(of_link, SizeIs(3)) << "each of its ends with a partner that is usual, too";
  EXPECT_EQ(of_link.front().from, 3U);
  EXPECT_EQ(of_link.front().to, 4U);
  EXPECT_THAT(pairs_of(link, 2), IsEmpty()) << "without them it says nothing";
}

TEST(Exchange, NeedsThreePartners) {
  ObservedSlice ring;
  ring.is_exchange_of_all = true;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const std::uint32_t next = (rank + 1) % 8;
    ring.observations.push_back({rank, next, usual_ns});
    ring.observations.push_back({next, rank, usual_ns});
  }
  const Diagnosis diagnosis = told(ring, layout_of(8, 1));
  EXPECT_EQ(diagnosis.untested, "most ranks met fewer than 3 others");
  EXPECT_EQ(num_counting(diagnosis), 0U);
}

TEST(Exchange, SaysFromWhichThresholdOnItNames) {
  DiagnosisSettings settings;
  EXPECT_EQ(diagnosed(observed(8, slow_rank(5, 1.4)), layout_of(8, 1), settings).diagnosis.settings.threshold, 0.5);
  settings.threshold = 3;
  const Diagnosis strict = diagnosed(observed(8, slow_rank(5, 3)), layout_of(8, 1), settings).diagnosis;
  EXPECT_EQ(strict.settings.threshold, 3);
  EXPECT_THAT(strict.faults, IsEmpty());
}

}  // namespace
}  // namespace leadline::diagnosis::exchange_test
