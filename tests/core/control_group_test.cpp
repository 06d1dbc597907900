// SPDX-License-Identifier: Apache-2.0
// Limits of both versions of control groups, from files as the kernel writes them.
#include "core/control_group.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace leadline {
namespace {

class ControlGroup : public testing::Test {
 protected:
  ControlGroup() {
    std::string pattern = (std::filesystem::temp_directory_path() / "leadline-group-XXXXXX").string();
    files_.mount = ::mkdtemp(pattern.data());
    files_.own_groups = files_.mount + "/own";
  }
  ~ControlGroup() override { std::filesystem::remove_all(files_.mount); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(files_.mount + path).parent_path());
    std::ofstream(files_.mount + path) << text << "\n";
  }
  std::optional<double> cores_of(const std::string& groups) {
    std::ofstream(files_.own_groups) << groups;
    return cpu_quota(files_);
  }
  std::optional<std::uint64_t> bytes_left_of(const std::string& groups) {
    std::ofstream(files_.own_groups) << groups;
    return memory_left_bytes(files_);
  }
  ControlGroupFiles files_;
};

TEST_F(ControlGroup, CoresOfVersion2AreTheFewestOnTheWayUp) {
  write("/job/step/cpu.max", "max 100000");
  EXPECT_EQ(cores_of("0::/job/step\n"), std::nullopt);
  write("/job/cpu.max", "150000 100000");
  EXPECT_EQ(cores_of("0::/job/step\n"), 1.5);
  write("/job/step/cpu.max", "400000 100000");
  EXPECT_EQ(cores_of("0::/job/step\n"), 1.5);
  write("/cpu.max", "50000 100000");
  EXPECT_EQ(cores_of("0::/job/step\n"), 0.5);
  EXPECT_EQ(cores_of("0::/not/visible/from/here\n"), 0.5);
}

TEST_F(ControlGroup, CoresOfVersion1AreInTheCpuController) {
  write("/cpu/box/cpu.cfs_quota_us", "-1");
  write("/cpu/box/cpu.cfs_period_us", "100000");
  const std::string groups = "4:memory:/box\n3:cpu,cpuacct:/box\n0::/\n";
  EXPECT_EQ(cores_of(groups), std::nullopt);
  write("/cpu/box/cpu.cfs_quota_us", "200000");
  EXPECT_EQ(cores_of(groups), 2.0);
}

TEST_F(ControlGroup, MemoryOfVersion2IsTheLeastThatIsLeftOnTheWayUp) {
  write("/job/step/memory.max", "max");
  write("/job/step/memory.current", "1000");
  EXPECT_EQ(bytes_left_of("0::/job/step\n"), std::nullopt);
  write("/job/memory.max", "5000");
  write("/job/memory.current", "3000");
  EXPECT_EQ(bytes_left_of("0::/job/step\n"), 2000U);
  write("/job/memory.stat", "anon 1800\nfile 1200\ninactive_file 500\nactive_file 700");
  EXPECT_EQ(bytes_left_of("0::/job/step\n"), 2500U);
  write("/memory.max", "4000");
  write("/memory.current", "4100");
  EXPECT_EQ(bytes_left_of("0::/job/step\n"), 0U);
}

TEST_F(ControlGroup, MemoryOfVersion1IsInTheMemoryController) {
  write("/memory/box/memory.limit_in_bytes", "5000");
  write("/memory/box/memory.usage_in_bytes", "3000");
  write("/memory/box/memory.stat", "inactive_file 1\ntotal_inactive_file 500");
  EXPECT_EQ(bytes_left_of("4:memory:/box\n3:cpu,cpuacct:/box\n0::/\n"), 2500U);
  EXPECT_EQ(bytes_left_of("3:cpu,cpuacct:/box\n0::/\n"), std::nullopt);
}

TEST_F(ControlGroup, CountsTheProcessesThatTheKernelEnded) {
  std::ofstream(files_.own_groups) << "0::/job\n";
  EXPECT_EQ(out_of_memory_kills(files_), 0U);
  write("/job/memory.events", "low 0\nhigh 0\nmax 31\noom 2\noom_kill 1");
  EXPECT_EQ(out_of_memory_kills(files_), 1U);
  std::ofstream(files_.own_groups) << "4:memory:/box\n0::/\n";
  write("/memory/box/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3");
  EXPECT_EQ(out_of_memory_kills(files_), 3U);
}

TEST_F(ControlGroup, NonsenseIsNoLimit) {
  for (const char* groups : {"", "\n", "nonsense", "::", "0::", "0::relative", "1:cpu", "1:memory"}) {
    EXPECT_EQ(cores_of(groups), std::nullopt) << groups;
    EXPECT_EQ(bytes_left_of(groups), std::nullopt) << groups;
  }
}

}  // namespace
}  // namespace leadline
