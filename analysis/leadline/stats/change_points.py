# SPDX-License-Identifier: Apache-2.0
"""When a series of numbers changed its level: rank tests at each place where it may have, corrected for how many there
are. docs/methods/months.md explains it, and says how often it is wrong.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from leadline.model import FloatArray, IntArray

# A level has so many values: fewer are outliers.
FEWEST_OF_LEVEL = 3
LEAST_CHANGE = 0.05  # of the medians; smaller ones are not told
FALSE_DISCOVERY_RATE = 0.01
# Rank sums of so many values have their exact distribution, those of more the normal one.
_MOST_EXACT = 20
_FEWEST_SPREADS = 2.0  # nearer to the middle no sum is told, and its p-value is not computed


@dataclass(frozen=True)
class LevelChange:
    """Values from `index` on have another median than those before, as far as the changes next to it."""

    index: int
    before: float
    after: float
    p_value: float  # that chance gives a series so strong a change at any place

    @property
    def ratio(self) -> float:
        """After over before."""
        return self.after / self.before


@dataclass(frozen=True)
class Stretch:
    """Values from `begin` to before `end` that differ from all others; one of both is an end of the series, or none."""

    begin: int
    end: int
    p_value: float  # corrected for the stretches that there are


def strongest_change(values: FloatArray) -> Stretch | None:
    """What differs most of positive values in their order: by a Mann-Whitney test of each stretch against all other
    values the least p-value. It counts twice as often as there are stretches of its kind (Bonferroni): those that reach
    to an end, so that the level changed once, and those inside, so that it changed there and back. Only stretches whose
    median differs by LEAST_CHANGE from that of the others. None where there is no such, or its p-value would be 1.
    """
    num = len(values)
    if num < 2 * FEWEST_OF_LEVEL:
        return None
    begins, ends, factors = _stretches(num)
    sums = np.concatenate([[0.0], np.cumsum(_middle_ranks(values))])
    p_values = factors * _rank_sum_p(num, ends - begins, sums[ends] - sums[begins])
    candidates = np.flatnonzero(p_values < 1)
    for place in candidates[np.argsort(p_values[candidates], kind="stable")].tolist():
        begin, end = int(begins[place]), int(ends[place])
        others = np.concatenate([values[:begin], values[end:]])
        if _differ(float(np.median(values[begin:end])), float(np.median(others))):
            return Stretch(begin, end, float(p_values[place]))
    return None


def level_changes(values: FloatArray, level: float) -> list[LevelChange]:
    """All changes with a p-value of at most `level`, in their order: both ends of the strongest stretch, then those in
    the stretches before, in and behind it (binary segmentation). The medians are those of the levels next to each.
    """
    found: dict[int, float] = {}
    _search(values, 0, level, found)
    while True:
        places = sorted(found)
        edges = [0, *places, len(values)]
        medians = [float(np.median(values[low:high])) for low, high in itertools.pairwise(edges)]
        alike = [place for place, (one, other) in zip(places, itertools.pairwise(medians), strict=True)
                 if not _differ(one, other)]  # fmt: skip
        if not alike:
            break
        del found[max(alike, key=lambda place: found[place])]
    p_values = [found[place] for place in places]
    places = _placed(values, edges, medians)
    edges = [0, *places, len(values)]
    medians = [float(np.median(values[low:high])) for low, high in itertools.pairwise(edges)]
    levels = itertools.pairwise(medians)
    return [
        LevelChange(place, before, after, p_value)
        for place, (before, after), p_value in zip(places, levels, p_values, strict=True)
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
    while True:
        sizes = np.arange(FEWEST_OF_LEVEL, num - FEWEST_OF_LEVEL + 1)
        least = float(_rank_sum_p(num, sizes, sizes * (sizes + 1) / 2).min())
        if 2 * sizes.size * least <= FALSE_DISCOVERY_RATE / max(num_series, 1):
            return num
        num += 1


def _placed(values: FloatArray, edges: Sequence[int], medians: Sequence[float]) -> list[int]:
    """Each inner edge where values are nearest to the levels next to it. The strongest test tells that there is a
    change, and may take a value of the neighbouring level with it.
    """
    logarithms = np.log(values)
    places: list[int] = []
    for high, (before, after) in zip(edges[2:], itertools.pairwise(medians), strict=True):
        low = places[-1] if places else 0
        stretch = logarithms[low:high]
        # Of the sum of distances to either level up to each place what depends on the place.
        costs = np.cumsum(np.abs(stretch - math.log(before)) - np.abs(stretch - math.log(after)))
        inner = costs[FEWEST_OF_LEVEL - 1 : len(costs) - FEWEST_OF_LEVEL]
        places.append(low + FEWEST_OF_LEVEL + int(np.argmin(inner)))
    return places


def _differ(one: float, other: float) -> bool:
    return abs(math.log(one / other)) >= math.log1p(LEAST_CHANGE)


def _search(values: FloatArray, first: int, level: float, found: dict[int, float]) -> None:
    stretch = strongest_change(values)
    if stretch is None or stretch.p_value > level:
        return
    edges = sorted({0, stretch.begin, stretch.end, len(values)})
    for edge in edges[1:-1]:
        found[first + edge] = stretch.p_value
    for low, high in itertools.pairwise(edges):
        _search(values[low:high], first + low, level, found)


@lru_cache(maxsize=64)
def _stretches(num: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Begin and end of each, and by what its p-value is multiplied. What is left on either side is nothing, or enough
    for a level. A stretch to the end stands for the one before it, too.
    """
    begins, ends = np.triu_indices(num + 1, FEWEST_OF_LEVEL)
    is_last = (ends == num) & (begins >= FEWEST_OF_LEVEL)
    is_inside = (begins >= FEWEST_OF_LEVEL) & (ends <= num - FEWEST_OF_LEVEL)
    factors = np.where(is_last, 2.0 * is_last.sum(), 2.0 * is_inside.sum())
    kept = is_last | is_inside
    return begins[kept], ends[kept], factors[kept]


