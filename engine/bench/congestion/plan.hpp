// SPDX-License-Identifier: Apache-2.0
// The congestion test's plan: who measures, who loads, and in which order; a pure function of the request and the rank
// layout. `--dry-run` prints it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/congestion/request.hpp"
#include "bench/congestion/result.hpp"
#include "bench/plan.hpp"

namespace leadline::bench::congestion {

/// Victims and those that load, both ascending.
struct Roles {
  std::vector<std::int32_t> victims, load;
  bool victims_are_hosts = false;
};

struct Plan {
  RankLayout rank_layout;
  Roles roles;
  std::vector<LoadPattern> loads;
  std::vector<Cell> cells;  ///< each load with each intensity; no load once
  bool has_pauses = false;  ///< some intensity is below 100 %, so that each load is measured alone, too
  double measuring_s = 0;   ///< all phases, without what is between them

  bool is_victim(int rank) const;
  bool is_of_one_host(std::span<const std::int32_t> ranks) const;
};

/// Throws Error(bad_command_line) below two of each kind.
void expect_enough_ranks(std::size_t num_ranks);

/// Both phases of a cell in a round, without what is between them.
double seconds_of(const CongestionRequest& request, const Cell& cell);

/// `is_absent`: by rank, which do not take part. Throws Error(bad_command_line) where too few are left: two of each
/// kind.
Plan plan(const CongestionRequest& request, const RankLayout& rank_layout, const std::vector<bool>& is_absent);

/// The pairs of victims in a round, between hosts where there are several; each rank once at most. The first of a pair
/// sends first, and both take turns from round to round as the draw has it.
using Pairs = std::vector<std::pair<std::int32_t, std::int32_t>>;
Pairs victim_pairs(const Plan& plan, std::uint64_t seed, std::uint32_t round);

/// One rank's messages with another in a load.
struct LoadChannel {
  std::int32_t partner = -1;
  bool sends = false, receives = false;  ///< messages of the load, at least one of both
};

/// Those of `rank` under this load in this round; none of a rank that rests, or is no rank of the load.
std::vector<LoadChannel> load_channels(const Plan& plan, LoadPattern load, std::uint64_t seed, std::uint32_t round,
                                       std::int32_t rank);

/// The order of cells in a round, and whether a cell begins alone in it: every second round goes backwards, so that
/// what drifts evenly cancels out.
std::vector<std::size_t> order_of_cells(const Plan& plan, std::uint32_t round);
constexpr bool begins_alone(std::uint32_t round) { return round % 2 == 0; }

/// Moments of a phase, nanoseconds since its beginning.
struct Timetable {
  std::uint64_t tests_ns = 0;  ///< the first test begins; the load is there by then
  std::uint64_t test_ns = 0;   ///< so long each; its first tenth does not count

  std::uint64_t begin_of(std::size_t test) const { return tests_ns + test * test_ns; }
  std::uint64_t end_of_load() const { return begin_of(num_tests); }
  std::uint64_t counts_from(std::uint64_t begin_ns) const { return begin_ns + test_ns / 10; }
};
Timetable timetable_of(const CongestionRequest& request);

}  // namespace leadline::bench::congestion
