// SPDX-License-Identifier: Apache-2.0
// MPI_File_open with hints, and what the openers agree on before it.
#include "storage/mpi_io/opening.hpp"

#include <unistd.h>

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

}  // namespace leadline::storage::mpi_io
