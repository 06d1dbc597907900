# SPDX-License-Identifier: Apache-2.0
"""When a series of numbers changed its level: rank tests at each place where it may have, corrected for how many there
are. docs/methods.md explains it, and says how often it is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from leadline.model import FloatArray

# A level has so many values: fewer are outliers.
FEWEST_OF_LEVEL = 3
LEAST_CHANGE = 0.05  # of the medians; smaller ones are not told
FALSE_DISCOVERY_RATE = 0.01
# The shorter side's rank sum has its exact distribution up to so many values, and a normal one above.
_MOST_EXACT = 10


@dataclass(frozen=True)
class LevelChange:
    """Values from `index` on have another median than those before, as far as the changes next to it."""

    index: int
    before: float
    after: float
    p_value: float  # corrected for the places where it may have been

    @property
    def ratio(self) -> float:
        """After over before."""
        return self.after / self.before


def strongest_change(values: FloatArray) -> LevelChange | None:
    """The change of level with the smallest p-value in positive values in their order: of the Mann-Whitney tests at all
    places where the medians differ by LEAST_CHANGE or more the least p-value, times the number of all places
    (Bonferroni). None where there is no such place, or its p-value would be 1.
    """
    num = len(values)
    if num < 2 * FEWEST_OF_LEVEL:
        return None
    places = range(FEWEST_OF_LEVEL, num - FEWEST_OF_LEVEL + 1)
    sums = np.cumsum(_middle_ranks(values))
    p_values = [len(places) * _rank_sum_p(num, index, float(sums[index - 1])) for index in places]
    for p_value, index in sorted(zip(p_values, places, strict=True)):
        if p_value >= 1:
            return None
        before, after = float(np.median(values[:index])), float(np.median(values[index:]))
        if abs(math.log(after / before)) >= math.log1p(LEAST_CHANGE):
            return LevelChange(index, before, after, p_value)
    return None


def level_changes(values: FloatArray, level: float) -> list[LevelChange]:
    """All changes with a p-value of at most `level`, in their order: the strongest one, then those in the stretches
    before and behind it (binary segmentation). The medians are those of the levels next to each.
    """
    found: dict[int, float] = {}
    _search(values, 0, level, found)
    places = sorted(found)
    edges = [0, *places, len(values)]
    medians = [float(np.median(values[low:high])) for low, high in zip(edges[:-1], edges[1:], strict=True)]
    return [
        LevelChange(place, medians[number], medians[number + 1], found[place]) for number, place in enumerate(places)
    ]


def largest_p_value(p_values: Sequence[float], rate: float = FALSE_DISCOVERY_RATE) -> float:
    """The largest p-value that is told when of what is told at most `rate` may be chance (Benjamini and Hochberg); 0
    where nothing is.
    """
    in_order = sorted(p_values)
    kept = [p for number, p in enumerate(in_order, 1) if p <= number * rate / len(in_order)]
    return kept[-1] if kept else 0.0


def fewest_values(num_series: int) -> int:
    """With fewer values the change of one of so many series cannot be told, however large it is."""
    num = 2 * FEWEST_OF_LEVEL
    while (num - 2 * FEWEST_OF_LEVEL + 1) * 2 / math.comb(num, num // 2) > FALSE_DISCOVERY_RATE / max(num_series, 1):
        num += 1
    return num


def _search(values: FloatArray, begin: int, level: float, found: dict[int, float]) -> None:
    change = strongest_change(values)
    if change is None or change.p_value > level:
        return
    found[begin + change.index] = change.p_value
    _search(values[: change.index], begin, level, found)
    _search(values[change.index :], begin + change.index, level, found)


def _middle_ranks(values: FloatArray) -> FloatArray:
    """From 1; equal values share the mean of theirs."""
    in_order = np.sort(values)
    low, high = (np.searchsorted(in_order, values, side) for side in ("left", "right"))
    return np.asarray((low + high + 1) / 2, dtype=np.float64)


def _rank_sum_p(num: int, num_before: int, rank_sum: float) -> float:
    """That the ranks of so many of `num` values differ from the middle at least as much, either way."""
    num_short = min(num_before, num - num_before)
    if num_short != num_before:
        rank_sum = num * (num + 1) / 2 - rank_sum
    low = min(rank_sum, num_short * (num + 1) - rank_sum)  # the distribution is symmetric
    if num_short <= _MOST_EXACT:
        return min(1.0, 2 * float(_rank_sum_tails(num)[num_short, math.ceil(low)]))
    spread = math.sqrt(num_short * (num - num_short) * (num + 1) / 12)
    distance = max(num_short * (num + 1) / 2 - low - 0.5, 0.0)
    return math.erfc(distance / spread / math.sqrt(2))


@lru_cache(maxsize=1024)
def _rank_sum_tails(num: int) -> FloatArray:
    """[j, s]: the share of the sets of j of the ranks 1 to `num` whose sum is at most s."""
    sets = np.zeros((_MOST_EXACT + 1, _MOST_EXACT * (num + 1) + 1))
    sets[0, 0] = 1
    for rank in range(1, num + 1):
        sets[1:, rank:] += sets[:-1, :-rank].copy()
    sizes = np.array([max(math.comb(num, size), 1) for size in range(_MOST_EXACT + 1)], dtype=np.float64)
    return np.asarray(np.cumsum(sets, axis=1) / sizes[:, None])
