// SPDX-License-Identifier: Apache-2.0
// Counts slow pairs between switches; adds the element that explains most, until none explains much.
#include "diagnosis/slow_paths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "diagnosis/learnt_groups.hpp"
#include "diagnosis/reference.hpp"
#include "network/path_shares.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::uint32_t most_tree_groups = 128;             // their square is counted for each element
constexpr std::size_t most_sampled = std::size_t{1} << 21;  // values: 16 MB on their way through the tree
constexpr double by_chance = 0.03;                          // of the pairs that are slow without a fault
constexpr double by_contention = 0.15;                      // in a tree whose flows share cables, of many loads
constexpr double most_certain = 0.97;                       // of the pairs that are slow with one
constexpr double least_gain_of_cable = 12;  // of log likelihood, and the logarithm of the number of elements
constexpr double most_trials = 24;          // of a pair of groups: its pairs are not independent
constexpr double least_of_sure = 0.7, least_of_sure_under_load = 0.6;
constexpr double spreads_of_noise = 4;
constexpr double share_of_lowest = 0.1;
constexpr double share_of_many = 0.4;  // of the uplinks of a level
constexpr double more_by_chance = 0.15;
constexpr double most_of_a_hop = 2;  // times what pairs below one switch take: beyond, flows share cables
// Under load an uplink shows in what any quantile of pairs takes; only what all of them show needs no second look.
constexpr std::array quantiles_of_contention{0.1, 0.25, 0.5};
constexpr double most_among_sound = 0.2;  // logarithms: between sound uplinks under load,
constexpr double least_of_uplink = 0.18;  // and from where on one is slow
constexpr double least_of_contention = 0.1, usual_share_of_contention = 0.33, factor_of_contention = 1.8,
                 factor_in_tree = 1.4;

/// What pairs between two groups take, ln ns.
struct GroupPair {
  double share_slow = 0, slow = 0;  ///< of the pairs; the median of slow ones
  std::size_t num = 0;
  double num_trials = 0;
};

/// Times between groups of the innermost level.
class GroupTimes {
 public:
  GroupTimes(const Rows& rows, const Setting& setting)
      : num_(static_cast<std::uint32_t>(setting.layout.network.levels.front().names.size())),
        group_of_(groups_of_ranks(setting.layout, 0)),
        values_(std::size_t{num_} * num_) {
    std::vector<std::vector<Measured>> found(rows.num_workers());
    rows.visit([&](std::size_t worker, const Row& row) {
      const std::size_t step = std::max<std::size_t>(1, row.values.size() * rows.num_ranks() / most_sampled);
      for (std::size_t index = row.from % step; index < row.values.size(); index += step) {
        const std::uint32_t to = row.partner(index);
        if (std::isnan(row.values[index]) || setting.layout.host_of[to] == setting.layout.host_of[row.from]) continue;
        found[worker].push_back({setting.layout.host_of[row.from], setting.layout.host_of[to], row.values[index]});
      }
    });
    std::vector<Measured> own;
    for (const auto& of_worker : found) own.insert(own.end(), of_worker.begin(), of_worker.end());
    measured_ = gather_all(rows, own);
    arrange(setting.layout.network.levels.front().group_of);
  }

  /// What is left are pairs of other hosts. `group_of_host`: as it was.
  void leave_out(const std::vector<std::uint8_t>& hosts, std::span<const std::uint32_t> group_of_host) {
    std::erase_if(measured_, [&](const Measured& one) { return hosts[one.from_host] != 0 || hosts[one.to_host] != 0; });
    arrange(group_of_host);
  }

  /// A time between two hosts, ln ns.
  struct Measured {
    std::uint32_t from_host, to_host;
    float value;
  };
  const std::vector<Measured>& measured() const { return measured_; }

  std::uint32_t num() const { return num_; }
  const std::vector<std::uint32_t>& group_of() const { return group_of_; }
  const std::vector<double>& of(std::uint32_t from, std::uint32_t to) const {
    return values_[std::size_t{from} * num_ + to];
  }

 private:
  void arrange(std::span<const std::uint32_t> group_of_host) {
    for (auto& of_cell : values_) of_cell.clear();
    for (const Measured& one : measured_) {
      values_[std::size_t{group_of_host[one.from_host]} * num_ + group_of_host[one.to_host]].push_back(
          static_cast<double>(one.value));
    }
    for (auto& of_cell : values_) std::ranges::sort(of_cell);
  }

  std::uint32_t num_;
  std::vector<std::uint32_t> group_of_;
  std::vector<Measured> measured_;           ///< those that were sampled
  std::vector<std::vector<double>> values_;  ///< sorted
};

