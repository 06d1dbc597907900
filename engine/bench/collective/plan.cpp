// SPDX-License-Identifier: Apache-2.0
// Draws groups of hosts from the seed, and estimates time and memory.
#include "bench/collective/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "bench/message_memory.hpp"
#include "core/error.hpp"
#include "core/random.hpp"
#include "memory/buffer.hpp"
#include "options/values.hpp"

namespace leadline::bench::collective {
namespace {

constexpr std::uint64_t groups_stream = std::uint64_t{6} << 61;  // and one for each round

std::vector<Cell> cells_of(const CollectiveRequest& request) {
  std::vector<Cell> cells;
  for (const std::string& word : request.operations) {
    const auto operation = parse_choice<Operation>("--operation", word, names_of(Operation{}));
    if (std::ranges::count(cells, operation, &Cell::operation) > 0) {
      throw Error(ExitStatus::bad_command_line, fmt::format("--operation has {} twice", word), "",
                  "Give each once; --rounds measures it more often");
    }
    for (std::size_t size = 0; size < request.message_sizes_bytes.size(); ++size) {
      cells.push_back({operation, static_cast<std::int32_t>(size), request.message_sizes_bytes[size]});
    }
  }
  return cells;
}

std::vector<std::vector<std::int32_t>> hosts_of(const RankLayout& layout, const std::vector<bool>& is_absent) {
  std::map<std::uint32_t, std::vector<std::int32_t>> by_host;
  for (std::int32_t rank = 0; rank < layout.num_ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    if (!is_absent[index]) by_host[layout.host_of.empty() ? 0 : layout.host_of[index]].push_back(rank);
  }
  std::vector<std::vector<std::int32_t>> hosts;
  for (auto& [host, ranks] : by_host) hosts.push_back(std::move(ranks));
  return hosts;
}

void divide_hosts(const CollectiveRequest& request, Plan& plan) {
  const std::size_t num_hosts = plan.hosts.size();
  plan.group_hosts = request.group_hosts > 0 ? request.group_hosts : num_hosts;
  if (plan.group_hosts > num_hosts) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("--group-hosts {} is more than there are hosts", plan.group_hosts),
                fmt::format("{} of them take part", num_hosts), "Choose a smaller number, or leave it out");
  }
  plan.num_groups = num_hosts / plan.group_hosts;
  std::vector<std::size_t> ranks;
  for (const auto& host : plan.hosts) ranks.push_back(host.size());
  std::ranges::sort(ranks);
  const auto num = static_cast<std::ptrdiff_t>(plan.group_hosts);
  plan.least_ranks = std::accumulate(ranks.begin(), ranks.begin() + num, std::size_t{0});
  plan.most_ranks = std::accumulate(ranks.end() - num, ranks.end(), std::size_t{0});
  if (plan.least_ranks >= 2) return;
  if (plan.num_groups == 1) {
    throw Error(ExitStatus::bad_command_line, "a collective test needs at least 2 ranks", "there is 1",
                "Start more, such as --local 4 here");
  }
  throw Error(ExitStatus::bad_command_line, "--group-hosts 1 makes groups of 1 rank", "a group needs at least 2",
              "Choose --group-hosts 2 or more, or start more ranks on each host");
}

/// Messages of an operation one behind the other, in a ring or between pairs.
double operation_s(const CostAssumption& assumption, const Cell& cell, std::size_t num_ranks) {
  const double num_steps = static_cast<double>(num_ranks - 1) * (cell.operation == Operation::allreduce ? 2 : 1);
  return num_steps * message_s(assumption, cell.message_size_bytes / num_ranks);
}

}  // namespace

Plan plan(const CollectiveRequest& request, const RankLayout& rank_layout, const std::vector<bool>& is_absent) {
  Plan plan;
  plan.rank_layout = rank_layout;
  plan.hosts = hosts_of(rank_layout, is_absent);
  divide_hosts(request, plan);
  plan.cells = cells_of(request);
  const double num_of_cell =
      static_cast<double>(request.num_batches) * static_cast<double>(request.num_warmup + request.num_iterations) +
      (request.verify ? 1 : 0);
  for (const Cell& cell : plan.cells) {
    plan.measuring_s += num_of_cell * operation_s(plan.assumption, cell, plan.most_ranks);
  }
  plan.measuring_s *= request.rounds * (request.serial ? static_cast<double>(plan.num_groups) : 1);
  // Contents are made and checked in a third one.
  plan.host_bytes = 3.0 * static_cast<double>(buffer_bytes(request, plan)) * rank_layout.max_ranks_per_host;
  return plan;
}

std::vector<Group> groups_of(const Plan& plan, std::uint64_t seed, std::uint32_t round) {
  std::vector<std::int32_t> order(plan.hosts.size());
  std::iota(order.begin(), order.end(), 0);
  if (plan.num_groups > 1 || plan.group_hosts < plan.hosts.size()) Random(seed, groups_stream + round).shuffle(order);
  std::vector<Group> groups(plan.num_groups);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (std::size_t i = 0; i < plan.group_hosts; ++i) {
      const auto& ranks = plan.hosts[static_cast<std::size_t>(order[group * plan.group_hosts + i])];
      groups[group].insert(groups[group].end(), ranks.begin(), ranks.end());
    }
  }
  return groups;
}

void check_memory_of_ring(const CollectiveRequest& request) {
  if (memory::allocator_named(request.allocator).location == memory::Location::host) return;
  throw Error(ExitStatus::bad_command_line,
              fmt::format("collective operations of our own cannot use memory of --allocator {}", request.allocator),
              "they add numbers up in ordinary memory", "Choose --transport nccl with --algorithm library, or mpi");
}

std::uint64_t buffer_bytes(const CollectiveRequest& request, const Plan& plan) {
  return std::max<std::uint64_t>(largest_message_bytes(request), plan.most_ranks * sizeof(float));
}

}  // namespace leadline::bench::collective
