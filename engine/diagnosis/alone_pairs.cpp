// SPDX-License-Identifier: Apache-2.0
// Takes what explains most slow pairs and is passed by no fast one, again and again, until nothing explains two.
#include "diagnosis/alone_pairs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/learnt_groups.hpp"
#include "diagnosis/reference.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {
namespace {

constexpr double share_alone = 0.5;     // of an effect under load that must be there alone
constexpr double least_of_link = 0.25;  // share of time
constexpr double spreads_of_link = 6;   // by which a link is slower alone than others are; of many pairs few were tried
constexpr double spreads_of_fast = 2;   // by which sound pairs may seem faster than they are
constexpr double least_spread_alone = 0.02;
constexpr double noise_alone = 0.1;  // logarithm: slow pairs are told from many others by three times that
// What one step farther apart costs at most.
constexpr double most_by_step = 0.2;  // logarithm
constexpr double most_ns_by_step = 1000;
constexpr std::size_t fewest_partners_alone = 2;  // hosts, of a slow end; and on either side of a slow way
constexpr std::size_t fewest_across = 3;          // pairs of hosts that a slow way explains
constexpr std::size_t most_slow_alone = 3;        // more have a common reason, unless they met many others
constexpr double share_met = 0.5, many_met = 10;  // of the other hosts; so many are enough
constexpr double share_of_slowest = 0.1;          // of the hosts that are told by one pair alone, and all under load
constexpr std::size_t most_shown_alone = 8;       // pairs of a fault

Suspect suspect_of(const Component& component, double effect = 0) {
  Suspect suspect;
  suspect.component = component;
  suspect.effect = effect;
  return suspect;
}

bool is_of(const Setting& setting, const Suspect& suspect, const Observation& one) {
  return belongs(setting, suspect, one.from, one.to) || belongs(setting, suspect, one.to, one.from);
}

/// The lesser rank first.
std::pair<std::uint32_t, std::uint32_t> ranks_of(const Observation& one) { return std::minmax({one.from, one.to}); }

bool is_one_end(const Component& component) {
  return component.kind == ComponentKind::host || component.kind == ComponentKind::port ||
         component.kind == ComponentKind::rank;
}

bool is_of_network(const Component& component) {
  return component.kind == ComponentKind::uplink || component.kind == ComponentKind::cable;
}

/// Times by distance, ns: beyond a nearer one no more than what steps may cost, twice of what the cheapest does; all
/// pairs of a distance may pass one slow way.
std::map<std::size_t, double> bounded_by_steps(const std::map<std::size_t, double>& times) {
  double a_step = most_ns_by_step / 2;
  for (auto near = times.begin(); near != times.end(); ++near) {
    for (auto far = std::next(near); far != times.end(); ++far) {
      a_step = std::fmin(a_step, (far->second - near->second) / static_cast<double>(far->first - near->first));
    }
  }
  a_step = std::fmax(a_step, 0);
  std::map<std::size_t, double> bounded = times;
  for (auto far = bounded.begin(), near = far; far != bounded.end(); near = far++) {
    const auto steps = static_cast<double>(far->first - near->first);
    if (steps > 0)
      far->second = std::min(far->second, near->second * std::exp(most_by_step * steps) + 2 * a_step * steps);
  }
  return bounded;
}

}  // namespace

Suspect suspect_alone(const Fault& fault) {
  Suspect suspect = suspect_of(fault.component, std::log(fault.ratio));
  suspect.direction = fault.direction;
  return suspect;
}

AlonePairs::AlonePairs(const ObservedSlice& slice, const Setting& setting, const DiagnosisSettings& settings)
    : slice_(slice), setting_(setting), settings_(settings), usual_(setting.classes.size(), 0) {
  find_most();
  find_usual({});
  find_slow();
}

