// SPDX-License-Identifier: Apache-2.0
// Builds the machine that the tests have in common.
#include "small_machine.hpp"

namespace leadline::synthetic {

Machine small_machine(std::uint32_t num_hosts, std::uint32_t ranks_per_host, std::uint32_t hosts_a_leaf) {
  Machine machine;
  network::Level leaf{"leaf switch", {}, {}}, pod{"pod", {}, {}};
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    machine.network.hosts.push_back("node" + std::to_string(host));
    leaf.group_of.push_back(host / hosts_a_leaf);
    pod.group_of.push_back(host / hosts_a_leaf / 2);
    while (leaf.names.size() <= leaf.group_of.back()) leaf.names.push_back("leaf" + std::to_string(leaf.names.size()));
    while (pod.names.size() <= pod.group_of.back()) pod.names.push_back("pod" + std::to_string(pod.names.size()));
  }
  machine.network.levels = {leaf, pod};
  machine.num_ranks = num_hosts * ranks_per_host;
  machine.ranks_per_host = ranks_per_host;
  machine.sockets_per_host = ranks_per_host % 2 == 0 ? 2 : 1;
  return machine;
}

}  // namespace leadline::synthetic
