// SPDX-License-Identifier: Apache-2.0
// Cores, quotas, and whether the ranks of a host have a core each.
#include "cluster/rank_placement.hpp"

#include <sched.h>
#include <unistd.h>

#include "ranks.hpp"

namespace leadline::cluster {
namespace {

TEST(CpuList, reads_and_writes_the_kernels_notation) {
  const CpuList cpus("0-3,8");
  EXPECT_EQ(cpus.count(), 5);
  EXPECT_EQ(cpus.text(), "0-3,8");
  EXPECT_EQ(CpuList("").text(), "");
  CpuList both("1");
  both.add(CpuList("2-3"));
  EXPECT_EQ(both, CpuList("1-3"));
  EXPECT_TRUE(cpus.contains(both));
  EXPECT_FALSE(both.contains(cpus));
}

TEST(CpuList, is_a_set_of_numbers) {
  CpuList cpus("0-3,64-70,200");
  EXPECT_EQ(cpus.last(), 200);
  EXPECT_EQ(cpus.next(3), 64);
  EXPECT_EQ(cpus.next(200), -1);
  cpus.remove(CpuList("1,65-400"));
  EXPECT_EQ(cpus.text(), "0,2-3,64");
  EXPECT_EQ(cpus.last(), 64);
  cpus.keep(CpuList("1-3"));
  EXPECT_EQ(cpus, CpuList("2-3"));
  cpus.remove(cpus);
  EXPECT_EQ(cpus, CpuList());
  EXPECT_EQ(cpus.last(), -1);
}

TEST(CpuList, of_a_text_takes_what_it_understands) {
  for (const auto& [text, taken] :
       {std::pair{"7", "7"}, std::pair{"0,2,", "0,2"}, std::pair{"2-", ""}, std::pair{"3-1", ""}, std::pair{"x", ""},
        std::pair{"-1", ""}, std::pair{"1,99999999999", "1"}, std::pair{"0-1048576", ""}, std::pair{"1-2 3", "1-2"}}) {
    EXPECT_EQ(CpuList(text).text(), taken) << text;
  }
}

TEST(LocalPlacement, is_that_of_this_process) {
  const RankPlacement placement = local_placement();
  EXPECT_EQ(placement.pid, ::getpid());
  EXPECT_FALSE(placement.host.empty());
  EXPECT_EQ(CpuList(placement.cpus).count(), placement.num_cpus);
  EXPECT_GE(placement.num_cpus, 1);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), placement.num_cpus);
}

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  require(::sched_setaffinity(0, sizeof set, &set) == 0, "binding");
}

TEST(CoreShare, more_ranks_than_cores_is_seen_by_all) {
  const int num_cores = usable_cores();
  const int num_ranks = std::min(16, 2 * num_cores);
  EXPECT_FINE(run_ranks(num_ranks, [&](Cluster& cluster) {
    const CoreShare share = core_share(cluster);
    require(share.num_ranks == num_ranks, "number of ranks");
    require(share.num_cores == num_cores, "number of cores");
    require(share.ranks_per_core_max == static_cast<double>(num_ranks) / num_cores, "ratio");
    require(share.is_unbound == (local_placement().num_cpus > 1), "unbound");
  }));
}

TEST(CoreShare, one_core_each_is_bound_and_enough) {
  if (usable_cores() < 2 || !CpuList::of_this_thread().contains(CpuList("0-1"))) {
    GTEST_SKIP() << "needs cores 0 and 1";
  }
  EXPECT_FINE(run_ranks(2, [](Cluster& cluster) {
    bind_to(cluster.rank());
    const CoreShare share = core_share(cluster);
    require(share.ranks_per_core_max == 1.0, "a core each");
    require(!share.is_unbound, "bound");
    require(share.num_cores == 2, "two cores");
  }));
}

TEST(CoreShare, all_on_one_core_is_too_many) {
  if (!CpuList::of_this_thread().contains(CpuList("0"))) GTEST_SKIP() << "needs core 0";
  EXPECT_FINE(run_ranks(3, [](Cluster& cluster) {
    bind_to(0);
    const CoreShare share = core_share(cluster);
    require(share.ranks_per_core_max == 3.0, "three on one core");
    require(!share.is_unbound, "bound");
  }));
}

TEST(CoreShare, one_rank_alone_need_not_be_bound) {
  EXPECT_FINE(run_ranks(1, [](Cluster& cluster) { require(!core_share(cluster).is_unbound, "alone"); }));
}

}  // namespace
}  // namespace leadline::cluster
