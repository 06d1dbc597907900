// SPDX-License-Identifier: Apache-2.0
// The backend on the system's own calls: open, pread and pwrite, POSIX AIO, io_uring.
#include "storage/posix/posix.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/units.hpp"
#include "storage/posix/background.hpp"
#include "storage/posix/opened.hpp"
#include "storage/posix/queue.hpp"
#include "storage/transfer.hpp"
#include "storage/try_out.hpp"

namespace leadline::storage::posix {
namespace {

class PosixFile final : public File {
 public:
  explicit PosixFile(const OpenFile& file);

  std::uint64_t write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) override;
  std::uint64_t read_at(std::uint64_t offset_bytes, std::span<std::byte> data) override;
  std::uint64_t write_at_all(std::uint64_t offset_bytes, std::span<const std::byte> data) override;
  std::uint64_t read_at_all(std::uint64_t offset_bytes, std::span<std::byte> data) override;
  void start_write(Ticket ticket, std::uint64_t offset_bytes, std::span<const std::byte> data,
                   bool collective) override;
  void start_read(Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data, bool collective) override;
  std::uint64_t wait(Ticket ticket, Deadline deadline) override;
  std::optional<Ticket> wait_any(Deadline deadline) override;
  void sync() override;
  void preallocate(std::uint64_t bytes) override;
  std::uint64_t size_bytes() override;
  Hints hints() override { return {}; }
  void close() override;

 private:
  bool is_past_end(const Transfer& transfer);
  void check_alignment(const Transfer& transfer, const std::byte* data) const;
  void start(Ticket ticket, const Transfer& transfer, std::byte* data, bool collective);
  std::uint64_t result_of(const Transfer& transfer, std::int64_t moved) const;
  [[noreturn]] void fail(const std::string& doing, int error_number) const;

  std::string path_;
  CachePath cache_path_;
  std::size_t max_started_;
  Opened opened_;
  std::optional<Background> background_;  ///< from the first non-blocking call on
  std::optional<Queue> queue_;            ///< instead, with Completion::any_order
};

/// What the call returns, or its error number below 0; a signal that comes before any byte moved is none.
template <class Call>
std::int64_t patiently(const Call& call) {
  for (;;) {
    const auto result = call();
    if (result >= 0) return static_cast<std::int64_t>(result);
    if (errno != EINTR) return -errno;
  }
}

[[noreturn]] void refuse_collective() {
  throw Error(ExitStatus::run_failed, "POSIX has no collective calls", {}, "Use --backend mpi-io");
}

std::string why_refused(const CallKind& kind) {
  if (kind.collective) return "POSIX has no collective calls; use --backend mpi-io";
  if (kind.calls == FileCalls::non_blocking && kind.cache_path == CachePath::uncached) {
    return "POSIX AIO has no uncached transfers; leave out --calls non-blocking, or use --direct";
  }
  return {};
}

class PosixBackend final : public Backend {
 public:
  std::string library() const override { return "POSIX"; }
  std::string refuses(const CallKind& kind) const override { return why_refused(kind); }
  bool confirms_hints() const override { return true; }  // there are none
  void meet(std::span<const std::int32_t> /*openers*/) override {}
  std::unique_ptr<File> open(const OpenFile& file) override { return std::make_unique<PosixFile>(file); }
};

void prepare(const std::string& argument) {
  if (argument.empty()) return;
  throw Error(ExitStatus::bad_command_line, "--backend posix:" + argument + " means nothing",
              "the backend posix takes no argument");
}

std::string try_calls(const CallKind& kind, const std::string& scratch_path) {
  PosixBackend backend;
  return try_calls_of(backend, kind, scratch_path);
}

std::unique_ptr<Backend> make(const Context& /*context*/) { return std::make_unique<PosixBackend>(); }

}  // namespace

PosixFile::PosixFile(const OpenFile& file)
    : path_(file.path),
      cache_path_(file.cache_path),
      max_started_(file.max_started),
      opened_(open_descriptor(file.path, file.access, file.cache_path)) {
  if (file.completion == Completion::any_order) queue_.emplace(opened_.file, path_, max_started_, cache_path_);
}

std::uint64_t PosixFile::write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) {
  const Transfer transfer{Access::write, offset_bytes, data.size()};
  if (data.empty()) return 0;
  check_alignment(transfer, data.data());
  const int fd = opened_.file.fd();
  return result_of(transfer, patiently([&] {
                     if (cache_path_ == CachePath::uncached) return write_uncached(fd, offset_bytes, data);
                     return ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset_bytes));
                   }));
}

std::uint64_t PosixFile::read_at(std::uint64_t offset_bytes, std::span<std::byte> data) {
  const Transfer transfer{Access::read, offset_bytes, data.size()};
  if (data.empty() || is_past_end(transfer)) return 0;
  check_alignment(transfer, data.data());
  const int fd = opened_.file.fd();
  return result_of(transfer, patiently([&] {
                     if (cache_path_ == CachePath::uncached) return read_uncached(fd, offset_bytes, data);
                     return ::pread(fd, data.data(), data.size(), static_cast<off_t>(offset_bytes));
                   }));
}

std::uint64_t PosixFile::write_at_all(std::uint64_t /*offset_bytes*/, std::span<const std::byte> /*data*/) {
  refuse_collective();
}

