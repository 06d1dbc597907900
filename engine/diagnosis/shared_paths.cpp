// SPDX-License-Identifier: Apache-2.0
// Counts slow pairs between groups; adds the uplink that explains most, until none explains much.
#include "diagnosis/shared_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace leadline::diagnosis {
namespace {

constexpr std::uint32_t most_groups = 256;    // their square is counted
constexpr double least_spreads = 4;           // beyond what the ends explain, of a slow pair
constexpr double least_share_of_slow = 0.05;  // of the pairs of an uplink, or of all
constexpr double fewest_links = 5;            // between two hosts each, whose pairs would be as many
constexpr double least_excess = 3;            // of that share over the one elsewhere
constexpr double least_log_likelihood = 10;   // that an uplink gains; and the logarithm of the number of uplinks
constexpr double share_by_chance = 0.005;     // of pairs that are slow by chance, at least

/// Ordered pairs that leave their group.
struct Cell {
  std::uint64_t num = 0, num_slow = 0;
  double sum = 0;  ///< of the residuals of slow ones

  void add(const Cell& other) { num += other.num, num_slow += other.num_slow, sum += other.sum; }
  double share() const { return num == 0 ? 0 : static_cast<double>(num_slow) / static_cast<double>(num); }
};

/// Of a class, from where on a pair is slow.
double least_of_slow(const Effects::OfClass& of_class, double least_effect) {
  return std::max(least_effect, least_spreads * of_class.spread);
}

/// What ranks show with some far ones, and not with the nearest. With forwarding tables all that goes to one host takes
/// one way, so that the fit takes a slow cable for what its hosts show across it; a slow end is slow with everybody.
class EndsFarAway {
 public:
  /// `effects` outlives it.
  EndsFarAway(const Effects& effects, const Setting& setting, std::span<const Suspect> suspects,
              const DiagnosisSettings& settings)
      : effects_(effects) {
    const std::size_t num = num_ranks(setting.layout);
    out_.assign(effects.classes.size(), std::vector<float>(num, 0));
    in_ = out_;
    std::vector<std::uint8_t> is_explained(num, 0);  // by a switch or an uplink that was found
    for (const Suspect& one : suspects) {
      if (one.component.level < 0) continue;
      const auto group_of = groups_of_ranks(setting.layout, static_cast<std::size_t>(one.component.level));
      for (std::size_t rank = 0; rank < num; ++rank) {
        if (group_of[rank] == static_cast<std::uint32_t>(one.component.first)) is_explained[rank] = 1;
      }
    }
    for (std::size_t rank = 0; rank < num; ++rank) {
      if (is_explained[rank] != 0) continue;
      float least_out = std::numeric_limits<float>::quiet_NaN(), least_in = least_out;  // of classes as near
      for (std::size_t index = PairClasses::first_between; index < out_.size(); ++index) {
        least_out = std::fmin(least_out, effects.classes[index].out[rank]);
        least_in = std::fmin(least_in, effects.classes[index].in[rank]);
        const Effects::OfClass& one = effects.classes[index];
        const auto least = static_cast<float>(least_of_slow(one, std::log1p(settings.threshold)) / 2);
        set(out_[index], rank, one.out[rank] - least_out, least);
        set(in_[index], rank, one.in[rank] - least_in, least);
      }
    }
  }

  /// What the fit lets expect of a pair for it, logarithm.
  double of_pair(std::size_t pair_class, std::uint32_t from, std::uint32_t to) const {
    const float of_sender = out_[pair_class][from], of_receiver = in_[pair_class][to];
    if (of_sender == 0 && of_receiver == 0) return 0;
    const Effects::OfClass& one = effects_.classes[pair_class];
    return static_cast<double>(composed(one.composition, one.out[from], one.in[to]) -
                               composed(one.composition, one.out[from] - of_sender, one.in[to] - of_receiver));
  }

 private:
  static void set(std::vector<float>& of_class, std::size_t rank, float effect, float least) {
    if (effect >= least) of_class[rank] = effect;
  }

