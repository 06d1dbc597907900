// SPDX-License-Identifier: Apache-2.0
// What a host's network adapters carry, read out of a made-up sysfs.
#include "cluster/adapter.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/folder.hpp"

namespace leadline::cluster {
namespace {

namespace fs = std::filesystem;

class Adapters : public testing::Test {
 protected:
  void put(const fs::path& file, const std::string& line) const {
    const fs::path path = sysfs_ / "class" / "infiniband" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << line << '\n';
  }

  void put_slot(const std::string& name, const std::string& speed, int width, const std::string& max_speed,
                int max_width) const {
    put(fs::path(name) / "device" / "current_link_speed", speed);
    put(fs::path(name) / "device" / "current_link_width", std::to_string(width));
    put(fs::path(name) / "device" / "max_link_speed", max_speed);
    put(fs::path(name) / "device" / "max_link_width", std::to_string(max_width));
  }

  void put_port(const std::string& name, const std::string& port, const std::string& state,
                const std::string& rate) const {
    put(fs::path(name) / "ports" / port / "state", state);
    put(fs::path(name) / "ports" / port / "rate", rate);
  }

  Adapter named(const std::string& device) const { return adapter_named(device, sysfs_); }

  test::Folder folder_;
  fs::path sysfs_ = folder_.path();
};

TEST_F(Adapters, HaveTheRateOfTheirActivePort) {
  put_port("mlx5_0", "1", "1: DOWN", "400 Gb/sec (4X NDR)");
  put_port("mlx5_0", "2", "4: ACTIVE", "200 Gb/sec (4X HDR)");
  const Adapter adapter = named("mlx5_0, port 2, InfiniBand");
  EXPECT_EQ(adapter.name, "mlx5_0");
  EXPECT_EQ(adapter.link, "200 Gb/s (4X HDR)");
  EXPECT_DOUBLE_EQ(adapter.rate_bytes_per_s(), 25e9);
  EXPECT_EQ(adapter.slot, "") << "nothing is said of it";
}

TEST_F(Adapters, AreLimitedByTheirSlot) {
  put_port("mlx5_0", "1", "4: ACTIVE", "200 Gb/sec (4X HDR)");
  put_slot("mlx5_0", "8.0 GT/s PCIe", 8, "16.0 GT/s PCIe", 16);
  const Adapter adapter = named("mlx5_0");
  EXPECT_EQ(adapter.slot, "PCIe 8.0 GT/s x8");
  EXPECT_EQ(adapter.possible_slot, "PCIe 16.0 GT/s x16");
  EXPECT_NEAR(adapter.rate_bytes_per_s(), 8e9 * 8 * 128 / 130 / 8, 1);
  put_slot("mlx5_0", "16.0 GT/s PCIe", 16, "16.0 GT/s PCIe", 16);
  EXPECT_EQ(named("mlx5_0").possible_slot, "");
  EXPECT_DOUBLE_EQ(named("mlx5_0").rate_bytes_per_s(), 25e9);
  put_slot("mlx5_0", "5.0 GT/s PCIe", 4, "Unknown", 0);
  EXPECT_DOUBLE_EQ(named("mlx5_0").rate_bytes_per_s(), 2e9) << "8b/10b";
}

TEST_F(Adapters, OfWhichNothingIsKnownHaveANameAlone) {
  EXPECT_EQ(named("nonsense0").name, "nonsense0");
  EXPECT_EQ(named("nonsense0").rate_bytes_per_s(), 0);
  put_port("mlx5_0", "1", "1: DOWN", "10 Gb/sec (4X SDR)");
  EXPECT_EQ(named("mlx5_0").rate_bytes_per_s(), 0) << "it is down";
  put_port("mlx5_1", "1", "4: ACTIVE", "what a driver says");
  EXPECT_EQ(named("mlx5_1").rate_bytes_per_s(), 0);
  for (const char* const device : {"", "lo", "../../etc", "a name that is longer than any that the kernel has"}) {
    EXPECT_EQ(named(device).rate_bytes_per_s(), 0) << device;
  }
}

TEST_F(Adapters, TheFastestIsChosen) {
  put_port("mlx5_0", "1", "4: ACTIVE", "100 Gb/sec (4X EDR)");
  put_port("mlx5_1", "1", "4: ACTIVE", "4000 Gb/sec (whatever comes)");
  put_port("mlx5_2", "1", "4: ACTIVE", "200 Gb/sec (4X HDR)");
  EXPECT_EQ(fastest_adapter(sysfs_).name, "mlx5_1");
}

}  // namespace
}  // namespace leadline::cluster
