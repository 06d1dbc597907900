// SPDX-License-Identifier: Apache-2.0
// Which of several adapters on one network is nearest to a rank: that of its own NUMA node.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cluster/address.hpp"

namespace leadline::cluster {

/// Where a test keeps what the kernel tells.
struct KernelFolders {
  std::string sys = "/sys";
  std::string proc = "/proc";
};

/// An address of this host on a network of the run.
struct NetworkPlace {
  LocalAddress local;
  int numa_node = -1;  ///< of the adapter; -1 = it has none, or it is not known
};

/// "10.55.0.0/24": what all addresses of the network of this one have in common.
std::string network_text(const LocalAddress& address);

/// The device through which messages from one address to another leave; empty = not known.
using AskForRoute = std::function<std::string(const SocketAddress& from, const SocketAddress& to)>;

/// Local: as the kernel's tables of routes say, over netlink.
std::string device_of_route(const SocketAddress& from, const SocketAddress& to);

/// Local: `own` first, then the other devices of `all` with an address on its network. Only those are given that carry
/// what is sent from and to their address: Linux sends by the destination alone, and answers for each address on each
/// device, unless it is told otherwise (rules by source; arp_ignore). So mostly it is `own` alone; none where that is
/// not in `all`.
std::vector<NetworkPlace> places_on_network(const std::string& own, const std::vector<LocalAddress>& all,
                                            const AskForRoute& ask = &device_of_route,
                                            const KernelFolders& kernel = {});

/// The first of those on this NUMA node; the first of all where there is none, or the node is not known (-1).
const NetworkPlace& nearest_place(const std::vector<NetworkPlace>& places, int numa_node);

}  // namespace leadline::cluster
