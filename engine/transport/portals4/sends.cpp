// SPDX-License-Identifier: Apache-2.0
// Answers to messages that have left, and the memory from which long ones are fetched.
#include "transport/portals4/sends.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <chrono>

#include "core/deadline.hpp"
#include "core/error.hpp"

namespace leadline::transport::portals4 {
namespace {

/// An entry whose last event has come may be in use for a moment still.
constexpr auto unlinking_patience = std::chrono::seconds(1);

void unlink(ptl_handle_me_t entry) {
  const auto deadline = Deadline::after(unlinking_patience);
  int code = functions->PtlMEUnlink(entry);
  while (code == PTL_IN_USE && !deadline.has_passed()) {
    sched_yield();
    code = functions->PtlMEUnlink(entry);
  }
  check("taking memory back", code);
}

}  // namespace

bool Sends::drive(PeerChannel& channel) {
  bool has_started = false;
  while (!channel.is_held && !channel.waiting.empty() && has_room()) {
    --num_waiting_;
    start(channel.waiting.pop_front());
    has_started = true;
  }
  return has_started;
}

PeerChannel& Sends::answered(const ptl_event_t& event) {
  auto& message = *static_cast<Message*>(event.user_ptr);
  PeerChannel& channel = *message.channel;
  --channel.num_under_way;
  --endpoint_.num_operations;
  if (event.ni_fail_type == PTL_NI_PT_DISABLED) {
    channel.is_held = true;
    channel.waiting.insert_by_turn(message);
    ++num_waiting_;
    return channel;
  }
  if (event.ni_fail_type != PTL_NI_OK) {
    throw Error(ExitStatus::run_failed, "Portals 4 failed (sending)", words_of_failure(event.ni_fail_type));
  }
  --message.num_awaited;
  return channel;
}

void Sends::expose(Message& message) {
  message.key = next_key_++;
  ptl_me_t entry = quiet_entry();
  entry.start = message.data;
  entry.length = message.size;
  entry.options |= PTL_ME_OP_GET;
  if (goes_at_once(message)) entry.options |= PTL_ME_USE_ONCE;
  entry.match_id = message.channel->to.id;
  entry.match_bits = message.key;
  check("offering a long message", functions->PtlMEAppend(endpoint_.interface.get(), endpoint_.memory.index(), &entry,
                                                          PTL_PRIORITY_LIST, &message, &message.exposed));
  ++num_exposed_;
  ++message.num_awaited;
}

void Sends::fetched(const ptl_event_t& event) {
  if (event.ni_fail_type != PTL_NI_OK) {
    throw Error(ExitStatus::run_failed, "Portals 4 failed (a long message)", words_of_failure(event.ni_fail_type));
  }
  auto& message = *static_cast<Message*>(event.user_ptr);
  message.num_bytes_moved += event.mlength;
  if (message.num_bytes_moved < message.size) return;
  if (!goes_at_once(message)) unlink(message.exposed);
  --num_exposed_;
  --message.num_awaited;
}

}  // namespace leadline::transport::portals4
