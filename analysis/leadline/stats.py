# SPDX-License-Identifier: Apache-2.0
"""Numbers in, numbers out: pair values by class, quantiles, intervals, colour ranges, histograms, host aggregation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

import numpy as np

from leadline.model import BoolArray, FloatArray, IntArray

# High to low end of the colours at least, so that noise of a per cent does not look like a fault.
_LEAST_SPAN = 1.1


class PairClass(str, Enum):
    """How far apart the two ranks of a pair are."""

    SAME_HOST = "same host"
    BETWEEN_HOSTS = "between hosts"


@dataclass(frozen=True)
class Distribution:
    """What is said about the times of a class of pairs, in ns; NaN where there is no pair. See docs/metrics.md."""

    num_pairs: int
    min: float
    p01: float
    p05: float
    p25: float
    median: float
    p75: float
    p95: float
    p99: float
    max: float
    mean: float
    median_interval_low: float
    median_interval_high: float


@dataclass(frozen=True)
class ColourRange:
    """The stretch of values that the colour map is spread over; what lies outside gets a colour of its own."""

    low: float
    high: float
    logarithmic: bool
    num_below: int
    num_above: int


@dataclass(frozen=True)
class Histogram:
    """Counts of several groups over the same bins; edges has one more entry than each row of counts."""

    edges: FloatArray
    counts: dict[str, IntArray]
    logarithmic: bool


def class_mask(to_measure: BoolArray, host_of: IntArray, pair_class: PairClass) -> BoolArray:
    """Those cells to measure that are a class of pairs, bool [N, N]; host_of is int [N]."""
    same = host_of[:, None] == host_of[None, :]
    wanted = same if pair_class is PairClass.SAME_HOST else ~same
    return np.asarray(wanted & to_measure)


def measured(matrix: FloatArray, mask: BoolArray | None = None) -> FloatArray:
    """The values that are there, in one row."""
    wanted = np.isfinite(matrix)
    return np.asarray(matrix[wanted if mask is None else wanted & mask])


def median_interval(num_values: int, confidence: float = 0.95) -> tuple[int, int]:
    """The order statistics (0-based) of the smallest symmetric pair that encloses the population's median so surely.

    Distribution-free, from the binomial distribution (normal approximation above 1000 values); the extremes where
    there are too few values for the confidence. The engine computes the same.
    """
    if num_values < 1:
        raise ValueError("no values")
    # The median is missed below the interval if at most `low` values lie under it, and likewise above.
    tail = (1 - confidence) / 2
    below = _binomial_below(num_values, tail) if num_values <= 1000 else _normal_below(num_values, tail)
    low = min(max(below, 0), (num_values - 1) // 2)
    return low, num_values - 1 - low


def _binomial_below(num_values: int, tail: float) -> int:
    """Largest k with P(Binomial(n, 1/2) <= k) <= tail, or -1."""
    probability, cumulative = 0.5**num_values, 0.0
    for k in range(num_values + 1):
        cumulative += probability
        if cumulative > tail:
            return k - 1
        probability *= (num_values - k) / (k + 1)
    return num_values


def _normal_below(num_values: int, tail: float) -> int:
    """The same by the normal distribution, with the correction for whole numbers."""
    low, high = -40.0, 40.0
    for _ in range(64):
        middle = (low + high) / 2
        if math.erfc(middle / math.sqrt(2)) / 2 > tail:
            low = middle
        else:
            high = middle
    return math.floor(num_values / 2 - 0.5 - low * math.sqrt(num_values) / 2)


def describe(values: FloatArray) -> Distribution:
    """Quantiles are type 7 of Hyndman and Fan, as numpy's default."""
    names = ("min", "p01", "p05", "p25", "median", "p75", "p95", "p99", "max")
    others = ("mean", "median_interval_low", "median_interval_high")
    if not values.size:
        return Distribution(0, **dict.fromkeys(names + others, math.nan))
    ordered = np.sort(values)
    quantiles = np.quantile(ordered, [0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1])
    low, high = median_interval(ordered.size)
    numbers = (*quantiles, ordered.mean(), ordered[low], ordered[high])
    return Distribution(int(ordered.size), **{name: float(v) for name, v in zip(names + others, numbers, strict=True)})


