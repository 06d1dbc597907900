// SPDX-License-Identifier: Apache-2.0
// A small machine for tests: two levels of switches, several ranks and sockets a host.
#pragma once

#include "synthetic/machine.hpp"

namespace leadline::synthetic {

/// `num_hosts` hosts in order: `hosts_a_leaf` below each leaf switch, two leaf switches a pod.
Machine small_machine(std::uint32_t num_hosts = 8, std::uint32_t ranks_per_host = 4, std::uint32_t hosts_a_leaf = 2);

}  // namespace leadline::synthetic
