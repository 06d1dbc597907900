// SPDX-License-Identifier: Apache-2.0
// Draws victims, pairs and targets from the seed.
#include "bench/congestion/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/error.hpp"
#include "core/random.hpp"
#include "options/values.hpp"
#include "schedule/pattern.hpp"

namespace leadline::bench::congestion {
namespace {

// Each kind of draw has streams of its own.
constexpr std::uint64_t victims_stream = std::uint64_t{4} << 61;
constexpr std::uint64_t turns_stream = std::uint64_t{5} << 61;
constexpr std::uint64_t target_stream = std::uint64_t{6} << 61;
// schedule::random_pattern has one stream for each index.
constexpr std::uint64_t most_pairings = std::uint64_t{1} << 32;

constexpr std::size_t fewest_of_a_kind = 2;
constexpr std::size_t fewest_hosts = 4;  // two of victims, two that load
constexpr double ramp_up = 0.2;          // of the time of a test, guessed: TCP has found its rate by then
constexpr double least_ramp_up_s = 0.02;

std::uint32_t host_of(const RankLayout& layout, std::int32_t rank) {
  return layout.host_of.empty() ? 0 : layout.host_of[static_cast<std::size_t>(rank)];
}

/// Ranks that take part, by host; hosts in a random order.
std::vector<std::vector<std::int32_t>> hosts_at_random(const RankLayout& layout, const std::vector<bool>& is_absent,
                                                       std::uint64_t seed) {
  std::map<std::uint32_t, std::vector<std::int32_t>> by_host;
  for (std::int32_t rank = 0; rank < layout.num_ranks; ++rank) {
    if (!is_absent[static_cast<std::size_t>(rank)]) by_host[host_of(layout, rank)].push_back(rank);
  }
  std::vector<std::int32_t> order;
  for (const auto& [host, ranks] : by_host) order.push_back(static_cast<std::int32_t>(host));
  Random random(seed, victims_stream);
  random.shuffle(order);
  std::vector<std::vector<std::int32_t>> hosts;
  for (const std::int32_t host : order) {
    hosts.push_back(std::move(by_host[static_cast<std::uint32_t>(host)]));
    random.shuffle(hosts.back());
  }
  return hosts;
}

/// At least two of each kind, whatever the share says.
std::size_t num_victims(double share, std::size_t num) {
  const auto wanted = static_cast<std::size_t>(std::llround(share * static_cast<double>(num)));
  return std::clamp(wanted, fewest_of_a_kind, num - fewest_of_a_kind);
}

Roles roles_of(const CongestionRequest& request, const RankLayout& layout, const std::vector<bool>& is_absent) {
  const auto hosts = hosts_at_random(layout, is_absent, request.seed);
  std::size_t num_ranks = 0;
  for (const auto& ranks : hosts) num_ranks += ranks.size();
  expect_enough_ranks(num_ranks);
  Roles roles;
  roles.victims_are_hosts = !request.share_hosts && hosts.size() >= fewest_hosts;
  if (roles.victims_are_hosts) {
    const std::size_t num = num_victims(request.victims, hosts.size());
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      auto& kind = host < num ? roles.victims : roles.load;
      kind.insert(kind.end(), hosts[host].begin(), hosts[host].end());
    }
  } else {
    // One of each host in turn, so that victims lie on as many hosts as can be.
    const std::size_t num = num_victims(request.victims, num_ranks);
    for (std::size_t turn = 0; roles.victims.size() + roles.load.size() < num_ranks; ++turn) {
      for (const auto& ranks : hosts) {
        if (turn >= ranks.size()) continue;
        (roles.victims.size() < num ? roles.victims : roles.load).push_back(ranks[turn]);
      }
    }
  }
  std::ranges::sort(roles.victims);
  std::ranges::sort(roles.load);
  return roles;
}

std::vector<Cell> cells_of(const CongestionRequest& request) {
  std::vector<std::int32_t> intensities;
  for (const std::string& word : request.intensities) intensities.push_back(parse_intensity("--intensity", word));
  std::ranges::sort(intensities);
  for (std::size_t i = 1; i < intensities.size(); ++i) {
    if (intensities[i] == intensities[i - 1]) {
      throw Error(ExitStatus::bad_command_line, fmt::format("--intensity has {} % twice", intensities[i]), "",
                  "Give each once; --rounds measures it more often");
    }
  }
  std::vector<Cell> cells;
  if (intensities.front() == 0) {
    cells.push_back({});
    intensities.erase(intensities.begin());
  }
  for (std::size_t load = 0; load < request.loads.size(); ++load) {
    for (const std::int32_t intensity : intensities) cells.push_back({static_cast<std::int32_t>(load), intensity});
  }
  return cells;
}

std::vector<LoadPattern> loads_of(const CongestionRequest& request) {
  std::vector<LoadPattern> loads;
  for (const std::string& word : request.loads) {
    loads.push_back(parse_choice<LoadPattern>("--load", word, names_of(LoadPattern{})));
    if (std::ranges::count(loads, loads.back()) == 1) continue;
    throw Error(ExitStatus::bad_command_line, fmt::format("--load has {} twice", word), "",
                "Give each once; --rounds measures it more often");
  }
  return loads;
}

/// Pairs of these ranks, between hosts unless all are on one. `index`: below 2^61.
schedule::Pattern pairing(const Plan& plan, std::span<const std::int32_t> ranks, std::uint64_t seed,
                          std::uint64_t index) {
  const schedule::Participants participants{plan.rank_layout.num_ranks, plan.rank_layout.host_of, 0,
                                            plan.is_of_one_host(ranks)};
  return schedule::random_pattern(participants, ranks, seed, index);
}

/// Of all tests of a phase, one behind the other.
double seconds_of_tests(const CongestionRequest& request) {
  return 1e-9 * static_cast<double>(timetable_of(request).end_of_load());
}

}  // namespace

