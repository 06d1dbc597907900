// SPDX-License-Identifier: Apache-2.0
// Chooses pairs of a suspect and sound pairs, and evaluates what they take when they are measured again.
#include "diagnosis/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>

#include "core/random.hpp"
#include "stats/significance.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::size_t most_of_row = 2;  // of one suspect, so that evidence comes from several senders

/// A pair that travels to all ranks: ordered by suspect, then by a hash.
struct Picked {
  std::uint32_t suspect = 0;
  std::uint32_t from = 0, to = 0;
  float value = 0;
  std::uint64_t lot = 0;
};

bool before(const Picked& a, const Picked& b) {
  return std::tie(a.suspect, a.lot, a.from, a.to) < std::tie(b.suspect, b.lot, b.from, b.to);
}

std::uint64_t lot_of(std::uint32_t from, std::uint32_t to) {
  return mix64((std::uint64_t{from} << 32 | to) * splitmix64_increment);
}

/// One direction only: the end named first sends.
bool sends_through(const Setting& setting, const Component& component, std::uint32_t from, std::uint32_t to) {
  const auto& host_of = setting.layout.host_of;
  const auto host = [&](std::uint32_t rank) { return static_cast<std::int32_t>(host_of[rank]); };
  const auto group = [&](std::uint32_t rank) {
    return static_cast<std::int32_t>(
        setting.layout.network.levels[static_cast<std::size_t>(component.level)].group_of[host_of[rank]]);
  };
  const bool is_between = host(from) != host(to);
  switch (component.kind) {
    case ComponentKind::network_switch:
      return is_between && group(from) == component.first;
    case ComponentKind::uplink:
      return group(from) == component.first && group(to) != component.first;
    case ComponentKind::cable:
      return group(from) == component.first && group(to) == component.second;
    case ComponentKind::rail:
      return is_between && static_cast<std::int32_t>(setting.hosts.slot_of[from]) == component.first;
    case ComponentKind::host:
      return host(from) == component.first;
    case ComponentKind::port:
      return is_between && host(from) == component.first;
    case ComponentKind::inside:
      return !is_between && host(from) == component.first;
    case ComponentKind::socket:
      return is_between && (component.first < 0 || host(from) == component.first) &&
             setting.layout.socket_of[from] == component.socket;
    case ComponentKind::rank:
      return static_cast<std::int32_t>(from) == component.first;
    case ComponentKind::link:
      return host(from) == component.first && host(to) == component.second;
    case ComponentKind::pair:
      return static_cast<std::int32_t>(from) == component.first && static_cast<std::int32_t>(to) == component.second;
  }
  return false;
}

/// Whether a rank is at the sending end of a component; of a component with two ends, the first one.
bool has_sender(const Setting& setting, const Component& component, std::uint32_t rank) {
  const std::uint32_t host = setting.layout.host_of[rank];
  switch (component.kind) {
    case ComponentKind::network_switch:
    case ComponentKind::uplink:
    case ComponentKind::cable: {
      const auto& level = setting.layout.network.levels[static_cast<std::size_t>(component.level)];
      return static_cast<std::int32_t>(level.group_of[host]) == component.first;
    }
    case ComponentKind::rail:
      return static_cast<std::int32_t>(setting.hosts.slot_of[rank]) == component.first;
    case ComponentKind::host:
    case ComponentKind::port:
    case ComponentKind::inside:
    case ComponentKind::link:
      return static_cast<std::int32_t>(host) == component.first;
    case ComponentKind::socket:
      return (component.first < 0 || static_cast<std::int32_t>(host) == component.first) &&
             setting.layout.socket_of[rank] == component.socket;
    case ComponentKind::rank:
    case ComponentKind::pair:
      return static_cast<std::int32_t>(rank) == component.first;
  }
  return false;
}

bool has_two_ends(const Component& component) { return component.second >= 0; }

/// About 64 rows, spread over all, for what any row can tell.
bool is_sampled(std::uint32_t rank, std::uint32_t num_ranks) {
  constexpr std::uint32_t num_sampled = 64;
  return rank % std::max<std::uint32_t>(1, num_ranks / num_sampled) == 0;
}

/// Whether a row is looked at for a suspect: those of its senders, so that long matrices are not gone through for each.
bool is_looked_at(const Setting& setting, const Suspect& suspect, std::uint32_t from) {
  if (suspect.direction != FaultDirection::in) return has_sender(setting, suspect.component, from);
  if (!has_two_ends(suspect.component))
    return is_sampled(from, static_cast<std::uint32_t>(setting.layout.host_of.size()));
  Component turned = suspect.component;
  std::swap(turned.first, turned.second);
  return has_sender(setting, turned, from);
}

