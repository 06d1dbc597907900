// SPDX-License-Identifier: Apache-2.0
// Memory of an NVIDIA GPU, through the CUDA driver that is opened at run time.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>

#include "core/dynamic_library.hpp"
#include "core/error.hpp"
#include "memory/allocators/allocators.hpp"
#include "memory/allocators/pages.hpp"

namespace leadline::memory {
namespace {

// The part of the driver's interface that is used here, as its reference manual has it; so no header is needed.
using Status = int;  // 0 = done
using Device = int;
using Context = void*;
using Address = std::byte*;  // in the manual an integer of 64 bits, which is passed alike
static_assert(sizeof(Address) == sizeof(unsigned long long));

/// Among the ranks of this host, as the launcher counts them; 0 where no launcher says.
int local_rank() {
  for (const char* variable :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMIX_LOCAL_RANK", "PMI_LOCAL_RANK", "SLURM_LOCALID"}) {
    if (const char* text = std::getenv(variable)) return std::max(std::atoi(text), 0);
  }
  return 0;
}

/// The open driver, and its own context of the device that this rank uses.
class Driver {
 public:
  Driver() {
    check(init_(0), "cuInit");
    int num_devices = 0;
    check(device_get_count_(&num_devices), "cuDeviceGetCount");
    if (num_devices < 1) throw Error(ExitStatus::something_missing, "no GPU", "the CUDA driver finds no device");
    Device device = 0;
    check(device_get_(&device, local_rank() % num_devices), "cuDeviceGet");
    check(primary_context_retain_(&context_, device), "cuDevicePrimaryCtxRetain");
  }

  /// Zeroed, so that its pages are there.
  Address allocate(std::size_t bytes) const {
    enter();
    Address address = nullptr;
    check(allocate_(&address, bytes), "cuMemAlloc");
    Status zeroed = set_(address, 0, bytes);
    if (zeroed == 0) zeroed = synchronize_();
    if (zeroed != 0) release_(address);
    check(zeroed, "cuMemsetD8");
    return address;
  }

  void release(Address address) const noexcept {
    if (set_current_(context_) == 0) release_(address);
  }

  void copy_in(Address to, const void* from, std::size_t bytes) const {
    enter();
    check(copy_in_(to, from, bytes), "cuMemcpyHtoD");
    check(synchronize_(), "cuCtxSynchronize");
  }

  void copy_out(void* to, const std::byte* from, std::size_t bytes) const {
    enter();
    check(copy_out_(to, from, bytes), "cuMemcpyDtoH");
  }

 private:
  /// Any thread may come, and a library in between may have left another device current.
  void enter() const { check(set_current_(context_), "cuCtxSetCurrent"); }

  void check(Status status, const char* function) const {
    if (status == 0) return;
    const char* text = nullptr;
    if (error_string_(status, &text) != 0 || text == nullptr) text = "an error without words";
    throw Error(ExitStatus::run_failed, "the CUDA driver reports an error",
                fmt::format("{}: {} ({})", function, text, status));
  }

  /// Becomes the pointer to a function that it is assigned to.
  struct Symbol {
    void* address;
    template <class Signature>
    operator Signature*() const {
      return reinterpret_cast<Signature*>(address);
    }
  };

  Symbol find(const char* name) const { return {library_.symbol(name)}; }

  DynamicLibrary library_{"libcuda.so.1"};
  Status (*error_string_)(Status, const char**) = find("cuGetErrorString");
  Status (*init_)(unsigned) = find("cuInit");
  Status (*device_get_count_)(int*) = find("cuDeviceGetCount");
  Status (*device_get_)(Device*, int) = find("cuDeviceGet");
  Status (*primary_context_retain_)(Context*, Device) = find("cuDevicePrimaryCtxRetain");
  Status (*set_current_)(Context) = find("cuCtxSetCurrent");
  Status (*allocate_)(Address*, std::size_t) = find("cuMemAlloc_v2");
  Status (*release_)(Address) = find("cuMemFree_v2");
  Status (*set_)(Address, unsigned char, std::size_t) = find("cuMemsetD8_v2");
  Status (*copy_in_)(Address, const void*, std::size_t) = find("cuMemcpyHtoD_v2");
  Status (*copy_out_)(void*, const std::byte*, std::size_t) = find("cuMemcpyDtoH_v2");
  Status (*synchronize_)() = find("cuCtxSynchronize");
  Context context_ = nullptr;
};

/// Lives for ever: the driver does not bear being unloaded while an MPI library still holds on to it.
const Driver& driver() {
  static const Driver& one = *new Driver;
  return one;
}

std::byte* allocate_cuda(std::size_t bytes) {
  try {
    return driver().allocate(bytes);
  } catch (const Error& error) {
    fail("cuda", bytes, error.why());
  }
}

void release_cuda(std::byte* data, std::size_t /*bytes*/) noexcept { driver().release(data); }

void copy_in(std::byte* to, std::span<const std::byte> from) {
  if (!from.empty()) driver().copy_in(to, from.data(), from.size());
}

void copy_out(std::span<std::byte> to, const std::byte* from) {
  if (!to.empty()) driver().copy_out(to.data(), from, to.size());
}

}  // namespace

const Allocator cuda_allocator{
    .name = "cuda",
    .purpose = "memory of an NVIDIA GPU, for transports that can reach it (cuMemAlloc)",
    .place = Place::gpu,
    .allocate = allocate_cuda,
    .release = release_cuda,
    .copy_in = copy_in,
    .copy_out = copy_out,
};

}  // namespace leadline::memory