void expect_enough_ranks(std::size_t num_ranks) {
  if (num_ranks >= 2 * fewest_of_a_kind) return;
  throw Error(ExitStatus::bad_command_line,
              fmt::format("a congestion test needs at least {} ranks", 2 * fewest_of_a_kind),
              fmt::format("two measure while two load the network, and there are {}", num_ranks),
              "Start more, such as --local 4 here; to learn about a network, on four hosts or more");
}

double seconds_of(const CongestionRequest& request, const Cell& cell) {
  return 2 * seconds_of_tests(request) + (cell.load >= 0 ? request.test_time_s : 0);
}

bool Plan::is_victim(int rank) const { return std::ranges::binary_search(roles.victims, rank); }

bool Plan::is_of_one_host(std::span<const std::int32_t> ranks) const {
  return std::ranges::all_of(
      ranks, [&](std::int32_t rank) { return host_of(rank_layout, rank) == host_of(rank_layout, ranks.front()); });
}

Plan plan(const CongestionRequest& request, const RankLayout& rank_layout, const std::vector<bool>& is_absent) {
  Plan plan{rank_layout, roles_of(request, rank_layout, is_absent), loads_of(request), cells_of(request)};
  if (plan.cells.empty()) {
    throw Error(ExitStatus::bad_command_line, "there is nothing to measure", "--intensity has no number");
  }
  for (const Cell& cell : plan.cells) plan.measuring_s += seconds_of(request, cell);
  plan.has_pauses = std::ranges::any_of(
      plan.cells, [](const Cell& cell) { return cell.intensity_percent > 0 && cell.intensity_percent < 100; });
  if (plan.has_pauses) plan.measuring_s += static_cast<double>(plan.loads.size()) * seconds_of_tests(request);
  plan.measuring_s *= request.rounds;
  return plan;
}

Pairs victim_pairs(const Plan& plan, std::uint64_t seed, std::uint32_t round) {
  const schedule::Pattern pattern = pairing(plan, plan.roles.victims, seed, round);
  Random random(seed, turns_stream + round);
  Pairs pairs;
  for (const std::int32_t rank : plan.roles.victims) {
    const std::int32_t partner = pattern.send_to[static_cast<std::size_t>(rank)];
    if (partner <= rank) continue;  // or schedule::no_rank
    pairs.emplace_back(rank, partner);
    if (random.below(2) == 1) std::swap(pairs.back().first, pairs.back().second);
  }
  return pairs;
}

std::vector<LoadChannel> load_channels(const Plan& plan, LoadPattern load, std::uint64_t seed, std::uint32_t round,
                                       std::int32_t rank) {
  const std::vector<std::int32_t>& ranks = plan.roles.load;
  const auto place = std::ranges::find(ranks, rank) - ranks.begin();
  const auto num = std::ssize(ranks);
  if (place == num) return {};
  std::vector<LoadChannel> channels;
  switch (load) {
    case LoadPattern::incast: {
      const auto target = static_cast<std::ptrdiff_t>(Random(seed, target_stream).below(ranks.size()));
      for (std::ptrdiff_t other = 0; other < num; ++other) {
        if (other == place || (place != target && other != target)) continue;
        channels.push_back({ranks[static_cast<std::size_t>(other)], place != target, place == target});
      }
      break;
    }
    case LoadPattern::complete:
      // Each begins behind itself, so that not all of them begin with the same one.
      for (std::ptrdiff_t step = 1; step < num; ++step) {
        channels.push_back({ranks[static_cast<std::size_t>((place + step) % num)], true, true});
      }
      break;
    case LoadPattern::random: {
      const std::int32_t partner =
          pairing(plan, ranks, seed, most_pairings + round).send_to[static_cast<std::size_t>(rank)];
      if (partner != schedule::no_rank) channels.push_back({partner, true, true});
      break;
    }
    case LoadPattern::bisection: {
      const std::ptrdiff_t half = num / 2;
      if (place < 2 * half) {
        const std::ptrdiff_t other = place < half ? place + half : place - half;
        channels.push_back({ranks[static_cast<std::size_t>(other)], true, true});
      }
      break;
    }
  }
  return channels;
}

std::vector<std::size_t> order_of_cells(const Plan& plan, std::uint32_t round) {
  std::vector<std::size_t> order(plan.cells.size());
  std::iota(order.begin(), order.end(), 0);
  if (round % 2 == 1) std::ranges::reverse(order);
  return order;
}

Timetable timetable_of(const CongestionRequest& request) {
  const double ramp_up_s = std::max(least_ramp_up_s, ramp_up * request.test_time_s);
  return {static_cast<std::uint64_t>(1e9 * ramp_up_s), static_cast<std::uint64_t>(1e9 * request.test_time_s)};
}

}  // namespace leadline::bench::congestion
