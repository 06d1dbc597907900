// SPDX-License-Identifier: Apache-2.0
// RDMA adapters as text: names, states, rates, addresses, and what `leadline transports --verbose` prints of them.
#pragma once

#include <string>
#include <vector>

#include "transport/transport.hpp"
#include "transport/verbs/library.hpp"

namespace leadline::transport::verbs {

/// "libibverbs 1.14.44.0", by the file that the dynamic linker found.
std::string library_name();

/// The kernel's driver of a device: "mlx5_core", "software over eth0"; empty where the system does not say.
std::string driver_of(const std::string& device);

/// "active", "down".
std::string state_text(ibv_port_state state);

/// "InfiniBand", "Ethernet".
std::string link_layer_text(std::uint8_t link_layer);

/// "100 Gbit/s", as the port's lanes and their signalling give it.
std::string rate_text(const ibv_port_attr& attributes);

/// "RoCE v2 10.9.0.1", "InfiniBand fe80::1".
std::string gid_text(const ibv_gid_entry& entry);

/// Those of one port that are set, ascending by index.
std::vector<ibv_gid_entry> gids_of(ibv_context* context, std::uint8_t port);

bool is_ipv4_mapped(const ibv_gid& gid);

/// As Module::facts().
std::vector<Fact> device_facts();

}  // namespace leadline::transport::verbs
