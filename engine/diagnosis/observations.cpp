// SPDX-License-Identifier: Apache-2.0
// Joins what was measured of each pair, asks the diagnosis, and leaves out what contention explains.
#include "diagnosis/observations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "diagnosis/alone_pairs.hpp"
#include "diagnosis/diagnose.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/exchange.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/late_at_times.hpp"
#include "diagnosis/reference.hpp"
#include "diagnosis/rows.hpp"
#include "network/hostlist.hpp"
#include "stats/interval.hpp"
#include "stats/summary.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::size_t fewest_partners = 3;   // fewer do not tell whether a rank is slow or what is between
constexpr double most_unlike = 0.25;         // effects that differ by less than this share may have a common reason
constexpr double least_margin = 0.1;         // logarithm: by so much a slow host shows less hardly ever by chance
constexpr std::size_t fewest_alone = 5;      // that tell what is usual
constexpr double least_share_of_load = 1.5;  // far pairs lose so much more under load than near ones do

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
  std::vector<double> fastest(num_ranks(setting.layout), std::numeric_limits<double>::infinity());
  for (const Observation& one : pairs) {
    if (of_rank(one.from) != nullptr || of_rank(one.to) != nullptr) continue;
    const double value = std::log(one.time_ns);
    usual[setting.classes.of(one.from, one.to)].values.push_back(value);
    for (const std::uint32_t end : {one.from, one.to}) fastest[end] = std::min(fastest[end], value);
  }
  // What accused ones reach with each other is as fast as what others reach at best.
  std::vector<double> of_others;
  std::ranges::copy_if(fastest, std::back_inserter(of_others), [](double value) { return std::isfinite(value); });
  const double best_of_others = middle_of(of_others).median;
  for (std::uint32_t rank = 0; rank < fastest.size(); ++rank) {
    if (!of_others.empty() && of_rank(rank) != nullptr) fastest[rank] = best_of_others;
  }
  for (UsualOfClass& one : usual) {
    one.num = one.values.size();
    std::ranges::sort(one.values);
    if (one.num > 0) one.quartile = stats::quantile_of_sorted(one.values, better_quarter);
  }
  for (const Observation& one : pairs) {
    const std::uint8_t of_class = setting.classes.of(one.from, one.to);
    if (PairClasses::is_inside(of_class) || usual[of_class].num < fewest_to_compare) continue;
    // A near host may be reached faster than the usual one, and by others faster still.
    const double value = std::log(one.time_ns);
    const auto is_fast = [&](const Accused& end, std::uint32_t partner) {
      const double shown = value - std::min(usual[of_class].quartile, fastest[partner]);
      return shown < end.effect - std::max(end.effect / 2, least_margin);
    };
    Accused *const from = of_rank(one.from), *const to = of_rank(one.to);
    const bool is_from_fast = from != nullptr && is_fast(*from, one.to);
    const bool is_to_fast = to != nullptr && is_fast(*to, one.from);
    if (is_from_fast) from->is_cleared = true;
    if (is_to_fast) to->is_cleared = true;
    if (!is_from_fast || !is_to_fast) continue;
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
  shared.advice = "Look at the switch that they share and at its uplinks; --topology says which that is";
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

/// What was slow only while others were under way is no fault of a link, of one of several ranks of a host, nor of
/// several hosts: others that pass the same way explain it. One host alone shares its way with nobody.
void leave_out_contention(const Setting& setting, Diagnosis& diagnosis) {
  const network::Network& network = setting.layout.network;
  const bool has_two_groups = !network.levels.empty() && network.levels.back().names.size() == 2;
  std::vector<std::string> names;
  std::size_t num_hosts = 0;
  const auto is_of_end_under_load = [](const Fault& fault) {
    const ComponentKind kind = fault.component.kind;
    return (kind == ComponentKind::host || kind == ComponentKind::port || kind == ComponentKind::rank) &&
           fault.persistence == Persistence::only_under_load;
  };
  for (const Fault& fault : diagnosis.faults) {
    if (!is_of_end_under_load(fault)) continue;
    names.push_back(fault.name);
    if (fault.component.kind != ComponentKind::rank || setting.has_one_rank_a_host()) ++num_hosts;
  }
  const bool is_one_host = names.size() == 1 && num_hosts == 1;
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
        return !is_one_host && is_of_end_under_load(fault);
      default:
        return fault.persistence != Persistence::persistent;
    }
  });
  if (names.empty() || is_one_host) return;
  constexpr std::size_t most_names = 8;
  const auto end_of_named = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most_names));
  diagnosis.notes.push_back(fmt::format("slow only while others send, maybe since they share a way, so no fault: {}{}",
                                        fmt::join(names.begin(), end_of_named, ", "),
                                        end_of_named == names.end() ? "" : " ..."));
}

/// What is asked for, as far as the slice allows.
DiagnosisSettings used_for(const ObservedSlice& slice, DiagnosisSettings settings) {
  if (slice.is_exchange_of_all) settings.threshold = std::max(settings.threshold, least_of_exchange);
  return settings;
}

