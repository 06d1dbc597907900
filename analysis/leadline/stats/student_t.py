# SPDX-License-Identifier: Apache-2.0
"""Quantiles of Student's t, as engine/stats/interval.hpp has them."""

from __future__ import annotations

import math
from functools import lru_cache


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
