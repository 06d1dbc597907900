// SPDX-License-Identifier: Apache-2.0
// Calls of MPI-IO: return codes and counts are looked at, every one.
#include "storage/mpi_io/mpi_io_file.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>

#include "core/error.hpp"
#include "core/units.hpp"
#include "storage/mpi_io/library.hpp"
#include "storage/mpi_io/opening.hpp"
#include "storage/mpi_io/plain_file.hpp"

namespace leadline::storage::mpi_io {
namespace {

constexpr std::uint64_t max_call_bytes = std::uint64_t{1} << 30;

int count_in(std::uint64_t size_bytes) { return static_cast<int>(std::min(size_bytes, max_call_bytes)); }

/// Zero where the library leaves it alone.
MPI_Status blank_status() {
  MPI_Status status{};
  return status;
}

}  // namespace

MpiIoFile::MpiIoFile(const OpenFile& file, MPI_Comm comm, Implementation implementation)
    : path_(file.path),
      comm_(comm),
      implementation_(implementation),
      file_(open_together(file, comm, implementation)),
      started_(file.max_started) {}

MpiIoFile::~MpiIoFile() {
  if (file_ == MPI_FILE_NULL || !is_running()) return;
  // An error is on its way, and perhaps on this rank alone: closing waits for the others, for a call that failed
  // without end too. What cannot be closed in time stays open; the run ends anyway.
  const Deadline deadline = Deadline::after(std::chrono::seconds(5));
  for (Started& started : started_) {
    int code = MPI_SUCCESS;
    MPI_Status status = blank_status();
    Pauses pauses;
    while (started.is_under_way && !is_done(started, code, status)) {
      if (deadline.has_passed()) return;
      pauses.pause();
    }
  }
  if (comm_ != MPI_COMM_SELF) {
    MPI_Request all_are_here = MPI_REQUEST_NULL;
    MPI_Ibarrier(comm_, &all_are_here);
    if (!wait_with_pauses(all_are_here, deadline)) return;
  }
  MPI_File_close(&file_);
}

std::uint64_t MpiIoFile::write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) {
  const int count = count_in(data.size());
  MPI_Status status = blank_status();
  const int code =
      MPI_File_write_at(file_, static_cast<MPI_Offset>(offset_bytes), data.data(), count, MPI_BYTE, &status);
  return moved(call_of(Access::write, offset_bytes, count, data.data()), code, status);
}

std::uint64_t MpiIoFile::read_at(std::uint64_t offset_bytes, std::span<std::byte> data) {
  const int count = count_in(data.size());
  MPI_Status status = blank_status();
  const int code =
      MPI_File_read_at(file_, static_cast<MPI_Offset>(offset_bytes), data.data(), count, MPI_BYTE, &status);
  return moved(call_of(Access::read, offset_bytes, count), code, status);
}

std::uint64_t MpiIoFile::write_at_all(std::uint64_t offset_bytes, std::span<const std::byte> data) {
  const int count = count_in(data.size());
  MPI_Status status = blank_status();
  const int code =
      MPI_File_write_at_all(file_, static_cast<MPI_Offset>(offset_bytes), data.data(), count, MPI_BYTE, &status);
  has_written_together_ = true;
  return moved(call_of(Access::write, offset_bytes, count, data.data()), code, status);
}

std::uint64_t MpiIoFile::read_at_all(std::uint64_t offset_bytes, std::span<std::byte> data) {
  const int count = readable(offset_bytes, data.size());
  MPI_Status status = blank_status();
  const int code =
      MPI_File_read_at_all(file_, static_cast<MPI_Offset>(offset_bytes), data.data(), count, MPI_BYTE, &status);
  return moved(call_of(Access::read, offset_bytes, count), code, status);
}

void MpiIoFile::start_write(Ticket ticket, std::uint64_t offset_bytes, std::span<const std::byte> data,
                            bool collective) {
  Started& started = started_.at(ticket);
  assert(!started.is_under_way);
  const int count = count_in(data.size());
  const auto offset = static_cast<MPI_Offset>(offset_bytes);
  started = {MPI_REQUEST_NULL, call_of(Access::write, offset_bytes, count, data.data()), false};
  if (count == 0 && !collective) return;
  const int code = collective ? MPI_File_iwrite_at_all(file_, offset, data.data(), count, MPI_BYTE, &started.request)
                              : MPI_File_iwrite_at(file_, offset, data.data(), count, MPI_BYTE, &started.request);
  if (collective) has_written_together_ = true;
  if (code != MPI_SUCCESS) fail(started.call, code);
  started.is_under_way = true;
}

void MpiIoFile::start_read(Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data, bool collective) {
  Started& started = started_.at(ticket);
  assert(!started.is_under_way);
  const int count = readable(offset_bytes, data.size());
  const auto offset = static_cast<MPI_Offset>(offset_bytes);
  started = {MPI_REQUEST_NULL, call_of(Access::read, offset_bytes, count), false};
  if (count == 0 && !collective) return;
  const int code = collective ? MPI_File_iread_at_all(file_, offset, data.data(), count, MPI_BYTE, &started.request)
                              : MPI_File_iread_at(file_, offset, data.data(), count, MPI_BYTE, &started.request);
  if (code != MPI_SUCCESS) fail(started.call, code);
  started.is_under_way = true;
}

std::uint64_t MpiIoFile::wait(Ticket ticket, Deadline deadline) {
  Started& started = started_.at(ticket);
  if (!started.is_under_way) return 0;
  int code = MPI_SUCCESS;
  MPI_Status status = blank_status();
  Pauses pauses;
  while (!is_done(started, code, status)) {
    if (deadline.has_passed()) throw late_error(started.call.transfer, path_);
    pauses.pause();
  }
  return moved(started.call, code, status);
}

