// SPDX-License-Identifier: Apache-2.0
// The transport mpi: messages through an MPI library of the ABI that this is compiled for.
#include <sched.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/bootstrap.hpp"
#include "cluster/divisible_bootstrap.hpp"
#include "core/error.hpp"
#include "kernel/all_to_all.hpp"
#include "kernel/loops.hpp"
#include "kernel/neighbours.hpp"
#include "kernel/verify.hpp"
#include "transport/mpi/library.hpp"
#include "transport/mpi/mpi_collectives.hpp"
#include "transport/mpi/mpi_link.hpp"
#include "transport/mpi/mpi_messages.hpp"
#include "transport/mpi/mpi_neighbours.hpp"
#include "transport/mpi/mpi_port.hpp"
#include "transport/tagged/tagged_transport.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {
namespace {

/// Who we are, from the MPI library's own launcher. Collective: starts MPI.
class MpiBootstrap final : public cluster::Bootstrap, public cluster::KnowsParts {
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

  void go_on_with(std::span<const int> ranks) override { library_.go_on_with(ranks); }

  // Not for a second thread beside calls of the first, which MPI_Init promises nothing about; but nothing of MPI is
  // needed any more, and the watch waits for it only so long.
  void end_all() override { MPI_Abort(MPI_COMM_WORLD, static_cast<int>(ExitStatus::run_failed)); }

 private:
  Library& library_ = Library::instance();
};

std::unique_ptr<cluster::Bootstrap> make_bootstrap() { return std::make_unique<MpiBootstrap>(); }

/// See kernel/all_to_all.hpp.
template <WaitMode wait>
struct StepLinks {
  MPI_Comm comm;
  std::span<const std::int32_t> partners;
  const MessageShape& shape;
  std::array<MPI_Request, 2> requests{};

  void start() const {}
  MpiLink<wait> at(std::size_t step) { return {comm, partners[step], shape, requests}; }
  std::uint64_t now_ns() const { return leadline::now_ns(); }
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(const Context& context) : wait_(context.wait), progress_counter_(context.progress_counter) {}

  TransportInfo info() const override {
    TransportInfo info;
    info.name = "mpi";
    info.library = library_name();
    return info;
  }

  void run(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
           std::span<Sample> samples) override {
    const Path path = partner == library_.rank() ? Path::to_self : Path::to_partner;
    with_link(exchange, partner,
              [&](auto& link) { kernel::run(link, exchange, path, buffers, samples, progress_counter_); });
  }

  std::optional<kernel::Mismatch> verify(const kernel::Exchange& exchange, int partner, const kernel::Buffers& buffers,
                                         Fill fill) override {
    const int own = library_.rank();
    const bool sends = exchange.role == kernel::Role::lead;
    const kernel::TransferRanks ends =
        sends ? kernel::TransferRanks{own, partner} : kernel::TransferRanks{partner, own};
    std::optional<kernel::Mismatch> mismatch;
    with_link(exchange, partner,
              [&](auto& link) { mismatch = kernel::verify(link, exchange, ends, buffers, fill, progress_counter_); });
    return mismatch;
  }

  void all_to_all(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers,
                  std::span<Sample> samples) override {
    if (wait_ == WaitMode::spin) return all_to_all_that<WaitMode::spin>(steps, buffers, samples);
    all_to_all_that<WaitMode::yield>(steps, buffers, samples);
  }

  std::optional<kernel::NeighbourMismatch> exchange_with_neighbours(const kernel::NeighbourExchange& exchange,
                                                                    const kernel::NeighbourBuffers& buffers,
                                                                    const kernel::NeighbourTask& task) override {
    const auto by = [&](auto links) {
      return kernel::run_neighbours(links, exchange, library_.rank(), buffers, task, progress_counter_);
    };
    if (many_at_once() == Calls::blocking) {
      return by(MpiNeighbours<Calls::blocking>(library_.comm(), exchange, buffers));
    }
    return by(MpiNeighbours<Calls::testing>(library_.comm(), exchange, buffers));
  }

