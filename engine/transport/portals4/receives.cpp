// SPDX-License-Identifier: Apache-2.0
// Matches messages that came early, fetches long ones, and keeps the buffers for unexpected ones in place.
#include "transport/portals4/receives.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/error.hpp"

namespace leadline::transport::portals4 {
namespace {

/// Guessed: 64 short messages of the default limit.
constexpr std::size_t usual_buffer_bytes = std::size_t{512} * 1024;

void require_well(const ptl_event_t& event, const char* doing) {
  if (event.ni_fail_type == PTL_NI_OK) return;
  throw Error(ExitStatus::run_failed, fmt::format("Portals 4 failed ({})", doing),
              words_of_failure(event.ni_fail_type));
}

void require_size(std::size_t size, std::size_t expected) {
  if (size == expected) return;
  throw Error(ExitStatus::run_failed, "Portals 4 failed (receiving)",
              fmt::format("a message of {} bytes came where {} bytes were expected", size, expected));
}

/// What came unexpected is never cut, and the reference implementation has something else in its rlength.
std::size_t size_of(const ptl_event_t& event) { return event.type == PTL_EVENT_PUT ? event.rlength : event.mlength; }

}  // namespace

Receives::Receives(Endpoint& endpoint)
    : endpoint_(endpoint), buffer_size_bytes_(std::max(usual_buffer_bytes, 4 * endpoint.capacity.eager_limit_bytes)) {
  for (std::size_t i = 0; i < endpoint.capacity.num_buffers; ++i) {
    link(buffers_.emplace_back(std::make_unique<std::byte[]>(buffer_size_bytes_)).get());
  }
}

void Receives::link(std::byte* buffer) {
  ptl_me_t entry{};
  entry.start = buffer;
  entry.length = buffer_size_bytes_;
  entry.ct_handle = PTL_CT_NONE;
  entry.uid = PTL_UID_ANY;
  entry.options = PTL_ME_OP_PUT | PTL_ME_MANAGE_LOCAL | PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_COMM_DISABLE;
  entry.match_id.phys.nid = PTL_NID_ANY;
  entry.match_id.phys.pid = PTL_PID_ANY;
  entry.ignore_bits = ~ptl_match_bits_t{0};
  entry.min_free = std::max<std::size_t>(endpoint_.capacity.eager_limit_bytes, 1);
  ptl_handle_me_t linked{};
  check("giving it a buffer", functions->PtlMEAppend(endpoint_.interface.get(), endpoint_.messages.index(), &entry,
                                                     PTL_OVERFLOW_LIST, buffer, &linked));
  ++num_linked_;
}

bool Receives::drive() {
  bool has_started = false;
  while (!waiting_fetches_.empty() && endpoint_.has_room()) {
    fetch(waiting_fetches_.pop_front());
    has_started = true;
  }
  while (!waiting_.empty() && can_start()) {
    start(waiting_.pop_front());
    has_started = true;
  }
  return has_started;
}

void Receives::arrived(const ptl_event_t& event) {
  require_well(event, "receiving");
  auto& message = *static_cast<Message*>(event.user_ptr);
  --num_posted_;
  message.key = event.hdr_data;
  if (message.key != 0) return start_fetch(message);
  require_size(size_of(event), message.size);
  if (event.type == PTL_EVENT_PUT_OVERFLOW && message.size > 0) std::memcpy(message.data, event.start, message.size);
  message.num_awaited = 0;
}

bool Receives::take_early(Message& message) {
  const auto found = std::find_if(early_.begin(), early_.end(), [&](const Early& early) {
    return is_same(early.from, message.channel->to.id) && early.bits == message.bits;
  });
  if (found == early_.end()) return false;
  const Early early = std::move(*found);
  early_.erase(found);
  message.key = early.key;
  if (message.key != 0) {
    start_fetch(message);
    return true;
  }
  require_size(early.contents.size(), message.size);
  std::copy(early.contents.begin(), early.contents.end(), message.data);
  message.num_awaited = 0;
  return true;
}

void Receives::start_fetch(Message& message) {
  message.num_bytes_asked = message.num_bytes_moved = 0;
  message.num_parts = 0;
  fetch(message);
}

void Receives::fetch(Message& message) {
  const Address& from = message.channel->to;
  while (message.num_bytes_asked < message.size && message.num_parts < max_parts_under_way && endpoint_.has_room()) {
    const std::size_t at = message.num_bytes_asked;
    const std::size_t size = std::min(message.size - at, endpoint_.capacity.max_message_bytes);
    check("fetching a long message", functions->PtlGet(message.memory, message.offset + at, size, from.id, from.memory,
                                                       message.key, at, &message));
    message.num_bytes_asked += size;
    ++message.num_parts;
    ++endpoint_.num_operations;
  }
  if (message.num_parts == 0) waiting_fetches_.push_back(message);
}

void Receives::replied(const ptl_event_t& event) {
  --endpoint_.num_operations;
  require_well(event, "fetching a long message");
  auto& message = *static_cast<Message*>(event.user_ptr);
  --message.num_parts;
  message.num_bytes_moved += event.mlength;
  const bool is_over = message.num_parts == 0 && message.num_bytes_asked == message.size;
  if (!is_over) return fetch(message);
  require_size(message.num_bytes_moved, message.size);
  message.num_awaited = 0;
}

void Receives::drain() {
  is_draining_ = true;
  search();
}

void Receives::search() {
  ptl_me_t any = quiet_entry();
  any.options |= PTL_ME_OP_PUT | PTL_ME_USE_ONCE;
  any.match_id.phys.nid = PTL_NID_ANY;
  any.match_id.phys.pid = PTL_PID_ANY;
  any.ignore_bits = ~ptl_match_bits_t{0};
  check("making room", functions->PtlMESearch(endpoint_.interface.get(), endpoint_.messages.index(), &any,
                                              PTL_SEARCH_DELETE, nullptr));
}

void Receives::found(const ptl_event_t& event) {
  if (event.ni_fail_type == PTL_NI_NO_MATCH) {
    is_draining_ = false;
    return;
  }
  require_well(event, "making room");
  Early early{event.initiator, event.match_bits, event.hdr_data, {}};
  const auto* const contents = static_cast<const std::byte*>(event.start);
  if (event.mlength > 0) early.contents.assign(contents, contents + event.mlength);
  early_.push_back(std::move(early));
  search();
}

}  // namespace leadline::transport::portals4
