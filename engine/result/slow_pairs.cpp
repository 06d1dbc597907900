// SPDX-License-Identifier: Apache-2.0
// The verdicts on slow pairs.
#include "result/slow_pairs.hpp"

#include <limits>

namespace leadline::result {

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::not_retested:
      return "not_retested";
    case Verdict::not_slow:
      return "not_slow";
    case Verdict::slow_alone_too:
      return "slow_alone_too";
    case Verdict::only_under_load:
      return "only_under_load";
  }
  return "unknown";
}

namespace {

Verdict verdict_on(const SlowPair& pair, double usual_ns) {
  if (!(pair.retest_time_ns > 0)) return Verdict::not_retested;
  const double slow_ns = slow_factor * usual_ns;
  if (!(pair.time_ns >= slow_ns)) return Verdict::not_slow;
  const bool is_faster_alone = pair.retest_time_ns < slow_ns && pair.time_ns >= load_factor * pair.retest_time_ns;
  return is_faster_alone ? Verdict::only_under_load : Verdict::slow_alone_too;
}

/// The median of the pairs that this one compares with.
double usual_ns(const SliceSummary& summary, const SlowPairDetails& details) {
  const PairSummary& own_class = details.from_host == details.to_host ? summary.same_host : summary.between_hosts;
  return own_class.num_pairs > 0 ? own_class.time_ns_median : summary.all.time_ns_median;
}

}  // namespace

std::vector<SlowPairDetails> slow_pairs_of(const LinkResult& result, std::size_t slice_index) {
  std::size_t host_index = 0;
  for (std::size_t before = 0; before < slice_index; ++before) host_index += 2 * result.slices[before].slowest.size();

  const SliceSummary& summary = result.slices[slice_index];
  std::vector<SlowPairDetails> all;
  for (const SlowPair& pair : summary.slowest) {
    SlowPairDetails details;
    details.pair = pair;
    if (host_index + 1 < result.slow_pair_hosts.size()) {
      details.from_host = result.slow_pair_hosts[host_index];
      details.to_host = result.slow_pair_hosts[host_index + 1];
    }
    host_index += 2;
    const bool is_retested = pair.retest_time_ns > 0;
    details.ratio = is_retested ? pair.time_ns / pair.retest_time_ns : std::numeric_limits<double>::quiet_NaN();
    details.verdict = verdict_on(pair, usual_ns(summary, details));
    all.push_back(details);
  }
  return all;
}

}  // namespace leadline::result
