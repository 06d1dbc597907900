// SPDX-License-Identifier: Apache-2.0
// Matching, flow control and answers of the fake Portals 4.
#include "process.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace leadline::fake_portals4 {
namespace {

std::byte* at(void* start, ptl_size_t offset) { return static_cast<std::byte*>(start) + offset; }

ptl_pid_t own_pid() { return static_cast<ptl_pid_t>(::getpid()); }

ptl_process_t id_of(ptl_pid_t pid) {
  ptl_process_t id{};
  id.phys.nid = 1;
  id.phys.pid = pid;
  return id;
}

bool matches(const ptl_me_t& me, const Header& header) {
  const bool is_wanted = me.match_id.phys.pid == PTL_PID_ANY || me.match_id.phys.pid == header.from;
  return is_wanted && ((me.match_bits ^ header.bits) & ~me.ignore_bits) == 0;
}

Entries::iterator match_in(Entries& list, const Header& header) {
  return std::find_if(list.begin(), list.end(), [&](const auto& entry) { return matches(entry->me, header); });
}

ptl_event_t event_of(int type, void* user_ptr) {
  ptl_event_t event{};
  event.type = static_cast<ptl_event_kind_t>(type);
  event.user_ptr = user_ptr;
  return event;
}

ptl_event_t event_of(int type, const Header& header, void* user_ptr) {
  ptl_event_t event = event_of(type, user_ptr);
  event.hdr_data = header.hdr_data;
  event.match_bits = header.bits;
  event.rlength = header.length;
  event.mlength = header.moved_length;
  event.remote_offset = header.remote_offset;
  event.initiator = id_of(header.from);
  event.pt_index = header.index;
  event.ni_fail_type = header.failure;
  return event;
}

}  // namespace

Process::Process() : wire_(own_pid()) {}

ptl_process_t Process::id() const { return id_of(own_pid()); }

void Process::move() {
  wire_.move([this](auto datagram) { arrive(datagram); }, [this](auto datagram) { lose(datagram); });
}

ptl_handle_eq_t Process::add_queue(std::size_t capacity) {
  queues_[next_handle_].capacity = capacity;
  return next_handle_++;
}

int Process::take(ptl_handle_eq_t queue, ptl_event_t& event) {
  Queue& from = queues_.at(queue);
  if (from.events.empty()) return PTL_EQ_EMPTY;
  event = from.events.front();
  from.events.pop_front();
  return from.has_dropped ? PTL_EQ_DROPPED : PTL_OK;
}

ptl_pt_index_t Process::add_table(bool has_flow_control, ptl_handle_eq_t queue) {
  const auto index = static_cast<ptl_pt_index_t>(tables_.size() + 3);
  tables_[index].has_flow_control = has_flow_control;
  tables_[index].queue = queue;
  return index;
}

int Process::remove_table(ptl_pt_index_t index) {
  const Table& table = tables_.at(index);
  return table.priority.empty() && table.overflow.empty() ? PTL_OK : PTL_IN_USE;
}

int Process::bind(const ptl_md_t& md, ptl_handle_md_t& handle) {
  if (mds_.size() == static_cast<std::size_t>(limits.max_mds)) return PTL_NO_SPACE;
  handle = next_handle_++;
  mds_[handle] = md;
  return PTL_OK;
}

std::size_t Process::num_entries() const {
  std::size_t num = 0;
  for (const auto& [index, table] : tables_) num += table.priority.size() + table.overflow.size();
  return num;
}

int Process::append(ptl_pt_index_t index, const ptl_me_t& me, ptl_list_t list, void* user_ptr,
                    ptl_handle_me_t& handle) {
  Table& table = tables_.at(index);
  if (list == PTL_PRIORITY_LIST && hand_out_unexpected(index, me, user_ptr)) return PTL_OK;
  const std::size_t num_in_table = table.priority.size() + table.overflow.size();
  if (num_in_table == static_cast<std::size_t>(limits.max_list_size)) return PTL_LIST_TOO_LONG;
  if (num_entries() == static_cast<std::size_t>(limits.max_entries)) return PTL_NO_SPACE;
  handle = next_handle_++;
  Entries& entries = list == PTL_PRIORITY_LIST ? table.priority : table.overflow;
  entries.push_back(std::make_shared<Entry>(Entry{handle, me, user_ptr}));
  return PTL_OK;
}

