// SPDX-License-Identifier: Apache-2.0
// Which hosts and ranks are slow where all exchange messages at once and each message waits for others.
#pragma once

#include <span>

#include "diagnosis/layout.hpp"
#include "diagnosis/observations.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// The least threshold: what waits for others scatters more than what is alone.
inline constexpr double least_of_exchange = 0.5;

/// The hosts, ports and ranks whose messages are slow as sender and as receiver, with most of
/// their partners, beside what the order explains in which ranks send and receive: all have their partners in
/// ascending order, so times grow with ranks' numbers without any fault. Nothing else is named, since nothing was
/// measured alone. `messages`: sorted by pair.
Diagnosis diagnosed_exchange(std::span<const Observation> messages, const Setting& setting,
                             const DiagnosisSettings& settings);

}  // namespace leadline::diagnosis
