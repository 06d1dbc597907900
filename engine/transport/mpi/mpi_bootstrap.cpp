// SPDX-License-Identifier: Apache-2.0
// Who we are, from the MPI library's own launcher.
#include "transport/mpi/mpi_bootstrap.hpp"

#include <chrono>

#include "cluster/launcher.hpp"
#include "transport/mpi/library.hpp"

namespace leadline::transport::mpi {
namespace {

class MpiBootstrap final : public cluster::Bootstrap {
 public:
  int rank() const override { return library_.rank(); }
  int size() const override { return library_.size(); }
  std::string launcher() const override { return cluster::name_of(cluster::detect_launcher()); }

  std::string all_gather(const std::string& own) override {
    std::string all(own.size() * static_cast<std::size_t>(size()), '\0');
    const int count = static_cast<int>(own.size());
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(own.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, library_.comm(), &request);
    wait_yielding(request, Deadline::after(std::chrono::seconds(60)), "not all ranks came to MPI_Iallgather");
    return all;
  }

 private:
  Library& library_ = Library::instance();
};

}  // namespace

std::unique_ptr<cluster::Bootstrap> make_bootstrap() { return std::make_unique<MpiBootstrap>(); }

}  // namespace leadline::transport::mpi