int Process::unlink(ptl_handle_me_t handle) {
  for (auto& [index, table] : tables_) {
    if (std::erase_if(table.priority, [&](const auto& entry) { return entry->handle == handle; }) > 0) return PTL_OK;
  }
  return PTL_ARG_INVALID;
}

void Process::search(ptl_pt_index_t index, const ptl_me_t& me, void* user_ptr) {
  if (hand_out_unexpected(index, me, user_ptr)) return;
  ptl_event_t nothing = event_of(PTL_EVENT_SEARCH, user_ptr);
  nothing.ni_fail_type = PTL_NI_NO_MATCH;
  tell(tables_.at(index).queue, nothing);
}

/// The oldest that matches; whether there was one.
bool Process::hand_out_unexpected(ptl_pt_index_t index, const ptl_me_t& me, void* user_ptr) {
  Table& table = tables_.at(index);
  const auto found = std::find_if(table.unexpected.begin(), table.unexpected.end(),
                                  [&](const Unexpected& message) { return matches(me, message.header); });
  if (found == table.unexpected.end()) return false;
  ptl_event_t event = event_of(PTL_EVENT_PUT_OVERFLOW, found->header, user_ptr);
  event.mlength = found->moved_length;
  event.start = found->start;
  tell(table.queue, event);
  const std::shared_ptr<Entry> entry = found->entry;
  table.unexpected.erase(found);
  --entry->num_messages;
  if (!entry->is_linked && entry->num_messages == 0) tell(table.queue, event_of(PTL_EVENT_AUTO_FREE, entry->user_ptr));
  return true;
}

int Process::start(ptl_handle_md_t md, ptl_size_t local_offset, ptl_pid_t to, Header header, void* user_ptr) {
  const auto found = mds_.find(md);
  if (found == mds_.end() || local_offset + header.length > found->second.length ||
      header.length > limits.max_msg_size) {
    return PTL_ARG_INVALID;
  }
  header.from = own_pid();
  header.operation = next_operation_++;
  if (header.wants_ack || header.kind == Kind::get) {
    operations_[header.operation] = {found->second, local_offset, user_ptr};
  }
  const std::size_t num_bytes = header.kind == Kind::put ? header.length : 0;
  send(to, header, {at(found->second.start, local_offset), num_bytes});
  return PTL_OK;
}

void Process::send(ptl_pid_t to, Header header, std::span<const std::byte> bytes) {
  header.from = own_pid();
  Datagram datagram(sizeof header + bytes.size());
  std::memcpy(datagram.data(), &header, sizeof header);
  std::copy(bytes.begin(), bytes.end(), datagram.begin() + sizeof header);
  wire_.send(to, std::move(datagram));
}

void Process::arrive(std::span<const std::byte> datagram) {
  Header header;
  std::memcpy(&header, datagram.data(), sizeof header);
  const auto bytes = datagram.subspan(sizeof header);
  switch (header.kind) {
    case Kind::put:
      return deliver_put(header, bytes);
    case Kind::get:
      return deliver_get(header);
    case Kind::ack:
    case Kind::reply:
      return finish(header, bytes);
  }
}

void Process::lose(std::span<const std::byte> datagram) {
  Header header;
  std::memcpy(&header, datagram.data(), sizeof header);
  if (header.kind == Kind::ack || header.kind == Kind::reply) return;
  header.failure = PTL_NI_UNDELIVERABLE;
  header.kind = header.kind == Kind::put ? Kind::ack : Kind::reply;
  finish(header, {});
}

void Process::deliver_put(const Header& header, std::span<const std::byte> bytes) {
  Header answer = header;
  answer.kind = Kind::ack;
  answer.failure = PTL_NI_DROPPED;
  if (const auto found = tables_.find(header.index); found != tables_.end()) {
    answer.failure = place(found->second, header, bytes, answer.moved_length);
  }
  if (header.wants_ack) send(header.from, answer, {});
}

