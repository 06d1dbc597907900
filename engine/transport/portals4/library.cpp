// SPDX-License-Identifier: Apache-2.0
// Starting and ending the library, and binding memory to it.
#include "transport/portals4/library.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "core/error.hpp"

namespace leadline::transport::portals4 {
namespace {

constexpr const char* device_variable = "PTL_IFACE_NAME";

/// The library reads the variable when it starts; what the user has put there himself counts.
void name_device(const std::string& device) {
  if (!device.empty()) ::setenv(device_variable, device.c_str(), 0);
}

}  // namespace

std::string words_of(int code) {
  switch (code) {
    case PTL_ARG_INVALID:
      return "PTL_ARG_INVALID: an argument is not valid";
    case PTL_EQ_DROPPED:
      return "PTL_EQ_DROPPED: an event queue was too small, events are lost";
    case PTL_FAIL:
      return "PTL_FAIL: the library does not say why";
    case PTL_IN_USE:
      return "PTL_IN_USE: it is in use";
    case PTL_LIST_TOO_LONG:
      return "PTL_LIST_TOO_LONG: a list has too many entries";
    case PTL_NO_INIT:
      return "PTL_NO_INIT: the library has not been started";
    case PTL_NO_SPACE:
      return "PTL_NO_SPACE: memory or entries are used up";
    case PTL_PID_IN_USE:
      return "PTL_PID_IN_USE: another process has this process identifier";
    case PTL_PT_FULL:
      return "PTL_PT_FULL: the portal table has no free entry";
    default:
      return fmt::format("code {}", code);
  }
}

std::string words_of_failure(ptl_ni_fail_t failure) {
  switch (failure) {
    case PTL_NI_UNDELIVERABLE:
      return "PTL_NI_UNDELIVERABLE: a failure of the network, or the other process is gone";
    case PTL_NI_DROPPED:
      return "PTL_NI_DROPPED: the other process has dropped it";
    case PTL_NI_PT_DISABLED:
      return "PTL_NI_PT_DISABLED: the other process takes no messages";
    case PTL_NI_PERM_VIOLATION:
      return "PTL_NI_PERM_VIOLATION: the other process does not permit it";
    case PTL_NI_OP_VIOLATION:
      return "PTL_NI_OP_VIOLATION: the memory is not for this operation";
    case PTL_NI_NO_MATCH:
      return "PTL_NI_NO_MATCH: nothing matches";
    case PTL_NI_SEGV:
      return "PTL_NI_SEGV: the memory cannot be accessed";
    default:
      return fmt::format("failure {}", failure);
  }
}

void require(const char* what, int code) {
  if (code == PTL_OK) return;
  throw Error(ExitStatus::something_missing, fmt::format("Portals 4 cannot {}", what), words_of(code),
              "Choose the network with --interface, PTL_IFACE_NAME or --transport-option interface=N");
}

void fail(const char* doing, int code) {
  throw Error(ExitStatus::run_failed, fmt::format("Portals 4 failed ({})", doing), words_of(code));
}

Interface::Interface(std::optional<ptl_interface_t> number, const std::string& device) {
  name_device(device);
  require("start", functions->PtlInit());
  int code = functions->PtlNIInit(number.value_or(PTL_IFACE_DEFAULT), PTL_NI_MATCHING | PTL_NI_PHYSICAL, PTL_PID_ANY,
                                  nullptr, &limits_, &handle_);
  if (code == PTL_OK) {
    code = functions->PtlGetPhysId(handle_, &id_);
    if (code != PTL_OK) functions->PtlNIFini(handle_);
  }
  if (code == PTL_OK) return;
  functions->PtlFini();
  require("open a network interface", code);
}

Interface::~Interface() {
  functions->PtlNIFini(handle_);
  functions->PtlFini();
}

EventQueue::EventQueue(const Interface& interface, std::size_t num_events) {
  require("make an event queue", functions->PtlEQAlloc(interface.get(), num_events, &handle_));
}

TableEntry::TableEntry(const Interface& interface, const EventQueue& queue, unsigned options)
    : interface_(interface.get()) {
  require("take an entry of the portal table",
          functions->PtlPTAlloc(interface_, options, queue.get(), PTL_PT_ANY, &index_));
}

Descriptor::Descriptor(const Interface& interface, const EventQueue& queue, const std::byte* start, std::size_t size)
    : is_bound_(true), start_(start) {
  ptl_md_t of_memory{};
  of_memory.start = const_cast<std::byte*>(start);
  of_memory.length = size;
  of_memory.options = PTL_MD_EVENT_SEND_DISABLE;
  of_memory.eq_handle = queue.get();
  of_memory.ct_handle = PTL_CT_NONE;
  require("bind memory", functions->PtlMDBind(interface.get(), &of_memory, &handle_));
}

Descriptor::Descriptor(Descriptor&& other) noexcept { *this = std::move(other); }

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this == &other) return *this;
  release();
  is_bound_ = std::exchange(other.is_bound_, false);
  handle_ = other.handle_;
  start_ = other.start_;
  return *this;
}

void Descriptor::release() noexcept {
  if (std::exchange(is_bound_, false)) functions->PtlMDRelease(handle_);
}

ptl_me_t quiet_entry() {
  ptl_me_t entry{};
  entry.ct_handle = PTL_CT_NONE;
  entry.uid = PTL_UID_ANY;
  entry.options = PTL_ME_EVENT_LINK_DISABLE | PTL_ME_EVENT_UNLINK_DISABLE;
  return entry;
}

}  // namespace leadline::transport::portals4
