// SPDX-License-Identifier: Apache-2.0
// Messages that come: into entries posted for them, or into buffers for unexpected ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "transport/portals4/endpoint.hpp"
#include "transport/portals4/message.hpp"

namespace leadline::transport::portals4 {

/// When room for unexpected messages runs out, the library shuts `messages`; drain() then takes those that are there
/// into ordinary memory, where later receives look first, since those are the older ones.
class Receives {
 public:
  explicit Receives(Endpoint& endpoint);
  Receives(const Receives&) = delete;
  Receives& operator=(const Receives&) = delete;

  void post(Message& message) {
    message.key = 0;
    message.num_awaited = 1;
    if (!can_start() || !waiting_.empty()) [[unlikely]] {
      waiting_.push_back(message);
      return;
    }
    start(message);
  }

  /// Starts of those that wait what may start now; whether there was any.
  bool drive();

  /// Of a message that has come into its entry, or was there when the entry was posted.
  void arrived(const ptl_event_t& event);

  /// Of a part of a long message.
  void replied(const ptl_event_t& event);

  /// Of a buffer: the library takes no more into it; and has no message left in it.
  void filled() { --num_linked_; }
  void freed(const ptl_event_t& event) { link(static_cast<std::byte*>(event.user_ptr)); }

  /// Where `messages` is shut; no receive starts until it is done.
  void drain();
  void found(const ptl_event_t& event);
  bool has_drained() const { return !is_draining_; }

  /// Whether there is a buffer for unexpected messages.
  bool has_buffer() const { return num_linked_ > 0; }

 private:
  /// A message that arrived before its receive was posted.
  struct Early {
    ptl_process_t from{};
    ptl_match_bits_t bits = 0;
    std::uint64_t key = 0;
    std::vector<std::byte> contents;
  };

  bool can_start() const { return !is_draining_ && num_posted_ < endpoint_.capacity.max_posted; }

  void start(Message& message) {
    if (!early_.empty() && take_early(message)) [[unlikely]]
      return;
    ptl_me_t entry = quiet_entry();
    entry.start = message.data;
    entry.length = message.size;
    entry.options |= PTL_ME_OP_PUT | PTL_ME_USE_ONCE;
    entry.match_id = message.channel->to.id;
    entry.match_bits = message.bits;
    ptl_handle_me_t posted{};
    check("receiving", functions->PtlMEAppend(endpoint_.interface.get(), endpoint_.messages.index(), &entry,
                                              PTL_PRIORITY_LIST, &message, &posted));
    ++num_posted_;
  }

  bool take_early(Message& message);
  void start_fetch(Message& message);
  void fetch(Message& message);
  void link(std::byte* buffer);
  void search();

  Endpoint& endpoint_;
  std::size_t buffer_size_bytes_;
  std::vector<std::unique_ptr<std::byte[]>> buffers_;
  std::size_t num_linked_ = 0, num_posted_ = 0;
  Line waiting_, waiting_fetches_;
  std::list<Early> early_;
  bool is_draining_ = false;
};

}  // namespace leadline::transport::portals4
