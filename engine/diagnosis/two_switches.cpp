// SPDX-License-Identifier: Apache-2.0
// Compares the class of pairs across with the classes of pairs below either switch.
#include "diagnosis/two_switches.hpp"

#include <algorithm>
#include <cmath>

#include "diagnosis/learnt_network.hpp"
#include "stats/student.hpp"

namespace leadline::diagnosis {
namespace {

// Another switch on the way takes a fraction of a microsecond, small messages between hosts take more than one. A
// guess.
constexpr double least_ratio = 1.5;
constexpr double least_significance = 4;  // in standard errors

/// What pairs of some classes take.
struct ShownByClasses {
  double centre = 0, spread = 0;
  std::uint64_t num_pairs = 0;
};

/// Pairs of one host have much in common, so hosts are what is counted.
double standard_error(const ShownByClasses& shown, std::uint32_t num_hosts) {
  return median_efficiency * shown.spread / std::sqrt(static_cast<double>(num_hosts));
}

bool has_two_hosts_each(const network::Level& level) {
  const auto num_of_first = std::ranges::count(level.group_of, 0U);
  return num_of_first >= 2 && static_cast<std::ptrdiff_t>(level.group_of.size()) - num_of_first >= 2;
}

}  // namespace

std::optional<Suspect> slow_between_two(const Effects& effects, const Setting& setting,
                                        const DiagnosisSettings& settings) {
  const network::Network& network = setting.layout.network;
  if (is_learnt(network) || network.levels.empty()) return std::nullopt;
  const std::size_t level = network.levels.size() - 1;
  if (network.levels[level].names.size() != 2 || !has_two_hosts_each(network.levels[level])) return std::nullopt;
  ShownByClasses within, across;
  for (std::size_t index = PairClasses::first_between; index < effects.classes.size(); ++index) {
    const Effects::OfClass& one = effects.classes[index];
    if (one.num == 0) continue;
    // Of several classes within, the farthest.
    ShownByClasses& shown = setting.classes.crosses(index, level) ? across : within;
    shown = {one.median, one.spread, one.num};
  }
  if (within.num_pairs == 0 || across.num_pairs == 0) return std::nullopt;
  const std::uint32_t num_hosts = setting.hosts.num_groups();
  const double effect = across.centre - within.centre;
  const double error = std::max(std::hypot(standard_error(within, num_hosts), standard_error(across, num_hosts)), 1e-3);
  if (effect < std::max(std::log(least_ratio), std::log1p(settings.threshold))) return std::nullopt;
  if (effect < least_significance * error) return std::nullopt;
  const double p = stats::student_t_tail(effect / error, degrees_of_freedom(num_hosts));
  const Component component{ComponentKind::cable, static_cast<std::int32_t>(level), 0, 1, -1};
  return Suspect{component, FaultDirection::both, effect, error, p, across.num_pairs, false};
}

}  // namespace leadline::diagnosis