/// Picks a few of each row by hash: the least of those that `concerns` names a suspect for.
template <typename LookedAt, typename Concerns>
std::vector<Picked> picked(const Rows& rows, std::size_t num_suspects, std::size_t most, const LookedAt& looked_at,
                           const Concerns& concerns) {
  std::vector<std::vector<Picked>> found(rows.num_workers());
  rows.visit([&](std::size_t worker, const Row& row) {
    std::vector<Picked> own;
    for (std::uint32_t suspect = 0; suspect < num_suspects; ++suspect) {
      if (!looked_at(suspect, row.from)) continue;
      const std::size_t begin = own.size();
      for (std::size_t index = 0; index < row.values.size(); ++index) {
        const std::uint32_t to = row.partner(index);
        if (to == row.from || std::isnan(row.values[index])) continue;
        const int rank_of_choice = concerns(suspect, row.from, to);
        if (rank_of_choice < 0) continue;
        const std::uint64_t lot = lot_of(row.from, to) >> 2 | static_cast<std::uint64_t>(rank_of_choice) << 62;
        own.push_back({suspect, row.from, to, row.values[index], lot});
        if (own.size() < begin + 2 * most_of_row) continue;
        std::sort(own.begin() + static_cast<std::ptrdiff_t>(begin), own.end(), before);
        own.resize(begin + most_of_row);
      }
      std::sort(own.begin() + static_cast<std::ptrdiff_t>(begin), own.end(), before);
      own.resize(std::min(own.size(), begin + most_of_row));
    }
    found[worker].insert(found[worker].end(), own.begin(), own.end());
  });
  std::vector<Picked> all;
  for (std::uint32_t suspect = 0; suspect < num_suspects; ++suspect) {
    std::vector<Picked> own;
    for (const auto& of_worker : found) {
      std::copy_if(of_worker.begin(), of_worker.end(), std::back_inserter(own),
                   [&](const Picked& one) { return one.suspect == suspect; });
    }
    const auto first = gather_first(rows, std::move(own), most, before);
    all.insert(all.end(), first.begin(), first.end());
  }
  return all;
}

constexpr double share_of_effect = 0.5;  // that must be there again

std::size_t index_of(Load load) { return static_cast<std::size_t>(load); }

/// NaN where nothing was measured.
double median_of(const std::vector<double>& values) {
  const Middle middle = middle_of(values);
  return middle.num > 0 ? middle.median : NAN;
}

// Steps of 1/2047 in which logarithms are kept, spread evenly, leave about this much; nothing scatters less.
constexpr double least_error = 3e-4;

/// Of at least one value, none of them NaN; reorders them.
double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

bool belongs(const Setting& setting, const Suspect& suspect, std::uint32_t from, std::uint32_t to) {
  return (suspect.direction != FaultDirection::in && sends_through(setting, suspect.component, from, to)) ||
         (suspect.direction != FaultDirection::out && sends_through(setting, suspect.component, to, from));
}

std::vector<std::vector<MeasuredPair>> evidence_for(const Rows& rows, const Setting& setting,
                                                    std::span<const Suspect> suspects, std::size_t most) {
  const auto concerns = [&](std::uint32_t index, std::uint32_t from, std::uint32_t to) {
    if (!belongs(setting, suspects[index], from, to)) return -1;
    const auto concerned = [&](const Suspect& other) {
      return &other != &suspects[index] && !other.is_note && belongs(setting, other, from, to);
    };
    return std::any_of(suspects.begin(), suspects.end(), concerned) ? 1 : 0;
  };
  std::vector<std::vector<MeasuredPair>> evidence(suspects.size());
  const auto looked_at = [&](std::uint32_t index, std::uint32_t from) {
    return is_looked_at(setting, suspects[index], from);
  };
  for (const Picked& one : picked(rows, suspects.size(), most, looked_at, concerns)) {
    evidence[one.suspect].push_back({{one.from, one.to}, static_cast<double>(one.value)});
  }
  return evidence;
}

std::vector<MeasuredPair> sound_pairs(const Rows& rows, const Setting& setting, std::span<const Suspect> suspects,
                                      std::size_t most) {
  const bool has_one_host = setting.hosts.num_groups() == 1;
  const auto concerns = [&](std::uint32_t, std::uint32_t from, std::uint32_t to) {
    if ((setting.layout.host_of[from] == setting.layout.host_of[to]) != has_one_host) return -1;
    const auto concerned = [&](const Suspect& other) { return !other.is_note && belongs(setting, other, from, to); };
    return std::any_of(suspects.begin(), suspects.end(), concerned) ? -1 : 0;
  };
  std::vector<MeasuredPair> pairs;
  const auto looked_at = [&](std::uint32_t, std::uint32_t from) { return is_sampled(from, rows.num_ranks()); };
  for (const Picked& one : picked(rows, 1, most, looked_at, concerns)) {
    pairs.push_back({{one.from, one.to}, static_cast<double>(one.value)});
  }
  return pairs;
}

