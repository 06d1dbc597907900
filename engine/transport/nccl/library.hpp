// SPDX-License-Identifier: Apache-2.0
// The part of NCCL that is used here, opened at run time, and the owner of a communicator.
#pragma once

#include <cstddef>
#include <string>

#include "core/deadline.hpp"
#include "core/dynamic_library.hpp"
#include "memory/cuda/driver.hpp"

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
  static constexpr DataType bytes = 0;  // ncclChar

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

/// Owns the communicator of all ranks.
class Communicator {
 public:
  /// Collective. NCCL's own set-up waits for ever for a rank that does not come; this does not.
  /// Throws Error(run_failed) when the deadline passes, Error(something_missing) where NCCL does not take these GPUs.
  Communicator(const memory::cuda::Driver& driver, int rank, int size, const UniqueId& id, Deadline deadline);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  Comm get() const { return comm_; }

 private:
  Comm comm_ = nullptr;
};

}  // namespace leadline::transport::nccl
