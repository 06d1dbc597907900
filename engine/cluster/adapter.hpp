// SPDX-License-Identifier: Apache-2.0
// The network adapters of this host and what they can carry: what a measurement is compared with.
#pragma once

#include <string>
#include <vector>

namespace leadline::cluster {

struct Adapter {
  std::string name;             ///< "eth0", "mlx5_0"; empty = not known
  double line_rate_bits_s = 0;  ///< as negotiated with the other end, one way; 0 = not known
  double pcie_bits_s = 0;       ///< of its slot as negotiated, one way; 0 = it has none, or it is not known
  std::string link;             ///< "10 Gb/s", "200 Gb/s (4X HDR)"
  std::string slot;             ///< "PCIe 16.0 GT/s x16"; empty = it has none, or it is not known
  std::string possible_slot;    ///< the same, as adapter and slot could; empty unless that is more

  /// Whether the slot carries less than the network.
  bool is_limited_by_slot() const { return pcie_bits_s > 0 && pcie_bits_s < line_rate_bits_s; }

  /// The lesser of the two; 0 = not known.
  double rate_bytes_per_s() const;
};

/// Local: by the name of the device at the beginning of a text, as "eth0" or "mlx5_0, port 1, RoCE". InfiniBand devices
/// by sysfs, network devices by ethtool (ETHTOOL_GLINKSETTINGS), PCIe by sysfs. Only its name is known where the kernel
/// does not tell. `sysfs`: where that file system lies.
Adapter adapter_named(const std::string& device, const std::string& sysfs = "/sys");

/// Local: the one with the greatest rate of those that are up; without a name where there is none.
Adapter fastest_adapter(const std::string& sysfs = "/sys");

}  // namespace leadline::cluster
