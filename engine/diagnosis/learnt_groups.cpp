// SPDX-License-Identifier: Apache-2.0
// Finds groups of hosts, and of ranks inside hosts, whose pairs are alike.
#include "diagnosis/learnt_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/reference.hpp"

namespace leadline::diagnosis {
namespace {

constexpr const char* source_of_learnt = "learnt from the times";
constexpr std::uint32_t fewest_hosts = 4, most_hosts = 1024;
constexpr std::size_t most_values = 1U << 23;  // 32 MB on their way through the tree
constexpr double noise_of_host = 0.01;         // logarithm: of what a host shows
constexpr double least_gap = 0.14;             // logarithm: what is 15 % farther is worth a group
constexpr double gap_in_spreads = 4;
constexpr std::size_t most_gaps = 16;    // that are tried: a fault can make a wider one than the network does
constexpr double share_that_fits = 0.9;  // of the pairs within groups, and of those between

/// Values between hosts: the median over each two hosts' pairs; NaN = none.
std::vector<float> host_matrix(const Rows& rows, const Setting& setting) {
  const std::uint32_t num_hosts = setting.hosts.num_groups();
  struct HostPairEffect {
    std::uint32_t cell;
    float value;
  };
  std::vector<std::vector<HostPairEffect>> found(rows.num_workers());
  rows.visit([&](std::size_t worker, const Row& row) {
    const std::uint32_t from = setting.layout.host_of[row.from];
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      const std::uint32_t to = setting.layout.host_of[row.partner(index)];
      const float value = row.values[index];
      if (to != from && !std::isnan(value)) found[worker].push_back({from * num_hosts + to, value});
    }
  });
  std::vector<HostPairEffect> own;
  for (const auto& of_worker : found) own.insert(own.end(), of_worker.begin(), of_worker.end());
  own = gather_all(rows, own);
  std::ranges::sort(own, [](const HostPairEffect& a, const HostPairEffect& b) {
    return a.cell != b.cell ? a.cell < b.cell : a.value < b.value;
  });
  std::vector<float> matrix(std::size_t{num_hosts} * num_hosts, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t begin = 0; begin < own.size();) {
    std::size_t end = begin;
    while (end < own.size() && own[end].cell == own[begin].cell) ++end;
    matrix[own[begin].cell] = own[begin + (end - begin) / 2].value;
    begin = end;
  }
  return matrix;
}

/// Values between hosts.
class HostMatrix {
 public:
  HostMatrix(std::vector<float> values, std::uint32_t num_hosts) : values_(std::move(values)), num_hosts_(num_hosts) {}

  float at(std::uint32_t from, std::uint32_t to) const { return values_[std::size_t{from} * num_hosts_ + to]; }

  /// What the better quarter of a host's pairs takes at most.
  double better_quarter_of(std::uint32_t host) const {
    std::vector<double> values;
    for (std::uint32_t other = 0; other < num_hosts_; ++other) {
      if (other == host) continue;
      values.push_back(static_cast<double>(at(host, other)));
      values.push_back(static_cast<double>(at(other, host)));
    }
    return consensus(values, better_quarter);
  }

  /// The median of pairs of a host with others, both ways; NaN without any.
  double median_between(std::uint32_t host, std::span<const std::uint32_t> others) const {
    std::vector<double> values;
    for (const std::uint32_t other : others) {
      values.push_back(static_cast<double>(at(host, other)));
      values.push_back(static_cast<double>(at(other, host)));
    }
    const Middle middle = middle_of(std::move(values));
    return middle.num > 0 ? middle.median : std::numeric_limits<double>::quiet_NaN();
  }

  /// Of some hosts with each other.
  std::vector<float> among(std::span<const std::uint32_t> hosts) const {
    std::vector<float> values;
    for (const std::uint32_t from : hosts) {
      for (const std::uint32_t to : hosts) values.push_back(at(from, to));
    }
    return values;
  }

