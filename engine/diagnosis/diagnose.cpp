// SPDX-License-Identifier: Apache-2.0
// Search, second measurement, verdict.
#include "diagnosis/diagnose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "diagnosis/drift.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/learnt_groups.hpp"
#include "diagnosis/log_histogram.hpp"
#include "diagnosis/routed_parts.hpp"
#include "diagnosis/search.hpp"
#include "diagnosis/slow_alone.hpp"
#include "diagnosis/slow_paths.hpp"
#include "network/hostlist.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::size_t most_shown = 8;                      // pairs of a fault
constexpr std::size_t num_sound = 16;                      // pairs that give the usual time alone
constexpr std::size_t fewest_lone = 16, most_lone = 1024;  // single pairs that are measured again
constexpr std::size_t ranks_a_lone = 4;  // one more of them for so many ranks: disturbances grow in number with pairs
constexpr double most_common = 0.02;     // chance of a pair that is worth it
constexpr double both_orders = 1.5;  // independent measurements that those of both orders of a pair count for; a guess
constexpr double most_steps_by_chance = 1.5;  // of the clock: its own, and half a step of what its ends show
// Of mean over median; a guess that keeps single spikes out.
constexpr double unsteady_threshold = 0.5;
// So many links between hosts, and such a share of them, are not slow each by itself.
constexpr std::ptrdiff_t fewest_of_contention = 3;
constexpr double share_of_contention = 0.02;
constexpr std::ptrdiff_t many_of_contention = 16;  // of any share, where they are below the ratio of contention
constexpr double ratio_of_contention = 1.8;
constexpr double most_likewise = 2;  // times what many links lose: what one of them loses for the same reason
// So many hosts whose effects differ by less than this share may have a common reason.
constexpr std::ptrdiff_t fewest_alike = 3;
// Of the hosts that an end has met: with so many it is not fast by chance.
constexpr double least_share_of_fast = 0.1;
// So many of them, and such a share of the hosts from the first to the last, may share a way.
constexpr std::ptrdiff_t fewest_neighbours_alike = 4;
constexpr double share_of_neighbours = 0.8;
constexpr double most_apart = 0.25;

bool is_between_hosts(const Fault& fault) {
  return fault.component.kind == ComponentKind::link || fault.component.kind == ComponentKind::pair;
}

/// Of what has many pairs with others.
bool is_of_end(const Fault& fault) {
  const ComponentKind kind = fault.component.kind;
  return kind == ComponentKind::host || kind == ComponentKind::port || kind == ComponentKind::socket ||
         kind == ComponentKind::rank;
}

/// By the time that a fault costs in all, list by list.
void sort_by_cost(Diagnosis& diagnosis) {
  const auto weight = [](const Fault& fault) { return (fault.ratio - 1) * static_cast<double>(fault.num_pairs); };
  std::ranges::stable_sort(diagnosis.faults, [&](const Fault& a, const Fault& b) {
    return list_of(a) != list_of(b) ? list_of(a) < list_of(b) : weight(a) > weight(b);
  });
}

/// Collective: of the workers of all holders.
LogHistogram sum_of_all(const Rows& rows, std::vector<LogHistogram> of_workers) {
  LogHistogram& all = of_workers.front();
  for (std::size_t worker = 1; worker < of_workers.size(); ++worker) {
    all.add(of_workers[worker]);
  }
  if (!rows.is_whole()) add_up(rows, all.all_counts());
  return std::move(all);
}

/// Whether an effect (logarithm) is about as much as another: a spike is something else.
bool is_alike(double one, double effect) {
  constexpr double least = 0.67, most = 2;
  return one >= least * effect && one <= most * effect;
}

std::uint64_t num_alike(std::span<const double> effects, double effect) {
  return static_cast<std::uint64_t>(std::ranges::count_if(effects, [&](double one) { return is_alike(one, effect); }));
}

/// The share of sound pairs that took about as much longer the second time: two and more, since one may by chance.
double share_as_slow(std::span<const double> sound_again, double effect) {
  const std::uint64_t num = num_alike(sound_again, effect);
  return num < 2 ? 0 : static_cast<double>(num) / static_cast<double>(sound_again.size());
}

class Diagnosing {
 public:
  explicit Diagnosing(const Question& question) : question_(question), setting_(question.layout) {
    setting_.are_times = question.are_times;
    setting_.has_many_loads = question.has_many_loads;
    setting_.has_second = static_cast<bool>(question.retest);
    diagnosis_.settings = question.settings;
    diagnosis_.topology = question.layout.network.source;
    diagnosis_.num_pairs = question.num_pairs;
  }

  Diagnosis run();

 private:
  void tell_hosts_from_ports();
  void explain_group_apart(const Rows& rows);
  void describe_classes();
  double error_of(const Effects::OfClass& one) const;
  Component component_of(const IsolatedPair& one) const;
  void join_both_orders(const Rows& rows);
  void judge_isolated_pairs();
  bool may_be_chance(const Suspect& suspect, const Effects& effects, Symptom symptom) const;
  bool is_likely_by_chance(double effect, std::size_t num_pairs) const;
  bool are_several_as_slow(const Suspect& own, double effect, std::size_t num_pairs) const;
  bool is_shown_by_neighbours(std::span<const Suspect> suspects, std::span<const MeasuredPair> evidence, double effect,
                              RetestEvaluation& look) const;
  double shown_by_others(const Rows& rows, const SearchOutcome& outcome) const;
  std::vector<double> shares_of_fast(const Rows& rows, const SearchOutcome& outcome) const;
  bool are_few_by_chance(const Rows& rows, const Effects& effects, const Suspect& suspect) const;
  void leave_out_ranks_by_chance(const Rows& rows);
  void add_faults(const Rows& rows, const SearchOutcome& outcome, Symptom symptom);
  std::vector<MeasuredPair> telling(const std::vector<Suspect>& suspects, const Suspect& suspect,
                                    std::vector<MeasuredPair> evidence, bool is_contended) const;
  bool has_many_slow_pairs(Symptom symptom) const;
  bool is_contended(Symptom symptom) const;
  double uncontended() const;
  bool knows_network() const;
  bool may_be_farther(const Fault& fault, const Effects& effects) const;
  void leave_out_contention(Symptom symptom);
  void doubt_what_is_like_passed();
  void doubt_ends_like_those_of_load();
  void doubt_what_unlike_ways_show(bool is_contended);
  void add_unsteady();
  bool are_slow_among(const Rows& rows, const std::vector<Fault*>& hosts) const;
  void note_hosts_alike(const Rows& rows);
  Fault fault_of(const Suspect& suspect, Symptom symptom, const std::vector<MeasuredPair>& evidence);

  const Question& question_;
  Setting setting_;
  Diagnosis diagnosis_;
  SearchOutcome outcome_;
  std::vector<MeasuredPair> sound_;  // measured again as a reference
  std::vector<double> sound_again_;  // how much longer those of them took alone that are no isolated pairs: logarithm
  bool do_cables_limit_ = false;     // flows share cables between switches
};