/// What rows of pairs show, each under as many loads as it was measured.
Diagnosis diagnosed_rows(const ObservedSlice& slice, std::span<const Observation> pairs, const Setting& setting,
                         const DiagnosisSettings& settings) {
  SparseRows rows(static_cast<std::uint32_t>(num_ranks(setting.layout)), 1);
  append(pairs, rows);
  return diagnose({.rows = [&](Symptom) -> const Rows& { return rows; },
                   .layout = setting.layout,
                   .settings = settings,
                   .has_means = false,
                   .may_learn = false,
                   .load = Load::concurrent,
                   .has_many_loads = true,
                   .is_round_trip = slice.is_exchange});
}

/// Where nothing is slow: a host that is late at times.
void add_host_late_at_times(const ObservedSlice& slice, const AlonePairs& alone, const Setting& setting,
                            const DiagnosisSettings& settings, Diagnosis& diagnosis) {
  if (!diagnosis.faults.empty()) return;
  std::optional<Fault> late = host_late_at_times(slice.observations, setting, settings);
  if (!late) return;
  diagnosis.notes.push_back(fmt::format(
      "{} is late in the slower ones of its messages alone: frames are lost and sent again, or something takes its "
      "cores now and then",
      late->name));
  diagnosis.faults.push_back(*std::move(late));
  alone.judge(diagnosis);
  Fault& fault = diagnosis.faults.front();
  fault.is_unproven = fault.persistence == Persistence::not_retested;
}

/// Each pair under as many loads as it was measured, and some alone.
Diagnosis diagnosed_under_loads(const ObservedSlice& slice, std::span<const Observation> pairs, const Setting& setting,
                                const DiagnosisSettings& settings) {
  AlonePairs alone(slice, setting, settings);
  std::vector<Fault> found = alone.what_is_slow();
  std::vector<Observation> rest(pairs.begin(), pairs.end());
  std::erase_if(rest, [&](const Observation& one) {
    return std::ranges::any_of(found, [&](const Fault& fault) { return alone.passes(fault, one); });
  });
  Diagnosis diagnosis = diagnosed_rows(slice, rest, setting, settings);
  diagnosis.num_measured += pairs.size() - rest.size();
  leave_out_most(setting, diagnosis);
  alone.learn_from(diagnosis.faults);
  alone.judge(diagnosis);
  const SharedWays shared(rest, setting, diagnosis);
  shared.take_out_of(diagnosis);
  leave_out_contention(setting, diagnosis);
  diagnosis.faults.insert(diagnosis.faults.end(), found.begin(), found.end());
  alone.add_links(diagnosis, [&](std::uint32_t rank) { return shared.concern(rank); });
  add_host_late_at_times(slice, alone, setting, settings, diagnosis);
  note_share_of_load(slice, pairs, setting, diagnosis);
  return diagnosis;
}

/// Whether a fault of a host, or of a part of it, explains what was found of the host, or of a link or pair of it.
bool explains_end(const Fault& known, const Fault& found) {
  return known.host_names.size() == 1 && known.other_host_names.empty() &&
         (found.host_names == known.host_names || found.other_host_names == known.host_names);
}

/// Of a link or pair that is slow alone: whether other pairs of hosts are later under the load, and were not measured
/// alone. What they share may explain all of them.
bool shares_lateness(const ObservedSlice& slice, std::span<const Observation> pairs, const Setting& setting,
                     const DiagnosisSettings& settings, const Fault& fault) {
  constexpr std::size_t most_later = 1;  // by chance, or since it waits for this one
  const bool is_link = fault.component.kind == ComponentKind::link;
  if (!is_link && fault.component.kind != ComponentKind::pair) return false;
  const auto& host_of = setting.layout.host_of;
  const auto host = [&](std::int32_t end) {
    const auto number = static_cast<std::uint32_t>(end);
    return is_link ? number : host_of[number];
  };
  std::set<HostPair> known;
  for (const auto* measured : {&slice.alone, &slice.retested}) {
    for (const Observation& one : *measured) known.insert(std::minmax({host_of[one.from], host_of[one.to]}));
  }
  const HostPair hosts = std::minmax({host(fault.component.first), host(fault.component.second)});
  return num_later_pairs(pairs, setting, settings, hosts, known) > most_later;
}

/// All pairs under the one load that there was, and some alone.
Diagnosis diagnosed_under_one_load(const ObservedSlice& slice, std::span<const Observation> pairs,
                                   const Setting& setting, const DiagnosisSettings& settings) {
  Diagnosis diagnosis = diagnosed_exchange(pairs, setting, settings);
  if (slice.alone.empty() && slice.retested.empty()) return diagnosis;
  const AlonePairs alone(slice, setting, settings);
  alone.judge(diagnosis);
  for (Fault& found : alone.what_is_slow()) {
    if (std::ranges::any_of(diagnosis.faults, [&](const Fault& known) { return explains_end(known, found); })) continue;
    if (found.component.kind == ComponentKind::host) {
      const auto host = static_cast<std::uint32_t>(found.component.first);
      found.component.kind = host_or_port(pairs, setting, host, std::log(found.ratio));
      found.name = name_of_component(setting, found.component, found.direction);
      found.advice = advice_for(setting, suspect_alone(found), Symptom::slow);
    }
    diagnosis.faults.push_back(std::move(found));
  }
  alone.add_links(diagnosis, [](std::uint32_t) { return false; });
  for (Fault& fault : diagnosis.faults) {
    if (shares_lateness(slice, pairs, setting, settings, fault)) fault.is_unproven = true;
  }
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
  told.diagnosis = slice.is_exchange_of_all ? diagnosed_under_one_load(slice, pairs, setting, used_for(slice, settings))
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
