// SPDX-License-Identifier: Apache-2.0
// What an I/O rank of a funnel needs for writing and reading alike: buffers, tickets, steps that all I/O ranks take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/io/funnel.hpp"
#include "bench/io/object_loop.hpp"
#include "schedule/file_layout.hpp"
#include "transport/messages.hpp"

namespace leadline::bench::io {

/// Slots of a buffer that lie side by side in the file: one call.
struct FunnelRun {
  std::uint64_t first_slot = 0, num_slots = 0;  ///< in the buffer
  std::uint64_t offset_bytes = 0;               ///< in the file
};

/// An object in a slot of a buffer.
struct FunnelObject {
  std::size_t sender = 0;  ///< position among FileLayout::senders
  std::int32_t rank = 0;
  std::uint64_t number = 0;
};

/// The objects [first, end) of all senders of one I/O rank. A fill is a buffer once full; buffers are filled again.
class FunnelMap {
 public:
  /// `layout` outlives it.
  FunnelMap(const schedule::FileLayout& layout, std::vector<std::int32_t> senders, std::uint64_t slots_per_buffer,
            ObjectRange range);

  const std::vector<std::int32_t>& senders() const { return senders_; }
  std::uint64_t num_fills() const { return order_.num_buffers(); }
  std::uint64_t num_objects_of_a_sender() const { return num_objects_; }
  std::uint64_t num_slots(std::uint64_t fill) const;
  FunnelObject object(std::uint64_t fill, std::uint64_t slot) const;
  /// `is_left_out(rank)`: whose objects are in none.
  std::vector<FunnelRun> runs(std::uint64_t fill, const std::function<bool(std::int32_t rank)>& is_left_out = {}) const;
  /// Of all fills.
  std::uint64_t num_runs() const;

 private:
  const schedule::FileLayout& layout_;
  std::vector<std::int32_t> senders_;
  std::uint64_t slots_per_buffer_, num_objects_;
  schedule::FunnelOrder order_;
};

/// Slots of a buffer that an I/O rank ever needs.
std::uint64_t slots_in_use(const IoRequest& request, const Plan& plan, int io_rank);

/// How an I/O rank numbers what it posts: objects by buffer and slot; credits by buffer and sender (reading: all of
/// buffer 0); the words at the end by sender; tokens of barriers.
class IoRankTickets {
 public:
  using Ticket = transport::Messages::Ticket;

  IoRankTickets(std::size_t num_buffers, std::size_t num_slots, std::size_t num_senders)
      : num_buffers_(num_buffers), num_slots_(num_slots), num_senders_(num_senders) {}

  Ticket object(std::size_t buffer, std::size_t slot) const { return static_cast<Ticket>(buffer * num_slots_ + slot); }
  Ticket credit(std::size_t buffer, std::size_t sender) const {
    return static_cast<Ticket>(first_credit() + buffer * num_senders_ + sender);
  }
  Ticket end(std::size_t sender) const { return static_cast<Ticket>(first_end() + sender); }
  Ticket barrier() const { return static_cast<Ticket>(first_end() + num_senders_); }

  bool is_object(Ticket ticket) const { return ticket < first_credit(); }
  bool is_credit(Ticket ticket) const { return ticket >= first_credit() && ticket < first_end(); }
  std::size_t buffer_of_object(Ticket ticket) const { return ticket / num_slots_; }
  std::size_t slot_of_object(Ticket ticket) const { return ticket % num_slots_; }
  std::size_t buffer_of_credit(Ticket ticket) const { return (ticket - first_credit()) / num_senders_; }
  std::size_t sender_of_credit(Ticket ticket) const { return (ticket - first_credit()) % num_senders_; }
  std::size_t num() const { return barrier() + OpenerBarrier::num_tickets; }

 private:
  std::size_t first_credit() const { return num_buffers_ * num_slots_; }
  std::size_t first_end() const { return first_credit() + num_buffers_ * num_senders_; }

  std::size_t num_buffers_, num_slots_, num_senders_;
};

/// A fill is in buffer fill % num_buffers; fills are begun and finished in order.
class FunnelIoRank : public ObjectLoop {
 public:
  FunnelIoRank(PhaseWork& work, const FunnelLinks& links);

  std::uint64_t move(ObjectRange range, std::optional<std::uint64_t> stop_ns) final;

 protected:
  using Ticket = transport::Messages::Ticket;

  /// All of map(), which is that of a range.
  virtual void move_all() = 0;
  virtual void on_message(Ticket ticket) = 0;

  PhaseWork& work() { return work_; }
  transport::Messages& messages() { return messages_; }
  const FunnelMap& map() const { return *map_; }
  /// Which writes this object of map(), or has written it last.
  std::uint64_t pass_of(const FunnelObject& object) const { return work_.passes.at(num_before_ + object.number).pass; }
  const IoRankTickets& tickets() const { return tickets_; }
  std::uint64_t num_buffers() const { return num_buffers_; }
  std::size_t buffer_of(std::uint64_t fill) const { return static_cast<std::size_t>(fill % num_buffers_); }
  std::uint64_t object_size_bytes() const { return work_.request().object_size_bytes; }
  bool is_blocking() const { return work_.request().calls == storage::FileCalls::blocking; }
  bool is_own(const FunnelObject& object) const { return object.rank == work_.rank(); }
  bool has_lost_senders() const { return !messages_.lost_links().empty(); }
  /// Whether what comes from or goes to this sender does not count any more.
  bool is_lost(std::int32_t sender) const { return has_lost_senders() && messages_.is_lost(sender); }
  /// The same of the sender of an object in this fill.
  bool is_of_lost(std::uint64_t fill, Ticket object) const {
    return has_lost_senders() && messages_.is_lost(map().object(fill, tickets_.slot_of_object(object)).rank);
  }
  /// What is remembered by sender has so many elements.
  std::size_t num_senders() const { return senders_.size(); }

  std::span<std::byte> memory(std::uint64_t fill, std::uint64_t first_slot, std::uint64_t num_slots) const;

  /// Hands out what is done, without waiting.
  void poll_all();

  /// One step of this rank, before its call: waits for the other I/O ranks where that was asked for.
  void begin_step();
  /// The call of a step of a rank that has failed.
  void take_part();

 private:
  void take_steps_left();

  PhaseWork& work_;
  transport::Messages& messages_;
  std::vector<std::int32_t> senders_;
  std::uint64_t num_slots_, num_buffers_;
  IoRankTickets tickets_;
  std::optional<FunnelMap> map_;
  std::optional<OpenerBarrier> barrier_;
  bool shares_calls_ = false;
  std::uint64_t num_steps_left_ = 0;
  std::uint64_t num_before_ = 0;  ///< objects of each sender in the passes before
};

/// Calls that were started, oldest first.
class StartedRuns {
 public:
  struct Run {
    std::uint64_t fill = 0;
    FunnelRun range;
    storage::Ticket ticket = 0;
  };

  bool is_empty() const { return runs_.empty(); }
  bool is_full(std::size_t most) const { return runs_.size() >= most; }
  /// The ticket for the next one; there is room for it.
  storage::Ticket next_ticket(std::size_t most) const { return num_started_ % most; }
  void add(const Run& run) {
    runs_.push_back(run);
    ++num_started_;
  }
  Run take_oldest() {
    const Run oldest = runs_.front();
    runs_.pop_front();
    return oldest;
  }

 private:
  std::deque<Run> runs_;
  std::size_t num_started_ = 0;
};

/// Non-blocking calls that an I/O rank may have under way at once.
std::size_t most_started(const IoRequest& request, const Plan& plan);

}  // namespace leadline::bench::io
