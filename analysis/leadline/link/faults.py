# SPDX-License-Identifier: Apache-2.0
"""The faults of a link test as its page shows them, each with a picture of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leadline.diagnosis import Diagnosed, ToldFault
from leadline.link import text as link_text
from leadline.link.analysis import SliceAnalysis
from leadline.link.result import LinkResult
from leadline.link.strip import WIDTH, strip_of
from leadline.model import ComponentKind, Fault, FaultDirection, Slice
from leadline.report.faults import Row, fault_row, fault_rows
from leadline.stats.colour_range import ColourRange
from leadline.text import diagnosis as diagnosis_text

_MOST_PAIRS = 3


def faults_for_page(
    result: LinkResult, analyses: list[SliceAnalysis], diagnosed: Diagnosed, spans: Mapping[Slice, ColourRange]
) -> Row:
    """What stands below the verdict: `shown` in full, `others` in a line each, and what could not be decided."""
    if not link_text.is_diagnosed(analyses, diagnosed):
        return {}
    parts = [analysis.part for analysis in analyses]
    said = [diagnosed.found[part] for part in parts if part in diagnosed.found]
    return fault_rows(diagnosed, parts, lambda one: _row(result, one, parts, spans)) | {
        "width": WIDTH,
        "threshold": max(diagnosis.threshold for diagnosis in said),
        "false_discovery_rate": max(diagnosis.false_discovery_rate for diagnosis in said),
    }


def _row(result: LinkResult, one: ToldFault, parts: Sequence[Slice], spans: Mapping[Slice, ColourRange]) -> Row:
    fault = one.fault
    clearest = link_text.part_name(result, one.part) if len(parts) > 1 else ""
    return fault_row(one, clearest, parts.index(one.part)) | {
        "pairs": [
            {"from": pair.from_rank, "to": pair.to_rank, "shown": diagnosis_text.shown_pair(pair, fault.symptom)}
            for pair in fault.pairs[:_MOST_PAIRS]
        ],
        "factor": diagnosis_text.ratios_of(one),
        "target": target_of(fault), "strip": strip_of(result, one.part, one.places[0].fault, spans[one.part]),
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
