# SPDX-License-Identifier: Apache-2.0
"""What a slice says about hosts, ranks and pairs: who stands out, and which of the slowest pairs are slow alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from leadline.model import BoolArray, FloatArray, IntArray, Result, Retest, Slice
from leadline.stats import PairClass, class_mask, measured, medians, num_partners

# As in the engine. A guess: more than the scatter between equal links, and less than what a fault does to one.
SLOW_FACTOR = 1.5
# How many times its time alone a pair must take in company to blame the company; less is jitter.
COMPANY_FACTOR = 1.2
# Of two or three that met, nobody can say which is slow; of three partners, two outvote a slow one.
FEWEST_PARTNERS = 3


class Verdict(str, Enum):
    """What the second measurement says about one of the slowest pairs."""

    NOT_SLOW = "not slow"
    ONLY_IN_COMPANY = "only in company"
    SLOW_ALONE_TOO = "slow alone too"
    NOT_RETESTED = "not retested"


@dataclass(frozen=True)
class JudgedPair:
    """A retested pair beside what is usual for pairs of its class."""

    retest: Retest
    usual_ns: float
    verdict: Verdict

    @property
    def ratio(self) -> float:
        """In company to alone."""
        return self.retest.time_ns / self.retest.retest_time_ns


@dataclass(frozen=True)
class Side:
    """A rank or host as a sender (its rows) and as a receiver (its columns)."""

    index: int
    from_ns: float  # median over its rows' cells
    to_ns: float
    from_ratio: (
        float  # median over the cells of time / median of the cell's class, over that of the middle rank or host
    )
    to_ratio: float
    num_partners: int  # others that it was measured with

    @property
    def ratio(self) -> float:
        """The larger of the two."""
        return float(np.nanmax([self.from_ratio, self.to_ratio, 0.0]))

    @property
    def is_judged(self) -> bool:
        """Whether it met enough others to tell whether it is slow, or they are."""
        return self.num_partners >= FEWEST_PARTNERS


@dataclass(frozen=True)
class SliceAnalysis:
    """All that the report says about one slice."""

    part: Slice
    median_ns: FloatArray  # [N, N], NaN = not measured
    to_measure: BoolArray  # [N, N], the cells of the test
    classes: dict[PairClass, FloatArray]  # values in one row; only classes that have pairs to measure
    num_to_measure: int
    num_missing: int  # of those
    ranks: tuple[Side, ...]
    hosts: tuple[Side, ...]
    pairs: tuple[JudgedPair, ...]
    slow_hosts: tuple[int, ...]
    slow_ranks: tuple[int, ...]  # not those of slow hosts
    slow_pairs: tuple[JudgedPair, ...]  # slow alone too, and not of slow hosts or ranks


def analyse(result: Result, part: Slice) -> SliceAnalysis:
    """Reads the slice's medians once and says what is in them."""
    matrix, to_measure, host_of = result.matrix(part), result.to_measure(part), result.host_of()
    masks = {pair_class: class_mask(to_measure, host_of, pair_class) for pair_class in PairClass}
    masks = {pair_class: mask for pair_class, mask in masks.items() if mask.any()}
    usual = np.full(matrix.shape, np.nan)
    for mask in masks.values():
        values = measured(matrix, mask)
        usual[mask] = np.median(values) if values.size else np.nan
    relative = matrix / usual
    ranks = _sides(matrix, relative, np.arange(len(host_of), dtype=np.int64))
    hosts = _sides(matrix, relative, host_of)
    pairs = tuple(
        JudgedPair(retest, float(usual[retest.from_rank, retest.to_rank]), _verdict(retest, usual))
        for retest in result.retests
        if (retest.repeat, retest.size_index) == (part.repeat, part.size_index)
    )
    slow_hosts = tuple(side.index for side in hosts if side.is_judged and side.ratio >= SLOW_FACTOR)
    slow_ranks = tuple(
        side.index
        for side in ranks
        if side.is_judged and side.ratio >= SLOW_FACTOR and host_of[side.index] not in slow_hosts
    )
    slow_pairs = tuple(
        pair
        for pair in pairs
        if pair.verdict is Verdict.SLOW_ALONE_TOO
        and not {pair.retest.from_rank, pair.retest.to_rank} & set(slow_ranks)
        and not {int(host_of[pair.retest.from_rank]), int(host_of[pair.retest.to_rank])} & set(slow_hosts)
    )
    return SliceAnalysis(
        part=part,
        median_ns=matrix,
        to_measure=to_measure,
        classes={pair_class: measured(matrix, mask) for pair_class, mask in masks.items()},
        num_to_measure=int(np.count_nonzero(to_measure)),
        num_missing=int(np.count_nonzero(to_measure & ~np.isfinite(matrix))),
        ranks=ranks,
        hosts=hosts,
        pairs=pairs,
        slow_hosts=slow_hosts,
        slow_ranks=slow_ranks,
        slow_pairs=slow_pairs,
    )


def _sides(matrix: FloatArray, relative: FloatArray, group_of: IntArray) -> tuple[Side, ...]:
    """One Side a group; for hosts the pairs inside are left out where there are others."""
    num_groups = int(group_of.max()) + 1
    if num_groups == len(group_of):
        table = np.array([medians(matrix, 1), medians(matrix, 0), medians(relative, 1), medians(relative, 0)]).T
    else:
        table = np.array([_of_group(matrix, relative, group_of, index) for index in range(num_groups)])
    # Over the middle one: where half of all pairs touch a slow host, the median of the pairs is no measure of usual.
    table[:, 2:] /= np.array([_median_or_nan(column) for column in table[:, 2:].T])
    partners = num_partners(np.isfinite(matrix), group_of)
    return tuple(
        Side(index, from_ns, to_ns, from_ratio, to_ratio, int(partners[index]))
        for index, (from_ns, to_ns, from_ratio, to_ratio) in enumerate(table.tolist())
    )


def _of_group(matrix: FloatArray, relative: FloatArray, group_of: IntArray, index: int) -> list[float]:
    inside, outside = group_of == index, group_of != index
    others = outside if outside.any() else inside
    rows, columns = np.ix_(inside, others), np.ix_(others, inside)
    return [_median_or_nan(cells) for cells in (matrix[rows], matrix[columns], relative[rows], relative[columns])]


def _median_or_nan(cells: FloatArray) -> float:
    values = measured(cells)
    return float(np.median(values)) if values.size else math.nan


def _verdict(retest: Retest, usual: FloatArray) -> Verdict:
    limit = SLOW_FACTOR * usual[retest.from_rank, retest.to_rank]
    if math.isnan(retest.retest_time_ns):
        return Verdict.NOT_RETESTED
    if not retest.time_ns >= limit:
        return Verdict.NOT_SLOW
    is_faster_alone = retest.retest_time_ns < limit and retest.time_ns >= COMPANY_FACTOR * retest.retest_time_ns
    return Verdict.ONLY_IN_COMPANY if is_faster_alone else Verdict.SLOW_ALONE_TOO
