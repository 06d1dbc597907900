// SPDX-License-Identifier: Apache-2.0
// Medians over runs, their scatter, and what lies outside of it.
#include "diagnosis/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/units.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/reference.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {

namespace {

constexpr const char* between_hosts = "between hosts";  // all such pairs

std::vector<ProfiledClass> times_of(const PairClasses& classes, const Effects& effects, std::size_t first_class,
                                    std::uint64_t message_size_bytes) {
  std::vector<ProfiledClass> times;
  for (std::size_t index = first_class; index < effects.classes.size(); ++index) {
    const Effects::OfClass& one = effects.classes[index];
    if (one.num > 0) times.push_back({message_size_bytes, classes.name(index), one.num, 1, std::exp(one.median), 0});
  }
  return times;
}

bool is_finer_between_hosts(const ProfiledClass& one) {
  return one.name != between_hosts && !one.name.starts_with("same host") && one.name != "same socket";
}

const ProfiledClass* class_in(const Profile& profile, const ProfiledClass& like) {
  const auto found = std::ranges::find_if(profile.classes, [&](const ProfiledClass& other) {
    return other.message_size_bytes == like.message_size_bytes && other.name == like.name;
  });
  return found == profile.classes.end() ? nullptr : &*found;
}

/// Without those between hosts that the profile lacks where it has all of them together, and without these where it
/// lacks none or has not these either.
std::vector<ProfiledClass> classes_to_judge(const Profile& profile, std::span<const ProfiledClass> run) {
  std::vector<ProfiledClass> judged(run.begin(), run.end());
  const auto together = std::ranges::find(judged, between_hosts, &ProfiledClass::name);
  if (together == judged.end() || std::ranges::none_of(judged, is_finer_between_hosts)) return judged;
  const bool lacks_one = std::ranges::any_of(judged, [&](const ProfiledClass& one) {
    return is_finer_between_hosts(one) && class_in(profile, one) == nullptr;
  });
  if (lacks_one && class_in(profile, *together) != nullptr) {
    std::erase_if(judged, is_finer_between_hosts);
  } else {
    judged.erase(together);
  }
  return judged;
}

}  // namespace

Profile conditions_of(std::string transport, std::string direction, bool is_serial, const Layout& layout) {
  std::uint64_t most = 0;
  const Members hosts = members_of(layout.host_of);
  for (std::uint32_t host = 0; host < hosts.num_groups(); ++host) {
    most = std::max<std::uint64_t>(most, hosts.of(host).size());
  }
  return {.transport = std::move(transport),
          .direction = std::move(direction),
          .is_serial = is_serial,
          .ranks_per_host = most,
          .num_runs = 1,
          .classes = {}};
}

std::vector<ProfiledClass> class_times(const Rows& rows, const Layout& layout, std::uint64_t message_size_bytes) {
  const PairClasses classes(layout);
  std::vector<ProfiledClass> times = times_of(classes, fit(rows, classes), 0, message_size_bytes);
  if (classes.num_between() < 2) return times;
  Layout without_network = layout;
  without_network.network = {};
  const PairClasses coarse(without_network);
  const auto together = times_of(coarse, fit(rows, coarse), PairClasses::first_between, message_size_bytes);
  times.insert(times.end(), together.begin(), together.end());
  return times;
}

std::string difference(const Profile& one, const Profile& other) {
  if (one.transport != other.transport) return fmt::format("transport {} and {}", one.transport, other.transport);
  if (one.direction != other.direction) return fmt::format("direction {} and {}", one.direction, other.direction);
  if (one.is_serial != other.is_serial) return "one measured pairs one by one, the other many at once";
  if (one.ranks_per_host != other.ranks_per_host) {
    return fmt::format("{} and {} ranks a host", one.ranks_per_host, other.ranks_per_host);
  }
  return "";
}

double scatter_of(std::span<const double> logarithms) {
  stats::RunningMean running;
  for (const double value : logarithms) running.add(value);
  return running.num() > 1 ? std::sqrt(running.variance()) : 0;
}

