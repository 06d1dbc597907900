// SPDX-License-Identifier: Apache-2.0
// What a diagnosis says: which components are at fault, by how much, how sure, and on what evidence; and what a
// comparison of two results says. Definitions: docs/metrics.md.
#include "model/diagnosis.hpp"

#include <algorithm>

namespace leadline {

constexpr Named<ComponentKind> component_kind_names[] = {
    {ComponentKind::network_switch, "switch", "a switch: pairs of all ranks below it, also with each other"},
    {ComponentKind::uplink, "uplink", "the way from what is below a switch to the rest: only pairs that leave it"},
    {ComponentKind::cable, "cable", "the way between two switches: only pairs across it"},
    {ComponentKind::rail, "rail", "the ranks in one slot of all hosts, such as those of one adapter"},
    {ComponentKind::host, "host", "a host: all pairs of its ranks, inside it, too"},
    {ComponentKind::port, "port",
     "adapter, cable or switch port of a host: its pairs with other hosts, not those inside"},
    {ComponentKind::inside, "inside", "the inside of a host: only pairs inside it"},
    {ComponentKind::socket, "socket", "a socket of a host: pairs of its ranks with other hosts"},
    {ComponentKind::rank, "rank", "a rank: all its pairs"},
    {ComponentKind::link, "link", "the way between two hosts, which are both as usual with others"},
    {ComponentKind::pair, "pair", "two ranks, where nothing larger explains it"},
    {ComponentKind::target, "target", "a storage target: the part of a file system that some files lie on"},
};

std::span<const Named<ComponentKind>> names_of(ComponentKind /*any*/) { return component_kind_names; }

const char* name_of(ComponentKind kind) { return name_in(component_kind_names, kind); }

constexpr Named<Symptom> symptom_names[] = {
    {Symptom::slow, "slow"},
    {Symptom::unsteady, "unsteady"},
};

std::span<const Named<Symptom>> names_of(Symptom /*any*/) { return symptom_names; }

const char* name_of(Symptom symptom) { return name_in(symptom_names, symptom); }

constexpr Named<FaultDirection> fault_direction_names[] = {
    {FaultDirection::both, "both"},
    {FaultDirection::out, "out"},
    {FaultDirection::in, "in"},
};

std::span<const Named<FaultDirection>> names_of(FaultDirection /*any*/) { return fault_direction_names; }

const char* name_of(FaultDirection direction) { return name_in(fault_direction_names, direction); }

constexpr Named<Persistence> persistence_names[] = {
    {Persistence::not_retested, "not_retested"},
    {Persistence::persistent, "persistent"},
    {Persistence::only_under_load, "only_under_load"},
    {Persistence::transient, "transient"},
};

std::span<const Named<Persistence>> names_of(Persistence /*any*/) { return persistence_names; }

const char* name_of(Persistence persistence) { return name_in(persistence_names, persistence); }

constexpr Named<FindingList> finding_list_names[] = {
    {FindingList::persistent, "persistent", "a fault: it needs action, and the verdict counts it"},
    {FindingList::only_under_load, "only_under_load", "it appears where other pairs are measured at the same time"},
    {FindingList::passed, "passed", "it did not appear again"},
    {FindingList::untested, "untested",
     "too few pairs, too much scatter, no second measurement, or something else looks the same"},
    {FindingList::note, "note", "how the machine is built"},
};

std::span<const Named<FindingList>> names_of(FindingList /*any*/) { return finding_list_names; }

const char* name_of(FindingList list) { return name_in(finding_list_names, list); }

FindingList list_of(const Fault& fault) {
  if (fault.is_note) return FindingList::note;
  if (fault.persistence == Persistence::transient) return FindingList::passed;
  if (fault.is_unproven || fault.ratio_low <= 1) return FindingList::untested;
  return fault.persistence == Persistence::only_under_load ? FindingList::only_under_load : FindingList::persistent;
}

std::size_t num_slower_than_profile(const Diagnosis& diagnosis) {
  return static_cast<std::size_t>(std::ranges::count(diagnosis.profile, Change::slower, &ComparedClass::change));
}

std::size_t num_counting(const Diagnosis& diagnosis) {
  return static_cast<std::size_t>(std::ranges::count_if(diagnosis.faults, counts)) + num_slower_than_profile(diagnosis);
}

bool is_worse(const Comparison& comparison) {
  const auto is_slower = [](const ComparedClass& one) { return one.change == Change::slower; };
  return !comparison.slower.empty() || std::ranges::any_of(comparison.classes, is_slower);
}

bool has_slower(const ComparedRuns& compared) {
  return std::ranges::any_of(compared.numbers, [](const auto& one) { return one.change == Change::slower; });
}

constexpr Named<NumberUnit> unit_names[] = {
    {NumberUnit::ns, "ns"},
    {NumberUnit::bytes_per_s, "bytes/s"},
    {NumberUnit::per_s, "1/s"},
    {NumberUnit::share, "1"},
};

std::span<const Named<NumberUnit>> names_of(NumberUnit /*any*/) { return unit_names; }

const char* name_of(NumberUnit unit) { return name_in(unit_names, unit); }

constexpr Named<Change> change_names[] = {
    {Change::none, "none"},
    {Change::slower, "slower"},
    {Change::faster, "faster"},
};

std::span<const Named<Change>> names_of(Change /*any*/) { return change_names; }

const char* name_of(Change change) { return name_in(change_names, change); }

}  // namespace leadline