std::uint64_t PosixFile::read_at_all(std::uint64_t /*offset_bytes*/, std::span<std::byte> /*data*/) {
  refuse_collective();
}

void PosixFile::start_write(Ticket ticket, std::uint64_t offset_bytes, std::span<const std::byte> data,
                            bool collective) {
  // aio_write(3) reads the memory alone, though its control block is for both ways.
  start(ticket, {Access::write, offset_bytes, data.size()}, const_cast<std::byte*>(data.data()), collective);
}

void PosixFile::start_read(Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data, bool collective) {
  start(ticket, {Access::read, offset_bytes, data.size()}, data.data(), collective);
}

void PosixFile::start(Ticket ticket, const Transfer& transfer, std::byte* data, bool collective) {
  if (collective) refuse_collective();
  if (!queue_ && cache_path_ == CachePath::uncached) {
    throw transfer_error(transfer, path_, "POSIX AIO has no uncached transfers");
  }
  if (!is_past_end(transfer)) check_alignment(transfer, data);
  if (queue_) return queue_->start(ticket, transfer, data);
  if (!background_) background_.emplace(opened_.file, path_, max_started_);
  background_->start(ticket, transfer, data);
}

std::uint64_t PosixFile::wait(Ticket ticket, Deadline deadline) {
  if (!background_ && !queue_) {
    throw Error(ExitStatus::run_failed, "waiting for " + path_ + " failed", "nothing was started");
  }
  const Transfer transfer = queue_ ? queue_->transfer(ticket) : background_->transfer(ticket);
  const std::int64_t moved = queue_ ? queue_->wait(ticket, deadline) : background_->wait(ticket, deadline);
  // At an end of the file between two blocks, some file systems refuse a direct read rather than return 0.
  if (moved == -EINVAL && is_past_end(transfer)) return 0;
  return result_of(transfer, moved);
}

std::optional<Ticket> PosixFile::wait_any(Deadline deadline) {
  return queue_ ? queue_->wait_any(deadline) : std::nullopt;
}

void PosixFile::sync() {
  const auto result = patiently([&] { return ::fsync(opened_.file.fd()); });
  if (result < 0) fail("syncing " + path_, static_cast<int>(-result));
}

void PosixFile::preallocate(std::uint64_t bytes) {
  if (bytes == 0) return;
  // Not posix_fallocate: where the file system cannot, the C library writes into every block, and over what others
  // write there at the same time.
  const auto result = patiently([&] { return ::fallocate(opened_.file.fd(), 0, 0, static_cast<off_t>(bytes)); });
  if (result < 0) fail("preallocating " + format_bytes(bytes) + " for " + path_, static_cast<int>(-result));
}

std::uint64_t PosixFile::size_bytes() {
  struct stat status {};
  if (::fstat(opened_.file.fd(), &status) != 0) fail("asking for the size of " + path_, errno);
  return static_cast<std::uint64_t>(status.st_size);
}

void PosixFile::close() {
  background_.reset();
  queue_.reset();
  if (const int error = opened_.file.close(); error != 0) throw close_error(path_, error);
}

/// Direct calls alone: other file offsets than multiples of its blocks are refused by the kernel even where there is
/// nothing to be read, and after the end of the file a caller may well go on at one.
bool PosixFile::is_past_end(const Transfer& transfer) {
  return cache_path_ == CachePath::direct && transfer.access == Access::read && transfer.offset_bytes >= size_bytes();
}

/// Some file systems do unaligned calls through the page cache without an error.
void PosixFile::check_alignment(const Transfer& transfer, const std::byte* data) const {
  const Alignment& alignment = opened_.alignment;
  if (transfer.offset_bytes % alignment.offset_bytes != 0 || transfer.size_bytes % alignment.offset_bytes != 0) {
    throw transfer_error(transfer, path_,
                         fmt::format("direct I/O takes multiples of {} here", format_bytes(alignment.offset_bytes)));
  }
  if (reinterpret_cast<std::uintptr_t>(data) % alignment.memory_bytes != 0) {
    throw transfer_error(
        transfer, path_,
        fmt::format("direct I/O takes memory at multiples of {} here", format_bytes(alignment.memory_bytes)));
  }
}

std::uint64_t PosixFile::result_of(const Transfer& transfer, std::int64_t moved) const {
  if (moved > 0 || (moved == 0 && (transfer.access == Access::read || transfer.size_bytes == 0))) {
    return static_cast<std::uint64_t>(moved);
  }
  if (moved == 0) throw transfer_error(transfer, path_, "the call says success, and wrote nothing");
  const int error = static_cast<int>(-moved);
  if (error == EOPNOTSUPP && cache_path_ == CachePath::uncached) throw no_uncached(path_);
  if (error == EINVAL && cache_path_ == CachePath::direct) {
    throw transfer_error(
        transfer, path_,
        system_error_text(error) + ": direct I/O takes multiples of the storage's blocks, 4 KiB mostly");
  }
  throw transfer_error(transfer, path_, error);
}

void PosixFile::fail(const std::string& doing, int error_number) const {
  throw Error(ExitStatus::run_failed, doing + " failed", system_error_text(error_number));
}

const Module& module() {
  static constexpr Module own{.prepare = prepare, .try_calls = try_calls, .make = make};
  return own;
}

}  // namespace leadline::storage::posix
