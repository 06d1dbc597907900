# SPDX-License-Identifier: Apache-2.0
"""From the JSON of a diagnosis, in a result's summary or from the engine, to what it says; each part is checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, TypeVar

from leadline.model import (
    Change,
    ComparedClass,
    Component,
    ComponentKind,
    DiagnosedClass,
    Diagnosis,
    Fault,
    FaultDirection,
    FindingList,
    FoundFault,
    Persistence,
    PhaseEvidence,
    ShownPair,
    Slice,
    Symptom,
)
from leadline.readers.contents import BAD_VALUES, DamagedError, of_slices, real_of, reason_of

Word = TypeVar("Word", bound=Enum)

_OF_RANKS = (ComponentKind.RANK, ComponentKind.PAIR)
_OF_HOSTS = (ComponentKind.HOST, ComponentKind.PORT, ComponentKind.INSIDE, ComponentKind.SOCKET, ComponentKind.LINK)
_OF_TWO_ENDS = (ComponentKind.CABLE, ComponentKind.LINK, ComponentKind.PAIR)


def diagnosis_of(
    summary: Mapping[str, object] | None, slices: tuple[Slice, ...], num_ranks: int, num_hosts: int
) -> dict[Slice, Diagnosis]:
    """The diagnoses of the slices that have one. Keys that are not known are left alone: they are of newer programs."""
    try:
        entries = list(of_slices(summary, slices, "diagnosis"))
        return {part: _diagnosis(entry, num_ranks, num_hosts) for part, entry in entries}
    except DamagedError:
        raise
    except BAD_VALUES as error:
        raise DamagedError(f"the diagnosis is none: {reason_of(error)}") from error


def diagnoses_of(head: Mapping[str, Any], slices: tuple[Slice, ...]) -> dict[str, Any]:
    """`diagnoses` and `faults` of all tests but the link test, whose summaries list them by themselves; `head`: of the
    result.
    """
    summary, ranks = head["summary"], head["ranks"]
    found = {"slices": summary.get("diagnoses")} if summary else None
    diagnoses = diagnosis_of(found, slices, len(ranks), len({place.host for place in ranks}))
    return {"diagnoses": diagnoses, "faults": faults_of(summary, slices, diagnoses)}


def faults_of(
    document: Mapping[str, Any] | None, slices: tuple[Slice, ...], diagnoses: Mapping[Slice, Diagnosis]
) -> tuple[FoundFault, ...] | None:
    """The faults of all slices as the program has joined them; None where the document is of an older one."""
    if document is None or "faults" not in document:
        return None
    known = {(part.repeat, part.size_index, part.pattern): part for part in slices}
    has_patterns = any(part.pattern for part in slices)
    faults = []
    try:
        for one in document["faults"]:
            pattern = str(one["pattern"] or "") if has_patterns else ""
            part = known[int(one["repeat"]), int(one["size_index"]), pattern]
            index, listed = int(one["fault_index"]), diagnoses[part].faults
            fault = listed[_within(index, len(listed), "fault")]
            found = FoundFault(fault, part, int(one["num_found"]), int(one["num_slices"]))
            if "group_name" in one and one["group_name"] != one["name"]:
                group_index = _within(int(one["group_index"]), len(document["faults"]), "fault")
                found = replace(found, group_name=str(one["group_name"]), group_index=group_index)
            faults.append(found)
    except DamagedError:
        raise
    except BAD_VALUES as error:
        raise DamagedError(f"the list of faults is none: {reason_of(error)}") from error
    return tuple(faults)


def _diagnosis(entry: Mapping[str, Any], num_ranks: int, num_hosts: int) -> Diagnosis:
    num_faults = len(entry["faults"])
    return Diagnosis(
        threshold=float(entry["threshold"]),
        false_discovery_rate=float(entry["false_discovery_rate"]),
        topology=str(entry["topology"] or ""),
        num_pairs=int(entry["num_pairs"]),
        num_measured=int(entry["num_measured"]),
        classes=tuple(
            DiagnosedClass(
                str(one["name"]), int(one["num_pairs"]), real_of(one["time_ns_median"]), real_of(one["spread"])
            )
            for one in entry["classes"]
        ),
        faults=tuple(fault_of(one, num_ranks, num_hosts) for one in entry["faults"]),
        notes=texts_of(entry["notes"]),
        profile=tuple(compared_class_of(one) for one in entry.get("profile", ())),
        untested=str(entry.get("untested") or ""),
        alike=tuple(
            (str(one["name"]), tuple(_within(int(index), num_faults, "fault") for index in one["fault_indices"]))
            for one in entry.get("alike_faults", ())
        ),
    )


def compared_class_of(entry: Mapping[str, Any]) -> ComparedClass:
    """A class of pairs beside an earlier result or a site profile. BAD_VALUES or DamagedError for what cannot be."""
    low, high = entry["ratio_interval"]
    return ComparedClass(
        name=str(entry["name"]),
        num_pairs=int(entry["num_pairs"]),
        before_ns=real_of(entry["before_ns_median"]),
        after_ns=real_of(entry["after_ns_median"]),
        ratio=real_of(entry["ratio"]),
        ratio_low=real_of(low),
        ratio_high=real_of(high),
        change=word_of(Change, entry["change"]),
    )


def fault_of(entry: Mapping[str, Any], num_ranks: int, num_hosts: int) -> Fault:
    """A component at fault, or one that changed. BAD_VALUES or DamagedError for what cannot be."""
    low, high = entry["ratio_interval"]
    return Fault(
        component=_component(entry, num_ranks, num_hosts),
        name=str(entry["name"]),
        symptom=word_of(Symptom, entry["symptom"]),
        direction=word_of(FaultDirection, entry["direction"]),
        ratio=_ratio(entry["ratio"]),
        ratio_low=real_of(low),
        ratio_high=real_of(high),
        p_value=real_of(entry["p_value"]),
        num_pairs=int(entry["num_pairs"]),
        pairs=tuple(_shown(one, num_ranks) for one in entry["pairs"]),
        ruled_out=texts_of(entry["ruled_out"]),
        advice=str(entry["advice"]),
        persistence=word_of(Persistence, entry["persistence"]),
        ratio_alone=real_of(entry["ratio_alone"]),
        is_note=bool(entry["is_note"]),
        listed_as=_list_of(entry),
        phases=_phases_of(entry, num_ranks) if entry.get("phases") else None,
        host_names=texts_of([*entry.get("host_names", ()), *entry.get("other_host_names", ())]),
        ranks=tuple(
            _within(int(rank), num_ranks, "rank") for name in ("ranks", "other_ranks") for rank in entry.get(name, ())
        ),
        share=real_of(entry.get("share")),
    )


def _phases_of(entry: Mapping[str, Any], num_ranks: int) -> PhaseEvidence:
    told = entry["phases"]
    return PhaseEvidence(
        operation=str(told["operation"]),
        num_phases=int(told["num_phases"]),
        num_slow=int(told["num_slow"]),
        bytes_per_s=real_of(told["bytes_per_s"]),
        usual_bytes_per_s=real_of(told["usual_bytes_per_s"]),
        where=str(told["where"]),
        ranks=tuple(_within(int(rank), num_ranks, "rank") for rank in entry["ranks"]),
        time_share=real_of(entry["time_share"]),
    )


def _list_of(entry: Mapping[str, Any]) -> FindingList:
    """Documents of earlier versions have no list."""
    if "list" in entry:
        return word_of(FindingList, entry["list"])
    if entry["is_note"]:
        return FindingList.NOTE
    return {
        Persistence.TRANSIENT: FindingList.PASSED,
        Persistence.ONLY_UNDER_LOAD: FindingList.ONLY_UNDER_LOAD,
    }.get(word_of(Persistence, entry["persistence"]), FindingList.PERSISTENT)


def _component(entry: Mapping[str, Any], num_ranks: int, num_hosts: int) -> Component:
    numbers = entry["component"]
    kind = word_of(ComponentKind, entry["kind"])
    level, first, second, socket = (
        -1 if numbers[name] is None else int(numbers[name]) for name in ("level", "first", "second", "socket")
    )
    hosts, other_hosts = (
        tuple(_within(int(host), num_hosts, "host") for host in numbers.get(name) or ())
        for name in ("hosts", "other_hosts")
    )
    limit, what = (num_ranks, "rank") if kind in _OF_RANKS else (num_hosts, "host")
    if kind in _OF_RANKS or (kind in _OF_HOSTS and not (kind is ComponentKind.SOCKET and first < 0)):
        _within(first, limit, what)
    # Of a cable that forwarding tables tell only the names of its switches are there.
    if kind in _OF_TWO_ENDS and not (kind is ComponentKind.CABLE and second < 0):
        _within(second, limit if kind is not ComponentKind.CABLE else num_hosts, what)
    return Component(kind, level, first, second, socket, hosts, other_hosts)


def _shown(entry: Mapping[str, Any], num_ranks: int) -> ShownPair:
    from_rank, to_rank = (_within(int(entry[name]), num_ranks, "rank") for name in ("from", "to"))
    return ShownPair(from_rank, to_rank, real_of(entry["measured"]), real_of(entry["expected"]))


def _within(number: int, limit: int, what: str) -> int:
    if not 0 <= number < limit:
        raise DamagedError(f"the diagnosis names the {what} {number} of {limit}")
    return number


def _ratio(value: Any) -> float:
    ratio = float(value)
    if not 0 < ratio < math.inf:
        raise DamagedError(f"the diagnosis has the ratio {ratio}")
    return ratio


def word_of(kind: type[Word], word: Any) -> Word:
    """One of the words of that kind."""
    try:
        return kind(word)
    except ValueError:
        raise DamagedError(f"the diagnosis has the {kind.__name__} '{word}', which is none that is known") from None


def texts_of(values: Any) -> tuple[str, ...]:
    """A list of texts."""
    if not isinstance(values, list):
        raise DamagedError("the diagnosis has no list where one belongs")
    return tuple(str(value) for value in values)
