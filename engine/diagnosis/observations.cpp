// SPDX-License-Identifier: Apache-2.0
// Joins what was measured of each pair, asks the diagnosis, and leaves out what contention explains.
#include "diagnosis/observations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/exchange.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/reference.hpp"
#include "diagnosis/rows.hpp"
#include "network/hostlist.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::size_t fewest_partners = 3;  // fewer do not tell whether a rank is slow or what is between
constexpr double most_unlike = 0.25;        // effects that differ by less than this share may have a common reason
constexpr double least_margin = 0.1;        // logarithm: by so much a slow host shows less hardly ever by chance
constexpr double share_alone = 0.5;         // of an effect under load that must be there alone
constexpr double least_of_link = 0.25;      // share of time
constexpr double spreads_of_link = 6;  // by which a link is slower alone than others are; of many pairs few were tried
constexpr double least_spread_alone = 0.02;
constexpr std::size_t fewest_alone = 5;          // that tell what is usual
constexpr std::size_t fewest_slow_partners = 2;  // that a slow end has alone
constexpr std::size_t most_slow_alone = 3;       // more have a common reason, which is none of them
constexpr double least_share_of_load = 1.5;      // far pairs lose so much more under load than near ones do
constexpr std::size_t most_shown_alone = 8;      // pairs of a fault

auto ends_of(const Observation& one) { return std::tuple(one.from, one.to); }

/// Calls visit(times of a pair) for observations that are sorted by pair.
template <typename Visit>
void for_each_pair(std::span<const Observation> sorted, const Visit& visit) {
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin;
    while (end < sorted.size() && ends_of(sorted[end]) == ends_of(sorted[begin])) ++end;
    visit(sorted.subspan(begin, end - begin));
    begin = end;
  }
}

void append(std::span<const Observation> sorted, SparseRows& rows) {
  std::vector<std::uint32_t> partners;
  std::vector<double> logarithms;
  auto next = sorted.begin();
  for (std::uint32_t from = 0; from < rows.num_ranks(); ++from) {
    partners.clear();
    logarithms.clear();
    for (; next != sorted.end() && next->from == from; ++next) {
      partners.push_back(next->to);
      logarithms.push_back(std::log(next->time_ns));
    }
    rows.append(partners, logarithms);
  }
}

/// Ordered pairs that could have been measured: of ranks that were, on different hosts where no pair was inside one.
std::uint64_t num_possible(std::span<const Observation> sorted, const Layout& layout) {
  std::set<std::uint32_t> ranks;
  bool is_any_inside = false;
  for (const Observation& one : sorted) {
    ranks.insert({one.from, one.to});
    is_any_inside = is_any_inside || layout.host_of[one.from] == layout.host_of[one.to];
  }
  std::map<std::uint32_t, std::uint64_t> ranks_of_host;
  for (const std::uint32_t rank : ranks) ++ranks_of_host[layout.host_of[rank]];
  std::uint64_t num = ranks.size() * (ranks.size() - std::min<std::size_t>(ranks.size(), 1));
  if (is_any_inside) return num;
  for (const auto& [host, num_ranks] : ranks_of_host) num -= num_ranks * (num_ranks - 1);
  return num;
}

/// Whether half of the ranks that were measured have met enough others.
bool has_enough_partners(std::span<const Observation> sorted) {
  std::map<std::uint32_t, std::set<std::uint32_t>> partners;
  for (const Observation& one : sorted) {
    partners[one.from].insert(one.to);
    partners[one.to].insert(one.from);
  }
  const auto num = static_cast<std::size_t>(
      std::ranges::count_if(partners, [](const auto& of_rank) { return of_rank.second.size() >= fewest_partners; }));
  return 2 * num >= partners.size() && num > 0;
}

bool is_of_host(const Fault& fault, const Setting& setting) {
  const ComponentKind kind = fault.component.kind;
  return kind == ComponentKind::host || kind == ComponentKind::port ||
         (kind == ComponentKind::rank && setting.has_one_rank_a_host());
}

