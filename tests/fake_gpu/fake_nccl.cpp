// SPDX-License-Identifier: Apache-2.0
// A fake NCCL over the fake driver: sends, receives and collective operations of processes on one host. What makes a
// real one wait makes it wait: a group of a stream begins when the one before it is done, and ends when all its
// messages are. A collective operation is such a group: each rank sends to all, and adds up what it gets.
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fake_cuda.hpp"

namespace {

enum Result {
  success = 0,
  unhandled_cuda_error = 1,
  system_error = 2,
  invalid_argument = 4,
  invalid_usage = 5,
};

constexpr int max_ranks = 16;
constexpr std::size_t piece_bytes = 1 << 20;

/// From one rank to another: room for one piece of a message.
struct Pipe {
  std::atomic<std::uint64_t> num_put, num_taken;
  std::byte piece[piece_bytes];
};

struct Shared {
  std::atomic<int> num_come, device_of[max_ranks];
  std::atomic<int> num_split, color_of[2][max_ranks];  // of one split and the next, in turn
  Pipe pipes[max_ranks][max_ranks];                    // pages that nobody uses are never there
};

struct Id {
  pid_t pid;
  int fd;
  char rest[128 - sizeof(pid_t) - sizeof(int)];
};

struct Comm {
  Shared* shared;
  int rank, size;
  std::vector<int> members;  // by rank: the rank of the first communicator, whose pipes are used
  bool is_first = true;
  int num_splits = 0;

