// SPDX-License-Identifier: Apache-2.0
// Which adapters are on the network of a run, and which of them is nearest: of made-up hosts.
#include "cluster/near_adapter.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "support/folder.hpp"

namespace leadline::cluster {
namespace {

namespace fs = std::filesystem;

LocalAddress at(const std::string& device, const std::string& address, unsigned num_network_bits) {
  return {device, *SocketAddress::parse(address, 0), num_network_bits};
}

class NearAdapters : public testing::Test {
 protected:
  NearAdapters() { set_arp_ignore("all", 1); }

  static void put(const fs::path& path, int number) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << number << '\n';
  }
  void set_numa_node(const std::string& device, int node) const {
    put(folder_.path() / "class" / "net" / device / "device" / "numa_node", node);
  }
  void set_arp_ignore(const std::string& device, int level) const {
    put(folder_.path() / "sys" / "net" / "ipv4" / "conf" / device / "arp_ignore", level);
  }

  /// Names of devices, where what is sent from an address leaves through the device that `through` gives for it.
  std::vector<std::string> devices(const std::string& own, const std::map<std::string, std::string>& through) const {
    std::vector<std::string> names;
    for (const NetworkPlace& place : places(own, through)) names.push_back(place.local.device);
    return names;
  }

  std::vector<NetworkPlace> places(const std::string& own, const std::map<std::string, std::string>& through) const {
    const auto ask = [&](const SocketAddress& from, const SocketAddress& to) {
      for (const LocalAddress& one : all_) EXPECT_NE(to.host_text(), one.address.host_text()) << "is no other host's";
      const auto found = through.find(from.host_text());
      return found == through.end() ? std::string() : found->second;
    };
    return places_on_network(own, all_, ask, {folder_.path().string(), folder_.path().string()});
  }

  test::Folder folder_;
  std::vector<LocalAddress> all_{at("lo", "127.0.0.1", 8),  at("eth0", "10.1.0.2", 24), at("eth1", "10.1.0.130", 24),
                                 at("ib0", "10.2.0.2", 24), at("eth2", "10.1.0.3", 16), at("eth0", "fd01::2", 64),
                                 at("eth1", "fd01::82", 64)};
  const std::map<std::string, std::string> by_source_{
      {"10.1.0.2", "eth0"}, {"10.1.0.130", "eth1"}, {"10.2.0.2", "ib0"}, {"fd01::2", "eth0"}, {"fd01::82", "eth1"}};
};

TEST_F(NearAdapters, AreThoseOnTheSameNetwork) {
  EXPECT_THAT(devices("10.1.0.2", by_source_), testing::ElementsAre("eth0", "eth1"));
  EXPECT_THAT(devices("10.1.0.130", by_source_), testing::ElementsAre("eth1", "eth0")) << "the own one first";
  EXPECT_THAT(devices("fd01::2", by_source_), testing::ElementsAre("eth0", "eth1"));
  EXPECT_THAT(devices("10.2.0.2", by_source_), testing::ElementsAre("ib0"));
}

TEST_F(NearAdapters, AreNoneWhereTheOwnAddressIsNotKnown) {
  EXPECT_TRUE(devices("127.0.0.1", by_source_).empty());
  EXPECT_TRUE(devices("10.1.0.9", by_source_).empty());
  EXPECT_TRUE(devices("0.0.0.0", by_source_).empty());
  EXPECT_TRUE(devices("", by_source_).empty());
}

TEST_F(NearAdapters, AreTheOwnAloneWhereAllLeavesThroughOneDevice) {
  EXPECT_THAT(devices("10.1.0.2", {{"10.1.0.2", "eth0"}, {"10.1.0.130", "eth0"}}), testing::ElementsAre("eth0"));
  EXPECT_THAT(devices("10.1.0.130", {{"10.1.0.2", "eth0"}, {"10.1.0.130", "eth0"}}), testing::ElementsAre("eth1"));
  EXPECT_THAT(devices("10.1.0.2", {}), testing::ElementsAre("eth0")) << "the kernel does not tell";
}

TEST_F(NearAdapters, AreTheOwnAloneWhereEachDeviceAnswersForAllAddresses) {
  set_arp_ignore("all", 0);
  set_arp_ignore("eth0", 1);
  EXPECT_THAT(devices("10.1.0.2", by_source_), testing::ElementsAre("eth0"));
  EXPECT_THAT(devices("fd01::2", by_source_), testing::ElementsAre("eth0", "eth1")) << "only ARP does so";
  set_arp_ignore("eth1", 2);
  EXPECT_THAT(devices("10.1.0.2", by_source_), testing::ElementsAre("eth0", "eth1"));
}

TEST_F(NearAdapters, AreTheOwnAloneWhereANetworkHasNoRoomForOtherHosts) {
  all_ = {at("eth0", "10.1.0.2", 32), at("eth1", "10.1.0.2", 32)};
  EXPECT_THAT(devices("10.1.0.2", by_source_), testing::ElementsAre("eth0"));
  all_ = {at("eth0", "10.1.0.2", 0), at("eth1", "10.1.0.130", 0)};
  EXPECT_TRUE(devices("10.1.0.2", by_source_).empty()) << "the network is not known";
}

TEST_F(NearAdapters, AreChosenByNumaNode) {
  set_numa_node("eth0", 0);
  set_numa_node("eth1", 1);
  const auto both = places("10.1.0.2", by_source_);
  EXPECT_EQ(nearest_place(both, 0).local.device, "eth0");
  EXPECT_EQ(nearest_place(both, 1).local.device, "eth1");
  EXPECT_EQ(nearest_place(both, 2).local.device, "eth0") << "no adapter is there";
  EXPECT_EQ(nearest_place(both, -1).local.device, "eth0") << "the rank may run on several";
}

TEST_F(NearAdapters, WithoutANodeAreNotChosen) {
  set_numa_node("eth0", -1);
  EXPECT_EQ(nearest_place(places("10.1.0.2", by_source_), 0).local.device, "eth0");
  EXPECT_EQ(nearest_place(places("10.1.0.2", by_source_), -1).local.device, "eth0");
  EXPECT_EQ(nearest_place(places("10.1.0.130", by_source_), -1).local.device, "eth1");
}

TEST(Networks, AreWrittenByWhatTheirAddressesHaveInCommon) {
  EXPECT_EQ(network_text(at("eth0", "10.1.2.130", 24)), "10.1.2.0/24");
  EXPECT_EQ(network_text(at("eth0", "10.1.2.130", 25)), "10.1.2.128/25");
  EXPECT_EQ(network_text(at("eth0", "fd01::1:2", 64)), "fd01::/64");
}

TEST(Routes, ToTheLoopbackLeaveThroughIt) {
  for (const char* address : {"127.0.0.1", "::1"}) {
    const SocketAddress loopback = *SocketAddress::parse(address, 0);
    const auto all = local_addresses();
    if (std::ranges::none_of(all, [&](const auto& one) { return one.address.host_text() == address; })) continue;
    EXPECT_EQ(device_of_route(loopback, loopback), "lo");
  }
}

TEST(LocalAddresses, HaveTheBitsOfTheirNetwork) {
  for (const LocalAddress& one : local_addresses()) {
    const std::string address = one.address.host_text();
    if (address == "127.0.0.1" || address == "::1") {
      EXPECT_EQ(one.num_network_bits, address == "::1" ? 128 : 8);
    }
  }
}

}  // namespace
}  // namespace leadline::cluster
