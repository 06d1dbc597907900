// SPDX-License-Identifier: Apache-2.0
// A host whose faster messages are as fast as those of others, and whose slower ones are late.
#pragma once

#include <optional>
#include <span>

#include "diagnosis/layout.hpp"
#include "diagnosis/observations.hpp"
#include "model/diagnosis.hpp"

namespace leadline::diagnosis {

/// The only host whose slower messages, those of the upper quartile, are late with most of its partners: beside those
/// of all other hosts by the threshold at least, by more than chance, and by twice of what the next one is. None where
/// hosts or partners are too few. A cable that loses a share of its frames hardly shows in the faster messages, by
/// which joined_by_pair() goes.
std::optional<Fault> host_late_at_times(std::span<const Observation> observations, const Setting& setting,
                                        const DiagnosisSettings& settings);

}  // namespace leadline::diagnosis
