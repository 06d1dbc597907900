# SPDX-License-Identifier: Apache-2.0
"""The faults of a result as a report shows them: in words, each with its evidence and a picture of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leadline.analyse import SliceAnalysis
from leadline.diagnosis import Diagnosed, FoundFault, found_faults
from leadline.model import ComponentKind, Fault, FaultDirection, LinkResult, Slice
from leadline.report.strip import WIDTH, strip_of
from leadline.stats.colour_range import ColourRange
from leadline.text import diagnosis as diagnosis_text
from leadline.text import link as link_text
from leadline.units import bytes_text

MOST_SHOWN = 12  # with their pictures
_MOST_LISTED = 200  # of the others
_MOST_PAIRS = 3

Row = dict[str, Any]


def faults_for_page(
    result: LinkResult, analyses: list[SliceAnalysis], diagnosed: Diagnosed, spans: Mapping[Slice, ColourRange]
) -> Row:
    """What stands below the verdict: `shown` in full, `others` in a line each, and what could not be decided."""
    if not link_text.is_diagnosed(analyses, diagnosed):
        return {}
    found = link_text.faults_of(analyses, diagnosed)
    parts = [analysis.part for analysis in analyses]
    said = [diagnosed.found[part] for part in parts if part in diagnosed.found]
    others = found[MOST_SHOWN:]
    return {
        "shown": [_row_with_strip(result, one, parts, spans) for one in found[:MOST_SHOWN]],
        "others": [sentence_of(one) for one in others[:_MOST_LISTED]],
        "num_left_out": max(len(others) - _MOST_LISTED, 0),
        "notes": list(dict.fromkeys(note for diagnosis in said for note in diagnosis.notes)),
        "topology": next((diagnosis.topology for diagnosis in said if diagnosis.topology), ""),
        "width": WIDTH,
        "threshold": max(diagnosis.threshold for diagnosis in said),
        "false_discovery_rate": max(diagnosis.false_discovery_rate for diagnosis in said),
    }


def faults_without_matrix(diagnosed: Diagnosed, parts: Sequence[Slice]) -> Row:
    """The same for results that have no matrix, of parts that are message sizes."""
    if not diagnosed.found:
        return {}
    found = found_faults(diagnosed.found, parts)
    said = [diagnosed.found[part] for part in parts if part in diagnosed.found]
    others = found[MOST_SHOWN:]
    return {
        "shown": [
            _row(one, bytes_text(one.part.message_size_bytes) if len(parts) > 1 else "", 0)
            for one in found[:MOST_SHOWN]
        ],
        "others": [sentence_of(one) for one in others[:_MOST_LISTED]],
        "num_left_out": max(len(others) - _MOST_LISTED, 0),
        "notes": list(dict.fromkeys(note for diagnosis in said for note in diagnosis.notes)),
        "topology": next((diagnosis.topology for diagnosis in said if diagnosis.topology), ""),
    }


def sentence_of(one: FoundFault) -> str:
    """What is wrong, by how much, and in how many slices."""
    return diagnosis_text.fault_sentence(one.fault).removesuffix(".") + f"{diagnosis_text.where_found(one)}."


def _row(one: FoundFault, clearest: str, part: int) -> Row:
    fault = one.fault
    return {
        "title": diagnosis_text.as_sentence(diagnosis_text.fault_text(fault)),
        "how_much": diagnosis_text.how_much(fault),
        "where": diagnosis_text.where_found(one), "counts": fault.counts,
        "num_pairs": f"{fault.num_pairs:,} ordered pair{'s' if fault.num_pairs != 1 else ''}",
        "clearest": clearest, "ruled_out": list(fault.ruled_out), "again": diagnosis_text.measured_again(fault),
        "advice": fault.advice, "part": part, "pairs": [], "target": {}, "strip": None,
    }  # fmt: skip


def _row_with_strip(
    result: LinkResult, one: FoundFault, parts: Sequence[Slice], spans: Mapping[Slice, ColourRange]
) -> Row:
    fault = one.fault
    clearest = link_text.part_name(result, one.part) if len(parts) > 1 else ""
    return _row(one, clearest, parts.index(one.part)) | {
        "pairs": [
            {"from": pair.from_rank, "to": pair.to_rank, "shown": diagnosis_text.shown_pair(pair, fault.symptom)}
            for pair in fault.pairs[:_MOST_PAIRS]
        ],
        "target": target_of(fault), "strip": strip_of(result, one.part, fault, spans[one.part]),
    }  # fmt: skip


def target_of(fault: Fault) -> dict[str, int]:
    """Where its name leads in the matrix, as attributes that the page's script knows; empty where it has no one
    position there.
    """
    component = fault.component
    first, second = (
        (component.second, component.first)
        if fault.direction is FaultDirection.IN
        else (component.first, component.second)
    )
    if (
        component.kind in (ComponentKind.HOST, ComponentKind.PORT, ComponentKind.INSIDE, ComponentKind.SOCKET)
        and component.first >= 0
    ):
        return {"data-host": component.first}
    if component.kind is ComponentKind.RANK:
        return {"data-rank": component.first}
    if component.kind is ComponentKind.LINK:
        return {"data-from-host": first, "data-to-host": second}
    if component.kind is ComponentKind.PAIR:
        return {"data-from": first, "data-to": second}
    return {}
