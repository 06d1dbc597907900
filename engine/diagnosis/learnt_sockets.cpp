// SPDX-License-Identifier: Apache-2.0
// Looks for a gap between near and far pairs of places, such that near ones form groups.
#include "diagnosis/learnt_sockets.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "diagnosis/reference.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::size_t fewest_places = 4, most_places = 512;
constexpr std::size_t most_times_inside = 1U << 18;  // 4 MB on their way through the tree
constexpr std::size_t most_sockets = 16;
constexpr double least_gap_inside = 0.03;  // logarithm

/// Times between places of hosts, by the median over hosts; both orders are one.
class Places {
 public:
  Places(const Rows& rows, const Layout& layout) : num_(members_of(layout.host_of).of(0).size()) {
    const Members hosts = members_of(layout.host_of);
    const std::size_t num_hosts = std::clamp<std::size_t>(most_times_inside / (num_ * num_), 1, hosts.num_groups());
    const std::size_t step = (hosts.num_groups() + num_hosts - 1) / num_hosts;
    struct At {
      std::uint32_t cell;
      float value;
    };
    std::vector<std::vector<At>> found(rows.num_workers());
    rows.visit([&](std::size_t worker, const Row& row) {
      const std::uint32_t host = layout.host_of[row.from];
      if (host % step != 0) return;
      const std::size_t from = hosts.slot_of[row.from];
      for (std::size_t index = 0; index < row.values.size(); ++index) {
        const std::uint32_t partner = row.partner(index);
        if (partner == row.from || layout.host_of[partner] != host || std::isnan(row.values[index])) continue;
        const std::size_t to = hosts.slot_of[partner];
        found[worker].push_back({static_cast<std::uint32_t>(cell(from, to)), row.values[index]});
      }
    });
    std::vector<At> own;
    for (const auto& of_worker : found) own.insert(own.end(), of_worker.begin(), of_worker.end());
    std::vector<std::vector<double>> values(num_ * num_);
    for (const At& one : gather_all(rows, own)) values[one.cell].push_back(static_cast<double>(one.value));
    for (auto& of_cell : values) times_.push_back(middle_of(std::move(of_cell)).median);
  }

  std::size_t num() const { return num_; }
  double time(std::size_t one, std::size_t other) const { return times_[cell(one, other)]; }

 private:
  std::size_t cell(std::size_t one, std::size_t other) const {
    return std::min(one, other) * num_ + std::max(one, other);
  }

  std::size_t num_;
  std::vector<double> times_;
};

/// The greatest gap between two times that follow one another in order; everything nearer is below `below`.
struct Gap {
  double below = 0, width = 0, range_below = 0;
};

Gap greatest_gap(const Places& places) {
  std::vector<double> times;
  for (std::size_t one = 0; one < places.num(); ++one) {
    for (std::size_t other = 0; other < one; ++other) times.push_back(places.time(one, other));
  }
  Gap gap;
  if (std::ranges::any_of(times, [](double time) { return std::isnan(time); })) return gap;
  std::ranges::sort(times);
  for (std::size_t index = 1; index < times.size(); ++index) {
    const double width = times[index] - times[index - 1];
    if (width > gap.width) gap = {times[index], width, times[index - 1] - times.front()};
  }
  return gap;
}

}  // namespace

bool can_learn_sockets(const Layout& layout) {
  if (layout.host_of.empty()) return false;
  const Members hosts = members_of(layout.host_of);
  const std::size_t num = hosts.of(0).size();
  if (num < fewest_places || num > most_places) return false;
  for (std::uint32_t host = 0; host < hosts.num_groups(); ++host) {
    const auto ranks = hosts.of(host);
    if (ranks.size() != num) return false;
    if (layout.socket_of.empty()) continue;
    const std::int32_t socket = layout.socket_of[ranks.front()];
    if (std::ranges::any_of(ranks, [&](std::uint32_t rank) { return layout.socket_of[rank] != socket; })) return false;
  }
  return true;
}

std::vector<std::int32_t> learnt_sockets(const Rows& rows, const Layout& layout) {
  const Places places(rows, layout);
  const Gap gap = greatest_gap(places);
  if (gap.width < std::max(least_gap_inside, gap.range_below)) return {};
  const auto is_near = [&](std::size_t one, std::size_t other) { return places.time(one, other) < gap.below; };
  std::vector<std::int32_t> group_of(places.num(), -1);
  std::vector<std::size_t> sizes;
  for (std::size_t one = 0; one < places.num(); ++one) {
    if (group_of[one] >= 0) continue;
    sizes.push_back(0);
    for (std::size_t other = one; other < places.num(); ++other) {
      if (other != one && !is_near(one, other)) continue;
      if (group_of[other] >= 0) return {};
      group_of[other] = static_cast<std::int32_t>(sizes.size() - 1);
      ++sizes.back();
    }
  }
  if (sizes.size() < 2 || sizes.size() > most_sockets || sizes.front() < 2) return {};
  if (std::ranges::any_of(sizes, [&](std::size_t size) { return size != sizes.front(); })) return {};
  for (std::size_t one = 0; one < places.num(); ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (is_near(one, other) != (group_of[one] == group_of[other])) return {};
    }
  }
  const Members hosts = members_of(layout.host_of);
  std::vector<std::int32_t> sockets(layout.host_of.size());
  for (std::size_t rank = 0; rank < sockets.size(); ++rank) sockets[rank] = group_of[hosts.slot_of[rank]];
  return sockets;
}

}  // namespace leadline::diagnosis
