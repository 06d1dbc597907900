# SPDX-License-Identifier: Apache-2.0
"""The diagnosis of a result as a report has it: from the file, from the program, or absent with a reason; the faults of
all its slices, each component once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leadline.diagnosis.components import is_known
from leadline.error import LeadlineError
from leadline.model import Diagnosis, Fault, FindingList, JudgedResult, Slice
from leadline.program import Ask, answer, unusable
from leadline.readers.contents import DamagedError
from leadline.readers.diagnosis import diagnosis_of

# A guess that errs on the side of slow disks: it reads a matrix twice, measured at 1e8 pairs a second from memory.
_DEADLINE_S = 60.0
_PAIRS_A_SECOND = 4e6
_LISTS = list(FindingList)


def ask(
    result: JudgedResult, topology: str | None = None, threshold: float | None = None,
    false_discovery_rate: float | None = None, parts: Sequence[Slice] = (), routes: str | None = None,
) -> dict[Slice, Diagnosis]:  # fmt: skip
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
        return diagnosis_of(document, result.slices, result.num_ranks, len(result.hosts))
    except DamagedError as error:
        raise unusable(program, error) from error


def _only(result: JudgedResult, parts: Sequence[Slice]) -> list[str]:
    sizes, repeats = ({getattr(part, name) for part in parts} for name in ("message_size_bytes", "repeat"))
    words = ["--message-size", str(*sizes)] if len(sizes) == 1 and len(result.message_sizes_bytes) > 1 else []
    is_one = len(repeats) == 1 and len({part.repeat for part in result.slices}) > 1
    return words + (["--repeat", str(next(iter(repeats)) + 1)] if is_one else [])


@dataclass(frozen=True)
class Diagnosed:
    """What is said of each slice. Where a slice has none, `absent` says why."""

    found: Mapping[Slice, Diagnosis]
    absent: str = ""


def diagnosed_in(result: JudgedResult) -> Diagnosed:
    """What the file has, without the program."""
    return Diagnosed(result.diagnoses, "" if result.diagnoses else "the result file has none")


def diagnosed(
    result: JudgedResult, parts: Sequence[Slice], topology: str | None = None, routes: str | None = None
) -> Diagnosed:
    """What the file has of these slices; where it has not all, or where a topology is given now, the program's answer.
    That it cannot answer is a reason, but an error where its user names a topology.
    """
    if result.num_ranks < 2:
        return diagnosed_in(result)
    if topology is None and all(part in result.diagnoses for part in parts):
        return Diagnosed(result.diagnoses)
    try:
        return Diagnosed(_with_profile(result, ask(result, topology, parts=parts, routes=routes)))
    except LeadlineError as error:
        if topology is not None:
            raise
        why = error.why or str(error).removesuffix(".")
        if result.diagnoses:
            return Diagnosed(result.diagnoses, why)
        return Diagnosed({}, f"the result file has none, and {why}")


def _with_profile(result: JudgedResult, found: Mapping[Slice, Diagnosis]) -> dict[Slice, Diagnosis]:
    """The program is asked without the site profile that the run was judged by: what the file has of it stays."""
    of_file = result.diagnoses
    return {
        part: replace(one, profile=of_file[part].profile) if part in of_file else one for part, one in found.items()
    }


@dataclass(frozen=True)
class FoundFault:
    """A fault as the slice shows it in which it is clearest."""

    fault: Fault
    part: Slice
    num_found: int  # slices that show it
    num_slices: int  # in which somebody was judged


def found_faults(found: Mapping[Slice, Diagnosis], parts: Sequence[Slice]) -> list[FoundFault]:
    """Of these slices: those first that most slices show, of these the worst ones; what is no fault but how the
    machine is built, last. A component that is slow and one that is unsteady are two.
    """
    shown = [(part, found[part]) for part in parts if part in found and not found[part].untested]
    seen: dict[object, list[tuple[int, Slice, Fault]]] = {}
    for part, diagnosis in shown:
        for position, fault in enumerate(diagnosis.faults):
            name = "" if is_known(fault.component) else fault.name  # its numbers do not tell which one
            seen.setdefault((fault.component, name, fault.symptom, fault.listed_as), []).append((position, part, fault))
    merged = []
    for entries in seen.values():
        _, part, clearest = max(entries, key=lambda entry: entry[2].ratio_low)
        worst = min(position for position, _, _ in entries)
        merged.append((worst, FoundFault(clearest, part, len(entries), len(shown))))
    merged.sort(key=lambda one: (_LISTS.index(one[1].fault.listed_as), -one[1].num_found, one[0]))
    return [one for _, one in merged]
