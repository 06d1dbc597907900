# SPDX-License-Identifier: Apache-2.0
"""What the first screen of a link test's page has beside the matrix: expected times and outlines of findings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.diagnosis import FoundFault
from leadline.link.analysis import SliceAnalysis
from leadline.link.result import LinkResult, PairClass
from leadline.model import (
    BoolArray,
    Component,
    ComponentKind,
    Diagnosis,
    Fault,
    FaultDirection,
    IntArray,
    Slice,
    Statistic,
)
from leadline.scan import AxisName

# One end of the pairs of a block: hosts by their indices, ranks, or everybody (None).
End = dict[str, list[int]] | None


def expected_ns(
    result: LinkResult, analysis: SliceAnalysis, diagnosis: Diagnosis | None
) -> dict[str, list[float | None]]:
    """The expected median time of a pair inside a host, and between hosts: the median of the pairs of its class that
    belong to no fault, of all pairs of the class where all do. In a reduced picture the median of the medians of its
    cells. None where the class has no time.
    """
    picture = analysis.pictures[AxisName.RANKS]
    times = picture.worst if picture.grid.edge == 1 else picture.median
    cell_of = picture.grid.axis.position_of // picture.grid.edge
    hosts = _hosts_of_cells(result.host_index, cell_of, picture.grid.size)
    is_one_host = (hosts[:, None] == hosts[None, :]) & (hosts >= 0)[:, None]
    is_sound = np.isfinite(times) & (times > 0)
    for fault in diagnosis.faults if diagnosis else ():
        for ends in _blocks(fault):
            rows, columns = (_cells_of(end, result.host_index, cell_of, picture.grid.size) for end in ends)
            is_sound &= ~(rows[:, None] & columns[None, :])
    expected: list[float | None] = []
    for name, is_of_class in ((PairClass.SAME_HOST, is_one_host), (PairClass.BETWEEN_HOSTS, ~is_one_host)):
        sound = times[is_of_class & is_sound]
        of_class = analysis.classes[name].median if name in analysis.classes else math.nan
        median = float(np.median(sound)) if sound.size and of_class > 0 else of_class
        expected.append(median if median > 0 else None)
    return {Statistic.MEDIAN.value: expected}


def _hosts_of_cells(host_of: IntArray, cell_of: IntArray, size: int) -> IntArray:
    """The host of each row or column of cells, int64 [G]; -1 where it has several."""
    low, high = np.full(size, host_of.size), np.full(size, -1)
    np.minimum.at(low, cell_of, host_of)
    np.maximum.at(high, cell_of, host_of)
    return np.where(low == high, low, -1)


def _cells_of(end: End, host_of: IntArray, cell_of: IntArray, size: int) -> BoolArray:
    """Whether a row or column of cells has a rank of this end, bool [G]."""
    found = np.full(size, end is None)
    if end is not None:
        ranks = np.array(end["ranks"]) if "ranks" in end else np.flatnonzero(np.isin(host_of, end["hosts"]))
        found[cell_of[ranks]] = True
    return found


def findings_for_script(listed: Sequence[FoundFault], parts: Sequence[Slice]) -> list[dict[str, Any]]:
    """As findings.js reads them."""
    return [
        {
            "number": number,
            "part": None if one.num_found == one.num_slices else parts.index(one.part),
            "is_bad": one.fault.counts,
            "blocks": _blocks(one.fault),
        }
        for number, one in enumerate(listed, 1)
    ]


def _blocks(fault: Fault) -> list[list[End]]:
    """The senders and receivers of its pairs; none where they are no blocks of the matrix, or not known."""
    component = fault.component
    if component.kind is ComponentKind.INSIDE and component.first >= 0:
        host: End = {"hosts": [component.first]}
        return [[host, host]]
    first, second = _ends(component)
    if first is None:
        return []
    ways = []
    if fault.direction is not FaultDirection.IN:
        ways.append([first, second])
    if fault.direction is not FaultDirection.OUT:
        ways.append([second, first])
    return ways


def _ends(component: Component) -> tuple[End, End]:
    """The first end and the other one, None = everybody; the first is None where it is not known."""
    kind, first, second = component.kind, component.first, component.second
    if kind in (ComponentKind.HOST, ComponentKind.PORT, ComponentKind.SOCKET) and first >= 0:
        return {"hosts": [first]}, None
    if kind is ComponentKind.RANK:
        return {"ranks": [first]}, None
    if kind is ComponentKind.LINK:
        return {"hosts": [first]}, {"hosts": [second]}
    if kind is ComponentKind.PAIR:
        return {"ranks": [first]}, {"ranks": [second]}
    if kind in (ComponentKind.SWITCH, ComponentKind.UPLINK) and component.hosts:
        return {"hosts": list(component.hosts)}, None
    if kind is ComponentKind.CABLE and component.hosts and component.other_hosts:
        return {"hosts": list(component.hosts)}, {"hosts": list(component.other_hosts)}
    return None, None
