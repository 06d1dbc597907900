// SPDX-License-Identifier: Apache-2.0
// Counts slow pairs of hosts by the parts that they pass; adds the part that explains most, until none explains much.
#include "diagnosis/routed_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "diagnosis/reference.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::uint32_t most_hosts_of_routes = 4096;             // the square of them is kept: 64 MiB
constexpr std::size_t most_cells_of_run = std::size_t{1} << 21;  // ranks times hosts: each rank gets all, 16 MiB
constexpr double slow_by_chance = 0.03, at_fault = 0.97;         // of pairs that are slow without a fault, and with one
constexpr double least_gain_of_part = 12;     // of log likelihood, and the logarithm of the number of elements
constexpr double least_slow = 0.7;            // of the pairs that pass a part at fault
constexpr double least_slow_elsewhere = 0.5;  // of the other pairs of a host that explains them as well
constexpr double most_by_ends = 0.25;         // of the slow pairs that pass a part at fault, each end counting
constexpr double share_of_base = 0.15, share_of_least = 0.02;
constexpr double noises_of_slow = 5;

/// The median over the ranks of each ordered pair of hosts, ln ns, the same for all; NaN = none, or inside a host.
std::vector<float> host_times(const Rows& rows, const Setting& setting) {
  const std::uint32_t num_hosts = setting.hosts.num_groups();
  std::vector<float> times(std::size_t{num_hosts} * num_hosts, std::numeric_limits<float>::quiet_NaN());
  struct Cell {
    std::uint32_t cell;
    float value;
  };
  std::vector<std::vector<Cell>> found(rows.num_workers());
  rows.visit([&](std::size_t worker, const Row& row) {
    const std::uint32_t from = setting.layout.host_of[row.from];
    // Neighbours in the row are mostly on one host.
    std::vector<double> values;
    for (std::size_t index = 0; index < row.values.size();) {
      const std::uint32_t to = setting.layout.host_of[row.partner(index)];
      values.clear();
      for (; index < row.values.size() && setting.layout.host_of[row.partner(index)] == to; ++index)
        values.push_back(static_cast<double>(row.values[index]));
      const Middle middle = middle_of(values);
      if (to != from && middle.num > 0)
        found[worker].push_back({from * num_hosts + to, static_cast<float>(middle.median)});
    }
  });
  std::vector<Cell> all;
  for (auto& of_worker : found) all.insert(all.end(), of_worker.begin(), of_worker.end());
  if (!rows.is_whole()) {
    all =
        entries_of<Cell>(rows.all_reduce(bytes_of(std::span<const Cell>(all)),
                                         [](std::string left, std::string_view right) { return left.append(right); }));
  }
  std::ranges::sort(
      all, [](const Cell& a, const Cell& b) { return a.cell != b.cell ? a.cell < b.cell : a.value < b.value; });
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t end = begin;
    while (end < all.size() && all[end].cell == all[begin].cell) ++end;
    times[all[begin].cell] = all[begin + (end - begin) / 2].value;
    begin = end;
  }
  return times;
}