def colour_range(values: FloatArray) -> ColourRange:
    """A range that few values cannot stretch: 1 to 99 % (more is cut where there are few values), widened to all
    values that are near. Logarithmic where the high end is three times the low one or more.
    """
    if not values.size:
        return ColourRange(math.nan, math.nan, False, 0, 0)
    # Four values, the two directions of two pairs, must not stretch the range of a small matrix.
    cut = min(max(0.01, 4 / values.size), 0.25)
    low, high = (float(q) for q in np.quantile(values, [cut, 1 - cut]))
    near = min(max(1.5, math.sqrt(high / low)), 3.0)
    low = float(values[values >= low / near].min())
    high = float(values[values <= high * near].max())
    if high / low < _LEAST_SPAN:
        middle = math.sqrt(low * high)
        low, high = middle / math.sqrt(_LEAST_SPAN), middle * math.sqrt(_LEAST_SPAN)
    below, above = int(np.count_nonzero(values < low)), int(np.count_nonzero(values > high))
    return ColourRange(low, high, high / low >= 3, below, above)


def histogram(groups: dict[str, FloatArray], num_bins: int = 60) -> Histogram:
    """All groups over equal bins from the smallest to the largest value of all, which are logarithmic where these
    differ tenfold or more.
    """
    values = np.concatenate(list(groups.values()))
    low, high = (float(values.min()), float(values.max())) if values.size else (1.0, 2.0)
    if low == high:
        low, high = low * 0.95, high * 1.05
    logarithmic = high / low >= 10
    edges = np.geomspace(low, high, num_bins + 1) if logarithmic else np.linspace(low, high, num_bins + 1)
    edges[0], edges[-1] = low, high
    counts = {name: np.histogram(group, edges)[0].astype(np.int64) for name, group in groups.items()}
    return Histogram(edges, counts, logarithmic)


def host_matrices(matrix: FloatArray, host_of: IntArray, num_hosts: int) -> tuple[FloatArray, FloatArray]:
    """Median and worst of the pairs of each ordered pair of hosts, two float64 [H, H]; NaN where no pair is."""
    median, worst = (np.full((num_hosts, num_hosts), np.nan) for _ in range(2))
    for host in range(num_hosts):
        rows = matrix[host_of == host]
        wanted = np.isfinite(rows)
        values, to_host = rows[wanted], np.broadcast_to(host_of, rows.shape)[wanted]
        order = np.lexsort((values, to_host))
        values = values[order]
        there, first, size = np.unique(to_host[order], return_index=True, return_counts=True)
        median[host, there] = (values[first + (size - 1) // 2] + values[first + size // 2]) / 2
        worst[host, there] = values[first + size - 1]
    return median, worst


def host_cells(cells: BoolArray, host_of: IntArray, num_hosts: int) -> BoolArray:
    """Whether an ordered pair of hosts has any of these cells, bool [H, H]."""
    rows = np.array([cells[host_of == host].any(axis=0) for host in range(num_hosts)])
    return np.stack([rows[:, host_of == host].any(axis=1) for host in range(num_hosts)], axis=1)


def any_of_tiles(cells: BoolArray, edge: int) -> BoolArray:
    """Whether an edge x edge tile has any of these cells, bool [ceil(N/edge), same]."""
    return np.asarray(np.isfinite(worst_of_tiles(np.where(cells, 1.0, np.nan), edge)))


def num_partners(met: BoolArray, group_of: IntArray) -> IntArray:
    """With how many other groups (hosts, or ranks by themselves) each one has any of these cells; int64 [G]."""
    num_groups = int(group_of.max()) + 1
    partners = met | met.T if num_groups == len(group_of) else host_cells(met | met.T, group_of, num_groups)
    return np.asarray(partners.sum(axis=1) - np.diag(partners), dtype=np.int64)


def worst_of_tiles(matrix: FloatArray, edge: int) -> FloatArray:
    """The largest value of every edge x edge tile, NaN where a tile has none; float64 [ceil(N/edge), same]."""
    num_tiles = -(-len(matrix) // edge)
    padded = np.full((num_tiles * edge, num_tiles * edge), -np.inf)
    padded[: len(matrix), : len(matrix)] = np.where(np.isfinite(matrix), matrix, -np.inf)
    worst = padded.reshape(num_tiles, edge, num_tiles, edge).max(axis=(1, 3))
    return np.where(np.isfinite(worst), worst, np.nan)


def medians(matrix: FloatArray, axis: int) -> FloatArray:
    """Median over one axis of what is there; NaN where nothing is."""
    ordered = np.sort(matrix if axis == 1 else matrix.T, axis=1)  # NaN last
    size = np.isfinite(ordered).sum(axis=1)
    row = np.arange(len(ordered))
    middle = (ordered[row, np.maximum(size - 1, 0) // 2] + ordered[row, np.minimum(size // 2, len(ordered) - 1)]) / 2
    return np.where(size > 0, middle, np.nan)
