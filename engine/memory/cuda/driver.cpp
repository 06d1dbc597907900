// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, opened at run time, and what it says about its devices.
#include "memory/cuda/driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "core/error.hpp"
#include "core/units.hpp"

namespace leadline::memory::cuda {
namespace {

/// 0 where nobody says.
int local_rank() {
  for (const char* variable : {local_rank_variable, "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK",
                               "PMI_LOCAL_RANK", "SLURM_LOCALID"}) {
    if (const char* text = std::getenv(variable)) return std::max(std::atoi(text), 0);
  }
  return 0;
}

std::string words_for(const Functions& functions, Status status, const char* function) {
  const char* text = nullptr;
  if (functions.error_string(status, &text) != 0 || text == nullptr) text = "an error without words";
  return fmt::format("{}: {} ({})", function, text, status);
}

}  // namespace

DynamicLibrary Functions::open() {
  try {
    return DynamicLibrary("libcuda.so.1");
  } catch (const Error& error) {
    throw Error(error.status(), "there is no CUDA driver here", error.why(), "libcuda.so.1 comes with NVIDIA's driver");
  }
}

const Functions& functions() { return opened_for_ever<Functions>(); }

Driver::Driver() {
  // A library without a device, as in a container that was started without its GPUs, says so here.
  const auto require = [&](Status status, const char* function) {
    if (status == 0) return;
    throw Error(ExitStatus::something_missing, "no GPU can be used here", words_for(functions_, status, function),
                "See what nvidia-smi lists, and the variable CUDA_VISIBLE_DEVICES");
  };
  require(functions_.init(0), "cuInit");
  require(functions_.device_get_count(&num_devices_), "cuDeviceGetCount");
  if (num_devices_ < 1) throw Error(ExitStatus::something_missing, "no GPU", "the CUDA driver finds no device");
  require(functions_.device_get(&device_, local_rank() % num_devices_), "cuDeviceGet");
  require(functions_.primary_context_retain(&context_, device_), "cuDevicePrimaryCtxRetain");
}

void Driver::fail(Status status, const char* function) const {
  throw Error(ExitStatus::run_failed, "the CUDA driver reports an error", words_for(functions_, status, function));
}

std::string Driver::version() const {
  int version = 0;
  check(functions_.driver_get_version(&version), "cuDriverGetVersion");
  return fmt::format("CUDA driver {}.{}", version / 1000, version % 1000 / 10);
}

DeviceFacts Driver::facts_of(Device device) const {
  std::array<char, 128> name{}, pci_bus_id{};
  DeviceFacts facts;
  check(functions_.device_get_name(name.data(), name.size() - 1, device), "cuDeviceGetName");
  check(functions_.device_get_pci_bus_id(pci_bus_id.data(), pci_bus_id.size() - 1, device), "cuDeviceGetPCIBusId");
  check(functions_.device_total_mem(&facts.memory_bytes, device), "cuDeviceTotalMem");
  facts.name = name.data();
  facts.pci_bus_id = pci_bus_id.data();
  return facts;
}

bool Driver::can_access_peer(Device device, Device peer) const {
  int can = 0;
  check(functions_.device_can_access_peer(&can, device, peer), "cuDeviceCanAccessPeer");
  return can != 0;
}

const Driver& driver() {
  static const Driver& one = *new Driver;
  return one;
}

OwnedStream::OwnedStream(const Driver& driver) : driver_(driver) {
  constexpr unsigned non_blocking = 1;
  driver.enter();
  driver.check(driver.functions().stream_create(&stream_, non_blocking), "cuStreamCreate");
}

OwnedStream::~OwnedStream() {
  if (stream_ != nullptr) driver_.functions().stream_destroy(stream_);
}

OwnedEvent::OwnedEvent(const Driver& driver) : driver_(driver) {
  constexpr unsigned disable_timing = 2;
  driver.enter();
  driver.check(driver.functions().event_create(&event_, disable_timing), "cuEventCreate");
}

OwnedEvent::~OwnedEvent() {
  if (event_ != nullptr) driver_.functions().event_destroy(event_);
}

std::vector<std::pair<std::string, std::string>> facts(const Driver& driver) {
  std::vector<std::pair<std::string, std::string>> lines{{"library", driver.version()}};
  for (Device device = 0; device < driver.num_devices(); ++device) {
    const DeviceFacts facts = driver.facts_of(device);
    lines.emplace_back("device", fmt::format("{}: {}, {}, {}", device, facts.name, facts.pci_bus_id,
                                             format_bytes(facts.memory_bytes)));
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