void AlonePairs::learn_from(std::span<const Fault> found) {
  const std::vector<double> before = usual_;
  find_usual(found);
  for (std::size_t index = 0; index < before.size(); ++index) usual_[index] = std::min(usual_[index], before[index]);
  find_slow();
}

/// Of both directions under load the slower one counts: one may be slow.
void AlonePairs::find_most() {
  std::vector<Observation> loaded = slice_.observations;
  std::erase_if(loaded, [](const Observation& one) { return !(one.time_ns > 0) || std::isinf(one.time_ns); });
  std::ranges::sort(loaded, {},
                    [](const Observation& one) { return std::tuple(ranks_of(one), one.from, one.time_ns); });
  for (auto begin = loaded.begin(); begin != loaded.end();) {
    const auto is_other = [&](const Observation& one) { return ranks_of(one) != ranks_of(*begin); };
    const auto end = std::find_if(begin, loaded.end(), is_other);
    const auto back = std::find_if(begin, end, [&](const Observation& one) { return one.from != begin->from; });
    if (back != end) most_.push_back({begin->from, begin->to, std::max(begin->time_ns, back->time_ns)});
    begin = end;
  }
  for (const auto* alone : {&slice_.alone, &slice_.retested}) most_.insert(most_.end(), alone->begin(), alone->end());
  std::ranges::sort(most_, {}, [](const Observation& one) { return std::tuple(ranks_of(one), one.time_ns); });
  const auto has_same_ranks = [](const Observation& one, const Observation& other) {
    return ranks_of(one) == ranks_of(other);
  };
  most_.erase(std::unique(most_.begin(), most_.end(), has_same_ranks), most_.end());
}

/// Of each class the lowest cluster; of a farther one no more than what steps may cost, since all its pairs may pass
/// one slow way. Pairs of what was found do not tell what is usual; of too few others it is unknown.
void AlonePairs::find_usual(std::span<const Fault> found) {
  std::vector<Observation> sound;
  std::ranges::copy_if(slice_.alone, std::back_inserter(sound), [&](const Observation& one) {
    return std::ranges::none_of(found, [&](const Fault& fault) { return is_of(setting_, suspect_alone(fault), one); });
  });
  num_usual_ = 0;
  if (sound.size() < fewest_alone) return;
  std::vector<std::vector<double>> by_class(setting_.classes.size());
  std::vector<double> all;
  for (const Observation& one : sound) {
    by_class[setting_.classes.of(one.from, one.to)].push_back(std::log(one.time_ns));
    all.push_back(std::log(one.time_ns));
  }
  const Reference of_all = lowest_cluster(all, noise_alone);
  usual_.assign(by_class.size(), of_all.middle.median);
  std::map<std::size_t, double> between;  // by class
  for (std::size_t index = 0; index < by_class.size(); ++index) {
    if (by_class[index].size() < fewest_alone) continue;
    usual_[index] = lowest_cluster(by_class[index], noise_alone).middle.median;
    if (!PairClasses::is_inside(index)) between[index] = std::exp(usual_[index]);
  }
  for (const auto& [index, time_ns] : bounded_by_steps(between)) usual_[index] = std::log(time_ns);
  // A nearer pair takes no longer than a farther one.
  for (std::size_t index = usual_.size(); index-- > PairClasses::first_between + 1;) {
    usual_[index - 1] = std::min(usual_[index - 1], usual_[index]);
  }
  const auto is_usual = [&](double effect) { return effect <= of_all.cut - of_all.middle.median; };
  std::vector<double> beyond;
  for (const Observation& one : sound) {
    if (is_usual(effect_of(one))) beyond.push_back(effect_of(one));
  }
  num_usual_ = beyond.size();
  // Few of many: what is as fast under load is so alone.
  if (num_usual_ < fewest_alone && !std::isinf(of_all.cut)) {
    for (const Observation& one : most_) num_usual_ += is_usual(effect_of(one)) ? 1 : 0;
  }
  spread_ = std::max(middle_of(std::move(beyond)).spread, least_spread_alone);
  least_ = std::max(std::log1p(std::max(settings_.threshold, least_of_link)), spreads_of_link * spread_);
}

