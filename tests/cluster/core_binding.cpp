// SPDX-License-Identifier: Apache-2.0
// Which cores ranks get on machines of all kinds, and that the thread is where it was asked to be.
#include "cluster/core_binding.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "support/folder.hpp"

namespace leadline::cluster {
namespace {

/// What the kernel lists of a machine: for each CPU those of its core, and those of each NUMA node.
class Machine {
 public:
  Machine(const std::vector<std::string>& siblings_of, const std::vector<std::string>& nodes) {
    for (std::size_t cpu = 0; cpu < siblings_of.size(); ++cpu) {
      write("cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list", siblings_of[cpu]);
    }
    for (std::size_t node = 0; node < nodes.size(); ++node) {
      write("node/node" + std::to_string(node) + "/cpulist", nodes[node]);
    }
    write("node/possible", "0-1");
  }
  HostCores cores_of(const std::string& usable) const { return host_cores(CpuList(usable), folder_.path()); }

 private:
  void write(const std::string& name, const std::string& line) const {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name) << line << "\n";
  }
  test::Folder folder_;
};

/// Two sockets of two cores with two hardware threads each, numbered as most machines do: 0-3, then their siblings.
Machine two_sockets() { return {{"0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"}, {"0-1,4-5", "2-3,6-7"}}; }

std::vector<std::string> texts_of(const std::vector<CpuList>& lists) {
  std::vector<std::string> texts;
  for (const CpuList& one : lists) texts.push_back(one.text());
  return texts;
}

std::vector<std::string> cpus_of_ranks(const HostCores& host, Binding binding, int num_ranks) {
  std::vector<std::string> texts;
  for (int rank = 0; rank < num_ranks; ++rank) texts.push_back(cpus_of_rank(host, binding, rank, num_ranks).text());
  return texts;
}

using Texts = std::vector<std::string>;

TEST(HostCores, AreReadFromTheKernelsLists) {
  const HostCores host = two_sockets().cores_of("0-7");
  EXPECT_EQ(texts_of(host.cores), (Texts{"0,4", "1,5", "2,6", "3,7"}));
  EXPECT_EQ(texts_of(host.numa_nodes), (Texts{"0-1,4-5", "2-3,6-7"}));
}

TEST(HostCores, AreThoseOfACpuSet) {
  const HostCores host = two_sockets().cores_of("2,4,6-7");
  EXPECT_EQ(texts_of(host.cores), (Texts{"2,6", "4", "7"}));
  EXPECT_EQ(texts_of(host.numa_nodes), (Texts{"4", "2,6-7"}));
  EXPECT_EQ(texts_of(two_sockets().cores_of("3,7").numa_nodes), (Texts{"3,7"}));
}

TEST(HostCores, AreCpusWhereTheKernelTellsNothing) {
  const HostCores host = Machine({}, {}).cores_of("1-2,5");
  EXPECT_EQ(texts_of(host.cores), (Texts{"1", "2", "5"}));
  EXPECT_EQ(texts_of(host.numa_nodes), (Texts{"1-2,5"}));
}

TEST(CpusOfRank, AreACoreEach) {
  const HostCores host = two_sockets().cores_of("0-7");
  EXPECT_EQ(cpus_of_ranks(host, Binding::core, 1), (Texts{"0,4"}));
  EXPECT_EQ(cpus_of_ranks(host, Binding::core, 4), (Texts{"0,4", "1,5", "2,6", "3,7"}));
}

TEST(CpusOfRank, AreHardwareThreadsWhereThereAreMoreRanksThanCores) {
  const HostCores host = two_sockets().cores_of("0-7");
  EXPECT_EQ(cpus_of_ranks(host, Binding::core, 5), (Texts{"0", "1", "2", "3", "4"}));
  EXPECT_EQ(cpus_of_ranks(host, Binding::core, 8), (Texts{"0", "1", "2", "3", "4", "5", "6", "7"}));
  const HostCores neighbours = Machine({"0-1", "0-1", "2-3", "2-3"}, {"0-3"}).cores_of("0-3");
  EXPECT_EQ(cpus_of_ranks(neighbours, Binding::core, 3), (Texts{"0", "2", "1"}));
}

TEST(CpusOfRank, AreNoneWhereThereAreMoreRanksThanThreads) {
  EXPECT_EQ(cpus_of_ranks(two_sockets().cores_of("1,5"), Binding::core, 3), (Texts{"", "", ""}));
}

TEST(CpusOfRank, AreTheNumaNodesInTurn) {
  const HostCores host = two_sockets().cores_of("0-7");
  EXPECT_EQ(cpus_of_ranks(host, Binding::numa, 3), (Texts{"0-1,4-5", "2-3,6-7", "0-1,4-5"}));
}

TEST(BoundThread, IsWhereItIsAskedToBeAndComesBack) {
  const CpuList before = CpuList::of_this_thread();
  CpuList last;
  last.add(before.last());
  {
    const BoundThread bound(last);
    EXPECT_EQ(CpuList::of_this_thread(), last);
  }
  EXPECT_EQ(CpuList::of_this_thread(), before);
}

TEST(BoundThread, SaysWhatTheSystemRefuses) {
  try {
    const BoundThread bound(CpuList("1048575"));
    FAIL() << "no machine has that many";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ExitStatus::something_missing);
    EXPECT_NE(std::string(error.what()).find("core 1048575"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace leadline::cluster
