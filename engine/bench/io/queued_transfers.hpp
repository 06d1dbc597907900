// SPDX-License-Identifier: Apache-2.0
// Reads and writes of one rank, several under way at once and done in any order (--queue-depth).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/io/recorder.hpp"
#include "bench/io/result.hpp"
#include "core/deadline.hpp"
#include "core/file_call.hpp"
#include "storage/storage.hpp"

namespace leadline::bench::io {

/// Who records the calls: in a mix two, else twice the same. Their phase began at the same time.
struct CallRecorders {
  Recorder& of_writes;
  Recorder& of_reads;
};

/// Of one rank with a file that was opened for calls in any order. What moved less than asked is continued by a call
/// of the same kind. To the watch the rank is in the call that has been under way longest.
class QueuedTransfers {
 public:
  QueuedTransfers(storage::File& file, std::string path, std::size_t depth, CallRecorders recorders,
                  CurrentFileCall& file_call);

  bool is_full() const { return free_.empty(); }
  std::size_t num_under_way() const { return by_age_.size(); }

  /// Not where it is full. `number` is the caller's; the memory is left alone until finish_one() gives it back. Throws
  /// what the backend throws; then it is not under way.
  void start(std::uint64_t number, IoOperation operation, std::uint64_t offset_bytes, std::span<std::byte> data);

  struct Done {
    std::uint64_t number = 0;
    std::uint64_t num_moved = 0;  ///< bytes: all; where the file ends before, as many as there are
  };

  /// The next that is done. Blocks until there is one; nothing where there was none by then. Throws what the backend
  /// throws, and Error(run_failed) where no byte was written; then that one is under way no more.
  std::optional<Done> finish_one(Deadline deadline);

 private:
  struct Call {
    std::uint64_t number = 0;
    IoOperation operation = IoOperation::write;
    std::uint64_t offset_bytes = 0;  ///< of what is left
    std::span<std::byte> data;       ///< what is left
    std::uint64_t num_moved = 0;     ///< by the calls before
    std::uint64_t began_at_ns = 0;   ///< by the clock
  };

  Recorder& recorder_of(const Call& call) {
    return call.operation == IoOperation::write ? recorders_.of_writes : recorders_.of_reads;
  }
  void launch(storage::Ticket ticket);
  void launch_or_free(storage::Ticket ticket);
  void is_over(storage::Ticket ticket);
  void tell_oldest();

  storage::File& file_;
  std::string path_;
  CallRecorders recorders_;
  CurrentFileCall& file_call_;
  std::vector<Call> calls_;              ///< by ticket
  std::vector<storage::Ticket> free_;    ///< not under way
  std::vector<storage::Ticket> by_age_;  ///< under way, the oldest first
};

}  // namespace leadline::bench::io