ptl_ni_fail_t Process::place(Table& table, const Header& header, std::span<const std::byte> bytes,
                             ptl_size_t& moved_length) {
  if (!table.is_enabled) return PTL_NI_PT_DISABLED;
  const Queue& queue = queues_.at(table.queue);
  if (table.has_flow_control && queue.events.size() + 3 > queue.capacity) return shut(table, header.index);
  const auto found = match_in(table.priority, header);
  if (found == table.priority.end()) return place_unexpected(table, header, bytes, moved_length);
  const std::shared_ptr<Entry> entry = *found;
  if ((entry->me.options & PTL_ME_USE_ONCE) != 0) table.priority.erase(found);
  moved_length = std::min(header.length, entry->me.length);
  if (moved_length > 0) std::memcpy(entry->me.start, bytes.data(), moved_length);
  ptl_event_t event = event_of(PTL_EVENT_PUT, header, entry->user_ptr);
  event.mlength = moved_length;
  event.start = entry->me.start;
  tell(table.queue, event);
  return PTL_NI_OK;
}

ptl_ni_fail_t Process::place_unexpected(Table& table, const Header& header, std::span<const std::byte> bytes,
                                        ptl_size_t& moved_length) {
  const auto found = match_in(table.overflow, header);
  const bool has_room = table.unexpected.size() < static_cast<std::size_t>(limits.max_unexpected_headers);
  if (found == table.overflow.end() || !has_room) {
    if (!table.has_flow_control) return PTL_NI_DROPPED;
    return shut(table, header.index);
  }
  const std::shared_ptr<Entry> entry = *found;
  moved_length = std::min(header.length, entry->me.length - entry->offset);
  std::byte* const start = at(entry->me.start, entry->offset);
  if (moved_length > 0) std::memcpy(start, bytes.data(), moved_length);
  entry->offset += moved_length;
  ++entry->num_messages;
  table.unexpected.push_back({header, start, moved_length, entry});
  if (entry->me.length - entry->offset < entry->me.min_free) {
    table.overflow.erase(found);
    entry->is_linked = false;
    tell(table.queue, event_of(PTL_EVENT_AUTO_UNLINK, entry->user_ptr));
  }
  return PTL_NI_OK;
}

ptl_ni_fail_t Process::shut(Table& table, ptl_pt_index_t index) {
  table.is_enabled = false;
  ptl_event_t event = event_of(PTL_EVENT_PT_DISABLED, nullptr);
  event.pt_index = index;
  event.ni_fail_type = PTL_NI_PT_DISABLED;
  tell(table.queue, event);
  return PTL_NI_PT_DISABLED;
}

void Process::deliver_get(const Header& header) {
  Header answer = header;
  answer.kind = Kind::reply;
  answer.failure = PTL_NI_DROPPED;
  const auto table = tables_.find(header.index);
  if (table == tables_.end()) return send(header.from, answer, {});
  Entries& entries = table->second.priority;
  const auto found = match_in(entries, header);
  if (found == entries.end()) return send(header.from, answer, {});
  const std::shared_ptr<Entry> entry = *found;
  if ((entry->me.options & PTL_ME_USE_ONCE) != 0) entries.erase(found);
  answer.failure = PTL_NI_OK;
  answer.moved_length = std::min(header.length, entry->me.length - header.remote_offset);
  send(header.from, answer, {at(entry->me.start, header.remote_offset), answer.moved_length});
  ptl_event_t event = event_of(PTL_EVENT_GET, header, entry->user_ptr);
  event.mlength = answer.moved_length;
  tell(table->second.queue, event);
}

void Process::finish(const Header& header, std::span<const std::byte> bytes) {
  const auto found = operations_.find(header.operation);
  if (found == operations_.end()) return;
  const Operation operation = found->second;
  operations_.erase(found);
  if (!bytes.empty()) std::memcpy(at(operation.md.start, operation.local_offset), bytes.data(), bytes.size());
  const int type = header.kind == Kind::ack ? PTL_EVENT_ACK : PTL_EVENT_REPLY;
  tell(operation.md.eq_handle, event_of(type, header, operation.user_ptr));
}

void Process::tell(ptl_handle_eq_t queue, const ptl_event_t& event) {
  Queue& to = queues_.at(queue);
  if (to.events.size() > to.capacity) {
    to.has_dropped = true;
  } else {
    to.events.push_back(event);
  }
}

}  // namespace leadline::fake_portals4