/// What is slow with all others is slow by itself; what is fast with some shares a way to the others.
class SharedWays {
 public:
  SharedWays(std::span<const Observation> pairs, const Setting& setting, const Diagnosis& diagnosis);

  /// Whether its host was found slow, by itself or not.
  bool concern(std::uint32_t rank) const { return of_rank(rank) != nullptr; }

  /// Those hosts are no faults any more; where nothing is known of the network, groups of them become one each.
  void take_out_of(Diagnosis& diagnosis) const;

 private:
  struct Accused {
    std::uint32_t host = 0;
    double effect = 0;
    std::size_t fault = 0;  ///< its position
    bool is_cleared = false;
    std::size_t group = 0;  ///< the number of one of the accused
  };

  const Accused* of_rank(std::uint32_t rank) const {
    const auto found = index_of_host_.find(setting_.layout.host_of[rank]);
    return found == index_of_host_.end() ? nullptr : &accused_[found->second];
  }
  Accused* of_rank(std::uint32_t rank) { return const_cast<Accused*>(std::as_const(*this).of_rank(rank)); }
  void join_those_that_met_none(std::span<const Observation> pairs);
  std::map<std::size_t, std::vector<const Accused*>> groups() const;
  Fault fault_of(const std::vector<const Accused*>& group, const Diagnosis& diagnosis) const;

  const Setting& setting_;
  std::vector<Accused> accused_;
  std::map<std::uint32_t, std::size_t> index_of_host_;
};

/// By class, of pairs without accused ends: logarithms, and their lower quartile, since more than half may share ways.
struct UsualOfClass {
  std::vector<double> values;
  double quartile = 0;
  std::size_t num = 0;
};

SharedWays::SharedWays(std::span<const Observation> pairs, const Setting& setting, const Diagnosis& diagnosis)
    : setting_(setting) {
  for (std::size_t index = 0; index < diagnosis.faults.size(); ++index) {
    const Fault& fault = diagnosis.faults[index];
    if (!is_of_host(fault, setting) || fault.is_note) continue;
    const auto first = static_cast<std::uint32_t>(fault.component.first);
    const std::uint32_t host = fault.component.kind == ComponentKind::rank ? setting.layout.host_of[first] : first;
    if (!index_of_host_.try_emplace(host, accused_.size()).second) continue;
    accused_.push_back({host, std::log(fault.ratio), index, false, accused_.size()});
  }
  if (accused_.empty()) return;
  std::vector<UsualOfClass> usual(setting.classes.size());
  for (const Observation& one : pairs) {
    if (of_rank(one.from) != nullptr || of_rank(one.to) != nullptr) continue;
    usual[setting.classes.of(one.from, one.to)].values.push_back(std::log(one.time_ns));
  }
  for (UsualOfClass& one : usual) {
    one.num = one.values.size();
    std::ranges::sort(one.values);
    if (one.num > 0) one.quartile = stats::quantile_of_sorted(one.values, better_quarter);
  }
  for (const Observation& one : pairs) {
    const std::uint8_t of_class = setting.classes.of(one.from, one.to);
    if (PairClasses::is_inside(of_class) || usual[of_class].num < fewest_to_compare) continue;
    const double shown = std::log(one.time_ns) - usual[of_class].quartile;
    const auto is_fast = [&](const Accused& end) {
      return shown < end.effect - std::max(end.effect / 2, least_margin);
    };
    Accused *const from = of_rank(one.from), *const to = of_rank(one.to);
    for (Accused* const end : {from, to}) {
      if (end != nullptr && is_fast(*end)) end->is_cleared = true;
    }
    if (from == nullptr || to == nullptr || !is_fast(*from) || !is_fast(*to)) continue;
    const std::size_t kept = std::min(from->group, to->group), gone = std::max(from->group, to->group);
    for (Accused& any : accused_) {
      if (any.group == gone) any.group = kept;
    }
  }
  join_those_that_met_none(pairs);
}

