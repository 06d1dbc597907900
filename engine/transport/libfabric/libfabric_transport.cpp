// SPDX-License-Identifier: Apache-2.0
// The transport libfabric: messages through libfabric, by the provider that is asked for or the first that fits.
#include <memory>
#include <string>
#include <vector>

#include "transport/libfabric/libfabric_port.hpp"
#include "transport/libfabric/offers.hpp"
#include "transport/tagged/tagged_transport.hpp"

namespace leadline::transport::libfabric {
namespace {

constexpr Setting settings[] = {
    {"provider", "NAME",
     "as FI_PROVIDER: shm, tcp;ofi_rxm, efa, cxi, opx ... Default: FI_PROVIDER, else the first that fits"},
    {"domain", "NAME", "a device of the provider, by its name in 'fi_info': eth0, cxi0, mlx5_0 ... Default: the first"},
};

ProviderChoice wish_of(const Context& context) {
  return {.provider = context.settings.text("provider"),
          .domain = context.settings.text("domain"),
          .interface = context.interface,
          .spans_hosts = !is_on_one_host(context)};
}

}  // namespace

extern constexpr Module module{
    .settings = settings,
    .load = [] { functions = &opened_for_ever<Functions>(); },
    .facts = all_offers,
    .refuses_wait = [](WaitMode mode) -> std::string {
      return mode == WaitMode::block ? "libfabric has no way to sleep that all its providers know" : "";
    },
    .refuses_memory = [](memory::Location place) -> std::string {
      return place == memory::Location::host ? "" : "memory of a GPU is not registered with libfabric yet";
    },
    .bootstrap = []() { return std::unique_ptr<cluster::Bootstrap>(); },
    .open = [](const Context& context) -> std::unique_ptr<Transport> {
      return std::make_unique<tagged::TaggedTransport<LibfabricPort>>(
          context, std::make_unique<LibfabricPort>(wish_of(context)));
    },
};

}  // namespace leadline::transport::libfabric
