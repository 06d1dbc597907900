// SPDX-License-Identifier: Apache-2.0
// A fake CUDA driver: four devices of 1 GiB, whose addresses the processor can neither read nor write, and
// whose streams do nothing until somebody looks at them, and then not at once. What is wrong use of a real one is an
// error.
#include "fake_cuda.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace {

enum Status {
  done = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  invalid_device = 101,
  invalid_context = 201,
  already_mapped = 208,
  peer_access_unsupported = 217,
  invalid_handle = 400,
  not_ready = 600,
  illegal_address = 700,
};

constexpr int num_devices = 4;
constexpr std::size_t device_bytes = std::size_t{1} << 30;

int devices[num_devices] = {0, 1, 2, 3};
pid_t initialized_in = 0;
Status broken = done;  // an error that a real driver never forgets either
thread_local int* current = nullptr;

/// A stretch of device memory: what stands for it, and a shared object with its bytes, which other processes can open.
struct Memory {
  Memory(int descriptor, std::size_t size, int of_device, bool imported)
      : fd(descriptor), bytes(size), device(of_device), is_imported(imported) {
    front =
        static_cast<std::byte*>(mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    contents = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    if (front == MAP_FAILED || contents == MAP_FAILED) std::abort();
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    munmap(front, bytes);
    munmap(contents, bytes);
    close(fd);
  }

  int fd;
  std::size_t bytes;
  int device;
  bool is_imported;
  pid_t owner = 0;  // where it is imported
  int owner_fd = -1;
  ino_t inode = 0;
  std::byte *front, *contents;
  std::uint64_t number = ++num_made;

 private:
  static inline std::uint64_t num_made = 0;
};

std::map<const std::byte*, std::unique_ptr<Memory>> memories;  // by the address that stands for them

Memory* memory_at(const std::byte* address) {
  auto above = memories.upper_bound(address);
  if (above == memories.begin()) return nullptr;
  Memory& memory = *std::prev(above)->second;
  return address < memory.front + memory.bytes ? &memory : nullptr;
}

Status usable() {
  // A driver that was started before a fork is of no use to the child.
  if (initialized_in != getpid()) return not_initialized;
  return broken != done ? broken : current == nullptr ? invalid_context : done;
}

Status check(const std::byte* address, std::size_t bytes) {
  if (const Status status = usable(); status != done) return status;
  return fake_contents(address, bytes) != nullptr ? done : invalid_value;
}

struct Stream {
  std::deque<std::function<bool()>> work;
  std::uint64_t num_enqueued = 0, num_done = 0;

  void look() {
    if (work.empty() || !work.front()()) return;
    work.pop_front();
    ++num_done;
  }
  void finish() {
    while (!work.empty()) look();
  }
};

struct Event {
  Stream* stream = nullptr;
  std::uint64_t after = 0;
};

std::set<Stream*> streams;
std::set<Event*> events;

/// How long a copy of a device takes at least: the environment may name each device's milliseconds, "2,2,10,2".
std::chrono::milliseconds copy_time(int device) {
  const char* text = std::getenv("FAKE_CUDA_COPY_MS");
  for (int i = 0; text != nullptr && i < device; ++i) {
    if ((text = std::strchr(text, ',')) != nullptr) ++text;
  }
  return std::chrono::milliseconds(text == nullptr ? 0 : std::atoi(text));
}

/// Reads and writes when it is its turn, and then at the second look at the earliest, when the time of the slower
/// device is over.
std::function<bool()> copy_work(std::byte* to, const std::byte* from, std::size_t bytes) {
  const auto time = std::max(copy_time(memory_at(to)->device), copy_time(memory_at(from)->device));
  return [=, looks = 0, end = std::chrono::steady_clock::time_point()]() mutable {
    const auto now = std::chrono::steady_clock::now();
    if (++looks == 1) end = now + time;
    if (looks < 2 || now < end) return false;
    std::byte* const target = fake_contents(to, bytes);
    const std::byte* const source = fake_contents(from, bytes);
    if (target == nullptr || source == nullptr) {
      broken = illegal_address;  // freed or closed in between
      return true;
    }
    std::memmove(target, source, bytes);
    return true;
  };
}

/// As large as a real one.
union Handle {
  struct {
    pid_t pid;
    int fd;
    std::size_t bytes;
    int device;
  } description;
  char bytes[64];
};

}  // namespace

std::byte* fake_contents(const std::byte* address, std::size_t bytes) {
  Memory* const memory = memory_at(address);
  if (memory == nullptr) return nullptr;
  const auto offset = static_cast<std::size_t>(address - memory->front);
  return bytes <= memory->bytes - offset ? memory->contents + offset : nullptr;
}