  const Effects& effects_;
  std::vector<std::vector<float>> out_, in_;  ///< by class and rank
};

class Counting {
 public:
  Counting(const Rows& rows, const Effects& effects, const Setting& setting, const DiagnosisSettings& settings,
           std::span<const Suspect> suspects)
      : setting_(setting), has_groups_(!setting.layout.network.levels.empty()) {
    const auto& levels = setting.layout.network.levels;
    num_groups_ = has_groups_ ? static_cast<std::uint32_t>(levels.front().names.size()) : 1;
    if (num_groups_ > most_groups) has_groups_ = false, num_groups_ = 1;
    group_of_ =
        has_groups_ ? groups_of_ranks(setting.layout, 0) : std::vector<std::uint32_t>(num_ranks(setting.layout), 0);
    count(rows, effects, EndsFarAway(effects, setting, suspects, settings), std::log1p(settings.threshold));
  }

  std::uint32_t num_groups() const { return num_groups_; }
  bool has_groups() const { return has_groups_; }

  /// Of the pairs that leave a group, or come in, without those with groups that are left out, and without the group
  /// that has most slow ones with it: those may be one cable's, or one link's.
  Cell of_group(std::uint32_t group, const std::vector<std::uint8_t>& is_left_out) const {
    Cell all, most;
    for (std::uint32_t other = 0; other < num_groups_; ++other) {
      if (other == group || is_left_out[other] != 0) continue;
      Cell between = at(group, other);
      between.add(at(other, group));
      all.add(between);
      if (between.num_slow > most.num_slow) most = between;
    }
    all.num -= most.num, all.num_slow -= most.num_slow, all.sum -= most.sum;
    return all;
  }

  /// Whether slow pairs are between most groups, not between a few, without those that are left out.
  bool are_everywhere(const std::vector<std::uint8_t>& is_left_out, double share) const {
    std::size_t num = 0, num_like_all = 0;
    for (std::uint32_t from = 0; from < num_groups_; ++from) {
      for (std::uint32_t to = 0; to < num_groups_; ++to) {
        if (is_left_out[from] != 0 || is_left_out[to] != 0 || at(from, to).num == 0) continue;
        ++num;
        num_like_all += at(from, to).share() >= share / 3 ? 1 : 0;
      }
    }
    return 2 * num_like_all > num;
  }

  /// Whether so many pairs are slow that it takes several links between hosts.
  bool are_many(std::uint64_t num_slow) const {
    const auto num_hosts = static_cast<double>(setting_.hosts.num_groups());
    const double ranks_a_host = static_cast<double>(group_of_.size()) / num_hosts;
    return static_cast<double>(num_slow) >= 2 * fewest_links * ranks_a_host * ranks_a_host;
  }

  /// Without those of groups that are left out.
  Cell of_all(const std::vector<std::uint8_t>& is_left_out) const {
    Cell all;
    for (std::uint32_t from = 0; from < num_groups_; ++from) {
      for (std::uint32_t to = 0; to < num_groups_; ++to) {
        if (is_left_out[from] == 0 && is_left_out[to] == 0) all.add(at(from, to));
      }
    }
    return all;
  }

 private:
  const Cell& at(std::uint32_t from, std::uint32_t to) const { return cells_[std::size_t{from} * num_groups_ + to]; }

  bool is_counted(std::uint32_t from, std::uint32_t to) const {
    if (setting_.layout.host_of[from] == setting_.layout.host_of[to]) return false;
    return !has_groups_ || group_of_[from] != group_of_[to];
  }

  void count(const Rows& rows, const Effects& effects, const EndsFarAway& far_away, double least_effect) {
    const std::size_t num_cells = std::size_t{num_groups_} * num_groups_;
    struct Scratch {
      std::vector<std::uint8_t> classes;
      std::vector<float> residuals;
      std::vector<Cell> cells;
    };
    std::vector<Scratch> scratch(rows.num_workers());
    for (Scratch& here : scratch) here.cells.resize(num_cells);
    rows.visit([&](std::size_t worker, const Row& row) {
      Scratch& here = scratch[worker];
      residuals_of(effects, setting_.classes, row, here.classes, here.residuals);
      for (std::size_t index = 0; index < here.residuals.size(); ++index) {
        const std::uint32_t to = row.partner(index);
        if (std::isnan(here.residuals[index]) || !is_counted(row.from, to)) continue;
        const double residual =
            static_cast<double>(here.residuals[index]) + far_away.of_pair(here.classes[index], row.from, to);
        Cell& cell = here.cells[std::size_t{group_of_[row.from]} * num_groups_ + group_of_[to]];
        ++cell.num;
        if (residual < least_of_slow(effects.classes[here.classes[index]], least_effect)) continue;
        ++cell.num_slow;
        cell.sum += residual;
      }
    });
    std::vector<std::uint64_t> counts(2 * num_cells);
    std::vector<double> sums(num_cells);
    for (const Scratch& here : scratch) {
      for (std::size_t cell = 0; cell < num_cells; ++cell) {
        counts[2 * cell] += here.cells[cell].num;
        counts[2 * cell + 1] += here.cells[cell].num_slow;
        sums[cell] += here.cells[cell].sum;
      }
    }
    add_up(rows, std::span(counts));
    add_up(rows, std::span(sums));
    for (std::size_t cell = 0; cell < num_cells; ++cell) {
      cells_.push_back({counts[2 * cell], counts[2 * cell + 1], sums[cell]});
    }
  }

