// SPDX-License-Identifier: Apache-2.0
// Reads sysfs, and asks the kernel for the link of a network device.
#include "cluster/adapter.hpp"

#include <fmt/format.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cluster/address.hpp"
#include "core/descriptor.hpp"

namespace leadline::cluster {
namespace {

namespace fs = std::filesystem;

constexpr double giga = 1e9, mega = 1e6;

/// Its first line; empty where there is none.
std::string first_line_of(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

double number_in(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// Names of the entries in a folder, sorted.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

/// What a PCIe link of so many GT/s a lane carries after its line code: 8b/10b up to 5 GT/s, 128b/130b then.
double pcie_rate(double transfers_per_lane_g, double num_lanes) {
  constexpr double last_of_8b10b = 5.0;
  const double code = transfers_per_lane_g > last_of_8b10b ? 128.0 / 130.0 : 0.8;
  return giga * transfers_per_lane_g * code * num_lanes;
}

std::string slot_text(double transfers_per_lane_g, double num_lanes) {
  return fmt::format("PCIe {:.1f} GT/s x{:.0f}", transfers_per_lane_g, num_lanes);
}

/// `device`: the folder of the PCI device.
void add_slot(Adapter& adapter, const fs::path& device) {
  const double speed = number_in(first_line_of(device / "current_link_speed"));
  const double width = number_in(first_line_of(device / "current_link_width"));
  if (!(speed > 0 && width > 0)) return;
  adapter.pcie_bits_s = pcie_rate(speed, width);
  adapter.slot = slot_text(speed, width);
  const double max_speed = number_in(first_line_of(device / "max_link_speed"));
  const double max_width = number_in(first_line_of(device / "max_link_width"));
  if (pcie_rate(max_speed, max_width) > adapter.pcie_bits_s) adapter.possible_slot = slot_text(max_speed, max_width);
}

/// Mb/s; 0 where the kernel does not know.
double ethernet_speed(const std::string& device) {
  if (device.size() >= IFNAMSIZ) return 0;
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return 0;
  constexpr std::size_t max_words = std::size_t{3} * 127;  // of the masks of modes, which follow the structure
  alignas(ethtool_link_settings) std::array<char, sizeof(ethtool_link_settings) + sizeof(__u32) * max_words> asked{};
  auto& settings = *reinterpret_cast<ethtool_link_settings*>(asked.data());
  ifreq request{};
  std::memcpy(request.ifr_name, device.c_str(), device.size());
  request.ifr_data = asked.data();
  settings.cmd = ETHTOOL_GLINKSETTINGS;
  // The first call says with a negative number how many words its masks have.
  if (::ioctl(socket.fd(), SIOCETHTOOL, &request) != 0 || settings.link_mode_masks_nwords >= 0) return 0;
  settings.cmd = ETHTOOL_GLINKSETTINGS;
  settings.link_mode_masks_nwords = static_cast<__s8>(-settings.link_mode_masks_nwords);
  if (::ioctl(socket.fd(), SIOCETHTOOL, &request) != 0) return 0;
  return settings.speed == static_cast<std::uint32_t>(SPEED_UNKNOWN) ? 0 : settings.speed;
}

std::string gigabits(double bits_s) { return fmt::format("{:.4g} Gb/s", bits_s / giga); }

/// The fastest active port.
Adapter infiniband_adapter(const std::string& name, const fs::path& folder) {
  Adapter adapter;
  adapter.name = name;
  for (const std::string& port : names_in(folder / "ports")) {
    const fs::path of_port = folder / "ports" / port;
    if (first_line_of(of_port / "state").find("ACTIVE") == std::string::npos) continue;
    const std::string rate = first_line_of(of_port / "rate");  // "200 Gb/sec (4X HDR)"
    const double bits_s = giga * number_in(rate);
    if (bits_s <= adapter.line_rate_bits_s) continue;
    adapter.line_rate_bits_s = bits_s;
    const auto mode = rate.find('(');
    adapter.link = gigabits(bits_s) + (mode == std::string::npos ? "" : " " + rate.substr(mode));
  }
  add_slot(adapter, folder / "device");
  return adapter;
}

Adapter network_adapter(const std::string& name, const fs::path& folder) {
  Adapter adapter;
  adapter.name = name;
  adapter.line_rate_bits_s = mega * ethernet_speed(name);
  if (adapter.line_rate_bits_s > 0) adapter.link = gigabits(adapter.line_rate_bits_s);
  add_slot(adapter, folder / "device");
  return adapter;
}

}  // namespace

double Adapter::rate_bytes_per_s() const {
  constexpr double bits_of_a_byte = 8;
  return (is_limited_by_slot() ? pcie_bits_s : line_rate_bits_s) / bits_of_a_byte;
}

Adapter adapter_named(const std::string& device, const std::string& sysfs) {
  const std::string name = device.substr(0, device.find_first_of(", :"));
  if (name.empty() || name == "lo" || name.find('/') != std::string::npos) return {};
  const fs::path infiniband = fs::path(sysfs) / "class" / "infiniband" / name;
  std::error_code ignored;
  if (fs::exists(infiniband, ignored)) return infiniband_adapter(name, infiniband);
  return network_adapter(name, fs::path(sysfs) / "class" / "net" / name);
}

Adapter fastest_adapter(const std::string& sysfs) {
  std::vector<std::string> names = names_in(fs::path(sysfs) / "class" / "infiniband");
  for (const LocalAddress& one : local_addresses()) names.push_back(one.device);
  Adapter fastest;
  for (const std::string& name : names) {
    Adapter adapter = adapter_named(name, sysfs);
    if (adapter.rate_bytes_per_s() > fastest.rate_bytes_per_s()) fastest = std::move(adapter);
  }
  return fastest;
}

}  // namespace leadline::cluster
