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

  std::vector<std::string> all_gather(const std::string& own) override {
    const std::size_t length = own.size();
    std::string joined(length * static_cast<std::size_t>(size()), '\0');
    const int count = static_cast<int>(length);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallgather(own.data(), count, MPI_BYTE, joined.data(), count, MPI_BYTE, library_.comm(), &request);
    wait_yielding(request, Deadline::after(std::chrono::seconds(60)), "not all ranks came to MPI_Iallgather");

    std::vector<std::string> texts;
    texts.reserve(static_cast<std::size_t>(size()));
    for (std::size_t at = 0; texts.size() < static_cast<std::size_t>(size()); at += length) {
      texts.push_back(joined.substr(at, length));
    }
    return texts;
  }

 private:
  Library& library_ = Library::instance();
};

}  // namespace

std::unique_ptr<cluster::Bootstrap> make_bootstrap() { return std::make_unique<MpiBootstrap>(); }

}  // namespace leadline::transport::mpi
