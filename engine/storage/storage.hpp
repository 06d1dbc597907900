// SPDX-License-Identifier: Apache-2.0
// The contract of a storage backend: a way to move bytes between memory and files. tests/contract/ is its definition in
// code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/deadline.hpp"
#include "core/dynamic_library.hpp"
#include "core/named.hpp"

namespace leadline::storage {

enum class FileCalls : std::uint8_t { blocking, non_blocking };

/// How bytes get past the page cache, or through it.
enum class CachePath : std::uint8_t {
  buffered,  ///< through it
  direct,    ///< O_DIRECT: around it
  uncached,  ///< RWF_DONTCACHE: through it, and dropped behind
};

/// How the transfers of a file that are under way at once are waited for.
enum class Completion : std::uint8_t {
  by_ticket,  ///< each by itself
  any_order,  ///< whichever is done first; the POSIX backend alone, by io_uring
};

const char* name_of(FileCalls calls);
std::span<const Named<FileCalls>> names_of(FileCalls any);
const char* name_of(CachePath path);

using Hints = std::vector<std::pair<std::string, std::string>>;

enum class Access : std::uint8_t {
  write,  ///< created where it is not there; contents are kept
  read,
  read_and_write,  ///< it must be there
};

/// What is opened, and by whom. Spans outlive the call of open().
struct OpenFile {
  std::string path;
  Access access = Access::write;
  CachePath cache_path = CachePath::buffered;
  std::span<const std::int32_t> openers;  ///< ascending, this rank included; all of them call open() together
  std::span<const std::pair<std::string, std::string>> hints;
  std::size_t max_started = 1;  ///< non-blocking calls under way at once
  Completion completion = Completion::by_ticket;
};

/// A transfer that was started. Index below OpenFile::max_started; used again once it was waited for.
using Ticket = std::size_t;

/// An open file of one rank. Errors are Error(run_failed): "writing 1 MiB at 12582912 of FILE failed (No space left on
/// device)". Every transfer returns the bytes that this one call moved, which may be fewer than asked (at the end of
/// the file: 0): going on is the caller's business. A write of some data that moves none is an error. Closed by its
/// destructor where close() was not called.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  // Local, blocking.
  virtual std::uint64_t write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) = 0;
  virtual std::uint64_t read_at(std::uint64_t offset_bytes, std::span<std::byte> data) = 0;

  // All openers, equally often; data may be empty. Blocking.
  virtual std::uint64_t write_at_all(std::uint64_t offset_bytes, std::span<const std::byte> data) = 0;
  virtual std::uint64_t read_at_all(std::uint64_t offset_bytes, std::span<std::byte> data) = 0;

  // Local; the memory is left alone until the transfer was waited for. `collective`: all openers, in the same order.
  virtual void start_write(Ticket ticket, std::uint64_t offset_bytes, std::span<const std::byte> data,
                           bool collective) = 0;
  virtual void start_read(Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data, bool collective) = 0;
  /// Blocks with pauses, never longer than the deadline (then Error: "... was not done in time").
  virtual std::uint64_t wait(Ticket ticket, Deadline deadline) = 0;
  /// With Completion::any_order: a transfer that is done, so that wait() returns at once. Blocks until there is one,
  /// never longer than the deadline (then, and where nothing is under way: nothing).
  virtual std::optional<Ticket> wait_any(Deadline /*deadline*/) { return std::nullopt; }

  /// All openers. What was written is on the storage, as far as fsync promises.
  virtual void sync() = 0;
  /// All openers: at least so long, with room on the storage where the file system can.
  virtual void preallocate(std::uint64_t bytes) = 0;
  /// Local.
  virtual std::uint64_t size_bytes() = 0;
  /// Local: those in force, as far as the library tells.
  virtual Hints hints() = 0;
  /// Local, once, behind the last transfer: whatever it takes to learn of errors that the library would not tell of
  /// when it closes the file.
  virtual void expect_close() {}
  /// All openers. Throws where the library reports an error only now.
  virtual void close() = 0;
};

/// Why calls of this kind cannot be had. Empty = they can.
struct CallKind {
  FileCalls calls = FileCalls::blocking;
  bool collective = false;
  CachePath cache_path = CachePath::buffered;
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Local: "POSIX", "Open MPI v4.1.4 (ompio)".
  virtual std::string library() const = 0;

  /// Local: the reason why the backend has no such calls, or empty.
  virtual std::string refuses(const CallKind& kind) const = 0;

  /// Local: whether hints() shows what the library uses, rather than what was requested.
  virtual bool confirms_hints() const = 0;

  /// All of these ranks, ascending: they come together in the library's own way, so that they begin at once and open()
  /// finds them known to each other. May be left out.
  virtual void meet(std::span<const std::int32_t> openers) = 0;

  /// All of file.openers. Throws Error(run_failed) naming the file, Error(something_missing) where its file system has
  /// not that way past the page cache, or the kernel no io_uring; maybe on one opener alone, so the caller agrees on
  /// it.
  virtual std::unique_ptr<File> open(const OpenFile& file) = 0;
};

/// What a backend is given when it is made. References outlive it.
struct Context {
  int rank = 0;
  int size = 1;
  std::string argument;  ///< what stood behind "name:"
};

/// What a backend offers: the constant `module` of each build.
struct Module {
  /// Local, before all others: takes the functions of MPI from the library that was found; null where a backend calls
  /// no MPI. Throws Error(something_missing) where the library lacks one.
  void (*take_mpi)(const DynamicLibrary& library) = nullptr;

  /// Local, before the library is started: remembers `argument` for it (ROMIO or OMPIO). Throws
  /// Error(bad_command_line) where it means nothing to this library.
  void (*prepare)(const std::string& argument);

  /// Local, in a child process that nothing else uses and that no launcher knows: does such calls on the scratch file,
  /// all well, at the end of the file, and with an error of the file system. The reason why they cannot be trusted, or
  /// empty; may crash or hang, which tells as much.
  std::string (*try_calls)(const CallKind& kind, const std::string& scratch_path);

  /// Collective, once the transport is open. Throws Error(something_missing).
  std::unique_ptr<Backend> (*make)(const Context& context);
};

}  // namespace leadline::storage
