// SPDX-License-Identifier: Apache-2.0
// A file that this rank has open through MPI-IO: opening, calls, and the system's error where MPI gives none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/descriptor.hpp"
#include "mpi/abi/functions.hpp"
#include "storage/mpi_io/choice.hpp"
#include "storage/storage.hpp"
#include "storage/transfer.hpp"

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {

/// All of file.openers, whose communicator this is. Throws Error(run_failed); ROMIO itself sees to it that all openers
/// fail together, for OMPIO they agree beforehand.
MPI_File open_together(const OpenFile& file, MPI_Comm comm, Implementation implementation);

/// Local, behind a call that failed: one byte of it once more, by pwrite or pread. The errno, or 0 where that went
/// well.
int error_of_plain_write(const std::string& path, std::uint64_t offset_bytes, std::byte byte);
int error_of_plain_read(const std::string& path, std::uint64_t offset_bytes);

/// Local: its size as whoever opens it now sees it; 0 where it cannot be opened.
std::uint64_t plain_size_bytes(const std::string& path);

/// Offsets and counts are bytes; the file's view is never changed. One call moves 1 GiB at most, which spares counts
/// beyond an int and the limits of the libraries there: the caller continues.
class MpiIoFile final : public File {
 public:
  /// All openers. `comm` and everything in `file` but the path outlive the call; `comm` outlives the object.
  /// Throws Error(run_failed) on all of them where one cannot open it.
  MpiIoFile(const OpenFile& file, MPI_Comm comm, Implementation implementation);
  ~MpiIoFile() override;

  std::uint64_t write_at(std::uint64_t offset_bytes, std::span<const std::byte> data) override;
  std::uint64_t read_at(std::uint64_t offset_bytes, std::span<std::byte> data) override;
  std::uint64_t write_at_all(std::uint64_t offset_bytes, std::span<const std::byte> data) override;
  std::uint64_t read_at_all(std::uint64_t offset_bytes, std::span<std::byte> data) override;
  void start_write(Ticket ticket, std::uint64_t offset_bytes, std::span<const std::byte> data,
                   bool collective) override;
  void start_read(Ticket ticket, std::uint64_t offset_bytes, std::span<std::byte> data, bool collective) override;
  std::uint64_t wait(Ticket ticket, Deadline deadline) override;
  void sync() override;
  void preallocate(std::uint64_t bytes) override;
  std::uint64_t size_bytes() override;
  Hints hints() override;
  void expect_close() override;
  void close() override;

 private:
  struct Call {
    Transfer transfer;
    const std::byte* data = nullptr;  ///< to be written
  };
  static Call call_of(Access access, std::uint64_t offset_bytes, int count, const std::byte* data = nullptr) {
    return {{access, offset_bytes, static_cast<std::uint64_t>(count)}, data};
  }
  struct Started {
    MPI_Request request = MPI_REQUEST_NULL;
    Call call;
    bool is_under_way = false;
  };

  std::uint64_t moved(const Call& call, int code, const MPI_Status& status);
  bool is_done(Started& started, int& code, MPI_Status& status) const;
  int plain_error(const Call& call) const;
  /// Behind a read that brought nothing: throws where the file does not end before it.
  void refuse_before_end(const Call& call);
  [[noreturn]] void fail(const Call& call, int code) const;
  void check(int code, const std::string& doing) const;

  /// What of it is there, and fits into one call. At or behind the end of a file a non-blocking read of OMPIO never
  /// ends, and those of both ROMIOs and collective ones of OMPIO may claim all that they were asked for. So none goes
  /// beyond it.
  int readable(std::uint64_t offset_bytes, std::uint64_t size_bytes);

  /// All openers, behind closing. OMPIO calls a collective write of three ranks or more a success whatever the file
  /// system says (4.1.4: no space, too large); MPICH does so with non-blocking ones. The file is then too short.
  void check_end() const;

  std::string path_;
  MPI_Comm comm_;
  Implementation implementation_;
  MPI_File file_ = MPI_FILE_NULL;
  std::uint64_t known_size_bytes_ = 0;
  std::uint64_t written_to_bytes_ = 0;  ///< the end of what this rank has written, as MPI says
  bool has_written_together_ = false;
  /// Beside that of the library: those of Open MPI keep to themselves what close(2) says (4.1.4). What was written and
  /// gets lost is told to all that have the file open.
  Descriptor own_;
  std::vector<Started> started_;
};

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
