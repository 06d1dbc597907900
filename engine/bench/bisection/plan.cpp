// SPDX-License-Identifier: Apache-2.0
// Chooses patterns, and estimates memory and time.
#include "bench/bisection/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_set>
#include <utility>

#include "bench/bisection/output.hpp"
#include "bench/message_memory.hpp"
#include "core/error.hpp"
#include "kernel/neighbour_exchange.hpp"
#include "kernel/neighbours.hpp"
#include "result/hdf5/run_file.hpp"

namespace leadline::bench::bisection {
namespace {

using schedule::PatternSpec;

constexpr const char* pattern_option = "--pattern";
constexpr const char* random_word = "random";

/// The same for two specs that stand for the same pattern.
std::uint64_t identity_of(const PatternSpec& spec) {
  return static_cast<std::uint64_t>(spec.pattern) << 32 | static_cast<std::uint32_t>(spec.argument);
}

[[noreturn]] void refuse_second(const std::string& name) {
  throw Error(ExitStatus::bad_command_line, fmt::format("the pattern {} is asked for twice", name),
              fmt::format("by {}", pattern_option),
              "Give each pattern once; --repeat measures the named ones again, --rounds says how many random ones");
}

void choose_patterns(const BisectionRequest& request, Plan& plan) {
  std::unordered_set<std::uint64_t> known;
  for (const std::string& word : request.patterns) {
    if (word == random_word) {
      if (std::exchange(plan.has_random, true)) refuse_second(word);
      continue;
    }
    for (PatternSpec& spec : schedule::parse_pattern(pattern_option, word, static_cast<int>(plan.ranks.size()))) {
      if (!known.insert(identity_of(spec)).second) refuse_second(spec.name);
      plan.named.push_back(std::move(spec));
    }
  }
  if (!plan.has_random && plan.named.empty()) {
    throw Error(ExitStatus::bad_command_line, "no pattern is asked for", {},
                fmt::format("Give {} random", pattern_option));
  }
  if (!plan.has_random && request.num_worst_steps > 0) {
    throw Error(ExitStatus::bad_command_line, "--worst needs random patterns",
                "it starts from the worst of them, and none is asked for",
                fmt::format("Add {} random", pattern_option));
  }
}

/// A pattern while it is generated, the pattern, the one that a search goes on from, participants, host indices,
/// baseline pairs.
constexpr double bytes_per_rank = 8 + 6 * sizeof(std::int32_t);
/// The root's, at the end: every rank's numbers, and its part of its host's median.
constexpr double bytes_per_rank_at_root = 4 * sizeof(double);
/// Times, rates, relative to the median; the summary.
constexpr double bytes_per_pattern = sizeof(RankTimes) + 4 * sizeof(double) + sizeof(PatternSummary);
constexpr double bytes_per_name = sizeof(schedule::PatternSpec) + sizeof(std::string);
/// Channels, ends and times of a step, and what a transport keeps of it (MPI: two requests and addresses a channel).
constexpr double bytes_per_exchange =
    2 * (sizeof(kernel::NeighbourChannel) + 64) + sizeof(kernel::NeighbourStep) + 3 * sizeof(std::uint64_t);

// Of the file, as docs/formats/hdf5.md lists them.
constexpr double file_bytes_per_rank = 2 * sizeof(std::int32_t) + 2 * sizeof(double);
constexpr double file_bytes_per_pattern = 4 * sizeof(std::int32_t) + 1 + 2 * sizeof(std::uint64_t) + 7 * sizeof(double);
constexpr double file_bytes_per_baseline_pair = 2 * sizeof(std::int32_t) + sizeof(std::uint64_t) + sizeof(double);
constexpr double file_bytes_per_name = 64;

// Beside the tables, with the summary, as HDF5 1.10.8 writes it (measured).
constexpr double file_bytes_beside = 38.5e3, file_bytes_per_size = 4.5e3, file_bytes_in_summary_per_pattern = 730;

constexpr double drawing_s_per_rank = 40e-9;  // guessed: Fisher-Yates beyond the caches

double num_baseline_pairs(const BisectionRequest& request, const Plan& plan) {
  return plan.has_random ? static_cast<double>(request.rounds) * request.num_baseline_pairs : 0;
}

double own_table_bytes(const BisectionRequest& request, const Plan& plan) {
  const auto num_sizes = static_cast<double>(request.message_sizes_bytes.size());
  return bytes_per_rank * plan.rank_layout.num_ranks +
         bytes_per_pattern * static_cast<double>(plan.max_patterns(request)) * num_sizes +
         sizeof(BaselineSample) * num_baseline_pairs(request, plan) * num_sizes +
         bytes_per_name * static_cast<double>(plan.named.size()) +
         bytes_per_exchange * static_cast<double>(request.num_exchanges);
}

double table_bytes_at_root(const Plan& plan) { return bytes_per_rank_at_root * plan.rank_layout.num_ranks; }

double file_bytes(const BisectionRequest& request, const Plan& plan) {
  const auto num_sizes = static_cast<double>(request.message_sizes_bytes.size());
  const auto num_patterns = static_cast<double>(plan.max_patterns(request));
  const double of_a_pattern =
      file_bytes_per_rank * plan.rank_layout.num_ranks + file_bytes_per_pattern + file_bytes_in_summary_per_pattern;
  return file_bytes_beside + result::hdf5::bytes_of_places(plan.rank_layout.num_ranks) +
         num_sizes * (num_patterns * of_a_pattern + file_bytes_per_size +
                      num_baseline_pairs(request, plan) * file_bytes_per_baseline_pair) +
         file_bytes_per_name * static_cast<double>(plan.named.size());
}

/// One loop: all exchanges, and the barriers round them and round the warm-up. A barrier is as many messages one behind
/// the other as the number of ranks has digits in base two.
double loop_s(const BisectionRequest& request, const Plan& plan, std::uint64_t size_bytes) {
  const CostAssumption& assumption = plan.estimate.assumption;
  const double num_exchanges = static_cast<double>(request.num_warmup) + static_cast<double>(request.num_exchanges);
  const auto barrier_steps = std::bit_width(static_cast<unsigned>(plan.rank_layout.num_ranks - 1));
  const double num_barriers = request.num_warmup > 0 ? 4 : 2;
  return num_exchanges * message_s(assumption, size_bytes) + num_barriers * barrier_steps * message_s(assumption, 0);
}

/// Without its baseline: the loop, links, two reductions; twice the exchanges where bytes are verified.
double pattern_s(const BisectionRequest& request, const Plan& plan, std::uint64_t size_bytes) {
  const auto tree_steps = 2 * std::bit_width(static_cast<unsigned>(plan.rank_layout.num_ranks - 1));
  const double loops = loop_s(request, plan, size_bytes) * (request.verify ? 2 : 1);
  return loops + 3 * tree_steps * message_s(plan.estimate.assumption, 0) +
         drawing_s_per_rank * plan.rank_layout.num_ranks;
}

double measuring_s(const BisectionRequest& request, const Plan& plan) {
  double seconds = 0;
  for (const std::uint64_t size : request.message_sizes_bytes) {
    seconds += static_cast<double>(plan.max_patterns(request)) * pattern_s(request, plan, size) +
               num_baseline_pairs(request, plan) * loop_s(request, plan, size);
  }
  return request.time_limit_s > 0 ? std::min(seconds, request.time_limit_s) : seconds;
}

}  // namespace

std::uint64_t Plan::max_patterns(const BisectionRequest& request) const {
  return (has_random ? request.rounds : 0) + named.size() * static_cast<std::uint64_t>(request.repeat) +
         request.num_worst_steps;
}

Plan plan(const BisectionRequest& request, const RankLayout& rank_layout) {
  Plan plan;
  plan.rank_layout = rank_layout;
  plan.participants.num_ranks = rank_layout.num_ranks;
  plan.participants.host_of = rank_layout.host_of;
  plan.participants.per_host = request.active_ranks_per_host;
  plan.participants.within_hosts = request.within_hosts || is_on_one_host(rank_layout);
  plan.ranks = schedule::participants_of(plan.participants);
  choose_patterns(request, plan);
  plan.estimate = estimate_of(request, plan);
  return plan;
}

void check_memory(const Plan& plan, std::uint64_t available_bytes) {
  check_available({plan.rank_layout.max_ranks_per_host, plan.estimate.host_bytes}, available_bytes,
                  "Choose a smaller --message-size, fewer --rounds, or fewer ranks on a host");
}

Estimate estimate_of(const BisectionRequest& request, const Plan& plan) {
  const std::uint64_t largest = largest_message_bytes(request);
  const double buffers = 2.0 * static_cast<double>(stride_of(1, largest));
  const double own = own_table_bytes(request, plan), at_root = table_bytes_at_root(plan);
  Estimate estimate;
  estimate.buffer_bytes = whole_bytes(buffers);
  estimate.table_bytes = whole_bytes(own + at_root);
  estimate.host_bytes = (buffers + own) * plan.rank_layout.max_ranks_per_host + at_root;
  estimate.file_bytes = whole_bytes(file_bytes(request, plan));
  estimate.pattern_s = pattern_s(request, plan, largest);
  if (plan.has_random) estimate.pattern_s += request.num_baseline_pairs * loop_s(request, plan, largest);
  estimate.measuring_s = measuring_s(request, plan);
  return estimate;
}

}  // namespace leadline::bench::bisection
