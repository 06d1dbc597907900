// SPDX-License-Identifier: Apache-2.0
// Diagnoses the ratios of two matrices, in both directions.
#include "diagnosis/compare.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "diagnosis/diagnose.hpp"
#include "diagnosis/effects.hpp"
#include "diagnosis/evidence.hpp"
#include "diagnosis/learnt_groups.hpp"
#include "diagnosis/profile.hpp"
#include "diagnosis/search.hpp"

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

std::vector<Fault> components_of(Diagnosis diagnosis, const Layout& layout) {
  std::erase_if(diagnosis.faults, [&](const Fault& fault) {
    return !counts(fault) || !has_changed(fault, diagnosis.settings.threshold);
  });
  for (Fault& fault : diagnosis.faults) {
    fault.ruled_out.clear();  // holds for faults, not for changes
    fault.advice.clear();
    fault.time_share = 0;  // of ratios there is none
    renumber(fault, layout);
  }
  return std::move(diagnosis.faults);
}

}  // namespace

leadline::Comparison compare(const TwoMatrices& of_files) {
  const Layout layout = layout_of(of_files);
  const TwoMatrices matrices{of_files.rows, layout, of_files.settings, of_files.message_size_bytes};
  leadline::Comparison comparison;
  comparison.settings = matrices.settings;
  comparison.message_size_bytes = matrices.message_size_bytes;
  const std::vector<double> before = medians_ns(matrices, Compared::before),
                            after = medians_ns(matrices, Compared::after);
  Diagnosis slowdown = diagnosis_of(matrices, Compared::slowdown);
  comparison.num_pairs = slowdown.num_measured;
  for (std::size_t index = 0; index < slowdown.classes.size(); ++index) {
    const DiagnosedClass& one = slowdown.classes[index];
    const double ratio = one.time_ns_median;  // of ratios, here
    const double reach = std::exp(both_sides * one.error);
    comparison.classes.push_back({one.name, one.num_pairs, before[index], after[index], ratio, ratio / reach,
                                  ratio * reach, change_of(one, matrices.settings.threshold)});
  }
  comparison.slower = components_of(std::move(slowdown), layout);
  comparison.faster = components_of(diagnosis_of(matrices, Compared::speedup), layout);
  return comparison;
}

}  // namespace leadline::diagnosis
