# SPDX-License-Identifier: Apache-2.0
"""Which pairs of ranks belong to a place, and which ranks stand at its end; the same as in the engine."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from leadline.model import BoolArray, IntArray, LinkResult, Place, PlaceKind, Way

_GROUPS = (PlaceKind.SWITCH, PlaceKind.UPLINK, PlaceKind.CABLE)


class Ranks:
    """Where the ranks of a result stand."""

    def __init__(self, result: LinkResult) -> None:
        """Reads nothing from the file."""
        self.host_of = result.host_of()
        self._places = result.ranks

    @cached_property
    def slot_of(self) -> IntArray:
        """The place of each rank among those of its host, int64 [N]."""
        order = np.argsort(self.host_of, kind="stable")
        begin = np.searchsorted(self.host_of[order], self.host_of)
        slot = np.empty_like(order)
        slot[order] = np.arange(order.size)
        return np.asarray(slot - begin)

    @cached_property
    def socket_of(self) -> IntArray:
        """NUMA node of each rank, -1 = unknown, int64 [N]."""
        return np.array([place.numa_node for place in self._places], dtype=np.int64)


def is_known(place: Place) -> bool:
    """Whether it can be told which ranks belong to a place: an older program does not say what is below a switch."""
    return place.kind not in _GROUPS or bool(place.hosts)


def end_of(ranks: Ranks, place: Place) -> BoolArray:
    """The ranks at the end of a place that messages leave from, of two ends the first one; bool [N]."""
    if place.kind in _GROUPS:
        return np.asarray(np.isin(ranks.host_of, place.hosts))
    if place.kind is PlaceKind.RAIL:
        return np.asarray(ranks.slot_of == place.first)
    if place.kind is PlaceKind.SOCKET:
        on_host = (ranks.host_of == place.first) | (place.first < 0)
        return np.asarray(on_host & (ranks.socket_of == place.socket))
    if place.kind in (PlaceKind.RANK, PlaceKind.PAIR):
        return np.asarray(np.arange(ranks.host_of.size) == place.first)
    return np.asarray(ranks.host_of == place.first)


def pairs_of(ranks: Ranks, place: Place, way: Way, from_ranks: IntArray, to_ranks: IntArray) -> BoolArray:
    """Which of the pairs from some ranks to others belong to the place, bool [from, to]."""
    found = np.zeros((from_ranks.size, to_ranks.size), dtype=bool)
    if way is not Way.IN:
        found |= _through(ranks, place, from_ranks, to_ranks)
    if way is not Way.OUT:
        found |= _through(ranks, place, to_ranks, from_ranks).T
    return np.asarray(found & (from_ranks[:, None] != to_ranks[None, :]))


def _through(ranks: Ranks, place: Place, from_ranks: IntArray, to_ranks: IntArray) -> BoolArray:
    """One way only: the end named first sends."""
    sends = end_of(ranks, place)
    from_host, to_host = ranks.host_of[from_ranks][:, None], ranks.host_of[to_ranks][None, :]
    receives = np.ones((1, to_ranks.size), dtype=bool)
    if place.kind is PlaceKind.UPLINK:
        receives = ~sends[to_ranks][None, :]
    elif place.kind is PlaceKind.CABLE:
        receives = np.isin(to_host, place.other_hosts)
    elif place.kind is PlaceKind.LINK:
        receives = to_host == place.second
    elif place.kind is PlaceKind.PAIR:
        receives = to_ranks[None, :] == place.second
    elif place.kind is PlaceKind.INSIDE:
        receives = to_host == from_host
    elif place.kind in (PlaceKind.SWITCH, PlaceKind.RAIL, PlaceKind.PORT, PlaceKind.SOCKET):
        receives = to_host != from_host
    return np.asarray(sends[from_ranks][:, None] & receives)
