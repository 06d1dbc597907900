// SPDX-License-Identifier: Apache-2.0
// Searches one kind of component after the other, and removes what a found one explains before the next.
#include "diagnosis/components.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/layout.hpp"
#include "model/diagnosis.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {
namespace {

// A member shows the fault of its component if it shows at least this share of the effect.
constexpr double share_of_fault = 0.5;
constexpr double errors_of_fast = 3;  // standard errors below that: it surely does not

/// Classes of pairs, a bit each.
using ClassSet = std::uint32_t;

class RemainingEffects {
 public:
  /// Both references outlive it. Copies the effects, without classes that have no pairs.
  RemainingEffects(const Effects& effects, const PairClasses& classes);

  double share() const { return effects_.share; }  ///< of members of a faulty component that may be sound
  ClassSet between() const { return between_; }    ///< pairs of different hosts
  ClassSet inside() const { return inside_; }      ///< pairs of one host
  ClassSet crossing(std::size_t level) const;      ///< pairs that leave the groups of a level
  ClassSet within(std::size_t level) const { return between_ & ~crossing(level); }

  /// Pairs of different hosts that tell ends best: those that share no cables, where each rank has so many; else all.
  ClassSet of_ends(std::size_t fewest) const;
  double step(ClassSet set) const;        ///< of the clock, the greatest of these classes
  double spread(ClassSet set) const;      ///< the greatest of these classes: how their pairs scatter
  double usual_time(ClassSet set) const;  ///< ns, of sound pairs in the nearest of these classes; NaN without any

  /// What a rank shows in all of these classes at least; NaN where it has no pairs in any. `both`: in both directions.
  double of_rank(std::uint32_t rank, FaultDirection direction, ClassSet set) const;

  /// What nearly all of these ranks show (more than half of them, where ends were fitted to halves); see consensus().
  double of_ranks(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set) const;

  /// Ordered pairs of these ranks in these classes (both directions: senders and receivers).
  std::uint64_t num_pairs(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set) const;

  /// The standard error of what of_ranks() gives, from the scatter of single pairs.
  double standard_error(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set) const;

  /// Whether one of these ranks is surely too fast for an effect that all of them should show.
  bool has_fast_rank(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set, double effect) const;

  /// These ranks' share of an effect is explained.
  void explain(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set, double effect);

