// SPDX-License-Identifier: Apache-2.0
// The link test's plan: repeats, rounds, and what they will cost in time and memory.
#include "bench/link/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "model/pair_cell.hpp"
#include "result/hdf5/run_file.hpp"

namespace leadline::bench::link {
namespace {

constexpr std::uint64_t bytes_per_record = bytes_of_fields<PairRecord>;
constexpr std::uint64_t bytes_per_host_index = sizeof(std::uint32_t);
constexpr std::uint64_t bytes_per_seat = 2 * sizeof(std::int32_t);  // a permutation and its inverse
constexpr std::uint64_t bytes_per_median = sizeof(double);          // sorted copy while a slice is summarised
constexpr std::uint64_t bytes_per_step = sizeof(std::int32_t);      // of an all-to-all
constexpr std::uint64_t bytes_per_round = sizeof(std::int32_t);     // in which a pair meets

// Bytes of a file beside its tables, with its summary, as HDF5 1.10.8 writes it (measured).
constexpr double beside_tables = 46e3, of_a_full_repeat = 3.8e3, of_a_compact_repeat = 1.7e3;
constexpr double of_a_slice = 3.5e3, of_a_slow_pair = 466, of_a_host = 60;

constexpr std::uint64_t most_bytes_of_full = 256'000'000;

int num_repeats(const LinkRequest& request) { return request.repeat * std::max(1, request.shuffle_ranks); }

double all_to_all_s(const LinkRequest& request, const Plan& plan) {
  double exchanges = 0;  // of one slice, with the untimed ones
  if (request.all_to_all == AllToAll::around) exchanges = 2.0 * (1 + plan.num_batches);
  if (request.all_to_all == AllToAll::before_each_round) exchanges = 2.0 * static_cast<double>(plan.num_rounds);
  double seconds = 0;
  for (const std::uint64_t size : request.message_sizes_bytes) {
    const std::uint64_t own_size = request.all_to_all_size_bytes > 0 ? request.all_to_all_size_bytes : size;
    seconds += exchanges * (plan.num_participants - 1) * message_s({}, own_size);
  }
  return seconds * plan.num_repeats;
}

/// The lowest rank of every host; hosts are numbered in order of first appearance.
std::vector<std::int32_t> one_per_host(const RankLayout& rank_layout) {
  std::vector<std::int32_t> participants;
  for (std::size_t rank = 0; rank < rank_layout.host_of.size(); ++rank) {
    if (rank_layout.host_of[rank] == participants.size()) participants.push_back(static_cast<std::int32_t>(rank));
  }
  return participants;
}

/// Of one round with all message sizes.
double round_time_s(const LinkRequest& request, std::uint64_t num_ranks, const CostAssumption& assumption) {
  const bool both_at_once = request.direction == Direction::bidirectional || request.shift || num_ranks == 1;
  const double halves = both_at_once ? 1 : 2;
  const double ways = request.direction == Direction::semidirectional && num_ranks > 1 ? 2 : 1;
  double seconds = 0;
  for (const std::uint64_t size : request.message_sizes_bytes) {
    const MessageCounts counts = message_counts(request, size);
    const double messages = static_cast<double>(counts.num_messages + counts.num_warmup) +
                            (request.verify ? static_cast<double>(counts.num_messages) : 0);
    seconds += message_s(assumption, size) * messages * halves * ways;
  }
  return seconds;
}

FileShape shape_of_file(const LinkRequest& request, const Plan& plan, PairStatistics statistics) {
  FileShape shape;
  shape.statistics = statistics;
  shape.num_ranks = static_cast<std::uint64_t>(plan.rank_layout.num_ranks);
  shape.num_hosts = shape.num_ranks / static_cast<std::uint64_t>(plan.rank_layout.max_ranks_per_host);
  shape.num_sizes = request.message_sizes_bytes.size();
  shape.num_repeats = static_cast<std::uint64_t>(plan.num_repeats);
  shape.num_retests = static_cast<std::uint64_t>(request.retest);
  shape.num_permutations = static_cast<std::uint64_t>(request.shuffle_ranks);
  if (request.all_to_all == AllToAll::before_each_round) {
    shape.num_all_to_all_slots = std::min(static_cast<std::uint64_t>(plan.num_rounds), 2 * shape.num_ranks);
  }
  shape.num_stored_rounds = num_stored_rounds(statistics, is_sample(request) ? plan.num_rounds : 0, shape.num_ranks);
  return shape;
}

Estimate estimate_of(const LinkRequest& request, const Plan& plan) {
  Estimate estimate;
  const auto ranks = static_cast<std::uint64_t>(plan.rank_layout.num_ranks);
  const double round_s = round_time_s(request, ranks, estimate.assumption) * plan.num_repeats;
  estimate.num_rounds = plan.num_rounds;
  if (request.budget_s > 0) {
    const double fitting = std::ceil(budget_share_of_rounds * request.budget_s / round_s);
    const std::int64_t least = std::min(budget_rounds_min, plan.num_rounds);
    if (fitting < static_cast<double>(plan.num_rounds))
      estimate.num_rounds = std::max(static_cast<std::int64_t>(fitting), least);
  }
  estimate.measuring_s = round_s * static_cast<double>(estimate.num_rounds);
  estimate.measuring_s += all_to_all_s(request, plan);
  estimate.statistics = statistics_of(request, ranks);
  estimate.file_bytes = file_bytes(shape_of_file(request, plan, estimate.statistics));

  const std::uint64_t largest =
      *std::max_element(request.message_sizes_bytes.begin(), request.message_sizes_bytes.end());
  estimate.buffer_bytes = 2 * std::uint64_t{request.num_buffers} * std::max<std::uint64_t>(largest, 1);
  const bool has_seats = request.shuffle_ranks > 0 || request.between_hosts || request.one_per_host;
  const std::uint64_t seats = has_seats ? bytes_per_seat : 0;
  const std::uint64_t order = request.shuffle_rounds ? sizeof(std::int64_t) : 0;
  const std::uint64_t steps = request.all_to_all != AllToAll::none ? bytes_per_step : 0;
  const std::uint64_t rows = is_sample(request) ? request.message_sizes_bytes.size() : 1;
  estimate.table_bytes =
      ranks * (rows * bytes_per_record + bytes_per_host_index + bytes_per_median + seats + order + steps);
  return estimate;
}

}  // namespace

MessageCounts message_counts(const LinkRequest& request, std::uint64_t message_size_bytes) {
  const auto at_most = [](std::uint64_t num, std::uint64_t most) {
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(num, 1, most));
  };
  MessageCounts counts{request.num_messages, request.num_warmup, at_most(request.num_batches, request.num_messages)};
  const std::uint64_t of_a_batch = counts.num_messages / counts.num_batches;
  for (const MessagesFrom& from : request.messages_by_size) {
    if (message_size_bytes < from.size_bytes) break;
    const std::uint64_t most = std::min<std::uint64_t>(from.num_messages, max_batches);
    counts = {from.num_messages, from.num_warmup, at_most(from.num_messages / of_a_batch, most)};
  }
  return counts;
}

