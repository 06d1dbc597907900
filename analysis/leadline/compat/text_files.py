# SPDX-License-Identifier: Apache-2.0
"""The text files of LinkTest 1.2's analysis, in its formats; seconds, and MiB/s where it says MB/s."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import numpy as np

from leadline.compat.rows import LOW_BANDWIDTH_MIB_PER_S, Survey, bandwidth_mib_per_s
from leadline.link.result import LinkResult
from leadline.model import FloatArray, IntArray, Slice

# Takes the number of the first row, and rows: [some, N].
RowWriter = Callable[[int, FloatArray], None]


def printable(text: str) -> str:
    """Text of a file without what steers a terminal or begins a new line."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def plain_host(name: str) -> str:
    """A host name in one word, since a blank in it would make columns of it."""
    return printable(name).replace(" ", "?")


def mapping(result: LinkResult) -> Iterator[str]:
    """mapping.dat: rank, four coordinates, host."""
    places = locations(result)
    for place, at in zip(result.ranks, places.tolist(), strict=True):
        yield f"{place.rank:6d} {at[0]:4d} {at[1]:4d} {at[2]:4d} {at[3]:4d} {plain_host(place.host)}\n"


def locations(result: LinkResult) -> IntArray:
    """Four coordinates of each rank, [N, 4]; where the machine says none, the first is the rank."""
    if result.linktest is not None:
        return result.linktest.location
    places = np.zeros((result.num_ranks, 4), dtype=np.int64)
    places[:, 0] = np.arange(result.num_ranks)
    return places


def distribution(counted: Histogram) -> Iterator[str]:
    """distribution.dat: bin, its lower edge, pairs in it."""
    for index, (edge, count) in enumerate(zip(counted.edges_s.tolist(), counted.counts.tolist(), strict=True)):
        yield f"{index:5d} {edge:e} {count:10d}\n"


def distribution_bw(counted: Histogram, result: LinkResult, part: Slice) -> Iterator[str]:
    """distribution_bw.dat: the same with the bandwidth of that edge."""
    with np.errstate(divide="ignore"):
        bandwidths = bandwidth_mib_per_s(result, part, counted.edges_s).tolist()
    for index, (bandwidth, count) in enumerate(zip(bandwidths, counted.counts.tolist(), strict=True)):
        yield f"{index:5d} {bandwidth:e} {count:10d}\n"


def bad_links(result: LinkResult, part: Slice) -> Iterator[str]:
    """bad_links.dat: each retested pair, under load and alone."""
    columns = (("Nr.", 6), ("From", 5), ("To", 5), ("1st (s)", 16), ("1st (MB/s)", 16), ("2nd (s)", 16))
    yield "#" + " ".join(f"{name:>{width}}" for name, width in (*columns, ("2nd (MB/s)", 16))) + "\n"
    mine = [one for one in result.retests if (one.repeat, one.size_index) == (part.repeat, part.size_index)]
    for index, pair in enumerate(mine):
        times = np.array([pair.time_ns, pair.retest_time_ns]) / 1e9
        (first, first_bw), (again, again_bw) = zip(times, bandwidth_mib_per_s(result, part, times), strict=True)
        hosts = " -> ".join(plain_host(result.ranks[rank].host) for rank in (pair.from_rank, pair.to_rank))
        yield (
            f"{index:6d} {pair.from_rank:5d} {pair.to_rank:5d} {first:16.8e} {first_bw:16.10f} "
            f"{again:16.8e} {again_bw:16.10f} {hosts}\n"
        )


def nodelist(result: LinkResult, part: Slice, found: Survey) -> Iterator[str]:
    """nodelist.dat: each rank as sender and as receiver; averages are size / mean time."""
    low = f"{LOW_BANDWIDTH_MIB_PER_S:g}"
    yield (
        f"#{'Nr.':>6} {'Host':>15} {'from_avg_bw (MB/s)':>25} {'to_avg_bw (MB/s)':>25} {'from_min_bw (MB/s)':>25} "
        f"{'to_min_bw (MB/s)':>25} fromcntmax<{low} tocntmax<{low}\n"
    )
    columns: list[list[float]] = []
    for quantity in ("mean_s", "max_s"):
        for side in (found.sending, found.receiving):
            columns.append(bandwidth_mib_per_s(result, part, getattr(side, quantity)).tolist())
    counts = [side.num_low.tolist() for side in (found.sending, found.receiving)]
    for place, *row in zip(result.ranks, *columns, *counts, strict=True):
        bandwidths = " ".join(f"{value:25.10f}" for value in row[:4])
        yield f"{place.rank:6d} {plain_host(place.host):>15} {bandwidths} {row[4]:10d} {row[5]:10d}\n"