/// A host that is as slow as a group and was measured with nobody of it may belong to it.
void SharedWays::join_those_that_met_none(std::span<const Observation> pairs) {
  std::set<std::pair<std::uint32_t, std::size_t>> met;  // host, group
  for (const Observation& one : pairs) {
    const Accused *const from = of_rank(one.from), *const to = of_rank(one.to);
    if (from == nullptr || to == nullptr) continue;
    met.insert({from->host, to->group});
    met.insert({to->host, from->group});
  }
  for (Accused& one : accused_) {
    if (one.is_cleared) continue;
    for (const auto& [group, members] : groups()) {
      const bool is_alike = std::abs(one.effect - members.front()->effect) < most_unlike * members.front()->effect;
      if (!is_alike || met.contains({one.host, group})) continue;
      one.group = group;
      one.is_cleared = true;
      break;
    }
  }
}

/// Of two hosts and more.
std::map<std::size_t, std::vector<const SharedWays::Accused*>> SharedWays::groups() const {
  std::map<std::size_t, std::vector<const Accused*>> all;
  for (const Accused& one : accused_) {
    if (one.is_cleared) all[one.group].push_back(&one);
  }
  std::erase_if(all, [](const auto& group) { return group.second.size() < 2; });
  for (auto& [number, members] : all) std::ranges::sort(members, {}, &Accused::host);
  return all;
}

Fault SharedWays::fault_of(const std::vector<const Accused*>& group, const Diagnosis& diagnosis) const {
  std::vector<const Fault*> faults;
  for (const Accused* one : group) faults.push_back(&diagnosis.faults[one->fault]);
  std::ranges::sort(faults, {}, [](const Fault* fault) { return fault->ratio; });
  Fault shared = *faults[faults.size() / 2];
  shared.component = {ComponentKind::uplink, 0, static_cast<std::int32_t>(group.front()->host), -1, -1};
  shared.ratio_low = faults.front()->ratio_low;
  shared.ratio_high = faults.back()->ratio_high;
  shared.num_pairs = 0;
  shared.hosts.clear();
  std::vector<std::string> names;
  for (const Accused* one : group) {
    const Fault& fault = diagnosis.faults[one->fault];
    shared.num_pairs += fault.num_pairs;
    shared.hosts.push_back(host_number(setting_.layout, static_cast<std::int32_t>(one->host)));
    names.push_back(host_name(setting_, static_cast<std::int32_t>(one->host)));
    if (list_of(fault) < list_of(shared)) shared.persistence = fault.persistence;
  }
  name_concerned(setting_, shared);
  shared.name = fmt::format("the way between {} and the others", network::folded_hostlist(names));
  shared.ruled_out = {
      fmt::format("not these {} hosts: they are faster with each other than with the others", group.size())};
  shared.advice = "Look at the switch that they share and at its uplinks; --topology says which that is.";
  return shared;
}

void SharedWays::take_out_of(Diagnosis& diagnosis) const {
  std::vector<Fault> kept;
  if (setting_.layout.network.levels.empty()) {
    for (const auto& [number, group] : groups()) kept.push_back(fault_of(group, diagnosis));
  }
  std::set<std::size_t> gone;
  for (const Accused& one : accused_) {
    if (one.is_cleared) gone.insert(one.fault);
  }
  for (std::size_t index = 0; index < diagnosis.faults.size(); ++index) {
    if (!gone.contains(index)) kept.push_back(std::move(diagnosis.faults[index]));
  }
  diagnosis.faults = std::move(kept);
}

Suspect suspect_of(const Fault& fault) {
  Suspect suspect;
  suspect.component = fault.component;
  suspect.direction = fault.direction;
  suspect.effect = std::log(fault.ratio);
  return suspect;
}

/// What pairs take alone: logarithms, without what others of their class take. Under load the network is shared, so the
/// time that it lets expect says nothing about a pair alone.
class AlonePairs {
 public:
  AlonePairs(const ObservedSlice& slice, const Setting& setting, const Diagnosis& diagnosis);

  /// Fills in what alone measurements say of faults of the network, hosts and ranks.
  void judge(Diagnosis& diagnosis) const;

