# SPDX-License-Identifier: Apache-2.0
"""Passes over the connections of many patterns, some ranks at a time: distributions, the slowest, slow ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from leadline.bisection.result import NO_RANK, BaselineSamples, BisectionResult, Patterns
from leadline.model import FloatArray, IntArray, Progress, Record, Table
from leadline.stats.tally import Tally

_SEVERAL_TIMES = 8  # the slowest pair is the slowest in many patterns


@dataclass(frozen=True)
class SeenConnection:
    """A connection in one pattern."""

    number: int  # of the pattern
    from_rank: int
    to_rank: int
    time_ns: float


@dataclass(frozen=True, repr=False)
class ConnectionScan(Record):
    """Over all connections of some patterns of one message size."""

    speeds: Tally  # bytes/s
    times: Tally  # ns
    num_missing: int  # connections of the patterns that have no time
    slowest: tuple[SeenConnection, ...]  # slowest first
    pairs: FloatArray  # bytes/s in its pattern of each pair that was measured alone: mean of both ends


@dataclass(frozen=True, repr=False)
class SlowCounts(Table):
    """Of every rank [N]: the connections that it has a time of its own for, and how many of them were slow."""

    num: IntArray
    num_slow: IntArray

    def __add__(self, other: SlowCounts) -> SlowCounts:
        """Both together."""
        return SlowCounts(self.num + other.num, self.num_slow + other.num_slow)


def scan_connections(
    result: BisectionResult, patterns: Patterns, alone: BaselineSamples, most_slowest: int,
    progress: Progress | None = None,
) -> ConnectionScan:  # fmt: skip
    """One pass over the times of all connections of the patterns."""
    speeds, times = Tally(), Tally()
    num_bytes = 1e9 * patterns.message_size_bytes
    slowest: list[SeenConnection] = []
    pairs = np.zeros(len(alone))
    for first, cells, columns in _time_blocks(result, patterns, progress):
        there = np.isfinite(cells)
        found = cells[there]
        times.add(found)
        if num_bytes:
            speeds.add(num_bytes / found)
        slowest += _slowest_of(result, patterns.size_index, first, np.where(there, cells, -1.0), columns, most_slowest)
        slowest = _shortened(slowest, most_slowest)
        for ranks in (alone.from_rank, alone.to_rank):
            here = np.flatnonzero((first <= ranks) & (ranks < first + len(cells)) & np.isin(alone.number, columns))
            of_end = cells[ranks[here] - first, np.searchsorted(columns, alone.number[here])]
            pairs[here] += num_bytes / of_end / 2
    num_missing = max(int(patterns.num_connections.sum()) - times.num_values, 0)
    return ConnectionScan(speeds, times, num_missing, tuple(slowest), pairs)


def pairs_by_pattern(
    random: Patterns, alone: BaselineSamples, together: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of the pairs measured alone behind a pattern: mean bandwidth in it, alone, and in it less that of all."""
    known = np.isin(alone.number, random.number) & (together > 0)
    numbers, place = np.unique(alone.number[known], return_inverse=True)
    in_pattern, by_itself = (np.bincount(place, weights=one[known]) / np.bincount(place)
                             for one in (together, alone.bytes_per_s))  # fmt: skip
    of_all = random.bytes_per_s_mean[np.searchsorted(random.number, numbers)]
    return in_pattern, by_itself, in_pattern - of_all


def _time_blocks(
    result: BisectionResult, patterns: Patterns, progress: Progress | None
) -> Iterator[tuple[int, FloatArray, IntArray]]:
    """The first rank of a block, its times [ranks, patterns], and the numbers of the patterns."""
    if not len(patterns):
        return
    begin, end = int(patterns.number[0]), int(patterns.number[-1]) + 1
    wanted = patterns.number - begin
    for first, last in result.rank_blocks(end - begin):
        cells = result.reader.times(patterns.size_index, "time_ns", (first, last), (begin, end))
        yield first, cells if len(wanted) == end - begin else cells[:, wanted], patterns.number
        if progress:
            progress(last / result.num_ranks)


def _slowest_of(
    result: BisectionResult, size_index: int, first: int, cells: FloatArray, numbers: IntArray, most: int
) -> list[SeenConnection]:
    """Of a block; more than are wanted, since a pair may come several times."""
    flat, num = cells.ravel(), _SEVERAL_TIMES * most
    places = np.argpartition(flat, -num)[-num:] if flat.size > num else np.arange(flat.size)
    found = []
    for place in places[flat[places] > 0].tolist():
        rank, number = first + place // cells.shape[1], int(numbers[place % cells.shape[1]])
        sender = int(result.reader.partners(size_index, "receive_from", (rank, rank + 1), (number, number + 1))[0, 0])
        if sender != NO_RANK:
            found.append(SeenConnection(number, sender, rank, float(flat[place])))
    return found


def _shortened(seen: list[SeenConnection], most: int) -> list[SeenConnection]:
    """Slowest first, no two between the same ranks: as the engine lists them."""
    kept: dict[tuple[int, int], SeenConnection] = {}
    for one in sorted(seen, key=lambda one: (-one.time_ns, one.from_rank, one.to_rank, one.number)):
        if len(kept) == most:
            break
        kept.setdefault((min(one.from_rank, one.to_rank), max(one.from_rank, one.to_rank)), one)
    return list(kept.values())


def no_slow_counts(result: BisectionResult) -> SlowCounts:
    """Before any connection was looked at."""
    return SlowCounts(*(np.zeros(result.num_ranks, dtype=np.int64) for _ in range(2)))


def count_slow(result: BisectionResult, patterns: Patterns, limit_ns: float) -> SlowCounts:
    """A second pass: how many connections of every rank took longer than that."""
    found = no_slow_counts(result)
    for first, cells, _ in _time_blocks(result, patterns, None):
        ranks = slice(first, first + len(cells))
        found.num[ranks] = np.isfinite(cells).sum(axis=1)
        found.num_slow[ranks] = (cells > limit_ns).sum(axis=1)
    return found