  std::unique_ptr<Messages> messages(std::span<const std::int32_t> /*partners*/, std::size_t max_tickets) override {
    return std::make_unique<MpiMessages>(library_.comm(), max_tickets, many_at_once());
  }

  std::unique_ptr<Collectives> collectives(std::span<const std::int32_t> group) override {
    if (group.empty()) return nullptr;
    return std::make_unique<MpiCollectives>(library_.comm(), group, progress_counter_);
  }

  void progress() noexcept override {
    int is_there = 0;
    try {
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, library_.comm(), &is_there, MPI_STATUS_IGNORE);
    } catch (const Error&) {
      // Any error will show in the next message, where it can be reported.
    }
  }

  bool needs_progress() const noexcept override { return true; }

 private:
  /// MPI opens its links with the first message and keeps them.
  Connected open_link(int partner, Deadline deadline) override {
    constexpr int greeting = 1;
    const std::string late = "rank " + std::to_string(partner) + " did not answer in time";
    std::array<MPI_Request, 2> requests{};
    MPI_Irecv(nullptr, 0, MPI_BYTE, partner, greeting, library_.comm(), &requests[0]);
    MPI_Isend(nullptr, 0, MPI_BYTE, partner, greeting, library_.comm(), &requests[1]);
    for (MPI_Request& request : requests) wait_yielding(request, deadline, late);
    const auto index = static_cast<std::size_t>(partner);
    if (is_open_[index]) return Connected::again;
    is_open_[index] = true;
    return Connected::anew;
  }

  /// Asked for when it is needed: Open MPI 4 opens all its components to answer (15 ms of a core).
  Calls many_at_once() {
    if (wait_ == WaitMode::spin) return Calls::blocking;
    if (!blocking_calls_yield_) blocking_calls_yield_ = blocking_calls_yield();
    return *blocking_calls_yield_ ? Calls::blocking : Calls::testing;
  }

  template <class Use>
  void with_link(const kernel::Exchange& exchange, int partner, const Use& use) {
    if (wait_ == WaitMode::spin) return with_link_that<WaitMode::spin>(exchange, partner, use);
    with_link_that<WaitMode::yield>(exchange, partner, use);
  }

  template <WaitMode wait, class Use>
  void with_link_that(const kernel::Exchange& exchange, int partner, const Use& use) {
    const MessageShape shape(exchange.message_size_bytes);
    std::vector<MPI_Request> requests(2 * kernel::num_in_flight(exchange), MPI_REQUEST_NULL);
    MpiLink<wait> link(library_.comm(), partner, shape, requests);
    use(link);
  }

  template <WaitMode wait>
  void all_to_all_that(const kernel::AllToAllSteps& steps, const kernel::Buffers& buffers, std::span<Sample> samples) {
    const MessageShape shape(steps.message_size_bytes);
    StepLinks<wait> links{library_.comm(), steps.partners, shape};
    kernel::all_to_all(links, steps, buffers, samples, progress_counter_);
  }

  Library& library_ = Library::instance();
  std::optional<bool> blocking_calls_yield_;
  std::vector<bool> is_open_ = std::vector<bool>(static_cast<std::size_t>(library_.size()));
  WaitMode wait_;
  ProgressCounter& progress_counter_;
};

std::string refuses_wait(WaitMode mode) {
  return mode == WaitMode::block ? "MPI offers no way to sleep until a message comes" : "";
}

std::string refuses_memory(memory::Location place) {
  return place == memory::Location::host ? "" : why_no_gpu_memory();
}

std::unique_ptr<Transport> open(const Context& context) {
  const Library& library = Library::instance();
  if (!library.has_fault_tolerance()) return std::make_unique<MpiTransport>(context);
  return std::make_unique<tagged::TaggedTransport<MpiPort>>(context, std::make_unique<MpiPort>(library));
}

std::vector<Fact> facts() { return {{"library", library_name()}}; }

}  // namespace

extern constexpr Module module{
    .settings = {},
    .facts = &facts,
    .refuses_wait = &refuses_wait,
    .refuses_memory = &refuses_memory,
    .take_mpi = &take_functions,
    .bootstrap = &make_bootstrap,
    .open = &open,
};

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
