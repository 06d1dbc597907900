// SPDX-License-Identifier: Apache-2.0
// The call into a file system that a measuring thread is in, for the thread that watches it.
#pragma once

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "core/clock.hpp"

namespace leadline {

/// Part of a file. No size: the call is about the file as a whole.
struct FileRange {
  std::uint64_t offset_bytes = 0, size_bytes = 0;
};

/// What the watch may expect of it.
enum class FileCallKind : std::uint8_t {
  none,
  one_call,          ///< it returns within the time that a rank may be stuck
  joint_call,        ///< likewise; other ranks make it with this one, which may wait for them in it
  many_short_calls,  ///< a library makes an unknown number of them, each of which returns within that time
  many_calls,        ///< a library or a loop makes an unknown number of them, so that they may take much longer
};

/// Written by the measuring thread, with relaxed stores in a timed loop; read by the watch at any time. Where the
/// thread goes from one call to the next while it is read, the text may mix the two.
class CurrentFileCall {
 public:
  /// Outside timed loops: the file of the calls that follow.
  void set_file(std::string file) {
    thread_.store(::gettid(), std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    file_ = std::move(file);
  }

  /// `doing` lives as long as the program: "writing".
  void enter(const char* doing, FileRange range, FileCallKind kind) noexcept { enter(doing, range, kind, now_ns()); }
  /// Of a call that began before, by the same clock.
  void enter(const char* doing, FileRange range, FileCallKind kind, std::uint64_t begin_ns) noexcept {
    doing_.store(doing, std::memory_order_relaxed);
    offset_bytes_.store(range.offset_bytes, std::memory_order_relaxed);
    size_bytes_.store(range.size_bytes, std::memory_order_relaxed);
    begin_ns_.store(begin_ns, std::memory_order_relaxed);
    kind_.store(kind, std::memory_order_relaxed);
  }
  void leave() noexcept { kind_.store(FileCallKind::none, std::memory_order_relaxed); }

  FileCallKind kind() const noexcept { return kind_.load(std::memory_order_relaxed); }
  /// Differs from call to call.
  std::uint64_t begin_ns() const noexcept { return begin_ns_.load(std::memory_order_relaxed); }

  /// The system call that the thread is blocked in, with its arguments, as the kernel shows it. Empty where it is in
  /// none, and where the kernel does not say.
  std::string system_call() const;
  /// The name of that call where it is one into a file system, "pwrite64": then the thread waits for no other rank.
  std::string file_system_call() const;

  /// "writing 64 KiB at 1048576 of FILE since 07:16:50 UTC, in pwrite64"; neither time nor system call where it has not
  /// lasted so long; empty outside of a call.
  std::string text(std::chrono::nanoseconds told_after = std::chrono::seconds(1)) const;

 private:
  std::atomic<FileCallKind> kind_{FileCallKind::none};
  std::atomic<const char*> doing_{""};
  std::atomic<std::uint64_t> offset_bytes_{0}, size_bytes_{0}, begin_ns_{0};
  std::atomic<pid_t> thread_{0};  ///< that makes the calls
  mutable std::mutex mutex_;
  std::string file_;
};

/// Marks a thread as blocked inside a call into a file system. These do not lie one inside the other.
class InFileCall {
 public:
  /// Without allocation or lock: of the file that is set.
  InFileCall(CurrentFileCall& call, const char* doing, FileRange range = {},
             FileCallKind kind = FileCallKind::one_call) noexcept
      : call_(call) {
    call_.enter(doing, range, kind);
  }
  InFileCall(CurrentFileCall& call, const char* doing, const std::string& file, FileRange range = {},
             FileCallKind kind = FileCallKind::one_call)
      : call_(call) {
    call_.set_file(file);
    call_.enter(doing, range, kind);
  }
  ~InFileCall() { call_.leave(); }
  InFileCall(const InFileCall&) = delete;
  InFileCall& operator=(const InFileCall&) = delete;

 private:
  CurrentFileCall& call_;
};

}  // namespace leadline
