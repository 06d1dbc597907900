# SPDX-License-Identifier: Apache-2.0
"""Any number of values in bounded memory: exact while they are few, counted in fine bins from then on."""

from __future__ import annotations

import math

import numpy as np

from leadline.model import FloatArray, IntArray
from leadline.stats.distribution import QUANTILES, Distribution, describe, median_interval

# So many values are kept (8 MB); more are counted.
MOST_EXACT = 1_000_000
# The bits of a positive float64 grow with it: without its last 39 they are the number of a bin, 8192 an octave.
_SHIFT = 52 - 13
# Bins of 2^-30 and 2^90 ns; what lies outside is counted in the first and last.
_FIRST_BIN, _LAST_BIN = (int(np.float64(2.0**power).view(np.int64)) >> _SHIFT for power in (-30, 90))


class Tally:
    """Positive values (ns) that come in blocks. Number, minimum, maximum and mean are exact, always. Above MOST_EXACT
    values the others are within 1/8192 octave (0.009 %). The order of the values changes nothing but the last digit of
    the mean.
    """

    def __init__(self) -> None:
        """Begins with none."""
        self._num_values = 0
        self._min, self._max = math.inf, -math.inf
        self._sums: list[float] = []
        self._values: list[FloatArray] = []
        self._first_bin = 0
        self._counts: IntArray | None = None  # None while exact

    def add(self, values: FloatArray) -> None:
        """A block of finite positive values, of any shape. The caller may not change it later."""
        values = np.ravel(values)
        if not values.size:
            return
        self._num_values += values.size
        self._min, self._max = min(self._min, float(values.min())), max(self._max, float(values.max()))
        with np.errstate(over="ignore"):
            self._sums.append(float(values.sum()))
        self._values.append(values)
        self._count_if_many()

    def merge(self, other: Tally) -> None:
        """All that another tally has."""
        self._num_values += other._num_values
        self._min, self._max = min(self._min, other._min), max(self._max, other._max)
        self._sums += other._sums
        self._values += other._values
        if other._counts is not None:
            self._include(other._first_bin, other._counts)
        self._count_if_many()

    @property
    def num_values(self) -> int:
        """How many there are."""
        return self._num_values

    @property
    def is_exact(self) -> bool:
        """Whether quantiles and counts are those of the values themselves."""
        return self._counts is None

    def distribution(self) -> Distribution:
        """Quantiles (type 7 while exact) and the others; NaN where there is no value."""
        if self._counts is None:
            return describe(self._all())
        low, high = (index / (self._num_values - 1) for index in median_interval(self._num_values))
        return Distribution(
            num_pairs=self._num_values,
            **{name: self.quantile(share) for name, share in QUANTILES.items()},
            mean=math.fsum(self._sums) / self._num_values,
            median_interval_low=self.quantile(low),
            median_interval_high=self.quantile(high),
        )

    def quantile(self, share: float) -> float:
        """The value below which that share of the values lies; NaN where there is none."""
        if not self._num_values:
            return math.nan
        if self._counts is None:
            return float(np.quantile(self._all(), share))
        if share <= 0 or share >= 1:
            return self._min if share <= 0 else self._max
        # The values of a bin lie evenly in it, each in the middle of its share.
        place = share * (self._num_values - 1) + 0.5
        edges, below = self._edges_and_below()
        return float(np.interp(place, below, edges))

    def counts(self, edges: FloatArray) -> IntArray:
        """Values in each bin, int64 [len(edges) - 1]; a bin includes its low edge, the last one both. Edges that reach
        from the minimum to the maximum lose no value.
        """
        if self._counts is None:
            return np.histogram(self._all(), edges)[0].astype(np.int64)
        own_edges, below = self._edges_and_below()
        at_edges = np.rint(np.interp(edges, own_edges, below)).astype(np.int64)
        # Below an edge lies what is less than it, at the last one also what is equal.
        edges = np.asarray(edges)
        at_edges[edges >= self._max] = self._num_values - 1
        at_edges[edges <= self._min] = 0
        at_edges[edges > self._max] = self._num_values
        if edges[-1] == self._max:
            at_edges[-1] = self._num_values
        return np.diff(at_edges)

    def _all(self) -> FloatArray:
        if len(self._values) > 1:
            self._values = [np.concatenate(self._values)]
        return self._values[0] if self._values else np.empty(0)

    def _count_if_many(self) -> None:
        if self._num_values <= MOST_EXACT:
            return
        for values in self._values:
            bins = np.ascontiguousarray(values, dtype=np.float64).view(np.int64) >> _SHIFT
            low, high = int(bins.min()), int(bins.max())
            if low < _FIRST_BIN or high > _LAST_BIN:
                np.clip(bins, _FIRST_BIN, _LAST_BIN, out=bins)
                low = int(bins.min())
            bins -= low
            self._include(low, np.bincount(bins))
        self._values = []

    def _include(self, first_bin: int, counts: IntArray) -> None:
        """Adds counts of bins, with more room where these reach further."""
        if self._counts is None:
            self._first_bin, self._counts = first_bin, counts.copy()
            return
        low = min(self._first_bin, first_bin)
        high = max(self._first_bin + self._counts.size, first_bin + counts.size)
        if (low, high) != (self._first_bin, self._first_bin + self._counts.size):
            wider = np.zeros(high - low, dtype=np.int64)
            wider[self._first_bin - low :][: self._counts.size] = self._counts
            self._first_bin, self._counts = low, wider
        self._counts[first_bin - low :][: counts.size] += counts

    def _edges_and_below(self) -> tuple[FloatArray, FloatArray]:
        """Knots of the distribution: edges of bins in ns, and how many values lie below each."""
        assert self._counts is not None
        used = np.flatnonzero(self._counts)
        # Both edges of every bin with values: where none are, the distribution is level.
        bins = np.stack([used, used + 1], axis=1) + self._first_bin
        edges = np.clip((bins << _SHIFT).view(np.float64), self._min, self._max)
        edges[0, 0], edges[-1, 1] = self._min, self._max
        above = np.cumsum(self._counts[used])
        below = np.stack([above - self._counts[used], above], axis=1)
        return edges.ravel(), below.ravel().astype(np.float64)
