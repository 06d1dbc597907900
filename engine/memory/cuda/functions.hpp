// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver's interface that is used here, opened at run time; no header of NVIDIA's is needed.
#pragma once

#include <cstddef>

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
  /// Becomes the pointer to a function that it is assigned to.
  struct Symbol {
    void* address;
    template <class Signature>
    operator Signature*() const {
      return reinterpret_cast<Signature*>(address);
    }
  };
  Symbol find(const char* name) const { return {library_.symbol(name)}; }

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

}  // namespace leadline::memory::cuda