void AlonePairs::find_slow() {
  slow_.clear();
  if (!knows_usual()) return;
  std::map<Pair, Slow> measured;
  for (const auto* alone : {&slice_.alone, &slice_.retested}) {
    for (const Observation& one : *alone) {
      Slow& pair = measured.try_emplace(ranks_of(one), Slow{one, effect_of(one), 0, false}).first->second;
      if (effect_of(one) < pair.effect) pair.shown = one, pair.effect = effect_of(one);
      ++pair.num_measured;
      pair.is_best_of_several = pair.is_best_of_several || alone == &slice_.retested;
    }
  }
  for (const auto& [ranks, one] : measured) {
    const auto most = std::ranges::lower_bound(most_, ranks, {}, ranks_of);
    if (one.effect >= least_ && effect_of(*most) >= least_ / 2) slow_.push_back(one);
  }
}

double AlonePairs::effect_of(const Observation& one) const {
  return std::log(one.time_ns) - usual_[setting_.classes.of(one.from, one.to)];
}

AlonePairs::Pair AlonePairs::hosts_of(const Observation& one) const {
  return std::minmax(setting_.layout.host_of[one.from], setting_.layout.host_of[one.to]);
}

bool AlonePairs::passes(const Component& component, const Observation& one) const {
  return is_of(setting_, suspect_of(component), one);
}

void AlonePairs::judge(Diagnosis& diagnosis) const {
  if (!knows_usual()) return;
  for (Fault& fault : diagnosis.faults) {
    const Suspect suspect = suspect_alone(fault);
    std::vector<double> shown;
    for (const auto* measured : {&slice_.alone, &slice_.retested}) {
      for (const Observation& one : *measured) {
        if (is_of(setting_, suspect, one)) shown.push_back(effect_of(one));
      }
    }
    if (shown.empty()) {
      // The ranks of its host share a cable: by chance it waited for them more than others did.
      const bool shares_cable = fault.component.kind == ComponentKind::rank && !setting_.has_one_rank_a_host();
      if (shares_cable) fault.persistence = Persistence::only_under_load;
      continue;
    }
    const double least = *std::ranges::min_element(shown);
    const Middle middle = middle_of(std::move(shown));
    // Where all exchange at once whatever waits behind a slow end is late, too: alone its effect is less.
    const double least_there =
        std::min(share_alone * suspect.effect, slice_.is_exchange_of_all ? least_ : suspect.effect);
    const bool is_fast_once = (is_one_end(fault.component) || fault.component.kind == ComponentKind::rail) &&
                              least < least_there - spreads_of_fast * spread_;
    fault.ratio_alone = std::exp(is_fast_once ? least : middle.median);
    const bool is_there = middle.median >= least_there && !is_fast_once;
    fault.persistence = is_there ? Persistence::persistent : Persistence::only_under_load;
  }
}

/// Uplinks of a tree and cables of another network.
std::vector<Component> AlonePairs::network_elements() const {
  const network::Network& network = setting_.layout.network;
  std::vector<Component> elements;
  if (network.levels.empty() || is_learnt(network)) return elements;
  if (!network.hops.empty()) {
    const std::uint32_t num = setting_.paths ? setting_.paths->num_groups() : 0;
    for (std::uint32_t one = 0; one < num; ++one) {
      for (std::uint32_t other = one + 1; other < num; ++other) {
        if (!setting_.paths->are_neighbours(one, other)) continue;
        elements.push_back(
            {ComponentKind::cable, 0, static_cast<std::int32_t>(one), static_cast<std::int32_t>(other), -1});
      }
    }
    return elements;
  }
  for (std::size_t level = 0; level < network.levels.size(); ++level) {
    const auto num = static_cast<std::int32_t>(network.levels[level].names.size());
    if (num == 2) elements.push_back({ComponentKind::cable, static_cast<std::int32_t>(level), 0, 1, -1});
    for (std::int32_t group = 0; num > 2 && group < num; ++group) {
      elements.push_back({ComponentKind::uplink, static_cast<std::int32_t>(level), group, -1, -1});
    }
  }
  return elements;
}

