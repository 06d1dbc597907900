# SPDX-License-Identifier: Apache-2.0
"""Student's t against published quantiles, and how often its intervals hold the mean."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leadline.stats.interval import mean_interval, student_t_quantile


@pytest.mark.parametrize(
    ("p", "degrees_of_freedom", "quantile"),
    [
        (0.975, 1, math.tan(math.pi * 0.475)),
        (0.975, 2, 4.302652729911275),
        (0.975, 9, 2.2621571627409915),
        (0.975, 19, 2.093024054408263),
        (0.975, 99, 1.9842169515086827),
        (0.995, 30, 2.7499956535672245),
        (0.5, 3, 0.0),
        (0.025, 9, -2.2621571627409915),
    ],
)
def test_quantiles(p: float, degrees_of_freedom: float, quantile: float):
    assert student_t_quantile(p, degrees_of_freedom) == pytest.approx(quantile, rel=1e-9, abs=1e-12)


def test_it_becomes_the_normal_distribution():
    assert student_t_quantile(0.975, 1e6) == pytest.approx(1.959963984540054, rel=3e-6)


def test_intervals_cover_the_mean_as_often_as_they_say():
    samples = np.random.default_rng(1).normal(5, 2, (2000, 8))
    intervals = [mean_interval(row) for row in samples]
    covered = sum(interval.low <= 5 <= interval.high for interval in intervals)
    assert 0.94 <= covered / len(samples) <= 0.96
