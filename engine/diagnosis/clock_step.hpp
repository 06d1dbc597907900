// SPDX-License-Identifier: Apache-2.0
// The step of the clock that times were measured with, where it is so coarse that few different times occur.
#pragma once

#include <span>

#include "diagnosis/log_histogram.hpp"

namespace leadline::diagnosis {

/// In ns, of times by class: nearly all are few multiples of it, three or more of them in one class; or two, and others
/// that occur seldom. Twice that where medians of an even number of times lie between multiples. 0 = none.
double clock_step(std::span<const LogHistogram> times_of_classes);

}  // namespace leadline::diagnosis
