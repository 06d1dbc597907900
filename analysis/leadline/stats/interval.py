# SPDX-License-Identifier: Apache-2.0
"""Intervals of means: what independent samples say about their expected value, as engine/stats/interval.hpp does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from leadline.model import FloatArray, Table


@dataclass(frozen=True)
class MeanInterval:
    """mean - half_width to mean + half_width holds the value behind independent samples with the given confidence."""

    num: int  # independent samples
    mean: float
    half_width: float  # NaN below two samples

    @property
    def low(self) -> float:
        """The lower end."""
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        """The upper end."""
        return self.mean + self.half_width

    @property
    def share(self) -> float:
        """The half-width as a share of the mean."""
        return self.half_width / self.mean if self.mean else math.nan


_FEWEST_CONTROLLED = 10  # samples, as the engine has it
NOTHING = MeanInterval(0, math.nan, math.nan)


def mean_interval(samples: FloatArray, confidence: float = 0.95) -> MeanInterval:
    """By Student's t, with n - 1 degrees of freedom."""
    num = int(samples.size)
    if not num:
        return NOTHING
    mean, variance = _moments(samples)
    if num < 2:
        return MeanInterval(num, mean, math.nan)
    return MeanInterval(num, mean, student_t_quantile((1 + confidence) / 2, num - 1) * math.sqrt(variance / num))


def _moments(samples: FloatArray) -> tuple[float, float]:
    """Mean and variance (n - 1; NaN below two), of equal samples exactly these and 0: taken about the first one."""
    about = samples - samples[0]
    return float(samples[0] + about.mean()), float(about.var(ddof=1)) if samples.size > 1 else math.nan


def paired_ratio_interval(
    numerator: FloatArray, denominator: FloatArray, control: FloatArray, confidence: float = 0.95
) -> MeanInterval:
    """The ratio of two positive means of the same samples: by the variance of numerator - ratio * denominator. From 10
    samples on what the control explains, whose expected value is 0, is taken off and costs a degree of freedom.
    """
    num = int(numerator.size)
    if not num:
        return NOTHING
    (above, _), (below, _), (middle, spread) = (_moments(one) for one in (numerator, denominator, control))
    if not (above > 0 and below > 0):
        return MeanInterval(num, math.nan, math.nan)
    ratio, degrees, slope = above / below, num - 1, 0.0
    rest = numerator - ratio * denominator
    if num >= _FEWEST_CONTROLLED and spread > 0:
        slope = float(rest @ (control - middle)) / (degrees * spread)
        rest, degrees = rest - slope * (control - middle), degrees - 1
    mean = ratio - slope * middle / below
    if num < 2:
        return MeanInterval(num, mean, math.nan)
    error = math.sqrt(float(rest @ rest) / degrees / num) / below
    return MeanInterval(num, mean, student_t_quantile((1 + confidence) / 2, degrees) * error)


@dataclass(frozen=True, repr=False)
class Convergence(Table):
    """The interval of a mean as it was after more and more samples. All arrays have the same length."""

    num: FloatArray
    mean: FloatArray
    half_width: FloatArray


def convergence(samples: FloatArray, most: int = 60) -> Convergence:
    """Of the first two samples to all, at up to so many places."""
    if samples.size < 2:
        return Convergence(*(np.empty(0) for _ in range(3)))
    num = np.unique(np.rint(np.geomspace(2, samples.size, most)).astype(np.int64))
    # About the mean of all: sums of squares about 0 lose the digits of a narrow spread.
    shift = float(samples.mean())
    sums, squares = (np.cumsum((samples - shift) ** power)[num - 1] for power in (1, 2))
    variance = np.maximum(squares - sums**2 / num, 0) / (num - 1)
    quantiles = np.array([student_t_quantile(0.975, one - 1) for one in num.tolist()])
    return Convergence(num.astype(np.float64), shift + sums / num, quantiles * np.sqrt(variance / num))


@lru_cache(maxsize=1024)
def student_t_quantile(p: float, degrees_of_freedom: float) -> float:
    """The p-quantile of Student's t with so many degrees of freedom (> 0); 0 < p < 1. Relative error below 1e-9."""
    if p < 0.5:
        return -student_t_quantile(1 - p, degrees_of_freedom)
    if p == 0.5:
        return 0.0
    low, high = 0.0, 1.0
    while _upper_tail(high, degrees_of_freedom) > 1 - p:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _upper_tail(middle, degrees_of_freedom) > 1 - p else (low, middle)
    return (low + high) / 2


def _upper_tail(t: float, dof: float) -> float:
    """P(T > t) for t >= 0."""
    if t == 0:
        return 0.5
    return _incomplete_beta(dof / (dof + t * t), t * t / (dof + t * t), dof / 2, 0.5) / 2


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """The regularised incomplete beta function at x = 1 - rest; both are given, since the smaller of them may be lost
    in the other's rounding.
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(rest, x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log(rest)
    return math.exp(log_front) * _continued_fraction(x, a, b) / a


def _continued_fraction(x: float, a: float, b: float) -> float:
    """NIST Handbook of Mathematical Functions, 8.17.22; it converges within some sqrt(a + b) terms."""
    value = 1.0
    for step in range(100 + 2 * int(10 * math.sqrt(a + b)), 0, -1):
        m = step // 2
        if step % 2 == 0:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        else:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        value = 1 + term / value
    return 1 / value
