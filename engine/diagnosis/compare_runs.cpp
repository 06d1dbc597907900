// SPDX-License-Identifier: Apache-2.0
// Finds the same number in several runs, and whether its last value is beyond threshold and chance.
#include "diagnosis/compare_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/error.hpp"
#include "diagnosis/compare.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/profile.hpp"
#include "diagnosis/reference.hpp"
#include "network/hostlist.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {
namespace {

std::string short_name(const std::string& host) { return host.substr(0, host.find('.')); }

/// Hosts by a name, -1 = several have it.
using IndexByName = std::map<std::string, std::int64_t>;

IndexByName by_short_name(const std::vector<std::string>& hosts) {
  IndexByName named;
  for (std::size_t index = 0; index < hosts.size(); ++index) {
    const auto [entry, is_new] = named.try_emplace(short_name(hosts[index]), static_cast<std::int64_t>(index));
    if (!is_new) entry->second = -1;
  }
  return named;
}

void add_note(std::vector<std::string>& notes, std::string note) {
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(std::move(note));
}

/// Throws where they cannot be compared; else what differs.
void note_differences(const RunNumbers& before, const RunNumbers& after, std::vector<std::string>& notes) {
  const auto refuse = [&](const std::string& why, const char* hint) {
    throw Error(ExitStatus::bad_command_line, fmt::format("'{}' and '{}' cannot be compared", before.path, after.path),
                why, hint);
  };
  std::map<std::string, std::vector<std::string>> unknown;  // names, by the file that does not tell them
  const auto is_unknown = [&](const std::string& name, const std::string& first, const std::string& second) {
    if (first != not_known && second != not_known) return false;
    if (first != second) unknown[first == not_known ? before.path : after.path].push_back(name);
    return true;
  };
  for (std::size_t index = 0; index < after.conditions.size(); ++index) {
    const auto& [name, second] = after.conditions[index];
    const std::string& first = before.conditions.at(index).second;
    if (!is_unknown(name, first, second) && first != second) {
      refuse(fmt::format("{}: '{}' in one and '{}' in the other", name, first, second),
             "Measure again with the options and on as many ranks and hosts as the baseline");
    }
  }
  const std::vector<std::int64_t> same = same_hosts(before.hosts, after.hosts);
  const auto num_same = static_cast<std::size_t>(std::ranges::count_if(same, [](auto host) { return host >= 0; }));
  if (num_same == 0) {
    refuse(fmt::format("no host has the same name in both: {}, and {}", network::folded_hostlist(before.hosts),
                       network::folded_hostlist(after.hosts)),
           "Choose results of the same machine");
  }
  if (num_same < after.hosts.size()) {
    add_note(notes, fmt::format("{} of {} hosts are those of '{}'", num_same, after.hosts.size(), before.path));
  }
  for (std::size_t index = 0; index < after.noted.size(); ++index) {
    const auto& [name, second] = after.noted[index];
    const std::string& first = before.noted.at(index).second;
    if (is_unknown(name, first, second)) continue;
    if (first != second) add_note(notes, fmt::format("{} was '{}' and is '{}'", name, first, second));
  }
  for (const auto& [path, names] : unknown) {
    add_note(notes, fmt::format("not known of '{}': {}", path, fmt::join(names, ", ")));
  }
  if (!before.incomplete_reason.empty()) {
    add_note(notes, fmt::format("'{}' is not complete: {}", before.path, before.incomplete_reason));
  }
}

bool is_same(const RunNumber& one, const RunNumber& other) {
  return one.name == other.name && one.message_size_bytes == other.message_size_bytes && one.part == other.part;
}

/// A number beside the earlier ones, and how surely it differs.
struct Judged {
  ComparedNumber number;
  double p_value = 1;
};

/// By what the two runs know of themselves; without that the threshold alone decides.
Judged beside_one(ComparedNumber number, double error, double other_error) {
  const double both = std::sqrt(error * error + other_error * other_error);
  const double distance = std::abs(std::log(number.ratio));
  if (!std::isfinite(both)) return {number, distance > 0 ? 0.0 : 1.0};
  const double reach = std::exp(both_sides * both);
  number.ratio_low = number.ratio / reach;
  number.ratio_high = number.ratio * reach;
  constexpr double least_freedom = 10;  // as both_sides
  return {number, both > 0 ? 2 * stats::student_t_tail(distance / both, least_freedom) : distance > 0 ? 0 : 1};
}

/// Parts of one name and size, by how they scatter among each other.
void judge_among_parts(std::vector<Judged>& judged) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<Judged*>> of_number;
  for (Judged& one : judged) {
    if (!one.number.part.empty() && one.number.num_runs == 1) {
      of_number[{one.number.name, one.number.message_size_bytes}].push_back(&one);
    }
  }
  for (auto& [key, parts] : of_number) {
    std::vector<double> changes;
    for (const Judged* const part : parts) changes.push_back(std::log(part->number.ratio));
    const double spread = middle_of(changes).spread;
    const auto freedom = static_cast<double>(std::max<std::size_t>(parts.size(), 2) - 1);
    for (Judged* const part : parts) {
      const double reach = std::exp(stats::student_t_quantile(0.975, freedom) * spread);
      const double distance = std::abs(std::log(part->number.ratio));
      part->number.ratio_low = part->number.ratio / reach;
      part->number.ratio_high = part->number.ratio * reach;
      part->p_value = spread > 0 ? 2 * stats::student_t_tail(distance / spread, freedom) : distance > 0 ? 0 : 1;
    }
  }
}

