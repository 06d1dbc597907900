// SPDX-License-Identifier: Apache-2.0
// Which options of `leadline bisection` contradict each other, or would do nothing, in a combination.
#include "cli/bisection_validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "bench/bisection/stopping.hpp"
#include "model/bisection_result.hpp"
#include "options/values.hpp"

namespace leadline::cli {
namespace {

void check_without_random(const IsGiven& is_given) {
  for (const char* option : {"--seed", "--within-hosts", "--worst", "--rounds", "--precision", "--baseline-pairs",
                             "--retest", "--threshold", "--buckets"}) {
    if (is_given(option)) throw_no_effect(option, "it is about random patterns, and --pattern names none");
  }
}

void check_patterns(const IsGiven& is_given, const BisectionRequest& request) {
  const auto num_random = std::count(request.patterns.begin(), request.patterns.end(), name_of(PatternKind::random));
  if (num_random == 0) check_without_random(is_given);
  if (is_given("--repeat") && num_random == static_cast<std::ptrdiff_t>(request.patterns.size())) {
    throw_no_effect("--repeat",
                    "it is about named patterns, and --pattern has none; --rounds says how many are random");
  }
  if (request.active_ranks_per_host == 1 && request.within_hosts) {
    throw_no_effect("--within-hosts", "with --active-ranks-per-host 1 every pair is between hosts");
  }
}

void check_end(const IsGiven& is_given, const BisectionRequest& request) {
  constexpr std::uint64_t least = bench::bisection::Stopping::min_patterns;
  if (is_given("--precision") && request.precision > 0 && request.rounds <= least) {
    throw_no_effect("--precision",
                    fmt::format("it is checked from {} patterns on, and --rounds ends at {}", least, request.rounds));
  }
}

}  // namespace

void validate_options(const IsGiven& is_given, const BisectionRequest& request) {
  check_patterns(is_given, request);
  check_end(is_given, request);
  if (request.verify) check_verifiable("--verify", request);
  validate_run_options(is_given, request);
  refuse_sion(request, "a bisection test");
}

}  // namespace leadline::cli