/// Pairs of one host are not independent, so hosts are counted; ranks, where there are few of them.
double Diagnosing::error_of(const Effects::OfClass& one) const {
  const bool counts_hosts = setting_.hosts.num_groups() >= fewest_to_compare;
  std::vector<double> effects;
  for (std::uint32_t host = 0; host < setting_.hosts.num_groups(); ++host) {
    std::vector<double> of_ranks;
    for (const std::uint32_t rank : setting_.hosts.of(host)) {
      of_ranks.push_back((static_cast<double>(one.out[rank]) + static_cast<double>(one.in[rank])) / 2);
    }
    if (counts_hosts) {
      effects.push_back(middle_of(std::move(of_ranks)).median);
    } else {
      effects.insert(effects.end(), of_ranks.begin(), of_ranks.end());
    }
  }
  const Middle middle = middle_of(std::move(effects));
  return median_efficiency * middle.spread / std::sqrt(std::max<double>(static_cast<double>(middle.num), 1));
}

void Diagnosing::describe_classes() {
  for (std::size_t index = 0; index < outcome_.effects.classes.size(); ++index) {
    const Effects::OfClass& one = outcome_.effects.classes[index];
    if (one.num == 0) continue;
    diagnosis_.num_measured += one.num;
    diagnosis_.classes.push_back(
        {setting_.classes.name(index), one.num, std::exp(one.median), error_of(one), one.spread});
  }
}

/// A host whose inside is slow, too, is not slow by its port. Of one rank nobody knows.
void Diagnosing::tell_hosts_from_ports() {
  std::vector<std::int32_t> slow_inside;
  for (const Suspect& one : outcome_.suspects) {
    if (one.component.kind == ComponentKind::inside) slow_inside.push_back(one.component.first);
  }
  std::vector<std::int32_t> hosts;
  for (Suspect& one : outcome_.suspects) {
    if (one.component.kind != ComponentKind::port || !one.is_before_fit) continue;
    const bool has_one_rank = setting_.hosts.of(static_cast<std::uint32_t>(one.component.first)).size() == 1;
    if (!has_one_rank && std::ranges::find(slow_inside, one.component.first) == slow_inside.end()) continue;
    one.component.kind = ComponentKind::host;
    hosts.push_back(one.component.first);
  }
  std::erase_if(outcome_.suspects, [&](const Suspect& one) {
    return one.component.kind == ComponentKind::inside && std::ranges::find(hosts, one.component.first) != hosts.end();
  });
}

/// Hosts that reach all others slowly, and each other as usual, share a way: that is one finding, in place of what lies
/// across it.
void Diagnosing::explain_group_apart(const Rows& rows) {
  if (!is_learnt(setting_.layout.network)) return;
  const std::optional<Suspect> apart = find_group_apart(rows, setting_);
  if (!apart) return;
  const auto is_across = [&](std::uint32_t from, std::uint32_t to) {
    return belongs(setting_, *apart, from, to) && setting_.layout.host_of[from] != setting_.layout.host_of[to];
  };
  std::erase_if(outcome_.isolated_pairs, [&](const IsolatedPair& one) { return is_across(one.from, one.to); });
  std::erase_if(outcome_.suspects, [&](const Suspect& one) {
    const Component& component = one.component;
    if (component.kind == ComponentKind::uplink || component.kind == ComponentKind::network_switch) return true;
    return component.kind == ComponentKind::link &&
           is_across(setting_.hosts.of(static_cast<std::uint32_t>(component.first)).front(),
                     setting_.hosts.of(static_cast<std::uint32_t>(component.second)).front());
  });
  outcome_.suspects.push_back(*apart);
}

/// The pair; where each host has one rank, the link.
Component Diagnosing::component_of(const IsolatedPair& one) const {
  const bool are_hosts = setting_.has_one_rank_a_host();
  const auto& host_of = question_.layout.host_of;
  const std::uint32_t from = are_hosts ? host_of[one.from] : one.from, to = are_hosts ? host_of[one.to] : one.to;
  return {are_hosts ? ComponentKind::link : ComponentKind::pair, -1, static_cast<std::int32_t>(from),
          static_cast<std::int32_t>(to), -1};
}

/// Both orders of a pair that are slow are one case, as slow as the lesser of them shows. Of a round trip both show the
/// same path, so both must be slow.
void Diagnosing::join_both_orders(const Rows& rows) {
  std::vector<OrderedPair> reversed;
  for (const IsolatedPair& one : outcome_.isolated_pairs) reversed.push_back({one.to, one.from});
  const std::vector<float> residuals = residuals_of_pairs(rows, outcome_.effects, setting_.classes, reversed);
  std::vector<IsolatedPair> joined;
  for (std::size_t index = 0; index < residuals.size(); ++index) {
    IsolatedPair one = outcome_.isolated_pairs[index];
    const bool is_known = std::ranges::any_of(joined, [&](const IsolatedPair& other) {
      return !std::isnan(other.reverse_residual) && other.from == one.to && other.to == one.from;
    });
    if (is_known) continue;
    if (!(static_cast<double>(residuals[index]) < std::log1p(question_.settings.threshold))) {
      one.reverse_residual = residuals[index];
    } else if (question_.is_round_trip) {
      continue;
    }
    joined.push_back(one);
  }
  outcome_.isolated_pairs = std::move(joined);
}

/// A sound pair is slow by chance once, and hardly ever again: the chances of all measurements multiply, but for those
/// of one round, which share what disturbed it. Second ones follow one another, so what disturbs the machine for a
/// while makes several slow; what sound pairs show then was as likely before.
void Diagnosing::judge_isolated_pairs() {
  std::vector<MeasuredPair> pairs;
  for (const IsolatedPair& one : outcome_.isolated_pairs) {
    const auto value = static_cast<double>(one.value), residual = static_cast<double>(one.residual);
    pairs.push_back({{one.from, one.to}, value, value - residual});
    // What both orders take is about the same.
    if (!std::isnan(one.reverse_residual)) pairs.push_back({{one.to, one.from}, value, value - residual});
  }
  std::vector<double> again(pairs.size(), std::numeric_limits<double>::quiet_NaN());
  if (question_.retest && !sound_.empty()) {
    RetestEvaluation look(question_, Symptom::slow, is_contended(Symptom::slow), uncontended());
    look.calibrate(sound_, Load::alone);
    again = look.effects(pairs, Load::alone);
    std::vector<MeasuredPair> others = sound_;
    std::erase_if(others, [&](const MeasuredPair& one) {
      return std::ranges::any_of(pairs, [&](const MeasuredPair& other) {
        return std::minmax(one.pair.from, one.pair.to) == std::minmax(other.pair.from, other.pair.to);
      });
    });
    sound_again_ = look.effects(others, Load::alone);
    std::erase_if(sound_again_, [](double effect) { return std::isnan(effect); });
  }
  std::vector<Suspect> suspects;
  std::vector<double> p_values;
  auto next = again.begin();
  for (const IsolatedPair& one : outcome_.isolated_pairs) {
    const bool is_both = !std::isnan(one.reverse_residual);
    const Effects::OfClass& of_class = outcome_.effects.classes[setting_.classes.of(one.from, one.to)];
    auto effect = static_cast<double>(is_both ? std::min(one.residual, one.reverse_residual) : one.residual);
    // Both orders are measured in one round, and share some of what disturbs it.
    double p = std::pow(tail_probability(of_class, effect), is_both ? both_orders : 1);
    // The second measurement was not selected for being slow, so it is the better estimate.
    double least = std::numeric_limits<double>::quiet_NaN(), p_again = 1;
    for (int order = 0; order < (is_both ? 2 : 1); ++order, ++next) {
      if (std::isnan(*next)) continue;
      least = std::fmin(least, *next);
      p_again *= tail_probability(of_class, *next);
    }
    if (!std::isnan(least)) {
      effect = least;
      const double by_chance = share_as_slow(sound_again_, least);
      p = std::max(p, by_chance) * std::max(p_again, by_chance);
    }
    // A pair just beyond a step of the clock shows it each time.
    if (effect < std::max(std::log1p(question_.settings.threshold), most_steps_by_chance * of_class.step)) continue;
    Component component = component_of(one);
    FaultDirection direction = is_both ? FaultDirection::both : FaultDirection::out;
    if (component.first > component.second) {
      std::swap(component.first, component.second);
      if (!is_both) direction = FaultDirection::in;
    }
    suspects.push_back({component, direction, effect, of_class.spread, p, is_both ? 2U : 1U, false});
    p_values.push_back(p);
  }
  const std::uint64_t num_tests = std::max<std::uint64_t>(diagnosis_.num_measured, p_values.size());
  const auto stays = stats::rejected(p_values, num_tests, question_.settings.false_discovery_rate);
  std::size_t index = 0;
  std::erase_if(suspects, [&](const Suspect&) { return !stays[index++]; });
  outcome_.suspects.insert(outcome_.suspects.end(), suspects.begin(), suspects.end());
}

