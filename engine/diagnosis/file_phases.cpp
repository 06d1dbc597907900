// SPDX-License-Identifier: Apache-2.0
// One number a rank over all phases, less what the loads of its target and host do; what hosts and targets have in
// common of these; and phase by phase whether what is slow stays so.
#include "diagnosis/file_phases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/fault_text.hpp"
#include "diagnosis/reference.hpp"
#include "diagnosis/rows.hpp"
#include "network/hostlist.hpp"

namespace leadline::diagnosis {
namespace {

constexpr double did_nothing = std::numeric_limits<double>::quiet_NaN();
constexpr double most_of_phases = 0.75;     // that a fault is slow in
constexpr double most_of_ranks = 0.75;      // of a host, that are slow where it is
constexpr double share_in_phase = 0.5;      // of its effect, that a component shows in a phase in which it is slow
constexpr double least_short_of_cores = 1;  // the least threshold: a rank without a core takes twice as long easily
constexpr std::size_t fewest_of_whole = 3;  // that are slow together by what they share rather than each by itself
constexpr double any_time = 10;             // logarithm: codes of rows are of times
constexpr double much_slower = 0.4;         // logarithm: than others of a target
// Logarithm: a group farther from most may be at fault, and says little of what loads do.
constexpr double far_from_others = 0.15, weight_of_far = 0.01;

using RankList = std::vector<std::uint32_t>;
using RanksOf = std::map<std::uint32_t, RankList>;

double middle_value(std::vector<double> values) { return middle_of(std::move(values)).median; }

DiagnosedSlice slice_of_operation(const FilePhases& phases) {
  DiagnosedSlice slice;
  slice.message_size_bytes = phases.object_size_bytes;
  slice.pattern = phases.operation;
  return slice;
}

/// A host, target or rank that is slow over all phases.
struct Accused {
  Suspect suspect;
  RankList ranks;
  std::string or_else;  ///< what may be slow instead, and cannot be told from it
};

class FileJudge {
 public:
  FileJudge(const FilePhases& phases, const Setting& setting, const DiagnosisSettings& settings);

  bool can_judge() const { return num_there_ >= fewest_to_compare; }
  Diagnosis told();

 private:
  std::uint32_t host_of(std::uint32_t rank) const { return setting_.layout.host_of[rank]; }
  std::uint32_t target_of(std::uint32_t rank) const { return static_cast<std::uint32_t>(target_of_[rank]); }
  bool is_there(std::uint32_t rank) const { return !std::isnan(level_[rank]); }
  bool has_targets() const { return ranks_of_target_.size() > 1; }
  void take_level();
  void group_ranks();
  std::vector<double> extra_by_load(const RanksOf& members, double num_served) const;
  void take_off_loads(const RanksOf& members);
  void fit_both();
  std::vector<Accused> slow(ComponentKind kind, const RanksOf& members, const std::vector<double>& values) const;
  std::set<std::uint32_t> hosts_on(std::uint32_t target) const;
  std::set<std::uint32_t> targets_of(std::uint32_t host) const;
  bool shares_all_targets(std::uint32_t host) const;
  void separate(std::vector<Accused>& hosts, std::vector<Accused>& targets) const;
  std::vector<Accused> take_out_of_targets(std::vector<Suspect>& suspects) const;
  std::vector<Accused> slow_ranks(const std::vector<Accused>& explained);
  void join_below_leaves(std::vector<Accused>& hosts) const;
  void add_faults(const std::vector<Accused>& accused);
  Fault fault_of(const Accused& one, const std::vector<double>& usual) const;
  std::vector<double> usual_of_phases(const std::vector<Accused>& accused) const;
  std::string target_name(std::uint32_t target) const { return "target " + phases_.targets[target]; }
  std::string targets_text(std::uint32_t host) const;

