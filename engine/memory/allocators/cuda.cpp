// SPDX-License-Identifier: Apache-2.0
// Memory of an NVIDIA GPU, through the CUDA driver that is opened at run time.
#include <cstddef>
#include <span>

#include "core/error.hpp"
#include "memory/allocators/allocators.hpp"
#include "memory/cuda/driver.hpp"

namespace leadline::memory {
namespace {

/// Zeroed, so that its pages are there.
std::byte* allocate_zeroed(const cuda::Driver& driver, std::size_t bytes) {
  const cuda::Functions& cuda = driver.functions();
  driver.enter();
  std::byte* address = nullptr;
  driver.check(cuda.mem_alloc(&address, bytes), "cuMemAlloc");
  cuda::Status zeroed = cuda.memset_d8(address, 0, bytes);
  if (zeroed == 0) zeroed = cuda.context_synchronize();
  if (zeroed != 0) cuda.mem_free(address);
  driver.check(zeroed, "cuMemsetD8");
  return address;
}

std::byte* allocate_cuda(std::size_t bytes) {
  try {
    return allocate_zeroed(cuda::driver(), bytes);
  } catch (const Error& error) {
    fail("cuda", bytes, error.why());
  }
}

void release_cuda(std::byte* data, std::size_t /*bytes*/) noexcept {
  try {
    cuda::driver().enter();
  } catch (const Error&) {
    return;  // a device that is lost has lost its memory, too
  }
  cuda::driver().functions().mem_free(data);
}

void copy_in(std::byte* to, std::span<const std::byte> from) {
  if (from.empty()) return;
  const cuda::Driver& driver = cuda::driver();
  driver.enter();
  driver.check(driver.functions().memcpy_to_device(to, from.data(), from.size()), "cuMemcpyHtoD");
  driver.check(driver.functions().context_synchronize(), "cuCtxSynchronize");
}

void copy_out(std::span<std::byte> to, const std::byte* from) {
  if (to.empty()) return;
  const cuda::Driver& driver = cuda::driver();
  driver.enter();
  driver.check(driver.functions().memcpy_to_host(to.data(), from, to.size()), "cuMemcpyDtoH");
}

}  // namespace

const Allocator cuda_allocator{
    .name = "cuda",
    .purpose = "memory of an NVIDIA GPU (cuMemAlloc); the default of transports that reach no other, cuda and nccl",
    .location = Location::gpu,
    .allocate = allocate_cuda,
    .release = release_cuda,
    .copy_in = copy_in,
    .copy_out = copy_out,
};

}  // namespace leadline::memory
