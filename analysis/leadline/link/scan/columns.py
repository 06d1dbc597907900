# SPDX-License-Identifier: Apache-2.0
"""Medians of rows and of columns; those of columns, never in memory as a whole, from kept values or counts."""

from __future__ import annotations

import threading

import numpy as np

from leadline.link.scan.blocks import (
    CODES_AN_OCTAVE,
    NAN_CODE,
    NUM_CODES,
    Codes,
    Times,
    as_float32,
    codes_of,
    time_of_code,
)
from leadline.model import FloatArray

# Up to so many ranks all times are kept for the columns (64 MB), above they are counted.
MOST_KEPT = 4096

_NUM_BINS = 1024
_NOTHING = _NUM_BINS - 1  # where NaN is counted
_ROWS_COUNTED_AT_ONCE = 1024
_COLUMNS_COUNTED_AT_ONCE = 256
# Octaves away from the typical time, and how many codes a bin has there.
_STRETCHES = ((1, 1), (2, 4), (12, 64))


def row_medians(rows: FloatArray) -> FloatArray:
    """The median of each row without its NaN, NaN where it has nothing else; `rows` lose their order."""
    num = np.count_nonzero(~np.isnan(rows), axis=1)
    medians = np.full(len(rows), np.nan)
    different = np.unique(num[num > 0])
    # Finding the middle is faster than sorting, but is done once for each number of times in a row.
    if different.size > 4:
        rows.sort(axis=1)
    for count in different.tolist():
        where = np.flatnonzero(num == count)
        part, middle = rows if where.size == len(rows) else rows[where], count // 2
        if different.size <= 4:
            part.partition(middle, axis=1)
        upper = part[:, middle]
        lower = part[:, :middle].max(axis=1) if count % 2 == 0 else upper
        medians[where] = lower * 0.5 + upper * 0.5
    return medians


class KeptColumns:
    """Exact to float32."""

    def __init__(self, num_ranks: int) -> None:
        """Nothing is there yet."""
        self._times = np.full((num_ranks, num_ranks), np.nan, dtype=np.float32)

    def add(self, first: int, side: Times) -> None:
        """Rows from `first` on; any thread, in any order."""
        self._times[first : first + len(side.times)] = as_float32(side.times)

    def medians(self) -> FloatArray:
        """Of every column, float64 [N]; NaN where it has none."""
        # A few columns at a time: each time they are brought together in memory.
        step = max((1 << 21) // len(self._times), 1)
        parts = [
            row_medians(np.ascontiguousarray(self._times[:, first : first + step].T).astype(np.float64))
            for first in range(0, len(self._times), step)
        ]
        return np.concatenate(parts)


class CountedColumns:
    """From 1024 bins a column: within 0.4 % where a column is up to twice as slow or fast as is typical, and coarser
    further away.
    """

    def __init__(self, num_ranks: int, typical_ns: float) -> None:
        """The bins are finest around the typical time."""
        self._num_ranks, self._lock = num_ranks, threading.Lock()
        self._bin_of, self._edges_ns = _bins_around(typical_ns)
        self._counts = np.zeros((num_ranks, _NUM_BINS), dtype=np.int32)
        self._pending = np.empty((_ROWS_COUNTED_AT_ONCE, num_ranks), dtype=np.uint16)
        self._num_pending = 0

    def add(self, first: int, side: Times) -> None:
        """Rows from `first` on; any thread, in any order."""
        del first
        bins = np.take(self._bin_of, side.codes)
        with self._lock:
            while len(bins):
                room = _ROWS_COUNTED_AT_ONCE - self._num_pending
                now, bins = bins[:room], bins[room:]
                self._pending[self._num_pending :][: len(now)] = now
                self._num_pending += len(now)
                if self._num_pending == _ROWS_COUNTED_AT_ONCE:
                    self._count()

    def medians(self) -> FloatArray:
        """Of every column, float64 [N]; NaN where it has none."""
        self._count()
        below = np.cumsum(self._counts[:, :_NOTHING], axis=1, dtype=np.int64)
        num = below[:, -1]
        # The middle of the values lies in the first bin with which half of them are reached.
        index = np.argmax(2 * below >= num[:, None], axis=1)
        row = np.arange(self._num_ranks)
        in_bin = np.maximum(self._counts[row, index], 1)
        share = (num / 2 - (below[row, index] - in_bin)) / in_bin
        low, high = self._edges_ns[index], self._edges_ns[index + 1]
        return np.where(num > 0, low + np.clip(share, 0, 1) * (high - low), np.nan)

    def _count(self) -> None:
        """A few columns at a time, so that what is counted stays close to the processor."""
        base = np.arange(_COLUMNS_COUNTED_AT_ONCE, dtype=np.int64)[:, None] * _NUM_BINS
        for first in range(0, self._num_ranks, _COLUMNS_COUNTED_AT_ONCE):
            bins = self._pending[: self._num_pending, first : first + _COLUMNS_COUNTED_AT_ONCE].T
            # In the order of C: in that of `bins`, ravel() would have to copy.
            places = np.add(bins, base[: len(bins)], order="C").ravel()
            counts = np.bincount(places, minlength=len(bins) * _NUM_BINS)
            self._counts[first : first + len(bins)] += counts.reshape(-1, _NUM_BINS).astype(np.int32)
        self._num_pending = 0


def _bins_around(typical_ns: float) -> tuple[Codes, FloatArray]:
    """The bin of every code, and the lower edge of every bin (ns) with the upper one of the last."""
    middle = int(codes_of(np.array([typical_ns], dtype=np.float32))[0])
    steps = [step for octaves, step in _STRETCHES for _ in range(octaves * CODES_AN_OCTAVE // step)]
    up = middle + np.concatenate([[0], np.cumsum(steps)])
    down = middle - np.cumsum(steps)
    lows = np.concatenate([down[::-1], up])
    lows = np.unique(np.clip(lows, 1, NAN_CODE - 1))
    # A bin below and one above take what lies further away.
    assert lows.size + 2 < _NOTHING
    bin_of = np.searchsorted(lows, np.arange(NUM_CODES), side="right").astype(np.uint16)
    bin_of[NAN_CODE:] = _NOTHING
    edges = time_of_code(np.concatenate([[lows[0]], lows, [lows[-1]]]))
    padded = np.full(_NUM_BINS + 1, edges[-1])
    padded[: edges.size] = edges
    return bin_of, padded