  /// Hosts, ranks and links that are slow alone and that the load has hidden; none of hosts that `is_explained`.
  void add_slow(Diagnosis& diagnosis, const std::function<bool(std::uint32_t rank)>& is_explained) const;

 private:
  bool knows_usual() const { return of_all_.num >= fewest_alone; }
  double effect_of(const Observation& one) const;

  struct Slow {
    Observation pair;
    double effect = 0;
    bool is_best_of_several = false;
  };
  Fault fault_of(Component component, std::span<const Slow> slow, double spread) const;
  Fault fault_of_end(std::uint32_t host, std::span<const Slow> slow, double spread) const;
  Fault fault_of_link(const Slow& slow, double spread) const;

  const ObservedSlice& slice_;
  const Setting& setting_;
  std::vector<Middle> usual_;  ///< by class
  Middle of_all_;              ///< between hosts, or inside where there is one
};

AlonePairs::AlonePairs(const ObservedSlice& slice, const Setting& setting, const Diagnosis& diagnosis)
    : slice_(slice), setting_(setting) {
  std::vector<std::vector<double>> sound(setting.classes.size());
  std::vector<double> all;
  for (const Observation& one : slice.alone) {
    const auto explains = [&](const Fault& fault) {
      const Suspect suspect = suspect_of(fault);
      return belongs(setting, suspect, one.from, one.to) || belongs(setting, suspect, one.to, one.from);
    };
    if (std::ranges::any_of(diagnosis.faults, explains)) continue;
    sound[setting.classes.of(one.from, one.to)].push_back(std::log(one.time_ns));
    all.push_back(std::log(one.time_ns));
  }
  for (auto& values : sound) usual_.push_back(middle_of(std::move(values)));
  of_all_ = middle_of(std::move(all));
}

double AlonePairs::effect_of(const Observation& one) const {
  const Middle& of_class = usual_[setting_.classes.of(one.from, one.to)];
  return std::log(one.time_ns) - (of_class.num >= fewest_alone ? of_class : of_all_).median;
}

void AlonePairs::judge(Diagnosis& diagnosis) const {
  if (!knows_usual()) return;
  for (Fault& fault : diagnosis.faults) {
    const Suspect suspect = suspect_of(fault);
    std::vector<double> shown;
    for (const auto* measured : {&slice_.alone, &slice_.retested}) {
      for (const Observation& one : *measured) {
        if (belongs(setting_, suspect, one.from, one.to) || belongs(setting_, suspect, one.to, one.from))
          shown.push_back(effect_of(one));
      }
    }
    const Middle middle = middle_of(std::move(shown));
    if (middle.num == 0) continue;
    fault.ratio_alone = std::exp(middle.median);
    const bool is_there = middle.median >= share_alone * suspect.effect;
    fault.persistence = is_there ? Persistence::persistent : Persistence::only_under_load;
  }
}

