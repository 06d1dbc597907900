# SPDX-License-Identifier: Apache-2.0
"""The faults of all slices of a result, each component once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leadline.model import Diagnosis, Fault, FindingList, Slice

_LISTS = list(FindingList)


@dataclass(frozen=True)
class FoundFault:
    """A fault as the slice shows it in which it is clearest."""

    fault: Fault
    part: Slice
    num_found: int  # slices that show it
    num_slices: int  # that have a diagnosis


def found_faults(found: Mapping[Slice, Diagnosis], parts: Sequence[Slice]) -> list[FoundFault]:
    """Of these slices: those first that most slices show, of these the worst ones; what is no fault but how the
    machine is built, last. A component that is slow and one that is unsteady are two.
    """
    shown = [(part, found[part]) for part in parts if part in found]
    seen: dict[object, list[tuple[int, Slice, Fault]]] = {}
    for part, diagnosis in shown:
        for position, fault in enumerate(diagnosis.faults):
            seen.setdefault((fault.component, fault.symptom, fault.listed_as), []).append((position, part, fault))
    merged = []
    for entries in seen.values():
        _, part, clearest = max(entries, key=lambda entry: entry[2].ratio_low)
        worst = min(position for position, _, _ in entries)
        merged.append((worst, FoundFault(clearest, part, len(entries), len(shown))))
    merged.sort(key=lambda one: (_LISTS.index(one[1].fault.listed_as), -one[1].num_found, one[0]))
    return [one for _, one in merged]