std::vector<double> RetestEvaluation::values_again(std::span<const MeasuredPair> pairs, Load load) const {
  std::vector<OrderedPair> wanted;
  for (const MeasuredPair& one : pairs) wanted.push_back(one.pair);
  std::vector<double> values;
  for (const RetestTimes& again : retest_(wanted, load)) {
    values.push_back(std::log(symptom_ == Symptom::slow ? again.median_ns : again.mean_ns / again.median_ns));
  }
  return values;
}

void RetestEvaluation::calibrate(std::span<const MeasuredPair> sound, Load load) {
  if (is_calibrated_[index_of(load)]) return;
  is_calibrated_[index_of(load)] = true;
  std::vector<double> change = values_again(sound, load);
  for (std::size_t index = 0; index < change.size(); ++index) change[index] -= sound[index].value;
  const double usual = median_of(change);
  usual_[index_of(load)] = std::isnan(usual) ? 0 : usual;
}

std::vector<double> RetestEvaluation::changes(std::span<const MeasuredPair> pairs, Load load) {
  std::vector<double> change = values_again(pairs, load);
  for (std::size_t index = 0; index < change.size(); ++index) {
    change[index] -= pairs[index].value + usual_[index_of(load)];
  }
  return change;
}

void RetestEvaluation::decide(Fault& fault, const Suspect& suspect, std::span<const MeasuredPair> evidence,
                              std::span<const MeasuredPair> sound) {
  if (!is_possible() || evidence.empty()) return;
  const auto effect_in = [&](Load load) {
    calibrate(sound, load);
    return suspect.effect + median_of(changes(evidence, load));
  };
  const double alone = effect_in(Load::alone);
  if (std::isnan(alone)) return;
  fault.ratio_alone = std::exp(alone);
  if (alone >= share_of_effect * suspect.effect) {
    fault.persistence = Persistence::persistent;
    return;
  }
  if (load_ == Load::alone) {
    fault.persistence = Persistence::transient;
    return;
  }
  const double concurrent = effect_in(Load::concurrent);
  fault.persistence = Persistence::only_under_load;
  if (std::isnan(concurrent)) return;  // a file has no such measurement; alone it was as usual, so much is known
  fault.ratio_concurrent = std::exp(concurrent);
  if (concurrent < share_of_effect * suspect.effect) fault.persistence = Persistence::transient;
}

Middle middle_of(std::vector<double> values) {
  std::erase_if(values, [](double value) { return std::isnan(value); });
  Middle middle;
  middle.num = values.size();
  if (values.empty()) return middle;
  middle.median = median_in_place(values);
  for (double& value : values) value = std::abs(value - middle.median);
  middle.spread = 1.4826 * median_in_place(values);
  return middle;
}

double consensus(std::vector<double>& members, double share) {
  std::erase_if(members, [](double value) { return std::isnan(value); });
  if (members.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto at = members.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(members.size() - 1));
  std::nth_element(members.begin(), at, members.end());
  return *at;
}

double degrees_of_freedom(std::size_t num) {
  constexpr double efficiency = 0.37;  // of the MAD, over the standard deviation of normally distributed values
  constexpr double most = 10;          // a guess between the normal distribution and what real machines scatter like
  return std::clamp(efficiency * (static_cast<double>(num) - 1), 1.0, most);
}

std::vector<Suspect> judge(std::span<const Candidate> candidates, const Comparison& comparison,
                           const DiagnosisSettings& settings) {
  std::vector<double> effects;
  for (const Candidate& usual : comparison.usual) effects.push_back(usual.effect);
  const Middle middle = middle_of(effects);
  if (middle.num < fewest_to_compare) return {};
  if (middle.num <= comparison.num_fitted) return {};  // nothing is left to judge by
  const std::size_t num_free = middle.num - comparison.num_fitted;
  const double freedom = std::max(degrees_of_freedom(num_free), comparison.least_freedom);
  const double spread = middle.spread * std::sqrt(static_cast<double>(middle.num) / static_cast<double>(num_free));

  std::vector<Suspect> suspects;
  std::vector<double> p_values;
  for (const Candidate& candidate : candidates) {
    const double effect = candidate.effect - middle.median;
    if (std::isnan(effect) || effect < std::log1p(settings.threshold)) continue;
    const double error = std::max({spread, candidate.standard_error, least_error});
    const double p = stats::student_t_tail(effect / error, freedom);
    p_values.push_back(p);
    suspects.push_back({candidate.component, comparison.direction, effect, error, p, candidate.num_pairs, false});
  }
  const auto num_tests = std::max<std::uint64_t>({comparison.num_tests, middle.num, p_values.size()});
  const std::vector<bool> stays = stats::rejected(p_values, num_tests, settings.false_discovery_rate);
  std::size_t index = 0;
  std::erase_if(suspects, [&](const Suspect&) { return !stays[index++]; });
  return suspects;
}

std::vector<Suspect> judge(std::span<const Candidate> candidates, FaultDirection direction,
                           const DiagnosisSettings& settings) {
  return judge(candidates, {direction, candidates, 0, candidates.size(), 1}, settings);
}

}  // namespace leadline::diagnosis
