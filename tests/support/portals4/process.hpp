// SPDX-License-Identifier: Apache-2.0
// What the fake Portals 4 knows in one process: queues, entries, memory, and what is under way.
#pragma once

#include <portals4.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>

#include "datagrams.hpp"

namespace leadline::fake_portals4 {

/// Small, so that a few messages reach them.
inline constexpr ptl_ni_limits_t limits{
    .max_entries = 24, .max_unexpected_headers = 3, .max_mds = 512, .max_list_size = 10, .max_msg_size = 96 * 1024};

enum class Kind : std::uint8_t { put, get, ack, reply };

/// What stands before the bytes of a datagram.
struct Header {
  Kind kind = Kind::put;
  ptl_ni_fail_t failure = PTL_NI_OK;
  bool wants_ack = false;
  ptl_pid_t from = 0;
  ptl_pt_index_t index = 0;
  ptl_match_bits_t bits = 0;
  ptl_hdr_data_t hdr_data = 0;
  ptl_size_t length = 0, moved_length = 0, remote_offset = 0;
  std::uint64_t operation = 0;  ///< of who waits for an answer
};

struct Queue {
  std::size_t capacity = 0;
  std::deque<ptl_event_t> events;
  bool has_dropped = false;
};

/// In a list; one of the overflow list also while messages lie in it.
struct Entry {
  ptl_handle_me_t handle = 0;
  ptl_me_t me{};
  void* user_ptr = nullptr;
  ptl_size_t offset = 0;
  int num_messages = 0;
  bool is_linked = true;
};

struct Unexpected {
  Header header;
  std::byte* start = nullptr;
  ptl_size_t moved_length = 0;
  std::shared_ptr<Entry> entry;
};

using Entries = std::list<std::shared_ptr<Entry>>;

/// One index of the portal table.
struct Table {
  bool has_flow_control = false, is_enabled = true;
  ptl_handle_eq_t queue = 0;
  Entries priority, overflow;
  std::list<Unexpected> unexpected;
};

struct Operation {
  ptl_md_t md{};
  ptl_size_t local_offset = 0;
  void* user_ptr = nullptr;
};

class Process {
 public:
  Process();

  bool is_open() const { return wire_.is_open(); }
  ptl_process_t id() const;

  /// Delivers what has come. Nothing happens between two calls of the library.
  void move();

  ptl_handle_eq_t add_queue(std::size_t capacity);
  int take(ptl_handle_eq_t queue, ptl_event_t& event);
  ptl_pt_index_t add_table(bool has_flow_control, ptl_handle_eq_t queue);
  int remove_table(ptl_pt_index_t index);
  void enable(ptl_pt_index_t index) { tables_.at(index).is_enabled = true; }
  int bind(const ptl_md_t& md, ptl_handle_md_t& handle);
  int release(ptl_handle_md_t handle) { return mds_.erase(handle) == 1 ? PTL_OK : PTL_ARG_INVALID; }
  int append(ptl_pt_index_t index, const ptl_me_t& me, ptl_list_t list, void* user_ptr, ptl_handle_me_t& handle);
  int unlink(ptl_handle_me_t handle);
  void search(ptl_pt_index_t index, const ptl_me_t& me, void* user_ptr);

  /// A put has bytes behind its header, a get has none.
  int start(ptl_handle_md_t md, ptl_size_t local_offset, ptl_pid_t to, Header header, void* user_ptr);

 private:
  void arrive(std::span<const std::byte> datagram);
  void lose(std::span<const std::byte> datagram);
  void deliver_put(const Header& header, std::span<const std::byte> bytes);
  ptl_ni_fail_t place(Table& table, const Header& header, std::span<const std::byte> bytes, ptl_size_t& moved_length);
  ptl_ni_fail_t place_unexpected(Table& table, const Header& header, std::span<const std::byte> bytes,
                                 ptl_size_t& moved_length);
  ptl_ni_fail_t shut(Table& table, ptl_pt_index_t index);
  void deliver_get(const Header& header);
  void finish(const Header& header, std::span<const std::byte> bytes);
  bool hand_out_unexpected(ptl_pt_index_t index, const ptl_me_t& me, void* user_ptr);
  std::size_t num_entries() const;
  void tell(ptl_handle_eq_t queue, const ptl_event_t& event);
  void send(ptl_pid_t to, Header header, std::span<const std::byte> bytes);

  Datagrams wire_;
  std::uint32_t next_handle_ = 1;
  std::uint64_t next_operation_ = 1;
  std::map<ptl_handle_eq_t, Queue> queues_;
  std::map<ptl_pt_index_t, Table> tables_;
  std::map<ptl_handle_md_t, ptl_md_t> mds_;
  std::map<std::uint64_t, Operation> operations_;
};

}  // namespace leadline::fake_portals4
