// SPDX-License-Identifier: Apache-2.0
// The transport ucx: messages through UCX, over whatever it finds or UCX_TLS says.
#include <memory>
#include <string>
#include <vector>

#include "transport/tagged/tagged_transport.hpp"
#include "transport/ucx/ucx_port.hpp"

namespace leadline::transport::ucx {
namespace {

constexpr Setting settings[] = {
    {"tls", "LIST", "as UCX_TLS: transports that UCX may use (tcp,self; rc,self,sm ...). Default: UCX_TLS, else all"},
    {"go-on", "yes|no",
     "whether the run goes on when a rank is lost. UCX then uses no shared memory, and other protocols for long "
     "messages: its numbers are not those of applications. Default: no"},
};

}  // namespace

extern constexpr Module module{
    .settings = settings,
    .load = [] { functions = &opened_for_ever<Functions>(); },
    .facts = [] { return UcxPort({}).facts(); },
    .refuses_wait = [](WaitMode mode) -> std::string {
      return mode == WaitMode::block ? "UCX has no way to sleep that all its transports know" : "";
    },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::host ? "" : why_no_gpu_memory();
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      return std::make_unique<tagged::TaggedTransport<UcxPort>>(
          context, std::make_unique<UcxPort>(UcxSettings{.tls = context.settings.text("tls"),
                                                         .interface = context.interface,
                                                         .goes_on = context.settings.is_on("go-on")}));
    },
};

}  // namespace leadline::transport::ucx