 private:
  std::vector<float> values_;
  std::uint32_t num_hosts_;
};

/// The middles of the widest gaps between sorted values that leave enough of them on both sides, the widest first.
std::vector<double> widest_gaps(std::vector<float> values, std::size_t fewest_a_side) {
  std::erase_if(values, [](float value) { return std::isnan(value); });
  std::ranges::sort(values);
  std::vector<std::pair<double, double>> gaps;  // width, middle
  for (std::size_t index = fewest_a_side; index + fewest_a_side <= values.size(); ++index) {
    const auto below = static_cast<double>(values[index - 1]), above = static_cast<double>(values[index]);
    gaps.emplace_back(above - below, (above + below) / 2);
  }
  const auto num = static_cast<std::ptrdiff_t>(std::min(gaps.size(), most_gaps));
  std::partial_sort(gaps.begin(), gaps.begin() + num, gaps.end(), std::greater<>());
  std::vector<double> middles;
  for (auto gap = gaps.begin(); gap != gaps.begin() + num; ++gap) middles.push_back(gap->second);
  return middles;
}

/// Hosts that near pairs connect, numbered by their first host.
std::vector<std::uint32_t> connected(const std::vector<float>& matrix, std::uint32_t num_hosts, double limit) {
  constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> group_of(num_hosts, nowhere);
  std::uint32_t num_groups = 0;
  for (std::uint32_t first = 0; first < num_hosts; ++first) {
    if (group_of[first] != nowhere) continue;
    std::vector<std::uint32_t> reached{first};
    group_of[first] = num_groups;
    while (!reached.empty()) {
      const std::uint32_t host = reached.back();
      reached.pop_back();
      for (std::uint32_t other = 0; other < num_hosts; ++other) {
        const auto both_near = [&](std::uint32_t a, std::uint32_t b) {
          return static_cast<double>(matrix[std::size_t{a} * num_hosts + b]) < limit;
        };
        if (group_of[other] != nowhere || !both_near(host, other) || !both_near(other, host)) continue;
        group_of[other] = num_groups;
        reached.push_back(other);
      }
    }
    ++num_groups;
  }
  return group_of;
}

/// Whether pairs within groups are near, and others far.
bool fits(const std::vector<float>& matrix, const std::vector<std::uint32_t>& group_of, double limit) {
  std::size_t num_within = 0, num_near = 0, num_between = 0, num_far = 0;
  const std::size_t num_hosts = group_of.size();
  for (std::size_t cell = 0; cell < matrix.size(); ++cell) {
    if (std::isnan(matrix[cell])) continue;
    const bool is_within = group_of[cell / num_hosts] == group_of[cell % num_hosts];
    const bool is_near = static_cast<double>(matrix[cell]) < limit;
    ++(is_within ? num_within : num_between);
    if (is_within && is_near) ++num_near;
    if (!is_within && !is_near) ++num_far;
  }
  const auto most = [](std::size_t part, std::size_t all) {
    return static_cast<double>(part) >= share_that_fits * static_cast<double>(all);
  };
  return num_within > 0 && num_between > 0 && most(num_near, num_within) && most(num_far, num_between);
}

std::string group_name(const Setting& setting, const std::vector<std::uint32_t>& hosts) {
  const auto& names = setting.layout.host_names;
  const std::string first = hosts.front() < names.size() ? names[hosts.front()] : fmt::format("host {}", hosts.front());
  return hosts.size() == 1 ? first : fmt::format("{}+{}", first, hosts.size() - 1);
}

/// The groups that pairs below the limit make; none where those are not far enough from the others, or make no groups.
std::vector<std::uint32_t> groups_at(const std::vector<float>& matrix, std::uint32_t num_hosts, double limit) {
  std::vector<double> near, far;
  for (const float value : matrix) {
    if (!std::isnan(value)) (static_cast<double>(value) < limit ? near : far).push_back(static_cast<double>(value));
  }
  const Middle of_near = middle_of(std::move(near)), of_far = middle_of(std::move(far));
  const double distance = of_far.median - of_near.median;
  if (distance < std::max(least_gap, gap_in_spreads * std::max(of_near.spread, of_far.spread))) return {};
  std::vector<std::uint32_t> group_of = connected(matrix, num_hosts, limit);
  std::vector<std::uint32_t> num_of(*std::ranges::max_element(group_of) + 1);
  for (const std::uint32_t group : group_of) ++num_of[group];
  const bool has_single_host = std::ranges::any_of(num_of, [](std::uint32_t num) { return num < 2; });
  if (num_of.size() < 2 || has_single_host || !fits(matrix, group_of, limit)) return {};
  return group_of;
}

using Groups = std::vector<std::vector<std::uint32_t>>;

/// Groups of members by near pairs, whose values these are; none where there are none.
Groups groups_in(const std::vector<float>& values, const std::vector<std::uint32_t>& members) {
  // Groups of two each have a pair a group within them, both ways.
  for (const double limit : widest_gaps(values, members.size() / 2)) {
    const auto group_of = groups_at(values, static_cast<std::uint32_t>(members.size()), limit);
    if (group_of.empty()) continue;
    Groups groups(*std::ranges::max_element(group_of) + 1);
    for (std::size_t index = 0; index < members.size(); ++index) groups[group_of[index]].push_back(members[index]);
    return groups;
  }
  return {};
}

/// Groups of sound hosts by near pairs; one of all where there are none.
Groups groups_of_sound(const HostMatrix& matrix, const std::vector<std::uint32_t>& sound) {
  Groups groups = groups_in(matrix.among(sound), sound);
  return groups.empty() ? Groups{sound} : groups;
}

/// Takes those out of the slow hosts that are faster with each other than with sound ones, in groups of two or more:
/// two slow hosts together are no faster than either, so these are slow because of what lies between.
std::vector<std::vector<std::uint32_t>> groups_of_slow(const HostMatrix& matrix,
                                                       const std::vector<std::uint32_t>& sound,
                                                       std::vector<std::uint32_t>& slow) {
  std::vector<double> with_sound;
  for (const std::uint32_t host : slow) with_sound.push_back(matrix.median_between(host, sound));
  const auto are_near = [&](std::size_t one, std::size_t other) {
    const auto between =
        static_cast<double>(std::fmax(matrix.at(slow[one], slow[other]), matrix.at(slow[other], slow[one])));
    return between < std::min(with_sound[one], with_sound[other]) - least_gap;
  };
  std::vector<std::vector<std::uint32_t>> groups;
  std::vector<std::uint8_t> is_taken(slow.size(), 0);
  for (std::size_t first = 0; first < slow.size(); ++first) {
    if (is_taken[first] != 0) continue;
    std::vector<std::size_t> members{first};
    is_taken[first] = 1;
    for (std::size_t next = 0; next < members.size(); ++next) {
      for (std::size_t other = first + 1; other < slow.size(); ++other) {
        if (is_taken[other] != 0 || !are_near(members[next], other)) continue;
        is_taken[other] = 1;
        members.push_back(other);
      }
    }
    if (members.size() < 2) {
      is_taken[first] = 0;
      continue;
    }
    groups.emplace_back();
    for (const std::size_t member : members) groups.back().push_back(slow[member]);
    std::ranges::sort(groups.back());
  }
  std::size_t index = 0;
  std::erase_if(slow, [&](std::uint32_t) { return is_taken[index++] != 0; });
  return groups;
}

/// Every slow host goes to the group that it is nearest to, of those that `may_be_in` allows. Sorted.
template <typename MayBeIn>
void add_slow(const HostMatrix& matrix, const std::vector<std::uint32_t>& slow, Groups& groups,
              const MayBeIn& may_be_in) {
  const Groups of_sound = groups;
  for (const std::uint32_t host : slow) {
    const auto distance = [&](const std::vector<std::uint32_t>& group) {
      return may_be_in(host, group) ? matrix.median_between(host, group) : std::numeric_limits<double>::infinity();
    };
    groups[static_cast<std::size_t>(std::ranges::min_element(of_sound, {}, distance) - of_sound.begin())].push_back(
        host);
  }
  for (auto& group : groups) std::ranges::sort(group);
  std::ranges::sort(groups);
}

std::vector<std::uint32_t> group_of_hosts(const Groups& groups, std::uint32_t num_hosts) {
  std::vector<std::uint32_t> group_of(num_hosts);
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    for (const std::uint32_t host : groups[group]) group_of[host] = group;
  }
  return group_of;
}

