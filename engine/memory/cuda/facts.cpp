// SPDX-License-Identifier: Apache-2.0
// One line for the driver, one for each device, one for whom each device reaches.
#include "memory/cuda/facts.hpp"

#include <fmt/format.h>

#include "core/units.hpp"

namespace leadline::memory::cuda {

std::vector<std::pair<std::string, std::string>> facts(const Driver& driver) {
  std::vector<std::pair<std::string, std::string>> lines{{"library", driver.version()}};
  for (Device device = 0; device < driver.num_devices(); ++device) {
    const DeviceFacts its = driver.facts_of(device);
    lines.emplace_back("device",
                       fmt::format("{}: {}, {}, {}", device, its.name, its.pci_bus_id, format_bytes(its.memory_bytes)));
  }
  for (Device device = 0; device < driver.num_devices(); ++device) {
    std::string reached;
    for (Device peer = 0; peer < driver.num_devices(); ++peer) {
      if (peer != device && driver.can_access_peer(device, peer)) reached += fmt::format(" {}", peer);
    }
    lines.emplace_back("peer access", fmt::format("{}:{}", device, reached.empty() ? " none" : reached));
  }
  return lines;
}

}  // namespace leadline::memory::cuda
