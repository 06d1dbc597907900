// SPDX-License-Identifier: Apache-2.0
// Which pairs a request asks for, in words.
#pragma once

#include <string>

#include "model/link_request.hpp"

namespace leadline::output {

/// "all pairs of ranks", "pairs across the two halves of the hosts" ...
std::string pairs_text(const LinkRequest& request);

}  // namespace leadline::output
