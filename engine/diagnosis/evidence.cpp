// SPDX-License-Identifier: Apache-2.0
// Chooses pairs of a suspect and sound pairs, and evaluates what they take when they are measured again.
#include "diagnosis/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <tuple>
#include <utility>

#include "core/random.hpp"
#include "stats/interval.hpp"

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

/// About 64 rows, spread over all, for what any row can tell.
bool is_sampled(std::uint32_t rank, std::uint32_t num_ranks) {
  constexpr std::uint32_t num_sampled = 64;
  return rank % std::max<std::uint32_t>(1, num_ranks / num_sampled) == 0;
}

/// Whether messages from one rank to another pass a part of the routes.
bool passes(const Layout& layout, const Component& component, std::uint32_t from, std::uint32_t to) {
  const auto way = layout.routes.way(layout.host_of[from], layout.host_of[to]);
  return std::ranges::find(way, static_cast<std::uint32_t>(component.first)) != way.end();
}

/// Whether all shortest paths from one rank to another have the cable between two switches of a network with hops, in
/// this direction.
bool must_pass(const Setting& setting, const Component& cable, std::uint32_t from, std::uint32_t to) {
  const network::Network& network = setting.layout.network;
  const network::Level& level = network.levels.front();
  const std::uint32_t here = level.group_of[setting.layout.host_of[from]];
  const std::uint32_t there = level.group_of[setting.layout.host_of[to]];
  const auto first = static_cast<std::uint32_t>(cable.first), second = static_cast<std::uint32_t>(cable.second);
  const auto hops = [&](std::uint32_t one) { return network.hops[std::size_t{here} * level.names.size() + one]; };
  return hops(first) < hops(second) && setting.paths->of_cable(first, second, here, there) >= sure_share;
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
  if (is_of_routes(component)) return passes(setting.layout, component, from, to);
  switch (component.kind) {
    case ComponentKind::network_switch:
      return is_between && group(from) == component.first;
    case ComponentKind::uplink:
      return group(from) == component.first && group(to) != component.first;
    case ComponentKind::cable:
      return setting.paths ? must_pass(setting, component, from, to)
                           : group(from) == component.first && group(to) == component.second;
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
    case ComponentKind::target:  // no messages pass it
      break;
  }
  return false;
}

/// Whether a rank is at the sending end of a component; of a component with two ends, the first one.
bool has_sender(const Setting& setting, const Component& component, std::uint32_t rank) {
  if (is_of_routes(component)) return is_sampled(rank, static_cast<std::uint32_t>(setting.layout.host_of.size()));
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
    case ComponentKind::target:
      break;
  }
  return false;
}

bool has_two_ends(const Component& component) { return component.second >= 0; }

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
        const int rank_of_choice = concerns(suspect, row.from, to, row.values[index]);
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

constexpr std::uint64_t many_pairs = 128;
constexpr double share_of_effect = 0.5;  // that must be there again
constexpr double least_alone = 0.18;     // logarithm: x1.2, of what many pairs have in common
constexpr double most_of_usual = 0.05;   // logarithm, beyond what is expected: of a pair that nothing suggests is slow

/// Ordered pairs that are looked up often.
class PairSet {
 public:
  explicit PairSet(std::span<const OrderedPair> pairs) {
    for (const OrderedPair& pair : pairs) {
      pairs_.emplace_back(pair.from, pair.to);
      senders_.push_back(pair.from);
    }
    std::ranges::sort(pairs_);
    std::ranges::sort(senders_);
  }

  bool has(std::uint32_t from, std::uint32_t to) const {
    return !pairs_.empty() && std::ranges::binary_search(pairs_, std::pair{from, to});
  }
  bool has_sender(std::uint32_t from) const { return std::ranges::binary_search(senders_, from); }

 private:
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::vector<std::uint32_t> senders_;
};

MeasuredPair measured_pair(const PairSource& source, const Picked& one) {
  const Effects::OfClass& of_class = source.effects.classes[source.setting.classes.of(one.from, one.to)];
  const double expected = of_class.centre + static_cast<double>(composed(of_class.composition, of_class.out[one.from],
                                                                         of_class.in[one.to]));
  return {{one.from, one.to}, static_cast<double>(one.value), expected};
}

std::size_t index_of(Load load) { return static_cast<std::size_t>(load); }

// Steps of 1/2047 in which logarithms are kept, spread evenly, leave about this much; nothing scatters less.
constexpr double least_error = 3e-4;

}  // namespace

bool belongs(const Setting& setting, const Suspect& suspect, std::uint32_t from, std::uint32_t to) {
  return (suspect.direction != FaultDirection::in && sends_through(setting, suspect.component, from, to)) ||
         (suspect.direction != FaultDirection::out && sends_through(setting, suspect.component, to, from));
}

