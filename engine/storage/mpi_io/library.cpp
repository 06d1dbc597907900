// SPDX-License-Identifier: Apache-2.0
// What MPI says, put so that a user can read it.
#include "storage/mpi_io/library.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI {

bool is_running() {
  int has_begun = 0, has_ended = 0;
  MPI_Initialized(&has_begun);
  if (has_begun != 0) MPI_Finalized(&has_ended);
  return has_begun != 0 && has_ended == 0;
}

std::string words_of(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
  std::string words(text.data(), static_cast<std::size_t>(length));
  // MPICH: "Other I/O error , error stack:\nADIOI_GEN_WRITECONTIG(80): Other I/O error File too large"
  std::replace(words.begin(), words.end(), '\n', ' ');
  for (auto blank = words.find(" ,"); blank != std::string::npos; blank = words.find(" ,")) words.erase(blank, 1);
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

int errno_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  if (error_class == MPI_ERR_NO_SPACE) return ENOSPC;
  if (error_class == MPI_ERR_QUOTA) return EDQUOT;
  if (error_class == MPI_ERR_ACCESS) return EACCES;
  if (error_class == MPI_ERR_READ_ONLY) return EROFS;
  if (error_class == MPI_ERR_NO_SUCH_FILE) return ENOENT;
  return 0;
}

std::int64_t count_of(const MPI_Status& status) {
  MPI_Count count = 0;
  if (MPI_Get_elements_x(&status, MPI_BYTE, &count) != MPI_SUCCESS || count == MPI_UNDEFINED || count < 0) return -1;
  return count;
}

void Pauses::pause() {
  constexpr auto impatient = std::chrono::microseconds(200);
  constexpr auto longest = std::chrono::nanoseconds(std::chrono::milliseconds(1));
  const auto waited = Clock::now() - begin_;
  if (waited < impatient) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(waited / 16, longest));
  }
}

bool wait_with_pauses(MPI_Request& request, Deadline deadline) {
  Pauses pauses;
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return true;
    if (deadline.has_passed()) return false;
    pauses.pause();
  }
}

}  // namespace leadline::storage::mpi_io::LEADLINE_MPI_ABI
