// SPDX-License-Identifier: Apache-2.0
// Diagnoses the ratios of two matrices, in both directions.
#include "diagnosis/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/learnt_groups.hpp"
#include "diagnosis/profile.hpp"
#include "diagnosis/search.hpp"
#include "stats/interval.hpp"

namespace leadline::diagnosis {
namespace {

Diagnosis diagnosis_of(const TwoMatrices& matrices, Compared compared) {
  Question question{.rows = [&](Symptom) -> const Rows& { return matrices.rows(compared); },
                    .layout = matrices.layout,
                    .settings = matrices.settings};
  question.has_means = false;
  question.may_learn = false;
  question.are_times = false;
  return diagnose(question);
}

/// The hosts' network; where none is given, the one that follows from the earlier times, so that both matrices are
/// judged by the same.
Layout layout_of(const TwoMatrices& matrices) {
  Layout layout = matrices.layout;
  if (!can_learn_network(layout)) return layout;
  if (const auto learnt = learnt_network(matrices.rows(Compared::before), Setting(matrices.layout))) {
    layout.network = *learnt;
  }
  return layout;
}

/// Medians of the times themselves, by class in the same order.
std::vector<double> medians_ns(const TwoMatrices& matrices, Compared compared) {
  std::vector<double> medians;
  for (const ProfiledClass& one : class_times(matrices.rows(compared), matrices.layout, matrices.message_size_bytes)) {
    medians.push_back(one.time_ns_median);
  }
  return medians;
}

Change change_of(const DiagnosedClass& one, double threshold) {
  const double change = std::log(one.time_ns_median);
  if (std::abs(change) < std::log1p(threshold) || std::abs(change) < both_sides * one.error) return Change::none;
  return change > 0 ? Change::slower : Change::faster;
}

/// By the ratios of their pairs, hosts counting as one each.
std::vector<ComparedClass> classes_by_pairs(const TwoMatrices& matrices, const std::vector<DiagnosedClass>& slowdown) {
  const std::vector<double> before = medians_ns(matrices, Compared::before),
                            after = medians_ns(matrices, Compared::after);
  std::vector<ComparedClass> classes;
  for (std::size_t index = 0; index < slowdown.size(); ++index) {
    const DiagnosedClass& one = slowdown[index];
    const double ratio = one.time_ns_median;  // of ratios, here
    const double reach = std::exp(both_sides * one.error);
    classes.push_back({one.name, one.num_pairs, before[index], after[index], ratio, ratio / reach, ratio * reach,
                       change_of(one, matrices.settings.threshold)});
  }
  return classes;
}

/// Beside the scatter of the earlier runs.
std::vector<ComparedClass> classes_beside_runs(const TwoMatrices& matrices) {
  const std::uint64_t size = matrices.message_size_bytes;
  std::vector<Profile> runs(matrices.num_before);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    runs[run].num_runs = 1;
    runs[run].classes = class_times(matrices.earlier(run), matrices.layout, size);
  }
  const Profile profile = joined(runs);
  std::vector<std::string> not_in_all;
  std::vector<ComparedClass> classes =
      judged_by(profile, class_times(matrices.rows(Compared::after), matrices.layout, size), not_in_all);
  std::vector<double> p_values;
  for (const ComparedClass& one : classes) {
    const auto usual = std::ranges::find(profile.classes, one.name, &ProfiledClass::name);
    p_values.push_back(beside_runs(one.ratio, usual->scatter, usual->num_runs).p_value);
  }
  const auto is_beyond_chance = stats::rejected(p_values, p_values.size(), matrices.settings.false_discovery_rate);
  for (std::size_t index = 0; index < classes.size(); ++index) {
    const double change = std::log(classes[index].ratio);
    const bool has_changed = is_beyond_chance[index] && std::abs(change) >= std::log1p(matrices.settings.threshold);
    classes[index].change = !has_changed ? Change::none : change > 0 ? Change::slower : Change::faster;
  }
  return classes;
}

/// How much each component scatters from run to run of the earlier ones: the median of its pairs beyond their class, a
/// logarithm.
std::vector<double> scatter_of_components(const TwoMatrices& matrices, const std::vector<Fault>& faults) {
  const Setting setting(matrices.layout);
  std::vector<std::vector<double>> by_fault(faults.size());
  for (std::size_t run = 0; run < matrices.num_before; ++run) {
    const Rows& rows = matrices.earlier(run);
    const Effects effects = fit(rows, setting.classes);
    std::vector<std::vector<std::vector<double>>> by_worker(rows.num_workers(),
                                                            std::vector<std::vector<double>>(faults.size()));
    rows.visit([&](std::size_t worker, const Row& row) {
      for (std::size_t index = 0; index < row.values.size(); ++index) {
        const std::uint32_t to = row.partner(index);
        if (std::isnan(row.values[index]) || to == row.from) continue;
        const double usual = effects.classes[setting.classes.of(row.from, to)].median;
        for (std::size_t fault = 0; fault < faults.size(); ++fault) {
          const Suspect suspect{.component = faults[fault].component, .direction = faults[fault].direction};
          if (!belongs(setting, suspect, row.from, to)) continue;
          by_worker[worker][fault].push_back(static_cast<double>(row.values[index]) - usual);
        }
      }
    });
    for (std::size_t fault = 0; fault < faults.size(); ++fault) {
      std::vector<double> values;
      for (const auto& of_worker : by_worker) {
        values.insert(values.end(), of_worker[fault].begin(), of_worker[fault].end());
      }
      if (!values.empty()) by_fault[fault].push_back(middle_of(std::move(values)).median);
    }
  }
  std::vector<double> scatter;
  for (const std::vector<double>& values : by_fault) scatter.push_back(scatter_of(values));
  return scatter;
}

/// Leaves those out that the earlier runs explain by their scatter, and says so.
void keep_beyond_runs(const TwoMatrices& matrices, std::vector<Fault>& faults, std::vector<std::string>& notes) {
  constexpr std::size_t most_faults = 50;  // the gravest; each is looked for in all rows of all runs
  if (matrices.num_before < 2 || faults.empty()) return;
  if (faults.size() > most_faults) faults.resize(most_faults);
  const std::vector<double> scatter = scatter_of_components(matrices, faults);
  std::vector<Fault> kept;
  std::vector<std::string> as_before;
  for (std::size_t index = 0; index < faults.size(); ++index) {
    Fault& fault = faults[index];
    const BesideRuns beside = beside_runs(fault.ratio, scatter[index], matrices.num_before);
    fault.ratio_low = std::min(fault.ratio_low, beside.low);
    fault.ratio_high = std::max(fault.ratio_high, beside.high);
    if (fault.ratio_low > 1) {
      kept.push_back(std::move(fault));
    } else {
      as_before.push_back(fmt::format("{} ({:.3g} times)", fault.name, fault.ratio));
    }
  }
  if (!as_before.empty()) {
    constexpr std::size_t most_named = 3;
    const std::size_t num_more = as_before.size() - std::min(as_before.size(), most_named);
    as_before.resize(as_before.size() - num_more);
    notes.push_back(fmt::format("no more different than baselines from each other: {}{}", fmt::join(as_before, ", "),
                                num_more > 0 ? fmt::format(" and {} more", num_more) : ""));
  }
  faults = std::move(kept);
}

/// With the numbers that the ranks and hosts have in the file.
void renumber(Fault& fault, const Layout& layout) {
  Component& component = fault.component;
  switch (component.kind) {
    case ComponentKind::host:
    case ComponentKind::port:
    case ComponentKind::inside:
    case ComponentKind::socket:
    case ComponentKind::link:
      component.first = host_number(layout, component.first);
      component.second = host_number(layout, component.second);
      break;
    case ComponentKind::rank:
    case ComponentKind::pair:
      component.first = rank_number(layout, component.first);
      component.second = rank_number(layout, component.second);
      break;
    default:  // groups of the network, slots
      break;
  }
  for (auto* const hosts : {&fault.hosts, &fault.other_hosts}) {
    for (std::int32_t& host : *hosts) host = host_number(layout, host);
  }
  for (auto* const ranks : {&fault.ranks, &fault.other_ranks}) {
    for (std::int32_t& rank : *ranks) rank = rank_number(layout, rank);
  }
  for (ShownPair& pair : fault.pairs) {
    pair.from = rank_number(layout, pair.from);
    pair.to = rank_number(layout, pair.to);
  }
}

/// Whether the pairs of a component changed themselves. Where half of a class did, as with the uplink of one of few
/// switches, the other half stands out in the opposite direction.
bool has_changed(const Fault& fault, double threshold) {
  std::vector<double> changes;
  for (const ShownPair& pair : fault.pairs) changes.push_back(std::log(pair.measured));
  return changes.empty() || middle_of(std::move(changes)).median >= std::log1p(threshold) / 2;
}

std::vector<Fault> components_of(Diagnosis diagnosis, const TwoMatrices& matrices, std::vector<std::string>& notes) {
  std::erase_if(diagnosis.faults, [&](const Fault& fault) {
    return !counts(fault) || !has_changed(fault, diagnosis.settings.threshold);
  });
  keep_beyond_runs(matrices, diagnosis.faults, notes);
  for (Fault& fault : diagnosis.faults) {
    fault.ruled_out.clear();  // holds for faults, not for changes
    fault.advice.clear();
    fault.time_share = 0;  // of ratios there is none
    renumber(fault, matrices.layout);
  }
  return std::move(diagnosis.faults);
}

}  // namespace

leadline::Comparison compare(const TwoMatrices& of_files) {
  const Layout layout = layout_of(of_files);
  TwoMatrices matrices{
      of_files.rows,       layout,          of_files.settings, of_files.message_size_bytes, of_files.has_classes,
      of_files.num_before, of_files.earlier};
  leadline::Comparison comparison;
  comparison.settings = matrices.settings;
  comparison.message_size_bytes = matrices.message_size_bytes;
  Diagnosis slowdown = diagnosis_of(matrices, Compared::slowdown);
  comparison.num_pairs = slowdown.num_measured;
  if (matrices.has_classes) {
    comparison.classes =
        matrices.num_before > 1 ? classes_beside_runs(matrices) : classes_by_pairs(matrices, slowdown.classes);
  }
  comparison.slower = components_of(std::move(slowdown), matrices, comparison.notes);
  comparison.faster = components_of(diagnosis_of(matrices, Compared::speedup), matrices, comparison.notes);
  return comparison;
}

}  // namespace leadline::diagnosis