std::uint64_t num_stored_rounds(PairStatistics statistics, std::int64_t num_rounds, std::uint64_t num_ranks) {
  const auto num = static_cast<std::uint64_t>(num_rounds);
  return statistics == PairStatistics::compact && num < num_ranks ? num : 0;
}

std::uint64_t file_bytes(const FileShape& shape) {
  const bool is_compact = shape.statistics == PairStatistics::compact;
  const auto num_ranks = static_cast<double>(shape.num_ranks), num_sizes = static_cast<double>(shape.num_sizes);
  const double of_a_pair = is_compact ? num_sizes * sizeof(PairCell) : num_sizes * bytes_per_record + bytes_per_round;
  const bool has_rounds = shape.num_stored_rounds > 0;
  const double of_a_row = (has_rounds ? static_cast<double>(shape.num_stored_rounds) : num_ranks) * of_a_pair +
                          num_sizes * sizeof(double) * static_cast<double>(shape.num_all_to_all_slots);
  const double num_slow = std::min(static_cast<double>(shape.num_retests), num_ranks * (num_ranks - 1));
  const double of_a_repeat = num_ranks * of_a_row + (is_compact ? of_a_compact_repeat : of_a_full_repeat) +
                             num_sizes * (of_a_slice + num_slow * of_a_slow_pair);
  const double of_a_rank = sizeof(std::int32_t) * static_cast<double>(shape.num_permutations);
  return whole_bytes(beside_tables + result::hdf5::bytes_of_places(num_ranks) + num_ranks * of_a_rank +
                     static_cast<double>(shape.num_hosts) * of_a_host +
                     static_cast<double>(shape.num_repeats) * of_a_repeat);
}

