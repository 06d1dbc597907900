# SPDX-License-Identifier: Apache-2.0
"""The diagnosis of a result as a report has it: from the file, from the program, or absent with a reason. The faults
of several slices are joined by the program alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leadline.error import LeadlineError
from leadline.model import Diagnosis, Fault, FindingList, FoundFault, JudgedResult, Slice, ToldFault
from leadline.program import Ask, answer, unusable
from leadline.readers.contents import DamagedError
from leadline.readers.diagnosis import diagnosis_of, faults_of

# A guess that errs on the side of slow disks: it reads a matrix twice, measured at 1e8 pairs a second from memory.
_DEADLINE_S = 60.0
_PAIRS_A_SECOND = 4e6
_LISTS = list(FindingList)


@dataclass(frozen=True)
class Diagnosed:
    """What is said of each slice, and of all of them together. Where a slice has none, `absent` says why."""

    found: Mapping[Slice, Diagnosis]
    absent: str = ""
    faults: tuple[FoundFault, ...] | None = None  # None: nobody has joined those of several slices


def ask(
    result: JudgedResult, topology: str | None = None, threshold: float | None = None,
    false_discovery_rate: float | None = None, parts: Sequence[Slice] = (), routes: str | None = None,
) -> Diagnosed:  # fmt: skip
    """Its diagnoses of all slices, or where these have one size or one repeat in common of no others than such."""
    words = ["diagnose", os.fspath(result.path.absolute()), "--json"]
    words += ["--topology", topology] if topology is not None else []
    words += ["--routes", os.path.abspath(routes)] if routes is not None else []  # noqa: PTH100 - not resolved
    words += ["--threshold", repr(threshold)] if threshold is not None else []
    words += ["--false-discovery-rate", repr(false_discovery_rate)] if false_discovery_rate is not None else []
    words += _only(result, parts)
    deadline_s = _DEADLINE_S + len(result.slices) * result.num_ranks**2 / _PAIRS_A_SECOND
    program, document = answer(Ask(words, "diagnosis", "cannot diagnose the result", deadline_s))
    try:
        found = diagnosis_of(document, result.slices, result.num_ranks, len(result.hosts))
        return Diagnosed(found, faults=faults_of(document, result.slices, found))
    except DamagedError as error:
        raise unusable(program, error) from error


def _only(result: JudgedResult, parts: Sequence[Slice]) -> list[str]:
    sizes, repeats = ({getattr(part, name) for part in parts} for name in ("message_size_bytes", "repeat"))
    words = ["--message-size", str(*sizes)] if len(sizes) == 1 and len(result.message_sizes_bytes) > 1 else []
    is_one = len(repeats) == 1 and len({part.repeat for part in result.slices}) > 1
    return words + (["--repeat", str(next(iter(repeats)) + 1)] if is_one else [])


def diagnosed_in(result: JudgedResult) -> Diagnosed:
    """What the file has, without the program."""
    if not result.diagnoses:
        return Diagnosed({}, "the result file has none")
    if _is_joined(result, result.slices):
        return Diagnosed(result.diagnoses, faults=result.faults)
    return Diagnosed({}, "the result file is of an older version and has no list of the faults of all sizes")


def diagnosed(
    result: JudgedResult, parts: Sequence[Slice], topology: str | None = None, routes: str | None = None
) -> Diagnosed:
    """What the file has of these slices; where it has not all, has no list of the faults of these together, or where a
    topology is given now, the program's answer. That it cannot answer is a reason, but an error where its user names a
    topology.
    """
    if result.num_ranks < 2:
        return diagnosed_in(result)
    if topology is None and all(part in result.diagnoses for part in parts) and _is_joined(result, parts):
        return Diagnosed(result.diagnoses, faults=result.faults)
    # As the run was judged, where it was.
    of_file = next(iter(result.diagnoses.values()), None) if topology is None else None
    threshold, rate = (of_file.threshold, of_file.false_discovery_rate) if of_file else (None, None)
    try:
        return _with_profile(result, ask(result, topology, threshold, rate, parts, routes))
    except LeadlineError as error:
        if topology is not None:
            raise
        why = error.why or str(error).removesuffix(".")
        if result.diagnoses and _is_joined(result, parts):
            return Diagnosed(result.diagnoses, why, result.faults)
        told = diagnosed_in(result).absent or "the result file has none of these sizes together"
        return Diagnosed({}, f"{told}, and {why}")


def _is_joined(result: JudgedResult, parts: Sequence[Slice]) -> bool:
    """Whether the faults of these slices are known as one list: by the file, or since only one slice shows any."""
    with_faults = {part for part, one in result.diagnoses.items() if one.faults}
    shown = with_faults.intersection(parts)
    return len(shown) < 2 or (result.faults is not None and shown == with_faults)


def _with_profile(result: JudgedResult, said: Diagnosed) -> Diagnosed:
    """The program is asked without the site profile that the run was judged by: what the file has of it stays."""
    of_file = result.diagnoses
    found = {
        part: replace(one, profile=of_file[part].profile) if part in of_file else one
        for part, one in said.found.items()
    }
    return replace(said, found=found)


def found_faults(diagnosed: Diagnosed, parts: Sequence[Slice]) -> list[FoundFault]:
    """The faults of these slices in the order of the program, those of one component and symptom as one."""
    judged = [part for part in parts if part in diagnosed.found and not diagnosed.found[part].untested]
    shown = [part for part in judged if diagnosed.found[part].faults]
    if len(shown) < 2:
        faults = [one for part in shown for one in _faults_of(diagnosed.found[part], part, len(judged))]
        return sorted(faults, key=lambda one: _LISTS.index(one.fault.listed_as))
    if diagnosed.faults is None:
        raise LeadlineError("the program leadline is older than this report: it does not join the faults of all sizes")
    return [one for one in diagnosed.faults if one.part in judged]


def _faults_of(diagnosis: Diagnosis, part: Slice, num_slices: int) -> list[FoundFault]:
    groups = {index: (name, indices[0]) for name, indices in diagnosis.alike for index in indices}
    return [
        FoundFault(fault, part, 1, num_slices, *groups.get(index, ("", -1)))
        for index, fault in enumerate(diagnosis.faults)
    ]


def told_faults(diagnosed: Diagnosed, parts: Sequence[Slice]) -> list[ToldFault]:
    """The faults of these slices, those that the program tells as one joined, in the order of the first of each."""
    groups: dict[tuple[str, int], list[FoundFault]] = {}
    for index, one in enumerate(found_faults(diagnosed, parts)):
        key = (one.group_name, one.group_index) if one.group_name else ("", index)
        groups.setdefault(key, []).append(one)
    return [ToldFault(_joined(places), tuple(places)) for places in groups.values()]


def _joined(places: Sequence[FoundFault]) -> Fault:
    """What all of them have in common; of what they show their sum, the pairs those of each that show it best."""
    faults = [one.fault for one in places]
    first = faults[0]
    if len(faults) == 1:
        return first
    phases = [one.phases for one in faults if one.phases]
    where = phases[0].where if phases and len({one.where for one in phases}) == 1 else ""
    return replace(
        first,
        name=places[0].group_name,
        ratio_low=min(one.ratio for one in faults), ratio_high=max(one.ratio for one in faults),
        p_value=max(one.p_value for one in faults), num_pairs=sum(one.num_pairs for one in faults),
        pairs=tuple(one.pairs[0] for one in faults if one.pairs),
        ruled_out=tuple(text for text in first.ruled_out if all(text in one.ruled_out for one in faults)),
        ratio_alone=math.nan,
        phases=replace(phases[0], num_slow=min(one.num_slow for one in phases), where=where, time_share=math.nan)
        if phases else None,
        host_names=tuple(dict.fromkeys(name for one in faults for name in one.host_names)),
        ranks=tuple(dict.fromkeys(rank for one in faults for rank in one.ranks)),
    )  # fmt: skip