  const FilePhases& phases_;
  const Setting& setting_;
  DiagnosisSettings settings_;
  std::vector<std::vector<double>> times_;  ///< [phase][rank]: ln of ns for a byte; NaN = did nothing
  std::vector<double> level_;               ///< by rank: the median over phases, each less its median
  std::vector<std::int32_t> target_of_;     ///< by rank
  RanksOf ranks_of_host_, ranks_of_target_;
  std::vector<double> bytes_;    ///< by rank, mean of its phases
  std::vector<double> by_load_;  ///< by rank: what the loads of its host and its target do, taken off level_
  std::size_t num_there_ = 0;    ///< ranks with a level
  std::vector<double> of_host_, of_target_;  ///< level_ less what the target or the host does, where both are known
  std::vector<double> alone_;                ///< level_ less both
  Diagnosis diagnosis_;
};

FileJudge::FileJudge(const FilePhases& phases, const Setting& setting, const DiagnosisSettings& settings)
    : phases_(phases), setting_(setting), settings_(settings) {
  const std::size_t num = num_ranks(setting.layout);
  times_.assign(phases.num_phases, std::vector<double>(num, did_nothing));
  target_of_.assign(num, -1);
  bytes_.assign(num, 0);
  std::vector<double> num_phases(num, 0);
  for (const FileRow& row : phases.rows) {
    if (row.bytes == 0 || !(row.time_ns > 0) || std::isinf(row.time_ns)) continue;
    times_[row.phase][row.rank] = std::log(row.time_ns / static_cast<double>(row.bytes));
    target_of_[row.rank] = row.target;
    bytes_[row.rank] += static_cast<double>(row.bytes);
    ++num_phases[row.rank];
    ++diagnosis_.num_measured;
  }
  for (std::size_t rank = 0; rank < num; ++rank) bytes_[rank] /= std::max(1.0, num_phases[rank]);
  take_level();
  group_ranks();
  by_load_.assign(num, 0);
  if (has_targets()) take_off_loads(ranks_of_target_);
  take_off_loads(ranks_of_host_);
  fit_both();
}

/// A rank counts that took part in most phases: of few, its median would be of other phases than that of others.
void FileJudge::take_level() {
  const std::size_t num = num_ranks(setting_.layout);
  std::vector<std::vector<double>> of_ranks(num);
  for (const std::vector<double>& of_phase : times_) {
    const double middle = middle_value(of_phase);
    for (std::size_t rank = 0; rank < num; ++rank) {
      if (!std::isnan(of_phase[rank])) of_ranks[rank].push_back(of_phase[rank] - middle);
    }
  }
  level_.assign(num, did_nothing);
  for (std::size_t rank = 0; rank < num; ++rank) {
    if (!of_ranks[rank].empty() && 2 * of_ranks[rank].size() >= times_.size())
      level_[rank] = middle_value(of_ranks[rank]);
  }
}

void FileJudge::group_ranks() {
  bool have_all_targets = true;
  for (std::uint32_t rank = 0; rank < level_.size(); ++rank) {
    if (is_there(rank) && target_of_[rank] < 0) have_all_targets = false;
  }
  for (std::uint32_t rank = 0; rank < level_.size(); ++rank) {
    if (!is_there(rank)) continue;
    ++num_there_;
    ranks_of_host_[host_of(rank)].push_back(rank);
    if (have_all_targets) ranks_of_target_[target_of(rank)].push_back(rank);
  }
}

/// By rank: ln of how much longer it takes than by itself where a host or target has the rate of so many ranks, which
/// all that are not done have as much of. One that is much slower than others there takes less of it.
std::vector<double> FileJudge::extra_by_load(const RanksOf& members, double num_served) const {
  std::vector<double> extra(level_.size(), 0);
  for (const auto& [number, ranks] : members) {
    std::vector<double> levels;
    for (const std::uint32_t rank : ranks) levels.push_back(level_[rank]);
    const double usual = middle_value(std::move(levels));
    const auto share_of = [&](std::uint32_t rank) {
      const double beyond = level_[rank] - usual;
      return beyond > much_slower ? std::exp(-beyond) : 1;
    };
    RankList sorted = ranks;
    std::ranges::sort(sorted, {}, [&](std::uint32_t rank) { return bytes_[rank]; });
    double num_active = 0;
    for (const std::uint32_t rank : sorted) num_active += share_of(rank);
    double done = 0, time = 0;  // bytes of each of the others so far, and what these take
    for (const std::uint32_t rank : sorted) {
      time += (bytes_[rank] - done) * std::max(1.0, num_active / num_served);
      done = bytes_[rank];
      num_active -= share_of(rank);
      extra[rank] = std::log(time / done);
    }
  }
  return extra;
}

/// What the load of a target or a host does to its ranks is no fault. How many ranks it serves before they take longer,
/// those levels tell that lie closest together with it: of groups, and of ranks within each. Three groups and more of
/// as many ranks tell by themselves.
void FileJudge::take_off_loads(const RanksOf& members) {
  std::size_t fewest = level_.size(), most = 1;
  for (const auto& [number, ranks] : members) {
    fewest = std::min(fewest, ranks.size());
    most = std::max(most, ranks.size());
  }
  struct Loads {
    std::vector<double> extra, of_groups;
    double middle = 0, cost = std::numeric_limits<double>::infinity();
  };
  const auto loads_if = [&](double num_served) {
    Loads loads;
    loads.extra = extra_by_load(members, num_served);
    double within = 0;
    for (const auto& [number, ranks] : members) {
      std::vector<double> of_ranks;
      for (const std::uint32_t rank : ranks) of_ranks.push_back(level_[rank] - loads.extra[rank]);
      const double usual = middle_value(of_ranks);
      for (const double level : of_ranks) within += std::min(std::abs(level - usual), far_from_others);
      loads.of_groups.push_back(consensus(of_ranks, better_quarter));
    }
    loads.middle = majority(loads.of_groups).middle.median;
    double between = 0;
    for (const double level : loads.of_groups) {
      const double distance = std::abs(level - loads.middle);
      between += std::min(distance, far_from_others) + weight_of_far * distance;
    }
    loads.cost = between / static_cast<double>(members.size()) + within / static_cast<double>(num_there_);
    return loads;
  };
  constexpr int num_steps = 32;
  const double lowest = std::log(std::max(1.0, static_cast<double>(fewest) / 4)), highest = std::log(most);
  Loads best;
  for (int step = 0; step <= num_steps; ++step) {
    Loads loads = loads_if(std::exp(lowest + (highest - lowest) * step / num_steps));
    if (loads.cost < best.cost) best = std::move(loads);
  }
  std::map<std::size_t, std::vector<double>> of_as_many;  // by number of ranks
  std::size_t index = 0;
  for (const auto& group : members) of_as_many[group.second.size()].push_back(best.of_groups[index++]);
  for (const auto& [number, ranks] : members) {
    const std::vector<double>& alike = of_as_many[ranks.size()];
    const double beyond = alike.size() >= fewest_to_compare ? majority(alike).middle.median - best.middle : 0;
    for (const std::uint32_t rank : ranks) {
      by_load_[rank] += best.extra[rank] + beyond;
      level_[rank] -= best.extra[rank] + beyond;
    }
  }
}

std::set<std::uint32_t> FileJudge::hosts_on(std::uint32_t target) const {
  std::set<std::uint32_t> hosts;
  for (const std::uint32_t rank : ranks_of_target_.at(target)) hosts.insert(host_of(rank));
  return hosts;
}

std::set<std::uint32_t> FileJudge::targets_of(std::uint32_t host) const {
  std::set<std::uint32_t> targets;
  if (!has_targets()) return targets;
  for (const std::uint32_t rank : ranks_of_host_.at(host)) targets.insert(target_of(rank));
  return targets;
}

/// With other hosts; not where nothing is known of targets.
bool FileJudge::shares_all_targets(std::uint32_t host) const {
  return has_targets() && std::ranges::all_of(targets_of(host), [&](auto one) { return hosts_on(one).size() > 1; });
}

/// Where every host uses three targets and more, and every target has as many hosts, hosts and targets are the two ends
/// of what was measured, and are fitted as such. Elsewhere separate() says what cannot be told.
void FileJudge::fit_both() {
  of_host_ = of_target_ = alone_ = level_;
  const std::size_t num_hosts = ranks_of_host_.size(), num_targets = ranks_of_target_.size();
  const auto uses_several = [&](const auto& host) { return targets_of(host.first).size() >= fewest_to_compare; };
  const auto has_several = [&](const auto& target) { return hosts_on(target.first).size() >= fewest_to_compare; };
  if (num_hosts < fewest_to_compare || num_targets < fewest_to_compare ||
      !std::ranges::all_of(ranks_of_host_, uses_several) || !std::ranges::all_of(ranks_of_target_, has_several)) {
    return;
  }
  std::map<std::uint32_t, std::uint32_t> end_of_host, end_of_target;
  for (const auto& host : ranks_of_host_) end_of_host.emplace(host.first, end_of_host.size());
  for (const auto& target : ranks_of_target_) end_of_target.emplace(target.first, num_hosts + end_of_target.size());
  Layout ends;
  for (std::uint32_t end = 0; end < num_hosts + num_targets; ++end) ends.host_of.push_back(end);
  SparseRows rows(static_cast<std::uint32_t>(ends.host_of.size()), 1);
  for (const auto& [host, ranks] : ranks_of_host_) {
    std::map<std::uint32_t, std::vector<double>> cells;
    for (const std::uint32_t rank : ranks) cells[end_of_target[target_of(rank)]].push_back(level_[rank]);
    std::vector<std::uint32_t> partners;
    std::vector<double> values;
    for (auto& [end, levels] : cells) {
      const Middle middle = middle_of(std::move(levels));
      if (middle.num == 0) continue;
      partners.push_back(end);
      values.push_back(any_time + middle.median);
    }
    rows.append(partners, values);
  }
  for (std::size_t target = 0; target < num_targets; ++target) rows.append({}, {});
  const PairClasses classes(ends);
  const Effects effects = fit(rows, classes);
  const Effects::OfClass& fitted = effects.classes[PairClasses::first_between];
  const auto known = [](float effect) { return std::isnan(effect) ? 0.0 : static_cast<double>(effect); };
  for (std::uint32_t rank = 0; rank < level_.size(); ++rank) {
    if (!is_there(rank)) continue;
    const double host = known(fitted.out[end_of_host[host_of(rank)]]);
    const double target = known(fitted.in[end_of_target[target_of(rank)]]);
    of_host_[rank] -= target;
    of_target_[rank] -= host;
    alone_[rank] -= host + target;
  }
}

/// Hosts or targets whose ranks are nearly all slow.
std::vector<Accused> FileJudge::slow(ComponentKind kind, const RanksOf& members,
                                     const std::vector<double>& values) const {
  std::vector<Candidate> candidates;
  std::vector<double> within;
  for (const auto& [number, ranks] : members) {
    std::vector<double> of_ranks;
    for (const std::uint32_t rank : ranks) of_ranks.push_back(values[rank]);
    const Middle middle = middle_of(of_ranks);
    for (const double value : of_ranks) {
      if (ranks.size() > 1) within.push_back(value - middle.median);
    }
    Candidate candidate;
    candidate.component.kind = kind;
    candidate.component.first = static_cast<std::int32_t>(number);
    // Of some of its ranks alone nothing is known of the whole.
    candidate.effect = middle.num == ranks.size() ? consensus(of_ranks, better_quarter) : did_nothing;
    candidate.num_pairs = middle.num;
    candidates.push_back(candidate);
  }
  const double spread = middle_of(std::move(within)).spread;
  for (Candidate& one : candidates) {
    one.standard_error =
        quartile_efficiency * spread / std::sqrt(static_cast<double>(std::max<std::uint64_t>(1, one.num_pairs)));
  }
  const Comparison comparison{.usual = candidates,
                              .num_tests = candidates.size(),
                              .least_freedom = degrees_of_freedom(num_there_),
                              .reference = Usual::majority};
  std::vector<Accused> accused;
  for (const Suspect& suspect : judge(candidates, comparison, settings_)) {
    accused.push_back({suspect, members.at(static_cast<std::uint32_t>(suspect.component.first)), ""});
  }
  return accused;
}

/// One target rather than all of its three and more hosts; one host rather than all of its three and more targets; else
/// it cannot be told which.
void FileJudge::separate(std::vector<Accused>& hosts, std::vector<Accused>& targets) const {
  if (!has_targets()) return;
  const auto number = [](const Accused& one) { return static_cast<std::uint32_t>(one.suspect.component.first); };
  const auto is_accused = [&](std::uint32_t target) { return std::ranges::count(targets, target, number) > 0; };
  const bool are_targets_judged = ranks_of_target_.size() >= fewest_to_compare;
  const bool is_one_host = ranks_of_host_.size() == 1;
  std::set<std::uint32_t> told;  // targets that a host explains, or that stand beside its name
  std::vector<Accused> kept;
  for (Accused& host : hosts) {
    const std::set<std::uint32_t> used = targets_of(number(host));
    const auto has_others = [&](std::uint32_t target) { return hosts_on(target).size() > 1; };
    const auto is_whole = [&](std::uint32_t target) { return hosts_on(target).size() >= fewest_of_whole; };
    const bool shows_on_sound =
        are_targets_judged ? std::ranges::any_of(used, [&](auto one) { return !is_accused(one) && has_others(one); })
                           : std::ranges::any_of(used, has_others);
    if (!shows_on_sound) {
      if (std::ranges::any_of(used, [&](auto one) { return is_accused(one) && is_whole(one); })) continue;
      told.insert(used.begin(), used.end());
      if (used.size() < fewest_of_whole || std::ranges::any_of(used, has_others)) {
        std::vector<std::string> names;
        for (const std::uint32_t target : used) names.push_back(phases_.targets[target]);
        host.or_else = fmt::format("target{} {}", names.size() > 1 ? "s" : "", fmt::join(names, ", "));
      }
    }
    kept.push_back(std::move(host));
  }
  hosts = std::move(kept);
  std::erase_if(targets, [&](const Accused& target) { return told.contains(number(target)); });
  for (Accused& target : targets) {
    const std::set<std::uint32_t> users = hosts_on(number(target));
    const auto is_fast_elsewhere = [&](std::uint32_t host) {
      return std::ranges::any_of(targets_of(host), [&](auto one) { return !is_accused(one); });
    };
    const std::size_t num_users = is_one_host ? target.ranks.size() : users.size();
    if (num_users >= fewest_of_whole) continue;
    if (is_one_host) {
      target.or_else = target.ranks.size() == 1 ? "the rank that uses it" : "the ranks that use it";
    } else if (!std::ranges::any_of(users, is_fast_elsewhere)) {
      target.or_else = users.size() == 1 ? "the host that uses it" : "the hosts that use it";
    } else if (target.ranks.size() < 2) {
      target.or_else = "the rank that uses it";
    }
  }
}

/// Ranks that are slow with nearly all others of a target: it was not compared with other targets, or stands out less
/// than each of them does.
std::vector<Accused> FileJudge::take_out_of_targets(std::vector<Suspect>& suspects) const {
  std::vector<Accused> accused;
  if (!has_targets()) return accused;
  const auto target = [&](const Suspect& one) { return target_of(static_cast<std::uint32_t>(one.component.first)); };
  std::map<std::uint32_t, std::vector<Suspect>> of_targets;
  for (const Suspect& one : suspects) of_targets[target(one)].push_back(one);
  std::erase_if(of_targets, [&](const auto& one) {
    const std::size_t num = ranks_of_target_.at(one.first).size();
    return num < 2 || static_cast<double>(one.second.size()) < most_of_ranks * static_cast<double>(num);
  });
  for (const auto& [number, slow] : of_targets) {
    Suspect whole = slow[slow.size() / 2];
    whole.component.kind = ComponentKind::target;
    whole.component.first = static_cast<std::int32_t>(number);
    accused.push_back({whole, ranks_of_target_.at(number), "the ranks that use it"});
  }
  std::erase_if(suspects, [&](const Suspect& one) { return of_targets.contains(target(one)); });
  return accused;
}

/// Those that are slow without most others of their host, and without their target.
std::vector<Accused> FileJudge::slow_ranks(const std::vector<Accused>& explained) {
  std::set<std::uint32_t> told;
  for (const Accused& one : explained) told.insert(one.ranks.begin(), one.ranks.end());
  std::vector<Candidate> candidates;
  for (std::uint32_t rank = 0; rank < level_.size(); ++rank) {
    if (!is_there(rank) || told.contains(rank)) continue;
    Candidate candidate;
    candidate.component.kind = ComponentKind::rank;
    candidate.component.first = static_cast<std::int32_t>(rank);
    candidate.effect = alone_[rank];
    candidate.num_pairs = 1;
    candidates.push_back(candidate);
  }
  std::map<std::uint32_t, std::vector<Suspect>> of_hosts;
  const Comparison comparison{.usual = candidates, .num_tests = candidates.size(), .reference = Usual::majority};
  std::vector<Suspect> suspects = judge(candidates, comparison, settings_);
  std::vector<Accused> accused = take_out_of_targets(suspects);
  for (const Suspect& suspect : suspects) {
    of_hosts[host_of(static_cast<std::uint32_t>(suspect.component.first))].push_back(suspect);
  }
  const bool are_hosts_judged = ranks_of_host_.size() >= fewest_to_compare;
  for (auto& [host, slow] : of_hosts) {
    const RankList& all = ranks_of_host_[host];
    const bool is_one_host = ranks_of_host_.size() == 1;
    if (slow.size() == 1 && all.size() > 1) {
      const auto rank = static_cast<std::uint32_t>(slow.front().component.first);
      const bool is_alone = has_targets() && ranks_of_target_[target_of(rank)].size() == 1;
      accused.push_back({slow.front(), {rank}, is_alone ? target_name(target_of(rank)) : ""});
    } else if (static_cast<double>(slow.size()) >= most_of_ranks * static_cast<double>(all.size()) && !is_one_host) {
      if (are_hosts_judged && all.size() == 1) continue;  // judged as a host
      Suspect of_host = slow[slow.size() / 2];
      of_host.component.kind = ComponentKind::host;
      of_host.component.first = static_cast<std::int32_t>(host);
      accused.push_back({of_host, all, shares_all_targets(host) ? "" : "what it alone uses"});
    } else {
      diagnosis_.notes.push_back(
          fmt::format("{} of {} ranks of {} are slow: neither one rank nor, as the others are not, the whole host",
                      slow.size(), all.size(), host_name(setting_, static_cast<std::int32_t>(host))));
    }
  }
  return accused;
}

/// Where the hosts below a leaf switch are all slow, and no other switch's are, it is what they share.
void FileJudge::join_below_leaves(std::vector<Accused>& hosts) const {
  const auto& levels = setting_.layout.network.levels;
  if (levels.empty()) return;
  std::map<std::uint32_t, std::size_t> num_below;
  for (const auto& host : ranks_of_host_) ++num_below[levels[0].group_of[host.first]];
  if (num_below.size() < 2) return;
  std::map<std::uint32_t, std::vector<std::size_t>> accused_below;
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    if (!hosts[index].or_else.empty()) continue;
    accused_below[levels[0].group_of[static_cast<std::uint32_t>(hosts[index].suspect.component.first)]].push_back(
        index);
  }
  std::set<std::size_t> gone;
  std::vector<Accused> leaves;
  for (const auto& [leaf, indices] : accused_below) {
    if (indices.size() < num_below[leaf] || indices.size() < 2) continue;
    Accused all;
    std::vector<double> effects;
    for (const std::size_t index : indices) {
      gone.insert(index);
      effects.push_back(hosts[index].suspect.effect);
      all.ranks.insert(all.ranks.end(), hosts[index].ranks.begin(), hosts[index].ranks.end());
    }
    all.suspect = hosts[indices.front()].suspect;
    all.suspect.effect = middle_value(effects);
    all.suspect.component = {ComponentKind::uplink, 0, static_cast<std::int32_t>(leaf), -1, -1};
    leaves.push_back(std::move(all));
  }
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    if (!gone.contains(index)) leaves.push_back(std::move(hosts[index]));
  }
  hosts = std::move(leaves);
}