double quantile_of(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

/// By how much more pairs of each group take than those of the lowest groups with each other, logarithm; NaN where they
/// have met none of these. A sound one is fast with somebody: the two that are fastest with each other come first, then
/// one after the other that is as fast with most of those before. `times`: by group and group, ln ns.
std::vector<double> beyond_lowest_groups(const std::vector<double>& times, std::size_t num) {
  const auto at = [&](std::size_t one, std::size_t other) { return times[one * num + other]; };
  double usual = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> sound(2);
  for (std::size_t one = 0; one < num; ++one) {
    for (std::size_t other = 0; other < one; ++other) {
      if (!(at(one, other) < usual)) continue;
      usual = at(one, other);
      sound = {one, other};
    }
  }
  const auto beyond = [&](std::size_t group) {
    std::vector<double> with_sound;
    for (const std::size_t other : sound) {
      if (other != group) with_sound.push_back(at(group, other) - usual);
    }
    const Middle middle = middle_of(std::move(with_sound));
    return middle.num > 0 ? middle.median : std::numeric_limits<double>::quiet_NaN();
  };
  if (std::isinf(usual)) return std::vector<double>(num, std::numeric_limits<double>::quiet_NaN());
  for (;;) {
    std::size_t next = num;
    double least = most_among_sound;
    for (std::size_t group = 0; group < num; ++group) {
      if (std::ranges::find(sound, group) != sound.end() || !(beyond(group) <= least)) continue;
      least = beyond(group);
      next = group;
    }
    if (next == num) break;
    sound.push_back(next);
    std::vector<double> among;
    for (const std::size_t one : sound) {
      for (const std::size_t other : sound) {
        if (one != other) among.push_back(at(one, other));
      }
    }
    usual = middle_of(std::move(among)).median;
  }
  std::vector<double> all;
  for (std::size_t group = 0; group < num; ++group) all.push_back(beyond(group));
  return all;
}

/// What the hosts of groups take with those of other groups. Where flows share cables, pairs of one host are not
/// independent: hashing sends them over the same cables, or beside the same flows. So hosts are counted.
class HostsOfGroups {
 public:
  HostsOfGroups(std::vector<std::uint32_t> group_of, std::size_t num_groups)
      : group_of_(std::move(group_of)), num_groups_(num_groups), sums_(group_of_.size() * num_groups) {}

  /// A pair between two groups, ln ns.
  void add(std::uint32_t from_host, std::uint32_t to_host, double value) {
    sums_[from_host * num_groups_ + group_of_[to_host]].add(value);
    sums_[to_host * num_groups_ + group_of_[from_host]].add(value);
  }

  struct Beyond {
    double effect = std::numeric_limits<double>::quiet_NaN();  ///< logarithm
    double p_value = 1;
  };

  /// By how much more pairs of a group with sound ones take than those of sound ones with each other; of fewer than two
  /// other sound ones it is unknown.
  Beyond beyond(std::size_t group, const std::vector<std::size_t>& sound) const {
    std::vector<std::size_t> others = sound;
    std::erase(others, group);
    if (others.size() < 2) return {};
    const Mean own = mean_of({group}, others), back = mean_of(others, {group}), among = mean_of(others, others);
    if (std::min({own.num, back.num, among.num}) < 2) return {};
    const double error = std::sqrt(own.square_error + back.square_error + among.square_error);
    const double effect = own.mean - among.mean;
    const double freedom = static_cast<double>(std::min(own.num, among.num)) - 1;
    return {effect, stats::student_t_tail(effect / std::fmax(error, least_spread), freedom)};
  }

 private:
  struct Sum {
    double num = 0, sum = 0;
    void add(double value) { ++num, sum += value; }
  };
  /// Over hosts.
  struct Mean {
    double mean = 0, square_error = 0;
    std::size_t num = 0;
  };

  Mean mean_of(const std::vector<std::size_t>& groups, const std::vector<std::size_t>& with) const {
    Mean found;
    double squares = 0;
    for (std::size_t host = 0; host < group_of_.size(); ++host) {
      if (std::ranges::find(groups, group_of_[host]) == groups.end()) continue;
      Sum all;
      for (const std::size_t other : with) {
        const Sum& one = sums_[host * num_groups_ + other];
        all.num += one.num, all.sum += one.sum;
      }
      if (all.num == 0) continue;
      const double of_host = all.sum / all.num, before = of_host - found.mean;
      found.mean += before / static_cast<double>(++found.num);
      squares += before * (of_host - found.mean);
    }
    const auto num = static_cast<double>(found.num);
    if (found.num > 1) found.square_error = squares / (num - 1) / num;
    return found;
  }

  std::vector<std::uint32_t> group_of_;  ///< by host
  std::size_t num_groups_;
  std::vector<Sum> sums_;  ///< by host and group
};

/// A cable between groups, or what else may make pairs of groups slow.
struct Element {
  enum class Kind : std::uint8_t { cable, uplink, network_switch, host } kind = Kind::cable;
  std::uint32_t first = 0, second = 0;
  std::size_t level = 0;
};

class CableSearch {
 public:
  CableSearch(const Rows& rows, const Setting& setting, const DiagnosisSettings& settings)
      : settings_(settings),
        has_many_loads_(setting.has_many_loads),
        times_(rows, setting),
        num_(times_.num()),
        paths_(setting.paths) {
    const network::Network& network = setting.layout.network;
    const auto& leaf_of = network.levels.front().group_of;
    leaf_of_ = leaf_of;
    hosts_in_.assign(num_, 0);
    std::vector<std::uint32_t> host_in(num_);
    for (std::uint32_t host = 0; host < leaf_of.size(); ++host) {
      ++hosts_in_[leaf_of[host]];
      host_in[leaf_of[host]] = host;
    }
    hops_.assign(network.hops.begin(), network.hops.end());
    if (!network.hops.empty()) return;
    for (const std::uint32_t from : host_in) {
      for (const std::uint32_t to : host_in)
        hops_.push_back(static_cast<std::uint32_t>(network::distance(network, from, to)));
    }
    for (const network::Level& level : network.levels) {
      group_at_.emplace_back();
      for (const std::uint32_t host : host_in) group_at_.back().push_back(level.group_of[host]);
    }
  }

  SlowPaths run();

 private:
  bool is_tree() const { return !group_at_.empty(); }
  /// Of the pairs that must meet a slow element: those that are slow.
  double least_share_of_sure() const { return is_contended_ && !is_tree() ? least_of_sure_under_load : least_of_sure; }
  std::size_t at(std::uint32_t from, std::uint32_t to) const { return std::size_t{from} * num_ + to; }
  bool find_usual_times();
  std::vector<double> beyond_quickest() const;
  void find_slow_hosts(SlowPaths& found);
  void expect_contention(const std::map<std::uint32_t, std::vector<double>>& by_hops);
  SlowPaths contended_uplinks() const;
  void find_uplinks_below(std::size_t level, const std::vector<std::uint32_t>& members,
                          const std::vector<std::uint8_t>& is_slow_host, SlowPaths& found) const;
  std::vector<std::uint8_t> slow_within() const;
  void find_slow();
  double usual_beside(std::uint32_t from, std::uint32_t to) const;
  std::vector<Element> elements() const;
  double share_of(const Element& element, std::uint32_t from, std::uint32_t to) const;
  double least_of(const Element& element) const;
  double share_from(std::uint32_t from, std::uint32_t to, double least) const;
  double gain_of(const Element& element, const std::vector<double>& sound) const;
  std::optional<Suspect> suspect_of(const Element& element, double gain) const;

  const DiagnosisSettings& settings_;
  bool has_many_loads_;
  GroupTimes times_;
  std::uint32_t num_;
  std::vector<std::uint32_t> hops_, hosts_in_;
  std::vector<std::uint32_t> leaf_of_;                ///< by host
  std::vector<std::vector<std::uint32_t>> group_at_;  ///< of a tree: by level, of each innermost group the one there
  std::shared_ptr<const network::PathShares> paths_;  ///< none of a tree
  std::vector<double> usual_;                         ///< by hops, ln ns
  bool is_contended_ = false;
  double noise_ = 0, least_ = 0;  ///< logarithms: scatter of pairs, and from where on a pair is slow
  std::vector<GroupPair> pairs_;
};

/// The lowest cluster of pairs so many hops apart; no more than as many hops beyond a nearer one as the cheapest costs.
bool CableSearch::find_usual_times() {
  std::map<std::uint32_t, std::vector<double>> by_hops;
  std::vector<double> spreads, spreads_near;
  for (std::uint32_t from = 0; from < num_; ++from) {
    for (std::uint32_t to = 0; to < num_; ++to) {
      const auto& times = times_.of(from, to);
      if (times.empty()) continue;
      by_hops[hops_[at(from, to)]].push_back(quantile_of(times, 0.5));
      if (times.size() < fewest_to_compare) continue;
      const double spread = quantile_of(times, 0.5) - quantile_of(times, 0.16);
      (hops_[at(from, to)] > 0 ? spreads : spreads_near).push_back(spread);
    }
  }
  if (by_hops.size() < 2) return false;
  noise_ = spreads.empty() ? least_spread : std::max(middle_of(std::move(spreads)).median, least_spread);
  std::map<std::uint32_t, double> lowest;
  for (auto& [hops, medians] : by_hops) {
    std::ranges::sort(medians);
    lowest[hops] = std::exp(quantile_of(medians, share_of_lowest));
  }
  double a_hop = std::numeric_limits<double>::infinity();
  for (auto near = lowest.begin(); near != lowest.end(); ++near) {
    for (auto far = std::next(near); far != lowest.end(); ++far) {
      a_hop = std::fmin(a_hop, (far->second - near->second) / (far->first - near->first));
    }
  }
  a_hop = std::fmax(a_hop, 0);
  usual_.assign(lowest.rbegin()->first + 1, std::numeric_limits<double>::quiet_NaN());
  double before = lowest.begin()->second;
  std::uint32_t hops_before = lowest.begin()->first;
  for (const auto& [hops, time] : lowest) {
    // A hop may cost twice what the cheapest does, and some more by chance.
    const double most =
        before + 2 * a_hop * (hops - hops_before) + before * std::fmax(std::expm1(noise_), more_by_chance);
    before = std::fmin(time, most);
    hops_before = hops;
    usual_[hops] = std::log(before);
  }
  least_ = std::max(std::log1p(settings_.threshold), spreads_of_noise * noise_);
  const double near_ns = lowest.begin()->second, beyond_ns = std::next(lowest.begin())->second - near_ns;
  const bool do_cables_limit =
      is_tree() ? lowest.begin()->first == 0 && lowest.upper_bound(0)->second > most_of_a_hop * lowest.begin()->second
                : beyond_ns > most_ns_by_distance && beyond_ns > std::expm1(most_by_distance) * near_ns;
  // Slow ends make pairs below one switch scatter as much as others.
  const Middle near = middle_of(std::move(spreads_near));
  const bool do_ends_scatter = !has_many_loads_ && near.num > 0 && near.median > noise_ / 2;
  is_contended_ = (noise_ > least_of_contention && !do_ends_scatter) || do_cables_limit;
  if (is_contended_) expect_contention(by_hops);
  return true;
}

/// Flows that share cables take several times as long as others, by chance: where ways have unlike lengths, usual is
/// what a third of all pairs of groups take, whatever their hops are.
void CableSearch::expect_contention(const std::map<std::uint32_t, std::vector<double>>& by_hops) {
  std::vector<double> all;
  for (const auto& [hops, medians] : by_hops) {
    if (hops > 0) all.insert(all.end(), medians.begin(), medians.end());
  }
  std::ranges::sort(all);
  const double usual = quantile_of(all, is_tree() ? share_of_lowest : usual_share_of_contention);
  for (std::size_t hops = 1; hops < usual_.size(); ++hops) usual_[hops] = usual;
  least_ = std::log(is_tree() ? factor_in_tree : factor_of_contention);
}

/// By host: how much longer than for the better quarter of hosts its quickest pair takes, logarithm, at the number of
/// hops where that is least; NaN where it has no pair.
std::vector<double> CableSearch::beyond_quickest() const {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> between;
  for (const GroupTimes::Measured& one : times_.measured())
    between[std::minmax(one.from_host, one.to_host)].push_back(static_cast<double>(one.value));
  std::map<std::uint32_t, std::vector<double>> quickest;  // by hops and host: ln ns
  for (auto& [hosts, values] : between) {
    auto& of_hosts =
        quickest.try_emplace(hops_[at(leaf_of_[hosts.first], leaf_of_[hosts.second])], leaf_of_.size(), nothing)
            .first->second;
    const double time = middle_of(std::move(values)).median;
    for (const std::uint32_t host : {hosts.first, hosts.second}) of_hosts[host] = std::fmin(of_hosts[host], time);
  }
  std::vector<double> least(leaf_of_.size(), nothing);
  for (const auto& [_, of_hosts] : quickest) {
    std::vector<double> sorted = of_hosts;
    std::erase_if(sorted, [](double time) { return std::isnan(time); });
    std::ranges::sort(sorted);
    const double usual = quantile_of(sorted, better_quarter);
    for (std::size_t host = 0; host < least.size(); ++host) {
      if (!std::isnan(of_hosts[host])) least[host] = std::fmin(least[host], std::fmax(of_hosts[host] - usual, 0));
    }
  }
  return least;
}

/// Hosts that are slow with each other one, however far: no cable is at fault for that, since a sound host is fast with
/// somebody. Where flows share cables, nothing else tells them as well.
void CableSearch::find_slow_hosts(SlowPaths& found) {
  const std::vector<double> least = beyond_quickest();
  std::vector<std::uint64_t> num_pairs(least.size(), 0);
  for (const GroupTimes::Measured& one : times_.measured()) ++num_pairs[one.from_host], ++num_pairs[one.to_host];
  const Middle sound = lowest_cluster(least, noise_).middle;
  std::vector<Suspect> suspects;
  std::vector<std::uint8_t> is_slow(least.size(), 0);
  for (std::uint32_t host = 0; host < least.size(); ++host) {
    const double effect = least[host] - sound.median;
    if (!(effect > std::log(factor_of_contention))) continue;
    is_slow[host] = 1;
    Suspect suspect;
    suspect.component = {ComponentKind::port, -1, static_cast<std::int32_t>(host), -1, -1};
    suspect.is_before_fit = true;
    suspect.effect = effect;
    suspect.error = std::max(sound.spread, spread_of_contention);
    suspect.p_value = stats::student_t_tail(effect / suspect.error, degrees_of_freedom(sound.num));
    suspect.num_pairs = num_pairs[host];
    suspects.push_back(suspect);
  }
  if (suspects.empty()) return;
  times_.leave_out(is_slow, leaf_of_);
  if (!find_usual_times() || !is_contended_) return;  // the fit tells how slow they are
  found.is_slow_host = std::move(is_slow);
  found.suspects = std::move(suspects);
}

void CableSearch::find_slow() {
  pairs_.resize(std::size_t{num_} * num_);
  for (std::uint32_t from = 0; from < num_; ++from) {
    for (std::uint32_t to = 0; to < num_; ++to) {
      const auto& times = times_.of(from, to);
      GroupPair& pair = pairs_[at(from, to)];
      pair.num = times.size();
      if (times.empty()) continue;
      const auto slow = std::ranges::upper_bound(times, usual_[hops_[at(from, to)]] + least_);
      const auto num_slow = static_cast<double>(times.end() - slow);
      pair.share_slow = num_slow / static_cast<double>(times.size());
      if (slow != times.end()) pair.slow = *(slow + (times.end() - slow) / 2) - usual_[hops_[at(from, to)]];
      const double host_pairs = static_cast<double>(hosts_in_[from]) * hosts_in_[to];
      pair.num_trials = std::min({static_cast<double>(times.size()), host_pairs, most_trials});
    }
  }
}

/// What pairs of these groups take that are not slow: where all so many hops apart have a slow way among theirs, that
/// is known better than what is usual for the hops.
double CableSearch::usual_beside(std::uint32_t from, std::uint32_t to) const {
  const double usual = usual_[hops_[at(from, to)]];
  const auto& times = times_.of(from, to);
  const auto num = std::ranges::upper_bound(times, usual + least_) - times.begin();
  return num > 0 ? times[static_cast<std::size_t>(num / 2)] : usual;
}

std::vector<Element> CableSearch::elements() const {
  std::vector<Element> all;
  for (std::uint32_t one = 0; one < num_; ++one) {
    all.push_back({Element::Kind::network_switch, one, one});
    if (hosts_in_[one] > 1) all.push_back({Element::Kind::host, one, one});
  }
  if (is_tree()) {
    for (std::size_t level = 0; level < group_at_.size(); ++level) {
      const std::uint32_t num_groups = *std::ranges::max_element(group_at_[level]) + 1;
      for (std::uint32_t group = 0; num_groups > 2 && group < num_groups; ++group) {
        if (level == 0 && hosts_in_[group] < 2) continue;  // that is the host's own port
        all.push_back({Element::Kind::uplink, group, group, level});
      }
    }
    return all;
  }
  std::vector<std::uint32_t> num_cables(num_, 0);
  for (std::uint32_t one = 0; one < num_; ++one) {
    for (std::uint32_t other = one + 1; other < num_; ++other) {
      if (hops_[at(one, other)] != 1) continue;
      all.push_back({Element::Kind::cable, one, other});
      ++num_cables[one], ++num_cables[other];
    }
  }
  for (std::uint32_t one = 0; one < num_; ++one) {
    if (num_cables[one] > 1) all.push_back({Element::Kind::uplink, one, one});
  }
  return all;
}

/// Of the pairs from one group to another those that meet the element.
double CableSearch::share_of(const Element& element, std::uint32_t from, std::uint32_t to) const {
  const std::uint32_t one = element.first;
  switch (element.kind) {
    case Element::Kind::cable:
      return paths_->of_cable(one, element.second, from, to);
    case Element::Kind::uplink:
      if (is_tree()) return (group_at_[element.level][from] == one) != (group_at_[element.level][to] == one) ? 1 : 0;
      return (from == one) != (to == one) ? 1 : 0;
    case Element::Kind::network_switch:
      return from == one || to == one ? 1 : 0;
    case Element::Kind::host:
      if (from == one && to == one) return std::min(2.0 / hosts_in_[one], 1.0);
      return from == one || to == one ? 1.0 / hosts_in_[one] : 0;
  }
  return 0;
}

/// From where on pairs are slow as the element makes them, beyond what is usual: half of what three quarters of the
/// groups show whose pairs must meet it. What scatters far below that is no part of the same fault.
double CableSearch::least_of(const Element& element) const {
  std::vector<double> effects;
  for (std::uint32_t from = 0; from < num_; ++from) {
    for (std::uint32_t to = 0; to < num_; ++to) {
      if (pairs_[at(from, to)].num > 0 && share_of(element, from, to) >= sure_share)
        effects.push_back(pairs_[at(from, to)].slow);
    }
  }
  return std::fmax(least_, consensus(effects, better_quarter) / 2);
}

/// Of the pairs from one group to another those that take so much more than is usual.
double CableSearch::share_from(std::uint32_t from, std::uint32_t to, double least) const {
  const auto& times = times_.of(from, to);
  const auto slow = std::ranges::upper_bound(times, usual_[hops_[at(from, to)]] + least);
  return static_cast<double>(times.end() - slow) / static_cast<double>(times.size());
}

/// What the element adds to the logarithm of the likelihood; `sound`: by pair of groups, the chance that none of the
/// elements before it is met.
double CableSearch::gain_of(const Element& element, const std::vector<double>& sound) const {
  const double least_chance = is_contended_ && is_tree() ? by_contention : by_chance;
  const auto chance = [&](double is_sound) { return std::clamp(1 - is_sound, least_chance, most_certain); };
  const double least = least_of(element);
  double gain = 0;
  for (std::uint32_t from = 0; from < num_; ++from) {
    for (std::uint32_t to = 0; to < num_; ++to) {
      const GroupPair& pair = pairs_[at(from, to)];
      if (pair.num == 0) continue;
      const double share = share_of(element, from, to);
      if (share == 0) continue;
      const double with = chance(sound[at(from, to)] * (1 - share)), without = chance(sound[at(from, to)]);
      const double share_slow = share_from(from, to, least);
      gain += pair.num_trials *
              (share_slow * std::log(with / without) + (1 - share_slow) * std::log((1 - with) / (1 - without)));
    }
  }
  return gain;
}

/// Nothing where pairs that must pass the element are not slow.
std::optional<Suspect> CableSearch::suspect_of(const Element& element, double gain) const {
  const double least = least_share_of_sure();
  std::vector<double> sure, effects;
  Suspect suspect;
  for (std::uint32_t from = 0; from < num_; ++from) {
    for (std::uint32_t to = 0; to < num_; ++to) {
      const GroupPair& pair = pairs_[at(from, to)];
      const double share = share_of(element, from, to);
      if (pair.num == 0 || share == 0) continue;
      suspect.num_pairs += pair.num;
      if (share < sure_share) continue;
      sure.push_back(pair.share_slow);
      if (pair.share_slow >= least) effects.push_back(pair.slow);
    }
  }
  if (sure.empty() || effects.empty() || middle_of(std::move(sure)).median < least) return std::nullopt;
  const auto first = static_cast<std::int32_t>(element.first), second = static_cast<std::int32_t>(element.second);
  const auto level = static_cast<std::int32_t>(element.level);
  suspect.component = element.kind == Element::Kind::cable ? Component{ComponentKind::cable, level, first, second, -1}
                                                           : Component{ComponentKind::uplink, level, first, -1, -1};
  suspect.is_before_fit = true;
  suspect.effect = middle_of(std::move(effects)).median;
  suspect.error = noise_ / std::sqrt(most_trials);
  suspect.p_value = std::exp(-gain);
  return suspect;
}

/// Hosts that are slow with others below their own switch, too: what they show outside is theirs.
std::vector<std::uint8_t> CableSearch::slow_within() const {
  std::vector<std::vector<double>> within(leaf_of_.size());
  for (const GroupTimes::Measured& one : times_.measured()) {
    if (leaf_of_[one.from_host] != leaf_of_[one.to_host]) continue;
    within[one.from_host].push_back(static_cast<double>(one.value));
    within[one.to_host].push_back(static_cast<double>(one.value));
  }
  std::vector<double> of_host;
  for (auto& values : within) {
    const Middle middle = middle_of(std::move(values));
    of_host.push_back(middle.num > 0 ? middle.median : std::numeric_limits<double>::quiet_NaN());
  }
  const double usual = lowest_cluster(of_host, noise_).middle.median;
  std::vector<std::uint8_t> is_slow;
  for (const double shown : of_host) is_slow.push_back(shown > usual + least_of_uplink ? 1 : 0);
  return is_slow;
}

/// Uplinks of the groups of a level that have the same group around them, or are all groups of the outermost level.
void CableSearch::find_uplinks_below(std::size_t level, const std::vector<std::uint32_t>& members,
                                     const std::vector<std::uint8_t>& is_slow_host, SlowPaths& found) const {
  constexpr auto nowhere = std::numeric_limits<std::uint32_t>::max();
  const std::size_t num = members.size();
  std::vector<std::uint32_t> member_of_leaf(num_, nowhere);
  for (std::uint32_t leaf = 0; leaf < num_; ++leaf) {
    const auto member = std::ranges::find(members, group_at_[level][leaf]);
    if (member != members.end()) member_of_leaf[leaf] = static_cast<std::uint32_t>(member - members.begin());
  }
  std::vector<std::uint32_t> num_hosts(num, 0);
  for (std::uint32_t leaf = 0; leaf < num_; ++leaf) {
    if (member_of_leaf[leaf] != nowhere) num_hosts[member_of_leaf[leaf]] += hosts_in_[leaf];
  }
  std::vector<std::vector<double>> values(num * num);
  std::vector<std::uint32_t> member_of_host;
  for (const std::uint32_t leaf : leaf_of_) member_of_host.push_back(member_of_leaf[leaf]);
  HostsOfGroups hosts(std::move(member_of_host), num);
  for (const GroupTimes::Measured& one : times_.measured()) {
    const std::uint32_t from = member_of_leaf[leaf_of_[one.from_host]], to = member_of_leaf[leaf_of_[one.to_host]];
    if (from == nowhere || to == nowhere || from == to) continue;
    if (is_slow_host[one.from_host] != 0 || is_slow_host[one.to_host] != 0) continue;
    hosts.add(one.from_host, one.to_host, static_cast<double>(one.value));
    for (const std::size_t cell : {from * num + to, to * num + from}) {
      values[cell].push_back(static_cast<double>(one.value));
    }
  }
  for (auto& of_cell : values) std::ranges::sort(of_cell);
  std::vector<std::vector<double>> beyond;
  for (const double quantile : quantiles_of_contention) {
    std::vector<double> times;
    for (const auto& of_cell : values) times.push_back(quantile_of(of_cell, quantile));
    beyond.push_back(beyond_lowest_groups(times, num));
  }
  std::vector<std::size_t> sound;
  for (std::size_t member = 0; member < num; ++member) {
    if (beyond.back()[member] <= most_among_sound) sound.push_back(member);
  }
  const auto stands_out = [&](const HostsOfGroups::Beyond& shown) {
    return shown.effect >= std::log1p(settings_.threshold) &&
           shown.p_value * static_cast<double>(num) <= settings_.false_discovery_rate;
  };
  for (;;) {  // the one that stands out most first: it makes others look slow
    const auto p_value = [&](std::size_t member) {
      const HostsOfGroups::Beyond shown = hosts.beyond(member, sound);
      return stands_out(shown) ? shown.p_value : 1;
    };
    const auto worst = std::ranges::min_element(sound, {}, p_value);
    if (worst == sound.end() || p_value(*worst) == 1) break;
    sound.erase(worst);
  }
  for (std::size_t member = 0; member < num; ++member) {
    const HostsOfGroups::Beyond by_hosts = hosts.beyond(member, sound);
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const auto& of_quantile : beyond) {
      least = std::min(least, of_quantile[member]);
      most = std::max(most, of_quantile[member]);
    }
    const bool may_be_slow = most >= std::max(least_of_uplink, std::log1p(settings_.threshold));
    if (num_hosts[member] < 2 || !(may_be_slow || stands_out(by_hosts))) continue;
    Suspect suspect;
    suspect.component = {ComponentKind::uplink, static_cast<std::int32_t>(level),
                         static_cast<std::int32_t>(members[member]), -1, -1};
    suspect.is_before_fit = true;
    suspect.error = noise_ / std::sqrt(most_trials);
    const bool is_sure = stands_out(by_hosts);
    suspect.is_beyond_contention = is_sure && by_hosts.effect - both_sides * suspect.error >= most_among_sound;
    suspect.needs_retest = !(least >= least_of_uplink || is_sure);
    suspect.effect = is_sure ? by_hosts.effect : std::max(beyond.back()[member], least_of_uplink);
    suspect.p_value = stats::student_t_tail(suspect.effect / suspect.error, degrees_of_freedom(num));
    for (std::size_t other = 0; other < num; ++other) suspect.num_pairs += values[member * num + other].size();
    found.suspects.push_back(suspect);
  }
}