  int number() const { return members[static_cast<std::size_t>(rank)]; }
};

struct Operation {
  bool sends;
  std::byte* data;
  std::size_t bytes;
  int peer;
  std::size_t done = 0;
  bool is_ordinary = false;  // memory
};

/// What one group has for one stream.
struct Batch {
  Comm* comm;
  std::vector<Operation> operations;
  std::vector<std::vector<float>> addends{};  // of a reduction, by rank
  std::function<void()> finish{};
};

thread_local int depth = 0;
thread_local std::map<std::pair<Comm*, void*>, Batch*> open_group;
thread_local std::string last_error;

int fail(Result result, const std::string& why) {
  last_error = why;
  return result;
}

/// A piece at most; whether the operation is over.
bool move_piece(Comm& comm, Operation& operation) {
  const int peer = comm.members[static_cast<std::size_t>(operation.peer)];
  Pipe& pipe = operation.sends ? comm.shared->pipes[comm.number()][peer] : comm.shared->pipes[peer][comm.number()];
  const bool is_full = pipe.num_put.load(std::memory_order_acquire) > pipe.num_taken.load(std::memory_order_acquire);
  if (operation.sends == is_full) return false;
  const std::size_t bytes = std::min(operation.bytes - operation.done, piece_bytes);
  std::byte* const from_here = operation.data + operation.done;
  std::byte* const data = operation.is_ordinary ? from_here : fake_contents(from_here, bytes);
  std::memcpy(operation.sends ? pipe.piece : data, operation.sends ? data : pipe.piece, bytes);
  (operation.sends ? pipe.num_put : pipe.num_taken).fetch_add(1, std::memory_order_release);
  operation.done += bytes;
  return operation.done == operation.bytes;
}

/// Messages between the same two ranks one after the other, all others at once.
bool step(void* state) {
  auto* const batch = static_cast<Batch*>(state);
  std::set<std::pair<int, bool>> busy;
  std::erase_if(batch->operations, [&](Operation& operation) {
    if (busy.contains({operation.peer, operation.sends})) return false;
    if (move_piece(*batch->comm, operation)) return true;
    busy.insert({operation.peer, operation.sends});
    return false;
  });
  if (!batch->operations.empty()) return false;
  if (batch->finish) batch->finish();
  delete batch;
  return true;
}

int close_group() {
  for (const auto& [where, batch] : std::exchange(open_group, {})) {
    if (fake_enqueue(where.second, step, batch) != 0) return fail(unhandled_cuda_error, "no such stream");
  }
  return success;
}

int add(Comm* comm, void* stream, const Operation& operation) {
  if (comm == nullptr || operation.peer < 0 || operation.peer >= comm->size) return fail(invalid_argument, "no peer");
  if (fake_contents(operation.data, operation.bytes) == nullptr) return fail(invalid_argument, "no device memory");
  Batch*& batch = open_group[{comm, stream}];
  if (batch == nullptr) batch = new Batch{.comm = comm, .operations = {}};
  if (operation.bytes > 0) batch->operations.push_back(operation);
  return depth > 0 ? success : close_group();
}

/// A collective operation: block `rank` of `send` goes to each rank, or all of it where `is_same_for_all`. What comes
/// is added up in `receive`, or lies there block by block.
int add_collective(Comm* comm, void* stream, const void* send, void* receive, std::size_t num, bool is_same_for_all,
                   bool is_sum) {
  constexpr std::size_t size_of_number = sizeof(float);
  auto* const from = const_cast<std::byte*>(static_cast<const std::byte*>(send));
  auto* const to = static_cast<std::byte*>(receive);
  const auto ranks = static_cast<std::size_t>(comm->size);
  const std::size_t bytes = num * size_of_number;
  if (fake_contents(from, bytes * (is_same_for_all ? 1 : ranks)) == nullptr ||
      fake_contents(to, bytes * (is_sum ? 1 : ranks)) == nullptr) {
    return fail(invalid_argument, "no device memory");
  }
  auto* const batch = new Batch{.comm = comm, .operations = {}};
  if (is_sum) batch->addends.assign(ranks, std::vector<float>(num));
  for (int peer = 0; peer < comm->size; ++peer) {
    const auto place = static_cast<std::size_t>(peer);
    batch->operations.push_back(
        {.sends = true, .data = from + (is_same_for_all ? 0 : place * bytes), .bytes = bytes, .peer = peer});
    std::byte* const into = is_sum ? reinterpret_cast<std::byte*>(batch->addends[place].data()) : to + place * bytes;
    batch->operations.push_back({.sends = false, .data = into, .bytes = bytes, .peer = peer, .is_ordinary = is_sum});
  }
  if (is_sum) {
    batch->finish = [batch, to, num, bytes] {
      auto* const sums = reinterpret_cast<float*>(fake_contents(to, bytes));
      std::fill_n(sums, num, 0.0f);
      for (const auto& addend : batch->addends) {
        for (std::size_t i = 0; i < num; ++i) sums[i] += addend[i];
      }
    };
  }
  return fake_enqueue(stream, step, batch) == 0 ? success : fail(unhandled_cuda_error, "no such stream");
}

Shared* map_shared(int fd) {
  if (fd < 0 || ftruncate(fd, sizeof(Shared)) != 0) return nullptr;
  void* const mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return mapped == MAP_FAILED ? nullptr : static_cast<Shared*>(mapped);
}

bool wait_for_all(const std::atomic<int>& num_come, int size) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (num_come < size) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    sched_yield();
  }
  return true;
}

}  // namespace

FAKE_GPU_SYMBOL int ncclGetVersion(int* version) {
  *version = 22105;
  return success;
}

/// Its file stays open until all ranks have come.
FAKE_GPU_SYMBOL int ncclGetUniqueId(Id* id) {
  *id = {getpid(), memfd_create("fake nccl", MFD_CLOEXEC), {}};
  return id->fd < 0 ? system_error : success;
}

