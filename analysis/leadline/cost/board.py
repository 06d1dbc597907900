# SPDX-License-Identifier: Apache-2.0
"""A placement of a pattern's ranks, and the costs after each of many swaps of two ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leadline.cost.evaluate import SEND, rank_loads
from leadline.cost.pattern import Messages, Pattern
from leadline.model import FloatArray, IntArray

# So many of the greatest loads of a stage are at hand. A swap that touches more of them is looked at by itself.
_NUM_TOP = 64
# Of the loads in roughness(): high enough that the greatest decide, and several of them count more than one.
_POWER = 4


@dataclass(frozen=True)
class Swapped:
    """What each of K swaps would lead to."""

    cost_ns: FloatArray  # [K]
    roughness: FloatArray  # [K], see Board


class Board:
    """Ranks on places: rank i on place[i]. The load of a rank in a stage is what it sends there (side 0) or receives
    (side 1); a stage is as long as its greatest load. The roughness, a sum over all loads of their fourth power, tells
    apart swaps that lead to the same cost: where several ranks are the slowest together, improving one of them leaves
    the cost as it is, yet is a step towards a lower one. N = ranks, M = entries of messages, S = stages.
    """

    def __init__(self, pattern: Pattern, size_index: IntArray, times: FloatArray, place: IntArray) -> None:
        """`times` [sizes, N, N] has no NaN where two ranks can be; `size_index` [M] says which matrix is an entry's."""
        messages = pattern.messages
        assert messages is not None, "all-to-all has no board"
        self._pattern, self._messages, self._size_index, self._times = pattern, messages, size_index, times
        self._num_ranks = pattern.num_ranks
        self._adjacent, self._adjacent_from = _adjacency(messages, pattern.num_ranks)
        self.move_to(place)
        self._scale = self.cost_ns / pattern.num_stages or 1.0
        self.move_to(place)

    _scale = 1.0

    def move_to(self, place: IntArray) -> None:
        """Assigns every rank its position, and computes everything anew."""
        messages, num_stages = self._messages, self._pattern.num_stages
        self.place = place.copy()
        self._total = self._entry_ns(np.arange(len(messages)), place[messages.from_rank], place[messages.to_rank])
        loads = rank_loads(self._pattern, self._total).reshape(num_stages, -1)
        num_top = min(_NUM_TOP, loads.shape[1])
        top = np.sort(np.argpartition(-loads, num_top - 1, axis=1)[:, :num_top], axis=1)
        order = np.argsort(-np.take_along_axis(loads, top, axis=1), axis=1, kind="stable")
        self._top = np.take_along_axis(top, order, axis=1)
        self._loads = loads.reshape(-1)
        self.stage_ns = np.take_along_axis(loads, self._top[:, :1], axis=1)[:, 0]
        self.cost_ns = float(self.stage_ns.sum())
        self.roughness = float(((self._loads / self._scale) ** _POWER).sum())

    def critical_ranks(self, stage: int, most: int) -> IntArray:
        """The slowest rank of a stage and those that it exchanges messages with on its slow side, the longest first."""
        side, rank = divmod(int(self._top[stage, 0]), self._num_ranks)
        entries = self._entries_of(rank)
        own = self._messages.from_rank if side == SEND else self._messages.to_rank
        other = self._messages.to_rank if side == SEND else self._messages.from_rank
        entries = entries[(own[entries] == rank) & (self._messages.stage[entries] == stage)]
        entries = entries[np.argsort(-self._total[entries], kind="stable")][:most]
        return np.array([rank, *dict.fromkeys(other[entries].tolist())], dtype=np.int64)

    def partners(self, rank: int) -> IntArray:
        """The ranks that a rank exchanges messages with, in any stage."""
        entries = self._entries_of(rank)
        return np.unique(self._messages.from_rank[entries] + self._messages.to_rank[entries] - rank)

    def nearest_places(self, num: int) -> IntArray:
        """[N, num]: the places with the least times from each, or fewer of few ranks."""
        times = self._times[0].copy()
        np.fill_diagonal(times, np.inf)
        return np.argpartition(times, min(num, self._num_ranks - 1) - 1, axis=1)[:, :num]

    def degree(self, ranks: IntArray) -> IntArray:
        """Entries that each of these ranks sends or receives."""
        return self._adjacent_from[ranks + 1] - self._adjacent_from[ranks]

    def try_swaps(self, one: int, others: IntArray) -> Swapped:
        """What comes of swapping `one` with each of `others` [K], none of which is `one`."""
        number, entry = self._touched(one, others)
        from_rank, to_rank = self._messages.from_rank[entry], self._messages.to_rank[entry]
        other = others[number]
        change = (
            self._entry_ns(entry, self._after(from_rank, one, other), self._after(to_rank, one, other))
            - self._total[entry]
        )
        num_cells = len(self._loads)
        base = number * num_cells + self._messages.stage[entry] * (2 * self._num_ranks)
        keys, inverse = np.unique(
            np.concatenate((base + from_rank, base + self._num_ranks + to_rank)), return_inverse=True
        )
        owner, cell = np.divmod(keys, num_cells)
        before = self._loads[cell]
        after = before + np.bincount(inverse.reshape(-1), np.concatenate((change, change)), len(keys))
        rough: FloatArray = (after / self._scale) ** _POWER - (before / self._scale) ** _POWER
        roughness = np.full(len(others), self.roughness)
        np.add.at(roughness, owner, rough)
        # Keys rise, so what belongs to one stage of one swap is together.
        stage = cell // (2 * self._num_ranks)
        group = owner * self._pattern.num_stages + stage
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        cost = np.full(len(others), self.cost_ns)
        if len(starts):
            greatest = np.maximum.reduceat(after, starts)
            greatest = np.maximum(greatest, self._untouched(owner[starts], stage[starts], keys))
            cost += np.bincount(owner[starts], greatest - self.stage_ns[stage[starts]], len(others))
        return Swapped(cost, roughness)

    def swap(self, one: int, other: int) -> None:
        """Does it."""
        place = self.place.copy()
        place[[one, other]] = place[[other, one]]
        self.move_to(place)

    def _entry_ns(self, entry: IntArray, from_place: IntArray, to_place: IntArray) -> FloatArray:
        """Of all messages of these entries, between these places."""
        time: FloatArray = self._times[self._size_index[entry], from_place, to_place]
        return time * self._messages.count[entry]

    def _entries_of(self, rank: int) -> IntArray:
        return self._adjacent[self._adjacent_from[rank] : self._adjacent_from[rank + 1]]

    def _touched(self, one: int, others: IntArray) -> tuple[IntArray, IntArray]:
        """Which entry changes in which of the swaps, each once."""
        own = self._entries_of(one)
        degree = self.degree(others)
        number = np.repeat(np.arange(len(others)), degree)
        first = np.repeat(self._adjacent_from[others] - np.cumsum(degree) + degree, degree)
        entry = self._adjacent[first + np.arange(len(number))]
        is_new = (self._messages.from_rank[entry] != one) & (self._messages.to_rank[entry] != one)
        all_numbers = np.concatenate((np.repeat(np.arange(len(others)), len(own)), number[is_new]))
        return all_numbers, np.concatenate((np.tile(own, len(others)), entry[is_new]))

    def _after(self, rank: IntArray, one: int, other: IntArray) -> IntArray:
        """Where ranks are after their swap."""
        is_one, is_other = rank == one, rank == other
        places: IntArray = self.place[np.where(is_one, other, np.where(is_other, one, rank))]
        return places

    def _untouched(self, owner: IntArray, stage: IntArray, keys: IntArray) -> FloatArray:
        """For each stage of a swap the greatest load that the swap leaves as it is; `keys` are the others, sorted."""
        found, num_cells = np.zeros(len(owner)), len(self._loads)
        open_ones, position = np.arange(len(owner)), 0
        while len(open_ones) and position < self._top.shape[1]:
            cell = stage[open_ones] * (2 * self._num_ranks) + self._top[stage[open_ones], position]
            wanted = owner[open_ones] * num_cells + cell
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            is_free = keys[at] != wanted
            found[open_ones[is_free]] = self._loads[cell[is_free]]
            open_ones, position = open_ones[~is_free], position + 1
        for index in open_ones.tolist() if self._top.shape[1] < 2 * self._num_ranks else ():
            first = int(stage[index]) * 2 * self._num_ranks
            cells = np.arange(first, first + 2 * self._num_ranks)
            free = np.setdiff1d(owner[index] * num_cells + cells, keys, assume_unique=True) - owner[index] * num_cells
            found[index] = self._loads[free].max(initial=0.0)
        return found


def _adjacency(messages: Messages, num_ranks: int) -> tuple[IntArray, IntArray]:
    """Entries of each rank, rank after rank, and where each rank's begin [N + 1]."""
    ends = np.concatenate((messages.from_rank, messages.to_rank))
    entries = np.tile(np.arange(len(messages)), 2)
    order = np.argsort(ends, kind="stable")
    return entries[order], np.searchsorted(ends[order], np.arange(num_ranks + 1))
