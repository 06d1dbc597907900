// SPDX-License-Identifier: Apache-2.0
// Which hosts and ranks are slow where all exchange messages at once and each message waits for others; and which pairs
// are to be measured alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/layout.hpp"
#include "diagnosis/observations.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// The least threshold: what waits for others scatters more than what is alone.
inline constexpr double least_of_exchange = 0.5;

/// The hosts, ports and ranks whose messages are slow as sender and as receiver, with most of
/// their partners, beside what the order explains in which ranks send and receive: all have their partners in
/// ascending order, so times grow with ranks' numbers without any fault. Nothing else is named: only pairs alone tell
/// of links. `messages`: sorted by pair.
Diagnosis diagnosed_exchange(std::span<const Observation> messages, const Setting& setting,
                             const DiagnosisSettings& settings);

/// What of a slow host is slow: the host, where messages among its own ranks are, too, by half of its effect (a
/// logarithm) at least; else its port.
ComponentKind host_or_port(std::span<const Observation> messages, const Setting& setting, std::uint32_t host,
                           double effect);

/// Two hosts, the lower number first.
using HostPair = std::pair<std::uint32_t, std::uint32_t>;

/// How many pairs of hosts have a message that is later than all between these two, beside what their ends explain;
/// `known` ones do not count.
std::size_t num_later_pairs(std::span<const Observation> messages, const Setting& setting,
                            const DiagnosisSettings& settings, HostPair hosts, const std::set<HostPair>& known);

/// Pairs of ranks, either order being the same pair.
struct PairsToMeasure {
  std::vector<OrderedPair> suspected;  ///< what is slow, and what it is set beside
  std::vector<OrderedPair> by_chance;  ///< these tell what sound pairs take
};

/// At most `most` of each. First come the hosts and ranks that are late in either direction, each with the partners
/// that it is least late with, then pairs that are later than their ends explain.
PairsToMeasure pairs_to_measure(std::vector<Observation> messages, const Layout& layout,
                                const DiagnosisSettings& settings, std::size_t most);

}  // namespace leadline::diagnosis
