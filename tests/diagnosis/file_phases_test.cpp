// SPDX-License-Identifier: Apache-2.0
// Whom the phases of a file test accuse, and what cannot be told from them.
#include "diagnosis/file_phases.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "network/parse_network.hpp"

namespace leadline::diagnosis::file_phases_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Place {
  std::uint32_t rank = 0, host = 0, target = 0, phase = 0;
};

struct Case {
  std::uint32_t num_hosts = 6, ranks_per_host = 4, num_targets = 1;
  std::uint64_t num_phases = 5;
  /// Where the file of a rank lies.
  std::function<std::uint32_t(std::uint32_t rank, std::uint32_t host)> target = [](auto, auto) { return 0U; };
  /// By how much it is slower.
  std::function<double(const Place&)> factor = [](const Place&) { return 1.0; };
  std::function<std::uint32_t(std::uint32_t rank)> num_bytes = [](auto) { return 1U << 20; };
  std::string topology{};
  bool is_short_of_cores = false;
};

Diagnosis diagnosis_of(const Case& one) {
  Layout layout;
  FilePhases phases{.operation = "write",
                    .object_size_bytes = 1 << 20,
                    .num_phases = one.num_phases,
                    .rows = {},
                    .targets = {},
                    .is_short_of_cores = one.is_short_of_cores};
  for (std::uint32_t target = 0; target < one.num_targets; ++target)
    phases.targets.push_back("/t" + std::to_string(target));
  for (std::uint32_t host = 0; host < one.num_hosts; ++host) layout.host_names.push_back("n" + std::to_string(host));
  for (std::uint32_t rank = 0; rank < one.num_hosts * one.ranks_per_host; ++rank) {
    layout.host_of.push_back(rank / one.ranks_per_host);
  }
  if (!one.topology.empty()) layout.network = network::parse_network(one.topology, layout.host_names);
  for (std::uint32_t phase = 0; phase < one.num_phases; ++phase) {
    for (std::uint32_t rank = 0; rank < layout.host_of.size(); ++rank) {
      const std::uint32_t host = layout.host_of[rank], target = one.target(rank, host);
      const double noise = 1 + 0.02 * std::sin(12.9898 * rank + 78.233 * phase);
      phases.rows.push_back({phase, rank, one.num_targets > 1 ? static_cast<std::int32_t>(target) : -1,
                             1e6 * noise * one.factor({rank, host, target, phase}), one.num_bytes(rank)});
    }
  }
  return diagnosed_phases(phases, layout, {}).diagnosis;
}

std::vector<std::string> in_list(const Diagnosis& diagnosis, FindingList list) {
  std::vector<std::string> names;
  for (const Fault& fault : diagnosis.faults) {
    if (list_of(fault) == list) names.push_back(fault.name);
  }
  return names;
}

std::vector<std::string> faults_of(const Case& one) { return in_list(diagnosis_of(one), FindingList::persistent); }

/// Rank r of a host writes to a target of its own among four.
Case crossed() {
  Case one;
  one.num_targets = 4;
  one.target = [](std::uint32_t rank, std::uint32_t host) { return (rank + host) % 4; };
  return one;
}

TEST(FilePhases, AccuseNobodyWhereAllAreAlike) {
  for (const Case& one : {Case{}, crossed()}) {
    const Diagnosis diagnosis = diagnosis_of(one);
    EXPECT_THAT(diagnosis.faults, IsEmpty());
    EXPECT_EQ(diagnosis.untested, "");
    EXPECT_EQ(diagnosis.num_phases, 5U);
    EXPECT_EQ(diagnosis.num_measured, 5U * 24);
    EXPECT_THAT(diagnosis.notes, IsEmpty());
  }
}

TEST(FilePhases, AccuseAHostWhoseRanksAreAllSlow) {
  Case one;
  one.factor = [](const Place& place) { return place.host == 2 ? 2.5 : 1; };
  const Diagnosis diagnosis = diagnosis_of(one);
  ASSERT_EQ(diagnosis.faults.size(), 1U);
  const Fault& fault = diagnosis.faults.front();
  EXPECT_EQ(fault.name, "host n2");
  EXPECT_NEAR(fault.ratio, 2.5, 0.1);
  EXPECT_GT(fault.ratio_low, 1.5);
  EXPECT_NEAR(fault.time_share, 0.6, 0.03) << "the others are done after two fifths of the time";
  EXPECT_THAT(fault.host_names, ElementsAre("n2"));
  EXPECT_THAT(fault.ranks, ElementsAre(8, 9, 10, 11));
  ASSERT_TRUE(fault.phases);
  EXPECT_EQ(fault.phases->num_slow, 5U);
  EXPECT_NEAR(fault.phases->usual_bytes_per_s / fault.phases->bytes_per_s, 2.5, 0.1);
}