/// By phase: the median, less loads, of the ranks that nobody accuses; of all where there is no other.
std::vector<double> FileJudge::usual_of_phases(const std::vector<Accused>& accused) const {
  std::set<std::uint32_t> slow;
  for (const Accused& one : accused) slow.insert(one.ranks.begin(), one.ranks.end());
  std::vector<double> usual;
  for (const std::vector<double>& of_phase : times_) {
    std::vector<double> sound, all;
    for (std::uint32_t rank = 0; rank < of_phase.size(); ++rank) {
      if (!is_there(rank)) continue;
      all.push_back(of_phase[rank] - by_load_[rank]);
      if (!slow.contains(rank)) sound.push_back(all.back());
    }
    const Middle middle = middle_of(std::move(sound));
    usual.push_back(middle.num > 0 ? middle.median : middle_value(std::move(all)));
  }
  return usual;
}

std::string FileJudge::targets_text(std::uint32_t host) const {
  const std::size_t num = targets_of(host).size();
  if (num == 0) return "";
  return num == 1 ? "on its target" : fmt::format("on all its {} targets", num);
}

Fault FileJudge::fault_of(const Accused& one, const std::vector<double>& usual) const {
  Fault fault;
  fault.component = one.suspect.component;
  fault.p_value = one.suspect.p_value;
  fault.num_pairs = 0;
  PhaseEvidence evidence;
  evidence.operation = phases_.operation;
  evidence.num_phases = times_.size();
  std::vector<double> effects, rates;
  for (std::size_t phase = 0; phase < times_.size(); ++phase) {
    std::vector<double> shown;
    for (const std::uint32_t rank : one.ranks) {
      const double time = times_[phase][rank];
      if (std::isnan(time)) continue;
      shown.push_back(time - by_load_[rank] - usual[phase]);
      rates.push_back(1e9 * std::exp(-time));
      ++fault.num_pairs;
    }
    const Middle middle = middle_of(std::move(shown));
    if (middle.num == 0) continue;
    effects.push_back(middle.median);
    if (middle.median >= share_in_phase * one.suspect.effect) ++evidence.num_slow;
  }
  const Middle over_phases = middle_of(effects);
  const double of_phases =
      median_efficiency * over_phases.spread / std::sqrt(std::max<double>(1, static_cast<double>(over_phases.num)));
  const double error = both_sides * std::hypot(one.suspect.error, of_phases);
  fault.ratio = std::exp(over_phases.median);
  fault.ratio_low = std::exp(over_phases.median - error);
  fault.ratio_high = std::exp(over_phases.median + error);
  evidence.bytes_per_s = middle_value(rates);
  evidence.usual_bytes_per_s = evidence.bytes_per_s * fault.ratio;
  const bool is_of_most = static_cast<double>(evidence.num_slow) >= most_of_phases * static_cast<double>(times_.size());
  const bool is_enough = times_.size() >= fewest_phases;
  if (is_enough && !is_of_most) fault.persistence = Persistence::transient;
  fault.is_unproven = !is_enough || !one.or_else.empty();

  const auto first = static_cast<std::uint32_t>(fault.component.first);
  if (fault.component.kind == ComponentKind::uplink) {
    std::set<std::uint32_t> hosts;
    for (const std::uint32_t rank : one.ranks) hosts.insert(host_of(rank));
    for (const std::uint32_t host : hosts) {
      fault.hosts.push_back(host_number(setting_.layout, static_cast<std::int32_t>(host)));
    }
  }
  if (fault.component.kind == ComponentKind::target) {
    const std::set<std::uint32_t> users = hosts_on(first);
    for (const std::uint32_t host : users) {
      fault.host_names.push_back(host_name(setting_, static_cast<std::int32_t>(host)));
    }
    fault.ranks.assign(one.ranks.begin(), one.ranks.end());
    fault.name = target_name(first);
    fault.target_name = phases_.targets[first];
    evidence.where = users.size() > 1 ? fmt::format("from all {} hosts that use it", users.size())
                                      : fmt::format("from {}", fault.host_names.front());
    if (one.or_else.empty() && users.size() > 1) {
      fault.ruled_out.emplace_back("not the hosts that use it: nearly all of their ranks on it are slow");
    }
  } else {
    fault.name = name_of_component(setting_, fault.component, fault.direction);
    name_concerned(setting_, fault);
  }
  if (fault.component.kind == ComponentKind::host) {
    evidence.where = targets_text(first);
    if (one.ranks.size() > 1) fault.ruled_out.emplace_back("not one of its ranks: nearly all of them are slow");
    if (one.or_else.empty() && has_targets()) {
      fault.ruled_out.emplace_back("not a target: others use the same ones and are as usual");
    }
  }
  if (fault.component.kind == ComponentKind::rank) {
    fault.ruled_out.push_back(fmt::format("not {} as a whole: its other ranks are as usual",
                                          host_name(setting_, static_cast<std::int32_t>(host_of(first)))));
  }
  if (!one.or_else.empty()) {
    fault.name += fmt::format(" (or {})", one.or_else);
    fault.advice =
        "Measure again so that others share what it uses: several hosts on each target, several targets a host "
        "(--targets, --movement N-M), or --read-shift";
  } else if (!is_enough) {
    fault.advice = fmt::format("Measure again with --repeat {} or more", fewest_phases + 2);
  } else {
    fault.advice = advice_for(setting_, one.suspect, Symptom::slow);
    if (fault.component.kind == ComponentKind::host) {
      fault.advice =
          "Look at its way to the storage (adapter, port, routes), its file system client, its memory and what else "
          "runs there";
    }
  }
  fault.phases = std::move(evidence);
  return fault;
}

