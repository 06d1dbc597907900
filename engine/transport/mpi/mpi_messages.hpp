// SPDX-License-Identifier: Apache-2.0
// Messages one by one over MPI point-to-point messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/messages.hpp"
#include "transport/mpi/mpi_neighbours.hpp"

namespace leadline::transport::mpi::LEADLINE_MPI_ABI {

/// Looks at no return value: errors come as exceptions from the communicator's handler.
class MpiMessages final : public Messages {
 public:
  MpiMessages(MPI_Comm comm, std::size_t max_tickets, Calls calls);
  /// Cancels receives that have not been matched, so that no message arrives in memory that is in other use by then.
  ~MpiMessages() override;

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override;
  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override;
  std::optional<Ticket> poll() override;
  Ticket await_any() override;

 private:
  enum class TransferDirection : std::uint8_t { out, in };
  struct Posted {
    Ticket ticket;
    TransferDirection direction;
  };

  MPI_Request* add(Posted posted);
  void test_all();
  void wait_for_some();
  void note_done(int num_done);
  Ticket take_first();

  MPI_Comm comm_;
  Calls calls_;
  std::vector<MPI_Request> requests_;  ///< under way, in the order posted
  std::vector<Posted> posted_;         ///< of these
  std::vector<int> indices_;           ///< what MPI says is done
  // Asked for again only when all of it was handed out: so one question serves many messages, and none waits for ever.
  std::vector<Ticket> done_;
  std::size_t num_handed_out_ = 0;
};

}  // namespace leadline::transport::mpi::LEADLINE_MPI_ABI
