// SPDX-License-Identifier: Apache-2.0
// Which hosts are told as slow by simulated times of groups: the planted ones, and by chance hardly any.
#include "bench/collective/slow_hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/random.hpp"

namespace leadline::bench::collective {
namespace {

struct Machine {
  std::uint32_t num_hosts = 16;
  std::map<std::int32_t, double> slow{};  ///< by host: so many times as long
  double noise = 0.03;                    ///< of a batch, relative
  double group_noise = 0.03;              ///< of a group in a round: what its hosts' places do
};

std::string name_of_host(std::int32_t rank) { return "node" + std::to_string(rank); }

/// One rank a host; a group takes as long as its slowest host.
std::vector<std::string> told(const Machine& machine, std::uint32_t rounds, std::uint32_t group_hosts,
                              std::uint64_t seed) {
  std::vector<std::uint32_t> host_of;
  for (std::uint32_t host = 0; host < machine.num_hosts; ++host) host_of.push_back(host);
  CollectiveRequest request;
  request.rounds = rounds;
  request.group_hosts = group_hosts;
  request.seed = seed;
  const Plan plan = collective::plan(request, {static_cast<int>(machine.num_hosts), 1, host_of},
                                     std::vector<bool>(machine.num_hosts));
  Random random(seed, 99);
  const auto factor = [&](double noise) { return std::exp(2 * noise * (random.uniform() - 0.5) * std::sqrt(3.0)); };
  Measured measured;
  measured.samples.resize(plan.cells.size());
  for (auto& samples : measured.samples) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      const auto groups = groups_of(plan, seed, round);
      for (std::uint32_t group = 0; group < groups.size(); ++group) {
        double time_ns = 1e6 * factor(machine.group_noise);
        for (const std::int32_t rank : groups[group]) {
          const auto slow = machine.slow.find(rank);
          if (slow != machine.slow.end()) time_ns = std::max(time_ns, 1e6 * slow->second);
        }
        for (int batch = 0; batch < 5; ++batch) {
          samples.push_back(
              {round, group, static_cast<std::uint32_t>(groups[group].size()), time_ns * factor(machine.noise)});
        }
      }
    }
  }
  std::vector<std::string> names;
  for (const Finding& finding : slow_hosts(request, plan, measured, name_of_host)) {
    EXPECT_EQ(finding.id, "slow_host_of_groups");
    EXPECT_THAT(finding.host_names, testing::SizeIs(1));
    names.push_back(finding.host_names.front());
  }
  return names;
}

TEST(CollectiveSlowHosts, TheSlowOneIsTold) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    EXPECT_THAT(told({.slow = {{5, 1.8}}}, 12, 4, seed), testing::ElementsAre("node5")) << "seed " << seed;
  }
}

TEST(CollectiveSlowHosts, SeveralAreToldTheSlowestFirst) {
  int num_right = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto names = told({.num_hosts = 32, .slow = {{5, 1.5}, {20, 3}}}, 16, 4, seed);
    num_right += names == std::vector<std::string>{"node20", "node5"} ? 1 : 0;
    for (const std::string& name : names) EXPECT_TRUE(name == "node5" || name == "node20") << name;
  }
  EXPECT_GE(num_right, 48);
}

TEST(CollectiveSlowHosts, NobodyIsToldByChance) {
  int num_told = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    num_told += told({}, 12, 4, seed).empty() ? 0 : 1;
    num_told += told({.group_noise = 0.1}, 6, 4, seed).empty() ? 0 : 1;
    num_told += told({.group_noise = 0.3}, 3, 2, seed).empty() ? 0 : 1;
    num_told += told({.num_hosts = 4, .group_noise = 0.3}, 12, 2, seed).empty() ? 0 : 1;
  }
  EXPECT_LE(num_told, 24) << "of 1200 runs, 1 % and what three times its spread would be";
}

TEST(CollectiveSlowHosts, TooFewRoundsTellNobody) {
  EXPECT_THAT(told({.slow = {{5, 1.8}}}, 2, 4, 1), testing::IsEmpty());
  EXPECT_THAT(told({.slow = {{5, 1.05}}}, 12, 4, 1), testing::IsEmpty()) << "less than 1.1 times as long";
  EXPECT_THAT(told({.slow = {{5, 1.8}}}, 12, 16, 1), testing::IsEmpty()) << "one group has all";
}

}  // namespace
}  // namespace leadline::bench::collective
