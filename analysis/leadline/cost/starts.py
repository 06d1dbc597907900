# SPDX-License-Identifier: Apache-2.0
"""Placements to begin a search with: host after host, in bricks of a grid, or one rank after another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from leadline.cost.pattern import Pattern
from leadline.model import FloatArray, IntArray

# Times that greedy_place() adds up at the most.
_MOST_WORK = 1 << 30


def starts(pattern: Pattern, host_of: IntArray, size_index: IntArray, times: FloatArray) -> Iterator[IntArray]:
    """Places of all ranks [N], other than each rank where it was measured, from the simplest on. `host_of` [N] is the
    host of every place.
    """
    by_host = np.argsort(host_of, kind="stable")
    orders = [np.arange(pattern.num_ranks)]
    orders += [brick_order(pattern.extents, brick) for brick in bricks(pattern.extents, _ranks_per_host(host_of))]
    for order in orders:
        place = np.empty(pattern.num_ranks, dtype=np.int64)
        place[order] = by_host
        yield place
    greedy = greedy_place(pattern, size_index, times)
    if greedy is not None:
        yield greedy


def bricks(extents: tuple[int, ...], volume: int) -> list[tuple[int, ...]]:
    """All shapes of so many ranks that fill a grid without a rest; those with the least surface first."""
    choices = [[one for one in range(1, extent + 1) if extent % one == 0] for extent in extents]
    shapes = [shape for shape in itertools.product(*choices) if shape and int(np.prod(shape)) == volume > 1]
    return sorted(shapes, key=lambda shape: (sum(1 / one for one in shape), shape))


def brick_order(extents: tuple[int, ...], brick: tuple[int, ...]) -> IntArray:
    """The ranks of a grid, the first extent fastest, brick after brick."""
    ranks, stride = np.arange(int(np.prod(extents))), 1
    keys = []
    for extent, side in zip(extents, brick, strict=True):
        position = ranks // stride % extent
        keys.append((position % side, position // side))
        stride *= extent
    # The last key of lexsort() is the first to sort by: the brick, and in it the position.
    return np.lexsort([inside for inside, _ in keys] + [of_brick for _, of_brick in keys])


def _ranks_per_host(host_of: IntArray) -> int:
    """Of most hosts."""
    return int(np.bincount(np.bincount(host_of)).argmax())


def greedy_place(pattern: Pattern, size_index: IntArray, times: FloatArray) -> IntArray | None:
    """The place of every rank [N], from `times` [sizes, N, N] without NaN off the diagonal. First the rank with most
    messages goes to the place that is nearest to all others; then always the one with most messages to and from those
    that are placed, to the free place at which these take least. None where that would take too long.
    """
    messages = pattern.messages
    if messages is None or len(messages) * pattern.num_ranks > _MOST_WORK:
        return None
    ends = np.concatenate((messages.from_rank, messages.to_rank))
    partner = np.concatenate((messages.to_rank, messages.from_rank))
    is_sender = np.arange(len(ends)) < len(messages)
    count, size = np.tile(messages.count, 2), np.tile(size_index, 2)
    order = np.argsort(ends, kind="stable")
    begins = np.searchsorted(ends[order], np.arange(pattern.num_ranks + 1))
    # A column of a large matrix is far apart in memory.
    towards = np.ascontiguousarray(times.transpose(0, 2, 1))
    place = np.full(pattern.num_ranks, -1)
    is_free = np.ones(pattern.num_ranks, dtype=bool)
    weight = np.bincount(ends, count, pattern.num_ranks) * 1e-9
    near = times[0].sum(axis=0) + times[0].sum(axis=1) - 2 * np.diagonal(times[0])
    for _ in range(pattern.num_ranks):
        rank = int(weight.argmax())
        entries = order[begins[rank] : begins[rank + 1]]
        load = np.zeros(pattern.num_ranks)
        for entry in entries[place[partner[entries]] >= 0].tolist():
            matrix = towards if is_sender[entry] else times
            load += count[entry] * matrix[size[entry], place[partner[entry]]]
        # Of equal places the one that is nearest to all: dear ones are left for ranks without messages.
        load += near * 1e-9
        load[~is_free] = np.inf
        place[rank] = int(load.argmin())
        is_free[place[rank]] = False
        weight[rank] = -np.inf
        np.add.at(weight, partner[entries], count[entries])
    return place
