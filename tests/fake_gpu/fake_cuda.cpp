// SPDX-License-Identifier: Apache-2.0
// A make-believe CUDA driver: two devices of 1 MiB, whose addresses the processor can neither read nor write.
#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <vector>

namespace {

enum Status { done = 0, invalid_value = 1, out_of_memory = 2, invalid_context = 201 };

constexpr std::size_t device_bytes = 1 << 20;

int devices[2] = {0, 1};
int* current = nullptr;
std::map<std::byte*, std::vector<std::byte>> contents;  // by the address that stands for them

bool holds(const std::byte* address, std::size_t bytes) {
  const auto found = contents.find(const_cast<std::byte*>(address));
  return found != contents.end() && found->second.size() >= bytes;
}

Status check(const std::byte* address, std::size_t bytes) {
  if (current == nullptr) return invalid_context;
  return holds(address, bytes) ? done : invalid_value;
}

}  // namespace

extern "C" {

int cuInit(unsigned) { return done; }

int cuDeviceGetCount(int* num) {
  *num = 2;
  return done;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 || ordinal == 1 ? done : invalid_value;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &devices[device];
  return done;
}

int cuCtxSetCurrent(void* context) {
  current = static_cast<int*>(context);
  return done;
}

int cuMemAlloc_v2(std::byte** address, std::size_t bytes) {
  if (current == nullptr) return invalid_context;
  if (bytes > device_bytes) return out_of_memory;
  void* const reserved = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (reserved == MAP_FAILED) return out_of_memory;
  *address = static_cast<std::byte*>(reserved);
  contents[*address] = std::vector<std::byte>(bytes, std::byte{0xcd});
  return done;
}

int cuMemFree_v2(std::byte* address) {
  const Status status = check(address, 0);
  if (status == done) munmap(address, contents[address].size());
  contents.erase(address);
  return status;
}

int cuMemsetD8_v2(std::byte* address, unsigned char value, std::size_t bytes) {
  const Status status = check(address, bytes);
  if (status == done) std::memset(contents[address].data(), value, bytes);
  return status;
}

int cuMemcpyHtoD_v2(std::byte* to, const void* from, std::size_t bytes) {
  const Status status = check(to, bytes);
  if (status == done) std::memcpy(contents[to].data(), from, bytes);
  return status;
}

int cuMemcpyDtoH_v2(void* to, const std::byte* from, std::size_t bytes) {
  const Status status = check(from, bytes);
  if (status == done) std::memcpy(to, contents[const_cast<std::byte*>(from)].data(), bytes);
  return status;
}

int cuCtxSynchronize() { return done; }

int cuGetErrorString(int status, const char** text) {
  *text = status == out_of_memory ? "out of memory" : status == invalid_value ? "invalid argument" : nullptr;
  return *text == nullptr ? invalid_value : done;
}

/// For the test.
int fake_current_device() { return current == nullptr ? -1 : *current; }
int fake_num_allocations() { return static_cast<int>(contents.size()); }
}
