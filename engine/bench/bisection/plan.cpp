// SPDX-License-Identifier: Apache-2.0
// The bisection test's plan: who plays, which patterns.
#include "bench/bisection/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "bench/bisection/estimate.hpp"
#include "core/error.hpp"

namespace leadline::bench::bisection {
namespace {

using schedule::PatternSpec;

constexpr const char* pattern_option = "--pattern";
constexpr const char* random_word = "random";

bool is_one_host(std::span<const std::uint32_t> host_of) {
  return std::adjacent_find(host_of.begin(), host_of.end(), std::not_equal_to<>{}) == host_of.end();
}

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

}  // namespace

std::uint64_t Plan::max_patterns(const BisectionRequest& request) const {
  return (has_random ? request.rounds : 0) + named.size() * static_cast<std::uint64_t>(request.repeat) +
         request.num_worst_steps;
}

Plan plan(const BisectionRequest& request, const RankLayout& rank_layout) {
  Plan plan;
  plan.rank_layout = rank_layout;
  plan.players.num_ranks = rank_layout.num_ranks;
  plan.players.host_of = rank_layout.host_of;
  plan.players.per_host = request.active_ranks_per_host;
  plan.players.within_hosts = request.within_hosts || is_one_host(rank_layout.host_of);
  plan.ranks = schedule::players_of(plan.players);
  choose_patterns(request, plan);
  plan.estimate = estimate_of(request, plan);
  return plan;
}

void check_memory(const Plan& plan, std::uint64_t available_bytes) {
  check_available({plan.rank_layout.max_ranks_per_host, plan.estimate.host_bytes}, available_bytes,
                  "Choose a smaller --message-size, fewer --rounds, or fewer ranks on a host");
}

}  // namespace leadline::bench::bisection
