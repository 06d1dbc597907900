// SPDX-License-Identifier: Apache-2.0
// Star, ring, complete graph, grids, trees and lists of edges; whether a number of ranks can form them.
#include "schedule/topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "core/error.hpp"
#include "schedule/matching.hpp"

namespace leadline::schedule {
namespace {

/// A rank's two channels in a ring of so many ranks, which are `stride` apart; the rank is the position-th of them.
void append_ring(std::vector<Channel>& channels, int rank, int stride, int position, int extent) {
  if (extent == 1) return;
  const int next = rank + ((position + 1) % extent - position) * stride;
  const int previous = rank + ((position + extent - 1) % extent - position) * stride;
  const bool is_upper_of_two = extent == 2 && position == 1;
  channels.push_back(is_upper_of_two ? Channel{previous, false} : Channel{next, true});
  channels.push_back(is_upper_of_two ? Channel{next, true} : Channel{previous, false});
}

std::vector<Channel> ring_channels(int rank, int num_ranks) {
  std::vector<Channel> channels;
  append_ring(channels, rank, 1, rank, num_ranks);
  return channels;
}

std::vector<Channel> hypercube_channels(int rank, int num_ranks) {
  std::vector<Channel> channels;
  for (int bit = 1; bit < num_ranks; bit *= 2) channels.push_back({rank ^ bit, (rank & bit) == 0});
  return channels;
}

std::vector<Channel> tree_channels(int rank, int num_ranks) {
  std::vector<Channel> channels;
  if (rank > 0) channels.push_back({(rank - 1) / 2, false});
  const std::int64_t left = 2 * std::int64_t{rank} + 1;
  for (std::int64_t child = left; child < std::min<std::int64_t>(left + 2, num_ranks); ++child) {
    channels.push_back({static_cast<std::int32_t>(child), true});
  }
  return channels;
}

std::vector<Channel> halves_channels(int rank, int num_ranks) {
  const int half = num_ranks / 2;
  if (rank < half) return {{rank + half, true}};
  if (rank < 2 * half) return {{rank - half, false}};
  return {};
}

/// With all of the ranks [begin, end) but itself, ascending; `starts(partner)` says whether this rank does.
template <class Starts>
std::vector<Channel> channels_with(int rank, int begin, int end, const Starts& starts) {
  std::vector<Channel> channels;
  channels.reserve(static_cast<std::size_t>(end - begin));
  for (int partner = begin; partner < end; ++partner) {
    if (partner != rank) channels.push_back({partner, starts(partner)});
  }
  return channels;
}

std::vector<Channel> torus_channels(int rank, const std::vector<std::int32_t>& extents) {
  std::vector<Channel> channels;
  int stride = 1;
  for (const std::int32_t extent : extents) {
    append_ring(channels, rank, stride, rank / stride % extent, extent);
    stride *= extent;
  }
  return channels;
}

std::vector<Channel> listed_channels(int rank, const std::vector<Edge>& edges) {
  std::vector<Channel> channels;
  for (const Edge& edge : edges) {
    if (edge.first == rank) channels.push_back({edge.second, true});
    if (edge.second == rank) channels.push_back({edge.first, false});
  }
  return channels;
}

/// Dimensions in which a rank has neighbours.
std::int32_t num_rings(const std::vector<std::int32_t>& extents) {
  return static_cast<std::int32_t>(std::ranges::count_if(extents, [](std::int32_t extent) { return extent > 1; }));
}

[[noreturn]] void refuse(int num_ranks, const std::vector<std::int32_t>& wanted, const std::string& hint) {
  std::vector<std::string> words;
  for (const std::int32_t extent : wanted) words.push_back(extent == 0 ? "?" : std::to_string(extent));
  const std::string grid = fmt::format("{}", fmt::join(words, " x "));
  throw Error(ExitStatus::bad_command_line, fmt::format("there is no such grid of {} ranks", num_ranks),
              fmt::format("{} is not {}", grid, num_ranks), hint);
}

std::vector<std::int32_t> divisors_of(std::int32_t number) {
  std::vector<std::int32_t> divisors;
  for (std::int32_t i = 1; std::int64_t{i} * i <= number; ++i) {
    if (number % i != 0) continue;
    divisors.push_back(i);
    if (number / i != i) divisors.push_back(number / i);
  }
  std::ranges::sort(divisors);
  return divisors;
}

/// Appends so many extents, none above `limit` and none above the one before it, whose product is `product`: the
/// largest as small as can be, then the next. False, with nothing appended, where there are none.
bool append_even(std::vector<std::int32_t>& extents, std::int32_t product, std::size_t num, std::int32_t limit) {
  if (num == 0) return product == 1;
  for (const std::int32_t extent : divisors_of(product)) {
    if (extent > limit) return false;
    extents.push_back(extent);
    if (append_even(extents, product / extent, num - 1, extent)) return true;
    extents.pop_back();
  }
  return false;
}

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
    fit.refuse(fmt::format("the edge {} {} is in it twice", twice->first, twice->second),
               "The order of its ranks only says which one starts");
  }
}

}  // namespace