/// What the load hides: pairs that are slow alone, by the end that most of them have in common while there is one, and
/// the rest as links.
void AlonePairs::add_slow(Diagnosis& diagnosis, const std::function<bool(std::uint32_t rank)>& is_explained) const {
  if (!knows_usual()) return;
  const double spread = std::max(of_all_.spread, least_spread_alone);
  const double least =
      std::max(std::log1p(std::max(diagnosis.settings.threshold, least_of_link)), spreads_of_link * spread);
  std::vector<Slow> slow;
  std::set<std::uint32_t> has_fast;  // hosts
  const auto& host_of = setting_.layout.host_of;
  for (const auto* measured : {&slice_.alone, &slice_.retested}) {
    for (const Observation& one : *measured) {
      const double effect = effect_of(one);
      if (effect < least / 2) has_fast.insert({host_of[one.from], host_of[one.to]});
      const auto explains = [&](const Fault& fault) {
        const bool is_of_network = fault.component.level >= 0;
        if (is_of_network && setting_.layout.network.levels.empty()) return false;  // `is_explained` knows
        const Suspect suspect = suspect_of(fault);
        return belongs(setting_, suspect, one.from, one.to) || belongs(setting_, suspect, one.to, one.from);
      };
      const bool is_of_fault = std::ranges::any_of(diagnosis.faults, explains);
      if (effect < least || is_of_fault || is_explained(one.from) || is_explained(one.to)) continue;
      slow.push_back({one, effect, measured == &slice_.retested});
    }
  }
  std::vector<Fault> found;
  while (true) {
    std::map<std::uint32_t, std::set<std::uint32_t>> partners;  // of hosts
    for (const Slow& one : slow) {
      const std::uint32_t from = host_of[one.pair.from], to = host_of[one.pair.to];
      partners[from].insert(to);
      partners[to].insert(from);
    }
    std::erase_if(partners, [&](const auto& host) { return has_fast.contains(host.first); });
    const auto most = std::ranges::max_element(partners, {}, [](const auto& host) { return host.second.size(); });
    if (most == partners.end() || most->second.size() < fewest_slow_partners) break;
    std::vector<Slow> of_host;
    for (const Slow& one : slow) {
      if (host_of[one.pair.from] == most->first || host_of[one.pair.to] == most->first) of_host.push_back(one);
    }
    found.push_back(fault_of_end(most->first, of_host, spread));
    std::erase_if(slow, [&](const Slow& one) {
      return host_of[one.pair.from] == most->first || host_of[one.pair.to] == most->first;
    });
  }
  // One of many pairs may have been disturbed: only the best of several measurements makes a link.
  std::erase_if(slow, [](const Slow& one) { return !one.is_best_of_several; });
  std::vector<Fault> links;
  std::vector<double> p_values;
  for (const Slow& one : slow) p_values.push_back(links.emplace_back(fault_of_link(one, spread)).p_value);
  const std::vector<bool> stays =
      stats::rejected(p_values, slice_.retested.size(), diagnosis.settings.false_discovery_rate);
  for (std::size_t index = 0; index < links.size(); ++index) {
    if (stays[index]) found.push_back(std::move(links[index]));
  }
  if (found.size() <= most_slow_alone) {
    diagnosis.faults.insert(diagnosis.faults.end(), found.begin(), found.end());
    return;
  }
  diagnosis.notes.push_back(
      fmt::format("{} hosts, ranks or links are slow alone, too: so many have something in common, and none of them is "
                  "called a fault",
                  found.size()));
}

Fault AlonePairs::fault_of(Component component, std::span<const Slow> slow, double spread) const {
  std::vector<double> effects;
  Fault fault;
  for (const Slow& one : slow) {
    effects.push_back(one.effect);
    if (fault.pairs.size() == most_shown_alone) continue;
    fault.pairs.push_back({static_cast<std::int32_t>(one.pair.from), static_cast<std::int32_t>(one.pair.to),
                           one.pair.time_ns, one.pair.time_ns / std::exp(one.effect)});
  }
  const Middle middle = middle_of(std::move(effects));
  const double error = std::max(spread, middle.spread);
  fault.component = component;
  name_concerned(setting_, fault);
  fault.name = name_of_component(setting_, component, fault.direction);
  fault.ratio = fault.ratio_alone = std::exp(middle.median);
  fault.ratio_low = std::exp(middle.median - both_sides * error);
  fault.ratio_high = std::exp(middle.median + both_sides * error);
  fault.p_value = stats::student_t_tail(middle.median / error, degrees_of_freedom(of_all_.num));
  fault.num_pairs = 2 * slow.size();
  fault.advice = advice_for(setting_, suspect_of(fault), Symptom::slow);
  fault.persistence = Persistence::persistent;
  return fault;
}

/// The host; of several ranks the one that all of these pairs have.
Fault AlonePairs::fault_of_end(std::uint32_t host, std::span<const Slow> slow, double spread) const {
  std::set<std::uint32_t> ranks;
  for (const Slow& one : slow) {
    ranks.insert(setting_.layout.host_of[one.pair.from] == host ? one.pair.from : one.pair.to);
  }
  const bool is_rank = ranks.size() == 1 && !setting_.has_one_rank_a_host();
  const auto number = static_cast<std::int32_t>(is_rank ? *ranks.begin() : host);
  return fault_of({is_rank ? ComponentKind::rank : ComponentKind::host, -1, number, -1, -1}, slow, spread);
}