FAKE_GPU_SYMBOL int ncclCommInitRank(Comm** comm, int size, Id id, int rank) {
  if (size > max_ranks || rank < 0 || rank >= size) return fail(invalid_argument, "no such rank");
  if (fake_current_device() < 0) return fail(unhandled_cuda_error, "no device");
  const std::string path = "/proc/" + std::to_string(id.pid) + "/fd/" + std::to_string(id.fd);
  Shared* const shared = map_shared(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (shared == nullptr) return fail(system_error, "no shared memory");
  shared->device_of[rank] = fake_current_device();
  ++shared->num_come;
  if (!wait_for_all(shared->num_come, size)) return fail(system_error, "a rank did not come");
  if (id.pid == getpid()) close(id.fd);
  for (int other = 0; other < size; ++other) {
    if (other == rank || shared->device_of[other] != shared->device_of[rank]) continue;
    return fail(invalid_usage, "Duplicate GPU detected : rank " + std::to_string(rank) + " and rank " +
                                   std::to_string(other) + " both on one CUDA device\n");
  }
  *comm = new Comm{shared, rank, size, {}};
  for (int other = 0; other < size; ++other) (*comm)->members.push_back(other);
  return success;
}

/// Of the first communicator; ranks keep their order. A color below 0: in no group.
FAKE_GPU_SYMBOL int ncclCommSplit(Comm* comm, int color, int, Comm** part, const void*) {
  if (comm == nullptr || !comm->is_first) return fail(invalid_argument, "no first communicator");
  Shared& shared = *comm->shared;
  auto& color_of = shared.color_of[comm->num_splits % 2];
  color_of[comm->rank] = color;
  ++shared.num_split;
  if (!wait_for_all(shared.num_split, comm->size * ++comm->num_splits))
    return fail(system_error, "a rank did not come");
  *part = nullptr;
  if (color < 0) return success;
  *part = new Comm{&shared, 0, 0, {}, false};
  for (int other = 0; other < comm->size; ++other) {
    if (color_of[other] != color) continue;
    if (other == comm->rank) (*part)->rank = (*part)->size;
    (*part)->members.push_back(other);
    ++(*part)->size;
  }
  return success;
}

FAKE_GPU_SYMBOL int ncclCommAbort(Comm* comm) {
  if (comm == nullptr) return success;
  if (comm->is_first) munmap(comm->shared, sizeof(Shared));
  delete comm;
  return success;
}

FAKE_GPU_SYMBOL int ncclCommDestroy(Comm* comm) { return ncclCommAbort(comm); }

FAKE_GPU_SYMBOL int ncclCommGetAsyncError(Comm*, int* result) {
  *result = success;
  return success;
}

FAKE_GPU_SYMBOL const char* ncclGetErrorString(int result) {
  return result == invalid_usage ? "invalid usage" : "another error";
}

FAKE_GPU_SYMBOL const char* ncclGetLastError(Comm*) { return last_error.c_str(); }

FAKE_GPU_SYMBOL int ncclGroupStart() {
  ++depth;
  return success;
}

FAKE_GPU_SYMBOL int ncclGroupEnd() {
  if (depth == 0) return fail(invalid_usage, "no group");
  return --depth > 0 ? success : close_group();
}

FAKE_GPU_SYMBOL int ncclSend(const void* data, std::size_t num, int, int peer, Comm* comm, void* stream) {
  auto* const from = const_cast<std::byte*>(static_cast<const std::byte*>(data));
  return add(comm, stream, {.sends = true, .data = from, .bytes = num, .peer = peer});
}

FAKE_GPU_SYMBOL int ncclRecv(void* data, std::size_t num, int, int peer, Comm* comm, void* stream) {
  return add(comm, stream, {.sends = false, .data = static_cast<std::byte*>(data), .bytes = num, .peer = peer});
}

FAKE_GPU_SYMBOL int ncclAllReduce(const void* send, void* receive, std::size_t num, int, int, Comm* comm,
                                  void* stream) {
  return add_collective(comm, stream, send, receive, num, true, true);
}

FAKE_GPU_SYMBOL int ncclAllGather(const void* send, void* receive, std::size_t num, int, Comm* comm, void* stream) {
  return add_collective(comm, stream, send, receive, num, true, false);
}

FAKE_GPU_SYMBOL int ncclReduceScatter(const void* send, void* receive, std::size_t num, int, int, Comm* comm,
                                      void* stream) {
  return add_collective(comm, stream, send, receive, num, false, true);
}
