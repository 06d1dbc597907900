# SPDX-License-Identifier: Apache-2.0
"""Which rows and columns of a matrix the pairs of a finding are in, as the scripts of pages read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leadline.diagnosis import ToldFault
from leadline.model import Component, ComponentKind, Fault, FaultDirection, Slice

# One end of the pairs of a block: hosts by their indices, ranks, or everybody (None).
End = dict[str, list[int]] | None


def findings_for_script(listed: Sequence[ToldFault], parts: Sequence[Slice]) -> list[dict[str, Any]]:
    """As findings.js reads them, numbered in the order of the list."""
    return [
        {
            "number": number,
            "part": None if all(place.num_found == place.num_slices for place in one.places) else parts.index(one.part),
            "is_bad": one.fault.counts,
            "blocks": [block for place in one.places for block in blocks_of(place.fault)],
        }
        for number, one in enumerate(listed, 1)
    ]


def blocks_of(fault: Fault) -> list[list[End]]:
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