Topology::Topology(TopologySpec spec, int num_ranks) : spec_(std::move(spec)), num_ranks_(num_ranks) {
  check_fit(spec_, num_ranks_);
  if (spec_.shape == Shape::torus) spec_.extents = grid_extents(num_ranks_, spec_.extents);
}

std::int64_t Topology::num_channels() const {
  const std::int64_t ranks = num_ranks_;
  switch (spec_.shape) {
    case Shape::star:
    case Shape::tree:
      return ranks - 1;
    case Shape::complete:
      return ranks * (ranks - 1) / 2;
    case Shape::ring:
      return ranks;
    case Shape::torus:
      return ranks * num_rings(spec_.extents);
    case Shape::hypercube:
      return ranks / 2 * num_channels(0);
    case Shape::halves:
      return ranks / 2;
    case Shape::incast:
    case Shape::outcast:
      return (ranks - spec_.num_hot) * spec_.num_hot;
    case Shape::edges:
      return static_cast<std::int64_t>(spec_.edges.size());
  }
  return 0;
}

std::int32_t Topology::num_channels(int rank) const {
  assert(rank >= 0 && rank < num_ranks_);
  switch (spec_.shape) {
    case Shape::star:
      return rank == spec_.centre ? num_ranks_ - 1 : 1;
    case Shape::complete:
      return num_ranks_ - 1;
    case Shape::ring:
      return 2;
    case Shape::torus:
      return 2 * num_rings(spec_.extents);
    case Shape::hypercube:
      return static_cast<std::int32_t>(std::bit_width(static_cast<unsigned>(num_ranks_))) - 1;
    case Shape::incast:
    case Shape::outcast:
      return rank < spec_.num_hot ? num_ranks_ - spec_.num_hot : spec_.num_hot;
    case Shape::edges:
      return static_cast<std::int32_t>(std::ranges::count_if(
          spec_.edges, [rank](const Edge& edge) { return edge.first == rank || edge.second == rank; }));
    case Shape::tree:
    case Shape::halves:
      return static_cast<std::int32_t>(channels(rank).size());
  }
  return 0;
}

std::vector<std::int32_t> Topology::num_channels_by_rank() const {
  std::vector<std::int32_t> nums(static_cast<std::size_t>(num_ranks_));
  if (spec_.shape == Shape::edges) {
    for (const Edge& edge : spec_.edges) {
      ++nums[static_cast<std::size_t>(edge.first)];
      ++nums[static_cast<std::size_t>(edge.second)];
    }
    return nums;
  }
  for (int rank = 0; rank < num_ranks_; ++rank) nums[static_cast<std::size_t>(rank)] = num_channels(rank);
  return nums;
}

std::int32_t Topology::max_channels() const {
  switch (spec_.shape) {
    case Shape::star:
      return num_channels(spec_.centre);
    case Shape::incast:
    case Shape::outcast:
      return std::max(num_channels(0), num_channels(num_ranks_ - 1));
    case Shape::edges:
      return std::ranges::max(num_channels_by_rank());
    case Shape::tree:  // the root has no parent, and its first child has as many children as any other, or more
      return std::max(num_channels(0), num_channels(1));
    case Shape::complete:
    case Shape::ring:
    case Shape::torus:
    case Shape::hypercube:
    case Shape::halves:
      return num_channels(0);
  }
  return 0;
}

