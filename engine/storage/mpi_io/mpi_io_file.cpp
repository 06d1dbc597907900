// SPDX-License-Identifier: Apache-2.0
// A file that this rank has open through MPI-IO: opening, calls, and the system's error where MPI gives none.
#include "storage/mpi_io/mpi_io_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/units.hpp"
#include "storage/mpi_io/library.hpp"
#include "storage/posix/opened.hpp"

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {
namespace {

/// A file system may take its time when very many open at once; beyond this one of them is not coming.
constexpr auto patience = std::chrono::minutes(5);

class Info {
 public:
  explicit Info(std::span<const std::pair<std::string, std::string>> hints) {
    if (hints.empty()) return;
    MPI_Info_create(&info_);
    for (const auto& [key, value] : hints) MPI_Info_set(info_, key.c_str(), value.c_str());
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info() {
    if (info_ != MPI_INFO_NULL) MPI_Info_free(&info_);
  }

  MPI_Info info() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

Error cannot_open(const std::string& path, const std::string& why, const std::string& hint = {}) {
  return {ExitStatus::run_failed, "opening " + path + " failed", why, hint};
}

/// OMPIO (4.1.4) cannot open a file together whose name has no slash: it looks for the folder in front of it.
std::string with_folder(const std::string& path) { return path.find('/') == std::string::npos ? "./" + path : path; }

/// What MPI would end the process for, or do something else with.
void refuse_what_mpi_cannot_take(const OpenFile& file) {
  if (file.path.find(':') != std::string::npos) {
    throw cannot_open(file.path, "MPI-IO takes what stands before a colon for the name of a file system",
                      "Name a file without a colon in its path, or use --backend posix");
  }
  for (const auto& [key, value] : file.hints) {
    if (key.empty() || key.size() >= MPI_MAX_INFO_KEY || value.empty() || value.size() >= MPI_MAX_INFO_VAL) {
      throw cannot_open(file.path, "MPI takes no hint like \"" + key + "\" = \"" + value.substr(0, 40) + "\"",
                        "Keys and values must not be empty; keys have " + std::to_string(MPI_MAX_INFO_KEY - 1) +
                            " characters at most, values " + std::to_string(MPI_MAX_INFO_VAL - 1));
    }
  }
}

/// The system's words where a plain open fails, too: those of MPI say less.
Error cannot_open(const OpenFile& file, int code) {
  try {
    posix::open_descriptor(file.path, file.access, CachePath::buffered);
    return cannot_open(file.path, words_of(code));
  } catch (const Error& error) {
    return cannot_open(file.path, error.why(), error.hint());
  }
}

/// Whether this rank finds what it needs: the file, or the folder that it will be in. The errno, or 0.
int error_of_looking(const OpenFile& file) {
  const auto look = [](const std::string& path, int mode) { return ::access(path.c_str(), mode) == 0 ? 0 : errno; };
  if (file.access == Access::read) return look(file.path, R_OK);
  if (look(file.path, F_OK) == 0) return look(file.path, W_OK);
  const std::string folder = std::filesystem::path(file.path).parent_path();
  return look(folder.empty() ? "." : folder, W_OK | X_OK);
}

/// Throws on all openers where one of them does not find what it needs, in the words of the lowest.
void look_together(const OpenFile& file, MPI_Comm comm) {
  int rank = 0, size = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int error_number = error_of_looking(file);
  const int own = error_number == 0 ? size : rank;
  int first = size;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm, &request);
  if (!wait_with_pauses(request, Deadline::after(patience))) {
    throw cannot_open(file.path, "not all ranks that open it came within 5 minutes");
  }
  if (first == size) return;
  MPI_Bcast(&error_number, 1, MPI_INT, first, comm);
  throw cannot_open(file.path, system_error_text(error_number));
}

constexpr std::uint64_t max_call_bytes = std::uint64_t{1} << 30;

int count_in(std::uint64_t size_bytes) { return static_cast<int>(std::min(size_bytes, max_call_bytes)); }

/// Zero where the library leaves it alone.
MPI_Status blank_status() {
  MPI_Status status{};
  return status;
}

}  // namespace

MPI_File open_together(const OpenFile& file, MPI_Comm comm, Implementation implementation) {
  refuse_what_mpi_cannot_take(file);
  // Where one rank cannot open it, OMPIO leaves the others waiting in MPI_File_open for ever (4.1.4).
  if (implementation == Implementation::ompio && file.openers.size() > 1) look_together(file, comm);
  const Info info(file.hints);
  const int mode = file.access == Access::write ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  MPI_File opened = MPI_FILE_NULL;
  const int code = MPI_File_open(comm, with_folder(file.path).c_str(), mode, info.info(), &opened);
  if (code != MPI_SUCCESS) throw cannot_open(file, code);
  MPI_File_set_errhandler(opened, MPI_ERRORS_RETURN);
  return opened;
}

int error_of_plain_write(const std::string& path, std::uint64_t offset_bytes, std::byte byte) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) return errno;
  return ::pwrite(file.fd(), &byte, 1, static_cast<off_t>(offset_bytes)) < 0 ? errno : 0;
}

int error_of_plain_read(const std::string& path, std::uint64_t offset_bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno;
  std::byte byte{};
  return ::pread(file.fd(), &byte, 1, static_cast<off_t>(offset_bytes)) < 0 ? errno : 0;
}

std::uint64_t plain_size_bytes(const std::string& path) {
  // Opened anew, since file systems on a network look again then.
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.fd(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

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
    // MPI_Test crashes with a null pointer where a call of OMPIO has failed (4.1.4); this shows the short count. (With
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
  // And a read that failed as one at the end of the file.
  if (count == 0 && transfer.size_bytes > 0 && transfer.access == Access::read) refuse_before_end(call);
  if (count > 0 && transfer.access == Access::write) {
    written_to_bytes_ = std::max(written_to_bytes_, transfer.offset_bytes + static_cast<std::uint64_t>(count));
  }
  return static_cast<std::uint64_t>(count);
}

void MpiIoFile::refuse_before_end(const Call& call) {
  const std::uint64_t end_bytes = size_bytes();
  if (call.transfer.offset_bytes >= end_bytes) return;
  if (const int error_number = plain_error(call)) throw transfer_error(call.transfer, path_, error_number);
  throw transfer_error(call.transfer, path_,
                       fmt::format("MPI reports a success of 0 bytes, and the file has {}; a plain read brings them",
                                   format_bytes(end_bytes)));
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

void MpiIoFile::expect_close() {
  if (written_to_bytes_ == 0) return;
  own_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
}

void MpiIoFile::close() {
  const int code = MPI_File_close(&file_);
  file_ = MPI_FILE_NULL;
  int error_number = own_ ? own_.close() : 0;
  if (code != MPI_SUCCESS) error_number = errno_of(code);
  if (error_number != 0) throw close_error(path_, error_number);
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

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