int fake_enqueue(void* stream, bool (*step)(void*), void* state) {
  auto* const queue = static_cast<Stream*>(stream);
  if (!streams.contains(queue)) return invalid_handle;
  queue->work.emplace_back([=] { return step(state); });
  ++queue->num_enqueued;
  return done;
}

int fake_current_device() { return current == nullptr ? -1 : *current; }
int fake_num_allocations() { return static_cast<int>(memories.size()); }

FAKE_GPU_SYMBOL int cuInit(unsigned) {
  if (initialized_in != 0 && initialized_in != getpid()) return not_initialized;
  initialized_in = getpid();
  return done;
}

FAKE_GPU_SYMBOL int cuDriverGetVersion(int* version) {
  *version = 12040;
  return done;
}

FAKE_GPU_SYMBOL int cuGetErrorString(int status, const char** text) {
  static const std::map<int, const char*> words{{invalid_value, "invalid argument"},
                                                {out_of_memory, "out of memory"},
                                                {not_initialized, "initialization error"},
                                                {invalid_context, "invalid device context"},
                                                {peer_access_unsupported, "peer access is not supported"},
                                                {invalid_handle, "invalid resource handle"},
                                                {illegal_address, "an illegal memory access was encountered"}};
  const auto found = words.find(status);
  *text = found == words.end() ? nullptr : found->second;
  return *text == nullptr ? invalid_value : done;
}

FAKE_GPU_SYMBOL int cuDeviceGetCount(int* num) {
  *num = num_devices;
  return initialized_in == getpid() ? done : not_initialized;
}

FAKE_GPU_SYMBOL int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal >= 0 && ordinal < num_devices ? done : invalid_device;
}

FAKE_GPU_SYMBOL int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, static_cast<std::size_t>(length), "Fake GPU");
  return done;
}

FAKE_GPU_SYMBOL int cuDeviceGetPCIBusId(char* id, int length, int device) {
  std::snprintf(id, static_cast<std::size_t>(length), "0000:%02x:00.0", static_cast<unsigned>(device) + 0x11);
  return done;
}

FAKE_GPU_SYMBOL int cuDeviceTotalMem_v2(std::size_t* bytes, int) {
  *bytes = device_bytes;
  return done;
}

/// All with all, unless the environment says that no two devices reach each other.
FAKE_GPU_SYMBOL int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  *can = device != peer && std::getenv("FAKE_CUDA_NO_PEERS") == nullptr ? 1 : 0;
  return done;
}

FAKE_GPU_SYMBOL int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &devices[device];
  return initialized_in == getpid() ? done : not_initialized;
}

FAKE_GPU_SYMBOL int cuCtxSetCurrent(void* context) {
  current = static_cast<int*>(context);
  return initialized_in == getpid() ? done : not_initialized;
}

FAKE_GPU_SYMBOL int cuCtxSynchronize() {
  for (Stream* stream : streams) stream->finish();
  return usable();
}

FAKE_GPU_SYMBOL int cuMemAlloc_v2(std::byte** address, std::size_t bytes) {
  if (const Status status = usable(); status != done) return status;
  if (bytes == 0) return invalid_value;
  if (bytes > device_bytes) return out_of_memory;
  const int fd = memfd_create("fake device memory", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) return out_of_memory;
  auto memory = std::make_unique<Memory>(fd, bytes, *current, false);
  *address = memory->front;
  memories[memory->front] = std::move(memory);
  return done;
}

FAKE_GPU_SYMBOL int cuMemFree_v2(std::byte* address) {
  if (const Status status = usable(); status != done) return status;
  const auto found = memories.find(address);
  if (found == memories.end() || found->second->is_imported) return invalid_value;
  memories.erase(found);
  return done;
}

FAKE_GPU_SYMBOL int cuMemGetAddressRange_v2(std::byte** base, std::size_t* bytes, std::byte* address) {
  if (const Status status = check(address, 0); status != done) return status;
  const Memory& memory = *memory_at(address);
  *base = memory.front;
  *bytes = memory.bytes;
  return done;
}

/// Of the many attributes of a real one: the number that no other allocation of this process ever has.
FAKE_GPU_SYMBOL int cuPointerGetAttribute(void* value, int attribute, std::byte* address) {
  constexpr int buffer_id = 7;
  if (const Status status = check(address, 0); status != done) return status;
  if (attribute != buffer_id) return invalid_value;
  std::memcpy(value, &memory_at(address)->number, sizeof(std::uint64_t));
  return done;
}

FAKE_GPU_SYMBOL int cuMemsetD8_v2(std::byte* address, unsigned char value, std::size_t bytes) {
  const Status status = check(address, bytes);
  if (status == done) std::memset(fake_contents(address, bytes), value, bytes);
  return status;
}

