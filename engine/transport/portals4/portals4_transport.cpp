// SPDX-License-Identifier: Apache-2.0
// The transport portals4: messages through an implementation of Portals 4.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "cluster/address.hpp"
#include "core/units.hpp"
#include "transport/portals4/portals4_port.hpp"
#include "transport/tagged/tagged_transport.hpp"

namespace leadline::transport::portals4 {
namespace {

static_assert(tagged::Port<Portals4Port>);

constexpr std::uint64_t highest_interface = 0xffff'fffe;
constexpr std::uint64_t highest_eager_limit = 1 << 20;

constexpr Setting settings[] = {
    {"interface", "N", "the number of a network interface. Default: PTL_IFACE_DEFAULT, the library's choice"},
    {"eager-limit", "BYTES", "longest message that is sent at once; longer ones are fetched. Default: 8192"},
};

Choice choice_of(const Context& context) {
  Choice choice;
  if (const auto number = context.settings.number("interface", 0, highest_interface)) {
    choice.interface = static_cast<ptl_interface_t>(*number);
  }
  if (const auto limit = context.settings.number("eager-limit", 0, highest_eager_limit)) {
    choice.eager_limit_bytes = *limit;
  }
  if (!context.interface.empty()) choice.device = cluster::local_address(context.interface).device;
  return choice;
}

std::vector<Fact> facts() {
  const Interface interface(std::nullopt, {});
  const ptl_ni_limits_t& limits = interface.limits();
  const ptl_process_t id = interface.id();
  return {
      {"device", fmt::format("default interface, nid {:#x}, pid {}", id.phys.nid, id.phys.pid)},
      {"limit", fmt::format("messages of at most {}", format_bytes(limits.max_msg_size))},
      {"limit", fmt::format("{} unexpected headers", limits.max_unexpected_headers)},
      {"limit", fmt::format("{} list entries, {} in one list", limits.max_entries, limits.max_list_size)},
      {"limit", fmt::format("{} memory descriptors", limits.max_mds)},
  };
}

}  // namespace

extern constexpr Module module{
    .settings = settings,
    .load = [] { functions = &opened_for_ever<Functions>(); },
    .facts = facts,
    .refuses_wait = [](WaitMode mode) -> std::string {
      return mode == WaitMode::block ? "its events are polled from two queues, and nothing here sleeps in PtlEQPoll"
                                     : "";
    },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::host ? "" : "Portals 4 has no words for memory of a GPU";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      return std::make_unique<tagged::TaggedTransport<Portals4Port>>(
          context, std::make_unique<Portals4Port>(choice_of(context)));
    },
};

}  // namespace leadline::transport::portals4
