# SPDX-License-Identifier: Apache-2.0
"""One pass over the rows of a matrix, in memory that grows with the ranks and not with their pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.link.result import LinkResult, PairClass
from leadline.link.scan.blocks import NAN_CODE, Float32Array, Rows, Times, as_float32, bounds, codes_of, in_order, read
from leadline.link.scan.columns import MOST_KEPT, CountedColumns, KeptColumns, row_medians
from leadline.link.scan.examples import Cells, Examples, Slowest
from leadline.link.scan.found import MOST_MISSING, Scan
from leadline.link.scan.hosts import Meetings, Met, OwnHosts
from leadline.link.scan.reduce import Reduced, Reducer
from leadline.link.scan.sampled import pictures_of_pairs, scan_pairs
from leadline.model import FloatArray, IntArray, Progress, Slice, Statistic
from leadline.scan.picture import Grid, Picture
from leadline.stats.tally import Tally

_ROWS_OF_SAMPLE = 16
_GUESSED_NS = 10_000.0  # for bins where the sample has no time


def scan(result: LinkResult, part: Slice, grids: Sequence[Grid] = (), progress: Progress | None = None) -> Scan:
    """Reads all medians of a slice once. The result depends on neither the number of threads nor the size of blocks,
    but for the last digit of means.
    """
    if result.read_pairs is not None:
        return scan_pairs(result, part, grids, progress)
    several = len(result.hosts) > 1
    for side in (PairClass.BETWEEN_HOSTS, PairClass.SAME_HOST)[0 if several else 1 :]:
        state = _Pass(result, part, grids, side)
        _run(state, result.num_ranks, progress)
        # Where nothing was measured between hosts, rows and columns are those inside, and are read again.
        if state.tallies[side].num_values:
            break
    return state.scan()


def pictures(
    result: LinkResult, part: Slice, statistic: Statistic, grids: Sequence[Grid], progress: Progress | None = None
) -> tuple[Picture, ...]:
    """Reads all times of a statistic once and reduces them to pictures."""
    if result.read_pairs is not None:
        return pictures_of_pairs(result, part, statistic, grids, progress)
    reducers, values = [Reducer(grid) for grid in grids], Tally()

    def work(first: int, end: int) -> tuple[Tally, list[Reduced]]:
        rows = read(result, part, statistic, first, end)
        times = as_float32(rows.times)
        return _tally(rows.times[rows.there]), [reducer.reduce(rows, times) for reducer in reducers]

    blocks = bounds(result.num_ranks)
    for index, (tally, reduced) in enumerate(in_order(work, blocks)):
        values.merge(tally)
        for reducer, found in zip(reducers, reduced, strict=True):
            reducer.add(found)
        if progress:
            progress((index + 1) / len(blocks))
    return tuple(reducer.picture(values) for reducer in reducers)


@dataclass(frozen=True)
class _OfClass:
    """What some rows have of one class of pairs."""

    num_to_measure: int
    tally: Tally
    slowest: Cells
    examples: Cells


@dataclass(frozen=True)
class _Found:
    """What one block of rows gives."""

    classes: dict[PairClass, _OfClass]
    met: Met
    num_missing: int
    missing: IntArray  # [few, 2]
    reduced: list[Reduced]


class _Pass:
    """All that is gathered while the rows go by. work() runs in threads, add() takes what it gives in order."""

    def __init__(self, result: LinkResult, part: Slice, grids: Sequence[Grid], side: PairClass) -> None:
        self._result, self._part, self._side = result, part, side
        num_ranks = result.num_ranks
        self._own = OwnHosts(result.host_index)
        self._meetings = Meetings(self._own)
        self._reducers = [Reducer(grid) for grid in grids]
        self.tallies = {pair_class: Tally() for pair_class in PairClass}
        self._num_to_measure = dict.fromkeys(PairClass, 0)
        self._slowest = {pair_class: Slowest() for pair_class in PairClass}
        self._examples = {pair_class: Examples() for pair_class in PairClass}
        self._medians_ns = {pair_class: np.full(num_ranks, np.nan) for pair_class in PairClass}
        self._num_missing, self._missing = 0, np.empty((0, 2), dtype=np.int64)
        self._columns: KeptColumns | CountedColumns
        if num_ranks <= MOST_KEPT:
            self._columns = KeptColumns(num_ranks)
        else:
            self._columns = CountedColumns(num_ranks, self._typical_ns())

    def work(self, first: int, end: int) -> _Found:
        rows = read(self._result, self._part, Statistic.MEDIAN, first, end)
        narrow = as_float32(rows.times)
        reduced = [reducer.reduce(rows, narrow) for reducer in self._reducers]
        gaps = np.empty(0, dtype=np.int64)
        if rows.to_measure is not None:
            gaps = np.flatnonzero(rows.to_measure & ~rows.there)
        row, column = np.divmod(gaps[:MOST_MISSING], self._result.num_ranks)
        missing, met = np.stack([row + first, column], axis=1), self._meetings.met(rows)
        classes = self._classes(rows, narrow)
        self._columns.add(first, self._side_of(rows, classes))
        num_to_measure = self._num_of_classes(rows)
        found = {name: self._of_class(name, times, num_to_measure[name]) for name, times in classes.items()}
        # Last, since it leaves the times in another order.
        for name, times in classes.items():
            self._medians_ns[name][first:end] = row_medians(times.times)
        return _Found(found, met, gaps.size, missing, reduced)

    def add(self, found: _Found) -> None:
        for name, of_class in found.classes.items():
            self._num_to_measure[name] += of_class.num_to_measure
            self.tallies[name].merge(of_class.tally)
            self._slowest[name].add(of_class.slowest)
            self._examples[name].add(of_class.examples)
        self._meetings.add(found.met)
        self._num_missing += found.num_missing
        self._missing = np.concatenate([self._missing, found.missing])[:MOST_MISSING]
        for reducer, reduced in zip(self._reducers, found.reduced, strict=True):
            reducer.add(reduced)

    def scan(self) -> Scan:
        there = [name for name in PairClass if self._num_to_measure[name]]
        values = Tally()
        for tally in self.tallies.values():
            values.merge(tally)
        return Scan(
            part=self._part,
            num_to_measure=sum(self._num_to_measure.values()),
            num_missing=self._num_missing,
            missing=tuple((int(i), int(j)) for i, j in self._missing),
            classes={name: self.tallies[name] for name in there},
            rows_ns=self._medians_ns[self._side],
            columns_ns=self._columns.medians(),
            inside_ns=self._medians_ns[PairClass.SAME_HOST],
            num_partners=self._meetings.num_partners(),
            num_host_partners=self._meetings.num_host_partners(),
            slowest={name: self._slowest[name].cells.as_tuple() for name in there},
            examples={name: self._examples[name].by_time().as_tuple() for name in there},
            pictures=tuple(reducer.picture(values) for reducer in self._reducers),
        )

    def _classes(self, rows: Rows, narrow: Float32Array) -> dict[PairClass, Times]:
        """The times inside hosts and between them."""
        first, codes = rows.first, codes_of(narrow)

        def inside(row: IntArray, place: IntArray) -> tuple[IntArray, IntArray]:
            return first + row, self._own.receiver(first + row, place)

        if self._own.sizes.size == 1:
            return {PairClass.SAME_HOST: Times(rows.times.copy(), codes, inside)}
        parts = (self._own.inside, self._own.outside)
        here, elsewhere = ((part(first, rows.times, np.nan), part(first, codes, NAN_CODE)) for part in parts)
        return {
            PairClass.SAME_HOST: Times(*here, inside),
            PairClass.BETWEEN_HOSTS: Times(*elsewhere, lambda row, place: (first + row, place)),
        }

    def _side_of(self, rows: Rows, classes: dict[PairClass, Times]) -> Times:
        """The times that rows and columns are judged by, in their columns of the matrix."""
        if self._side is PairClass.BETWEEN_HOSTS or len(classes) == 1:
            return classes[self._side]
        outside = classes[PairClass.BETWEEN_HOSTS]
        times = np.where(np.isnan(outside.times), rows.times, np.nan)
        return Times(times, codes_of(as_float32(times)), outside.ranks_at)

    def _num_of_classes(self, rows: Rows) -> dict[PairClass, int]:
        """Pairs to measure."""
        if rows.to_measure is None:
            num_here = int(np.count_nonzero(rows.diagonal_there)) - (rows.end - rows.first)
            num_inside = int(self._own.sizes[self._own.host_of[rows.first : rows.end]].sum()) + num_here
            num_all = rows.times.size + num_here
        else:
            num_inside = int(np.count_nonzero(self._own.inside(rows.first, rows.to_measure, False)))
            num_all = int(np.count_nonzero(rows.to_measure))
        return {PairClass.SAME_HOST: num_inside, PairClass.BETWEEN_HOSTS: num_all - num_inside}

    def _of_class(self, name: PairClass, times: Times, num_to_measure: int) -> _OfClass:
        return _OfClass(
            num_to_measure,
            _tally(times.times[np.isfinite(times.times)]),
            self._slowest[name].candidates(times),
            self._examples[name].candidates(times),
        )

    def _typical_ns(self) -> float:
        """The median of some rows, for which the bins of the columns are chosen."""
        num_ranks = self._result.num_ranks
        sample = []
        for first in np.linspace(0, num_ranks - 1, _ROWS_OF_SAMPLE).astype(int).tolist():
            rows = read(self._result, self._part, Statistic.MEDIAN, first, first + 1)
            side = self._side_of(rows, self._classes(rows, as_float32(rows.times))).times
            sample.append(side[np.isfinite(side)])
        times = np.concatenate(sample)
        return float(np.median(times)) if times.size else _GUESSED_NS


def _run(state: _Pass, num_ranks: int, progress: Progress | None) -> None:
    blocks = bounds(num_ranks)
    for index, found in enumerate(in_order(state.work, blocks)):
        state.add(found)
        if progress:
            progress((index + 1) / len(blocks))


def _tally(values: FloatArray) -> Tally:
    tally = Tally()
    tally.add(values)
    return tally