bool may_pass(const Setting& setting, const Suspect& suspect, std::uint32_t from, std::uint32_t to) {
  const network::Network& network = setting.layout.network;
  const Component& component = suspect.component;
  if (component.kind != ComponentKind::cable || network.hops.empty()) return belongs(setting, suspect, from, to);
  const network::Level& level = network.levels.front();
  const auto hops = [&](std::uint32_t one, std::uint32_t other) {
    return network.hops[std::size_t{one} * level.names.size() + other];
  };
  const std::uint32_t here = level.group_of[setting.layout.host_of[from]];
  const std::uint32_t there = level.group_of[setting.layout.host_of[to]];
  const auto first = static_cast<std::uint32_t>(component.first), second = static_cast<std::uint32_t>(component.second);
  return hops(here, first) + 1 + hops(second, there) == hops(here, there) ||
         hops(here, second) + 1 + hops(first, there) == hops(here, there);
}

std::vector<std::vector<MeasuredPair>> evidence_for(const PairSource& source, std::span<const Suspect> suspects,
                                                    std::size_t most) {
  const Setting& setting = source.setting;
  const PairSet retested(source.retested);
  const auto concerns = [&](std::uint32_t index, std::uint32_t from, std::uint32_t to, float value) {
    if (!belongs(setting, suspects[index], from, to)) return -1;
    const Component& component = suspects[index].component;
    if (suspects[index].is_of_both_ways &&
        !(passes(setting.layout, component, from, to) && passes(setting.layout, component, to, from)))
      return -1;
    if (suspects[index].share < 1) {
      const MeasuredPair pair = measured_pair(source, {index, from, to, value, 0});
      if (pair.value - pair.expected < share_of_effect * suspects[index].effect) return -1;
    }
    const auto concerned = [&](const Suspect& other) {
      return &other != &suspects[index] && !other.is_note && belongs(setting, other, from, to);
    };
    const bool is_of_others = std::any_of(suspects.begin(), suspects.end(), concerned);
    return (retested.has(from, to) ? 0 : 2) + (is_of_others ? 1 : 0);
  };
  std::vector<std::vector<MeasuredPair>> evidence(suspects.size());
  const auto looked_at = [&](std::uint32_t index, std::uint32_t from) {
    return retested.has_sender(from) || is_looked_at(setting, suspects[index], from);
  };
  for (const Picked& one : picked(source.rows, suspects.size(), most, looked_at, concerns)) {
    evidence[one.suspect].push_back(measured_pair(source, one));
  }
  return evidence;
}

std::vector<MeasuredPair> sound_pairs(const PairSource& source, std::span<const Suspect> suspects, std::size_t most) {
  const Setting& setting = source.setting;
  const bool has_one_host = setting.hosts.num_groups() == 1;
  const PairSet retested(source.retested);
  const auto concerns = [&](std::uint32_t, std::uint32_t from, std::uint32_t to, float) {
    if (!source.retested.empty() && !retested.has(from, to)) return -1;
    if ((setting.layout.host_of[from] == setting.layout.host_of[to]) != has_one_host) return -1;
    const auto concerned = [&](const Suspect& other) { return !other.is_note && may_pass(setting, other, from, to); };
    return std::any_of(suspects.begin(), suspects.end(), concerned) ? -1 : 0;
  };
  std::vector<MeasuredPair> pairs;
  const auto looked_at = [&](std::uint32_t, std::uint32_t from) {
    return source.retested.empty() ? is_sampled(from, source.rows.num_ranks()) : retested.has_sender(from);
  };
  const std::size_t num = std::max(most, source.retested.size());
  for (const Picked& one : picked(source.rows, 1, num, looked_at, concerns)) {
    pairs.push_back(measured_pair(source, one));
  }
  return pairs;
}

