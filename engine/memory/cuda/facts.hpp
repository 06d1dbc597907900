// SPDX-License-Identifier: Apache-2.0
// What people want to know about the driver and its devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "memory/cuda/driver.hpp"

namespace leadline::memory::cuda {

/// {"library", "CUDA driver 12.4"}, {"device", "0: NVIDIA H100, 0000:17:00.0, 80 GiB"}, {"peer access", "0: 1 2 3"}.
std::vector<std::pair<std::string, std::string>> facts(const Driver& driver);

}  // namespace leadline::memory::cuda
