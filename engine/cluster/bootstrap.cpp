// SPDX-License-Identifier: Apache-2.0
// The part of a bootstrap that not every one has.
#include "cluster/bootstrap.hpp"

#include <stdexcept>

namespace leadline::cluster {

std::string Bootstrap::all_gather(const std::string&) {
  throw std::logic_error("a bootstrap without a membership has to gather");
}

}  // namespace leadline::cluster