std::vector<Channel> Topology::channels(int rank) const {
  assert(rank >= 0 && rank < num_ranks_);
  const bool is_hot = rank < spec_.num_hot;
  switch (spec_.shape) {
    case Shape::star:
      if (rank != spec_.centre) return {{spec_.centre, false}};
      return channels_with(rank, 0, num_ranks_, [](int) { return true; });
    case Shape::complete:
      return channels_with(rank, 0, num_ranks_, [rank](int partner) { return rank < partner; });
    case Shape::ring:
      return ring_channels(rank, num_ranks_);
    case Shape::torus:
      return torus_channels(rank, spec_.extents);
    case Shape::hypercube:
      return hypercube_channels(rank, num_ranks_);
    case Shape::tree:
      return tree_channels(rank, num_ranks_);
    case Shape::halves:
      return halves_channels(rank, num_ranks_);
    case Shape::incast:
    case Shape::outcast: {
      const bool starts = is_hot == (spec_.shape == Shape::outcast);
      return channels_with(rank, is_hot ? spec_.num_hot : 0, is_hot ? num_ranks_ : spec_.num_hot,
                           [starts](int) { return starts; });
    }
    case Shape::edges:
      return listed_channels(rank, spec_.edges);
  }
  return {};
}

/// The chairs of the circle (matching.cpp): two ranks that walk face each other when their chairs add up to the number
/// of rounds, which is odd; rank 0 meets whoever is on chair 0.
std::int64_t meeting_round(int num_ranks, int one, int other) {
  assert(one != other && std::min(one, other) >= 0 && std::max(one, other) < num_ranks);
  const std::int64_t num_rounds = Matching::circle(num_ranks).num_rounds();
  const std::int64_t sum = std::int64_t{one} + other;
  const bool one_stands = one == 0 || other == 0;
  const std::int64_t steps_back =
      one_stands ? sum % num_rounds : sum % num_rounds * ((num_rounds + 1) / 2) % num_rounds;
  return (num_rounds - steps_back) % num_rounds;
}

constexpr Named<ChannelMode> channel_mode_names[] = {
    {ChannelMode::answered, "answered", "there, then back"},
    {ChannelMode::phased, "phased", "all there, then all back"},
    {ChannelMode::both_ways, "both-ways", "at once"},
    {ChannelMode::one_way, "one-way"},
};

std::span<const Named<ChannelMode>> names_of(ChannelMode /*any*/) { return channel_mode_names; }

const char* name_of(ChannelMode mode) { return name_in(channel_mode_names, mode); }

int num_ways(ChannelMode mode) { return mode == ChannelMode::one_way ? 1 : 2; }

constexpr Named<Shape> shape_names[] = {
    {Shape::star, "star"},     {Shape::complete, "complete"},   {Shape::ring, "ring"},
    {Shape::torus, "torus"},   {Shape::hypercube, "hypercube"}, {Shape::tree, "tree"},
    {Shape::halves, "halves"}, {Shape::incast, "incast"},       {Shape::outcast, "outcast"},
    {Shape::edges, "edges"},
};

std::span<const Named<Shape>> names_of(Shape /*any*/) { return shape_names; }

const char* name_of(Shape shape) { return name_in(shape_names, shape); }

std::vector<std::int32_t> grid_extents(int num_ranks, const std::vector<std::int32_t>& wanted) {
  std::int64_t product = 1;
  for (const std::int32_t extent : wanted) {
    product *= std::max(extent, 1);
    if (extent < 0 || product > num_ranks)
      refuse(num_ranks, wanted, "The product of the extents is the number of ranks");
  }
  const auto num_open = static_cast<std::size_t>(std::ranges::count(wanted, 0));
  const bool is_fine = num_ranks % product == 0 && (num_open > 0 || product == num_ranks);
  if (!is_fine) refuse(num_ranks, wanted, "The product of the extents is the number of ranks");

  const auto left = static_cast<std::int32_t>(num_ranks / product);
  std::vector<std::int32_t> chosen;
  [[maybe_unused]] const bool has_some = append_even(chosen, left, num_open, left);
  assert(has_some);
  std::vector<std::int32_t> extents = wanted;
  auto next = chosen.begin();
  for (std::int32_t& extent : extents) {
    if (extent == 0) extent = *next++;
  }
  return extents;
}

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
