# SPDX-License-Identifier: Apache-2.0
"""Medians of many groups of values at once, in bounded memory: exact while values are few, counted in bins beyond."""

from __future__ import annotations

import numpy as np

from leadline.model import FloatArray, IntArray

# So many values are kept (64 MB with their groups); more are counted.
MOST_EXACT = 4_000_000
# Bins of 1/16 octave, 4.4 %, from 1 ns to 18 minutes; what lies outside is counted in the first and last.
_BINS_AN_OCTAVE = 16
_NUM_BINS = 40 * _BINS_AN_OCTAVE


class MedianOfEach:
    """The lower median (of an even number of values the smaller one of the two in the middle) of each group. Above
    MOST_EXACT values it is right to 2.2 %.
    """

    def __init__(self, num_groups: int) -> None:
        """Begins without a value."""
        self._num_groups, self._num_values = num_groups, 0
        self._kept: list[tuple[IntArray, FloatArray]] = []
        self._counts: IntArray | None = None  # None while exact; [groups, bins] in a row

    def add(self, group: IntArray, values: FloatArray) -> None:
        """Positive values with the group of each. The caller may not change them later."""
        self._num_values += values.size
        self._kept.append((group, values))
        if self._num_values <= MOST_EXACT:
            return
        if self._counts is None:
            self._counts = np.zeros(self._num_groups * _NUM_BINS, dtype=np.int64)
        for groups, numbers in self._kept:
            bins = np.clip(np.floor(_BINS_AN_OCTAVE * np.log2(numbers)), 0, _NUM_BINS - 1).astype(np.int64)
            self._counts += np.bincount(groups * _NUM_BINS + bins, minlength=self._counts.size)
        self._kept = []

    def medians(self) -> FloatArray:
        """Float64 [groups]; NaN where a group has no value."""
        return self._exact() if self._counts is None else self._from_counts(self._counts)

    def _exact(self) -> FloatArray:
        medians = np.full(self._num_groups, np.nan)
        if not self._num_values:
            return medians
        group, values = (np.concatenate(column) for column in zip(*self._kept, strict=True))
        order = np.lexsort((values, group))
        num = np.bincount(group, minlength=self._num_groups)
        there = np.flatnonzero(num)
        first = (np.cumsum(num) - num)[there]
        medians[there] = values[order[first + (num[there] - 1) // 2]]
        return medians

    def _from_counts(self, counts: IntArray) -> FloatArray:
        below = np.cumsum(counts.reshape(self._num_groups, _NUM_BINS), axis=1)
        num = below[:, -1]
        at = (below <= ((num - 1) // 2)[:, None]).sum(axis=1)
        middles = 2.0 ** ((np.minimum(at, _NUM_BINS - 1) + 0.5) / _BINS_AN_OCTAVE)
        return np.where(num > 0, middles, np.nan)