/// Of the numbers of the whole run, or of its parts.
void decide(std::vector<Judged*> judged, const DiagnosisSettings& settings) {
  std::vector<double> p_values;
  for (const Judged* const one : judged) p_values.push_back(one->p_value);
  const std::vector<bool> is_beyond_chance = stats::rejected(p_values, p_values.size(), settings.false_discovery_rate);
  for (std::size_t index = 0; index < judged.size(); ++index) {
    ComparedNumber& number = judged[index]->number;
    const double slowdown = is_rate(number.unit) ? 1 / number.ratio : number.ratio;
    if (!is_beyond_chance[index] || std::abs(std::log(slowdown)) < std::log1p(settings.threshold)) continue;
    number.change = slowdown > 1 ? Change::slower : Change::faster;
  }
}

}  // namespace

std::vector<std::int64_t> same_hosts(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  // Of addresses the short name is the network's, and says nothing.
  IndexByName by_full;
  for (std::size_t index = 0; index < before.size(); ++index) by_full[before[index]] = static_cast<std::int64_t>(index);
  const IndexByName& known = by_full;
  const IndexByName shorts_before = by_short_name(before), shorts_after = by_short_name(after);
  std::vector<std::int64_t> same;
  for (const std::string& host : after) {
    const auto full = known.find(host), by_short = shorts_before.find(short_name(host));
    const bool is_unique =
        by_short != shorts_before.end() && by_short->second >= 0 && shorts_after.at(short_name(host)) >= 0;
    std::int64_t found = full != known.end() ? full->second : is_unique ? by_short->second : -1;
    if (full == known.end() && found >= 0) {
      const std::string& name = before[static_cast<std::size_t>(found)];
      if (host != short_name(host) && name != short_name(name)) found = -1;
    }
    same.push_back(found);
  }
  return same;
}

void add_parts(RunNumbers& run, const std::string& name, std::uint64_t message_size_bytes, const TimesOfParts& times) {
  std::vector<double> medians;
  for (const auto& [part, values] : times) medians.push_back(middle_of(values).median);
  if (medians.size() < fewest_to_compare) return;
  const double usual = middle_of(medians).median;
  std::size_t index = 0;
  for (const auto& [part, values] : times) {
    run.numbers.push_back({name, message_size_bytes, part, NumberUnit::share, std::exp(medians[index++] - usual)});
  }
}

ComparedRuns compare_runs(std::span<const RunNumbers> before, const RunNumbers& after,
                          const DiagnosisSettings& settings) {
  ComparedRuns compared;
  compared.settings = settings;
  for (const RunNumbers& run : before) note_differences(run, after, compared.notes);
  if (!after.incomplete_reason.empty()) {
    add_note(compared.notes, fmt::format("'{}' is not complete: {}", after.path, after.incomplete_reason));
  }
  if (before.size() == 1) compared.notes.emplace_back(unknown_scatter);
  std::vector<Judged> judged;
  std::size_t num_alone = 0;
  for (const RunNumber& one : after.numbers) {
    std::vector<double> logarithms;
    double error = 0;
    for (const RunNumbers& run : before) {
      const auto found = std::ranges::find_if(run.numbers, [&](const RunNumber& other) { return is_same(one, other); });
      if (found == run.numbers.end() || !(found->value > 0)) continue;
      logarithms.push_back(std::log(found->value));
      error = found->error;
    }
    if (logarithms.empty() || !(one.value > 0)) {
      ++num_alone;
      continue;
    }
    ComparedNumber number{.name = one.name,
                          .message_size_bytes = one.message_size_bytes,
                          .part = one.part,
                          .unit = one.unit,
                          .num_runs = logarithms.size(),
                          .before = std::exp(middle_of(logarithms).median),
                          .after = one.value};
    number.ratio = number.ratio_low = number.ratio_high = number.after / number.before;
    if (number.num_runs == 1) {
      judged.push_back(beside_one(std::move(number), error, one.error));
      continue;
    }
    const BesideRuns beside = beside_runs(number.ratio, scatter_of(logarithms), number.num_runs);
    number.ratio_low = beside.low;
    number.ratio_high = beside.high;
    judged.push_back({std::move(number), beside.p_value});
  }
  if (judged.empty()) {
    throw Error(ExitStatus::bad_command_line,
                fmt::format("'{}' and '{}' cannot be compared", before.front().path, after.path),
                "they have no number in common: other message sizes, topologies, patterns or operations",
                "Measure again with the options of the baseline");
  }
  if (num_alone > 0)
    compared.notes.push_back(fmt::format("{} not in the baseline",
                                         num_alone == 1 ? "1 number is" : fmt::format("{} numbers are", num_alone)));
  judge_among_parts(judged);
  std::vector<Judged*> of_run, of_parts;
  for (Judged& one : judged) (one.number.part.empty() ? of_run : of_parts).push_back(&one);
  decide(of_run, settings);
  decide(of_parts, settings);
  for (Judged& one : judged) compared.numbers.push_back(std::move(one.number));
  return compared;
}

}  // namespace leadline::diagnosis
