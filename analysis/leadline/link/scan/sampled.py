# SPDX-License-Identifier: Apache-2.0
"""The same passes over the pairs of sampled rounds, which alone are read: time and memory grow with the pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from leadline.link.result import LinkResult, PairClass, SampledPairs
from leadline.link.scan.blocks import Float32Array, Times, as_float32, codes_of
from leadline.link.scan.examples import Examples, Slowest
from leadline.link.scan.found import MOST_MISSING, Scan
from leadline.model import FloatArray, IntArray, Progress, Slice, Statistic
from leadline.scan.picture import Grid, Picture
from leadline.stats.tally import Tally

Real = TypeVar("Real", np.float32, np.float64)

# Each holds about 200 bytes.
_PAIRS_AT_ONCE = 1 << 20
# As in the passes over matrices: up to so many, ranks and hosts that met are counted in either direction.
_MOST_RANKS, _MOST_HOSTS = 4096, 2048
# Of what sortable() gives.
_TIME_BITS = (1 << 32) - 1


def scan_pairs(result: LinkResult, part: Slice, grids: Sequence[Grid], progress: Progress | None) -> Scan:
    """See one_pass.scan(). Medians of columns are exact to float32, whatever the number of ranks."""
    state = _Pass(result, part, grids)
    for found in _blocks(result, part, Statistic.MEDIAN, progress):
        state.add(found)
    return state.scan()


def pictures_of_pairs(
    result: LinkResult, part: Slice, statistic: Statistic, grids: Sequence[Grid], progress: Progress | None
) -> tuple[Picture, ...]:
    """See one_pass.pictures()."""
    reducers, values = [_Reducer(grid) for grid in grids], Tally()
    for found in _blocks(result, part, statistic, progress):
        values.add(found.times[found.there])
        for reducer in reducers:
            reducer.add(found)
    return tuple(reducer.picture(values) for reducer in reducers)


class _Pairs:
    """Some pairs by from, then to, with their times."""

    def __init__(self, pairs: SampledPairs, dataset: str) -> None:
        self.from_rank, self.to_rank, self.times = pairs.from_rank, pairs.to_rank, pairs.values[dataset]
        self.there = np.isfinite(self.times)
        self.narrow = as_float32(self.times)


def _blocks(result: LinkResult, part: Slice, statistic: Statistic, progress: Progress | None) -> Iterator[_Pairs]:
    assert result.read_pairs is not None
    dataset, first = f"time_ns_{statistic.value}", 0
    num_rows = 1
    while first < result.num_ranks:
        pairs = result.read_pairs(part, (dataset,), first, first + num_rows)
        yield _Pairs(pairs, dataset)
        first += num_rows
        # A rank has about as many pairs as the others.
        num_rows = max(_PAIRS_AT_ONCE * num_rows // max(pairs.to_rank.size, 1), 1) if num_rows == 1 else num_rows
        if progress:
            progress(min(first / result.num_ranks, 1.0))


class _Pass:
    """All that is gathered while the pairs go by."""

    def __init__(self, result: LinkResult, part: Slice, grids: Sequence[Grid]) -> None:
        self._part, self._host_of, self._num_hosts = part, result.host_index, len(result.hosts)
        num_ranks = result.num_ranks
        self._reducers = [_Reducer(grid) for grid in grids]
        self._tallies = {pair_class: Tally() for pair_class in PairClass}
        self._num_to_measure = dict.fromkeys(PairClass, 0)
        self._slowest = {pair_class: Slowest() for pair_class in PairClass}
        self._examples = {pair_class: Examples() for pair_class in PairClass}
        self._medians_ns = {pair_class: np.full(num_ranks, np.nan) for pair_class in PairClass}
        # Receivers with their times, as one sortable number each.
        self._columns: dict[PairClass, list[NDArray[np.uint64]]] = {pair_class: [] for pair_class in PairClass}
        self._num_missing, self._missing = 0, np.empty((0, 2), dtype=np.int64)
        self._num_sent, self._num_received = (np.zeros(num_ranks, dtype=np.int64) for _ in range(2))
        self._met: list[IntArray] = []
        self._hosts_met: list[IntArray] = []
        self._num_hosts_met = np.zeros(self._num_hosts, dtype=np.int64)

    def add(self, found: _Pairs) -> None:
        for reducer in self._reducers:
            reducer.add(found)
        gaps = np.flatnonzero(~found.there)
        self._num_missing += gaps.size
        some = gaps[: MOST_MISSING - len(self._missing)]
        self._missing = np.concatenate([self._missing, np.stack([found.from_rank[some], found.to_rank[some]], axis=1)])
        is_inside = self._host_of[found.from_rank] == self._host_of[found.to_rank]
        for pair_class in PairClass:
            is_of_class = is_inside == (pair_class is PairClass.SAME_HOST)
            self._num_to_measure[pair_class] += int(np.count_nonzero(is_of_class))
            self._add_class(pair_class, found, np.flatnonzero(is_of_class & found.there))
        self._add_meetings(found.from_rank[found.there], found.to_rank[found.there])

    def scan(self) -> Scan:
        several = self._num_hosts > 1 and self._tallies[PairClass.BETWEEN_HOSTS].num_values > 0
        side = PairClass.BETWEEN_HOSTS if several else PairClass.SAME_HOST
        there = [name for name in PairClass if self._num_to_measure[name]]
        values = Tally()
        for tally in self._tallies.values():
            values.merge(tally)
        columns_ns = np.full(self._host_of.size, np.nan)
        ranks, medians = medians_of_groups(self._columns[side], np.float64)
        columns_ns[ranks] = medians
        return Scan(
            part=self._part,
            num_to_measure=sum(self._num_to_measure.values()),
            num_missing=self._num_missing,
            missing=tuple((int(i), int(j)) for i, j in self._missing),
            classes={name: self._tallies[name] for name in there},
            rows_ns=self._medians_ns[side],
            columns_ns=columns_ns,
            inside_ns=self._medians_ns[PairClass.SAME_HOST],
            num_partners=self._num_partners(),
            num_host_partners=self._num_host_partners(),
            slowest={name: self._slowest[name].cells.as_tuple() for name in there},
            examples={name: self._examples[name].by_time().as_tuple() for name in there},
            pictures=tuple(reducer.picture(values) for reducer in self._reducers),
        )

    def _add_class(self, pair_class: PairClass, found: _Pairs, which: IntArray) -> None:
        if not which.size:
            return
        from_rank, to_rank, times = found.from_rank[which], found.to_rank[which], found.times[which]
        narrow = found.narrow[which]
        self._tallies[pair_class].add(times)
        # As a single row, whose columns are the pairs.
        row = Times(times[None, :], codes_of(narrow)[None, :], lambda _, place: (from_rank[place], to_rank[place]))
        self._slowest[pair_class].add(self._slowest[pair_class].candidates(row))
        self._examples[pair_class].add(self._examples[pair_class].candidates(row))
        starts = _starts(from_rank)
        self._medians_ns[pair_class][from_rank[starts]] = _medians_of_runs(times, starts)
        self._columns[pair_class].append(sortable(to_rank, narrow))

    def _add_meetings(self, from_rank: IntArray, to_rank: IntArray) -> None:
        num_ranks = self._host_of.size
        self._num_sent += np.bincount(from_rank, minlength=num_ranks)
        self._num_received += np.bincount(to_rank, minlength=num_ranks)
        from_host, to_host = self._host_of[from_rank], self._host_of[to_rank]
        is_outside = from_host != to_host
        # Rows are whole, so that a sender comes in one block.
        hosts_of_ranks = _distinct(from_rank[is_outside] * self._num_hosts + to_host[is_outside])
        sender = hosts_of_ranks // self._num_hosts
        starts = _starts(sender)
        np.maximum.at(self._num_hosts_met, self._host_of[sender[starts]], np.diff(starts, append=sender.size))
        if self._num_hosts <= _MOST_HOSTS:
            self._hosts_met.append(_both_ways(from_host[is_outside], to_host[is_outside], self._num_hosts))
        if num_ranks <= _MOST_RANKS:
            self._met.append(_both_ways(from_rank, to_rank, num_ranks))

    def _num_partners(self) -> IntArray:
        if self._host_of.size > _MOST_RANKS:
            return np.maximum(self._num_sent, self._num_received)
        return _num_met(self._met, self._host_of.size)

    def _num_host_partners(self) -> IntArray:
        return self._num_hosts_met if self._num_hosts > _MOST_HOSTS else _num_met(self._hosts_met, self._num_hosts)


class _Reducer:
    """Makes a picture of one grid."""

    def __init__(self, grid: Grid) -> None:
        self._grid, self._group_of = grid, grid.axis.position_of // grid.edge
        num_cells = grid.size**2
        self._worst = np.full(num_cells, -np.inf, dtype=np.float32)
        self._pair = np.full(num_cells, -1, dtype=np.int64)
        self._num_measured, self._num_missing = (np.zeros(num_cells, dtype=np.int32) for _ in range(2))
        self._row_medians: list[NDArray[np.uint64]] = []  # cell and median of each sender in it

    def add(self, found: _Pairs) -> None:
        """Rows are whole, and come in the order of the ranks."""
        num_ranks = self._group_of.size
        size = self._grid.size
        cell = self._group_of[found.from_rank] * size + self._group_of[found.to_rank]
        self._num_missing += np.bincount(cell[~found.there], minlength=size**2).astype(np.int32)
        cell, times = cell[found.there], found.narrow[found.there]
        from_rank, to_rank = found.from_rank[found.there], found.to_rank[found.there]
        if not cell.size:
            return
        self._num_measured += np.bincount(cell, minlength=size**2).astype(np.int32)
        # By cell the slowest first, of equal ones the one of the lowest ranks: the pairs stand in their order.
        order = np.argsort(sortable(cell, times) ^ np.uint64(_TIME_BITS), kind="stable")
        firsts = order[_starts(cell[order])]
        cells, worst, pair = cell[firsts], times[firsts], from_rank[firsts] * num_ranks + to_rank[firsts]
        is_worse = worst > self._worst[cells]
        self._worst[cells] = np.where(is_worse, worst, self._worst[cells])
        self._pair[cells] = np.where(is_worse, pair, self._pair[cells])
        # A sender and the column of cells that it sends to.
        first = int(from_rank[0])
        parts, medians = medians_of_groups(
            [sortable((from_rank - first) * size + self._group_of[to_rank], times)], np.float32
        )
        sender, column = np.divmod(parts, size)
        self._row_medians.append(sortable(self._group_of[sender + first] * size + column, medians))

    def picture(self, values: Tally) -> Picture:
        """After the last row; `values` are the times of all pairs."""
        shape, num_ranks = (self._grid.size, self._grid.size), self._group_of.size
        has_none = self._pair < 0
        median = np.full(self._pair.size, np.nan, dtype=np.float32)
        cells, medians = medians_of_groups(self._row_medians, np.float32)
        median[cells] = medians
        return Picture(
            grid=self._grid,
            worst=np.where(has_none, np.float32(np.nan), self._worst).reshape(shape),
            worst_from=np.where(has_none, -1, self._pair // num_ranks).astype(np.int32).reshape(shape),
            worst_to=np.where(has_none, -1, self._pair % num_ranks).astype(np.int32).reshape(shape),
            median=median.reshape(shape),
            num_measured=self._num_measured.reshape(shape),
            num_missing=self._num_missing.reshape(shape),
            values=values,
        )


def sortable(groups: IntArray, times: Float32Array) -> NDArray[np.uint64]:
    """One number for group and time, which grows with both: the bits of a positive float32 grow with it."""
    packed: NDArray[np.uint64] = (groups.astype(np.uint64) << np.uint64(32)) | times.view(np.uint32)
    return packed


def medians_of_groups(sortable: list[NDArray[np.uint64]], kind: type[Real]) -> tuple[IntArray, NDArray[Real]]:
    """Groups that there are, and the median of each."""
    packed = np.sort(np.concatenate([*sortable, np.empty(0, dtype=np.uint64)]))
    groups = (packed >> np.uint64(32)).astype(np.int64)
    times = (packed & np.uint64(_TIME_BITS)).astype(np.uint32).view(np.float32)
    starts = _starts(groups)
    return groups[starts], _middles(times.astype(kind), starts)


def _medians_of_runs(times: FloatArray, starts: IntArray) -> FloatArray:
    """Of neighbours, which begin at `starts`; no run is long."""
    num = np.diff(starts, append=times.size)
    row = np.repeat(np.arange(starts.size), num)
    rows = np.full((starts.size, int(num.max())), np.inf)
    rows[row, np.arange(times.size) - starts[row]] = times
    rows.sort(axis=1)
    run = np.arange(starts.size)
    medians: FloatArray = rows[run, (num - 1) // 2] * 0.5 + rows[run, num // 2] * 0.5
    return medians


def _starts(in_order: IntArray) -> IntArray:
    """Where another number begins."""
    return np.flatnonzero(np.diff(in_order, prepend=-1))


def _distinct(numbers: IntArray) -> IntArray:
    """Each once, ascending; numpy's own looks them up in a table, which takes several times as long."""
    in_order = np.sort(numbers)
    return in_order[_starts(in_order)]


def _middles(in_order: NDArray[Real], starts: IntArray) -> NDArray[Real]:
    """The median of each run of sorted times."""
    num = np.diff(starts, append=in_order.size)
    half = in_order.dtype.type(0.5)
    middles: NDArray[Real] = in_order[starts + (num - 1) // 2] * half + in_order[starts + num // 2] * half
    return middles


def _both_ways(one: IntArray, other: IntArray, num: int) -> IntArray:
    """Two that met, whoever sent, as one number, each once."""
    return _distinct(np.minimum(one, other) * num + np.maximum(one, other))


def _num_met(met: list[IntArray], num: int) -> IntArray:
    """How many others each has met."""
    ends = np.divmod(_distinct(np.concatenate([*met, np.empty(0, dtype=np.int64)])), num)
    return np.bincount(ends[0], minlength=num) + np.bincount(ends[1], minlength=num)
