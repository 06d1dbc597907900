// SPDX-License-Identifier: Apache-2.0
// Joins faults that differ in their host or rank alone.
#include "diagnosis/fault_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/units.hpp"
#include "network/hostlist.hpp"

namespace leadline::diagnosis {
namespace {

constexpr std::size_t most_pairs_of_group = 8;

using Alike =
    std::tuple<int, ComponentKind, Symptom, FaultDirection, FindingList, Persistence, std::string, std::string>;

Alike key_of(const Fault& fault, int grade) {
  return {grade,          fault.component.kind, fault.symptom, fault.direction,
          list_of(fault), fault.persistence,    fault.advice,  fault.phases ? fault.phases->operation : ""};
}

/// A name with an alternative ("host node3 (or target 2)") says more than its host.
bool can_join(const Fault& fault) {
  return is_of_hosts(fault.component.kind) && !fault.host_names.empty() &&
         fault.name.find(" (or ") == std::string::npos;
}

std::string name_of_alike(const Fault& all) {
  const std::string folded = network::folded_hostlist(all.host_names);
  switch (all.component.kind) {
    case ComponentKind::host:
      return "hosts " + folded;
    case ComponentKind::inside:
      return "the inside of " + folded;
    case ComponentKind::rank: {
      std::vector<int> ranks(all.ranks.begin(), all.ranks.end());
      std::ranges::sort(ranks);
      return fmt::format("ranks {} on {}", number_ranges(ranks), folded);
    }
    default:
      return fmt::format("{}s of {}", leadline::name_of(all.component.kind), folded);
  }
}

template <typename Value>
void append_new(std::vector<Value>& to, const std::vector<Value>& from) {
  for (const Value& one : from) {
    if (std::ranges::find(to, one) == to.end()) to.push_back(one);
  }
}

/// One behind the other, of each place its first pair.
void join(const Fault& one, Fault& all) {
  append_new(all.host_names, one.host_names);
  append_new(all.hosts, one.hosts);
  append_new(all.ranks, one.ranks);
  append_new(all.adapters, one.adapters);
  std::erase_if(all.ruled_out, [&](const std::string& sentence) {
    return std::ranges::find(one.ruled_out, sentence) == one.ruled_out.end();
  });
  if (!one.pairs.empty() && all.pairs.size() < most_pairs_of_group) all.pairs.push_back(one.pairs.front());
  all.num_pairs += one.num_pairs;
  all.ratio_low = std::min(all.ratio_low, one.ratio);
  all.ratio_high = std::max(all.ratio_high, one.ratio);
  all.p_value = std::max(all.p_value, one.p_value);
  if (all.phases && one.phases) {
    all.phases->num_slow = std::min(all.phases->num_slow, one.phases->num_slow);
    if (all.phases->where != one.phases->where) all.phases->where.clear();
  }
}

void join_places(FaultGroup& group) {
  if (group.is_single()) return;
  Fault& all = group.fault;
  all.ratio_low = all.ratio_high = all.ratio;
  all.ratio_alone = all.ratio_concurrent = all.time_share = 0;  // each has its own
  all.pairs.resize(std::min<std::size_t>(all.pairs.size(), 1));
  for (std::size_t index = 1; index < group.places.size(); ++index) join(*group.places[index].worst, all);
  all.name = name_of_alike(all);
}

}  // namespace

bool FaultGroup::is_of_one_slice() const {
  return std::ranges::all_of(places, [&](const SeenFault& one) { return one.slice == places.front().slice; });
}

bool is_of_hosts(ComponentKind kind) {
  return kind == ComponentKind::host || kind == ComponentKind::port || kind == ComponentKind::inside ||
         kind == ComponentKind::socket || kind == ComponentKind::rank;
}

std::vector<FaultGroup> fault_groups(std::span<const SeenFault> seen, const std::function<int(const Fault&)>& grade) {
  std::vector<FaultGroup> groups;
  std::map<Alike, std::size_t> known;
  for (const SeenFault& one : seen) {
    const Fault& fault = *one.worst;
    const bool joins = can_join(fault);
    const auto [place, is_new] = joins ? known.try_emplace(key_of(fault, grade ? grade(fault) : 0), groups.size())
                                       : std::pair{known.end(), true};
    if (is_new) groups.push_back({fault, {}});
    groups[is_new ? groups.size() - 1 : place->second].places.push_back(one);
  }
  for (FaultGroup& group : groups) join_places(group);
  return groups;
}

std::vector<FaultGroup> fault_groups(const Diagnosis& diagnosis) {
  std::vector<SeenFault> seen;
  for (const Fault& fault : diagnosis.faults) seen.push_back({&fault, nullptr, 1});
  return fault_groups(seen);
}

}  // namespace leadline::diagnosis
