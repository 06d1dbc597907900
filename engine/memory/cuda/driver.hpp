// SPDX-License-Identifier: Apache-2.0
// The open CUDA driver and the device that this rank uses: for the allocator, and for the transports of GPU memory.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "memory/cuda/functions.hpp"

namespace leadline::memory::cuda {

/// The variable in which the program says which of the ranks of its host this is; without it, the launchers' own are
/// asked. A program and the modules that it opens each have a driver object of their own, and must agree on the device.
inline constexpr const char* local_rank_variable = "LEADLINE_LOCAL_RANK";

/// A device as people know it.
struct DeviceFacts {
  std::string name;        ///< "NVIDIA H100"
  std::string pci_bus_id;  ///< "0000:17:00.0"
  std::size_t memory_bytes = 0;
};

/// The ranks of a host take its devices in turn.
class Driver {
 public:
  /// Throws Error(something_missing) where there is no driver or no device.
  Driver();

  const Functions& functions() const { return functions_; }
  Device device() const { return device_; }

  /// Any thread may come, and a library in between may have left another device current.
  void enter() const { check(functions_.context_set_current(context_), "cuCtxSetCurrent"); }

  /// Throws Error(run_failed) in the driver's words.
  void check(Status status, const char* function) const {
    if (status != 0) [[unlikely]]
      fail(status, function);
  }

  std::string version() const;  ///< "CUDA driver 12.4"
  int num_devices() const { return num_devices_; }
  DeviceFacts facts_of(Device device) const;
  bool can_access_peer(Device device, Device peer) const;

 private:
  [[noreturn, gnu::cold]] void fail(Status status, const char* function) const;

  Functions functions_;
  int num_devices_ = 0;
  Device device_ = 0;
  Context context_ = nullptr;
};

/// Opened when it is first asked for. Lives for ever: the driver does not bear being unloaded while an MPI library
/// still holds on to it.
const Driver& driver();

/// Owns a stream that takes no notice of the default one.
class OwnedStream {
 public:
  explicit OwnedStream(const Driver& driver);
  OwnedStream(OwnedStream&& other) noexcept : driver_(other.driver_), stream_(std::exchange(other.stream_, nullptr)) {}
  OwnedStream& operator=(OwnedStream&&) = delete;
  ~OwnedStream();

  Stream get() const { return stream_; }

 private:
  const Driver& driver_;
  Stream stream_ = nullptr;
};

/// Owns an event that keeps no time.
class OwnedEvent {
 public:
  explicit OwnedEvent(const Driver& driver);
  OwnedEvent(OwnedEvent&& other) noexcept : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)) {}
  OwnedEvent& operator=(OwnedEvent&&) = delete;
  ~OwnedEvent();

  Event get() const { return event_; }

 private:
  const Driver& driver_;
  Event event_ = nullptr;
};

}  // namespace leadline::memory::cuda