PairStatistics statistics_of(const LinkRequest& request, std::uint64_t num_ranks) {
  if (request.statistics != PairStatistics::automatic || request.format != ResultFormat::hdf5)
    return request.statistics;
  FileShape shape;
  shape.num_ranks = num_ranks;
  shape.num_sizes = request.message_sizes_bytes.size();
  shape.num_repeats = static_cast<std::uint64_t>(num_repeats(request));
  return usual_statistics(shape);
}

PairStatistics usual_statistics(FileShape shape) {
  shape.statistics = PairStatistics::full;
  return file_bytes(shape) < most_bytes_of_full ? PairStatistics::full : PairStatistics::compact;
}

int permutation_of(const LinkRequest& request, int repeat) {
  return request.shuffle_ranks == 0 ? -1 : repeat % request.shuffle_ranks;
}

std::int64_t num_full_rounds(const LinkRequest& request, const RankLayout& rank_layout) {
  LinkRequest full = request;
  full.budget_s = 0;
  full.rounds = 0;
  return schedule::Schedule(schedule_spec(full, rank_layout, 0)).num_rounds();
}

namespace {

/// Twice those of a full test, since nearly all have met by then, and not more than --budget has time for with
/// messages faster than those between hosts of any network.
std::int64_t most_rounds(const LinkRequest& request, const RankLayout& rank_layout) {
  constexpr CostAssumption fastest{1'000, 50e9};
  const double round_s = round_time_s(request, static_cast<std::uint64_t>(rank_layout.num_ranks), fastest);
  const double fitting = std::ceil(budget_share_of_rounds * request.budget_s / round_s);
  const std::int64_t num_rounds = 2 * num_full_rounds(request, rank_layout);
  if (fitting >= static_cast<double>(num_rounds)) return num_rounds;
  return std::min(num_rounds, std::max(static_cast<std::int64_t>(fitting), budget_rounds_min));
}

schedule::Spec sample_spec(const LinkRequest& request, const RankLayout& rank_layout) {
  schedule::Spec spec;
  spec.num_ranks = rank_layout.num_ranks;
  spec.host_of = rank_layout.host_of;
  spec.sample.emplace();
  spec.sample->num_rounds = request.rounds > 0 ? request.rounds : most_rounds(request, rank_layout);
  spec.sample->seed = request.seed;
  if (rank_layout.network != nullptr) {
    for (const network::Level& level : rank_layout.network->levels)
      spec.sample->groups_of_hosts.push_back(level.group_of);
  }
  return spec;
}

}  // namespace

schedule::Spec schedule_spec(const LinkRequest& request, const RankLayout& rank_layout, int repeat) {
  if (is_sample(request)) return sample_spec(request, rank_layout);
  schedule::Spec spec = all_to_all_spec(request, rank_layout);
  if (request.between_hosts) spec.group_of = rank_layout.host_of;
  spec.bisection = request.bisection;
  spec.serial = request.serial;
  spec.shift = request.shift;
  spec.rounds = request.only_rounds;
  spec.shuffle_rounds = request.shuffle_rounds;
  spec.permutation = permutation_of(request, repeat);
  spec.rounds_seed = request.shuffle_rounds_seed;
  spec.ranks_seed = request.shuffle_ranks_seed;
  return spec;
}

std::optional<schedule::Sample> stored_sample(const LinkRequest& request, const RankLayout& rank_layout) {
  if (!is_sample(request)) return std::nullopt;
  auto sample = sample_spec(request, rank_layout).sample;
  const auto num_ranks = static_cast<std::uint64_t>(rank_layout.num_ranks);
  if (num_stored_rounds(request.statistics, sample->num_rounds, num_ranks) == 0) sample.reset();
  return sample;
}

std::int64_t pairs_a_step(const LinkRequest& request, const RankLayout& rank_layout, int repeat) {
  if (!request.serial) return 1;
  schedule::Spec spec = schedule_spec(request, rank_layout, repeat);
  spec.rounds.clear();
  spec.shuffle_rounds = false;
  const std::int64_t num_pairs = schedule::Schedule(spec).num_rounds();
  spec.serial = false;
  const std::int64_t num_steps = schedule::Schedule(std::move(spec)).num_rounds();
  return num_pairs % num_steps == 0 ? num_pairs / num_steps : 1;
}

MeetingRounds::MeetingRounds(const LinkRequest& request, const RankLayout& rank_layout, int repeat)
    : num_ranks_(static_cast<std::size_t>(rank_layout.num_ranks)) {
  schedule::Spec spec = schedule_spec(request, rank_layout, repeat);
  if (!spec.rounds.empty()) chosen_.emplace(spec);
  spec.serial = spec.shuffle_rounds = false;
  spec.rounds.clear();
  plain_.emplace(std::move(spec));
}

std::vector<std::int32_t> MeetingRounds::of(int rank) const {
  std::vector<std::int32_t> rounds(num_ranks_);
  const auto for_each_meeting = [&](const schedule::Schedule& schedule, const auto& note) {
    for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
      const auto pairing = schedule.pairing(rank, round);
      if (pairing) note(rounds[static_cast<std::size_t>(pairing->partner)], static_cast<std::int32_t>(round + 1));
    }
  };
  if (chosen_) for_each_meeting(*chosen_, [](std::int32_t& partner, std::int32_t) { partner = 1; });
  for_each_meeting(*plain_, [&](std::int32_t& partner, std::int32_t number) {
    if (!chosen_ || partner != 0) partner = number;
  });
  return rounds;
}