/// Groups of sound hosts within these ones; none where all pairs within are alike.
Groups groups_within(const HostMatrix& matrix, const Groups& groups, const std::vector<std::uint32_t>& sound,
                     std::uint32_t num_hosts) {
  const std::vector<std::uint32_t> group_of = group_of_hosts(groups, num_hosts);
  std::vector<float> values = matrix.among(sound);
  for (std::size_t one = 0; one < sound.size(); ++one) {
    for (std::size_t other = 0; other < sound.size(); ++other) {
      if (group_of[sound[one]] != group_of[sound[other]])
        values[one * sound.size() + other] = std::numeric_limits<float>::quiet_NaN();
    }
  }
  return groups_in(values, sound);
}

/// Groups of these groups, each as its hosts; none where all are alike.
Groups groups_around(const HostMatrix& matrix, const Groups& groups) {
  std::vector<float> values;
  std::vector<std::uint32_t> numbers;
  for (const auto& from : groups) {
    numbers.push_back(static_cast<std::uint32_t>(numbers.size()));
    for (const auto& to : groups) {
      std::vector<double> between;
      for (const std::uint32_t host : from) {
        if (&from != &to) between.push_back(matrix.median_between(host, to));
      }
      const Middle middle = middle_of(std::move(between));
      values.push_back(middle.num > 0 ? static_cast<float>(middle.median) : std::numeric_limits<float>::quiet_NaN());
    }
  }
  Groups around;
  for (const auto& members : groups_in(values, numbers)) {
    around.emplace_back();
    for (const std::uint32_t group : members)
      around.back().insert(around.back().end(), groups[group].begin(), groups[group].end());
    std::ranges::sort(around.back());
  }
  std::ranges::sort(around);
  return around;
}

