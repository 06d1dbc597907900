// SPDX-License-Identifier: Apache-2.0
// Messages one by one through a simulated fabric: their bytes travel, in real time, and its faults meet them.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

#include "transport/model/fabric.hpp"
#include "transport/model/model_link.hpp"
#include "transport/socket_traffic.hpp"

namespace leadline::transport::model {

/// Whoever works between messages does so in real time, on real disks: virtual times of messages would mean nothing.
class ModelMessages final : public Messages {
 public:
  ModelMessages(const Fabric& fabric, Station& own, std::span<const std::int32_t> partners, std::size_t max_tickets,
                const LinkSockets& sockets)
      : fabric_(fabric), own_(own), wire_(partners, max_tickets, sockets, WaitMode::block) {}

  void post_send(int partner, std::span<const std::byte> data, Ticket ticket) override {
    while (own_.silent_after && own_.num_sent >= *own_.silent_after) ::pause();
    ++own_.num_sent;
    wire_.post_send(partner, data, ticket);
  }

  void post_receive(int partner, std::span<std::byte> data, Ticket ticket) override {
    const auto byte = corrupted_byte(fabric_, partner, own_.rank, num_taken_[partner]++);
    if (byte && *byte < data.size()) to_corrupt_[ticket] = &data[*byte];
    wire_.post_receive(partner, data, ticket);
  }

  std::optional<Ticket> poll() override {
    const auto done = wire_.poll();
    if (done) corrupt(*done);
    return done;
  }

  Ticket await_any() override {
    const Ticket done = wire_.await_any();
    corrupt(done);
    return done;
  }

 private:
  void corrupt(Ticket ticket) {
    const auto found = to_corrupt_.find(ticket);
    if (found == to_corrupt_.end()) return;
    *found->second ^= std::byte{0x01};
    to_corrupt_.erase(found);
  }

  const Fabric& fabric_;
  Station& own_;
  SocketMessages wire_;
  std::map<int, std::uint64_t> num_taken_;  ///< by partner
  std::map<Ticket, std::byte*> to_corrupt_;
};

}  // namespace leadline::transport::model