bool MpiIoFile::is_done(Started& started, int& code, MPI_Status& status) const {
  int done = 0;
  if (implementation_ == Implementation::romio) {
    code = MPI_Test(&started.request, &done, &status);
  } else {
    // MPI_Test dies of a null pointer where a call of OMPIO has failed (4.1.4); this shows the short count. (With
    // MPICH's ROMIO it never says that a call is done, 4.0.2.)
    code = MPI_Request_get_status(started.request, &done, &status);
    if (code == MPI_SUCCESS && done != 0) code = MPI_Request_free(&started.request);
  }
  if (code == MPI_SUCCESS && done == 0) return false;
  started.request = MPI_REQUEST_NULL;
  started.is_under_way = false;
  return true;
}

std::uint64_t MpiIoFile::moved(const Call& call, int code, const MPI_Status& status) {
  const Transfer& transfer = call.transfer;
  if (code != MPI_SUCCESS) fail(call, code);
  const std::int64_t count = count_of(status);
  if (count < 0 || static_cast<std::uint64_t>(count) > transfer.size_bytes) {
    throw transfer_error(transfer, path_,
                         count < 0 ? "MPI reports a success, and no count"
                                   : "MPI reports a success, and a count of " + std::to_string(count));
  }
  // OMPIO reports a write that failed as a success of 0 bytes.
  if (count == 0 && transfer.size_bytes > 0 && transfer.access == Access::write) {
    if (const int error_number = plain_error(call)) throw transfer_error(transfer, path_, error_number);
  }
  if (count > 0 && transfer.access == Access::write) {
    written_to_bytes_ = std::max(written_to_bytes_, transfer.offset_bytes + static_cast<std::uint64_t>(count));
  }
  return static_cast<std::uint64_t>(count);
}

int MpiIoFile::plain_error(const Call& call) const {
  const Transfer& transfer = call.transfer;
  if (transfer.size_bytes == 0) return 0;
  return transfer.access == Access::write ? error_of_plain_write(path_, transfer.offset_bytes, *call.data)
                                          : error_of_plain_read(path_, transfer.offset_bytes);
}

void MpiIoFile::fail(const Call& call, int code) const {
  const std::string words = words_of(code);
  // Open MPI's ROMIO says "input/output error", whatever it was.
  int error_number = errno_of(code);
  if (error_number == 0) error_number = plain_error(call);
  if (error_number == 0) throw transfer_error(call.transfer, path_, words);
  const Error error = transfer_error(call.transfer, path_, error_number);
  throw Error(error.status(), error.problem(), error.why() + "; MPI: " + words, error.hint());
}

void MpiIoFile::check(int code, const std::string& doing) const {
  if (code != MPI_SUCCESS) {
    throw Error(ExitStatus::run_failed, doing + " " + path_ + " failed", words_of(code));
  }
}

int MpiIoFile::readable(std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  if (offset_bytes + size_bytes > known_size_bytes_) known_size_bytes_ = this->size_bytes();
  if (offset_bytes >= known_size_bytes_) return 0;
  return count_in(std::min(size_bytes, known_size_bytes_ - offset_bytes));
}

void MpiIoFile::sync() { check(MPI_File_sync(file_), "syncing"); }

void MpiIoFile::preallocate(std::uint64_t bytes) {
  check(MPI_File_preallocate(file_, static_cast<MPI_Offset>(bytes)), "preallocating " + format_bytes(bytes) + " for");
}

std::uint64_t MpiIoFile::size_bytes() {
  MPI_Offset size = 0;
  check(MPI_File_get_size(file_, &size), "asking for the size of");
  return static_cast<std::uint64_t>(size);
}

Hints MpiIoFile::hints() {
  MPI_Info info = MPI_INFO_NULL;
  check(MPI_File_get_info(file_, &info), "asking for the hints of");
  Hints all;
  int num_keys = 0;
  MPI_Info_get_nkeys(info, &num_keys);
  for (int n = 0; n < num_keys; ++n) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    int length = 0, is_set = 0;
    MPI_Info_get_nthkey(info, n, key.data());
    MPI_Info_get_valuelen(info, key.data(), &length, &is_set);
    if (is_set == 0) continue;
    std::vector<char> value(static_cast<std::size_t>(length) + 1, '\0');
    MPI_Info_get(info, key.data(), length, value.data(), &is_set);
    all.emplace_back(key.data(), value.data());
  }
  MPI_Info_free(&info);
  return all;
}

void MpiIoFile::close() {
  const int code = MPI_File_close(&file_);
  file_ = MPI_FILE_NULL;
  check(code, "closing");
  if (has_written_together_) check_end();
}

void MpiIoFile::check_end() const {
  // Those who write for others may be behind them.
  MPI_Request all_are_here = MPI_REQUEST_NULL;
  MPI_Ibarrier(comm_, &all_are_here);
  if (!wait_with_pauses(all_are_here, Deadline::after(std::chrono::minutes(5)))) {
    throw Error(ExitStatus::run_failed, "closing " + path_ + " failed", "not all ranks closed it within 5 minutes");
  }
  const std::uint64_t end_bytes = plain_size_bytes(path_);
  if (end_bytes >= written_to_bytes_) return;
  throw Error(ExitStatus::run_failed, "writing " + path_ + " failed",
              "MPI says that all was written up to byte " + std::to_string(written_to_bytes_) +
                  ", and the file ends at byte " + std::to_string(end_bytes),
              "Look at the space that is left there, and at quotas");
}

}  // namespace leadline::storage::mpi_io