Fault AlonePairs::fault_of_link(const Slow& slow, double spread) const {
  const bool are_hosts = setting_.has_one_rank_a_host();
  const auto& host_of = setting_.layout.host_of;
  const auto [first, second] = std::minmax(are_hosts ? host_of[slow.pair.from] : slow.pair.from,
                                           are_hosts ? host_of[slow.pair.to] : slow.pair.to);
  return fault_of({are_hosts ? ComponentKind::link : ComponentKind::pair, -1, static_cast<std::int32_t>(first),
                   static_cast<std::int32_t>(second), -1},
                  std::span(&slow, 1), spread);
}

/// More than half of the hosts: what they share cannot be told from what is theirs.
void leave_out_most(const Setting& setting, Diagnosis& diagnosis) {
  const auto num = static_cast<std::size_t>(
      std::ranges::count_if(diagnosis.faults, [&](const Fault& fault) { return is_of_host(fault, setting); }));
  if (2 * num <= setting.hosts.num_groups()) return;
  std::erase_if(diagnosis.faults, [&](const Fault& fault) { return is_of_host(fault, setting); });
  diagnosis.notes.push_back(
      fmt::format("{} of {} hosts are slow beside the others: so many cannot be told from what they share", num,
                  setting.hosts.num_groups()));
}

/// Where pairs that are far apart lose more under load than near ones do: no fault, since networks are built so, but
/// neither is it sound.
void note_share_of_load(const ObservedSlice& slice, std::span<const Observation> pairs, const Setting& setting,
                        Diagnosis& diagnosis) {
  if (setting.layout.network.levels.empty()) return;
  std::vector<std::vector<double>> loaded(setting.classes.size()), alone(setting.classes.size());
  for (const Observation& one : pairs) loaded[setting.classes.of(one.from, one.to)].push_back(one.time_ns);
  for (const Observation& one : slice.alone) alone[setting.classes.of(one.from, one.to)].push_back(one.time_ns);
  std::optional<std::size_t> nearest;
  double of_nearest = 0;
  for (std::size_t of_class = PairClasses::first_between; of_class < setting.classes.size(); ++of_class) {
    if (std::min(loaded[of_class].size(), alone[of_class].size()) < fewest_alone) continue;
    const double ratio = middle_of(loaded[of_class]).median / middle_of(alone[of_class]).median;
    if (!nearest) {
      nearest = of_class;
      of_nearest = ratio;
    } else if (ratio >= least_share_of_load * of_nearest) {
      diagnosis.notes.push_back(fmt::format(
          "pairs of {} take {:.2g} times as long under load as alone, those of {} {:.2g} times: what lies between "
          "carries less than they ask for, as in a tapered network or behind a slow uplink",
          setting.classes.name(of_class), ratio, setting.classes.name(*nearest), of_nearest));
    }
  }
}

/// What was slow only while others were under way is no fault of a host or rank, and of a link only what it is alone:
/// others that pass the same way explain it.
void leave_out_contention(const network::Network& network, Diagnosis& diagnosis) {
  const bool has_two_groups = !network.levels.empty() && network.levels.back().names.size() == 2;
  std::size_t num = 0;
  std::erase_if(diagnosis.faults, [&](const Fault& fault) {
    switch (fault.component.kind) {
      case ComponentKind::link:
      case ComponentKind::pair:
        return true;
      case ComponentKind::cable:
        return !has_two_groups;  // of several, one that many pairs share by chance is slow as well
      case ComponentKind::network_switch:
      case ComponentKind::uplink:
        return false;
      case ComponentKind::host:
      case ComponentKind::port:
      case ComponentKind::rank:
        if (fault.persistence != Persistence::only_under_load) return false;
        ++num;
        return true;
      default:
        return fault.persistence != Persistence::persistent;
    }
  });
  if (num == 0) return;
  diagnosis.notes.push_back(
      fmt::format("{} slow only while others send: {} with others, so none of them is called a fault",
                  num == 1 ? "one host or rank is" : fmt::format("{} hosts or ranks are", num),
                  num == 1 ? "it shares a way" : "they share a way"));
}

