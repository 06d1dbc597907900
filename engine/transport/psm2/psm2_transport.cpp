// SPDX-License-Identifier: Apache-2.0
// The transport psm2: messages through PSM2, over Omni-Path and within hosts.
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "transport/psm2/psm2_port.hpp"
#include "transport/tagged/tagged_transport.hpp"

namespace leadline::transport::psm2 {
extern constexpr Module module{
    .settings = {},
    .load = [] { functions = &opened_for_ever<Functions>(); },
    .facts = [] { return Psm2Port().facts(); },
    .refuses_wait = [](WaitMode mode) -> std::string {
      return mode == WaitMode::block ? "PSM2 has no way to sleep until a message comes" : "";
    },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::host ? "" : "memory of a GPU is nothing that this PSM2 is asked for";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      if (!context.interface.empty()) {
        throw Error(ExitStatus::bad_command_line, "--interface cannot be had with --transport psm2",
                    "PSM2 goes over Omni-Path adapters, not over networks of the kernel",
                    "Leave it out; the variable HFI_UNIT chooses an adapter");
      }
      return std::make_unique<tagged::TaggedTransport<Psm2Port>>(context, std::make_unique<Psm2Port>());
    },
};

}  // namespace leadline::transport::psm2