def accesspattern(out: BinaryIO) -> RowWriter:
    """accesspattern.dat: from, to, step; 0 = in no step."""

    def write(first: int, steps: FloatArray) -> None:
        for rank, row in enumerate(steps, first):
            numbers = np.nan_to_num(row).astype(np.int64).tolist()
            _write_rows(out, "%8d %8d %8d\n", len(numbers), itertools.repeat(rank), range(len(numbers)), numbers)

    return write


def gnuplotinput(out: BinaryIO, result: LinkResult, part: Slice) -> RowWriter:
    """gnuplotinput.dat: from, to, s, MiB/s; own slots 0, nan = not measured. Twelve decimals are picoseconds."""

    def write(first: int, time_s: FloatArray) -> None:
        for rank, row in enumerate(time_s, first):
            times = _own_zero(rank, row).tolist()
            bandwidths = _own_zero(rank, bandwidth_mib_per_s(result, part, row)).tolist()
            columns = (itertools.repeat(rank), range(len(times)), times, bandwidths)
            _write_rows(out, "%10d %10d %18.12f %18.8f\n", len(times), *columns)

    return write


def distancepattern(out: BinaryIO, result: LinkResult) -> RowWriter:
    """distancepattern.dat: from, to, the coordinates of each, the way in each dimension of a torus that just holds
    all, their sum, and the time; own slots 0, nan = not measured.
    """
    places = locations(result)
    extent = places.max(axis=0) + 1
    num_ranks, coordinates = len(places), places.T.tolist()

    def write(first: int, time_s: FloatArray) -> None:
        for rank, row in enumerate(time_s, first):
            apart = np.abs(places - places[rank])
            ways = np.minimum(apart, extent - apart)
            columns = (*coordinates, *ways.T.tolist(), ways.sum(axis=1).tolist(), _own_zero(rank, row).tolist())
            own = " ".join(f"{at:2d}" for at in places[rank].tolist())
            line = f"%4d %4d {own}   %2d %2d %2d %2d     %2d %2d %2d %2d   %2d %18.8e s\n"
            _write_rows(out, line, num_ranks, itertools.repeat(rank), range(num_ranks), *columns)

    return write


def _own_zero(rank: int, row: FloatArray) -> FloatArray:
    """A rank's row, whose own slot is 0 where it is not measured."""
    row = row.copy()
    row[rank] = np.nan_to_num(row[rank])
    return row


def _write_rows(out: BinaryIO, line: str, num_rows: int, *columns: Iterable[float]) -> None:
    """One formatting for all lines together: these files have N² of them."""
    cells = tuple(itertools.islice(itertools.chain.from_iterable(zip(*columns, strict=False)), num_rows * len(columns)))
    out.write((line * num_rows % cells).encode())


class Histogram:
    """Equal bins from `low_s` to `high_s`. What lies outside is counted in the first or the last bin."""

    def __init__(self, low_s: float, high_s: float, num_bins: int) -> None:
        """NaN as both ends: there is nothing to count."""
        self.low_s, self.num_bins = low_s, num_bins
        self.width_s = (high_s - low_s) / num_bins
        self.high_s = high_s
        self.counts: IntArray = np.zeros(num_bins, dtype=np.int64)
        self.num_outside = 0

    def add(self, time_s: FloatArray) -> None:
        """Finite times, of any shape."""
        if self.width_s > 0:
            bins = np.clip((time_s - self.low_s) / self.width_s, 0, self.num_bins - 1).astype(np.int64)
        else:
            bins = np.zeros(time_s.shape, dtype=np.int64)
        self.counts += np.bincount(bins.ravel(), minlength=self.num_bins)
        self.num_outside += int(np.count_nonzero((time_s < self.low_s) | (time_s > self.high_s)))

    @property
    def edges_s(self) -> FloatArray:
        """Lower edges, [num_bins]."""
        return np.asarray(self.low_s + self.width_s * np.arange(self.num_bins), dtype=np.float64)