double share_of_sorted(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

/// Greedy search over pairs of hosts. An element is a part of the routes, then each host, then each switch with hosts.
class PartSearch {
 public:
  PartSearch(const Rows& rows, const Setting& setting, const DiagnosisSettings& settings, bool is_round_trip)
      : setting_(setting),
        routes_(setting.layout.routes),
        num_hosts_(setting.hosts.num_groups()),
        num_parts_(routes_.parts.size()),
        is_round_trip_(is_round_trip),
        times_(host_times(rows, setting)) {
    find_slow(std::log1p(settings.threshold));
  }

  RoutedParts run();

 private:
  struct Count {
    double num = 0, num_slow = 0;
  };

  std::size_t num_elements() const {
    return num_parts_ + num_hosts_ + *std::ranges::max_element(routes_.leaf_of) + std::size_t{1};
  }
  void find_slow(double least);
  template <typename Look>
  void visit(std::uint32_t from, std::uint32_t to, const Look& look) const;
  std::size_t num_passes(std::uint32_t part, std::uint32_t from, std::uint32_t to) const;
  std::vector<Count> count(const std::vector<std::uint8_t>& is_explained) const;
  bool is_more_than_ends(std::uint32_t part, const std::vector<std::uint8_t>& is_explained) const;
  std::optional<Suspect> suspect_of(std::uint32_t part, const std::vector<std::uint8_t>& is_explained,
                                    RoutedParts& found) const;

  const Setting& setting_;
  const network::Routes& routes_;
  std::uint32_t num_hosts_;
  std::size_t num_parts_;
  bool is_round_trip_;
  std::vector<float> times_;
  std::vector<std::uint8_t> is_slow_;
  std::vector<double> base_;  ///< by class
};

void PartSearch::find_slow(double least) {
  std::vector<std::vector<double>> of_class(setting_.classes.size());
  const auto class_of = [&](std::uint32_t from, std::uint32_t to) {
    return setting_.classes.of(setting_.hosts.of(from).front(), setting_.hosts.of(to).front());
  };
  for (std::uint32_t from = 0; from < num_hosts_; ++from) {
    for (std::uint32_t to = 0; to < num_hosts_; ++to) {
      const float time = times_[std::size_t{from} * num_hosts_ + to];
      if (!std::isnan(time)) of_class[class_of(from, to)].push_back(static_cast<double>(time));
    }
  }
  base_.assign(of_class.size(), 0);
  std::vector<double> slow_from(of_class.size(), std::numeric_limits<double>::infinity());
  for (std::size_t pair_class = 0; pair_class < of_class.size(); ++pair_class) {
    auto& times = of_class[pair_class];
    if (times.empty()) continue;
    std::ranges::sort(times);
    base_[pair_class] = share_of_sorted(times, share_of_base);
    const double noise = base_[pair_class] - share_of_sorted(times, share_of_least);
    slow_from[pair_class] = base_[pair_class] + noise + std::max(least, noises_of_slow * noise);
  }
  is_slow_.assign(times_.size(), 0);
  for (std::uint32_t from = 0; from < num_hosts_; ++from) {
    for (std::uint32_t to = 0; to < num_hosts_; ++to) {
      const std::size_t at = std::size_t{from} * num_hosts_ + to;
      if (std::isnan(times_[at])) continue;
      const std::uint8_t pair_class = class_of(from, to);
      is_slow_[at] = static_cast<double>(times_[at]) > slow_from[pair_class] ? 1 : 0;
      times_[at] -= static_cast<float>(base_[pair_class]);
    }
  }
}

/// Every element that a pair meets, once.
template <typename Look>
void PartSearch::visit(std::uint32_t from, std::uint32_t to, const Look& look) const {
  const auto there = routes_.way(from, to);
  for (const std::uint32_t part : there) look(part);
  if (is_round_trip_) {
    for (const std::uint32_t part : routes_.way(to, from)) {
      if (std::ranges::find(there, part) == there.end()) look(part);
    }
  }
  look(num_parts_ + from), look(num_parts_ + to);
  const std::size_t leaf = num_parts_ + num_hosts_ + routes_.leaf_of[from],
                    other = num_parts_ + num_hosts_ + routes_.leaf_of[to];
  look(leaf);
  if (leaf != other) look(other);
}

std::size_t PartSearch::num_passes(std::uint32_t part, std::uint32_t from, std::uint32_t to) const {
  const auto is_on = [&](std::span<const std::uint32_t> way) {
    return std::ranges::find(way, part) != way.end() ? std::size_t{1} : std::size_t{0};
  };
  return is_on(routes_.way(from, to)) + (is_round_trip_ ? is_on(routes_.way(to, from)) : 0);
}

/// By element, of the pairs that none before it explains.
std::vector<PartSearch::Count> PartSearch::count(const std::vector<std::uint8_t>& is_explained) const {
  std::vector<Count> counts(num_elements());
  for (std::uint32_t from = 0; from < num_hosts_; ++from) {
    for (std::uint32_t to = 0; to < num_hosts_; ++to) {
      const std::size_t at = std::size_t{from} * num_hosts_ + to;
      if (std::isnan(times_[at]) || is_explained[at] != 0) continue;
      visit(from, to, [&](std::size_t element) {
        ++counts[element].num;
        counts[element].num_slow += is_slow_[at];
      });
    }
  }
  return counts;
}

/// What the pairs that nothing else explains show. Of a round trip the effect is that of passing it there and back, or
/// follows from passing it once.
std::optional<Suspect> PartSearch::suspect_of(std::uint32_t part, const std::vector<std::uint8_t>& is_explained,
                                              RoutedParts& found) const {
  std::array<std::vector<double>, most_passes + 1> shown;
  for (std::uint32_t from = 0; from < num_hosts_; ++from) {
    for (std::uint32_t to = 0; to < num_hosts_; ++to) {
      const std::size_t at = std::size_t{from} * num_hosts_ + to;
      if (std::isnan(times_[at]) || is_explained[at] != 0) continue;
      if (const std::size_t passes = num_passes(part, from, to); passes > 0)
        shown[passes].push_back(static_cast<double>(times_[at]));
    }
  }
  const Middle once = middle_of(shown[1]), twice = middle_of(shown[2]);
  if (once.num + twice.num == 0) return std::nullopt;
  std::array<float, most_passes + 1>& excess = found.excess[part];
  Suspect suspect;
  suspect.is_of_both_ways = twice.num > 0;
  suspect.effect = twice.num > 0    ? twice.median
                   : is_round_trip_ ? std::log(2 * std::exp(once.median) - 1)
                                    : once.median;
  const Middle& best = twice.num > 0 ? twice : once;
  suspect.error = std::max(best.spread, least_spread) * median_efficiency / std::sqrt(static_cast<double>(best.num));
  excess[1] = static_cast<float>(once.num > 0 ? once.median : suspect.effect / 2);
  excess[2] = static_cast<float>(suspect.effect);
  const bool is_switch = routes_.parts[part].is_switch();
  suspect.component = {is_switch ? ComponentKind::network_switch : ComponentKind::cable, -1,
                       static_cast<std::int32_t>(part), -1, -1};
  suspect.is_before_fit = true;
  for (std::uint32_t from = 0; from < num_hosts_; ++from) {
    for (std::uint32_t to = 0; to < num_hosts_; ++to) {
      const bool is_measured = !std::isnan(times_[std::size_t{from} * num_hosts_ + to]);
      if (is_measured && num_passes(part, from, to) > 0)
        suspect.num_pairs += setting_.hosts.of(from).size() * setting_.hosts.of(to).size();
    }
  }
  return suspect;
}

/// Whether the slow pairs that pass a part are no pairs of hosts that are as slow elsewhere, also below their switch,
/// or have no pairs elsewhere.
bool PartSearch::is_more_than_ends(std::uint32_t part, const std::vector<std::uint8_t>& is_explained) const {
  std::vector<Count> on(num_hosts_), off(num_hosts_);
  for (std::uint32_t from = 0; from < num_hosts_; ++from) {
    for (std::uint32_t to = 0; to < num_hosts_; ++to) {
      const std::size_t at = std::size_t{from} * num_hosts_ + to;
      if (std::isnan(times_[at]) || is_explained[at] != 0) continue;
      std::vector<Count>& counts = num_passes(part, from, to) > 0 ? on : off;
      for (const std::uint32_t host : {from, to}) {
        ++counts[host].num;
        counts[host].num_slow += is_slow_[at];
      }
    }
  }
  double num_slow = 0, num_by_ends = 0;
  for (std::uint32_t host = 0; host < num_hosts_; ++host) {
    num_slow += on[host].num_slow;
    if (off[host].num_slow >= least_slow_elsewhere * off[host].num) num_by_ends += on[host].num_slow;
  }
  return num_by_ends < most_by_ends * num_slow;
}

RoutedParts PartSearch::run() {
  RoutedParts found;
  found.is_round_trip = is_round_trip_;
  found.excess.assign(num_parts_, {0, 0, 0});
  found.usual.assign(base_.begin(), base_.end());
  std::vector<std::uint8_t> is_explained(times_.size(), 0);
  std::vector<std::uint8_t> is_done(num_elements(), 0);
  const double least = least_gain_of_part + std::log(static_cast<double>(num_elements()));
  const double of_slow = std::log(at_fault / slow_by_chance),
               of_sound = std::log((1 - at_fault) / (1 - slow_by_chance));
  while (true) {
    const std::vector<Count> counts = count(is_explained);
    std::size_t best = 0;
    double most = least;
    for (std::size_t element = 0; element < counts.size(); ++element) {
      const Count& one = counts[element];
      if (is_done[element] != 0 || one.num == 0 || one.num_slow < least_slow * one.num) continue;
      // Both orders of a round trip are one measurement.
      const double gain = (one.num_slow * of_slow + (one.num - one.num_slow) * of_sound) / (is_round_trip_ ? 2 : 1);
      if (gain > most) most = gain, best = element + 1;
    }
    if (best == 0) return found;
    const std::size_t element = best - 1;
    is_done[element] = 1;
    if (element < num_parts_) {
      const auto part = static_cast<std::uint32_t>(element);
      if (!is_more_than_ends(part, is_explained)) continue;
      if (auto suspect = suspect_of(part, is_explained, found)) {
        suspect->p_value = std::exp(-most);
        found.suspects.push_back(*suspect);
      }
    }
    for (std::uint32_t from = 0; from < num_hosts_; ++from) {
      for (std::uint32_t to = 0; to < num_hosts_; ++to) {
        std::uint8_t& explained = is_explained[std::size_t{from} * num_hosts_ + to];
        if (explained == 0)
          visit(from, to, [&](std::size_t other) {
            if (other == element) explained = 1;
          });
      }
    }
  }
}

class RowsWithoutParts final : public ChangedRows {
 public:
  RowsWithoutParts(const Rows& rows, const Setting& setting, const RoutedParts& parts)
      : ChangedRows(rows), setting_(setting), layout_(setting.layout), parts_(parts) {}

 private:
  void change(const Row& row, std::span<float> values) const override {
    // Neighbours in the row are mostly on one host, which all that is added depends on.
    const std::uint32_t from = layout_.host_of[row.from];
    std::uint32_t last = from;
    float excess = 0, usual = 0;
    for (std::size_t index = 0; index < values.size(); ++index) {
      const std::uint32_t to = layout_.host_of[row.partner(index)];
      if (to != last) {
        last = to;
        excess = added(from, to);
        if (excess != 0) usual = parts_.usual[setting_.classes.of(row.from, row.partner(index))];
      }
      if (excess != 0) values[index] = std::max(values[index] - excess, std::min(values[index], usual));
    }
  }

  /// By slow parts to a pair of hosts.
  float added(std::uint32_t from, std::uint32_t to) const {
    if (from == to) return 0;
    float sum = 0;
    for (const Suspect& one : parts_.suspects) {
      const auto part = static_cast<std::uint32_t>(one.component.first);
      const auto is_on = [&](std::span<const std::uint32_t> way) {
        return std::ranges::find(way, part) != way.end() ? std::size_t{1} : std::size_t{0};
      };
      const std::size_t passes =
          is_on(layout_.routes.way(from, to)) + (parts_.is_round_trip ? is_on(layout_.routes.way(to, from)) : 0);
      if (passes > 0) sum += parts_.excess[part][passes];
    }
    return sum;
  }

  const Setting& setting_;
  const Layout& layout_;
  const RoutedParts& parts_;
};

}  // namespace

RoutedParts find_routed_parts(const Rows& rows, const Setting& setting, const DiagnosisSettings& settings,
                              bool is_round_trip) {
  const bool is_comparable = setting.hosts.num_groups() >= fewest_to_compare;
  if (setting.layout.routes.parts.empty() || !is_comparable || !why_not_used(rows, setting).empty()) return {};
  return PartSearch(rows, setting, settings, is_round_trip).run();
}

std::string why_not_used(const Rows& rows, const Setting& setting) {
  const std::uint32_t num_hosts = setting.hosts.num_groups();
  if (setting.layout.routes.parts.empty()) return "";
  if (num_hosts > most_hosts_of_routes) {
    return fmt::format("of more than {} hosts forwarding tables are not used", most_hosts_of_routes);
  }
  if (!rows.is_whole() && std::size_t{rows.num_ranks()} * num_hosts > most_cells_of_run) {
    return "forwarding tables are not used at the end of a run of so many ranks and hosts: leadline diagnose uses them";
  }
  return "";
}

std::unique_ptr<Rows> without_routed_parts(const Rows& rows, const Setting& setting, const RoutedParts& parts) {
  return std::make_unique<RowsWithoutParts>(rows, setting, parts);
}

}  // namespace leadline::diagnosis
