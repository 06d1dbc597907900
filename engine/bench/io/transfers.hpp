// SPDX-License-Identifier: Apache-2.0
// Calls of a backend whose counts are looked at: one that moved less than asked is continued until nothing is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/io/recorder.hpp"
#include "bench/io/request.hpp"
#include "bench/io/result.hpp"
#include "core/file_call.hpp"
#include "storage/storage.hpp"

namespace leadline::bench::io {

/// What is done to which file.
struct TransferSetting {
  IoOperation operation = IoOperation::write;
  storage::FileCalls calls = storage::FileCalls::blocking;
  bool collective = false;
  double timeout_s = 60;
  std::size_t max_started = 1;
  bool syncs_each = false;  ///< blocking writes: fsync behind each
};

/// Throws Error(run_failed): a write that says success, and is none.
[[noreturn]] void refuse_nothing_written(const std::string& path, std::uint64_t offset_bytes, std::uint64_t size_bytes);

/// Of one rank with an open file. Counts that are short are continued by independent calls, so that collective ones
/// stay equal in number on all openers. Throws what the backend throws, and Error(run_failed) where no byte was
/// written.
class Transfers {
 public:
  Transfers(storage::File& file, std::string path, const TransferSetting& setting, Recorder& recorder,
            CurrentFileCall& file_call);

  std::size_t max_started() const { return setting_.max_started; }

  /// Bytes moved: all; where the file ends before, as many as there are.
  std::uint64_t move(std::uint64_t offset_bytes, std::span<std::byte> data);

  /// The same in two steps. Nothing is ever started that begins behind the file's end, since there are libraries that
  /// never complete it.
  void start(storage::Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data);
  std::uint64_t finish(storage::Ticket ticket);

  /// Takes part in a collective call (blocking, or started and waited for) without data of its own.
  void move_nothing();

 private:
  struct Started {
    std::uint64_t offset_bytes = 0, begin_ns = 0;
    std::span<std::byte> data;
    bool is_under_way = false;
  };

  bool writes() const { return setting_.operation == IoOperation::write; }
  const char* doing(bool collective) const;
  static FileCallKind kind_of(bool collective) {
    return collective ? FileCallKind::joint_call : FileCallKind::one_call;
  }
  std::uint64_t call(std::uint64_t offset_bytes, std::span<std::byte> data, bool collective);
  std::uint64_t once(std::uint64_t offset_bytes, std::span<std::byte> data, bool collective);
  std::uint64_t go_on(std::uint64_t offset_bytes, std::span<std::byte> data, std::uint64_t moved);
  void launch(storage::Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data);
  std::uint64_t await(storage::Ticket ticket);
  void note_joint(std::uint64_t begin_ns);

  storage::File& file_;
  std::string path_;
  TransferSetting setting_;
  Recorder& recorder_;
  CurrentFileCall& file_call_;
  std::uint64_t readable_bytes_ = 0;  ///< size of a file that is read by non-blocking calls
  std::vector<Started> started_;      ///< by ticket
};

}  // namespace leadline::bench::io