Fault Diagnosing::fault_of(const Suspect& suspect, Symptom symptom, const std::vector<MeasuredPair>& evidence) {
  Fault fault;
  fault.component = suspect.component;
  fault.symptom = symptom;
  fault.direction = suspect.direction;
  fault.name = name_of_component(setting_, suspect.component, suspect.direction);
  fault.hosts = hosts_below(question_.layout, suspect.component, suspect.component.first);
  fault.other_hosts = hosts_below(question_.layout, suspect.component, suspect.component.second);
  name_concerned(setting_, fault);
  fault.ratio = std::exp(suspect.effect);
  fault.ratio_low = std::exp(suspect.effect - both_sides * suspect.error);
  fault.ratio_high = std::exp(suspect.effect + both_sides * suspect.error);
  fault.p_value = suspect.p_value;
  fault.num_pairs = suspect.num_pairs;
  fault.is_note = suspect.is_note;
  fault.share = suspect.share;
  if (suspect.share < 1) fault.name = fmt::format("one of the ways through {}", fault.name);
  for (const MeasuredPair& one : evidence) {
    fault.pairs.push_back({static_cast<std::int32_t>(one.pair.from), static_cast<std::int32_t>(one.pair.to),
                           std::exp(one.value), std::exp(one.value - suspect.effect)});
  }
  fault.ruled_out = ruled_out(setting_, suspect, outcome_.suspects);
  fault.advice = advice_for(setting_, suspect, symptom);
  return fault;
}

/// A link, or the inside of a host, of few pairs without second measurements: single pairs scatter with a heavier tail
/// than what many have in common. A link is slow if half of its pairs are.
bool Diagnosing::may_be_chance(const Suspect& suspect, const Effects& effects, Symptom symptom) const {
  const bool is_inside = suspect.component.kind == ComponentKind::inside;
  if (suspect.component.kind != ComponentKind::link && !is_inside) return false;
  const auto ranks_of = [&](std::int32_t host) { return setting_.hosts.of(static_cast<std::uint32_t>(host)); };
  const std::uint32_t from = ranks_of(suspect.component.first).front();
  const std::uint32_t to =
      is_inside ? ranks_of(suspect.component.first)[1] : ranks_of(suspect.component.second).front();
  // Both directions between two ranks are measured at one time; losses strike each message by itself.
  const std::uint64_t num_alike = symptom == Symptom::unsteady ? 2 : 4;
  const auto num_slow =
      static_cast<double>(std::max<std::uint64_t>((suspect.num_pairs + num_alike - 1) / num_alike, 1));
  const double p = std::pow(tail_probability(effects.classes[setting_.classes.of(from, to)], suspect.effect), num_slow);
  const double num_hosts = setting_.hosts.num_groups();
  return p * num_hosts * (is_inside ? 1 : num_hosts - 1) > question_.settings.false_discovery_rate;
}

/// Whether sound pairs took about as much longer the second time, so that half of so many pairs did so by chance.
bool Diagnosing::is_likely_by_chance(double effect, std::size_t num_pairs) const {
  const double share = share_as_slow(sound_again_, effect), num_hosts = setting_.hosts.num_groups();
  const double num_links = num_hosts * (num_hosts - 1) / 2;
  return stats::binomial_tail((num_pairs + 1) / 2, num_pairs, share) * num_links >
         question_.settings.false_discovery_rate;
}

/// Whether other pairs were as slow in the test, or sound ones the second time, so that one of them all would be so
/// both times. Both orders of a pair share what disturbs it: they are one measurement, and both must be slow.
bool Diagnosing::are_several_as_slow(const Suspect& own, double effect, std::size_t num_pairs) const {
  const auto is_other = [&](const IsolatedPair& one) {
    const bool is_own = belongs(setting_, own, one.from, one.to) || belongs(setting_, own, one.to, one.from);
    return !is_own && is_alike(static_cast<double>(std::fmin(one.residual, one.reverse_residual)), effect);
  };
  const auto before = static_cast<std::uint64_t>(std::ranges::count_if(outcome_.isolated_pairs, is_other));
  const std::uint64_t again = num_alike(sound_again_, effect);
  if (before + again < 2) return false;
  double num_pairs_between = 0;
  const auto& classes = outcome_.effects.classes;
  for (std::size_t index = PairClasses::first_between; index < classes.size(); ++index)
    num_pairs_between += static_cast<double>(classes[index].num) / 2;
  const double share =
      static_cast<double>(before + again) / (num_pairs_between + static_cast<double>(sound_again_.size()));
  const double num_hosts = setting_.hosts.num_groups();
  const bool is_link = own.component.kind == ComponentKind::link;
  const double num_slow = share * (is_link ? num_hosts * (num_hosts - 1) / 2 : num_pairs_between);
  const std::size_t num_again = std::max<std::size_t>(1, num_pairs / 2);
  return num_slow * std::pow(share, static_cast<double>(num_again)) > question_.settings.false_discovery_rate;
}

/// Second measurements follow one another, so what disturbs the machine for a while makes all of them slow: whether
/// sound pairs that came between those of a fault, or just before or behind them, show most of its effect.
bool Diagnosing::is_shown_by_neighbours(std::span<const Suspect> suspects, std::span<const MeasuredPair> evidence,
                                        double effect, RetestEvaluation& look) const {
  constexpr std::size_t neighbours = 3, fewest = 2;
  constexpr double share = 0.75;
  const std::vector<OrderedPair>& all = question_.retested;
  const auto place_of = [&](const OrderedPair& pair) {
    const auto is_it = [&](const OrderedPair& one) { return one.from == pair.from && one.to == pair.to; };
    return static_cast<std::size_t>(std::ranges::find_if(all, is_it) - all.begin());
  };
  std::size_t first = all.size(), last = 0;
  for (const MeasuredPair& one : evidence) {
    const std::size_t place = place_of(one.pair);
    if (place == all.size()) continue;
    first = std::min(first, place), last = std::max(last, place);
  }
  if (first == all.size()) return false;
  // Those between them; where these are too few, also those beside them.
  for (const std::size_t beside : {std::size_t{0}, neighbours}) {
    std::vector<MeasuredPair> sound = sound_;
    std::erase_if(sound, [&](const MeasuredPair& one) {
      const std::size_t place = place_of(one.pair);
      if (place + beside < first || place > last + beside) return true;
      return std::ranges::any_of(
          suspects, [&](const Suspect& other) { return may_pass(setting_, other, one.pair.from, one.pair.to); });
    });
    std::vector<double> effects = look.effects(sound, Load::alone);
    std::erase_if(effects, [](double effect_again) { return std::isnan(effect_again); });
    if (effects.size() >= fewest) return middle_of(std::move(effects)).median >= share * effect;
  }
  return false;
}