/// Levels innermost first.
network::Network network_of(const Setting& setting, const std::vector<Groups>& levels) {
  network::Network network;
  network.source = source_of_learnt;
  network.hosts = setting.layout.host_names;
  for (const Groups& groups : levels) {
    const char* const kind = network.levels.empty() ? "group" : "larger group";
    network.levels.push_back({kind, {}, group_of_hosts(groups, setting.hosts.num_groups())});
    for (const auto& hosts : groups) network.levels.back().names.push_back(group_name(setting, hosts));
  }
  return network;
}

}  // namespace

bool can_learn_network(const Layout& layout) {
  if (!layout.network.levels.empty() || !layout.network.hops.empty()) return false;  // it is given
  const std::size_t num = num_ranks(layout);
  const std::size_t num_hosts = num == 0 ? 0 : *std::ranges::max_element(layout.host_of) + std::size_t{1};
  return num_hosts >= fewest_hosts && num_hosts <= most_hosts && num * num <= most_values;
}

std::optional<network::Network> learnt_network(const Rows& rows, const Setting& setting) {
  const std::uint32_t num_hosts = setting.hosts.num_groups();
  const HostMatrix matrix(host_matrix(rows, setting), num_hosts);
  std::vector<double> shown;
  for (std::uint32_t host = 0; host < num_hosts; ++host) shown.push_back(matrix.better_quarter_of(host));
  const double cut = lowest_cluster(shown, noise_of_host).cut;
  std::vector<std::uint32_t> sound, slow;
  for (std::uint32_t host = 0; host < num_hosts; ++host) (shown[host] > cut ? slow : sound).push_back(host);
  if (sound.size() < 2) return std::nullopt;
  auto groups = groups_of_sound(matrix, sound);
  for (auto& group : groups_of_slow(matrix, sound, slow)) groups.push_back(std::move(group));
  if (groups.size() < 2) return std::nullopt;
  add_slow(matrix, slow, groups, [](std::uint32_t, const auto&) { return true; });
  std::vector<Groups> levels;
  if (Groups within = groups_within(matrix, groups, sound, num_hosts); within.size() > groups.size()) {
    const auto group_of = group_of_hosts(groups, num_hosts);
    std::vector<std::uint32_t> others;
    std::vector<std::uint8_t> is_in(num_hosts, 0);
    for (const auto& group : within) {
      for (const std::uint32_t host : group) is_in[host] = 1;
    }
    for (std::uint32_t host = 0; host < num_hosts; ++host) {
      if (is_in[host] == 0) others.push_back(host);
    }
    add_slow(matrix, others, within,
             [&](std::uint32_t host, const auto& group) { return group_of[host] == group_of[group.front()]; });
    levels.push_back(std::move(within));
  }
  Groups around = groups_around(matrix, groups);
  levels.push_back(std::move(groups));
  if (around.size() > 1) levels.push_back(std::move(around));
  return network_of(setting, levels);
}

bool is_learnt(const network::Network& network) { return network.source == source_of_learnt; }

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
