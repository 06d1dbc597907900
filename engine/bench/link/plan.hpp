// SPDX-License-Identifier: Apache-2.0
// The link test's plan: a pure function of the request and the rank layout; `--dry-run` prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/link/request.hpp"
#include "bench/link/result.hpp"
#include "bench/plan.hpp"
#include "schedule/schedule.hpp"

namespace leadline::bench::link {

/// Of the time of --budget that rounds get; the rest is for measuring suspects again and for the file. So many rounds
/// are run in any case: hosts far and near, and inside.
constexpr double budget_share_of_rounds = 0.7;
constexpr std::int64_t budget_rounds_min = 4;

/// A measurement with messages of one size.
struct MessageCounts {
  std::uint64_t num_messages = 1;
  std::uint64_t num_warmup = 0;
  std::uint32_t num_batches = 1;
};

/// Batches keep their number of messages where messages_by_size changes that of a measurement.
MessageCounts message_counts(const LinkRequest& request, std::uint64_t message_size_bytes);

struct Estimate {
  CostAssumption assumption;
  std::int64_t num_rounds = 0;     ///< of those that are planned, as many as fit into --budget
  double measuring_s = 0;          ///< these rounds with all repeats and sizes, without retest and barriers
  std::uint64_t buffer_bytes = 0;  ///< message buffers of one rank
  std::uint64_t table_bytes = 0;   ///< everything that grows with the number of ranks, on one rank
  PairStatistics statistics = PairStatistics::automatic;  ///< those of an HDF5 file
  std::uint64_t file_bytes = 0;                           ///< of it, holes included
};

struct Plan {
  RankLayout rank_layout;
  int num_participants = 1;       ///< ranks that take part in the rounds
  int num_repeats = 1;            ///< --repeat, for each permutation
  std::int64_t num_rounds = 0;    ///< of one slice (of the first, where permuted groups differ in size)
  std::uint32_t num_batches = 1;  ///< timed batches of one measurement, of the size that has most
  Estimate estimate;
};

/// Throws Error(bad_command_line) where the request cannot be met by so many ranks (a round that does not exist ...).
Plan plan(const LinkRequest& request, const RankLayout& rank_layout);

/// What the size of an HDF5 file follows from.
struct FileShape {
  PairStatistics statistics = PairStatistics::full;
  std::uint64_t num_ranks = 1, num_hosts = 1, num_sizes = 1, num_repeats = 1;
  std::uint64_t num_retests = 0, num_permutations = 0, num_all_to_all_slots = 0;
  std::uint64_t num_stored_rounds = 0;  ///< compact form: only so many rounds are stored; 0 = a matrix
};

/// Of `num_rounds` sampled rounds (0 = there are none) so many as a compact file has a table for: all where they have
/// fewer cells than a matrix, else 0.
std::uint64_t num_stored_rounds(PairStatistics statistics, std::int64_t num_rounds, std::uint64_t num_ranks);

/// Of the whole file, holes included. Exact for what grows with the ranks; the rest depends on names and findings.
std::uint64_t file_bytes(const FileShape& shape);

/// Full while such a file stays below 256 MB, whatever `shape` says of it.
PairStatistics usual_statistics(FileShape shape);

/// What --statistics comes to with so many ranks; it is for HDF5 files alone.
PairStatistics statistics_of(const LinkRequest& request, std::uint64_t num_ranks);

/// Randomly sampled rounds of which a compact HDF5 file has only what was measured: where they have fewer cells than a
/// matrix. Of --budget it has room for the most that there can be; those that were not run are holes.
std::optional<schedule::Sample> stored_sample(const LinkRequest& request, const RankLayout& rank_layout);

/// The permutation that a repeat runs under; -1 = ranks as they are.
int permutation_of(const LinkRequest& request, int repeat);

/// What the schedule of one repeat is made from.
schedule::Spec schedule_spec(const LinkRequest& request, const RankLayout& rank_layout, int repeat);

/// In which rounds ranks meet in a repeat: the numbers of the plain schedule with many pairs at once, so that a serial
/// test has those of the rounds that its pairs would share. Not for randomly sampled rounds. Files in the compact form
/// have no numbers but these: whatever changes them needs a new format version.
class MeetingRounds {
 public:
  /// Throws Error(bad_command_line) as schedule::Schedule does.
  MeetingRounds(const LinkRequest& request, const RankLayout& rank_layout, int repeat);

  /// By partner, from 1; 0 = they do not meet.
  std::vector<std::int32_t> of(int rank) const;

 private:
  std::size_t num_ranks_;
  std::optional<schedule::Schedule> chosen_;  ///< where only some of the rounds are run
  std::optional<schedule::Schedule> plain_;
};

/// The rounds that a test without --budget and --rounds would run.
std::int64_t num_full_rounds(const LinkRequest& request, const RankLayout& rank_layout);

/// Serial tests: how many of its rounds, one behind the other, have the pairs that meet at once in a parallel test.
/// 1 where tests are not serial, and where hosts of different sizes meet, so that there is no one number.
std::int64_t pairs_a_step(const LinkRequest& request, const RankLayout& rank_layout, int repeat);

/// The order in which every rank that takes part exchanges messages with all others: all pairs, whatever the rounds do.
schedule::Spec all_to_all_spec(const LinkRequest& request, const RankLayout& rank_layout);

/// The slices of one repeat, one a message size.
std::vector<Slice> slices_of(const LinkRequest& request, int repeat);

/// Throws Error(something_missing) where the buffers of all ranks of a host do not fit into its free memory.
void check_memory(const Plan& plan, std::uint64_t available_bytes);

}  // namespace leadline::bench::link
