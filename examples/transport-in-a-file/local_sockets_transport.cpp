// SPDX-License-Identifier: Apache-2.0
// The transport local_sockets: messages over UNIX domain sockets, within one host.
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "local_sockets_port.hpp"
#include "transport/tagged/tagged_transport.hpp"
#include "transport/transport.hpp"

namespace leadline::transport::local_sockets {
extern constexpr Module module{
    .settings = {},
    .facts =
        [] {
          return std::vector<Fact>{{"library", LocalSocketsPort().info().library}};
        },
    .refuses_wait = [](WaitMode mode) -> std::string {
      return mode == WaitMode::block ? "these sockets are looked at, not waited for" : "";
    },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::host ? "" : "sockets take nothing but ordinary memory";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      if (!is_on_one_host(context)) {
        throw Error(ExitStatus::something_missing, "UNIX domain sockets reach no other host",
                    "the ranks are on several hosts");
      }
      if (!context.interface.empty()) {
        throw Error(ExitStatus::bad_command_line, "--interface cannot be had with --transport local_sockets",
                    "its messages take no network");
      }
      return std::make_unique<tagged::TaggedTransport<LocalSocketsPort>>(context, std::make_unique<LocalSocketsPort>());
    },
};
}  // namespace leadline::transport::local_sockets
