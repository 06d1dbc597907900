// SPDX-License-Identifier: Apache-2.0
// The names of kinds of patterns and of reasons to stop.
#include "bench/bisection/result.hpp"

namespace leadline::bench::bisection {

constexpr Named<PatternKind> pattern_kind_names[] = {
    {PatternKind::random, "random"},
    {PatternKind::named, "named"},
    {PatternKind::worst, "worst"},
};

std::span<const Named<PatternKind>> names_of(PatternKind /*any*/) { return pattern_kind_names; }

const char* name_of(PatternKind kind) { return name_in(pattern_kind_names, kind); }

/// As options are named in documents.
constexpr Named<StopReason> stop_reason_names[] = {
    {StopReason::not_stopped, "not_stopped"},
    {StopReason::precision, "precision"},
    {StopReason::rounds, "rounds"},
    {StopReason::time_limit, "time_limit"},
};

std::span<const Named<StopReason>> names_of(StopReason /*any*/) { return stop_reason_names; }

const char* name_of(StopReason reason) { return name_in(stop_reason_names, reason); }

}  // namespace leadline::bench::bisection
