// SPDX-License-Identifier: Apache-2.0
// A rank whose objects another one writes or reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "bench/io/funnel.hpp"
#include "bench/io/object_loop.hpp"
#include "transport/messages.hpp"

namespace leadline::bench::io {

/// How a sender numbers what it posts: objects by slot of its ring, a credit for each, and the word at the end. While
/// writing the credit comes from the I/O rank, and there is one at a time.
class SenderTickets {
 public:
  using Ticket = transport::Messages::Ticket;

  explicit SenderTickets(std::size_t depth) : depth_(depth) {}

  Ticket object(std::size_t slot) const { return static_cast<Ticket>(slot); }
  Ticket credit(std::size_t slot) const { return static_cast<Ticket>(depth_ + slot); }
  Ticket end() const { return static_cast<Ticket>(2 * depth_); }
  bool is_object(Ticket ticket) const { return ticket < depth_; }
  bool is_credit(Ticket ticket) const { return ticket >= depth_ && ticket < 2 * depth_; }
  std::size_t slot(Ticket ticket) const { return ticket % depth_; }
  std::size_t num() const { return 2 * depth_ + 1; }

 private:
  std::size_t depth_;
};

class FunnelSender final : public ObjectLoop {
 public:
  FunnelSender(PhaseWork& work, transport::Messages& messages);

  std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) override;

 private:
  using Ticket = transport::Messages::Ticket;

  void send(ObjectRange range);
  void fill_next(std::uint64_t number);
  void send_filled();
  void await_credit();
  void receive(ObjectRange range);
  void receive_next(std::uint64_t number);
  void take(std::size_t slot);
  void post_end();
  void correct(ObjectRange range);
  /// Its I/O rank: what is left of a phase is left out then.
  bool is_lost() const { return !messages_.lost_links().empty(); }

  PhaseWork& work_;
  transport::Messages& messages_;
  std::int32_t io_rank_;
  SenderTickets tickets_;
  std::vector<std::size_t> free_;  ///< slots that nothing is in
  std::vector<char> was_filled_;   ///< by slot: it holds an object of this phase
  // Writing.
  std::deque<std::size_t> filled_;  ///< slots to be sent, in order
  std::uint64_t num_credits_ = 0;   ///< not used yet
  std::uint64_t num_to_grant_ = 0;  ///< for which credits will still come
  Credit credit_ = 0;               ///< the one that comes next
  // Reading.
  std::vector<std::uint64_t> number_of_;  ///< by slot
  std::vector<char> num_posted_;          ///< by slot: messages of it that are under way
  std::vector<Credit> credits_;           ///< by slot: always one object
  EndOfReading end_;
};

}  // namespace leadline::bench::io