/// Where flows of a tree share cables. An uplink is at fault for what its group shows beside the lowest groups.
SlowPaths CableSearch::contended_uplinks() const {
  SlowPaths found;
  const std::vector<std::uint8_t> is_slow_host = slow_within();
  for (std::size_t level = group_at_.size(); level-- > 0;) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> members_of;
    for (std::uint32_t leaf = 0; leaf < num_; ++leaf) {
      auto& members = members_of[level + 1 < group_at_.size() ? group_at_[level + 1][leaf] : 0];
      if (std::ranges::find(members, group_at_[level][leaf]) == members.end())
        members.push_back(group_at_[level][leaf]);
    }
    for (const auto& [_, members] : members_of) {
      if (members.size() >= fewest_to_compare) find_uplinks_below(level, members, is_slow_host, found);
    }
  }
  found.is_contended = true;
  found.num_groups = num_;
  found.group_of = times_.group_of();
  for (std::uint32_t from = 0; from < num_; ++from) {
    for (std::uint32_t to = 0; to < num_; ++to) {
      double excess = 0;  // the slower of two uplinks counts
      for (const Suspect& one : found.suspects) {
        const Element element{Element::Kind::uplink, static_cast<std::uint32_t>(one.component.first),
                              static_cast<std::uint32_t>(one.component.first),
                              static_cast<std::size_t>(one.component.level)};
        if (!one.needs_retest && share_of(element, from, to) > 0) excess = std::max(excess, one.effect);
      }
      found.excess.push_back(static_cast<float>(excess));
      found.usual.push_back(static_cast<float>(usual_[hops_[at(from, to)]]));
      found.slow_from.push_back(excess > 0 ? -std::numeric_limits<float>::infinity()
                                           : std::numeric_limits<float>::infinity());
    }
  }
  return found;
}

