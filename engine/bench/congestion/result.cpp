// SPDX-License-Identifier: Apache-2.0
// Names of what is measured, and which impact is the worst.
#include "bench/congestion/result.hpp"

#include <fmt/format.h>

namespace leadline::bench::congestion {

constexpr Named<Test> test_names[] = {
    {Test::latency, "latency", "8 bytes to a partner and back, on a schedule"},
    {Test::bandwidth, "bandwidth", "a stream of messages to a partner"},
    {Test::allreduce, "allreduce", "8 bytes over all victims"},
};
constexpr Named<Shared> shared_names[] = {
    {Shared::all, "all", "whatever they share"},
    {Shared::host, "host", "a host with the load"},
    {Shared::leaf, "switch", "the switch next to a host, but no host"},
    {Shared::further, "nothing", "neither host nor such a switch"},
};

std::span<const Named<Test>> names_of(Test /*any*/) { return test_names; }
const char* name_of(Test test) { return name_in(test_names, test); }
std::span<const Named<Shared>> names_of(Shared /*any*/) { return shared_names; }
const char* name_of(Shared shared) { return name_in(shared_names, shared); }

std::string name_of(const CongestionRequest& request, const Cell& cell) {
  if (cell.load < 0) return "no load";
  return fmt::format("{} {} %", request.loads[static_cast<std::size_t>(cell.load)], cell.intensity_percent);
}

std::optional<Worst> worst_of(const CongestionResult& result) {
  std::optional<Worst> worst;
  for (const Impact& impact : result.impacts) {
    if (impact.shared != Shared::all || impact.cell.load < 0) continue;
    for (const auto& [quantile, factor] : {std::pair("median", impact.median), std::pair("p99", impact.p99)}) {
      if (!(factor.low > 1) || (worst && worst->factor.low >= factor.low)) continue;
      worst = Worst{&impact, quantile, factor};
    }
  }
  return worst;
}

}  // namespace leadline::bench::congestion