/// The pairs of a link meet in neighbouring rounds, so what disturbs others for a while makes all of them slow. What
/// many pairs between hosts show of which nothing is suspected, beyond what their ends let expect: logarithm, NaN
/// without any.
double Diagnosing::shown_by_others(const Rows& rows, const SearchOutcome& outcome) const {
  constexpr double many = 0.02;
  constexpr std::size_t most_sampled = std::size_t{1} << 22;
  const auto& host_of = question_.layout.host_of;
  std::vector<std::pair<std::int32_t, std::int32_t>> links;
  std::vector<Suspect> others;
  for (const Suspect& one : outcome.suspects) {
    if (one.component.kind == ComponentKind::link) {
      links.emplace_back(one.component.first, one.component.second);
    } else {
      others.push_back(one);
    }
  }
  std::ranges::sort(links);
  std::vector<LogHistogram> of_workers(rows.num_workers());
  rows.visit([&](std::size_t worker, const Row& row) {
    const std::size_t step = std::max<std::size_t>(1, row.values.size() * rows.num_ranks() / most_sampled);
    for (std::size_t index = row.from % step; index < row.values.size(); index += step) {
      const std::uint32_t to = row.partner(index);
      const auto [first, second] =
          std::minmax({static_cast<std::int32_t>(host_of[row.from]), static_cast<std::int32_t>(host_of[to])});
      if (first == second || std::ranges::binary_search(links, std::pair(first, second))) continue;
      const float residual = residual_of(outcome.effects, setting_.classes.of(row.from, to), row, index);
      const auto is_of = [&](const Suspect& other) { return belongs(setting_, other, row.from, to); };
      if (!std::isnan(residual) && std::ranges::none_of(others, is_of)) of_workers[worker].add(residual);
    }
  });
  return sum_of_all(rows, std::move(of_workers)).quantile(1 - many);
}

/// Of each suspect that is an end, the share of hosts with all of whose ranks its ranks show less than half of its
/// effect, beyond the fastest tenth of their class: what is slow by itself is slow with everybody, and loses as much
/// time over longer ways as over the shortest. 0 of others.
std::vector<double> Diagnosing::shares_of_fast(const Rows& rows, const SearchOutcome& outcome) const {
  constexpr double of_fastest = 0.1;
  std::vector<std::vector<std::uint32_t>> of_rank(num_ranks(question_.layout));  // suspects
  for (std::uint32_t index = 0; index < outcome.suspects.size(); ++index) {
    const Suspect& suspect = outcome.suspects[index];
    const ComponentKind kind = suspect.component.kind;
    const bool is_end = kind == ComponentKind::port || kind == ComponentKind::host || kind == ComponentKind::rank;
    // Of a round trip both orders show the same path.
    if (!is_end || (suspect.direction == FaultDirection::in && !question_.is_round_trip)) continue;
    const auto first = static_cast<std::uint32_t>(suspect.component.first);
    const std::span<const std::uint32_t> ranks =
        kind == ComponentKind::rank ? std::span(&first, 1) : setting_.hosts.of(first);
    for (const std::uint32_t rank : ranks) of_rank[rank].push_back(index);
  }
  std::vector<double> fastest;  // by class
  for (const Effects::OfClass& one : outcome.effects.classes)
    fastest.push_back(one.centre + one.residuals.quantile(of_fastest) - one.residual_zero);
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t index = PairClasses::first_between; index < fastest.size(); ++index) {
    if (outcome.effects.classes[index].num > 0) nearest = std::min(nearest, fastest[index]);
  }
  const auto effect_in = [&](std::size_t of_class, double effect) {
    return std::log1p(std::expm1(effect) * std::exp(nearest - fastest[of_class]));
  };
  const std::uint32_t num_hosts = setting_.hosts.num_groups();
  // By suspect: hosts that its ranks have met, and those with which they are fast.
  std::vector<std::array<std::uint64_t, 2>> counts(outcome.suspects.size());
  std::mutex counting;
  rows.visit([&](std::size_t, const Row& row) {
    if (of_rank[row.from].empty()) return;
    std::vector<double> slowest(num_hosts, -std::numeric_limits<double>::infinity());
    std::vector<std::size_t> class_of(num_hosts, 0);
    const std::uint32_t host = question_.layout.host_of[row.from];
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      const std::uint32_t to = row.partner(index), other = question_.layout.host_of[to];
      if (std::isnan(row.values[index]) || other == host) continue;
      class_of[other] = setting_.classes.of(row.from, to);
      slowest[other] = std::max(slowest[other], static_cast<double>(row.values[index]) - fastest[class_of[other]]);
    }
    const std::scoped_lock lock(counting);
    for (const std::uint32_t suspect : of_rank[row.from]) {
      for (std::uint32_t other = 0; other < num_hosts; ++other) {
        if (std::isinf(slowest[other])) continue;
        ++counts[suspect][0];
        if (slowest[other] < effect_in(class_of[other], outcome.suspects[suspect].effect) / 2) ++counts[suspect][1];
      }
    }
  });
  std::vector<std::uint64_t> sums;
  for (const auto& [met, fast] : counts) sums.insert(sums.end(), {met, fast});
  add_up(rows, std::span(sums));
  std::vector<double> shares;
  for (std::size_t at = 0; at < sums.size(); at += 2) {
    const auto met = static_cast<double>(sums[at]), fast = static_cast<double>(sums[at + 1]);
    shares.push_back(sums[at + 1] >= fewest_to_compare ? fast / met : 0);
  }
  return shares;
}

/// Losses, interruptions and ranks that share a core strike pairs by chance: of few pairs most may have met some. The
/// chance of as many as this component has, or more (binomial), by the share of the other pairs that have, times the
/// components of its kind. A pair whose other end is slower tells nothing of this one.
bool Diagnosing::are_few_by_chance(const Rows& rows, const Effects& effects, const Suspect& suspect) const {
  constexpr std::uint64_t most_pairs = 64;
  if (suspect.num_pairs > most_pairs) return false;
  struct Count {
    std::uint64_t own = 0, own_struck = 0, others = 0, others_struck = 0;
  };
  const bool is_rank = suspect.component.kind == ComponentKind::rank;
  const auto rank = static_cast<std::uint32_t>(suspect.component.first);
  const auto hides = [&](float end) { return end > slow_end && end >= suspect.effect; };
  std::vector<Count> of_workers(rows.num_workers());
  rows.visit([&](std::size_t worker, const Row& row) {
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      const std::uint32_t to = row.partner(index);
      const std::uint8_t pair_class = setting_.classes.of(row.from, to);
      const float residual = residual_of(effects, pair_class, row, index);
      if (std::isnan(residual)) continue;
      const float out = effects.classes[pair_class].out[row.from], in = effects.classes[pair_class].in[to];
      const bool is_own = belongs(setting_, suspect, row.from, to);
      const bool is_sender = is_own && row.from == rank, is_receiver = is_own && to == rank;
      if (is_rank && ((!is_sender && hides(out)) || (!is_receiver && hides(in)))) continue;
      Count& count = of_workers[worker];
      // The fit takes from a pair what its ends show.
      const double of_end = is_rank ? static_cast<double>(is_sender ? out : in) : suspect.effect;
      const double shown = static_cast<double>(residual) + (is_own ? of_end : 0);
      const bool is_struck = shown >= suspect.effect / 2;
      ++(is_own ? count.own : count.others);
      if (is_struck) ++(is_own ? count.own_struck : count.others_struck);
    }
  });
  std::array<std::uint64_t, 4> sums{};
  for (const Count& count : of_workers) {
    sums[0] += count.own, sums[1] += count.own_struck, sums[2] += count.others, sums[3] += count.others_struck;
  }
  add_up(rows, std::span<std::uint64_t>(sums));
  const auto [own, own_struck, others, others_struck] = sums;
  const double share = static_cast<double>(others_struck + 1) / static_cast<double>(others + 2);
  const double num_tests =
      3 * (is_rank ? static_cast<double>(num_ranks(question_.layout)) : setting_.hosts.num_groups());
  return stats::binomial_tail(own_struck, own, share) * num_tests > question_.settings.false_discovery_rate;
}

