# SPDX-License-Identifier: Apache-2.0
"""A cost that no placement of a pattern's ranks can be below."""

from __future__ import annotations

import math

import numpy as np

from leadline.cost.pattern import Messages, Pattern
from leadline.model import BoolArray, FloatArray, IntArray

# Numbers that are looked at for one stage at the most; beyond that the bound stays unknown.
_MOST_WORK = 1 << 26


def cost_bound(pattern: Pattern, times: FloatArray) -> float:
    """In ns, from `times` [N, N] of the one message size, in which NaN costs nothing. On a place, a rank with messages
    to d others takes at least the d least times from there, with most messages at the least of them. Every place is
    taken by some rank, and every rank goes somewhere: so the greatest over places of the least over ranks bounds a
    stage, and so does the greatest over ranks of the least over places. NaN where that would take too long.
    """
    messages = pattern.messages
    if messages is None:
        return math.nan
    off_diagonal = np.where(np.isnan(times), 0.0, times)
    np.fill_diagonal(off_diagonal, np.inf)
    sides = ((messages.from_rank, off_diagonal), (messages.to_rank, off_diagonal.T))
    least = np.zeros(pattern.num_stages)
    for rank, matrix in sides:
        degree = int(np.bincount(messages.stage * pattern.num_ranks + rank).max())
        if degree * pattern.num_ranks > _MOST_WORK:
            return math.nan
        nearest = np.sort(np.partition(matrix, degree - 1, axis=1)[:, :degree], axis=1)
        for stage in range(pattern.num_stages):
            profiles, is_complete = _profiles(messages, messages.stage == stage, rank, pattern.num_ranks)
            if sum(len(profile) for profile in profiles) * pattern.num_ranks > _MOST_WORK:
                return math.nan
            least[stage] = max(least[stage], _bound_of_side(profiles, is_complete, nearest))
    return float(least.sum())


def _profiles(
    messages: Messages, is_here: BoolArray, rank: IntArray, num_ranks: int
) -> tuple[list[tuple[int, ...]], bool]:
    """How many messages ranks have for each of their partners in a stage, most first, each such list once; and
    whether all ranks have some.
    """
    here = np.flatnonzero(is_here)
    order = here[np.lexsort((-messages.count[here], rank[here]))]
    counts: dict[int, list[int]] = {}
    for one, count in zip(rank[order].tolist(), messages.count[order].tolist(), strict=True):
        counts.setdefault(one, []).append(count)
    return sorted({tuple(some) for some in counts.values()}), len(counts) == num_ranks


def _bound_of_side(profiles: list[tuple[int, ...]], is_complete: bool, nearest: FloatArray) -> float:
    """`nearest` [N, D]: of every place its least times, ascending."""
    if not profiles:
        return 0.0
    loads = np.stack([nearest[:, : len(profile)] @ np.array(profile, dtype=np.float64) for profile in profiles])
    of_ranks = loads.min(axis=1).max()
    return float(max(of_ranks, loads.min(axis=0).max()) if is_complete else of_ranks)
