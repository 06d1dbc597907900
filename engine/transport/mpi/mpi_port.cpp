// SPDX-License-Identifier: Apache-2.0
// One array of requests that are under way; what MPI reports done or failed leaves it.
#include "transport/mpi/mpi_port.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {

MpiPort::MpiPort(const Library& library) : library_(library), comm_(library.comm()) {
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

bool MpiPort::progress() {
  if (handles_.empty()) {
    // No message, since a lost rank is no error among those of this rank alone.
    int is_there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE);
    return false;
  }
  if (handles_.size() == 1) return progress_single();
  if (indices_.size() < handles_.size()) {
    Status without_error{};
    without_error.MPI_ERROR = MPI_SUCCESS;
    indices_.resize(handles_.capacity());
    statuses_.resize(handles_.capacity(), without_error);
  }
  int num_done = 0;
  // The statuses say which message has failed; the return value need not (Open MPI 5.0).
  MPI_Testsome(static_cast<int>(handles_.size()), handles_.data(), &num_done, indices_.data(), statuses_.data());
  if (num_done == MPI_UNDEFINED || num_done == 0) return false;
  for (int i = 0; i < num_done; ++i) {
    const auto index = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
    Status& status = statuses_[static_cast<std::size_t>(i)];
    requests_[index]->error_code = std::exchange(status.MPI_ERROR, MPI_SUCCESS);
    requests_[index]->is_under_way = false;
    if (handles_[index] != MPI_REQUEST_NULL) MPI_Request_free(&handles_[index]);
  }
  drop_done();
  return true;
}

/// MPI_Test looks once more when it has driven the library on, and MPI_Testsome does not (Open MPI 5.0).
bool MpiPort::progress_single() {
  int is_done = 0;
  const int code = MPI_Test(handles_.data(), &is_done, MPI_STATUS_IGNORE);
  if (!is_done && code == MPI_SUCCESS) return false;
  requests_.front()->error_code = code;
  requests_.front()->is_under_way = false;
  if (handles_.front() != MPI_REQUEST_NULL) MPI_Request_free(handles_.data());
  handles_.clear();
  requests_.clear();
  return true;
}

void MpiPort::drop_done() {
  std::size_t num_left = 0;
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    if (handles_[i] == MPI_REQUEST_NULL) continue;
    handles_[num_left] = handles_[i];
    requests_[num_left++] = requests_[i];
  }
  handles_.resize(num_left);
  requests_.resize(num_left);
}

void MpiPort::abandon(Request& request) noexcept {
  const auto found = std::find(requests_.begin(), requests_.end(), &request);
  if (found == requests_.end()) return;
  MPI_Request& handle = handles_[static_cast<std::size_t>(found - requests_.begin())];
  MPI_Cancel(&handle);
  MPI_Request_free(&handle);  // MPI keeps it until it is done
  drop_done();
}

TransportInfo MpiPort::info() const {
  TransportInfo info;
  info.name = "mpi";
  info.library = library_name() + ", with fault tolerance";
  return info;
}

void MpiPort::fail(int code) {
  throw tagged::MessageFailed(ExitStatus::run_failed, "MPI reports an error", error_text(code));
}

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