schedule::Spec all_to_all_spec(const LinkRequest& request, const RankLayout& rank_layout) {
  schedule::Spec spec;
  spec.num_ranks = rank_layout.num_ranks;
  if (request.one_per_host) spec.participants = one_per_host(rank_layout);
  return spec;
}

std::vector<Slice> slices_of(const LinkRequest& request, int repeat) {
  std::vector<Slice> slices;
  for (std::size_t i = 0; i < request.message_sizes_bytes.size(); ++i) {
    slices.push_back({repeat, permutation_of(request, repeat), static_cast<int>(i), request.message_sizes_bytes[i]});
  }
  return slices;
}

Plan plan(const LinkRequest& request, const RankLayout& rank_layout) {
  Plan plan;
  plan.rank_layout = rank_layout;
  plan.num_participants =
      request.one_per_host ? static_cast<int>(one_per_host(rank_layout).size()) : rank_layout.num_ranks;
  plan.num_repeats = num_repeats(request);
  schedule::Spec spec = schedule_spec(request, rank_layout, 0);
  // Shuffles cost memory and do not change the number of rounds, unless they bring other groups together.
  if (!request.between_hosts) spec.permutation = -1;
  spec.shuffle_rounds = false;
  plan.num_rounds = schedule::Schedule(std::move(spec)).num_rounds();
  for (const std::uint64_t size : request.message_sizes_bytes) {
    plan.num_batches = std::max(plan.num_batches, message_counts(request, size).num_batches);
  }
  plan.estimate = estimate_of(request, plan);
  return plan;
}

void check_memory(const Plan& plan, std::uint64_t available_bytes) {
  const auto per_rank =
      static_cast<double>(plan.estimate.buffer_bytes) + static_cast<double>(plan.estimate.table_bytes);
  const int num_ranks = plan.rank_layout.max_ranks_per_host;
  check_available({num_ranks, per_rank * num_ranks}, available_bytes,
                  "Choose a smaller --message-size, or fewer ranks on a host");
}

}  // namespace leadline::bench::link
