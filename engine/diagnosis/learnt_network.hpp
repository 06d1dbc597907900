// SPDX-License-Identifier: Apache-2.0
// Groups of hosts that follow from the times, where the physical network is not known.
#pragma once

#include <optional>

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

}  // namespace leadline::diagnosis