  const Setting& setting_;
  bool has_groups_;
  std::uint32_t num_groups_ = 1;
  std::vector<std::uint32_t> group_of_;  ///< by rank
  std::vector<Cell> cells_;              ///< by groups
};

/// How much better a share of its own explains `num` trials than the usual one does: their Kullback-Leibler divergence.
double gain(double share, double usual, double num) {
  const double rest = share < 1 ? (1 - share) * std::log((1 - share) / (1 - usual)) : 0;
  return num * (share * std::log(share / usual) + rest);
}

}  // namespace

bool SharedPaths::explains_link(double effect, std::uint64_t num) const {
  constexpr double both_ways = 2;  // of a round trip both may pass the slow way, and (1 + x)^2 > 1 + 2x
  if (num_slow_everywhere == 0) return false;
  if (num >= num_slow_everywhere) return true;
  const double of_others =
      (sum_everywhere - effect * static_cast<double>(num)) / static_cast<double>(num_slow_everywhere - num);
  return effect < both_ways * of_others;
}

SharedPaths find_shared_paths(const Rows& rows, const Effects& effects, const Setting& setting,
                              const DiagnosisSettings& settings, std::span<const Suspect> suspects,
                              std::vector<std::string>& notes) {
  const Counting counting(rows, effects, setting, settings, suspects);
  const std::uint32_t num_groups = counting.num_groups();
  std::vector<std::uint8_t> is_slow(num_groups, 0);
  SharedPaths found;
  for (bool is_any = counting.has_groups() && num_groups >= 3; is_any;) {
    is_any = false;
    double most = least_log_likelihood + std::log(num_groups);
    Suspect best;
    for (std::uint32_t group = 0; group < num_groups; ++group) {
      if (is_slow[group] != 0) continue;
      const Cell own = counting.of_group(group, is_slow);
      is_slow[group] = 1;
      const double usual = std::max(counting.of_all(is_slow).share(), share_by_chance);
      is_slow[group] = 0;
      if (!counting.are_many(own.num_slow) || own.share() < std::max(least_share_of_slow, least_excess * usual))
        continue;
      // With forwarding tables all that goes to one host takes one way: so many independent trials, not one a pair.
      const auto num = static_cast<double>(setting.hosts.num_groups());
      const double here = gain(own.share(), usual, std::min(num, static_cast<double>(own.num)));
      if (here <= most) continue;
      most = here;
      best.component = {ComponentKind::uplink, 0, static_cast<std::int32_t>(group), -1, -1};
      best.effect = own.sum / static_cast<double>(own.num_slow);
      best.error = effects.classes.back().spread;
      best.p_value = std::exp(-here);
      best.num_pairs = own.num;
      best.share = own.share();
      is_any = true;
    }
    if (!is_any) break;
    is_slow[static_cast<std::size_t>(best.component.first)] = 1;
    found.uplinks.push_back(best);
  }
  const Cell others = counting.of_all(is_slow);
  if (others.share() < least_share_of_slow || !counting.are_many(others.num_slow)) return found;
  if (!counting.are_everywhere(is_slow, others.share())) return found;
  found.num_slow_everywhere = others.num_slow;
  found.sum_everywhere = others.sum;
  notes.push_back(fmt::format(
      "{:.0f} % of the pairs {} take about {:.2f} times as long as their ends let expect, whichever {} they connect: "
      "one of several parallel ways (a core switch, its cables), flows that share a way under load, or a disturbance "
      "of the whole test. No link that is about as slow is called a fault",
      100 * others.share(),
      counting.has_groups() ? "that leave a " + setting.layout.network.levels.front().kind : "between hosts",
      std::exp(others.sum / static_cast<double>(others.num_slow)), counting.has_groups() ? "of them" : "hosts"));
  return found;
}

}  // namespace leadline::diagnosis
