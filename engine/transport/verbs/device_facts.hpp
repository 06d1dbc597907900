// SPDX-License-Identifier: Apache-2.0
// What `leadline transports --verbose` tells about RDMA adapters.
#pragma once

#include <vector>

#include "transport/transport.hpp"

namespace leadline::transport::verbs {

/// As Module::facts().
std::vector<Fact> device_facts();

}  // namespace leadline::transport::verbs
