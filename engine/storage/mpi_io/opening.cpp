// SPDX-License-Identifier: Apache-2.0
// MPI_File_open with hints, and what the openers agree on behind it.
#include "storage/mpi_io/opening.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "storage/mpi_io/library.hpp"
#include "storage/posix/opened.hpp"

namespace leadline::storage::mpi_io {
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

/// A rank's words about why it could not open the file, of a fixed size so that they can be broadcast.
struct Reason {
  std::array<char, 400> why{}, hint{};
};

Reason reason_of(const std::string& why, const std::string& hint) {
  Reason reason;
  why.copy(reason.why.data(), reason.why.size() - 1);
  hint.copy(reason.hint.data(), reason.hint.size() - 1);
  return reason;
}

/// The system's words where a plain open fails, too: those of MPI say less.
Reason reason_of(const OpenFile& file, int code) {
  try {
    posix::open_descriptor(file.path, file.access, CachePath::buffered);
    return reason_of(words_of(code), "");
  } catch (const Error& error) {
    return reason_of(error.why(), error.hint());
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

/// The openers of a file, who have it all or not at all.
class Openers {
 public:
  Openers(const OpenFile& file, MPI_Comm comm) : file_(file), comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }

  int size() const { return size_; }

  /// Throws on all of them the reason of the lowest that is not well.
  template <class OwnReason>
  void agree(bool is_well, OwnReason own_reason) const {
    const int first = first_unwell(is_well);
    if (first == size_) return;
    Reason reason;
    if (rank_ == first) reason = own_reason();
    if (size_ > 1) MPI_Bcast(&reason, sizeof(reason), MPI_BYTE, first, comm_);
    throw cannot_open(file_.path, reason.why.data(), reason.hint.data());
  }

 private:
  /// size() where all are well.
  int first_unwell(bool is_well) const {
    const int own = is_well ? size_ : rank_;
    if (size_ == 1) return own;
    int first = size_;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, comm_, &request);
    if (wait_with_pauses(request, Deadline::after(patience))) return first;
    throw cannot_open(file_.path, "not all ranks that open it were done within 5 minutes");
  }

  const OpenFile& file_;
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

MPI_File open_together(const OpenFile& file, MPI_Comm comm, Implementation implementation) {
  refuse_what_mpi_cannot_take(file);
  const Openers openers(file, comm);
  // Where one rank cannot open it, OMPIO leaves the others waiting in MPI_File_open for ever (4.1.4).
  if (implementation == Implementation::ompio && openers.size() > 1) {
    const int error_number = error_of_looking(file);
    openers.agree(error_number == 0, [&] { return reason_of(system_error_text(error_number), ""); });
  }
  const Info info(file.hints);
  const int mode = file.access == Access::write ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  MPI_File opened = MPI_FILE_NULL;
  const int code = MPI_File_open(comm, with_folder(file.path).c_str(), mode, info.info(), &opened);
  // Those who have it open leave it so where another has not: closing would wait for all.
  openers.agree(code == MPI_SUCCESS, [&] { return reason_of(file, code); });
  MPI_File_set_errhandler(opened, MPI_ERRORS_RETURN);
  return opened;
}

}  // namespace leadline::storage::mpi_io
