# SPDX-License-Identifier: Apache-2.0
"""What the rows of a phase say: which ranks to show, and bytes over time of all of them and of groups of ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leadline.io.result import IO_TIMES, NUM_SERIES_BINS, IoPhase, IoResult, PhaseRows, Series
from leadline.model import FloatArray, IntArray

MOST_ROWS = 64  # of a timeline
_BLOCK = 4096  # ranks read at once


@dataclass(frozen=True)
class SeriesGroup:
    """Bytes by time of consecutive ranks."""

    begin: int
    end: int
    bytes: IntArray  # [bins]


@dataclass(frozen=True)
class PhaseAnalysis:
    """All that page and sheet say about a phase beside its summary."""

    phase: IoPhase
    rows: PhaseRows
    shown_ranks: IntArray  # of the timeline, ascending: all, or of many the slowest
    bin_ns: int
    total: IntArray  # bytes by time of all ranks, without empty bins at the end
    groups: tuple[SeriesGroup, ...]  # at most MOST_ROWS

    @property
    def end_ns(self) -> float:
        """When the last rank was done; 0 where no rank has a row."""
        ends = self.rows.end_ns[self.rows.has_row]
        return float(ends.max()) if ends.size else 0.0


def analyse_phase(result: IoResult, phase: IoPhase) -> PhaseAnalysis:
    """Reads all rows of a phase, some ranks at a time."""
    rows = result.rows(phase)
    shown = np.flatnonzero(rows.has_row)
    if shown.size > MOST_ROWS:
        slowest = np.argsort(-rows.io_ns[shown], kind="stable")[:MOST_ROWS]
        shown = np.sort(shown[slowest])
    bin_ns, groups = _series_groups(result, phase)
    total: IntArray = np.array([group.bytes for group in groups], dtype=np.int64).sum(axis=0)
    used = int(np.flatnonzero(total)[-1]) + 1 if total.any() else 0
    groups = tuple(SeriesGroup(one.begin, one.end, one.bytes[:used]) for one in groups)
    return PhaseAnalysis(phase, rows, shown, bin_ns, total[:used], groups)


def _series_groups(result: IoResult, phase: IoPhase) -> tuple[int, tuple[SeriesGroup, ...]]:
    """All ranks in at most MOST_ROWS groups, in bins as long as the longest of any rank."""
    num_ranks = result.num_ranks
    edge = -(-num_ranks // MOST_ROWS)
    sums: list[IntArray] = []
    lengths: list[int] = []
    for begin in range(0, num_ranks, edge):
        bin_ns, total = 1, np.zeros(NUM_SERIES_BINS, dtype=np.int64)
        for first in range(begin, min(begin + edge, num_ranks), _BLOCK):
            end = min(first + _BLOCK, begin + edge, num_ranks)
            more_ns, more = summed(result.series(phase, first, end))
            longest = max(bin_ns, more_ns)
            total = coarsened(total, bin_ns, longest) + coarsened(more, more_ns, longest)
            bin_ns = longest
        lengths.append(bin_ns)
        sums.append(total)
    longest = max(lengths)
    return longest, tuple(
        SeriesGroup(begin, min(begin + edge, num_ranks), coarsened(total, bin_ns, longest))
        for begin, bin_ns, total in zip(range(0, num_ranks, edge), lengths, sums, strict=True)
    )


def summed(series: Series) -> tuple[int, IntArray]:
    """Bytes by time of several ranks together, in bins as long as the longest of any that moved something."""
    moves = series.bytes.any(axis=1) & (series.bin_ns > 0)
    longest = int(series.bin_ns[moves].max()) if moves.any() else 1
    total = np.zeros(NUM_SERIES_BINS, dtype=np.int64)
    for bin_ns in np.unique(series.bin_ns[moves]).tolist():
        alike = moves & (series.bin_ns == bin_ns)
        total += coarsened(series.bytes[alike].sum(axis=0, dtype=np.int64), bin_ns, longest)
    return longest, total


def coarsened(counts: IntArray, bin_ns: int, longer_ns: int) -> IntArray:
    """Counts in longer bins, whose length is a power of two times theirs; as many bins, the last ones empty."""
    factor = max(longer_ns // bin_ns, 1)
    where = np.minimum(np.arange(len(counts)) // factor, len(counts) - 1)
    return np.bincount(where, weights=counts.astype(np.float64), minlength=len(counts)).astype(np.int64)


def rest_ns(rows: PhaseRows) -> FloatArray:
    """Float64 [N]: time between begin and end that belongs to none of the kinds."""
    known: FloatArray = np.array([rows.times_ns[name] for name in IO_TIMES]).sum(axis=0)
    rest: FloatArray = np.maximum(rows.end_ns - rows.begin_ns - known, 0)
    return rest
