# SPDX-License-Identifier: Apache-2.0
"""One pass over the messages of topologies, however many: when they arrive, which are late, whose they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leadline.model import BoolArray, FloatArray, IntArray
from leadline.scan.picture import Grid, Picture
from leadline.scan.standout import Cell
from leadline.stats.medians import MedianOfEach
from leadline.stats.tally import Tally
from leadline.topology.result import Arrivals, Topology, TopologyCell, TopologyResult

MOST_SLOWEST = 4096
BLOCK_MESSAGES = 1 << 20


@dataclass(frozen=True)
class KindScan:
    """Messages that one may compare with each other: all of them, or where channels are answered, those that begin and
    the answers apart. N = ranks.
    """

    times: Tally
    from_ns: FloatArray  # [N] lower median over the messages that a rank sends; NaN = none
    to_ns: FloatArray  # [N] over those that it receives
    either_ns: FloatArray  # [N] over both
    slowest: tuple[Cell, ...]  # slowest first, at most MOST_SLOWEST


@dataclass(frozen=True)
class MessageScan:
    """What is known of the messages of an exchange with one size: of each its time to arrival, the median over the
    repeats.
    """

    kinds: tuple[KindScan, ...]  # one or two
    times: Tally  # of all messages
    topology_ns: FloatArray  # [topologies] lower median over the messages of each; NaN = none
    num_missing: int  # messages to measure without a time, of topologies that have been measured with this size
    fairness: float  # Jain's index over the rates of the messages; NaN = none
    pictures: tuple[Picture, ...]  # without medians; in the order of the grids asked for


def scan_messages(
    result: TopologyResult, topologies: Sequence[Topology], size_index: int, grids: Sequence[Grid]
) -> MessageScan:
    """Of some topologies of one mode together, with one message size. Topologies or repeats that were not measured
    count for nothing.
    """
    collected = _Collected(result.num_ranks, topologies, grids)
    size = result.message_sizes_bytes[size_index]
    for place, topology in enumerate(topologies):
        cells = [TopologyCell(topology.index, size_index, repeat, size) for repeat in range(result.num_repeats)]
        cells = [cell for cell in cells if result.is_measured(cell)]
        if not cells:
            continue
        for first, end in result.rank_blocks(topology.index, BLOCK_MESSAGES):
            collected.add(place, _over_repeats([result.arrivals(cell, first, end) for cell in cells]))
    return collected.finished()


def _over_repeats(found: list[Arrivals]) -> Arrivals:
    """The same messages of several repeats: of each the median."""
    if len(found) == 1:
        return found[0]
    times = np.stack([one.time_ns for one in found])
    there = np.isfinite(times).any(axis=0)
    median = np.full(there.shape, np.nan)
    median[there] = np.nanmedian(times[:, there], axis=0)
    return replace(found[0], time_ns=median)


def _only(found: Arrivals, which: BoolArray) -> Arrivals:
    return Arrivals(found.from_rank[which], found.to_rank[which], found.is_answer[which], found.time_ns[which])


class _Collected:
    """What was seen so far."""

    def __init__(self, num_ranks: int, topologies: Sequence[Topology], grids: Sequence[Grid]) -> None:
        self._kinds = [_KindInTheMaking(num_ranks) for _ in range(2 if topologies[0].has_answers else 1)]
        self._topologies = MedianOfEach(len(topologies))
        self._num_missing = 0
        self._sum_rates, self._sum_squares = 0.0, 0.0
        self._pictures = [_PictureInTheMaking(grid, num_ranks) for grid in grids]

    def add(self, place: int, found: Arrivals) -> None:
        there = np.isfinite(found.time_ns)
        self._num_missing += int(np.count_nonzero(~there))
        for picture in self._pictures:
            picture.add_missing(found.from_rank[~there], found.to_rank[~there])
        seen = _only(found, there)
        self._topologies.add(np.full(seen.time_ns.size, place), seen.time_ns)
        rates = 1 / seen.time_ns
        self._sum_rates += float(rates.sum())
        self._sum_squares += float((rates**2).sum())
        for picture in self._pictures:
            picture.add(seen)
        if len(self._kinds) == 1:
            self._kinds[0].add(seen)
            return
        for kind, which in zip(self._kinds, (~seen.is_answer, seen.is_answer), strict=True):
            kind.add(_only(seen, which))

    def finished(self) -> MessageScan:
        times = Tally()
        for kind in self._kinds:
            times.merge(kind.times)
        num = times.num_values
        return MessageScan(
            kinds=tuple(kind.finished() for kind in self._kinds),
            times=times,
            topology_ns=self._topologies.medians(),
            num_missing=self._num_missing,
            fairness=self._sum_rates**2 / (num * self._sum_squares) if num else np.nan,
            pictures=tuple(picture.finished(times) for picture in self._pictures),
        )


class _KindInTheMaking:
    """The messages of one kind so far."""

    def __init__(self, num_ranks: int) -> None:
        self.times = Tally()
        self._senders, self._receivers, self._either = (MedianOfEach(num_ranks) for _ in range(3))
        none = np.empty(0, dtype=np.int64)
        self._slowest = (none, none, np.empty(0))  # from, to, time

    def add(self, seen: Arrivals) -> None:
        self.times.add(seen.time_ns)
        self._senders.add(seen.from_rank, seen.time_ns)
        self._receivers.add(seen.to_rank, seen.time_ns)
        for ranks in (seen.from_rank, seen.to_rank):
            self._either.add(ranks, seen.time_ns)
        from_rank, to_rank, time_ns = (
            np.concatenate(both)
            for both in zip(self._slowest, (seen.from_rank, seen.to_rank, seen.time_ns), strict=True)
        )
        if len(time_ns) > MOST_SLOWEST:
            kept = np.argpartition(-time_ns, MOST_SLOWEST)[:MOST_SLOWEST]
            from_rank, to_rank, time_ns = from_rank[kept], to_rank[kept], time_ns[kept]
        self._slowest = (from_rank, to_rank, time_ns)

    def finished(self) -> KindScan:
        from_rank, to_rank, time_ns = self._slowest
        order = np.lexsort((to_rank, from_rank, -time_ns))
        rows = zip(*(column[order].tolist() for column in self._slowest), strict=True)
        slowest = tuple(Cell(*row) for row in rows)
        return KindScan(
            times=self.times,
            from_ns=self._senders.medians(),
            to_ns=self._receivers.medians(),
            either_ns=self._either.medians(),
            slowest=slowest,
        )


class _PictureInTheMaking:
    """The worst message of every cell so far."""

    def __init__(self, grid: Grid, num_ranks: int) -> None:
        self._grid, self._num_ranks = grid, num_ranks
        self._group_of = grid.axis.position_of // grid.edge
        num_cells = grid.size**2
        self._worst = np.zeros(num_cells)
        self._pair = np.full(num_cells, -1, dtype=np.int64)
        self._num_measured, self._num_missing = (np.zeros(num_cells, dtype=np.int64) for _ in range(2))

    def _cells(self, from_rank: IntArray, to_rank: IntArray) -> IntArray:
        return np.asarray(self._group_of[from_rank] * self._grid.size + self._group_of[to_rank])

    def add_missing(self, from_rank: IntArray, to_rank: IntArray) -> None:
        np.add.at(self._num_missing, self._cells(from_rank, to_rank), 1)

    def add(self, seen: Arrivals) -> None:
        cells = self._cells(seen.from_rank, seen.to_rank)
        np.add.at(self._num_measured, cells, 1)
        before = self._worst[cells]
        np.maximum.at(self._worst, cells, seen.time_ns)
        is_worst = (seen.time_ns > before) & (seen.time_ns == self._worst[cells])
        self._pair[cells[is_worst]] = seen.from_rank[is_worst] * self._num_ranks + seen.to_rank[is_worst]

    def finished(self, values: Tally) -> Picture:
        shape, has_none = (self._grid.size, self._grid.size), self._pair < 0

        def shaped(array: FloatArray | IntArray, kind: type) -> np.ndarray:
            return array.astype(kind).reshape(shape)

        return Picture(
            grid=self._grid,
            worst=shaped(np.where(has_none, np.nan, self._worst), np.float32),
            worst_from=shaped(np.where(has_none, -1, self._pair // self._num_ranks), np.int32),
            worst_to=shaped(np.where(has_none, -1, self._pair % self._num_ranks), np.int32),
            median=np.full(shape, np.nan, dtype=np.float32),
            num_measured=shaped(self._num_measured, np.int32),
            num_missing=shaped(self._num_missing, np.int32),
            values=values,
        )