/// Hosts before their ranks, and ends before links.
std::vector<AlonePairs::Candidate> AlonePairs::candidates() const {
  std::set<std::uint32_t> hosts, ranks;
  std::set<Pair> links;
  for (const Slow& one : slow_) {
    links.insert(hosts_of(one.shown));
    for (const std::uint32_t rank : {one.shown.from, one.shown.to}) {
      ranks.insert(rank);
      hosts.insert(setting_.layout.host_of[rank]);
    }
  }
  std::vector<Component> all;
  for (const std::uint32_t host : hosts) {
    all.push_back({ComponentKind::host, -1, static_cast<std::int32_t>(host), -1, -1});
  }
  for (const std::uint32_t rank : ranks) {
    if (!setting_.has_one_rank_a_host())
      all.push_back({ComponentKind::rank, -1, static_cast<std::int32_t>(rank), -1, -1});
  }
  for (const auto& [first, second] : links) {
    all.push_back({ComponentKind::link, -1, static_cast<std::int32_t>(first), static_cast<std::int32_t>(second), -1});
  }
  const std::vector<Component> elements = network_elements();
  all.insert(all.end(), elements.begin(), elements.end());
  std::vector<Candidate> found;
  for (const Component& component : all) {
    Candidate candidate{component, std::numeric_limits<double>::infinity(), 0};
    if (num_explained(candidate, slow_) == 0) continue;
    for (const Observation& one : most_) {
      if (!passes(component, one)) continue;
      candidate.least_effect = std::min(candidate.least_effect, effect_of(one));
      ++candidate.num_pairs;
    }
    if (candidate.least_effect >= least_ / 2) found.push_back(candidate);
  }
  return found;
}

/// Of the pairs that are left; 0 where all slow ones are too few to tell, or another pair is much faster.
std::size_t AlonePairs::num_explained(const Candidate& candidate, const std::vector<Slow>& left) const {
  const Component& component = candidate.component;
  const auto is_own = [&](const Slow& one) { return passes(component, one.shown); };
  const auto num = static_cast<std::size_t>(std::ranges::count_if(left, is_own));
  if (num == 0) return 0;
  const bool is_link = component.kind == ComponentKind::link;
  std::set<Pair> pairs, pairs_of_left;  // of hosts; of a link, of ranks
  std::map<std::uint32_t, std::set<Pair>> pairs_of;
  std::vector<double> effects;
  for (const Slow& one : slow_) {
    if (!is_own(one)) continue;
    const Pair pair = is_link ? ranks_of(one.shown) : hosts_of(one.shown);
    pairs.insert(pair);
    pairs_of[pair.first].insert(pair);
    pairs_of[pair.second].insert(pair);
    effects.push_back(one.effect);
  }
  bool is_measured_again = false;
  for (const Slow& one : left) {
    if (!is_own(one)) continue;
    pairs_of_left.insert(hosts_of(one.shown));
    is_measured_again = is_measured_again || one.is_best_of_several || one.num_measured > 1;
  }
  const double effect = middle_of(std::move(effects)).median;
  if (candidate.least_effect < share_alone * effect - spreads_of_fast * spread_) return 0;
  if (is_one_end(component)) {
    const bool is_told =
        pairs_of_left.size() >= fewest_partners_alone ||
        (component.kind == ComponentKind::host && has_met_many(component) &&
         (pairs.size() >= fewest_partners_alone || (is_measured_again && is_slower_than_most(candidate))));
    return is_told ? num : 0;
  }
  // Not what one end explains.
  const auto has_all = [&](const auto& of_end) { return of_end.second.size() == pairs.size(); };
  const std::size_t fewest = is_of_network(component) ? fewest_across : 2;
  return pairs.size() >= fewest && std::ranges::none_of(pairs_of, has_all) ? num : 0;
}

