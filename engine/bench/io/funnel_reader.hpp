// SPDX-License-Identifier: Apache-2.0
// An I/O rank that reads the objects of its senders and sends them back to whom they belong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "bench/io/funnel_io_rank.hpp"

namespace leadline::bench::io {

/// Verifies its own objects only. What could not be read is sent all the same, and said at the end.
class FunnelReader final : public FunnelIoRank {
 public:
  FunnelReader(PhaseWork& work, const FunnelLinks& links);

 private:
  struct Fill {
    std::uint64_t number = 0;
    std::uint64_t num_pending = 0;  ///< objects that were read and have not gone
    std::uint64_t num_runs = 0;     ///< started and not waited for
  };
  struct Outgoing {
    std::uint64_t fill = 0, slot = 0;
  };
  /// Of a sender, which is the receiver here.
  struct Owner {
    std::deque<Outgoing> outgoing;  ///< read, in order
    std::uint64_t num_credits = 0;  ///< not used yet
    std::uint64_t num_to_come = 0;  ///< credits that it will still grant
    Credit credit = 0;              ///< the next one
    EndOfReading end;
  };

  void move_all() override;
  void on_message(Ticket ticket) override;

  Fill& fill_in_buffer(std::uint64_t fill) { return fills_[buffer_of(fill)]; }
  void meet_owners();
  void await_credit(std::size_t sender);
  void begin(std::uint64_t fill);
  void start_run(std::uint64_t fill, const FunnelRun& run);
  void finish_oldest_run();
  void read(std::uint64_t fill);
  void read_run(std::uint64_t fill, const FunnelRun& run);
  void deliver(std::uint64_t fill, const FunnelRun& run, std::optional<std::uint64_t> num_read);
  void deliver_object(std::uint64_t fill, std::uint64_t slot, std::optional<std::uint64_t> num_read);
  void send_allowed(std::size_t sender);
  void drop_outgoing(Owner& owner);
  void settle();
  void say_the_end();

  std::vector<Fill> fills_;  ///< by buffer
  std::vector<Owner> owners_;
  StartedRuns started_;
  // Numbers of fills; each is begun, then read, then free when all of it has gone.
  std::uint64_t num_begun_ = 0, num_read_ = 0, num_free_again_ = 0;
  std::uint64_t num_ends_ = 0;  ///< that have not gone
};

}  // namespace leadline::bench::io
