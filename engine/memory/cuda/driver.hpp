// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, opened at run time, and what it says about its devices.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/dynamic_library.hpp"

namespace leadline::memory::cuda {

using Status = int;  // 0 = done
using Device = int;
using Address = std::byte*;  // in the manual an integer of 64 bits, which is passed alike
using Context = struct ContextOfDriver*;
using Stream = struct StreamOfDriver*;
using Event = struct EventOfDriver*;
static_assert(sizeof(Address) == sizeof(unsigned long long));

inline constexpr Status not_ready = 600;

/// What another process needs to open an allocation; passed by value.
struct IpcHandle {
  char bytes[64];
  bool operator==(const IpcHandle&) const = default;
};

/// Their contract is the driver's reference manual. Throws Error(something_missing) where the library is not there or
/// lacks one of them.
class Functions {
  DynamicLibrary::Symbol find(const char* name) const { return {library_.symbol(name)}; }

  static DynamicLibrary open();

  DynamicLibrary library_ = open();

 public:
  Status (*error_string)(Status, const char**) = find("cuGetErrorString");
  Status (*init)(unsigned flags) = find("cuInit");
  Status (*driver_get_version)(int*) = find("cuDriverGetVersion");

  Status (*device_get_count)(int*) = find("cuDeviceGetCount");
  Status (*device_get)(Device*, int ordinal) = find("cuDeviceGet");
  Status (*device_get_name)(char*, int length, Device) = find("cuDeviceGetName");
  Status (*device_get_pci_bus_id)(char*, int length, Device) = find("cuDeviceGetPCIBusId");
  Status (*device_total_mem)(std::size_t*, Device) = find("cuDeviceTotalMem_v2");
  Status (*device_can_access_peer)(int*, Device, Device peer) = find("cuDeviceCanAccessPeer");
  Status (*primary_context_retain)(Context*, Device) = find("cuDevicePrimaryCtxRetain");
  Status (*context_set_current)(Context) = find("cuCtxSetCurrent");
  Status (*context_synchronize)() = find("cuCtxSynchronize");

  Status (*mem_alloc)(Address*, std::size_t) = find("cuMemAlloc_v2");
  Status (*mem_free)(Address) = find("cuMemFree_v2");
  Status (*mem_get_address_range)(Address* base, std::size_t*, Address) = find("cuMemGetAddressRange_v2");
  Status (*pointer_get_attribute)(void*, int attribute, Address) = find("cuPointerGetAttribute");
  Status (*memset_d8)(Address, unsigned char, std::size_t) = find("cuMemsetD8_v2");
  Status (*memcpy_to_device)(Address, const void*, std::size_t) = find("cuMemcpyHtoD_v2");
  Status (*memcpy_to_host)(void*, const std::byte*, std::size_t) = find("cuMemcpyDtoH_v2");
  Status (*memcpy_async)(Address, const std::byte*, std::size_t, Stream) = find("cuMemcpyDtoDAsync_v2");

  Status (*stream_create)(Stream*, unsigned flags) = find("cuStreamCreate");
  Status (*stream_destroy)(Stream) = find("cuStreamDestroy_v2");
  Status (*stream_query)(Stream) = find("cuStreamQuery");
  Status (*event_create)(Event*, unsigned flags) = find("cuEventCreate");
  Status (*event_destroy)(Event) = find("cuEventDestroy_v2");
  Status (*event_record)(Event, Stream) = find("cuEventRecord");
  Status (*event_query)(Event) = find("cuEventQuery");

  Status (*ipc_get_mem_handle)(IpcHandle*, Address) = find("cuIpcGetMemHandle");
  Status (*ipc_open_mem_handle)(Address*, IpcHandle, unsigned flags) = find("cuIpcOpenMemHandle_v2");
  Status (*ipc_close_mem_handle)(Address) = find("cuIpcCloseMemHandle");
};

/// Opened when they are first asked for, for ever. Throws as their constructor.
const Functions& functions();

/// The variable in which the program says which of the ranks of its host this is; without it, the launchers' own are
/// asked. A program and a transport in a file each have a driver object of their own, and must agree on the device.
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

  /// Throws Error(run_failed) with the driver's text.
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

  const Functions& functions_ = cuda::functions();
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

/// {"library", "CUDA driver 12.4"}, {"device", "0: NVIDIA H100, 0000:17:00.0, 80 GiB"}, {"peer access", "0: 1 2 3"}.
std::vector<std::pair<std::string, std::string>> facts(const Driver& driver);

}  // namespace leadline::memory::cuda
