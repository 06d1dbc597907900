// SPDX-License-Identifier: Apache-2.0
// What --dry-run prints.
#include "output/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/units.hpp"
#include "output/run_text.hpp"
#include "output/table.hpp"
#include "schedule/schedule.hpp"

namespace leadline::output {
namespace {

constexpr int max_ranks_in_full = 16;
constexpr std::int64_t max_rounds_in_full = 64;
constexpr std::int64_t rounds_at_each_end = 4;

std::string rounds_in_full(const schedule::Schedule& schedule) {
  std::string text = "Rounds (the first of a pair sends first):\n";
  for (std::int64_t round = 0; round < schedule.num_rounds(); ++round) {
    text += fmt::format("  round {:>3} (number {:>3} of the plain order):", round + 1, schedule.number_of(round));
    for (const schedule::Pair& pair : schedule.pairs(round)) text += fmt::format(" {}-{}", pair.first, pair.second);
    text += '\n';
  }
  return text;
}

std::string shown_round(const schedule::Schedule& schedule, int rank, std::int64_t round) {
  const auto pairing = schedule.pairing(rank, round);
  if (!pairing) return fmt::format("  round {:>8}: rests\n", round + 1);
  return fmt::format("  round {:>8}: partner {:>8}, {}\n", round + 1, pairing->partner,
                     pairing->leads_first ? "sends first" : "answers first");
}

/// The first ones: each costs as much as there are hosts, and which is the last may depend on the time they take.
std::string first_rounds_of_one_rank(const schedule::Schedule& schedule, int rank) {
  std::string text = fmt::format("First rounds of rank {}:\n", rank);
  const std::int64_t num_shown = std::min(schedule.num_rounds(), 2 * rounds_at_each_end);
  for (std::int64_t round = 0; round < num_shown; ++round) text += shown_round(schedule, rank, round);
  return text;
}

std::string rounds_of_one_rank(const schedule::Schedule& schedule, int rank) {
  std::string text = fmt::format("Rounds of rank {}:\n", rank);
  std::int64_t pairings = 0, first_sends = 0;
  const std::int64_t num_rounds = schedule.num_rounds();
  for (std::int64_t round = 0; round < num_rounds; ++round) {
    const auto pairing = schedule.pairing(rank, round);
    if (pairing) {
      ++pairings;
      first_sends += pairing->leads_first ? 1 : 0;
    }
    const bool is_shown = round < rounds_at_each_end || round >= num_rounds - rounds_at_each_end;
    if (round == rounds_at_each_end && num_rounds > 2 * rounds_at_each_end) text += "  ...\n";
    if (!is_shown) continue;
    text += shown_round(schedule, rank, round);
  }
  return text +
         fmt::format("  {} rounds walked: {} partners, sends first {} times\n", num_rounds, pairings, first_sends);
}

}  // namespace

std::string pairs_text(const LinkRequest& request) {
  std::string text = is_sample(request) ? "pairs of ranks" : "all pairs of ranks";
  if (request.bisection) text = "pairs across the two halves of the ranks";
  if (request.between_hosts) text = "pairs on different hosts";
  if (request.bisection && request.between_hosts) text = "pairs across the two halves of the hosts";
  if (request.one_per_host) text += ", one rank per host";
  if (request.serial) text += ", one pair at a time";
  if (request.rounds > 0) return text + fmt::format(", in {} randomly sampled rounds", request.rounds);
  return is_sample(request) ? text + ", in randomly sampled rounds" : text;
}

std::string plan_text(const LinkRequest& request, const bench::link::Plan& plan) {
  const int num_ranks = plan.rank_layout.num_ranks;
  const schedule::Schedule schedule(bench::link::schedule_spec(request, plan.rank_layout, 0));
  const bool in_full = num_ranks <= max_ranks_in_full && schedule.num_rounds() <= max_rounds_in_full;

  std::string text = fmt::format("Link test of {} rank{}: {} round{} x {} message size{} x {} repeat{}\n", num_ranks,
                                 num_ranks == 1 ? "" : "s", plan.num_rounds, plan.num_rounds == 1 ? "" : "s",
                                 request.message_sizes_bytes.size(), request.message_sizes_bytes.size() == 1 ? "" : "s",
                                 plan.num_repeats, plan.num_repeats == 1 ? "" : "s");
  text += fmt::format("Each measurement: {} messages after {} for warm-up, in {} timed batches, {}\n",
                      request.num_messages, request.num_warmup, plan.num_batches, name_of(request.direction));
  text += fmt::format("Measured are {}\n", pairs_text(request));
  if (request.all_to_all != AllToAll::none) {
    text += fmt::format("All-to-all exchanges: {}\n", name_of(request.all_to_all));
  }
  const bench::link::Estimate& estimate = plan.estimate;
  if (request.budget_s > 0) {
    text += fmt::format("Random rounds until {} of {} are over: about {}, at most {}\n",
                        format_duration(bench::link::budget_share_of_rounds * request.budget_s),
                        format_duration(request.budget_s), estimate.num_rounds, plan.num_rounds);
  }
  if (in_full) {
    text += rounds_in_full(schedule);
  } else {
    text += is_sample(request) ? first_rounds_of_one_rank(schedule, 0) : rounds_of_one_rank(schedule, 0);
  }

  text += estimate_head(estimate.assumption);
  text +=
      fmt::format("  time      {} of messages, without retest and barriers\n", format_duration(estimate.measuring_s));
  text += fmt::format("  memory    {} a rank for message buffers, {} a rank for tables\n",
                      about_bytes(estimate.buffer_bytes), about_bytes(estimate.table_bytes));
  text += fmt::format("  file      {}, {} statistics of each pair\n", about_bytes(estimate.file_bytes),
                      name_of(estimate.statistics));
  return text;
}

}  // namespace leadline::output