TEST(FilePhases, AccuseARankWhereItAloneOfItsHostIsSlow) {
  Case one = crossed();
  one.factor = [](const Place& place) { return place.rank == 9 ? 3 : 1; };
  EXPECT_THAT(faults_of(one), ElementsAre("rank 9 on n2"));
  one.factor = [](const Place& place) { return place.rank == 9 || place.rank == 10 ? 3 : 1; };
  const Diagnosis two = diagnosis_of(one);
  EXPECT_THAT(two.faults, IsEmpty());
  EXPECT_THAT(two.notes, Contains(HasSubstr("2 of 4 ranks of n2 are slow")));
}

TEST(FilePhases, TellATargetFromTheHostsThatUseIt) {
  Case one = crossed();
  one.factor = [](const Place& place) { return place.target == 1 ? 2 : 1; };
  EXPECT_THAT(faults_of(one), ElementsAre("target /t1"));
  one.factor = [](const Place& place) { return (place.target == 1 ? 2 : 1) * (place.host == 3 ? 3 : 1.0); };
  EXPECT_THAT(faults_of(one), ElementsAre("host n3", "target /t1"));
}

TEST(FilePhases, TakeATargetOfManyHostsForSlowRatherThanAllOfThem) {
  Case one{.num_hosts = 12, .ranks_per_host = 2, .num_targets = 4};
  one.target = [](std::uint32_t, std::uint32_t host) { return host % 4; };
  one.factor = [](const Place& place) { return place.target == 3 ? 2 : 1; };
  EXPECT_THAT(faults_of(one), ElementsAre("target /t3"));
  one.factor = [](const Place& place) { return place.host == 3 ? 2 : 1; };
  EXPECT_THAT(faults_of(one), ElementsAre("host n3"));
}

TEST(FilePhases, CannotTellAHostFromATargetThatItAloneUses) {
  Case one{.num_targets = 6};
  one.target = [](std::uint32_t, std::uint32_t host) { return host; };
  one.factor = [](const Place& place) { return place.host == 4 ? 2 : 1; };
  const Diagnosis diagnosis = diagnosis_of(one);
  EXPECT_THAT(in_list(diagnosis, FindingList::persistent), IsEmpty());
  EXPECT_THAT(in_list(diagnosis, FindingList::untested), ElementsAre("host n4 (or target /t4)"));
  EXPECT_THAT(diagnosis.faults.front().advice, HasSubstr("several hosts on each target"));
}

TEST(FilePhases, TellOnOneHostATargetOfSeveralRanks) {
  Case one{.num_hosts = 1, .ranks_per_host = 12, .num_targets = 4};
  one.target = [](std::uint32_t rank, std::uint32_t) { return rank % 4; };
  one.factor = [](const Place& place) { return place.target == 2 ? 4 : 1; };
  EXPECT_THAT(faults_of(one), ElementsAre("target /t2"));
  one.ranks_per_host = 4;
  const Diagnosis alone = diagnosis_of(one);
  EXPECT_THAT(in_list(alone, FindingList::persistent), IsEmpty()) << "a rank for each";
  EXPECT_THAT(in_list(alone, FindingList::untested), ElementsAre("target /t2 (or the rank that uses it)"));
}

TEST(FilePhases, AreTheEvidence) {
  Case one;
  one.factor = [](const Place& place) { return place.host == 2 ? 2.5 : 1; };
  one.num_phases = 1;
  const Diagnosis once = diagnosis_of(one);
  EXPECT_THAT(in_list(once, FindingList::persistent), IsEmpty());
  EXPECT_THAT(in_list(once, FindingList::untested), ElementsAre("host n2"));
  EXPECT_THAT(once.notes, Contains(HasSubstr("--repeat 3")));
  one.num_phases = 7;
  one.factor = [](const Place& place) { return place.host == 2 && place.phase < 4 ? 2.5 : 1; };
  const Diagnosis some = diagnosis_of(one);
  EXPECT_THAT(in_list(some, FindingList::persistent), IsEmpty());
  EXPECT_THAT(in_list(some, FindingList::passed), ElementsAre("host n2"));
  one.factor = [](const Place& place) { return place.host == 2 && place.phase == 0 ? 9 : 1; };
  EXPECT_THAT(diagnosis_of(one).faults, IsEmpty()) << "the first phase alone";
}

TEST(FilePhases, TakeOffWhatTheLoadOfATargetDoes) {
  Case one{.num_hosts = 1, .ranks_per_host = 10, .num_targets = 4};
  one.target = [](std::uint32_t rank, std::uint32_t) { return rank % 4; };
  one.factor = [](const Place& place) { return place.target < 2 ? 1.5 : 1; };  // three ranks each rather than two
  EXPECT_THAT(diagnosis_of(one).faults, IsEmpty());
}

