// SPDX-License-Identifier: Apache-2.0
// What a topology asks of the number of ranks, and what is said where it is not met.
#include "schedule/topology_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/error.hpp"

namespace leadline::schedule {
namespace {

struct Fit {
  const TopologySpec& spec;
  int num_ranks;

  [[noreturn]] void refuse(const std::string& why, const std::string& hint = {}) const {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("{} rank{} cannot form the topology {}", num_ranks, num_ranks == 1 ? "" : "s", spec.name),
                why, hint);
  }
};

void check_centre(const Fit& fit) {
  if (fit.spec.centre >= 0 && fit.spec.centre < fit.num_ranks) return;
  fit.refuse(fmt::format("there is no rank {} to be its centre", fit.spec.centre),
             fmt::format("Ranks are numbered 0 to {}", fit.num_ranks - 1));
}

void check_extents(const Fit& fit) {
  try {
    grid_extents(fit.num_ranks, fit.spec.extents);
  } catch (const Error& error) {
    fit.refuse(error.why(), error.hint());
  }
}

void check_power_of_two(const Fit& fit) {
  const auto ranks = static_cast<unsigned>(fit.num_ranks);
  if (std::has_single_bit(ranks)) return;
  fit.refuse("their number must be a power of two",
             fmt::format("Start {} ranks, or {}", std::bit_floor(ranks), 2 * std::uint64_t{std::bit_floor(ranks)}));
}

void check_hot(const Fit& fit) {
  if (fit.spec.num_hot >= 1 && fit.spec.num_hot < fit.num_ranks) return;
  fit.refuse(fmt::format("{} of them would be hot", fit.spec.num_hot),
             fmt::format("Choose 1 to {} hot ranks", fit.num_ranks - 1));
}

Edge ascending(const Edge& edge) { return {std::min(edge.first, edge.second), std::max(edge.first, edge.second)}; }

void check_edges(const Fit& fit) {
  std::vector<Edge> edges;
  for (const Edge& edge : fit.spec.edges) edges.push_back(ascending(edge));
  std::ranges::sort(edges, {}, [](const Edge& edge) { return std::pair(edge.first, edge.second); });
  for (const Edge& edge : edges) {
    if (edge.first == edge.second) fit.refuse(fmt::format("an edge joins rank {} with itself", edge.first));
    if (edge.first < 0 || edge.second >= fit.num_ranks) {
      fit.refuse(fmt::format("the edge {} {} leads to a rank that does not exist", edge.first, edge.second),
                 fmt::format("Ranks are numbered 0 to {}", fit.num_ranks - 1));
    }
  }
  if (const auto twice = std::ranges::adjacent_find(edges); twice != edges.end()) {
    fit.refuse(fmt::format("the edge {} {} stands in it twice", twice->first, twice->second),
               "The order of its ranks only says which one starts");
  }
}

}  // namespace

void check_fit(const TopologySpec& spec, int num_ranks) {
  const Fit fit{spec, num_ranks};
  const bool has_no_edge = spec.shape == Shape::edges && spec.edges.empty();
  if (has_no_edge) fit.refuse("it has no edge");
  if (num_ranks < 2) fit.refuse("a channel needs two", "Start at least 2 ranks");
  switch (spec.shape) {
    case Shape::star:
      return check_centre(fit);
    case Shape::torus:
      return check_extents(fit);
    case Shape::hypercube:
      return check_power_of_two(fit);
    case Shape::incast:
    case Shape::outcast:
      return check_hot(fit);
    case Shape::edges:
      return check_edges(fit);
    case Shape::complete:
    case Shape::ring:
    case Shape::tree:
    case Shape::halves:
      return;
  }
}

}  // namespace leadline::schedule