SlowPaths CableSearch::run() {
  SlowPaths found;
  if (!find_usual_times()) return found;
  if (is_contended_ && is_tree() && !has_many_loads_) return contended_uplinks();
  if (!is_tree() && !has_many_loads_) find_slow_hosts(found);
  found.is_contended = is_contended_;
  find_slow();
  found.num_groups = num_;
  found.group_of = times_.group_of();
  found.excess.assign(pairs_.size(), 0);
  found.slow_from.assign(pairs_.size(), std::numeric_limits<float>::infinity());
  for (const std::uint32_t hops : hops_) {  // of some no pair was measured
    found.usual.push_back(hops < usual_.size() ? static_cast<float>(usual_[hops])
                                               : std::numeric_limits<float>::infinity());
  }
  const auto is_slow = [&](const GroupPair& pair) { return pair.share_slow >= least_share_of_sure(); };
  if (std::ranges::none_of(pairs_, is_slow)) return found;
  std::vector<Element> left = elements();
  std::vector<double> sound(pairs_.size(), 1);
  const double least = least_gain_of_cable + std::log(static_cast<double>(left.size()));
  while (!left.empty()) {
    std::vector<double> gains;
    for (const Element& element : left) gains.push_back(gain_of(element, sound));
    const auto best = std::ranges::max_element(gains);
    if (*best < least) break;
    const Element element = left[static_cast<std::size_t>(best - gains.begin())];
    left.erase(left.begin() + (best - gains.begin()));
    const bool is_cable = element.kind == Element::Kind::cable || (is_tree() && element.kind == Element::Kind::uplink);
    std::optional<Suspect> suspect;
    if (is_cable) suspect = suspect_of(element, *best);
    if (is_cable && !suspect) continue;
    if (suspect) found.suspects.push_back(*suspect);
    for (std::uint32_t from = 0; from < num_; ++from) {
      for (std::uint32_t to = 0; to < num_; ++to) {
        const double share = share_of(element, from, to);
        const GroupPair& pair = pairs_[at(from, to)];
        sound[at(from, to)] *= 1 - share;
        if (!suspect || share == 0 || pair.share_slow == 0) continue;
        const double usual = usual_[hops_[at(from, to)]];
        // Of several ways the slow one may be taken out, back, or both; the only way is always taken.
        const bool is_sure = share >= sure_share;
        found.usual[at(from, to)] = static_cast<float>(is_sure ? usual : usual_beside(from, to));
        found.slow_from[at(from, to)] =
            is_sure ? -std::numeric_limits<float>::infinity() : static_cast<float>(usual + pair.slow / 2);
        found.excess[at(from, to)] = is_sure ? static_cast<float>(pair.slow) : std::numeric_limits<float>::infinity();
      }
    }
  }
  // Where most uplinks of a level are sound, what their senders and receivers show tells more.
  const auto is_of_many = [&](const Suspect& suspect) {
    const auto level = static_cast<std::size_t>(suspect.component.level);
    const auto num = std::ranges::count(found.suspects, suspect.component.level,
                                        [](const Suspect& one) { return one.component.level; });
    return static_cast<double>(num) >= share_of_many * (*std::ranges::max_element(group_at_[level]) + 1);
  };
  if (is_tree() && !is_contended_ && !std::ranges::all_of(found.suspects, is_of_many)) found.suspects.clear();
  return found;
}

