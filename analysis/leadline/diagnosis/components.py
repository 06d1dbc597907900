# SPDX-License-Identifier: Apache-2.0
"""Which pairs of ranks belong to a component, and which ranks stand at its end; the same as in the engine."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from leadline.model import BoolArray, Component, ComponentKind, FaultDirection, IntArray, RunResult

_GROUPS = (ComponentKind.SWITCH, ComponentKind.UPLINK, ComponentKind.CABLE)


class Ranks:
    """Where the ranks of a result stand."""

    def __init__(self, result: RunResult) -> None:
        """Reads nothing from the file."""
        self.host_of = result.host_index
        self._places = result.ranks

    @cached_property
    def slot_of(self) -> IntArray:
        """The position of each rank among those of its host, int64 [N]."""
        order = np.argsort(self.host_of, kind="stable")
        begin = np.searchsorted(self.host_of[order], self.host_of)
        slot = np.empty_like(order)
        slot[order] = np.arange(order.size)
        return np.asarray(slot - begin)

    @cached_property
    def socket_of(self) -> IntArray:
        """NUMA node of each rank, -1 = unknown, int64 [N]."""
        return np.array([place.numa_node for place in self._places], dtype=np.int64)


def is_known(component: Component) -> bool:
    """Whether it is known which ranks belong to a component: older programs do not say what is below a switch."""
    return component.kind not in _GROUPS or bool(component.hosts)


def end_of(ranks: Ranks, component: Component) -> BoolArray:
    """The ranks at the end of a component that messages leave from, of two ends the first one; bool [N]."""
    if component.kind in _GROUPS:
        return np.asarray(np.isin(ranks.host_of, component.hosts))
    if component.kind is ComponentKind.RAIL:
        return np.asarray(ranks.slot_of == component.first)
    if component.kind is ComponentKind.SOCKET:
        on_host = (ranks.host_of == component.first) | (component.first < 0)
        return np.asarray(on_host & (ranks.socket_of == component.socket))
    if component.kind in (ComponentKind.RANK, ComponentKind.PAIR):
        return np.asarray(np.arange(ranks.host_of.size) == component.first)
    return np.asarray(ranks.host_of == component.first)


def pairs_of(
    ranks: Ranks, component: Component, direction: FaultDirection, from_ranks: IntArray, to_ranks: IntArray
) -> BoolArray:
    """Which of the pairs from some ranks to others belong to the component, bool [from, to]."""
    found = np.zeros((from_ranks.size, to_ranks.size), dtype=bool)
    if direction is not FaultDirection.IN:
        found |= _through(ranks, component, from_ranks, to_ranks)
    if direction is not FaultDirection.OUT:
        found |= _through(ranks, component, to_ranks, from_ranks).T
    return np.asarray(found & (from_ranks[:, None] != to_ranks[None, :]))


def _through(ranks: Ranks, component: Component, from_ranks: IntArray, to_ranks: IntArray) -> BoolArray:
    """One way only: the end named first sends."""
    sends = end_of(ranks, component)
    from_host, to_host = ranks.host_of[from_ranks][:, None], ranks.host_of[to_ranks][None, :]
    receives = np.ones((1, to_ranks.size), dtype=bool)
    if component.kind is ComponentKind.UPLINK:
        receives = ~sends[to_ranks][None, :]
    elif component.kind is ComponentKind.CABLE:
        receives = np.isin(to_host, component.other_hosts)
    elif component.kind is ComponentKind.LINK:
        receives = to_host == component.second
    elif component.kind is ComponentKind.PAIR:
        receives = to_ranks[None, :] == component.second
    elif component.kind is ComponentKind.INSIDE:
        receives = to_host == from_host
    elif component.kind in (ComponentKind.SWITCH, ComponentKind.RAIL, ComponentKind.PORT, ComponentKind.SOCKET):
        receives = to_host != from_host
    return np.asarray(sends[from_ranks][:, None] & receives)
