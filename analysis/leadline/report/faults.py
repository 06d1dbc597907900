# SPDX-License-Identifier: Apache-2.0
"""The faults of a result as a report shows them, in words with their evidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from leadline.diagnosis import Diagnosed, ToldFault, told_faults
from leadline.model import Fault, FindingList, Slice
from leadline.text import diagnosis as diagnosis_text

MOST_SHOWN = 12  # in full
_MOST_LISTED = 200  # of the others

Row = dict[str, Any]


def fault_rows(diagnosed: Diagnosed, parts: Sequence[Slice], row_of: Callable[[ToldFault], Row]) -> Row:
    """What stands below the verdict: `shown` in full, `others` in a line each, and what could not be decided."""
    if not diagnosed.found:
        return {}
    found = told_faults(diagnosed, parts)
    said = [diagnosed.found[part] for part in parts if part in diagnosed.found]
    others = found[MOST_SHOWN:]
    is_any_tested = any(not one.untested for one in said)  # else the headline says it
    notes = diagnosis_text.untested_sentences(diagnosed.found) if is_any_tested else []
    return {
        "shown": [row_of(one) for one in found[:MOST_SHOWN]],
        "others": [diagnosis_text.fault_sentence(one) for one in others[:_MOST_LISTED]],
        "num_left_out": max(len(others) - _MOST_LISTED, 0),
        "notes": [*notes, *dict.fromkeys(_sentence(note) for diagnosis in said for note in diagnosis.notes)],
        "topology": next((diagnosis.topology for diagnosis in said if diagnosis.topology), ""),
    }


def _sentence(note: str) -> str:
    return diagnosis_text.as_sentence(note).rstrip(".") + "."


def headline_colour(faults: Iterable[Fault], *, is_alarming: bool = False, is_known: bool = True) -> str:
    """Of the verdict: alarming, fine, or neither where not all is known or a suspect could not be tested."""
    lists = {one.listed_as for one in faults}
    if is_alarming or FindingList.PERSISTENT in lists:
        return "alarming"
    return "fine" if is_known and FindingList.UNTESTED not in lists else ""


def fault_row(one: ToldFault, clearest: str, part: int = 0) -> Row:
    """One of them; `clearest` names the slice that shows it best, whose number is `part`. No pairs, no picture."""
    fault = one.fault
    return {
        "title": diagnosis_text.as_sentence(diagnosis_text.fault_text(one)),
        "how_much": diagnosis_text.how_much(one),
        "where": diagnosis_text.where_found(one), "counts": fault.counts,
        "num_pairs": diagnosis_text.seen_in_phases(fault.phases)
        if fault.phases
        else f"{fault.num_pairs:,} ordered pair{'s' if fault.num_pairs != 1 else ''}",
        "cost": diagnosis_text.cost_in_phases(fault.phases) if fault.phases else "",
        "clearest": clearest, "ruled_out": list(fault.ruled_out), "again": diagnosis_text.measured_again(fault),
        "advice": fault.advice, "part": part, "pairs": [], "target": {}, "strip": None,
    }  # fmt: skip