void FileJudge::add_faults(const std::vector<Accused>& accused) {
  if (accused.empty()) return;
  const auto usual = usual_of_phases(accused);
  std::set<std::uint32_t> slow;
  for (const Accused& one : accused) slow.insert(one.ranks.begin(), one.ranks.end());
  // What a phase takes is what its slowest rank takes.
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> time_of;
  for (const FileRow& row : phases_.rows) time_of[{row.phase, row.rank}] = row.time_ns;
  const auto slowest = [&](const auto& counts) {
    std::vector<double> longest(times_.size(), 0);
    for (const auto& [where, time_ns] : time_of) {
      if (counts(where.second)) longest[where.first] = std::max(longest[where.first], time_ns);
    }
    double sum = 0;
    for (const double time_ns : longest) sum += time_ns;
    return sum;
  };
  const double sound_ns = slowest([&](std::uint32_t rank) { return !slow.contains(rank); });
  for (const Accused& one : accused) {
    Fault fault = fault_of(one, usual);
    const double own_ns = slowest([&](std::uint32_t rank) { return std::ranges::count(one.ranks, rank) > 0; });
    if (sound_ns > 0 && own_ns > sound_ns) fault.time_share = 1 - sound_ns / own_ns;
    diagnosis_.faults.push_back(std::move(fault));
  }
  std::ranges::stable_sort(diagnosis_.faults, std::ranges::greater{}, &Fault::ratio);
  std::ranges::stable_sort(diagnosis_.faults, {}, list_of);
}

