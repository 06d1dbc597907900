# SPDX-License-Identifier: Apache-2.0
"""Sentences about faults, as plain text, in the words of `leadline diagnose`: the headline, and each fault."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from leadline.diagnosis import ToldFault
from leadline.model import (
    ComparedClass,
    ComponentKind,
    Diagnosis,
    Fault,
    FaultDirection,
    FindingList,
    Persistence,
    PhaseEvidence,
    ShownPair,
    Slice,
    Symptom,
)
from leadline.text.run import first_few
from leadline.units import bandwidth_text, counted, factor_text, number, time_text

_MOST_NAMED = 3  # faults, in the headline
_MOST_PATTERNS = 8

_DIRECTIONS = {FaultDirection.BOTH: "", FaultDirection.OUT: " when sending", FaultDirection.IN: " when receiving"}

_LISTS = {
    FindingList.ONLY_UNDER_LOAD: "only under load: ",
    FindingList.PASSED: "passed: ",
    FindingList.UNTESTED: "could not be tested: ",
}


def fault_text(told: ToldFault) -> str:
    """What is wrong with which component, as it stands within a sentence: `host node3 is slow when sending`. What is no
    fault has its list before it.
    """
    fault = told.fault
    are_many = not told.is_single and fault.component.kind is not ComponentKind.INSIDE
    verb = "are" if are_many else "is"
    if fault.is_note:
        return f"{fault.name} {verb} farther from the network"
    if fault.phases:
        verb = _verb(fault, fault.phases, are_many=are_many)
        return f"{_LISTS.get(fault.listed_as, '')}{fault.name} {verb} slowly"
    direction = "" if fault.component.has_two_ends else _DIRECTIONS[fault.direction]
    return f"{_LISTS.get(fault.listed_as, '')}{fault.name} {verb} {fault.symptom.value}{direction}"


def how_much(told: ToldFault) -> str:
    """By how much, with the interval: `3.01 times as long as usual (2.94 to 3.08)`; of alike ones from the least to the
    greatest.
    """
    fault = told.fault
    if fault.phases:
        where = f", {fault.phases.where}" if fault.phases.where else ""
        others = "comparable ones are" if fault.component.kind is ComponentKind.TARGET else "comparable ones do"
        shares = replace(fault, ratio=1 / fault.ratio, ratio_low=1 / fault.ratio_high, ratio_high=1 / fault.ratio_low)
        share = _times(replace(told, fault=shares), f"of what {others}")
        least = "" if told.is_single else "at least "
        return f"at {share}, in {least}{fault.phases.num_slow} of {fault.phases.num_phases} phases{where}"
    if fault.is_note:
        return _times(told, "times the time")
    if fault.symptom is Symptom.UNSTEADY:
        return f"means of {_times(told, 'times the usual share of the median')}"
    return _times(told, "times as long as usual")


def ratios_of(told: ToldFault) -> str:
    """`3.01`, of alike ones `2.94 to 3.08`."""
    low, high = factor_text(told.fault.ratio_low), factor_text(told.fault.ratio_high)
    if told.is_single:
        return factor_text(told.fault.ratio)
    return low if low == high else f"{low} to {high}"


def _times(told: ToldFault, what: str) -> str:
    interval = (
        f" ({factor_text(told.fault.ratio_low)} to {factor_text(told.fault.ratio_high)})" if told.is_single else ""
    )
    return f"{ratios_of(told)} {what}{interval}"


def _moves_bytes(phases: PhaseEvidence) -> bool:
    return phases.operation in ("write", "read")


def _verb(fault: Fault, phases: PhaseEvidence, *, are_many: bool = False) -> str:
    is_target = fault.component.kind is ComponentKind.TARGET
    if not _moves_bytes(phases):
        return f"{'serves' if is_target else 'do' if are_many else 'does'} {phases.operation}"
    if are_many:
        return phases.operation
    if is_target:
        return "is written" if phases.operation == "write" else "is read"
    return f"carries {phases.operation}s" if fault.component.kind is ComponentKind.UPLINK else f"{phases.operation}s"


def seen_in_phases(phases: PhaseEvidence) -> str:
    """The evidence of a file test: `a rank moves 25.0 MiB/s while it is in calls, instead of 100 MiB/s`."""
    both = (phases.bytes_per_s, phases.usual_bytes_per_s)
    if not _moves_bytes(phases):
        return f"a rank does {' a second while it is in calls, instead of '.join(number(rate, 3) for rate in both)}"
    rates = (bandwidth_text(rate, 3) for rate in both)
    return f"a rank moves {' while it is in calls, instead of '.join(rates)}"


def cost_in_phases(phases: PhaseEvidence) -> str:
    """What it costs; empty where that is not known."""
    if not phases.time_share > 0:
        return ""
    return f"{number(100 * phases.time_share, 2)} % of the time of these phases, in which the others wait for it"


def fault_sentence(told: ToldFault) -> str:
    """Both, and in how many slices, as a sentence with its capital and its end."""
    return f"{as_sentence(fault_text(told))}: {how_much(told)}{where_found(told)}."


def as_sentence(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]


def shown_pair(pair: ShownPair, symptom: Symptom) -> str:
    """What a pair shows of the fault: `22.6 µs instead of 7.53 µs`."""
    if symptom is Symptom.UNSTEADY:
        return f"mean {factor_text(pair.measured)} times its median"
    return f"{time_text(pair.measured)} instead of {time_text(pair.expected)}"


def measured_again(fault: Fault) -> str:
    """What measuring it again said; empty where it was not measured again."""
    is_known = math.isfinite(fault.ratio_alone)  # not of alike ones
    alone = factor_text(fault.ratio_alone) if is_known else ""
    return {
        Persistence.NOT_RETESTED: "",
        Persistence.PERSISTENT: f"alone {f'{alone} times ' if is_known else ''}as long, so it is also there without "
        "load",
        Persistence.ONLY_UNDER_LOAD: f"alone {f'{alone} times' if is_known else 'as usual'}, so it appears only under "
        "load",
        Persistence.TRANSIENT: "as usual; it did not appear again",
    }[fault.persistence]


def where_found(told: ToldFault) -> str:
    """In how many sizes and repeats, where there are several: ` (in 2 of 8 sizes and repeats)`."""
    found = [one.num_found for one in told.places]
    if told.fault.phases:
        return " (writing and reading; told is the worse)" if max(found) > 1 else ""
    what = "topologies and sizes" if told.part.pattern else "sizes and repeats"
    num_slices = told.places[0].num_slices
    num_found = f"{min(found)} to {max(found)}" if min(found) < max(found) else f"{min(found)}"
    return f" (in {num_found} of {num_slices} {what})" if num_slices > 1 else ""


def verdict(found: Mapping[Slice, Diagnosis], faults: Sequence[ToldFault]) -> str:
    """The one line above the list of the faults, or that there is none."""
    untested = untested_sentences(found)
    if untested and all(one.untested for one in found.values()):
        return " ".join(untested)
    if not any(one.num_measured for one in found.values()):
        return "Nothing was measured."
    num_faults = sum(one.fault.counts for one in faults) + len(slower_than_profile(found))
    if num_faults:
        return f"{counted(num_faults, 'fault')} found{', the costliest first' if num_faults > 1 else ''}."
    num_untested = sum(one.fault.listed_as is FindingList.UNTESTED for one in faults)
    if num_untested:
        return f"No fault found, but {counted(num_untested, 'suspect')} could not be tested."
    threshold = max(one.threshold for one in found.values())
    share = number(100 * threshold, 2)
    return f"No fault found: nothing is {share} % slower than comparable components by more than chance."


def untested_sentences(found: Mapping[Slice, Diagnosis]) -> list[str]:
    """By reason the patterns by which nobody could be judged, whatever the size: `star2, ring2 could not be tested:
    ...`.
    """
    tested = {part.pattern for part, one in found.items() if not one.untested}
    names: dict[str, dict[str, None]] = {}
    for part, one in found.items():
        if one.untested and part.pattern not in tested:
            names.setdefault(one.untested, {})[part.pattern] = None
    return [
        as_sentence(f"{first_few(tuple(of_reason), _MOST_PATTERNS)} could not be tested: {why}.".lstrip())
        for why, of_reason in names.items()
    ]


def slower_than_profile(found: Mapping[Slice, Diagnosis]) -> list[str]:
    """A sentence for each class of pairs that reaches too little of what the site profile says, of the slice where it
    is the slowest.
    """
    worst: dict[str, ComparedClass] = {}
    for diagnosis in found.values():
        for one in diagnosis.slower_than_profile:
            if one.name not in worst or one.ratio > worst[one.name].ratio:
                worst[one.name] = one
    return [_class_sentence(one) for one in worst.values()]


def as_in_profile(found: Mapping[Slice, Diagnosis]) -> list[str]:
    """One sentence with the classes that are no slower than the site profile says, in any slice, and the greatest of
    their ratios; empty where there are none.
    """
    slower = {one.name for diagnosis in found.values() for one in diagnosis.slower_than_profile}
    greatest: dict[str, float] = {}
    for diagnosis in found.values():
        for one in diagnosis.profile:
            if one.name not in slower:
                greatest[one.name] = max(greatest.get(one.name, 0), one.ratio)
    told = ", ".join(f"{name} x{factor_text(ratio)}" for name, ratio in greatest.items())
    return [f"Times beside the site profile: {told}."] if told else []


def _class_sentence(one: ComparedClass) -> str:
    pairs = "pairs between hosts" if one.name == "between hosts" else f"pairs '{one.name}'"
    interval = (
        f" ({factor_text(one.ratio_low)} to {factor_text(one.ratio_high)})" if one.ratio_low < one.ratio_high else ""
    )
    times = f"{time_text(one.after_ns)} instead of {time_text(one.before_ns)}"
    return f"All {pairs} take {factor_text(one.ratio)} times as long as in the site profile{interval}: {times}."


def headline_of(found: Mapping[Slice, Diagnosis], faults: Sequence[ToldFault]) -> list[str]:
    """The verdict with the worst faults in it, for where no list follows."""
    real = [one for one in faults if one.fault.counts]
    classes = slower_than_profile(found)
    if len(real) < 2:
        return [*classes, *map(fault_sentence, real)] or [verdict(found, faults)]
    named = [f"{fault_text(one)}, {ratios_of(one)} times as usual" for one in real[:_MOST_NAMED]]
    if len(real) > _MOST_NAMED:
        named.append(f"{len(real) - _MOST_NAMED:,} more")
    return [*classes, f"{counted(len(real), 'fault')} found: {'; '.join(named[:-1])}; and {named[-1]}."]