TEST(FilePhases, AccuseATargetAmongFewThatHaveUnequallyManyRanks) {
  Case one{.num_hosts = 8, .ranks_per_host = 4, .num_targets = 3};  // eleven ranks, eleven, ten
  one.target = [](std::uint32_t rank, std::uint32_t) { return rank % 3; };
  const auto share = [](std::uint32_t target) { return target == 2 ? 10.0 / 11 : 1; };
  for (std::uint32_t slow = 0; slow < 3; ++slow) {
    one.factor = [&](const Place& place) { return share(place.target) * (place.target == slow ? 2 : 1); };
    EXPECT_THAT(faults_of(one), ElementsAre("target /t" + std::to_string(slow)));
  }
}

TEST(FilePhases, TellHowMuchBeyondItsLoadATargetIsSlow) {
  Case one{.num_hosts = 12, .ranks_per_host = 4, .num_targets = 3};  // one rank of four, one, and two
  one.target = [](std::uint32_t rank, std::uint32_t) { return std::min(rank % 4, 2U); };
  const auto full = [](std::uint32_t target) { return target == 2 ? 2.0 : 1; };
  one.factor = [&](const Place& place) { return full(place.target); };
  EXPECT_THAT(diagnosis_of(one).faults, IsEmpty()) << "twice the ranks take twice as long";
  one.factor = [&](const Place& place) { return full(place.target) * (place.target == 2 ? 3 : 1); };
  const Diagnosis diagnosis = diagnosis_of(one);
  ASSERT_THAT(in_list(diagnosis, FindingList::persistent), ElementsAre("target /t2"));
  EXPECT_NEAR(diagnosis.faults.front().ratio, 3, 0.2);
  one.factor = [&](const Place& place) { return full(place.target) * (place.target == 0 ? 3 : 1); };
  EXPECT_THAT(faults_of(one), ElementsAre("target /t0"));
}

TEST(FilePhases, OfUnequalBytesCountWhatOthersMoveMeanwhile) {
  Case one{.num_hosts = 6, .ranks_per_host = 4, .num_targets = 4};  // target 0 has three ranks of twice the bytes
  one.target = [](std::uint32_t rank, std::uint32_t) { return rank % 4; };
  one.num_bytes = [](std::uint32_t rank) { return rank % 8 == 0 ? 2U << 20 : 1U << 20; };
  one.factor = [](const Place& place) {
    // The three that move one megabyte are done when all have moved one, the others when these have moved three more.
    return place.target == 0 && place.rank % 8 == 0 ? 9.0 / 6 : 1.0;
  };
  EXPECT_THAT(diagnosis_of(one).faults, IsEmpty());
}

TEST(FilePhases, NeedThreeToCompare) {
  const Diagnosis diagnosis = diagnosis_of({.num_hosts = 2, .ranks_per_host = 1});
  EXPECT_THAT(diagnosis.untested, HasSubstr("fewer than 3 ranks took part"));
  Case one{.num_hosts = 2};
  one.factor = [](const Place& place) { return place.host == 1 ? 2 : 1; };
  const Diagnosis two = diagnosis_of(one);
  EXPECT_THAT(in_list(two, FindingList::persistent), IsEmpty());
  EXPECT_THAT(two.notes, Contains(HasSubstr("hosts could not be compared: there are 2")));
}

TEST(FilePhases, AccuseTheUplinkOfALeafWhoseHostsAreAllSlow) {
  Case one{.num_hosts = 12, .ranks_per_host = 2};
  one.factor = [](const Place& place) { return place.host >= 3 && place.host < 6 ? 2 : 1; };
  EXPECT_EQ(faults_of(one).size(), 3U);
  one.topology = "fat-tree:3x4";
  const Diagnosis diagnosis = diagnosis_of(one);
  ASSERT_EQ(diagnosis.faults.size(), 1U);
  EXPECT_EQ(diagnosis.faults.front().component.kind, ComponentKind::uplink);
  EXPECT_THAT(diagnosis.faults.front().hosts, ElementsAre(3, 4, 5));
}

TEST(FilePhases, WithTooFewCoresTakeMore) {
  Case one;
  one.is_short_of_cores = true;
  one.factor = [](const Place& place) { return place.host == 2 ? 1.8 : 1; };
  EXPECT_THAT(diagnosis_of(one).faults, IsEmpty());
  one.factor = [](const Place& place) { return place.host == 2 ? 3 : 1; };
  EXPECT_THAT(faults_of(one), ElementsAre("host n2"));
}

}  // namespace
}  // namespace leadline::diagnosis::file_phases_test