void Diagnosing::leave_out_ranks_by_chance(const Rows& rows) {
  constexpr std::ptrdiff_t most_ranks = 256;  // each takes a pass over all rows; chance makes few
  const auto is_rank = [](const Suspect& one) { return one.component.kind == ComponentKind::rank; };
  if (std::ranges::count_if(outcome_.suspects, is_rank) > most_ranks) return;
  std::erase_if(outcome_.suspects,
                [&](const Suspect& one) { return is_rank(one) && are_few_by_chance(rows, outcome_.effects, one); });
}

/// Whether a tenth of the pairs between hosts take that much longer than their ends let expect.
bool Diagnosing::has_many_slow_pairs(Symptom symptom) const {
  constexpr double share_of_fast = 0.9, least_residual = 0.13;  // logarithm
  if (symptom != Symptom::slow || question_.load == Load::alone || question_.has_many_loads) return false;
  const auto& classes = outcome_.effects.classes;
  return std::any_of(classes.begin() + PairClasses::first_between, classes.end(), [](const Effects::OfClass& one) {
    return one.num > 0 && one.residuals.quantile(share_of_fast) - one.residual_zero > least_residual;
  });
}

/// Whether pairs between hosts, measured under load, scatter as flows that share cables do; where nobody tells the
/// network, also whether far ones take longer than more switches on the way would make them.
bool Diagnosing::is_contended(Symptom symptom) const {
  if (symptom != Symptom::slow || question_.load == Load::alone || question_.has_many_loads) return false;
  if (do_cables_limit_ || question_.is_contended) return true;
  const auto& classes = outcome_.effects.classes;
  double nearest = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t index = PairClasses::first_between; index < classes.size(); ++index) {
    if (classes[index].num == 0) continue;
    if (classes[index].spread > spread_of_contention) return true;
    if (std::isnan(nearest)) nearest = classes[index].centre;
    const double beyond = classes[index].centre - nearest;
    const bool is_by_distance =
        beyond < most_by_distance || std::expm1(beyond) * std::exp(nearest) < most_ns_by_distance;
    if (is_learnt(question_.layout.network) && !is_by_distance) return true;
  }
  return false;
}

/// Pairs that tell whether a suspect is slow alone: of two slow ends the slower one counts, so none that belong to
/// something slower. Where flows share cables, pairs alone are compared with all others alone, so none inside hosts for
/// what is slow between them.
std::vector<MeasuredPair> Diagnosing::telling(const std::vector<Suspect>& suspects, const Suspect& suspect,
                                              std::vector<MeasuredPair> evidence, bool is_contended) const {
  const auto& host_of = question_.layout.host_of;
  const ComponentKind kind = suspect.component.kind;
  const bool is_of_ranks = kind == ComponentKind::rank || kind == ComponentKind::socket;
  const bool is_between = is_contended && is_of_ranks && setting_.hosts.num_groups() > 1;
  std::erase_if(evidence, [&](const MeasuredPair& one) {
    if (is_between && host_of[one.pair.from] == host_of[one.pair.to]) return true;
    return std::ranges::any_of(suspects, [&](const Suspect& other) {
      const bool is_slower = !other.is_note && other.component != suspect.component && other.effect > suspect.effect;
      return is_slower && may_pass(setting_, other, one.pair.from, one.pair.to);
    });
  });
  return evidence;
}

/// What the nearest pairs between hosts take, ln ns, where they share no cable; NaN where they do.
double Diagnosing::uncontended() const {
  const Effects::OfClass& nearest = outcome_.effects.classes[PairClasses::first_between];
  const bool is_known = nearest.num > 0 && nearest.spread <= spread_of_contention;
  return is_known ? nearest.centre : std::numeric_limits<double>::quiet_NaN();
}