Diagnosis FileJudge::told() {
  diagnosis_.settings = settings_;
  diagnosis_.topology = setting_.layout.network.source;
  diagnosis_.num_phases = times_.size();
  diagnosis_.num_pairs = diagnosis_.num_measured;
  std::vector<Accused> hosts = slow(ComponentKind::host, ranks_of_host_, of_host_);
  std::vector<Accused> targets;
  if (has_targets()) targets = slow(ComponentKind::target, ranks_of_target_, of_target_);
  separate(hosts, targets);
  join_below_leaves(hosts);
  std::vector<Accused> accused = std::move(hosts);
  std::ranges::move(targets, std::back_inserter(accused));
  std::vector<Accused> ranks = slow_ranks(accused);
  std::ranges::move(ranks, std::back_inserter(accused));
  add_faults(accused);
  const auto tell_few = [&](std::size_t num, const char* what) {
    if (num != 2) return;  // of one there is nothing to say
    diagnosis_.notes.push_back(
        fmt::format("{} could not be compared: there are {}, and {} are needed", what, num, fewest_to_compare));
  };
  tell_few(ranks_of_host_.size(), "hosts");
  if (has_targets()) tell_few(ranks_of_target_.size(), "targets");
  if (times_.size() < fewest_phases) {
    diagnosis_.notes.push_back(fmt::format("of {} phase{} nothing can be said to stay slow: --repeat {} and more tells",
                                           times_.size(), times_.size() == 1 ? "" : "s", fewest_phases));
  }
  diagnosis_.notes.insert(diagnosis_.notes.end(), phases_.notes.begin(), phases_.notes.end());
  return std::move(diagnosis_);
}

DiagnosisSettings used_for_phases(const FilePhases& phases, DiagnosisSettings settings) {
  const double least = phases.is_short_of_cores ? least_short_of_cores : least_of_file_test;
  settings.threshold = std::max(settings.threshold, least);
  return settings;
}

}  // namespace

DiagnosedSlice untested_phases(const FilePhases& phases, const Layout& layout, const DiagnosisSettings& settings,
                               std::string why) {
  DiagnosedSlice slice = slice_of_operation(phases);
  slice.diagnosis.settings = used_for_phases(phases, settings);
  slice.diagnosis.topology = layout.network.source;
  slice.diagnosis.untested = std::move(why);
  return slice;
}

DiagnosedSlice diagnosed_phases(const FilePhases& phases, const Layout& layout, const DiagnosisSettings& settings) {
  const Setting setting(layout);
  FileJudge judge(phases, setting, used_for_phases(phases, settings));
  if (!judge.can_judge()) {
    return untested_phases(phases, layout, settings,
                           fmt::format("fewer than {} ranks took part in half of the phases", fewest_to_compare));
  }
  DiagnosedSlice slice = slice_of_operation(phases);
  slice.diagnosis = judge.told();
  return slice;
}

}  // namespace leadline::diagnosis
