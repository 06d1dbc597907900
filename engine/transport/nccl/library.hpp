// SPDX-License-Identifier: Apache-2.0
// The part of NCCL that is used here, opened at run time: communicators, and the operations on them.
#pragma once

#include <cstddef>
#include <string>

#include "core/deadline.hpp"
#include "core/dynamic_library.hpp"
#include "core/yielding_wait.hpp"
#include "memory/buffer.hpp"
#include "memory/cuda/driver.hpp"
#include "model/request.hpp"

namespace leadline::transport::nccl {

using Result = int;  // 0 = done
using Comm = struct CommOfNccl*;

/// Passed by value.
struct UniqueId {
  char bytes[128];
};

/// Its functions' contract is NCCL's manual; nccl.h has their types.
class Library {
  static DynamicLibrary open();

  DynamicLibrary library_ = open();

  template <class Signature>
  Signature* find(const char* name) const {
    return library_.function<Signature>(name);
  }

 public:
  using DataType = int;
  static constexpr DataType bytes = 0;   // ncclChar
  static constexpr DataType floats = 7;  // ncclFloat32
  using Reduction = int;
  static constexpr Reduction sum = 0;     // ncclSum
  static constexpr int in_no_group = -1;  // NCCL_SPLIT_NOCOLOR

  Result (*get_version)(int*) = find<Result(int*)>("ncclGetVersion");
  Result (*get_unique_id)(UniqueId*) = find<Result(UniqueId*)>("ncclGetUniqueId");
  Result (*init_rank)(Comm*, int size, UniqueId,
                      int rank) = find<Result(Comm*, int, UniqueId, int)>("ncclCommInitRank");
  Result (*destroy)(Comm) = find<Result(Comm)>("ncclCommDestroy");
  Result (*abort)(Comm) = find<Result(Comm)>("ncclCommAbort");
  Result (*get_async_error)(Comm, Result*) = find<Result(Comm, Result*)>("ncclCommGetAsyncError");
  const char* (*error_string)(Result) = find<const char*(Result)>("ncclGetErrorString");
  const char* (*last_error)(Comm) = find<const char*(Comm)>("ncclGetLastError");
  Result (*group_start)() = find<Result()>("ncclGroupStart");
  Result (*group_end)() = find<Result()>("ncclGroupEnd");
  Result (*send)(const void*, std::size_t, DataType, int peer, Comm, memory::cuda::Stream) =
      find<Result(const void*, std::size_t, DataType, int, Comm, memory::cuda::Stream)>("ncclSend");
  Result (*receive)(void*, std::size_t, DataType, int peer, Comm, memory::cuda::Stream) =
      find<Result(void*, std::size_t, DataType, int, Comm, memory::cuda::Stream)>("ncclRecv");
  Result (*all_reduce)(const void*, void*, std::size_t, DataType, Reduction, Comm, memory::cuda::Stream) =
      find<Result(const void*, void*, std::size_t, DataType, Reduction, Comm, memory::cuda::Stream)>("ncclAllReduce");
  Result (*all_gather)(const void*, void*, std::size_t, DataType, Comm, memory::cuda::Stream) =
      find<Result(const void*, void*, std::size_t, DataType, Comm, memory::cuda::Stream)>("ncclAllGather");
  Result (*reduce_scatter)(const void*, void*, std::size_t, DataType, Reduction, Comm, memory::cuda::Stream) =
      find<Result(const void*, void*, std::size_t, DataType, Reduction, Comm, memory::cuda::Stream)>(
          "ncclReduceScatter");
  /// Null before 2.18. The last argument: a configuration, or null.
  Result (*split)(Comm, int color, int key, Comm*, const void*) =
      reinterpret_cast<Result (*)(Comm, int, int, Comm*, const void*)>(library_.symbol_or_null("ncclCommSplit"));

  std::string version() const;  ///< "NCCL 2.21.5"

  /// Throws Error(run_failed) in the library's words.
  void check(Result result, const char* function) const {
    if (result != 0) [[unlikely]]
      fail(result, function);
  }
  [[noreturn, gnu::cold]] void fail(Result result, const char* function) const;