void Diagnosing::add_faults(const Rows& rows, const SearchOutcome& outcome, Symptom symptom) {
  const std::vector<Suspect>& suspects = outcome.suspects;
  const auto evidence = evidence_for({rows, setting_, outcome.effects, question_.retested}, suspects, most_shown);
  const bool needs_retest = is_contended(symptom);  // flows that share cables make components a little slow by chance
  const bool has_slow_pairs = has_many_slow_pairs(symptom);
  RetestEvaluation look(question_, symptom, needs_retest, uncontended());
  const bool may_share_ways =
      symptom == Symptom::slow && !knows_network() && !question_.has_many_loads && !suspects.empty();
  const std::vector<double> fast =
      may_share_ways ? shares_of_fast(rows, outcome) : std::vector<double>(suspects.size(), 0.0);
  const bool may_be_of_all = symptom == Symptom::slow && question_.load != Load::alone && !question_.has_many_loads;
  const bool has_links =
      std::ranges::any_of(suspects, [](const Suspect& one) { return one.component.kind == ComponentKind::link; });
  const double of_others = may_be_of_all && has_links ? shown_by_others(rows, outcome) : 0;
  for (std::size_t index = 0; index < suspects.size(); ++index) {
    Fault fault = fault_of(suspects[index], symptom, evidence[index]);
    if (!suspects[index].is_note) {
      look.decide(fault, suspects[index], telling(suspects, suspects[index], evidence[index], needs_retest), sound_);
    }
    if (suspects[index].needs_retest && fault.persistence != Persistence::persistent) continue;
    // A few pairs, or a share of many, meet other flows by chance.
    const bool is_of_some_pairs = is_between_hosts(fault) || suspects[index].share < 1;
    // Of a round trip both orders show the same path, so an end is slow both ways.
    const bool is_one_way = question_.is_round_trip && is_of_end(fault) && fault.direction != FaultDirection::both;
    fault.is_unproven = (needs_retest || (has_slow_pairs && is_of_end(fault))) &&
                        fault.persistence == Persistence::not_retested && !suspects[index].is_beyond_contention &&
                        (is_of_some_pairs || is_one_way || suspects[index].is_whole_class ||
                         (needs_retest ? fault.ratio_low : fault.ratio) < ratio_of_contention);
    // Pairs that share a cable or a core switch share its load.
    if (is_of_routes(fault.component) && question_.load != Load::alone) {
      fault.is_unproven = fault.persistence == Persistence::not_retested;
    }
    if (may_be_farther(fault, outcome.effects)) fault.is_unproven = true;
    // One measurement of a pair proves little where others were measured again.
    const bool is_lone = is_between_hosts(fault) && suspects[index].num_pairs <= 2;
    if (is_lone && setting_.has_second && fault.persistence == Persistence::not_retested) fault.is_unproven = true;
    if (is_between_hosts(fault) && symptom == Symptom::slow && fault.persistence == Persistence::persistent &&
        (is_likely_by_chance(std::log(fault.ratio_alone), evidence[index].size()) ||
         are_several_as_slow(suspects[index], std::log(fault.ratio_alone), evidence[index].size()))) {
      fault.is_unproven = true;
    }
    if (symptom == Symptom::slow && fault.persistence == Persistence::persistent &&
        is_shown_by_neighbours(suspects, evidence[index], std::log(fault.ratio_alone), look)) {
      fault.is_unproven = true;
      fault.ruled_out.emplace_back("not it alone: sound pairs that were measured again at that time took longer, too");
    }
    if (fast[index] >= least_share_of_fast) {
      fault.is_unproven = true;
      fault.ruled_out.push_back(
          fmt::format("not it alone: it is fast with {:.0f} % of the hosts, so it may share a slow way with these",
                      100 * fast[index]));
    }
    // Groups that follow from times under load may be those of flows.
    const bool is_of_group = fault.component.level >= 0 && is_learnt(setting_.layout.network);
    if (is_of_group && has_slow_pairs && fault.persistence == Persistence::not_retested) fault.is_unproven = true;
    if (suspects[index].is_before_fit && is_learnt(setting_.layout.network)) {
      fault.is_unproven = true;
      fault.name = fmt::format("the way between {} and the others", network::folded_hostlist(fault.host_names));
      fault.ruled_out = {"not these hosts one by one: they reach each other as others do"};
      fault.advice = "Look at what these hosts share, or tell --topology: they may only stand farther away";
    }
    const bool is_new_link =
        suspects[index].component.kind == ComponentKind::link && fault.persistence == Persistence::not_retested;
    if (is_new_link && may_be_of_all && suspects[index].effect / 2 < of_others) fault.is_unproven = true;
    const bool is_certain = fault.persistence != Persistence::not_retested;
    if (is_certain || !may_be_chance(suspects[index], outcome.effects, symptom))
      diagnosis_.faults.push_back(std::move(fault));
  }
  leave_out_contention(symptom);
  doubt_what_is_like_passed();
  if (needs_retest) doubt_ends_like_those_of_load();
  if (symptom == Symptom::slow) doubt_what_unlike_ways_show(needs_retest);
}

/// Whether somebody has told it.
bool Diagnosing::knows_network() const {
  const network::Network& network = question_.layout.network;
  return (!network.levels.empty() || !network.hops.empty()) && !is_learnt(network);
}

/// Where nobody tells the network: whether a host, or its port, takes no longer than two more switches on the way
/// would, and pairs inside it are as usual or there are none; or a link.
bool Diagnosing::may_be_farther(const Fault& fault, const Effects& effects) const {
  if (knows_network() || fault.symptom != Symptom::slow || !setting_.are_times) return false;
  const ComponentKind kind = fault.component.kind;
  const bool is_of_few = kind == ComponentKind::link || kind == ComponentKind::pair;
  const bool may_be =
      kind == ComponentKind::port || is_of_few || (kind == ComponentKind::host && setting_.has_one_rank_a_host());
  if (!may_be) return false;
  const Effects::OfClass& nearest = effects.classes[PairClasses::first_between];
  // Of few pairs the slowest were chosen; the second measurement was not.
  const bool is_chosen = is_of_few && fault.ratio_alone > 0;
  const double ratio = is_chosen ? std::min(fault.ratio, fault.ratio_alone) : fault.ratio;
  return std::log(ratio) < most_by_distance + nearest.step &&
         (ratio - 1) * std::exp(nearest.centre) < most_ns_by_distance;
}

/// Many links that were measured under load only: flows that share a path by chance are as slow as a bad cable.
void Diagnosing::leave_out_contention(Symptom symptom) {
  double most_unsure = std::numeric_limits<double>::infinity();  // ratio
  const auto is_unsure = [&](const Fault& fault) {
    return is_between_hosts(fault) && fault.symptom == symptom && fault.persistence == Persistence::not_retested &&
           fault.ratio < most_unsure;
  };
  const double num_hosts = setting_.hosts.num_groups();
  auto num = std::ranges::count_if(diagnosis_.faults, is_unsure);
  if (question_.load == Load::alone || num <= fewest_of_contention) return;
  if (static_cast<double>(num) < share_of_contention * num_hosts * (num_hosts - 1) / 2) {
    most_unsure = ratio_of_contention;
    num = std::ranges::count_if(diagnosis_.faults, is_unsure);
    if (num < many_of_contention) return;
  }
  std::vector<double> ratios;
  for (const Fault& fault : diagnosis_.faults) {
    if (is_unsure(fault)) ratios.push_back(fault.ratio);
  }
  const double most = 1 + most_likewise * (middle_of(std::move(ratios)).median - 1);
  // What so many have in common may be the way, which is as long without load.
  std::erase_if(diagnosis_.faults, [&](const Fault& fault) {
    return is_unsure(fault) || (!knows_network() && is_between_hosts(fault) && fault.ratio < most);
  });
  diagnosis_.notes.push_back(fmt::format(
      "{} links between hosts are slow under load and were not measured again alone: so many are slow together where "
      "flows share a path{}, so none of them is called a fault. To know, measure with a larger --retest{}",
      num, knows_network() ? "" : " or lead over more switches", knows_network() ? "" : " and tell the --topology"));
}

/// A link, or the way between two switches, that was not measured again, and is no slower than others that have passed,
/// may have passed, too.
void Diagnosing::doubt_what_is_like_passed() {
  constexpr double likewise = 1.1;
  const auto has_two_ends = [](const Fault& fault) {
    return is_between_hosts(fault) || fault.component.kind == ComponentKind::cable;
  };
  double most = 0;
  for (const Fault& fault : diagnosis_.faults) {
    if (has_two_ends(fault) && fault.persistence == Persistence::transient) most = std::max(most, fault.ratio);
  }
  for (Fault& fault : diagnosis_.faults) {
    const bool is_new = has_two_ends(fault) && fault.persistence == Persistence::not_retested;
    if (is_new && fault.ratio < likewise * most) fault.is_unproven = true;
  }
}

/// Where flows share cables, an end that was not measured alone, and is no slower than one that is slow under load
/// only, may be so, too.
void Diagnosing::doubt_ends_like_those_of_load() {
  constexpr double likewise = 1.1;
  double most = 0;
  for (const Fault& fault : diagnosis_.faults) {
    if (is_of_end(fault) && fault.persistence == Persistence::only_under_load) most = std::max(most, fault.ratio);
  }
  for (Fault& fault : diagnosis_.faults) {
    const bool is_new = is_of_end(fault) && fault.persistence == Persistence::not_retested;
    if (is_new && fault.ratio < likewise * most) fault.is_unproven = true;
  }
}

