// SPDX-License-Identifier: Apache-2.0
// The functions of Portals 4, opened at run time, its handles, and its words for what goes wrong.
#pragma once

// Not every implementation's header is fit for C++ by itself.
extern "C" {
#include <portals4.h>
}

#include <cstddef>
#include <optional>
#include <string>

#include "core/dynamic_library.hpp"

namespace leadline::transport::portals4 {

/// Under their own names; their contract is the specification of Portals 4.
struct Functions {
  DynamicLibrary library{LEADLINE_PORTALS4_LIBRARY};
  decltype(&::PtlEQAlloc) PtlEQAlloc = library.find("PtlEQAlloc");
  decltype(&::PtlEQFree) PtlEQFree = library.find("PtlEQFree");
  decltype(&::PtlEQGet) PtlEQGet = library.find("PtlEQGet");
  decltype(&::PtlFini) PtlFini = library.find("PtlFini");
  decltype(&::PtlGet) PtlGet = library.find("PtlGet");
  decltype(&::PtlGetPhysId) PtlGetPhysId = library.find("PtlGetPhysId");
  decltype(&::PtlInit) PtlInit = library.find("PtlInit");
  decltype(&::PtlMDBind) PtlMDBind = library.find("PtlMDBind");
  decltype(&::PtlMDRelease) PtlMDRelease = library.find("PtlMDRelease");
  decltype(&::PtlMEAppend) PtlMEAppend = library.find("PtlMEAppend");
  decltype(&::PtlMESearch) PtlMESearch = library.find("PtlMESearch");
  decltype(&::PtlMEUnlink) PtlMEUnlink = library.find("PtlMEUnlink");
  decltype(&::PtlNIFini) PtlNIFini = library.find("PtlNIFini");
  decltype(&::PtlNIInit) PtlNIInit = library.find("PtlNIInit");
  decltype(&::PtlPTAlloc) PtlPTAlloc = library.find("PtlPTAlloc");
  decltype(&::PtlPTEnable) PtlPTEnable = library.find("PtlPTEnable");
  decltype(&::PtlPTFree) PtlPTFree = library.find("PtlPTFree");
  decltype(&::PtlPut) PtlPut = library.find("PtlPut");
};

/// Null until Module::load().
inline const Functions* functions = nullptr;

/// What a call returned: "PTL_NO_SPACE: memory or entries are used up".
std::string words_of(int code);

/// What became of a message: "PTL_NI_UNDELIVERABLE: a failure of the network".
std::string words_of_failure(ptl_ni_fail_t failure);

/// Throws Error(something_missing) for anything but PTL_OK.
void require(const char* what, int code);

/// Throws Error(run_failed).
[[noreturn]] void fail(const char* doing, int code);

inline void check(const char* doing, int code) {
  if (code != PTL_OK) [[unlikely]]
    fail(doing, code);
}

/// The library and one of its network interfaces, matching and with physical addresses.
class Interface {
 public:
  /// `device`: a network device for implementations that take its name out of PTL_IFACE_NAME; empty = their choice.
  /// Throws Error(something_missing).
  Interface(std::optional<ptl_interface_t> number, const std::string& device);
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  ~Interface();

  ptl_handle_ni_t get() const { return handle_; }
  const ptl_ni_limits_t& limits() const { return limits_; }
  ptl_process_t id() const { return id_; }

 private:
  ptl_handle_ni_t handle_{};
  ptl_ni_limits_t limits_{};
  ptl_process_t id_{};
};

class EventQueue {
 public:
  EventQueue(const Interface& interface, std::size_t num_events);
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;
  ~EventQueue() { functions->PtlEQFree(handle_); }

  ptl_handle_eq_t get() const { return handle_; }

  /// Whether there was one. Throws Error(run_failed) when others were lost.
  bool take(ptl_event_t& event) const {
    const int code = functions->PtlEQGet(handle_, &event);
    if (code == PTL_EQ_EMPTY) return false;
    check("taking an event", code);
    return true;
  }

 private:
  ptl_handle_eq_t handle_{};
};

/// One index of the portal table.
class TableEntry {
 public:
  TableEntry(const Interface& interface, const EventQueue& queue, unsigned options);
  TableEntry(const TableEntry&) = delete;
  TableEntry& operator=(const TableEntry&) = delete;
  ~TableEntry() { functions->PtlPTFree(interface_, index_); }

  ptl_pt_index_t index() const { return index_; }

 private:
  ptl_handle_ni_t interface_;
  ptl_pt_index_t index_{};
};

/// A memory descriptor: memory that messages leave from, and that data is fetched to. By default, nothing.
class Descriptor {
 public:
  Descriptor() = default;
  /// Its messages end in an event each, when they have arrived.
  Descriptor(const Interface& interface, const EventQueue& queue, const std::byte* start, std::size_t size);
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { release(); }

  explicit operator bool() const { return is_bound_; }
  ptl_handle_md_t get() const { return handle_; }
  const std::byte* start() const { return start_; }

 private:
  void release() noexcept;

  bool is_bound_ = false;
  ptl_handle_md_t handle_{};
  const std::byte* start_ = nullptr;
};

/// An entry that takes part in no counting and tells neither that it was linked nor that it was unlinked; its start,
/// length, options and matches are the caller's.
ptl_me_t quiet_entry();

inline bool is_same(ptl_process_t left, ptl_process_t right) {
  return left.phys.nid == right.phys.nid && left.phys.pid == right.phys.pid;
}

}  // namespace leadline::transport::portals4
