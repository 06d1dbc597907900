// SPDX-License-Identifier: Apache-2.0
// Groups that nobody has told, learnt from the times: of hosts in the network, and of ranks inside hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"
#include "network/network.hpp"

namespace leadline::diagnosis {

/// Whether no network is given, hosts are enough for groups, and ranks are few enough to compare all pairs at once.
bool can_learn_network(const Layout& layout);

/// Collective; the same on all holders of rows. One level of groups such that (nearly) all pairs of hosts within a
/// group are faster than (nearly) all pairs of different groups, with a gap between that is no chance; nothing where
/// there are none. Every group has two hosts or more. `setting` knows no network, and can_learn_network().
std::optional<network::Network> learnt_network(const Rows& rows, const Setting& setting);

/// Whether learnt_network() has made it.
bool is_learnt(const network::Network& network);

/// Whether no host has ranks on two sockets that are told, and all hosts have as many ranks: four or more.
bool can_learn_sockets(const Layout& layout);

/// Collective; the same on all holders of rows. By rank, a number of the socket on its host, from 0, where the places
/// of hosts form groups of one size, two or more, such that all pairs within groups are faster than all pairs of
/// different groups: by the median over hosts, with a gap that is no chance. Empty where there are none.
/// can_learn_sockets().
std::vector<std::int32_t> learnt_sockets(const Rows& rows, const Layout& layout);

}  // namespace leadline::diagnosis