std::size_t AlonePairs::most_left_over() const { return slice_.is_exchange_of_all ? 1 : most_slow_alone; }

/// Whether nearly all other hosts are much faster with somebody.
bool AlonePairs::is_slower_than_most(const Candidate& host) const {
  const std::vector<double> least = least_of_hosts();
  const auto num_slow = std::ranges::count_if(
      least, [&](double effect) { return !std::isinf(effect) && effect > share_alone * host.least_effect; });
  return static_cast<double>(num_slow) <= std::max(1.0, share_of_slowest * static_cast<double>(least.size()));
}

/// The least effect of the pairs of each host, alone or under load.
std::vector<double> AlonePairs::least_of_hosts() const {
  std::vector<double> least(setting_.hosts.num_groups(), std::numeric_limits<double>::infinity());
  for (const Observation& one : most_) {
    for (const std::uint32_t rank : {one.from, one.to}) {
      double& of_host = least[setting_.layout.host_of[rank]];
      of_host = std::min(of_host, effect_of(one));
    }
  }
  return least;
}

/// With so many others it would have been fast with one of them if the reason were a way that it shares.
bool AlonePairs::has_met_many(const Component& end) const {
  if (!is_one_end(end) || slice_.is_exchange_of_all) return false;  // then each pair has waited for others
  std::set<std::uint32_t> hosts;
  for (const Observation& one : most_) {
    if (!passes(end, one)) continue;
    const Pair pair = hosts_of(one);
    hosts.insert({pair.first, pair.second});
  }
  const auto num_others = static_cast<double>(setting_.hosts.num_groups() - 1);
  return static_cast<double>(hosts.size()) >= 1 + std::min(share_met * num_others, many_met);
}

std::vector<Fault> AlonePairs::what_is_slow() const {
  std::vector<Fault> found;
  std::vector<Candidate> left = candidates();
  std::vector<Slow> slow = slow_;
  std::size_t num_sure = 0;
  while (!left.empty()) {
    std::vector<std::size_t> explained;
    for (const Candidate& one : left) explained.push_back(num_explained(one, slow));
    const auto most = std::ranges::max_element(explained);  // of equal ones the host, which comes first
    if (*most == 0) break;
    const Candidate best = left[static_cast<std::size_t>(most - explained.begin())];
    const auto is_own = [&](const Slow& one) { return passes(best.component, one.shown); };
    std::vector<Slow> own;
    std::ranges::copy_if(slow, std::back_inserter(own), is_own);
    std::erase_if(slow, is_own);
    found.push_back(fault_of(best.component, own));
    found.back().num_pairs = 2 * best.num_pairs;
    num_sure += has_met_many(best.component) ? 1 : 0;
  }
  // What is left has a reason that is not known, and so may what was found.
  std::set<Pair> left_over;
  for (const Slow& one : slow) left_over.insert(hosts_of(one.shown));
  std::vector<Suspect> all;
  for (const Fault& one : found) all.push_back(suspect_alone(one));
  for (Fault& one : found) one.ruled_out = ruled_out(setting_, suspect_alone(one), all);
  const bool are_sure = num_sure == found.size() && 2 * num_sure <= setting_.hosts.num_groups();
  if (left_over.size() > most_left_over() || (found.size() > most_slow_alone && !are_sure)) found.clear();
  return found;
}