class RowsWithoutPaths final : public ChangedRows {
 public:
  RowsWithoutPaths(const Rows& rows, const SlowPaths& paths, const Layout& layout)
      : ChangedRows(rows), paths_(paths), host_of_(layout.host_of) {}

 private:
  bool is_slow_host(std::uint32_t rank) const {
    return !paths_.is_slow_host.empty() && paths_.is_slow_host[host_of_[rank]] != 0;
  }

  void change(const Row& row, std::span<float> values) const override {
    for (std::size_t index = 0; index < values.size(); ++index) {
      const std::uint32_t to = row.partner(index);
      if (host_of_[row.from] == host_of_[to]) continue;
      const std::size_t cell = std::size_t{paths_.group_of[row.from]} * paths_.num_groups + paths_.group_of[to];
      const float usual = std::min(values[index], paths_.usual[cell]);
      if (is_slow_host(row.from) || is_slow_host(to)) {
        values[index] = usual;  // where flows share cables, nothing else shows in pairs of a slow end
      } else if (values[index] >= paths_.slow_from[cell]) {
        values[index] = std::max(values[index] - paths_.excess[cell], usual);
      }
    }
  }

  const SlowPaths& paths_;
  const std::vector<std::uint32_t>& host_of_;
};

}  // namespace

SlowPaths find_slow_paths(const Rows& rows, const Setting& setting, const DiagnosisSettings& settings) {
  const network::Network& network = setting.layout.network;
  if (network.levels.empty() || is_learnt(network)) return {};
  const std::size_t num = network.levels.front().names.size();
  if (num < fewest_to_compare || num > (network.hops.empty() ? most_tree_groups : network::most_path_groups)) return {};
  return CableSearch(rows, setting, settings).run();
}