std::vector<OrderedPair> random_pairs(const Rows& rows, const Layout& layout, std::size_t most) {
  const bool has_one_host = std::ranges::max(layout.host_of) == 0;
  const auto concerns = [&](std::uint32_t, std::uint32_t from, std::uint32_t to, float) {
    return (layout.host_of[from] == layout.host_of[to]) == has_one_host ? 0 : -1;
  };
  const auto looked_at = [&](std::uint32_t, std::uint32_t from) { return is_sampled(from, rows.num_ranks()); };
  std::vector<OrderedPair> pairs;
  for (const Picked& one : picked(rows, 1, most, looked_at, concerns)) pairs.push_back({one.from, one.to});
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

/// Whether pairs between hosts that take about the same alone do not under load.
bool RetestEvaluation::differ_only_under_load(std::span<const MeasuredPair> pairs,
                                              std::span<const double> alone) const {
  if (symptom_ != Symptom::slow || load_ == Load::alone) return false;
  std::vector<double> before, again;
  for (std::size_t index = 0; index < pairs.size(); ++index) {
    const OrderedPair& pair = pairs[index].pair;
    if (std::isnan(alone[index]) || layout_.host_of[pair.from] == layout_.host_of[pair.to]) continue;
    before.push_back(pairs[index].value);
    again.push_back(alone[index]);
  }
  // The slowest were chosen, and may be half of them.
  const auto between_quartiles = [](std::vector<double>& values) {
    return consensus(values, 0.75) - consensus(values, 0.25);
  };
  const double under_load = between_quartiles(before);
  return before.size() >= fewest_to_compare && under_load > 2 * spread_of_contention &&
         between_quartiles(again) < under_load / 2;
}

void RetestEvaluation::calibrate(std::span<const MeasuredPair> sound, Load load) {
  if (is_calibrated_[index_of(load)]) return;
  is_calibrated_[index_of(load)] = true;
  const std::vector<double> again = values_again(sound, load);
  is_contended_ = is_contended_ || (load == Load::alone && differ_only_under_load(sound, again));
  std::vector<double> all, of_usual, absolute;
  for (std::size_t index = 0; index < again.size(); ++index) {
    const double effect = again[index] - sound[index].expected;
    if (std::isnan(effect)) continue;
    all.push_back(effect);
    // Which flows a pair met under load says nothing of what it takes alone.
    if (is_absolute(sound[index].pair, load)) absolute.push_back(again[index]);
    if (sound[index].value - sound[index].expected < most_of_usual) of_usual.push_back(effect);
  }
  double& usual = usual_[index_of(load)];
  has_usual_[index_of(load)] = !all.empty();
  if (load == Load::alone && is_contended_) {
    is_known_alone_ = absolute.size() >= fewest_to_compare;
    usual_alone_ = uncontended_;
    if (is_known_alone_) {
      usual_alone_ = lowest_cluster(std::move(absolute), most_of_usual).middle.median;
    } else {
      for (const double of_pair : absolute) usual_alone_ = std::fmin(usual_alone_, of_pair);
    }
  }
  if (of_usual.size() >= fewest_to_compare) {
    usual = middle_of(std::move(of_usual)).median;
  } else if (!all.empty()) {
    usual = std::min(lowest_cluster(std::move(all), most_of_usual).middle.median, 0.0);
  }
}

std::vector<double> RetestEvaluation::effects(std::span<const MeasuredPair> pairs, Load load, double in_ends,
                                              bool is_of_many) {
  std::vector<double> effects = values_again(pairs, load);
  for (std::size_t index = 0; index < effects.size(); ++index) {
    const double beyond_others = effects[index] - usual_alone_;
    effects[index] += in_ends - pairs[index].expected - usual_[index_of(load)];
    if (!is_absolute(pairs[index].pair, load) || std::isnan(usual_alone_)) continue;
    effects[index] = is_of_many ? beyond_others : std::min(effects[index], beyond_others);
  }
  return effects;
}

void RetestEvaluation::decide(Fault& fault, const Suspect& suspect, std::span<const MeasuredPair> evidence,
                              std::span<const MeasuredPair> sound) {
  if (!is_possible() || evidence.empty()) return;
  // The fit knows what a link or a pair should take; what a component shows is in its ends.
  const bool is_beyond_ends =
      (has_two_ends(suspect.component) && !suspect.is_whole_class) || suspect.share < 1 || suspect.is_before_fit;
  const auto effect_in = [&](Load load) {
    calibrate(sound, load);
    const double in_ends = is_beyond_ends ? 0 : suspect.effect;
    return middle_of(effects(evidence, load, in_ends, !is_beyond_ends || suspect.is_before_fit));
  };
  const Middle alone = effect_in(Load::alone);
  if (alone.num == 0) return;
  fault.ratio_alone = std::exp(alone.median);
  // Under load a component can be slower still.
  const bool is_slow_alone = alone.num >= fewest_to_compare && suspect.num_pairs >= many_pairs &&
                             alone.median >= least_alone + 3 * alone.spread / std::sqrt(static_cast<double>(alone.num));
  if (is_contended_ && is_slow_alone) {
    const double low = alone.median - both_sides * alone.spread / std::sqrt(static_cast<double>(alone.num));
    fault.ratio_low = std::max(fault.ratio_low, std::exp(std::min(low, suspect.effect)));
  }
  if (is_slow_alone || alone.median >= share_of_effect * suspect.effect) {
    fault.persistence = Persistence::persistent;
    return;
  }
  const bool is_known =
      has_usual_[index_of(Load::alone)] && (is_known_alone_ || !is_absolute(evidence.front().pair, Load::alone));
  if (load_ != Load::alone && !is_known) {
    fault.ratio_alone = 0;  // how much faster sound pairs are alone is not known
    return;
  }
  if (load_ == Load::alone) {
    fault.persistence = Persistence::transient;
    return;
  }
  const Middle concurrent = effect_in(Load::concurrent);
  if (concurrent.num > 0) {
    fault.ratio_concurrent = std::exp(concurrent.median);
    const bool is_there = concurrent.median >= share_of_effect * suspect.effect;
    fault.persistence = is_there ? Persistence::only_under_load : Persistence::transient;
    return;
  }
  // What a cable has lost shows where flows share it, so a pair alone cannot deny it.
  if (suspect.is_beyond_contention) return;
  // A file has no such measurement. One link may have been slow by chance; what many pairs have in common was not.
  if (is_beyond_ends && suspect.num_pairs < many_pairs) {
    fault.persistence = Persistence::transient;
  } else if (alone.num >= (is_contended_ && !is_beyond_ends ? 1 : fewest_to_compare)) {
    // What all pairs of an end have in common, one that is fast does not have; it is not fast by chance.
    fault.persistence = Persistence::only_under_load;
  }
}

double consensus(std::vector<double>& members, double share) {
  std::erase_if(members, [](double value) { return std::isnan(value); });
  if (members.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto at = members.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(members.size() - 1));
  std::nth_element(members.begin(), at, members.end());
  return *at;
}

double limited(double degrees_of_freedom) {
  constexpr double most = 10;  // a guess between the normal distribution and what real machines scatter like
  return std::clamp(degrees_of_freedom, 1.0, most);
}

double degrees_of_freedom(std::size_t num) { return limited(efficiency_of_mad * (static_cast<double>(num) - 1)); }

std::vector<Suspect> judge(std::span<const Candidate> candidates, const Comparison& comparison,
                           const DiagnosisSettings& settings) {
  std::vector<double> effects;
  std::vector<double> errors;
  for (const Candidate& usual : comparison.usual) {
    effects.push_back(usual.effect);
    errors.push_back(usual.standard_error);
  }
  const Reference reference = comparison.reference == Usual::majority
                                  ? majority(effects)
                                  : lowest_cluster(effects, std::max(middle_of(errors).median, least_error));
  const auto num =
      static_cast<std::size_t>(std::ranges::count_if(effects, [](double effect) { return !std::isnan(effect); }));
  if (num < fewest_to_compare || num <= comparison.num_fitted) return {};  // nothing is left to judge by
  const std::size_t num_free = num - comparison.num_fitted;
  const double share_free = static_cast<double>(num_free) / static_cast<double>(num);
  const double freedom = std::max(limited(reference.freedom * share_free), comparison.least_freedom);
  const double spread = reference.middle.spread / std::sqrt(share_free);

  std::vector<Suspect> suspects;
  std::vector<double> p_values;
  for (const Candidate& candidate : candidates) {
    const double effect = candidate.effect - reference.middle.median;
    if (std::isnan(effect) || effect < std::log1p(settings.threshold)) continue;
    const double error = std::max({spread, candidate.standard_error, least_error});
    const double p = stats::student_t_tail(effect / error, freedom);
    p_values.push_back(p);
    suspects.push_back({candidate.component, comparison.direction, effect, error, p, candidate.num_pairs, false});
  }
  const auto num_tests = std::max<std::uint64_t>({comparison.num_tests, num, p_values.size()});
  const std::vector<bool> stays = stats::rejected(p_values, num_tests, settings.false_discovery_rate);
  std::size_t index = 0;
  std::erase_if(suspects, [&](const Suspect&) { return !stays[index++]; });
  // Few that were fast by chance, or are another kind, prove nothing of the others; what is slow beside most is told.
  const bool are_few =
      !std::isinf(reference.cut) && reference.freedom + 1 < share_of_majority * static_cast<double>(num);
  if (!suspects.empty() || !are_few || comparison.reference == Usual::majority) return suspects;
  Comparison by_most = comparison;
  by_most.reference = Usual::majority;
  return judge(candidates, by_most, settings);
}

std::vector<Suspect> judge(std::span<const Candidate> candidates, FaultDirection direction,
                           const DiagnosisSettings& settings) {
  return judge(candidates, {direction, candidates, 0, candidates.size(), 1}, settings);
}

}  // namespace leadline::diagnosis
