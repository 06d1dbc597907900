// SPDX-License-Identifier: Apache-2.0
// What a reduction does with the numbers that have come.
#pragma once

#include <span>

namespace leadline::kernel {

/// Adds as many numbers, which lie apart from `to`.
void add_to(std::span<float> to, const float* addend);

}  // namespace leadline::kernel
