// SPDX-License-Identifier: Apache-2.0
// Which ranks of a host share a socket, from the times, where nobody has told.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnosis/layout.hpp"
#include "diagnosis/rows.hpp"

namespace leadline::diagnosis {

/// Whether no host has ranks on two sockets that are told, and all hosts have as many ranks: four or more.
bool can_learn_sockets(const Layout& layout);

/// Collective; the same on all holders of rows. By rank, a number of the socket on its host, from 0, where the places
/// of hosts form groups of one size, two or more, such that all pairs within groups are faster than all pairs of
/// different groups: by the median over hosts, with a gap that is no chance. Empty where there are none.
/// can_learn_sockets().
std::vector<std::int32_t> learnt_sockets(const Rows& rows, const Layout& layout);

}  // namespace leadline::diagnosis