/// Where ways have unlike lengths, some share a cable with several flows and others with none. So what was not measured
/// alone is known only of hosts that are slow with everybody. Be it the only one, a way that little more of a long
/// message's time is lost on is not known, either.
void Diagnosing::doubt_what_unlike_ways_show(bool is_contended) {
  if (!setting_.classes.is_without_levels() || question_.load == Load::alone) return;
  const auto is_of_network = [](const Fault& fault) { return fault.component.level >= 0; };
  const auto is_load = [&](const Fault& fault) {
    return is_of_network(fault) && fault.persistence == Persistence::only_under_load;
  };
  const auto is_known = [&](const Fault& fault) {
    return !is_of_network(fault) && std::ranges::any_of(outcome_.suspects, [&](const Suspect& one) {
      return one.is_before_fit && one.component == fault.component;
    });
  };
  const bool is_any_load = is_contended || std::ranges::any_of(diagnosis_.faults, is_load);
  for (Fault& fault : diagnosis_.faults) {
    const bool is_inside = fault.component.kind == ComponentKind::inside;
    if (fault.persistence != Persistence::not_retested || is_inside || is_known(fault)) continue;
    const bool is_little = fault.ratio < ratio_of_contention && !fault.pairs.empty() &&
                           fault.pairs.front().measured - fault.pairs.front().expected > most_ns_by_distance;
    if (is_any_load || (is_of_network(fault) && is_little)) fault.is_unproven = true;
  }
}

/// The host that a component is on or in, -1 = none.
std::int32_t host_of_component(const Setting& setting, const Component& component) {
  switch (component.kind) {
    case ComponentKind::host:
    case ComponentKind::port:
    case ComponentKind::inside:
    case ComponentKind::socket:
      return component.first;
    case ComponentKind::rank:
      return static_cast<std::int32_t>(setting.layout.host_of[static_cast<std::size_t>(component.first)]);
    default:
      return -1;
  }
}

/// Whether pairs of a link belong to a larger component that was found: pairs that lost more messages than most make
/// links look slow beyond what the component explains.
bool is_part_of_another(const Setting& setting, const Suspect& link, const std::vector<Suspect>& suspects) {
  if (link.component.kind != ComponentKind::link) return false;
  const auto ranks_of = [&](std::int32_t host) { return setting.hosts.of(static_cast<std::uint32_t>(host)); };
  return std::ranges::any_of(suspects, [&](const Suspect& other) {
    if (other.component.kind == ComponentKind::link || other.is_note) return false;
    return std::ranges::any_of(ranks_of(link.component.first), [&](std::uint32_t one) {
      return std::ranges::any_of(ranks_of(link.component.second), [&](std::uint32_t another) {
        return belongs(setting, other, one, another) || belongs(setting, other, another, one);
      });
    });
  });
}

/// Components with usual medians and unusual means. What is slow is not reported again as unsteady; of what is unsteady
/// on one host only the largest component is reported.
void Diagnosing::add_unsteady() {
  if (!question_.has_means) return;
  const Rows& rows = question_.rows(Symptom::unsteady);
  DiagnosisSettings settings = question_.settings;
  settings.threshold = std::max(settings.threshold, unsteady_threshold);
  std::vector<std::string> told_before;
  Setting of_ratios = setting_;
  of_ratios.are_times = false;
  SearchOutcome unsteady = search(rows, of_ratios, settings, Symptom::unsteady, 0, told_before);
  std::vector<Suspect> fresh;
  for (const Suspect& suspect : unsteady.suspects) {
    const std::int32_t host = host_of_component(setting_, suspect.component);
    const auto covers = [&](const Component& other) {
      const bool is_same = other.first == suspect.component.first && other.second == suspect.component.second;
      return is_same || (host >= 0 && host_of_component(setting_, other) == host);
    };
    if (suspect.is_note || is_part_of_another(setting_, suspect, unsteady.suspects)) continue;
    if (std::ranges::any_of(diagnosis_.faults, [&](const Fault& fault) { return covers(fault.component); })) continue;
    if (std::ranges::any_of(fresh, [&](const Suspect& known) { return covers(known.component); })) continue;
    if (are_few_by_chance(rows, unsteady.effects, suspect)) continue;
    fresh.push_back(suspect);
  }
  if (question_.retest && !fresh.empty())
    sound_ = sound_pairs({rows, setting_, unsteady.effects, question_.retested}, fresh, num_sound);
  unsteady.suspects = std::move(fresh);
  add_faults(rows, unsteady, Symptom::unsteady);
}

/// Collective: whether pairs of these hosts with each other are slow beside those of other hosts, too. What shares a
/// slow way is not.
bool Diagnosing::are_slow_among(const Rows& rows, const std::vector<Fault*>& hosts) const {
  constexpr double half = 0.5;
  const auto& host_of = question_.layout.host_of;
  std::vector<std::uint8_t> is_one(setting_.hosts.num_groups(), 0);
  double least = std::numeric_limits<double>::infinity();
  for (const Fault* one : hosts) {
    is_one[static_cast<std::size_t>(one->component.first)] = 1;
    least = std::min(least, half * std::log(one->ratio));
  }
  std::vector<LogHistogram> among(rows.num_workers()), others(rows.num_workers());
  rows.visit([&](std::size_t worker, const Row& row) {
    const std::uint32_t host = host_of[row.from];
    for (std::size_t index = 0; index < row.values.size(); ++index) {
      const std::uint32_t other = host_of[row.partner(index)];
      if (std::isnan(row.values[index]) || other == host || is_one[other] != is_one[host]) continue;
      (is_one[host] != 0 ? among : others)[worker].add(row.values[index]);
    }
  });
  const double of_among = sum_of_all(rows, std::move(among)).quantile(half),
               of_others = sum_of_all(rows, std::move(others)).quantile(half);
  return of_among - of_others >= least;
}

/// Without a topology it is not known what hosts share, so a slow uplink shows as slow hosts. Neighbours that are slow
/// alike may share one, unless they are as slow with each other: none of them is proven.
void Diagnosing::note_hosts_alike(const Rows& rows) {
  if (knows_network()) return;
  std::vector<Fault*> hosts;
  std::vector<double> effects;
  for (Fault& fault : diagnosis_.faults) {
    const bool is_whole_host =
        fault.component.kind == ComponentKind::host || fault.component.kind == ComponentKind::port;
    if (!is_whole_host || fault.symptom != Symptom::slow) continue;
    hosts.push_back(&fault);
    effects.push_back(std::log(fault.ratio));
  }
  const double middle = middle_of(effects).median;
  std::erase_if(hosts,
                [&](const Fault* one) { return std::abs(std::log(one->ratio) - middle) >= most_apart * middle; });
  const auto num_alike = static_cast<std::ptrdiff_t>(hosts.size());
  if (num_alike < fewest_alike || are_slow_among(rows, hosts)) return;
  const auto number = [](const Fault* one) { return one->component.first; };
  const auto [first, last] = std::ranges::minmax(hosts, {}, number);
  const auto num_between = static_cast<double>(number(last) - number(first) + 1);
  if (setting_.are_times && num_alike >= fewest_neighbours_alike &&
      static_cast<double>(num_alike) >= share_of_neighbours * num_between) {
    for (Fault* const one : hosts) one->is_unproven = true;
  }
  diagnosis_.notes.push_back(fmt::format(
      "{} hosts are slow alike: with --topology what they share, such as an uplink, would be reported instead",
      num_alike));
}