/// One of many pairs may have been disturbed: only the best of several measurements makes a link, or several that are
/// all slow. Both ends have to be much faster with somebody.
void AlonePairs::add_links(Diagnosis& diagnosis, const std::function<bool(std::uint32_t rank)>& is_explained) const {
  if (slow_.empty()) return;
  const bool knows_network = !setting_.layout.network.levels.empty();
  std::map<Pair, std::vector<Slow>> by_hosts;  // what nothing explains
  for (const Slow& one : slow_) {
    const auto explains = [&](const Fault& fault) {
      if (fault.component.level >= 0 && !knows_network) return false;  // `is_explained` knows
      return passes(fault, one.shown);
    };
    if (std::ranges::any_of(diagnosis.faults, explains)) continue;
    if (!knows_network && (is_explained(one.shown.from) || is_explained(one.shown.to))) continue;
    by_hosts[hosts_of(one.shown)].push_back(one);
  }
  const std::vector<double> least = least_of_hosts();
  std::vector<Fault> links;
  std::vector<double> p_values;
  for (const auto& [hosts, pairs] : by_hosts) {
    std::size_t num_measured = 0;
    for (const Slow& one : pairs) num_measured += one.num_measured;
    const bool is_best = std::ranges::any_of(pairs, [](const Slow& one) { return one.is_best_of_several; });
    if (!is_best && num_measured < 2) continue;
    const double most = share_alone * pairs.front().effect;
    if (least[hosts.first] > most || least[hosts.second] > most) continue;
    const bool is_of_ranks = pairs.size() == 1 && !setting_.has_one_rank_a_host();
    const auto [first, second] = is_of_ranks ? ranks_of(pairs.front().shown) : hosts;
    links.push_back(fault_of({is_of_ranks ? ComponentKind::pair : ComponentKind::link, -1,
                              static_cast<std::int32_t>(first), static_cast<std::int32_t>(second), -1},
                             pairs));
    p_values.push_back(links.back().p_value);
  }
  const std::size_t num_tests = std::max(slice_.retested.size(), p_values.size());
  const std::vector<bool> stays = stats::rejected(p_values, num_tests, settings_.false_discovery_rate);
  std::size_t index = 0;
  std::erase_if(links, [&](const Fault&) { return !stays[index++]; });
  const std::size_t num = slice_.is_exchange_of_all ? by_hosts.size() : links.size();
  if (num > most_left_over()) {
    diagnosis.notes.push_back(fmt::format(
        "{} links are slow alone, too: so many have something in common, and none of them is called a fault", num));
    return;
  }
  for (Fault& link : links) {
    link.ruled_out = ruled_out(setting_, suspect_alone(link), {});
    diagnosis.faults.push_back(std::move(link));
  }
}

Fault AlonePairs::fault_of(const Component& component, std::span<const Slow> slow) const {
  std::vector<double> effects;
  Fault fault;
  for (const Slow& one : slow) {
    effects.push_back(one.effect);
    if (fault.pairs.size() == most_shown_alone) continue;
    fault.pairs.push_back({static_cast<std::int32_t>(one.shown.from), static_cast<std::int32_t>(one.shown.to),
                           one.shown.time_ns, one.shown.time_ns / std::exp(one.effect)});
  }
  const Middle middle = middle_of(std::move(effects));
  const double error = std::max(spread_, middle.spread);
  fault.component = component;
  fault.hosts = hosts_below(setting_.layout, component, component.first);
  fault.other_hosts = hosts_below(setting_.layout, component, component.second);
  name_concerned(setting_, fault);
  fault.name = name_of_component(setting_, component, fault.direction);
  fault.ratio = fault.ratio_alone = std::exp(middle.median);
  fault.ratio_low = std::exp(middle.median - both_sides * error);
  fault.ratio_high = std::exp(middle.median + both_sides * error);
  fault.p_value = stats::student_t_tail(middle.median / error, degrees_of_freedom(num_usual_));
  fault.num_pairs = 2 * slow.size();
  fault.advice = advice_for(setting_, suspect_alone(fault), Symptom::slow);
  fault.persistence = Persistence::persistent;
  return fault;
}

}  // namespace leadline::diagnosis
