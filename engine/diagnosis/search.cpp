// SPDX-License-Identifier: Apache-2.0
// Searches one kind of component after the other, and removes what each explains before the next.
#include "diagnosis/search.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "diagnosis/blocks.hpp"
#include "diagnosis/components.hpp"
#include "diagnosis/drift.hpp"
#include "diagnosis/learnt_groups.hpp"
#include "diagnosis/shared_paths.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {
namespace {

/// Groups of each level from the outermost on, then hosts.
std::deque<Partition> partitions_of(const Setting& setting) {
  std::deque<Partition> partitions;
  const auto& levels = setting.layout.network.levels;
  // Between groups that follow from the times, what is farther cannot be told from what is slow. Where the network is
  // no tree, two groups have no cable of their own; see slow_paths.hpp.
  const bool has_cables = !is_learnt(setting.layout.network) && setting.layout.network.hops.empty();
  const std::size_t num_levels = has_cables ? levels.size() : 0;
  for (std::size_t level = num_levels; level-- > 0;) {
    const auto num_parts = static_cast<std::uint32_t>(levels[level].names.size());
    if (num_parts >= setting.hosts.num_groups()) continue;  // the same as the hosts
    partitions.push_back(
        {ComponentKind::cable, static_cast<std::int32_t>(level), groups_of_ranks(setting.layout, level), num_parts});
  }
  partitions.push_back({ComponentKind::link, -1, setting.layout.host_of, setting.hosts.num_groups()});
  return partitions;
}

ExplainedPartition explained_by(const Partition& partition, const std::vector<Suspect>& found) {
  ExplainedPartition explained{&partition, {}};
  for (const Suspect& one : found) {
    const Block block{static_cast<std::uint32_t>(one.component.first),
                      static_cast<std::uint32_t>(one.component.second)};
    explained.blocks.push_back({block, static_cast<float>(one.effect)});
  }
  return explained;
}

// A host with so many of its links, and such a share of them, is what these have in common.
constexpr std::size_t fewest_links_of_host = 4;
constexpr double least_share_of_links = 0.05;

/// The host that most of some links end at, and these.
struct Common {
  std::int32_t host = -1;
  std::vector<Suspect> links;
};

/// Takes its links out.
Common most_common_end(std::vector<Suspect>& links) {
  std::map<std::int32_t, std::size_t> num_of;
  for (const Suspect& link : links) {
    ++num_of[link.component.first];
    ++num_of[link.component.second];
  }
  Common common;
  std::size_t most = 0;
  for (const auto& [host, num] : num_of) {
    if (num <= most) continue;
    common.host = host;
    most = num;
  }
  for (const Suspect& link : links) {
    if (link.component.first == common.host || link.component.second == common.host) common.links.push_back(link);
  }
  std::erase_if(links, [&](const Suspect& link) {
    return link.component.first == common.host || link.component.second == common.host;
  });
  return common;
}

Suspect port_of(const Common& common) {
  Suspect port = common.links.front();
  port.component = {ComponentKind::port, -1, common.host, -1, -1};
  std::vector<double> effects;
  port.num_pairs = 0;
  bool sends = false, receives = false;
  for (const Suspect& link : common.links) {
    const FaultDirection away = link.component.first == common.host ? FaultDirection::out : FaultDirection::in;
    sends = sends || link.direction == FaultDirection::both || link.direction == away;
    receives = receives || link.direction == FaultDirection::both || link.direction != away;
    effects.push_back(link.effect);
    port.error = std::max(port.error, link.error);
    port.p_value = std::min(port.p_value, link.p_value);
    port.num_pairs += link.num_pairs;
  }
  port.effect = middle_of(std::move(effects)).median;
  port.direction = sends && receives ? FaultDirection::both : sends ? FaultDirection::out : FaultDirection::in;
  return port;
}

/// Losses that hit less than half of a host's pairs show in some of its links only: these are reported as its port,
/// where chance does not gather so many at one of all hosts.
std::vector<Suspect> with_common_ends(std::vector<Suspect> links, std::uint32_t num_hosts) {
  constexpr double most_chance = 0.01;
  const auto share = static_cast<std::size_t>(std::ceil(least_share_of_links * (num_hosts - 1)));
  std::vector<Suspect> ports;
  while (!links.empty()) {
    std::vector<Suspect> others = links;
    const Common common = most_common_end(others);
    if (common.links.size() < std::max(fewest_links_of_host, share)) break;
    // Each of these links ends at a given host with the same chance, two of all hosts.
    if (stats::binomial_tail(common.links.size(), links.size(), 2.0 / num_hosts) * num_hosts > most_chance) break;
    ports.push_back(port_of(common));
    links = std::move(others);
  }
  links.insert(links.end(), ports.begin(), ports.end());
  return links;
}

/// Links and pairs that are slow since they share a way with others.
void leave_out_shared(const Setting& setting, const SharedPaths& shared, SearchOutcome& outcome) {
  const auto is_shared = [&](std::uint32_t from, std::uint32_t to, double effect, std::uint64_t num_pairs) {
    if (setting.layout.host_of[from] == setting.layout.host_of[to]) return false;
    if (shared.explains_link(effect, num_pairs)) return true;
    constexpr double likewise = 2.5;  // both ways of a round trip may pass it
    return std::ranges::any_of(shared.uplinks, [&](const Suspect& uplink) {
      return effect < likewise * uplink.effect && belongs(setting, uplink, from, to);
    });
  };
  std::erase_if(outcome.suspects, [&](const Suspect& one) {
    const Component& component = one.component;
    if (component.kind != ComponentKind::link && component.kind != ComponentKind::cable) return false;
    const auto rank_of = [&](std::int32_t part) {
      if (component.kind == ComponentKind::link) return setting.hosts.of(static_cast<std::uint32_t>(part)).front();
      const auto groups = groups_of_ranks(setting.layout, static_cast<std::size_t>(component.level));
      return static_cast<std::uint32_t>(std::ranges::find(groups, static_cast<std::uint32_t>(part)) - groups.begin());
    };
    return is_shared(rank_of(component.first), rank_of(component.second), one.effect, one.num_pairs);
  });
  std::erase_if(outcome.isolated_pairs, [&](const IsolatedPair& one) {
    return is_shared(one.from, one.to, static_cast<double>(one.residual), 1);
  });
}

}  // namespace