 private:
  const Effects& effects_;
  const PairClasses& classes_;
  ClassSet between_ = 0, inside_ = 0;
  std::vector<double> spread_;  ///< by class: how its pairs scatter, as far as known
  std::vector<std::vector<float>> out_, in_;
};

bool has(ClassSet set, std::size_t pair_class) { return (set >> pair_class & 1U) != 0; }

RemainingEffects::RemainingEffects(const Effects& effects, const PairClasses& classes)
    : effects_(effects), classes_(classes) {
  for (std::size_t pair_class = 0; pair_class < effects.classes.size(); ++pair_class) {
    const Effects::OfClass& one = effects.classes[pair_class];
    out_.push_back(one.out);
    in_.push_back(one.in);
    spread_.push_back(one.spread);
    if (one.num == 0) continue;
    (PairClasses::is_inside(pair_class) ? inside_ : between_) |= 1U << pair_class;
  }
  // Where the ends explain every pair, as inside hosts of two ranks, nothing is left that shows how pairs scatter.
  double known = 0;
  for (const Effects::OfClass& one : effects.classes) {
    if (one.num > one.num_fitted) known = std::fmax(known, one.spread);
  }
  for (std::size_t pair_class = 0; pair_class < spread_.size(); ++pair_class) {
    const Effects::OfClass& one = effects.classes[pair_class];
    if (one.num <= one.num_fitted) spread_[pair_class] = std::fmax(one.spread, known);
  }
}

ClassSet RemainingEffects::crossing(std::size_t level) const {
  ClassSet set = 0;
  for (std::size_t pair_class = 0; pair_class < effects_.classes.size(); ++pair_class) {
    if (classes_.crosses(pair_class, level)) set |= 1U << pair_class;
  }
  return set & between_;
}

ClassSet RemainingEffects::of_ends(std::size_t fewest) const {
  ClassSet calm = 0;
  for (std::size_t pair_class = 0; pair_class < spread_.size(); ++pair_class) {
    if (has(between_, pair_class) && spread_[pair_class] <= spread_of_contention) calm |= 1U << pair_class;
  }
  if (calm == between_) return between_;
  for (std::uint32_t rank = 0; rank < out_.front().size(); ++rank) {
    if (num_pairs(std::span(&rank, 1), FaultDirection::out, calm) < fewest) return between_;
  }
  return calm;
}

double RemainingEffects::spread(ClassSet set) const {
  double spread = 0;
  for (std::size_t pair_class = 0; pair_class < spread_.size(); ++pair_class) {
    if (has(set, pair_class)) spread = std::fmax(spread, spread_[pair_class]);
  }
  return spread;
}

double RemainingEffects::usual_time(ClassSet set) const {
  for (std::size_t pair_class = 0; pair_class < effects_.classes.size(); ++pair_class) {
    if (has(set, pair_class)) return std::exp(effects_.classes[pair_class].centre);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

double RemainingEffects::of_rank(std::uint32_t rank, FaultDirection direction, ClassSet set) const {
  double least = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t pair_class = 0; pair_class < out_.size(); ++pair_class) {
    if (!has(set, pair_class)) continue;
    if (direction != FaultDirection::in) least = std::fmin(least, out_[pair_class][rank]);
    if (direction != FaultDirection::out) least = std::fmin(least, in_[pair_class][rank]);
  }
  return least;
}

double RemainingEffects::of_ranks(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set) const {
  std::vector<double> shown;
  shown.reserve(ranks.size());
  for (const std::uint32_t rank : ranks) shown.push_back(of_rank(rank, direction, set));
  return consensus(shown, effects_.share);
}

std::uint64_t RemainingEffects::num_pairs(std::span<const std::uint32_t> ranks, FaultDirection direction,
                                          ClassSet set) const {
  std::uint64_t num = 0;
  for (std::size_t pair_class = 0; pair_class < out_.size(); ++pair_class) {
    if (!has(set, pair_class)) continue;
    const Effects::OfClass& one = effects_.classes[pair_class];
    for (const std::uint32_t rank : ranks) {
      num += (direction != FaultDirection::in ? one.num_out[rank] : 0) +
             (direction != FaultDirection::out ? one.num_in[rank] : 0);
    }
  }
  return num;
}

double RemainingEffects::standard_error(std::span<const std::uint32_t> ranks, FaultDirection direction,
                                        ClassSet set) const {
  // For `both` the lesser direction decides.
  const std::uint64_t num = num_pairs(ranks, direction, set) / (direction == FaultDirection::both ? 2 : 1);
  const double by_pairs =
      quartile_efficiency * this->spread(set) / std::sqrt(std::max<double>(static_cast<double>(num), 1));
  return std::fmax(by_pairs, step(set) / 2);
}

bool RemainingEffects::has_fast_rank(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set,
                                     double effect) const {
  if (effects_.share > better_quarter) return false;  // losses strike by chance, and may leave out a rank
  const double shown = of_ranks(ranks, direction, set);
  return std::ranges::any_of(ranks, [&](const std::uint32_t& rank) {
    const double by_chance = errors_of_fast * standard_error(std::span(&rank, 1), direction, set);
    return shown - of_rank(rank, direction, set) > (1 - share_of_fault) * effect + by_chance;
  });
}

double RemainingEffects::step(ClassSet set) const {
  double step = 0;
  for (std::size_t pair_class = 0; pair_class < out_.size(); ++pair_class) {
    if (has(set, pair_class)) step = std::fmax(step, effects_.classes[pair_class].step);
  }
  return step;
}

void RemainingEffects::explain(std::span<const std::uint32_t> ranks, FaultDirection direction, ClassSet set,
                               double effect) {
  // A time that they add is a lesser factor of what farther pairs take: what these show less is no sign of fast ranks.
  const auto leave = [effect](float& shown) {
    const float left = shown - static_cast<float>(effect);
    shown = effect > 0 && left < -slow_end ? std::min(shown, 0.0F) : left;
  };
  for (std::size_t pair_class = 0; pair_class < out_.size(); ++pair_class) {
    if (!has(set, pair_class)) continue;
    for (const std::uint32_t rank : ranks) {
      if (direction != FaultDirection::in) leave(out_[pair_class][rank]);
      if (direction != FaultDirection::out) leave(in_[pair_class][rank]);
    }
  }
}

using Ranks = std::span<const std::uint32_t>;

// Of the time that pairs below a switch lose over what pairs across it do: from here on hosts lose it, not the switch.
constexpr double least_of_hosts = 1.5;
// So many neighbouring hosts that differ by no more than this are slow for a common reason.
constexpr std::size_t fewest_neighbours = 4;
constexpr double most_between_neighbours = 0.04;  // logarithm
constexpr double most_between_insides = 0.15;     // of the effect; what pairs inside show is the sum of two ends
constexpr std::array directions{FaultDirection::both, FaultDirection::out, FaultDirection::in};

// Switches are few, and alone would say little of how sound ones scatter; but we take it that those of one machine
// scatter no more than its hosts do. With so many hosts that is worth so many degrees of freedom: a guess.
constexpr std::size_t fewest_hosts_to_know = 12;
constexpr double freedom_by_hosts = 4;

// Second measurements decide on suspects of fewer candidates of a kind, at this false discovery rate.
constexpr std::size_t fewest_to_tell = 12;
constexpr double rate_before_retest = 0.25;

// Up to this share of a kind may be bad; more are a kind of their own.
constexpr double most_bad = 0.45;

// So many hosts (a third of all, or a row of neighbours) that are slow alike may have other processors. These take at
// most about twice as long, and they are about half of the time between two hosts, half of which is one host's.
constexpr double share_of_older = 1.0 / 3;
constexpr double most_by_processors = 0.24, most_by_processors_inside = 0.69;  // logarithms: x1.27, x2
constexpr double most_around_kind = 0.02, most_spreads_of_kind = 2;  // logarithm; beside what sound ones scatter by

/// A component and its ranks.
struct Group {
  Component component;
  Ranks ranks;
};

class Search {
 public:
  Search(const Effects& effects, const Setting& setting, const DiagnosisSettings& settings,
         std::vector<std::string>& notes)
      : setting_(setting),
        layout_(setting.layout),
        hosts_(setting.hosts),
        settings_(settings),
        notes_(notes),
        remaining_effects_(effects, setting.classes) {}

  std::vector<Suspect> run();

 private:
  ClassSet of_ends() const;
  bool have_sound_partners(ClassSet set) const;
  void look_at_switches(std::size_t level);
  void look_at_sockets_of_all();
  void look_at_rails();
  void look_at_hosts();
  void look_at_sockets();
  void look_at_ranks();
  void look_inside();
  void explain_kind(const std::vector<Group>& groups, const std::vector<Suspect>& kind, FaultDirection direction,
                    ClassSet set);

  std::vector<Candidate> candidates_of(const std::vector<Group>& groups, FaultDirection direction, ClassSet set) const;
  std::vector<Suspect> judged(const std::vector<Group>& groups, FaultDirection direction, ClassSet set);
  std::vector<Suspect> slow_with_each_rank(const std::vector<Group>& groups, const std::vector<Candidate>& candidates,
                                           FaultDirection direction, ClassSet set,
                                           const DiagnosisSettings& settings) const;
  void add_unsure(const std::vector<Group>& groups, const std::vector<Candidate>& candidates, FaultDirection direction,
                  ClassSet set, std::vector<Suspect>& slow) const;
  std::vector<Suspect> neighbours_alike(const std::vector<Suspect>& slow,
                                        const std::vector<Candidate>& candidates) const;
  std::vector<Suspect> older_hosts(const std::vector<Candidate>& candidates, FaultDirection direction) const;
  std::vector<Suspect> judged_switches(const std::vector<Group>& groups, const Members& hosts_of,
                                       FaultDirection direction, ClassSet set) const;
  void note(const Suspect& suspect);
  double among(Ranks ranks, ClassSet set) const;
  void explain_among(Ranks ranks, ClassSet set);
  Candidate shown_by(const std::vector<std::uint32_t>& ranks, const Component& component,
                     FaultDirection direction) const;

  const Setting& setting_;
  const Layout& layout_;
  const Members& hosts_;
  const DiagnosisSettings& settings_;
  std::vector<std::string>& notes_;
  RemainingEffects remaining_effects_;
  std::vector<Suspect> found_;
};

ClassSet Search::of_ends() const {
  const ClassSet between = remaining_effects_.between();
  if (setting_.has_many_loads) return between;
  const ClassSet calm = remaining_effects_.of_ends(fewest_to_compare * hosts_.of(0).size());
  return calm == between || have_sound_partners(calm) ? calm : between;
}

/// Whether in these classes each host has so many others as are compared at least, beside those that were found slow: a
/// slow partner hides what an end shows.
bool Search::have_sound_partners(ClassSet set) const {
  std::vector<std::uint8_t> is_slow(hosts_.num_groups(), 0);
  for (const Suspect& one : found_) {
    const ComponentKind kind = one.component.kind;
    if (kind == ComponentKind::host || kind == ComponentKind::port)
      is_slow[static_cast<std::size_t>(one.component.first)] = 1;
  }
  for (std::uint32_t host = 0; host < hosts_.num_groups(); ++host) {
    std::size_t num = 0;
    for (std::uint32_t other = 0; other < hosts_.num_groups() && num < fewest_to_compare; ++other) {
      if (other == host || is_slow[other] != 0) continue;
      num += has(set, setting_.classes.of(hosts_.of(host).front(), hosts_.of(other).front())) ? 1 : 0;
    }
    if (num < fewest_to_compare) return false;
  }
  return true;
}

std::vector<Candidate> Search::candidates_of(const std::vector<Group>& groups, FaultDirection direction,
                                             ClassSet set) const {
  std::vector<Candidate> candidates;
  candidates.reserve(groups.size());
  for (const Group& group : groups) {
    candidates.push_back({group.component, remaining_effects_.of_ranks(group.ranks, direction, set),
                          remaining_effects_.standard_error(group.ranks, direction, set),
                          remaining_effects_.num_pairs(group.ranks, direction, set)});
  }
  return candidates;
}

std::vector<Suspect> Search::judged(const std::vector<Group>& groups, FaultDirection direction, ClassSet set) {
  std::vector<Candidate> candidates = candidates_of(groups, direction, set);
  if (const std::vector<Suspect> older = older_hosts(candidates, direction); !older.empty()) {
    notes_.push_back(two_kinds(setting_, older, candidates.size()));
    explain_kind(groups, older, direction, set);
    candidates = candidates_of(groups, direction, set);
  }
  std::vector<Suspect> slow = slow_with_each_rank(groups, candidates, direction, set, settings_);
  const bool is_few = static_cast<double>(slow.size()) <= most_bad * static_cast<double>(candidates.size());
  if (is_few) {
    std::vector<Suspect> neighbours = neighbours_alike(slow, candidates);
    if (neighbours.empty()) {
      add_unsure(groups, candidates, direction, set, slow);
      return slow;
    }
    slow = std::move(neighbours);
  }
  // So many are no exception. A few may stand out from most.
  std::vector<Suspect> outliers;
  if (!is_few) {
    outliers = judge(candidates, {direction, candidates, 0, candidates.size(), 1, Usual::majority}, settings_);
    std::erase_if(slow, [&](const Suspect& one) {
      return std::ranges::any_of(outliers, [&](const Suspect& other) { return other.component == one.component; });
    });
  }
  if (!slow.empty()) notes_.push_back(two_kinds(setting_, slow, candidates.size()));
  explain_kind(groups, slow, direction, set);
  return outliers;
}

std::vector<Suspect> Search::slow_with_each_rank(const std::vector<Group>& groups,
                                                 const std::vector<Candidate>& candidates, FaultDirection direction,
                                                 ClassSet set, const DiagnosisSettings& settings) const {
  std::vector<Suspect> slow = judge(candidates, direction, settings);
  // What is slow by itself is slow with each of its ranks; else its slow ranks are found one by one.
  std::erase_if(slow, [&](const Suspect& one) {
    const auto group = std::ranges::find(groups, one.component, &Group::component);
    return remaining_effects_.has_fast_rank(group->ranks, direction, set, one.effect);
  });
  // Where pairs scatter so much, flows share ways, and hosts differ by whom they share them with.
  if (const double spread = remaining_effects_.spread(set); spread > spread_of_contention) {
    for (Suspect& one : slow) one.error = std::fmax(one.error, spread / 2);
  }
  return slow;
}

/// Where pairs scatter so much that few candidates cannot show which of them is slow: those that stand out enough for
/// second measurements to decide.
void Search::add_unsure(const std::vector<Group>& groups, const std::vector<Candidate>& candidates,
                        FaultDirection direction, ClassSet set, std::vector<Suspect>& slow) const {
  const bool are_few = candidates.size() < fewest_to_tell;
  if (!setting_.has_second || !are_few || remaining_effects_.spread(set) <= spread_of_contention) return;
  DiagnosisSettings lenient = settings_;
  lenient.false_discovery_rate = std::max(lenient.false_discovery_rate, rate_before_retest);
  for (Suspect& one : slow_with_each_rank(groups, candidates, direction, set, lenient)) {
    if (std::ranges::find(slow, one.component, &Suspect::component) != slow.end()) continue;
    one.needs_retest = true;
    slow.push_back(one);
  }
}

void Search::explain_kind(const std::vector<Group>& groups, const std::vector<Suspect>& kind, FaultDirection direction,
                          ClassSet set) {
  for (const Suspect& one : kind) {
    const auto group = std::ranges::find_if(groups, [&](const Group& of) { return of.component == one.component; });
    remaining_effects_.explain(group->ranks, direction, set, one.effect);
    explain_among(group->ranks, remaining_effects_.inside());
  }
}

/// The hosts above the lowest cluster, where they are many and alike, and no slower than other processors would be.
/// Their effect is what they have in common, so that a host that is slower than its kind remains.
std::vector<Suspect> Search::older_hosts(const std::vector<Candidate>& candidates, FaultDirection direction) const {
  if (!setting_.are_times || candidates.size() < 2 * fewest_neighbours) return {};
  const ComponentKind of = candidates.front().component.kind;
  if (of != ComponentKind::host && of != ComponentKind::inside) return {};
  std::vector<double> effects, errors;
  for (const Candidate& one : candidates) {
    effects.push_back(one.effect);
    errors.push_back(one.standard_error);
  }
  const double error = middle_of(errors).median;
  const Reference reference = lowest_cluster(effects, std::fmax(error, least_spread));
  std::erase_if(effects, [&](double effect) { return !(effect > reference.cut); });
  if (effects.size() < fewest_neighbours) return {};
  const double most_around = std::max({most_around_kind, most_spreads_of_kind * reference.middle.spread,
                                       remaining_effects_.step(remaining_effects_.between())});
  const Middle upper = middle_of(effects);
  const double effect = upper.median - reference.middle.median;
  if (upper.spread > most_around) return {};
  const double step =
      remaining_effects_.step(of == ComponentKind::inside ? remaining_effects_.inside() : remaining_effects_.between());
  if (effect > (of == ComponentKind::inside ? most_by_processors_inside : most_by_processors) + step) return {};
  std::vector<Suspect> kind;
  std::vector<double> inside_of_kind, inside_of_others;
  for (const Candidate& one : candidates) {
    const auto host = static_cast<std::uint32_t>(one.component.first);
    (one.effect > reference.cut ? inside_of_kind : inside_of_others)
        .push_back(among(hosts_.of(host), remaining_effects_.inside()));
    if (!(one.effect > reference.cut) || std::abs(one.effect - upper.median) > 3 * most_around) continue;
    kind.push_back({one.component, direction, effect, most_around, 1, one.num_pairs, true});
  }
  // Slower processors show inside, too; ports do not.
  const double inside = middle_of(inside_of_kind).median - middle_of(inside_of_others).median;
  if (middle_of(inside_of_kind).num > 0 && inside < share_of_fault * effect) return {};
  const auto number = [](const Suspect& one) { return one.component.first; };
  const auto [first, last] = std::ranges::minmax(kind, {}, number);
  const bool are_neighbours = number(last) - number(first) + 1 == static_cast<std::int32_t>(kind.size());
  const double share = static_cast<double>(kind.size()) / static_cast<double>(candidates.size());
  if (kind.size() < fewest_neighbours || (!are_neighbours && share < share_of_older)) return {};
  return kind;
}

/// Where the slow ones are all hosts from one number to another, slower by one factor (a rack, or a delivery), those
/// hosts, also those that lie below the threshold; else none.
std::vector<Suspect> Search::neighbours_alike(const std::vector<Suspect>& slow,
                                              const std::vector<Candidate>& candidates) const {
  const auto is_of_host = [](ComponentKind kind) {
    return kind == ComponentKind::host || kind == ComponentKind::inside;
  };
  if (slow.empty() || !is_of_host(slow.front().component.kind)) return {};
  const bool is_inside = slow.front().component.kind == ComponentKind::inside;
  const auto number = [](const Suspect& one) { return one.component.first; };
  const std::int32_t first = std::ranges::min(slow, {}, number).component.first;
  const std::int32_t last = std::ranges::max(slow, {}, number).component.first;
  std::vector<double> effects;
  for (const Suspect& one : slow) effects.push_back(one.effect);
  const double middle = middle_of(std::move(effects)).median,
               usual = candidates[static_cast<std::size_t>(slow.front().component.first)].effect - slow.front().effect;
  std::vector<Suspect> neighbours;
  for (const Candidate& one : candidates) {
    if (one.component.first < first || one.component.first > last) continue;
    neighbours.push_back(slow.front());
    neighbours.back().component = one.component;
    neighbours.back().effect = one.effect - usual;
    double most_apart = std::fmax(most_between_neighbours, remaining_effects_.step(remaining_effects_.between()));
    if (is_inside) most_apart = std::max({most_apart, most_between_insides * middle, 2 * slow.front().error});
    if (!(std::abs(neighbours.back().effect - middle) < most_apart)) return {};
  }
  if (neighbours.size() < fewest_neighbours || neighbours.size() == candidates.size()) return {};
  return neighbours;
}

/// Where there are few switches, they are judged by how hosts scatter around their switch, too.
std::vector<Suspect> Search::judged_switches(const std::vector<Group>& groups, const Members& hosts_of,
                                             FaultDirection direction, ClassSet set) const {
  std::vector<Candidate> candidates = candidates_of(groups, direction, set);
  std::vector<double> deviations;
  for (const Candidate& candidate : candidates) {
    for (const std::uint32_t host : hosts_of.of(static_cast<std::uint32_t>(candidate.component.first))) {
      deviations.push_back(remaining_effects_.of_ranks(hosts_.of(host), direction, set) - candidate.effect);
    }
  }
  const Middle hosts = middle_of(std::move(deviations));
  if (degrees_of_freedom(candidates.size()) >= freedom_by_hosts || hosts.num < fewest_hosts_to_know) {
    return judge(candidates, direction, settings_);
  }
  for (Candidate& one : candidates) one.standard_error = std::fmax(one.standard_error, hosts.spread);
  return judge(candidates, {direction, candidates, 0, candidates.size(), freedom_by_hosts}, settings_);
}

/// A component that is slow in both directions, more so in one of them, is reported once.
void Search::note(const Suspect& suspect) {
  const auto known = std::find_if(found_.begin(), found_.end(),
                                  [&](const Suspect& other) { return other.component == suspect.component; });
  if (known == found_.end()) {
    found_.push_back(suspect);
  } else {
    known->effect += suspect.effect;
    known->p_value = std::min(known->p_value, suspect.p_value);
    known->direction = FaultDirection::both;
    known->needs_retest = known->needs_retest && suspect.needs_retest;
  }
}

/// An uplink if only pairs that cross it are slow, the switch if those below it are, too.
void Search::look_at_switches(std::size_t level) {
  const ClassSet crossing = remaining_effects_.crossing(level), within = remaining_effects_.within(level);
  if (crossing == 0) return;
  const std::vector<std::uint32_t>& group_of = layout_.network.levels[level].group_of;
  const Members hosts_of = members_of(group_of), ranks_of = members_of(groups_of_ranks(layout_, level));
  std::vector<Group> groups;
  for (std::uint32_t group = 0; group < hosts_of.num_groups(); ++group) {
    if (hosts_of.of(group).size() < 2) continue;  // that is the host's own port
    const Component component{ComponentKind::uplink, static_cast<std::int32_t>(level), static_cast<std::int32_t>(group),
                              -1, -1};
    groups.push_back({component, ranks_of.of(group)});
  }
  std::vector<double> all_within;
  for (const Group& group : groups) all_within.push_back(among(group.ranks, within));
  const double usual_within = lowest_cluster(all_within, least_spread).middle.median;
  for (const FaultDirection direction : directions) {
    for (Suspect suspect : judged_switches(groups, hosts_of, direction, crossing)) {
      const Ranks ranks = ranks_of.of(static_cast<std::uint32_t>(suspect.component.first));
      const double effect_within = among(ranks, within) - usual_within;
      if (effect_within >= share_of_fault * suspect.effect) {
        // A message between two hosts below it passes the switch once, and the hosts' processors twice.
        const double time_within = std::expm1(effect_within) * remaining_effects_.usual_time(within);
        const double time_crossing = std::expm1(suspect.effect) * remaining_effects_.usual_time(crossing);
        if (time_within >= least_of_hosts * time_crossing) continue;
        suspect.component.kind = ComponentKind::network_switch;
        explain_among(ranks, within);
      }
      remaining_effects_.explain(ranks, direction, crossing, suspect.effect);
      note(suspect);
    }
  }
}

/// What nearly all of these ranks of different hosts show, with its standard error.
Candidate Search::shown_by(const std::vector<std::uint32_t>& ranks, const Component& component,
                           FaultDirection direction) const {
  std::vector<double> shown;
  for (const std::uint32_t rank : ranks)
    shown.push_back(remaining_effects_.of_rank(rank, direction, remaining_effects_.between()));
  const Middle middle = middle_of(shown);
  const double by_ranks =
      quartile_efficiency * middle.spread / std::sqrt(std::max<double>(1, static_cast<double>(middle.num)));
  const double error = std::fmax(by_ranks, remaining_effects_.step(remaining_effects_.between()) / 2);
  return {component, consensus(shown, remaining_effects_.share()), error,
          remaining_effects_.num_pairs(ranks, direction, remaining_effects_.between())};
}

/// The adapter of a machine's hosts is nearer to one of their sockets: no fault, but worth a note, and not to be
/// mistaken for faults of ranks.
void Search::look_at_sockets_of_all() {
  if (layout_.socket_of.empty()) return;
  std::map<std::int32_t, std::vector<std::uint32_t>> on_socket;
  for (std::uint32_t rank = 0; rank < layout_.host_of.size(); ++rank) {
    if (layout_.socket_of[rank] >= 0) on_socket[layout_.socket_of[rank]].push_back(rank);
  }
  if (on_socket.size() < 2) return;
  std::vector<Candidate> sockets;
  for (const auto& [socket, ranks] : on_socket) {
    std::vector<double> shown;
    for (const std::uint32_t rank : ranks)
      shown.push_back(remaining_effects_.of_rank(rank, FaultDirection::both, remaining_effects_.between()));
    const Middle middle = middle_of(shown);
    const double error = middle.spread / std::sqrt(std::max<double>(1, static_cast<double>(middle.num)));
    sockets.push_back({{ComponentKind::socket, -1, -1, -1, socket},
                       consensus(shown, remaining_effects_.share()),
                       error,
                       remaining_effects_.num_pairs(ranks, FaultDirection::both, remaining_effects_.between())});
  }
  const auto best = std::min_element(sockets.begin(), sockets.end(),
                                     [](const Candidate& a, const Candidate& b) { return a.effect < b.effect; });
  const double least = best->effect, least_error = best->standard_error;
  for (const Candidate& one : sockets) {
    const double effect = one.effect - least, error = std::hypot(one.standard_error, least_error);
    const auto& ranks = on_socket[one.component.socket];
    if (std::isnan(effect)) continue;
    remaining_effects_.explain(ranks, FaultDirection::both, remaining_effects_.between(), effect);
    if (effect < std::log1p(settings_.threshold) || effect < 4 * error) continue;
    found_.push_back({one.component, FaultDirection::both, effect, error,
                      stats::student_t_tail(effect / std::fmax(error, 1e-6), 10), one.num_pairs, true});
  }
}

/// The same slot of all hosts: one adapter of each, or one network of several.
void Search::look_at_rails() {
  const std::uint32_t num_hosts = hosts_.num_groups();
  const std::size_t num_slots = hosts_.of(0).size();
  if (num_slots < 2 || num_hosts < fewest_to_compare) return;
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    if (hosts_.of(host).size() != num_slots) return;
  }
  std::vector<std::vector<std::uint32_t>> of_slot(num_slots);
  for (std::uint32_t host = 0; host < num_hosts; ++host) {
    for (std::size_t slot = 0; slot < num_slots; ++slot) of_slot[slot].push_back(hosts_.of(host)[slot]);
  }
  for (const FaultDirection direction : directions) {
    std::vector<Candidate> slots;
    std::vector<double> effects, errors;
    for (std::size_t slot = 0; slot < num_slots; ++slot) {
      const Component component{ComponentKind::rail, -1, static_cast<std::int32_t>(slot), -1, -1};
      slots.push_back(shown_by(of_slot[slot], component, direction));
      effects.push_back(slots.back().effect);
      errors.push_back(slots.back().standard_error);
    }
    const double usual = consensus(effects, remaining_effects_.share()), error_of_usual = middle_of(errors).median;
    for (std::size_t slot = 0; slot < num_slots; ++slot) {
      const double effect = slots[slot].effect - usual;
      const double error = std::fmax(std::hypot(slots[slot].standard_error, error_of_usual), 1e-3);
      if (std::isnan(effect)) continue;
      remaining_effects_.explain(of_slot[slot], direction, remaining_effects_.between(), effect);
      const double p = stats::student_t_tail(effect / error, degrees_of_freedom(num_hosts));
      if (effect < std::log1p(settings_.threshold)) continue;
      if (p > settings_.false_discovery_rate / static_cast<double>(num_slots * directions.size())) continue;
      note({slots[slot].component, direction, effect, error, p, slots[slot].num_pairs, false});
    }
  }
  // Half of the slots are those of the other socket, which is farther from the adapter on all hosts.
  const auto is_rail = [](const Suspect& one) { return one.component.kind == ComponentKind::rail; };
  if (2 * static_cast<std::size_t>(std::ranges::count_if(found_, is_rail)) < num_slots || num_slots < 4) return;
  for (Suspect& one : found_) one.is_note = one.is_note || is_rail(one);
}

/// What the pairs of some ranks with each other show; NaN where there are none. Senders and receivers cannot be told
/// apart there. Inside hosts the fit attributes what is slow to either; between hosts, where it knows no sound partner,
/// to both.
double Search::among(Ranks ranks, ClassSet set) const {
  const double both = remaining_effects_.of_ranks(ranks, FaultDirection::out, set) +
                      remaining_effects_.of_ranks(ranks, FaultDirection::in, set);
  return set == remaining_effects_.inside() ? both : both / 2;
}

void Search::explain_among(Ranks ranks, ClassSet set) {
  for (const FaultDirection direction : {FaultDirection::out, FaultDirection::in})
    remaining_effects_.explain(ranks, direction, set, remaining_effects_.of_ranks(ranks, direction, set));
}

void Search::look_at_hosts() {
  std::vector<Group> groups;
  std::vector<double> inside;
  for (std::uint32_t host = 0; host < hosts_.num_groups(); ++host) {
    groups.push_back({{ComponentKind::host, -1, static_cast<std::int32_t>(host), -1, -1}, hosts_.of(host)});
    inside.push_back(among(hosts_.of(host), remaining_effects_.inside()));
  }
  const double usual_inside = lowest_cluster(inside, least_spread).middle.median;
  const double step_inside = remaining_effects_.step(remaining_effects_.inside());  // any host may show one by chance
  const ClassSet set = of_ends();
  for (const FaultDirection direction : directions) {
    for (Suspect suspect : judged(groups, direction, set)) {
      const auto host = static_cast<std::uint32_t>(suspect.component.first);
      if (inside[host] - usual_inside >= share_of_fault * suspect.effect + step_inside) {
        explain_among(hosts_.of(host), remaining_effects_.inside());
      } else if (!std::isnan(inside[host])) {
        suspect.component.kind = ComponentKind::port;
      }
      remaining_effects_.explain(hosts_.of(host), direction, remaining_effects_.between(), suspect.effect);
      note(suspect);
    }
  }
}

void Search::look_at_sockets() {
  if (layout_.socket_of.empty()) return;
  std::vector<std::vector<std::uint32_t>> ranks;
  std::vector<Component> components;
  for (std::uint32_t host = 0; host < hosts_.num_groups(); ++host) {
    std::map<std::int32_t, std::vector<std::uint32_t>> on_socket;
    for (const std::uint32_t rank : hosts_.of(host)) on_socket[layout_.socket_of[rank]].push_back(rank);
    on_socket.erase(-1);
    if (on_socket.size() < 2) continue;
    for (auto& [socket, own] : on_socket) {
      if (own.size() < 2) continue;  // that is the rank
      components.push_back({ComponentKind::socket, -1, static_cast<std::int32_t>(host), -1, socket});
      ranks.push_back(std::move(own));
    }
  }
  std::vector<Group> groups;
  for (std::size_t index = 0; index < components.size(); ++index) groups.push_back({components[index], ranks[index]});
  for (const FaultDirection direction : directions) {
    for (const Suspect& suspect : judged(groups, direction, of_ends())) {
      const auto at = std::find(components.begin(), components.end(), suspect.component) - components.begin();
      remaining_effects_.explain(ranks[static_cast<std::size_t>(at)], direction, remaining_effects_.between(),
                                 suspect.effect);
      note(suspect);
    }
  }
}

void Search::look_at_ranks() {
  if (setting_.has_one_rank_a_host()) return;  // each is its host
  std::vector<Group> groups;
  for (const std::uint32_t& rank : hosts_.members) {
    groups.push_back({{ComponentKind::rank, -1, static_cast<std::int32_t>(rank), -1, -1}, Ranks(&rank, 1)});
  }
  // Of ranks on one host alone, all pairs are inside.
  const bool has_hosts = remaining_effects_.between() != 0;
  const ClassSet set = has_hosts ? of_ends() : remaining_effects_.inside();
  for (const FaultDirection direction : directions) {
    for (const Suspect& suspect : judged(groups, direction, set)) {
      const auto rank = static_cast<std::uint32_t>(suspect.component.first);
      remaining_effects_.explain(Ranks(&rank, 1), direction, set, suspect.effect);
      note(suspect);
    }
  }
}

/// What pairs inside show is the sum of two quartiles. It is unknown where slow ranks leave sound ones, if any, less
/// than a quarter of sound partners.
void Search::look_inside() {
  std::vector<std::size_t> num_slow(hosts_.num_groups(), 0);
  for (const Suspect& one : found_) {
    if (one.component.kind != ComponentKind::rank) continue;
    ++num_slow[layout_.host_of[static_cast<std::size_t>(one.component.first)]];
  }
  std::vector<Candidate> candidates;
  for (std::uint32_t host = 0; host < hosts_.num_groups(); ++host) {
    const Ranks ranks = hosts_.of(host);
    const auto partners = static_cast<double>(ranks.size()) - 1;
    const bool is_known =
        num_slow[host] == 0 || partners - static_cast<double>(num_slow[host]) >= remaining_effects_.share() * partners;
    candidates.push_back(
        {{ComponentKind::inside, -1, static_cast<std::int32_t>(host), -1, -1},
         is_known ? among(ranks, remaining_effects_.inside()) : std::numeric_limits<double>::quiet_NaN(),
         2 * remaining_effects_.standard_error(ranks, FaultDirection::both, remaining_effects_.inside()),
         remaining_effects_.num_pairs(ranks, FaultDirection::out, remaining_effects_.inside())});
  }
  const std::vector<Suspect> older = older_hosts(candidates, FaultDirection::both);
  if (!older.empty()) notes_.push_back(two_kinds(setting_, older, candidates.size()));
  for (const Suspect& one : older) candidates[static_cast<std::size_t>(one.component.first)].effect -= one.effect;
  const std::vector<Suspect> slow = judge(candidates, FaultDirection::both, settings_);
  const bool is_half = static_cast<double>(slow.size()) > most_bad * static_cast<double>(candidates.size());
  const std::vector<Suspect> neighbours = neighbours_alike(slow, candidates);
  if (is_half || !neighbours.empty()) {
    notes_.push_back(two_kinds(setting_, is_half ? slow : neighbours, candidates.size()));
    return;
  }
  for (const Suspect& suspect : slow) note(suspect);
}

std::vector<Suspect> Search::run() {
  for (std::size_t level = layout_.network.levels.size(); level > 0; --level) look_at_switches(level - 1);
  look_at_sockets_of_all();
  look_at_rails();
  look_at_hosts();
  look_at_sockets();
  look_at_ranks();
  if (remaining_effects_.inside() != 0 && remaining_effects_.between() != 0) look_inside();
  if (hosts_.num_groups() == 2) notes_.emplace_back("of two hosts it cannot be decided which is slow");
  return std::move(found_);
}

}  // namespace

std::vector<Suspect> find_components(const Effects& effects, const Setting& setting, const DiagnosisSettings& settings,
                                     std::vector<std::string>& notes) {
  return Search(effects, setting, settings, notes).run();
}

}  // namespace leadline::diagnosis
