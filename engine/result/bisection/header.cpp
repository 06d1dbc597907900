// SPDX-License-Identifier: Apache-2.0
// The header of a bisection test that is being made.
#include "result/bisection/header.hpp"

#include "bench/bisection/options.hpp"

namespace leadline::result::bisection {

Header header_of(const BisectionResult& so_far) {
  const BisectionRequest& request = so_far.request;
  Header header;
  describe_run(header, request, bench::bisection::options_of(request), so_far.provenance);
  header.pattern_names = so_far.pattern_names;
  header.num_participants = static_cast<std::int64_t>(so_far.num_participants);
  header.num_exchanges = static_cast<std::int64_t>(request.num_exchanges);
  header.seed = request.seed;
  header.within_hosts = so_far.within_hosts;
  return header;
}

}  // namespace leadline::result::bisection