/// What is asked for, as far as the slice allows.
DiagnosisSettings used_for(const ObservedSlice& slice, DiagnosisSettings settings) {
  if (slice.is_exchange_of_all) settings.threshold = std::max(settings.threshold, least_of_exchange);
  return settings;
}

/// Each pair under as many loads as it was measured, and some alone.
Diagnosis diagnosed_under_loads(const ObservedSlice& slice, std::span<const Observation> pairs, const Setting& setting,
                                const DiagnosisSettings& settings) {
  SparseRows rows(static_cast<std::uint32_t>(num_ranks(setting.layout)), 1);
  append(pairs, rows);
  const Question question{.rows = [&](Symptom) -> const Rows& { return rows; },
                          .layout = setting.layout,
                          .settings = settings,
                          .has_means = false,
                          .may_learn = false,
                          .load = Load::concurrent,
                          .has_many_loads = true,
                          .is_round_trip = slice.is_exchange};
  Diagnosis diagnosis = diagnose(question);
  leave_out_most(setting, diagnosis);
  const AlonePairs alone(slice, setting, diagnosis);
  alone.judge(diagnosis);
  const SharedWays shared(pairs, setting, diagnosis);
  shared.take_out_of(diagnosis);
  leave_out_contention(setting.layout.network, diagnosis);
  alone.add_slow(diagnosis, [&](std::uint32_t rank) { return shared.concern(rank); });
  note_share_of_load(slice, pairs, setting, diagnosis);
  return diagnosis;
}

}  // namespace

std::vector<Observation> joined_by_pair(std::vector<Observation> observations) {
  std::erase_if(observations, [](const Observation& one) { return !(one.time_ns > 0) || std::isinf(one.time_ns); });
  std::ranges::sort(observations, {}, [](const Observation& one) { return std::tuple(one.from, one.to, one.time_ns); });
  std::vector<Observation> joined;
  std::vector<double> times_ns;
  for_each_pair(observations, [&](std::span<const Observation> of_pair) {
    times_ns.clear();
    for (const Observation& one : of_pair) times_ns.push_back(one.time_ns);
    joined.push_back({of_pair.front().from, of_pair.front().to, stats::quantile_of_sorted(times_ns, better_quarter)});
  });
  return joined;
}

DiagnosedSlice diagnosed(const ObservedSlice& slice, const Layout& layout, const DiagnosisSettings& settings) {
  const std::vector<Observation> pairs = joined_by_pair(slice.observations);
  if (!has_enough_partners(pairs)) {
    return untested(slice, layout, settings, fmt::format("most ranks met fewer than {} others", fewest_partners));
  }
  DiagnosedSlice told{.size_index = slice.size_index,
                      .message_size_bytes = slice.message_size_bytes,
                      .pattern = slice.pattern,
                      .diagnosis = {}};
  const Setting setting(layout);
  told.diagnosis = slice.is_exchange_of_all ? diagnosed_exchange(pairs, setting, used_for(slice, settings))
                                            : diagnosed_under_loads(slice, pairs, setting, settings);
  told.diagnosis.num_pairs = num_possible(pairs, layout);
  std::ranges::stable_sort(told.diagnosis.faults, {}, list_of);
  share_time(setting, told.diagnosis);
  return told;
}

DiagnosedSlice untested(const ObservedSlice& slice, const Layout& layout, const DiagnosisSettings& settings,
                        std::string why) {
  DiagnosedSlice told{.size_index = slice.size_index,
                      .message_size_bytes = slice.message_size_bytes,
                      .pattern = slice.pattern,
                      .diagnosis = {}};
  told.diagnosis.settings = used_for(slice, settings);
  told.diagnosis.topology = layout.network.source;
  told.diagnosis.untested = std::move(why);
  return told;
}

}  // namespace leadline::diagnosis