BesideRuns beside_runs(double ratio, double scatter, std::uint64_t num_runs) {
  constexpr double upper = 0.975;
  if (num_runs < 2) return {ratio, ratio, ratio, 0};
  const auto num = static_cast<double>(num_runs);
  const double error = scatter * std::sqrt(1 + 1 / num);
  const double reach = std::exp(stats::student_t_quantile(upper, num - 1) * error);
  const double distance = std::abs(std::log(ratio));
  const double p_value = error > 0 ? 2 * stats::student_t_tail(distance / error, num - 1) : distance > 0 ? 0 : 1;
  return {ratio, ratio / reach, ratio * reach, p_value};
}

Profile joined(std::span<const Profile> runs) {
  Profile profile = runs.front();
  profile.num_runs = 0;
  profile.classes.clear();
  std::map<std::pair<std::uint64_t, std::string>, std::vector<double>> logarithms;
  for (const Profile& run : runs) {
    profile.num_runs += run.num_runs;
    for (const ProfiledClass& one : run.classes) {
      std::vector<double>& known = logarithms[{one.message_size_bytes, one.name}];
      if (known.empty()) profile.classes.push_back(one);
      known.push_back(std::log(one.time_ns_median));
      const auto entry = std::ranges::find_if(profile.classes, [&](const ProfiledClass& other) {
        return other.message_size_bytes == one.message_size_bytes && other.name == one.name;
      });
      entry->num_pairs = std::max(entry->num_pairs, one.num_pairs);
    }
  }
  for (ProfiledClass& one : profile.classes) {
    const std::vector<double>& values = logarithms[{one.message_size_bytes, one.name}];
    one.num_runs = values.size();
    one.time_ns_median = std::exp(middle_of(values).median);
    one.scatter = scatter_of(values);
  }
  return profile;
}

std::vector<ComparedClass> judged_by(const Profile& profile, std::span<const ProfiledClass> run,
                                     std::vector<std::string>& notes) {
  std::vector<ComparedClass> judged;
  bool has_single = false;
  for (const ProfiledClass& one : classes_to_judge(profile, run)) {
    const ProfiledClass* const usual = class_in(profile, one);
    if (usual == nullptr) {
      notes.push_back(fmt::format("{}: it has no pairs '{}' with {}", not_comparable, one.name,
                                  format_bytes(one.message_size_bytes)));
      continue;
    }
    const double ratio = one.time_ns_median / usual->time_ns_median;
    const BesideRuns beside = beside_runs(ratio, usual->scatter, usual->num_runs);
    has_single = has_single || usual->num_runs < 2;
    ComparedClass found{one.name, one.num_pairs, usual->time_ns_median, one.time_ns_median,
                        ratio,    beside.low,    beside.high,           Change::none};
    if (ratio * least_share_of_profile > 1 && found.ratio_low > 1) found.change = Change::slower;
    if (ratio < least_share_of_profile && found.ratio_high < 1) found.change = Change::faster;
    judged.push_back(std::move(found));
  }
  if (has_single) {
    notes.emplace_back(
        "the site profile is of one run, so it is not known how much runs scatter: judged by the threshold alone");
  }
  return judged;
}

std::string why_unfit(const SiteProfile& site, std::span<const std::uint64_t> message_sizes_bytes) {
  if (std::string why = difference(site.profile, site.conditions); !why.empty()) return why;
  const bool has_any = std::ranges::any_of(site.profile.classes, [&](const ProfiledClass& one) {
    return std::ranges::find(message_sizes_bytes, one.message_size_bytes) != message_sizes_bytes.end();
  });
  return has_any ? "" : "it has none of the message sizes";
}

void judge_by(const SiteProfile& site, const Rows& rows, const Layout& layout, std::uint64_t message_size_bytes,
              Diagnosis& found) {
  if (site.path.empty()) return;
  if (const std::string why = difference(site.profile, site.conditions); !why.empty()) {
    found.notes.push_back(fmt::format("{} '{}': {}", not_comparable, site.path, why));
    return;
  }
  found.profile = judged_by(site.profile, class_times(rows, layout, message_size_bytes), found.notes);
}

}  // namespace leadline::diagnosis