FAKE_GPU_SYMBOL int cuMemcpyHtoD_v2(std::byte* to, const void* from, std::size_t bytes) {
  const Status status = check(to, bytes);
  if (status == done) std::memcpy(fake_contents(to, bytes), from, bytes);
  return status;
}

FAKE_GPU_SYMBOL int cuMemcpyDtoH_v2(void* to, const std::byte* from, std::size_t bytes) {
  const Status status = check(from, bytes);
  if (status == done) std::memcpy(to, fake_contents(from, bytes), bytes);
  return status;
}

FAKE_GPU_SYMBOL int cuMemcpyDtoDAsync_v2(std::byte* to, const std::byte* from, std::size_t bytes, Stream* stream) {
  if (const Status status = check(to, bytes); status != done) return status;
  if (const Status status = check(from, bytes); status != done) return status;
  if (!streams.contains(stream)) return invalid_handle;
  stream->work.push_back(copy_work(to, from, bytes));
  ++stream->num_enqueued;
  return done;
}

FAKE_GPU_SYMBOL int cuStreamCreate(Stream** stream, unsigned) {
  const Status status = usable();
  if (status == done) streams.insert(*stream = new Stream);
  return status;
}

FAKE_GPU_SYMBOL int cuStreamDestroy_v2(Stream* stream) {
  if (streams.erase(stream) == 0) return invalid_handle;
  stream->finish();
  delete stream;
  return done;
}

FAKE_GPU_SYMBOL int cuStreamQuery(Stream* stream) {
  if (const Status status = usable(); status != done) return status;
  if (!streams.contains(stream)) return invalid_handle;
  stream->look();
  return broken != done ? broken : stream->work.empty() ? done : not_ready;
}

FAKE_GPU_SYMBOL int cuEventCreate(Event** event, unsigned) {
  const Status status = usable();
  if (status == done) events.insert(*event = new Event);
  return status;
}

FAKE_GPU_SYMBOL int cuEventDestroy_v2(Event* event) {
  if (events.erase(event) == 0) return invalid_handle;
  delete event;
  return done;
}

FAKE_GPU_SYMBOL int cuEventRecord(Event* event, Stream* stream) {
  if (const Status status = usable(); status != done) return status;
  if (!events.contains(event) || !streams.contains(stream)) return invalid_handle;
  *event = {stream, stream->num_enqueued};
  return done;
}

FAKE_GPU_SYMBOL int cuEventQuery(Event* event) {
  if (const Status status = usable(); status != done) return status;
  if (!events.contains(event) || (event->stream != nullptr && !streams.contains(event->stream))) return invalid_handle;
  if (event->stream == nullptr) return done;
  if (event->stream->num_done < event->after) event->stream->look();
  return broken != done ? broken : event->stream->num_done >= event->after ? done : not_ready;
}

FAKE_GPU_SYMBOL int cuIpcGetMemHandle(Handle* handle, std::byte* address) {
  if (const Status status = usable(); status != done) return status;
  const Memory* const memory = memory_at(address);
  if (memory == nullptr || memory->front != address || memory->is_imported) return invalid_value;
  *handle = {};
  handle->description = {getpid(), memory->fd, memory->bytes, memory->device};
  return done;
}

FAKE_GPU_SYMBOL int cuIpcOpenMemHandle_v2(std::byte** address, Handle handle, unsigned flags) {
  if (const Status status = usable(); status != done) return status;
  const auto& [pid, memory_fd, bytes, device] = handle.description;
  if (flags != 1) return invalid_value;
  if (pid == getpid()) return invalid_context;
  if (device != *current && std::getenv("FAKE_CUDA_NO_PEERS") != nullptr) return peer_access_unsupported;
  const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(memory_fd);
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return invalid_value;
  struct stat file {};
  fstat(fd, &file);
  // A real driver maps a block once, and what is allocated after a release may lie in the same block.
  const auto holds = [pid = pid, memory_fd = memory_fd](const auto& opened) {
    return opened.second->is_imported && opened.second->owner == pid && opened.second->owner_fd == memory_fd;
  };
  const auto before = std::find_if(memories.begin(), memories.end(), holds);
  if (before != memories.end() && before->second->inode != file.st_ino) {
    close(fd);
    return already_mapped;
  }
  auto memory = std::make_unique<Memory>(fd, bytes, device, true);
  memory->owner = pid;
  memory->owner_fd = memory_fd;
  memory->inode = file.st_ino;
  *address = memory->front;
  memories[memory->front] = std::move(memory);
  return done;
}

FAKE_GPU_SYMBOL int cuIpcCloseMemHandle(std::byte* address) {
  if (const Status status = usable(); status != done) return status;
  const auto found = memories.find(address);
  if (found == memories.end() || !found->second->is_imported) return invalid_value;
  memories.erase(found);
  return done;
}