std::vector<Suspect> joined(const std::vector<Suspect>& one_way) {
  std::vector<Suspect> components;
  for (Suspect suspect : one_way) {
    suspect.direction = FaultDirection::out;
    if (suspect.component.first > suspect.component.second) {
      std::swap(suspect.component.first, suspect.component.second);
      suspect.direction = FaultDirection::in;
    }
    const auto other = std::find_if(components.begin(), components.end(),
                                    [&](const Suspect& known) { return known.component == suspect.component; });
    if (other == components.end()) {
      components.push_back(suspect);
      continue;
    }
    other->direction = FaultDirection::both;
    other->effect = (other->effect + suspect.effect) / 2;
    other->error = std::max(other->error, suspect.error);
    other->p_value = std::min(other->p_value, suspect.p_value);
    other->num_pairs += suspect.num_pairs;
  }
  return components;
}

SearchOutcome search(const Rows& as_measured, const Setting& setting, const DiagnosisSettings& settings,
                     Symptom symptom, std::size_t most_isolated_pairs, std::vector<std::string>& notes) {
  SearchOutcome outcome;
  outcome.effects = fit(as_measured, setting.classes, symptom == Symptom::unsteady ? better_half : better_quarter);
  if (symptom == Symptom::slow) {
    if (auto drift = find_drift(as_measured, outcome.effects, setting.classes); !drift.empty()) {
      outcome.without_drift = without_drift(as_measured, std::move(drift));
      outcome.effects = fit(*outcome.without_drift, setting.classes);
    }
  }
  const Rows& rows = outcome.without_drift ? *outcome.without_drift : as_measured;
  outcome.suspects = find_components(outcome.effects, setting, settings, notes);
  if (const auto direction = slow_between_two(outcome.effects, setting, settings))
    outcome.suspects.push_back(*direction);
  SharedPaths shared;
  if (symptom == Symptom::slow)
    shared = find_shared_paths(rows, outcome.effects, setting, settings, outcome.suspects, notes);
  std::deque<Partition> partitions = partitions_of(setting);
  // Hosts of one rank have one pair each way between them: the search for single pairs is meant for that.
  const bool are_pairs = setting.has_one_rank_a_host();
  if (are_pairs && most_isolated_pairs > 0) partitions.pop_back();
  std::vector<ExplainedPartition> explained;
  for (const Partition& partition : partitions) {
    const auto found = find_blocks(rows, outcome.effects, setting.classes, partition, explained, settings);
    if (found.empty()) continue;
    explained.push_back(explained_by(partition, found));
    auto components = joined(found);
    if (symptom == Symptom::unsteady && partition.kind == ComponentKind::link) {
      components = with_common_ends(std::move(components), setting.hosts.num_groups());
      // What a single pair shows now and then is chance.
      if (are_pairs) {
        std::erase_if(components, [](const Suspect& one) { return one.component.kind == ComponentKind::link; });
      }
    }
    outcome.suspects.insert(outcome.suspects.end(), components.begin(), components.end());
  }
  if (most_isolated_pairs > 0) {
    outcome.isolated_pairs =
        slowest_pairs(rows, outcome.effects, setting.classes, explained, settings, most_isolated_pairs);
  }
  leave_out_shared(setting, shared, outcome);
  outcome.suspects.insert(outcome.suspects.end(), shared.uplinks.begin(), shared.uplinks.end());
  return outcome;
}

double tail_probability(const Effects::OfClass& pair_class, double residual) {
  constexpr std::uint64_t fewest_of_tail = 10;
  const std::uint64_t num_fitted = pair_class.num_fitted;
  if (pair_class.num <= num_fitted) return 1;  // the ends explain everything
  const std::uint64_t num_free = pair_class.num - num_fitted;
  const auto num = static_cast<double>(pair_class.num);
  const double spread = std::fmax(pair_class.spread * std::sqrt(num / static_cast<double>(num_free)), least_spread);
  const double by_t = stats::student_t_tail(residual / spread, degrees_of_freedom(pair_class.num_free));
  const std::uint64_t beyond = pair_class.residuals.num_from(residual + pair_class.residual_zero);
  if (num < 10 * fewest_of_tail) return by_t;
  if (beyond > fewest_of_tail) return std::fmax(by_t, static_cast<double>(beyond) / num);
  // Two points of the tail, the further one with ten pairs beyond it.
  const auto distance_at = [&](double num_beyond) {
    return pair_class.residuals.quantile(1 - num_beyond / num) - pair_class.residual_zero;
  };
  const double far = static_cast<double>(fewest_of_tail), near = std::fmax(far * 10, num * 1e-3);
  const double near_at = distance_at(near), far_at = distance_at(far);
  if (!(near_at > 0) || !(far_at > near_at)) return by_t;
  const double exponent = std::log(near / far) / (far_at - near_at);
  return std::fmax(by_t, far / num * std::exp(-exponent * (residual - far_at)));
}

}  // namespace leadline::diagnosis
