# SPDX-License-Identifier: Apache-2.0
"""What is said about many values: quantiles, the interval of their median, where their tail ends."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.model import BoolArray, FloatArray

# So many of the largest values may be faults; what lies behind twice as many is taken for the tail.
MOST_FAULTS = 200
# How far beyond the tail's own largest value one must lie: a guess, tried on tails that fall with the 2nd to 4th power.
_CLEAR_FACTOR = 1.5


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
    p999: float
    max: float
    mean: float
    median_interval_low: float
    median_interval_high: float


QUANTILES = {
    "min": 0, "p01": 0.01, "p05": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "p99": 0.99,
    "p999": 0.999, "max": 1,
}  # fmt: skip


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
    others = ("mean", "median_interval_low", "median_interval_high")
    if not values.size:
        return Distribution(0, **dict.fromkeys((*QUANTILES, *others), math.nan))
    ordered = np.sort(values)
    quantiles = np.quantile(ordered, list(QUANTILES.values()))
    low, high = median_interval(ordered.size)
    numbers = (*quantiles, ordered.mean(), ordered[low], ordered[high])
    named = {name: float(v) for name, v in zip((*QUANTILES, *others), numbers, strict=True)}
    return Distribution(int(ordered.size), **named)


def end_of_tail(values: FloatArray) -> float:
    """Above this no value is expected from the tail of the others: their logarithm is continued along the logarithm of
    the rank, from the 4000th largest value over the 400th to the largest (a straight line for a power law, and too far
    out for any lighter tail). NaN where there are fewer than 4 values; all must be positive.
    """
    if values.size < 4:
        return float("nan")
    near = min(2 * MOST_FAULTS, values.size // 4)
    far = min(10 * near, values.size)
    ordered = np.partition(values, [values.size - near, values.size - far])
    at_near, at_far = float(ordered[values.size - near]), float(ordered[values.size - far])
    slope = np.log(at_near / at_far) / np.log(far / near)
    return float(_CLEAR_FACTOR * at_near * near**slope)
