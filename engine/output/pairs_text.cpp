// SPDX-License-Identifier: Apache-2.0
// The words for the selection of pairs.
#include "output/pairs_text.hpp"

namespace leadline::output {

std::string pairs_text(const LinkRequest& request) {
  std::string text = "all pairs of ranks";
  if (request.bisection) text = "pairs across the two halves of the ranks";
  if (request.between_hosts) text = "pairs on different hosts";
  if (request.bisection && request.between_hosts) text = "pairs across the two halves of the hosts";
  if (request.one_per_host) text += ", one rank per host";
  if (request.serial) text += ", one pair at a time";
  return text;
}

}  // namespace leadline::output