std::optional<Suspect> find_group_apart(const Rows& rows, const Setting& setting) {
  constexpr std::uint32_t fewest_in_group = 4;
  constexpr double least_apart = 0.4;  // logarithm: x1.5, beyond the farthest of all others
  constexpr double most_of_others = 0.9, least_of_own = 0.1;
  constexpr std::size_t few = 20'000, fewest_in_quartile = 40;
  const network::Network& network = setting.layout.network;
  if (network.levels.empty() || network.levels.front().names.size() > most_tree_groups) return std::nullopt;
  const GroupTimes times(rows, setting);
  const auto num_hosts = static_cast<std::uint32_t>(network.levels.front().group_of.size());
  for (std::size_t level = 0; level < network.levels.size(); ++level) {
    const auto& group_of = network.levels[level].group_of;
    for (std::uint32_t group = 0; group < network.levels[level].names.size(); ++group) {
      const auto num = static_cast<std::uint32_t>(std::ranges::count(group_of, group));
      if (num < fewest_in_group || 3 * num > num_hosts) continue;  // which side it is could not be told
      const auto split = [&](std::size_t step) {
        std::pair<std::vector<double>, std::vector<double>> times_of;
        for (std::size_t index = 0; index < times.measured().size(); index += step) {
          const GroupTimes::Measured& one = times.measured()[index];
          const bool is_from = group_of[one.from_host] == group, is_to = group_of[one.to_host] == group;
          if (is_from && is_to) continue;
          (is_from || is_to ? times_of.first : times_of.second).push_back(static_cast<double>(one.value));
        }
        std::ranges::sort(times_of.first);
        std::ranges::sort(times_of.second);
        return times_of;
      };
      // A few of all tell of most groups that they are not apart.
      const auto [few_across, few_others] = split(times.measured().size() / few + 1);
      if (few_across.size() >= fewest_in_quartile && quantile_of(few_across, 0.25) < quantile_of(few_others, 0.75))
        continue;
      const auto [across, others] = split(1);
      if (across.empty() || others.empty()) continue;
      const double farthest = quantile_of(others, most_of_others);
      if (quantile_of(across, least_of_own) < farthest + least_apart) continue;
      Suspect suspect;
      suspect.component = {ComponentKind::uplink, static_cast<std::int32_t>(level), static_cast<std::int32_t>(group),
                           -1, -1};
      suspect.is_before_fit = true;
      suspect.effect = quantile_of(across, 0.5) - farthest;
      suspect.error = (quantile_of(across, 0.5) - quantile_of(across, 0.16)) / std::sqrt(most_trials);
      suspect.num_pairs = across.size();
      return suspect;
    }
  }
  return std::nullopt;
}

std::unique_ptr<Rows> without_slow_paths(const Rows& rows, const SlowPaths& paths, const Layout& layout) {
  return std::make_unique<RowsWithoutPaths>(rows, paths, layout);
}

}  // namespace leadline::diagnosis
