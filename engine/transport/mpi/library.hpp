// SPDX-License-Identifier: Apache-2.0
// The MPI library in this process: started once, ended once, with errors that arrive as exceptions.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/deadline.hpp"
#include "mpi/abi/functions.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {

/// MPI can be started only once in a process, and the module's two entry points, bootstrap and open, need it both:
/// hence one instance, which lives until the process exits. Used by the thread that made it alone.
class Library {
 public:
  /// Collective at the first call, which starts MPI. Throws Error(something_missing) where the launcher started
  /// more ranks than the library sees.
  static Library& instance();

  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Ends MPI within a deadline: Debian's MPICH over TCP may hang in MPI_Finalize (seen with 16 ranks on one host).
  /// With fault tolerance MPI is left as it is: MPI_Finalize may wait for ever for a rank that is lost (Open MPI 5.0.11
  /// over shared memory), and the launcher takes the exit of a process for its end in order.
  ~Library();

  /// Collective over these ranks of MPI_COMM_WORLD, also called by all others: from now on comm() is theirs alone, with
  /// new numbers in this order. At the end of the process those that are not among them wait asleep for those that are,
  /// since MPI_Finalize is for all. Throws AgreedError(something_missing) on all ranks where the library cannot do
  /// that.
  void go_on_with(std::span<const int> ranks);

  /// All ranks, or those that go on; separate from the messages of other code. An MPI error on it throws
  /// Error(run_failed) out of the call.
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Whether the other ranks can go on when one is lost (ULFM). So it is with Open MPI 5 under "mpirun --with-ft ulfm".
  bool has_fault_tolerance() const { return has_fault_tolerance_; }

 private:
  Library();

  void await_all() const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm all_ = MPI_COMM_NULL;  // where only some go on
  int rank_ = 0, size_ = 1;
  bool has_fault_tolerance_ = false;
};

/// Local, once MPI is started: what an error code means.
std::string error_text(int code);

/// Local, once MPI is started: why messages cannot lie in the memory of a GPU, or empty.
std::string why_no_gpu_memory();

/// Local, once MPI is started: whether blocking calls give the core away while they wait. Open MPI's do where its
/// launcher sees more ranks than cores; to give it away once more between two calls would be once too often.
bool blocking_calls_yield();

/// Waits for one request and gives the core away meanwhile, so that more ranks than cores come through quickly.
/// Throws Error(run_failed, problem) when the deadline passes.
void wait_yielding(MPI_Request& request, Deadline deadline, const std::string& problem);

/// The MPI arguments for a message of this size. One byte each up to INT_MAX; beyond, one element of a type of its own.
class MessageShape {
 public:
  explicit MessageShape(std::size_t size);
  MessageShape(const MessageShape&) = delete;
  MessageShape& operator=(const MessageShape&) = delete;
  ~MessageShape();

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  int count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
};

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