def _middle_ranks(values: FloatArray) -> FloatArray:
    """From 1; equal values share the mean of theirs."""
    in_order = np.sort(values)
    low, high = (np.searchsorted(in_order, values, side) for side in ("left", "right"))
    return np.asarray((low + high + 1) / 2, dtype=np.float64)


def _rank_sum_p(num: int, sizes: IntArray, sums: FloatArray) -> FloatArray:
    """That the ranks of so many of `num` values differ from the middle at least as much, either way; 1 near to it."""
    few = np.minimum(sizes, num - sizes)
    of_few = np.where(sizes == few, sums, num * (num + 1) / 2 - sums)
    low = np.minimum(of_few, few * (num + 1) - of_few)  # the distribution is symmetric
    spread = np.sqrt(few * (num - few) * (num + 1) / 12)
    spreads = (few * (num + 1) / 2 - low - 0.5) / spread
    p_values = np.ones(len(sizes))
    is_exact = few <= _MOST_EXACT
    p_values[is_exact] = 2 * _rank_sum_tails(num)[few[is_exact], np.ceil(low[is_exact]).astype(np.int64)]
    is_far = ~is_exact & (spreads > _FEWEST_SPREADS)
    p_values[is_far] = [math.erfc(one / math.sqrt(2)) for one in spreads[is_far].tolist()]
    return np.minimum(p_values, 1.0)


@lru_cache(maxsize=64)
def _rank_sum_tails(num: int) -> FloatArray:
    """[j, s]: the share of the sets of j of the ranks 1 to `num` whose sum is at most s."""
    sets = np.zeros((_MOST_EXACT + 1, _MOST_EXACT * (num + 1) + 1))
    sets[0, 0] = 1
    for rank in range(1, num + 1):
        sets[1:, rank:] += sets[:-1, :-rank].copy()
    sizes = np.array([max(math.comb(num, size), 1) for size in range(_MOST_EXACT + 1)], dtype=np.float64)
    return np.asarray(np.cumsum(sets, axis=1) / sizes[:, None])