  /// "ncclSend: invalid usage (5), ..."
  std::string words_for(Result result, const char* function) const;
};

/// Opened when it is first asked for; lives for ever, as the driver does. Throws Error(something_missing) where it is
/// not here.
const Library& library();

/// Owns the communicator of all ranks, or of some.
class Communicator {
 public:
  /// Collective. NCCL's own set-up waits for ever for a rank that does not come; this does not.
  /// Throws Error(run_failed) when the deadline passes, Error(something_missing) where NCCL does not take these GPUs.
  Communicator(const memory::cuda::Driver& driver, int rank, int size, const UniqueId& id, Deadline deadline);

  /// Collective over all ranks of `all`: that of the ranks with the same color, in their order; of nobody with
  /// Library::in_no_group. Throws Error(something_missing) where the library is too old for it.
  Communicator(const Communicator& all, int color, int rank);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  Comm get() const { return comm_; }

 private:
  Comm comm_ = nullptr;
};

/// What is added to a group begins when the group is closed, all of it at once; NCCL runs the groups of a communicator
/// in order, so there is one under way at a time. Thread-bound, as the driver's current context is.
class Operations {
 public:
  Operations(const memory::cuda::Driver& driver, const Communicator& communicator);

  /// NCCL has no empty messages: instead of one a byte travels.
  void add_send(int partner, const std::byte* data, std::size_t size) {
    open_group();
    const std::byte* const from = size == 0 ? spare_.data() : data;
    library_.check(library_.send(from, size == 0 ? 1 : size, Library::bytes, partner, comm_, stream_.get()),
                   "ncclSend");
  }

  void add_receive(int partner, std::byte* data, std::size_t size) {
    open_group();
    std::byte* const to = size == 0 ? spare_.data() + 1 : data;
    library_.check(library_.receive(to, size == 0 ? 1 : size, Library::bytes, partner, comm_, stream_.get()),
                   "ncclRecv");
  }

  /// Whether anything has been added to a group that is not closed.
  bool has_group() const { return has_group_; }

  /// Closes the group and waits for it.
  template <WaitMode wait>
  void complete() {
    if (!has_group_) return;
    close_group();
    await<wait>();
  }

  /// Waits for all that has begun.
  template <WaitMode wait>
  void await() {
    YieldingWait idle;
    while (!is_over()) {
      if constexpr (wait != WaitMode::spin) idle.pause();
    }
  }

  /// Begins what is in the group, behind all that began before.
  void begin_group() {
    if (has_group_) close_group();
  }

  // A collective operation begins, behind all that began before. Numbers are floats.
  void all_reduce(const std::byte* send, std::byte* receive, std::size_t num) {
    library_.check(library_.all_reduce(send, receive, num, Library::floats, Library::sum, comm_, stream_.get()),
                   "ncclAllReduce");
  }
  void all_gather(const std::byte* send, std::byte* receive, std::size_t num) {
    library_.check(library_.all_gather(send, receive, num, Library::floats, comm_, stream_.get()), "ncclAllGather");
  }
  void reduce_scatter(const std::byte* send, std::byte* receive, std::size_t num) {
    library_.check(library_.reduce_scatter(send, receive, num, Library::floats, Library::sum, comm_, stream_.get()),
                   "ncclReduceScatter");
  }

  /// The same, yielding, until the deadline at the latest: whether it is over.
  bool complete_by(Deadline deadline);

 private:
  void open_group() {
    if (!has_group_) library_.check(library_.group_start(), "ncclGroupStart");
    has_group_ = true;
  }

  void close_group() {
    has_group_ = false;
    library_.check(library_.group_end(), "ncclGroupEnd");
  }

  bool is_over() {
    const auto status = driver_.functions().stream_query(stream_.get());
    if (status != memory::cuda::not_ready) {
      driver_.check(status, "cuStreamQuery");
      return true;
    }
    if (++num_looks_ % looks_a_check == 0) [[unlikely]]
      check_network();
    return false;
  }

  /// An error of the network does not end what waits for it.
  [[gnu::cold]] void check_network() const;

  static constexpr unsigned looks_a_check = 4096;

  const memory::cuda::Driver& driver_;
  const Library& library_;
  Comm comm_;
  memory::cuda::OwnedStream stream_;
  memory::Buffer spare_;  ///< one byte to send, one to receive into
  bool has_group_ = false;
  unsigned num_looks_ = 0;
};

}  // namespace leadline::transport::nccl
