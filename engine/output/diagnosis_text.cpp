// SPDX-License-Identifier: Apache-2.0
// Writes faults as text.
#include "output/diagnosis_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/units.hpp"
#include "diagnosis/fault_groups.hpp"
#include "diagnosis/line_rate.hpp"
#include "diagnosis/profile.hpp"
#include "diagnosis/seen_faults.hpp"
#include "network/hostlist.hpp"
#include "output/table.hpp"

namespace leadline::output {
namespace {

constexpr std::size_t most_pairs_shown = 3;
constexpr std::size_t most_patterns = 8;  // named in a line

/// Three digits: no ratio is known better.
std::string ratio_text(double ratio) { return fmt::format("{:.3g}", ratio); }

const char* direction_text(FaultDirection direction, bool has_two_ends) {
  if (has_two_ends) return "";  // the name says the direction
  switch (direction) {
    case FaultDirection::both:
      return "";
    case FaultDirection::out:
      return " when sending";
    case FaultDirection::in:
      return " when receiving";
  }
  return "";
}

bool has_two_ends(const Component& component) { return component.second >= 0; }

std::string shown(const ShownPair& pair, Symptom symptom) {
  if (symptom == Symptom::unsteady) {
    return fmt::format("{} -> {} mean {} times its median", pair.from, pair.to, ratio_text(pair.measured));
  }
  return fmt::format("{} -> {} {} instead of {}", pair.from, pair.to, format_time_ns(pair.measured),
                     format_time_ns(pair.expected));
}

std::string only_under_load_text(const Fault& fault) {
  const std::string alone = fmt::format("measured again alone: {} times as long", ratio_text(fault.ratio_alone));
  if (fault.ratio_concurrent <= 0) return alone + "; not measured again under load";
  return fmt::format("{}, under load {}: it appears only under load", alone, ratio_text(fault.ratio_concurrent));
}

/// Of places that are alike without their numbers, which differ.
std::string alone_text(const Fault& fault, bool is_single) {
  if (!is_single && fault.persistence == Persistence::persistent) {
    return "measured again alone: as long, so it is also there without load";
  }
  if (!is_single && fault.persistence == Persistence::only_under_load) {
    return "measured again alone: as usual, so it appears only under load";
  }
  switch (fault.persistence) {
    case Persistence::not_retested:
      return "";
    case Persistence::persistent:
      return fmt::format("measured again alone: {} times as long, so it is also there without load",
                         ratio_text(fault.ratio_alone));
    case Persistence::only_under_load:
      return only_under_load_text(fault);
    case Persistence::transient:
      return "measured again: as usual; it did not appear again";
  }
  return "";
}

bool moves_bytes(const PhaseEvidence& phases) { return phases.operation == "write" || phases.operation == "read"; }

std::string phase_rate_text(const PhaseEvidence& phases, double rate) {
  return moves_bytes(phases) ? format_bandwidth(rate) : fmt::format("{:.3g}", rate);
}

/// "a rank moves 25 MiB/s while it is in calls, instead of 100 MiB/s"; "a rank does 250 a second ...".
std::string seen_in_phases(const PhaseEvidence& phases, bool is_single) {
  return fmt::format("{}a rank {} {}{} while it is in calls, instead of {}", is_single ? "" : "of the first ",
                     moves_bytes(phases) ? "moves" : "does", phase_rate_text(phases, phases.bytes_per_s),
                     moves_bytes(phases) ? "" : " a second", phase_rate_text(phases, phases.usual_bytes_per_s));
}

std::string fault_lines(const diagnosis::FaultGroup& group) {
  const Fault& fault = group.fault;
  std::string text;
  const auto add = [&](const char* label, const std::string& value) {
    if (!value.empty()) text += fmt::format("     {:<8} {}\n", label, value);
  };
  if (!fault.hosts.empty()) {
    add("hosts", network::folded_hostlist(fault.host_names) +
                     (fault.other_hosts.empty() ? "" : " with " + network::folded_hostlist(fault.other_host_names)));
  }
  std::vector<std::string> pairs;
  for (const ShownPair& pair : fault.pairs) {
    if (pairs.size() < most_pairs_shown) pairs.push_back(shown(pair, fault.symptom));
  }
  if (fault.phases) {
    add("seen", seen_in_phases(*fault.phases, group.is_single()));
    if (fault.time_share > 0) {
      add("costs",
          fmt::format("{:.2g} % of the time of these phases, in which the others wait for it", 100 * fault.time_share));
    }
  } else {
    add("seen", fmt::format("{}{}{}", counted(fault.num_pairs, "ordered pair"), pairs.empty() ? "" : ", such as ",
                            fmt::join(pairs, "; ")));
  }
  for (const std::string& sentence : fault.ruled_out) add("ruled out", sentence);
  add("again", alone_text(fault, group.is_single()));
  add("do", fault.advice);
  return text;
}

std::string coverage(const Diagnosis& diagnosis) {
  if (diagnosis.num_measured >= diagnosis.num_pairs) return "";
  return fmt::format("{} of {} ordered pairs are measured; what is said is about them\n", diagnosis.num_measured,
                     diagnosis.num_pairs);
}

/// What was measured, and how many faults follow, or that some suspects could not be tested.
std::string head(const Diagnosis& diagnosis, std::size_t num_faults, std::size_t num_untested) {
  if (!diagnosis.untested.empty()) return fmt::format("verdict: could not be tested: {}\n", diagnosis.untested);
  if (diagnosis.num_measured == 0) return "verdict: nothing was measured\n";
  std::string text = coverage(diagnosis);
  if (num_faults == 0 && num_untested > 0) {
    return text + fmt::format("verdict: no fault found, but {} could not be tested: see below\n",
                              counted(num_untested, "suspect"));
  }
  if (num_faults == 0) {
    return text +
           fmt::format(
               "verdict: no fault found: nothing is {:.3g} % slower than comparable components by more than chance\n",
               100 * diagnosis.settings.threshold);
  }
  return text + fmt::format("verdict: {} found{}\n", counted(num_faults, "fault"),
                            num_faults > 1 ? ", the costliest first" : "");
}

/// Faults that are told as one, and where in a run with several slices they were found.
struct ListedFault {
  diagnosis::FaultGroup group;
  std::string where;
};

std::vector<ListedFault> listed_faults(const Diagnosis& diagnosis) {
  std::vector<ListedFault> faults;
  for (diagnosis::FaultGroup& group : diagnosis::fault_groups(diagnosis)) faults.push_back({std::move(group), ""});
  return faults;
}

std::size_t num_counting(const std::vector<ListedFault>& faults) {
  return static_cast<std::size_t>(
      std::ranges::count_if(faults, [](const ListedFault& one) { return counts(one.group.fault); }));
}

std::size_t num_untested(const std::vector<ListedFault>& faults) {
  return static_cast<std::size_t>(std::ranges::count_if(
      faults, [](const ListedFault& one) { return list_of(one.group.fault) == FindingList::untested; }));
}

/// What stands above findings that are no faults, of messages or of phases of a file test.
const char* heading_of(FindingList list, bool is_of_phases) {
  switch (list) {
    case FindingList::persistent:
      return "";
    case FindingList::only_under_load:
      return "only under load:";
    case FindingList::passed:
      return "passed, did not appear again:";
    case FindingList::untested:
      return is_of_phases ? "could not be tested: few phases, much scatter, or something else looks the same:"
                          : "could not be tested: few pairs, much scatter, no second measurement, or a longer way "
                            "looks the same (--topology tells):";
    case FindingList::note:
      return "how the machine is built:";
  }
  return "";
}

/// A class that is slower than the site profile says; of several slices in how many, and which one is shown.
struct ListedClass {
  ComparedClass found;
  std::string where;
};

std::vector<ListedClass> slower_in(const Diagnosis& diagnosis) {
  std::vector<ListedClass> slower;
  for (const ComparedClass& one : diagnosis.profile) {
    if (one.change == Change::slower) slower.push_back({one, ""});
  }
  return slower;
}

/// Numbered.
std::string slower_than_profile(const std::vector<ListedClass>& classes) {
  std::string text;
  std::size_t number = 0;
  for (const auto& [one, where] : classes) {
    const std::string range = one.ratio_low < one.ratio_high
                                  ? fmt::format(" ({} to {})", ratio_text(one.ratio_low), ratio_text(one.ratio_high))
                                  : "";
    text += fmt::format("  {}. {}{}{}\n", ++number, class_sentence(one), range, where);
    text += fmt::format("     seen     {}, median {} instead of {}\n", counted(one.num_pairs, "ordered pair"),
                        format_time_ns(one.after_ns), format_time_ns(one.before_ns));
    text +=
        "     do       Look at what all of them share: adapter speed and width, driver, clock frequency, settings\n";
  }
  return text;
}

/// Faults are numbered, those before them counted; the other lists follow.
std::string listed(const std::vector<ListedFault>& faults, std::size_t most_faults, std::size_t num_before = 0) {
  std::string text;
  std::size_t num_shown = 0;
  for (const Named<FindingList>& list : names_of(FindingList{})) {
    std::size_t number = 0;
    for (const ListedFault& one : faults) {
      const Fault& fault = one.group.fault;
      if (list_of(fault) != list.value) continue;
      if (++num_shown > most_faults) continue;
      ++number;
      const bool is_fault = list.value == FindingList::persistent;
      if (number == 1 && !is_fault) text += fmt::format("{}\n", heading_of(list.value, fault.phases.has_value()));
      text += fmt::format("  {} {}{}\n{}", is_fault ? fmt::format("{}.", num_before + number) : "-",
                          group_sentence(one.group), one.where, fault_lines(one.group));
    }
  }
  if (faults.size() > most_faults) {
    text += fmt::format("  ... and {} more in the result file\n", faults.size() - most_faults);
  }
  return text;
}

std::string notes_text(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += fmt::format("note: {}\n", note);
  return text;
}

/// Classes that are slower than the site profile says, each as its worst slice shows it.
std::vector<ListedClass> slower_in(const std::vector<DiagnosedSlice>& slices, std::size_t all_slices) {
  std::vector<ListedClass> worst;
  std::vector<std::size_t> num_slices;
  for (const DiagnosedSlice& slice : slices) {
    for (const ListedClass& one : slower_in(slice.diagnosis)) {
      const auto known = std::ranges::find(worst, one.found.name, [](const ListedClass& c) { return c.found.name; });
      const auto index = static_cast<std::size_t>(known - worst.begin());
      if (known == worst.end()) {
        worst.emplace_back();
        num_slices.push_back(0);
      }
      ++num_slices[index];
      if (one.found.ratio <= worst[index].found.ratio) continue;
      worst[index] = {one.found, format_bytes(slice.message_size_bytes)};
    }
  }
  for (std::size_t index = 0; index < worst.size(); ++index) {
    worst[index].where =
        fmt::format("; in {} of {} sizes and repeats, here with {}", num_slices[index], all_slices, worst[index].where);
  }
  return worst;
}

bool has_incomparable(const Diagnosis& diagnosis) {
  return std::ranges::any_of(diagnosis.notes,
                             [](const std::string& note) { return note.starts_with(diagnosis::not_comparable); });
}

/// Classes that are no slower than the site profile says, in any slice, with the greatest of their ratios; that it said
/// nothing of any; empty where there are none.
std::string as_in_profile(const std::vector<const Diagnosis*>& all) {
  std::vector<ComparedClass> greatest;
  for (const Diagnosis* diagnosis : all) {
    for (const ComparedClass& one : diagnosis->profile) {
      const auto known = std::ranges::find(greatest, one.name, &ComparedClass::name);
      if (known == greatest.end()) {
        greatest.push_back(one);
      } else if (one.change == Change::slower || (known->change != Change::slower && one.ratio > known->ratio)) {
        *known = one;
      }
    }
  }
  const auto is_unfit = [](const Diagnosis* diagnosis) { return has_incomparable(*diagnosis); };
  if (greatest.empty() && std::ranges::any_of(all, is_unfit))
    return "nothing could be judged by the site profile: see the notes\n";
  std::vector<std::string> told;
  for (const ComparedClass& one : greatest) {
    if (one.change != Change::slower) told.push_back(fmt::format("{} x{}", one.name, ratio_text(one.ratio)));
  }
  return told.empty() ? "" : fmt::format("times beside the site profile: {}\n", fmt::join(told, ", "));
}

/// Those of the first slice; of the others only what is said of the line rate and of the site profile.
std::vector<std::string> notes_of(const std::vector<DiagnosedSlice>& slices) {
  std::vector<std::string> notes;
  bool is_first = true;
  for (const DiagnosedSlice& slice : slices) {
    for (const std::string& note : slice.diagnosis.notes) {
      const bool is_told =
          is_first || note.starts_with(diagnosis::not_comparable) || note.starts_with(diagnosis::reaches_of_line_rate);
      if (is_told && std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
    is_first = false;
  }
  return notes;
}

constexpr std::size_t most_components = 20;

/// "+12.3 %".
std::string percent_change(double ratio) { return fmt::format("{:+.1f} %", 100 * (ratio - 1)); }

std::string classes_text(const Comparison& comparison) {
  std::vector<double> times;
  for (const ComparedClass& one : comparison.classes) times.push_back(one.after_ns);
  const Unit unit = time_unit(middle_of(times));
  Table table({{"pairs", Align::left},
               {"number"},
               {fmt::format("before {}", unit.name)},
               {fmt::format("after {}", unit.name)},
               {"time"},
               {"95 % interval"},
               {"", Align::left}});
  for (const ComparedClass& one : comparison.classes) {
    table.add_row({one.name, std::to_string(one.num_pairs), in_unit(one.before_ns, unit), in_unit(one.after_ns, unit),
                   percent_change(one.ratio),
                   fmt::format("{} to {}", percent_change(one.ratio_low), percent_change(one.ratio_high)),
                   one.change == Change::none ? "" : name_of(one.change)});
  }
  return table.text();
}

std::string components_text(const std::vector<Fault>& components, const char* change) {
  std::string text;
  for (std::size_t index = 0; index < std::min(components.size(), most_components); ++index) {
    const Fault& component = components[index];
    text += fmt::format("  {} is {} beyond the change of its class: {:.3g} times ({:.3g} to {:.3g}), {}\n",
                        component.name, change, component.ratio, component.ratio_low, component.ratio_high,
                        counted(component.num_pairs, "ordered pair"));
  }
  if (components.size() > most_components)
    text += fmt::format("  ... and {} more\n", components.size() - most_components);
  return text;
}

/// Patterns that could not be tested with any size: by reason their names, in their order.
using UntestedPatterns = std::vector<std::pair<std::string, std::vector<std::string>>>;

UntestedPatterns untested_patterns(const std::vector<DiagnosedSlice>& slices) {
  std::set<std::string> tested, told;
  for (const DiagnosedSlice& one : slices) {
    if (one.diagnosis.untested.empty()) tested.insert(one.pattern);
  }
  UntestedPatterns all;
  for (const DiagnosedSlice& one : slices) {
    if (tested.contains(one.pattern) || !told.insert(one.pattern).second) continue;
    const auto& reason = one.diagnosis.untested;
    const auto known = std::ranges::find_if(all, [&](const auto& other) { return other.first == reason; });
    (known == all.end() ? all.emplace_back(reason, std::vector<std::string>{}) : *known).second.push_back(one.pattern);
  }
  return all;
}

std::string untested_text(UntestedPatterns patterns) {
  std::string text;
  for (auto& [reason, names] : patterns) {
    const std::size_t num_more = names.size() - std::min(names.size(), most_patterns);
    names.resize(names.size() - num_more);
    text += fmt::format("{}{} could not be tested: {}\n", fmt::join(names, ", "),
                        num_more > 0 ? fmt::format(" and {} more", num_more) : "", reason);
  }
  return text;
}

/// Which slice it is: "message size 1 KiB, repeat 1", "write, 5 phases".
std::string slice_text(const DiagnosedSlice& one) {
  const std::string which = one.pattern.empty() ? fmt::format("repeat {}", one.repeat + 1) : one.pattern;
  return one.diagnosis.num_phases > 0 ? fmt::format("{}, {}", which, counted(one.diagnosis.num_phases, "phase"))
                                      : fmt::format("message size {}, {}", format_bytes(one.message_size_bytes), which);
}

}  // namespace

std::string all_pairs_of(const ComparedClass& one) {
  return one.name == "between hosts" ? "all pairs between hosts" : fmt::format("all pairs '{}'", one.name);
}

std::string class_sentence(const ComparedClass& one) {
  return fmt::format("{} take {} times as long as in the site profile", all_pairs_of(one), ratio_text(one.ratio));
}

namespace {

bool are_many(const diagnosis::FaultGroup& group) {
  return !group.is_single() && group.fault.component.kind != ComponentKind::inside;
}

/// "2.1 to 3", of one its ratio with its interval.
std::string times_text(const diagnosis::FaultGroup& group, const std::string& what) {
  const Fault& fault = group.fault;
  const std::string low = ratio_text(fault.ratio_low), high = ratio_text(fault.ratio_high);
  if (group.is_single()) return fmt::format("{} {} ({} to {})", ratio_text(fault.ratio), what, low, high);
  return low == high ? fmt::format("{} {}", low, what) : fmt::format("{} to {} {}", low, high, what);
}

/// "host node3 writes at 0.4 of what comparable hosts do (0.35 to 0.46), in 5 of 5 phases, on all its 2 targets".
std::string phases_sentence(const diagnosis::FaultGroup& group, const PhaseEvidence& phases) {
  const Fault& fault = group.fault;
  const bool is_target = fault.component.kind == ComponentKind::target;
  const bool is_uplink = fault.component.kind == ComponentKind::uplink;
  const bool writes = phases.operation == "write";
  const std::string verb = !moves_bytes(phases) ? fmt::format("{} {} at",
                                                              is_target         ? "serves"
                                                              : are_many(group) ? "do"
                                                                                : "does",
                                                              phases.operation)
                           : is_target          ? writes ? "is written at" : "is read at"
                           : is_uplink          ? fmt::format("carries {}s at", phases.operation)
                           : are_many(group)    ? phases.operation + " at"
                                                : phases.operation + "s at";
  const std::string others = is_target   ? "comparable targets are"
                             : is_uplink ? "hosts elsewhere do"
                                         : fmt::format("comparable {}s do", name_of(fault.component.kind));
  diagnosis::FaultGroup shares{group.fault, group.places};
  shares.fault.ratio = 1 / fault.ratio;
  shares.fault.ratio_low = 1 / fault.ratio_high;
  shares.fault.ratio_high = 1 / fault.ratio_low;
  return fmt::format("{} {} {}, in {}{} of {} phases{}{}", fault.name, verb, times_text(shares, "of what " + others),
                     group.is_single() ? "" : "at least ", phases.num_slow, phases.num_phases,
                     phases.where.empty() ? "" : ", ", phases.where);
}

}  // namespace

std::string group_sentence(const diagnosis::FaultGroup& group) {
  const Fault& fault = group.fault;
  if (fault.phases) return phases_sentence(group, *fault.phases);
  const char* const is = are_many(group) ? "are" : "is";
  if (fault.is_note) {
    return fmt::format("{} {} farther from the network: {}", fault.name, is, times_text(group, "times the time"));
  }
  const char* const direction = direction_text(fault.direction, has_two_ends(fault.component));
  if (fault.symptom == Symptom::unsteady) {
    return fmt::format("{} {} unsteady{}: means of {}", fault.name, is, direction,
                       times_text(group, "times the usual share of the median"));
  }
  return fmt::format("{} {} slow{}: {}", fault.name, is, direction, times_text(group, "times as long as usual"));
}

namespace {

/// "; in 2 to 3 of 3, here with message size 1 KiB": how many slices show it, and which most clearly.
std::string where_found(const diagnosis::FaultGroup& group, std::size_t num_slices, const std::string& slices,
                        const std::string& here) {
  const auto [least, most] = std::ranges::minmax(group.places, {}, &diagnosis::SeenFault::num_slices);
  const std::string num = least.num_slices == most.num_slices
                              ? std::to_string(least.num_slices)
                              : fmt::format("{} to {}", least.num_slices, most.num_slices);
  return fmt::format("; in {} of {}{}, {}", num, num_slices, slices,
                     group.is_of_one_slice() ? "here with " + here : "each as where it costs most");
}

/// The faults of all slices, each once; empty where there is nothing to join.
std::string joined_text(const std::vector<DiagnosedSlice>& slices) {
  const std::size_t num_slices = diagnosis::num_judged(slices);
  const auto groups = diagnosis::fault_groups(diagnosis::seen_faults(slices));
  if (num_slices < 2 || groups.empty()) return "";
  std::string text = "\nfaults of all slices, each once\n";
  std::size_t number = 0;
  FindingList last = FindingList::persistent;
  for (const diagnosis::FaultGroup& one : groups) {
    const Fault& fault = one.fault;
    const bool is_fault = counts(fault);
    if (list_of(fault) != last) text += fmt::format("{}\n", heading_of(list_of(fault), fault.phases.has_value()));
    last = list_of(fault);
    text += fmt::format("  {} {}{}\n", is_fault ? fmt::format("{}.", ++number) : "-", group_sentence(one),
                        where_found(one, num_slices, "", slice_text(*one.places.front().slice)));
  }
  return text;
}

}  // namespace

std::string diagnosis_text(const Diagnosis& diagnosis, std::size_t most_faults) {
  const std::vector<ListedFault> faults = listed_faults(diagnosis);
  const std::vector<ListedClass> slower = slower_in(diagnosis);
  return head(diagnosis, num_counting(faults) + slower.size(), num_untested(faults)) + as_in_profile({&diagnosis}) +
         slower_than_profile(slower) + listed(faults, most_faults, slower.size()) + notes_text(diagnosis.notes);
}

std::string diagnoses_text(const std::vector<DiagnosedSlice>& slices) {
  if (slices.size() == 1) return diagnosis_text(slices.front().diagnosis);
  const UntestedPatterns untested = untested_patterns(slices);
  std::set<std::string> told;
  for (const auto& [reason, names] : untested) told.insert(names.begin(), names.end());
  std::string text = untested_text(untested);
  for (const DiagnosedSlice& one : slices) {
    if (told.contains(one.pattern)) continue;
    text += text.empty() ? "" : "\n";
    text += slice_text(one) + "\n";
    text += diagnosis_text(one.diagnosis);
  }
  return text + joined_text(slices);
}

std::string verdict_text(const std::vector<DiagnosedSlice>& slices, std::size_t num_slices) {
  constexpr std::size_t most_faults = 20;
  if (slices.empty()) return "";
  if (num_slices == 1) return diagnosis_text(slices.front().diagnosis, most_faults);
  const std::vector<ListedClass> slower = slower_in(slices, num_slices);
  std::vector<ListedFault> faults;
  for (diagnosis::FaultGroup& group : diagnosis::fault_groups(diagnosis::seen_faults(slices))) {
    const std::string where = where_found(group, diagnosis::num_judged(slices), " sizes and repeats",
                                          format_bytes(group.places.front().slice->message_size_bytes));
    faults.push_back({std::move(group), where});
  }
  std::vector<const Diagnosis*> all;
  for (const DiagnosedSlice& slice : slices) all.push_back(&slice.diagnosis);
  return head(slices.front().diagnosis, num_counting(faults) + slower.size(), num_untested(faults)) +
         as_in_profile(all) + slower_than_profile(slower) + listed(faults, most_faults, slower.size()) +
         notes_text(notes_of(slices));
}

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("message size {}, {} in all results\n", format_bytes(comparison.message_size_bytes),
                                 counted(comparison.num_pairs, "ordered pair"));
  if (!comparison.classes.empty()) text += classes_text(comparison);
  const auto num_classes = [&](Change change) {
    return static_cast<std::size_t>(
        std::ranges::count_if(comparison.classes, [&](const ComparedClass& one) { return one.change == change; }));
  };
  const auto changed = [&](Change change, const std::vector<Fault>& components) {
    const std::size_t num = num_classes(change);
    return fmt::format("{} class{} and {} {}", num, num == 1 ? "" : "es", counted(components.size(), "component"),
                       name_of(change));
  };
  text += fmt::format("verdict: {}: {}, {}\n", is_worse(comparison) ? "worse" : "not worse",
                      changed(Change::slower, comparison.slower), changed(Change::faster, comparison.faster));
  text += components_text(comparison.slower, "slower");
  text += components_text(comparison.faster, "faster");
  for (const std::string& note : comparison.notes) text += fmt::format("note: {}\n", note);
  return text;
}

namespace {

std::string value_text(NumberUnit unit, double value) {
  switch (unit) {
    case NumberUnit::ns:
      return format_time_ns(value);
    case NumberUnit::bytes_per_s:
      return format_bandwidth(value);
    case NumberUnit::per_s:
      return fmt::format("{:.4g} a second", value);
    case NumberUnit::share:
      break;
  }
  return ratio_text(value);
}

}  // namespace

std::string compared_runs_text(const ComparedRuns& compared) {
  Table table({{"number", Align::left},
               {"message size"},
               {"part", Align::left},
               {"before"},
               {"after"},
               {"change"},
               {"95 % interval"},
               {"", Align::left}});
  std::size_t num_parts = 0, counted_changes[2][2] = {};
  for (const ComparedNumber& one : compared.numbers) {
    const bool is_part = !one.part.empty();
    num_parts += is_part ? 1 : 0;
    if (one.change != Change::none) ++counted_changes[is_part ? 1 : 0][one.change == Change::faster ? 1 : 0];
    if (is_part && one.change == Change::none) continue;
    table.add_row({one.name, one.message_size_bytes > 0 ? format_bytes(one.message_size_bytes) : "-",
                   is_part ? one.part : "all", value_text(one.unit, one.before), value_text(one.unit, one.after),
                   percent_change(one.ratio),
                   one.ratio_low < one.ratio_high
                       ? fmt::format("{} to {}", percent_change(one.ratio_low), percent_change(one.ratio_high))
                       : "-",
                   one.change == Change::none ? "" : name_of(one.change)});
  }
  std::string text = table.text();
  if (num_parts > 0) {
    text +=
        fmt::format("  {} of hosts and targets, their time over that of the median one: those that changed are shown\n",
                    counted(num_parts, "number"));
  }
  const auto changed = [&](std::size_t which) {
    return fmt::format("{} and {} {}", counted(counted_changes[0][which], "number"),
                       counted(counted_changes[1][which], "part"), which == 0 ? "slower" : "faster");
  };
  text += fmt::format("verdict: {}: {}, {}\n", has_slower(compared) ? "worse" : "not worse", changed(0), changed(1));
  for (const std::string& note : compared.notes) text += fmt::format("note: {}\n", note);
  return text;
}

std::string comparisons_text(const std::vector<Comparison>& comparisons) {
  std::string text;
  for (const Comparison& one : comparisons) text += (text.empty() ? "" : "\n") + comparison_text(one);
  return text;
}

}  // namespace leadline::output