Diagnosis Diagnosing::run() {
  const std::size_t num_lone = std::clamp(num_ranks(question_.layout) / ranks_a_lone, fewest_lone, most_lone);
  const Rows& as_measured = question_.rows(Symptom::slow);
  // Pairs of two switches meet in neighbouring rounds, so drift would show as slow ways between them.
  const auto calm = knows_network() ? without_own_drift(as_measured, setting_.classes) : nullptr;
  const Rows& before_routes = calm ? *calm : as_measured;
  RoutedParts routed = find_routed_parts(before_routes, setting_, question_.settings, question_.is_round_trip);
  if (std::string why = why_not_used(before_routes, setting_); !why.empty()) diagnosis_.notes.push_back(std::move(why));
  const auto off_routes = routed.suspects.empty() ? nullptr : without_routed_parts(before_routes, setting_, routed);
  const Rows& before_paths = off_routes ? *off_routes : before_routes;
  const SlowPaths paths = find_slow_paths(before_paths, setting_, question_.settings);
  do_cables_limit_ = paths.is_contended && !question_.has_many_loads;
  const auto rest = paths.suspects.empty() ? nullptr : without_slow_paths(before_paths, paths, question_.layout);
  const Rows& off_paths = rest ? *rest : before_paths;
  outcome_ = search(off_paths, setting_, question_.settings, Symptom::slow, num_lone, diagnosis_.notes);
  outcome_.suspects.insert(outcome_.suspects.begin(), paths.suspects.begin(), paths.suspects.end());
  tell_hosts_from_ports();
  outcome_.suspects.insert(outcome_.suspects.begin(), routed.suspects.begin(), routed.suspects.end());
  const Rows& times = outcome_.without_drift ? *outcome_.without_drift : off_paths;
  leave_out_ranks_by_chance(times);
  explain_group_apart(times);
  describe_classes();
  // What one pair in fifty shows by chance is not measured again. Where several ends of a host are slow, the fit may
  // leave some of that to its pairs.
  std::erase_if(outcome_.isolated_pairs, [&](const IsolatedPair& one) {
    const auto explains = [&](const Suspect& suspect) {
      const bool is_covered = static_cast<double>(one.residual) <= suspect.effect ||
                              (suspect.is_before_fit && !suspect.needs_retest && do_cables_limit_);
      return is_covered && may_pass(setting_, suspect, one.from, one.to);
    };
    if (std::ranges::any_of(outcome_.suspects, explains)) return true;
    const Effects::OfClass& of_class = outcome_.effects.classes[setting_.classes.of(one.from, one.to)];
    return tail_probability(of_class, static_cast<double>(one.residual)) > most_common;
  });
  join_both_orders(times);
  if (num_ranks(question_.layout) < fewest_to_compare) {
    diagnosis_.notes.emplace_back("of two ranks it cannot be decided which is slow");
  }
  const bool has_suspects = !outcome_.suspects.empty() || !outcome_.isolated_pairs.empty();
  if (question_.retest && has_suspects) {
    sound_ = sound_pairs({as_measured, setting_, outcome_.effects, question_.retested}, outcome_.suspects, num_sound);
  }
  judge_isolated_pairs();
  add_faults(as_measured, outcome_, Symptom::slow);
  note_hosts_alike(times);
  add_unsteady();  // takes other rows, and these are gone
  share_time(setting_, diagnosis_);
  sort_by_cost(diagnosis_);
  return std::move(diagnosis_);
}

}  // namespace

void share_time(const Setting& setting, Diagnosis& diagnosis) {
  double all_ns = 0;
  for (const DiagnosedClass& one : diagnosis.classes) all_ns += static_cast<double>(one.num_pairs) * one.time_ns_median;
  for (Fault& fault : diagnosis.faults) {
    if (fault.pairs.empty() || !(fault.ratio > 1)) continue;
    const auto [from, to] = std::pair(fault.pairs.front().from, fault.pairs.front().to);
    const std::string name =
        setting.classes.name(setting.classes.of(static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)));
    const auto of_class = std::ranges::find(diagnosis.classes, name, &DiagnosedClass::name);
    if (of_class == diagnosis.classes.end()) continue;
    const double lost_ns =
        static_cast<double>(fault.num_pairs) * fault.share * (fault.ratio - 1) * of_class->time_ns_median;
    fault.time_share = lost_ns / (all_ns + lost_ns);
  }
}

Recorded recorded(std::span<const SecondMeasurement> measured) {
  if (measured.empty()) return {};
  using Key = std::tuple<std::uint32_t, std::uint32_t, bool>;
  std::map<Key, RetestTimes> times;
  Recorded all;
  for (const SecondMeasurement& one : measured) {
    times[{one.from, one.to, one.is_alone}] = {one.time_ns_median, one.time_ns_mean};
    if (one.is_alone) all.pairs.push_back({one.from, one.to});
  }
  all.retest = [times = std::move(times)](std::span<const OrderedPair> pairs, Load load) {
    std::vector<RetestTimes> again;
    for (const OrderedPair& pair : pairs) {
      const auto known = times.find({pair.from, pair.to, load == Load::alone});
      again.push_back(known == times.end() ? RetestTimes{} : known->second);
    }
    return again;
  };
  return all;
}

namespace {

/// Learns groups first, where it may.
Diagnosis diagnosed_by_fit(const Question& question) {
  if (!question.may_learn) return Diagnosing(question).run();
  Layout learnt = question.layout;
  if (can_learn_sockets(learnt)) {
    std::vector<std::int32_t> sockets = learnt_sockets(question.rows(Symptom::slow), learnt);
    learnt.are_sockets_learnt = !sockets.empty();
    if (learnt.are_sockets_learnt) learnt.socket_of = std::move(sockets);
  }
  if (can_learn_network(learnt)) {
    auto network = learnt_network(question.rows(Symptom::slow), Setting(learnt));
    if (network) learnt.network = std::move(*network);
  }
  return Diagnosing({.rows = question.rows,
                     .layout = learnt,
                     .settings = question.settings,
                     .num_pairs = question.num_pairs,
                     .has_means = question.has_means,
                     .retest = question.retest,
                     .retested = question.retested,
                     .may_learn = false,
                     .are_times = question.are_times,
                     .load = question.load,
                     .has_many_loads = question.has_many_loads,
                     .is_contended = question.is_contended,
                     .is_round_trip = question.is_round_trip})
      .run();
}

}  // namespace

Diagnosis diagnose(const Question& question) {
  const SlowAlone slow = find_slow_alone(question);
  if (!slow.is_busy) return diagnosed_by_fit(question);
  Question rest = question;
  rest.is_contended = true;
  std::unique_ptr<Rows> rows;
  if (!slow.faults.empty()) {
    rest.rows = [&](Symptom symptom) -> const Rows& {
      rows = without_slow_alone(question.rows(symptom), slow);
      return *rows;
    };
    std::erase_if(rest.retested, [&](const OrderedPair& pair) { return slow.has(pair.from, pair.to); });
  }
  Diagnosis diagnosis = diagnosed_by_fit(rest);
  diagnosis.notes.push_back(
      fmt::format("the machine was busy: what pairs take under load scatters by {:.0f} % around what they take alone, "
                  "as where other programs run or flows share cables, so pairs that were measured alone come first",
                  100 * std::expm1(slow.scatter)));
  diagnosis.num_measured += slow.num_pairs;
  diagnosis.faults.insert(diagnosis.faults.end(), slow.faults.begin(), slow.faults.end());
  share_time(Setting(question.layout), diagnosis);
  sort_by_cost(diagnosis);
  return diagnosis;
}

}  // namespace leadline::diagnosis
