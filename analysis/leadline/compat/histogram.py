# SPDX-License-Identifier: Apache-2.0
"""Pairs counted in equal bins of time, as distribution.dat has them."""

from __future__ import annotations

import numpy as np

from leadline.model import FloatArray, IntArray


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
