// SPDX-License-Identifier: Apache-2.0
// Asks the CUDA driver on each rank; the root decides for all.
#include "check/gpus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/json.hpp"
#include "memory/cuda/driver.hpp"

namespace leadline::check {
namespace {

OwnGpu own_gpu() {
  try {
    const memory::cuda::Driver& driver = memory::cuda::driver();
    OwnGpu gpu;
    gpu.pci_bus_id = driver.facts_of(driver.device()).pci_bus_id;
    for (memory::cuda::Device device = 0; device < driver.num_devices(); ++device) {
      if (device == driver.device() || driver.can_access_peer(driver.device(), device)) {
        gpu.reached.push_back(driver.facts_of(device).pci_bus_id);
      }
    }
    return gpu;
  } catch (const Error&) {  // no driver, or no device
    return {};
  }
}

OwnGpu unpacked(std::string_view text) {
  const Json json = Json::parse(text);
  OwnGpu gpu;
  json.at(0).get_to(gpu.pci_bus_id);
  json.at(1).get_to(gpu.reached);
  return gpu;
}

/// Why the copies of the transport cuda do not get from each GPU to each other one; empty where they do.
std::string why_not_reached(const std::vector<OwnGpu>& gpu_of) {
  for (const OwnGpu& from : gpu_of) {
    for (const OwnGpu& to : gpu_of) {
      if (std::ranges::find(from.reached, to.pci_bus_id) == from.reached.end()) {
        return fmt::format("{} has no peer access to {}, or its process does not see it", from.pci_bus_id,
                           to.pci_bus_id);
      }
    }
  }
  return "";
}

}  // namespace

GpuLinks gpu_links(const std::vector<OwnGpu>& gpu_of, std::span<const std::uint32_t> host_of,
                   const std::string& own_transport) {
  GpuLinks links;
  std::set<std::pair<std::uint32_t, std::string>> different;
  std::size_t num_with = 0;
  for (std::size_t rank = 0; rank < gpu_of.size(); ++rank) {
    if (gpu_of[rank].pci_bus_id.empty()) continue;
    ++num_with;
    different.emplace(host_of[rank], gpu_of[rank].pci_bus_id);
  }
  if (num_with == 0 || gpu_of.size() < 2) return links;
  const bool is_one_host = std::ranges::all_of(host_of, [&](std::uint32_t host) { return host == host_of.front(); });
  for (const OwnGpu& gpu : gpu_of) links.pci_bus_ids.push_back(gpu.pci_bus_id);
  if (num_with < gpu_of.size()) {
    links.why_not = fmt::format("only {} of {} ranks have one", num_with, gpu_of.size());
  } else if (different.size() < num_with) {
    links.why_not = "ranks share them: start as many on each host as it has";
  } else if (const std::string why = is_one_host ? why_not_reached(gpu_of) : "ranks are on several hosts";
             why.empty()) {
    links.transport = "cuda";
  } else if (own_transport.empty()) {
    links.why_not = why + ", and the transport of this check does not take their memory";
  } else {
    links.transport = own_transport;
  }
  return links;
}

GpuLinks find_gpu_links(cluster::Cluster& cluster, const std::string& own_transport) {
  const OwnGpu own = own_gpu();
  std::vector<OwnGpu> gpu_of(static_cast<std::size_t>(cluster.size()));
  cluster.gather(Json::array({own.pci_bus_id, own.reached}).in_one_line(),
                 [&](int rank, std::string_view text) { gpu_of[static_cast<std::size_t>(rank)] = unpacked(text); });
  const GpuLinks decided = gpu_links(gpu_of, cluster.host_of(), own_transport);
  const Json told = Json::parse(
      cluster.broadcast(Json::array({decided.transport, decided.why_not, decided.pci_bus_ids}).in_one_line()));
  GpuLinks links;
  told.at(0).get_to(links.transport);
  told.at(1).get_to(links.why_not);
  told.at(2).get_to(links.pci_bus_ids);
  return links;
}

}  // namespace leadline::check
