# SPDX-License-Identifier: Apache-2.0
"""Intervals of means and paired ratios: the same cases as tests/stats/interval_test.cpp, and how they narrow."""

from __future__ import annotations

import math

import numpy as np
import pytest

from leadline.stats.interval import MeanInterval, convergence, mean_interval, paired_ratio_interval

TEN = np.arange(1.0, 11.0)


def values(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float64)


@pytest.mark.parametrize(
    ("samples", "confidence", "mean", "half_width"),
    [
        (values(9, 11), 0.95, 10, 12.7062047361747),
        (TEN, 0.95, 5.5, 2.262157162798205 * math.sqrt(55 / 60)),
        (TEN, 0.9, 5.5, 1.833112932656237 * math.sqrt(55 / 60)),
        (TEN, 0.99, 5.5, 3.249835541592126 * math.sqrt(55 / 60)),
    ],
)
def test_means(samples: np.ndarray, confidence: float, mean: float, half_width: float):
    interval = mean_interval(samples, confidence)
    assert (interval.num, interval.mean) == (samples.size, mean)
    assert interval.half_width == pytest.approx(half_width, rel=1e-9)
    assert interval.high - interval.low == pytest.approx(2 * half_width)
    assert interval.share == pytest.approx(half_width / mean)


def test_too_few_samples_have_no_width():
    none, one = mean_interval(values()), mean_interval(values(7))
    assert none.num == 0
    assert math.isnan(none.mean)
    assert (one.num, one.mean) == (1, 7)
    assert math.isnan(one.half_width)


@pytest.mark.parametrize("same", [0.1, 1e-300, 1e15 / 3])
def test_equal_samples_are_a_point(same: float):
    interval = mean_interval(np.full(9, same))
    assert (interval.mean, interval.half_width) == (same, 0)


def test_a_sample_that_is_no_number():
    interval = mean_interval(values(1, math.nan, 2))
    assert interval.num == 3
    assert math.isnan(interval.mean)
    assert math.isnan(interval.half_width)


def paired(*samples: tuple[float, float, float]) -> MeanInterval:
    return paired_ratio_interval(*(values(*column) for column in zip(*samples, strict=True)))


def test_paired_ratios():
    same = paired((3, 6, 0), (50, 100, 0), (0.7, 1.4, 0))
    assert (same.num, same.mean) == (3, pytest.approx(0.5))
    assert same.half_width == pytest.approx(0, abs=1e-14)
    two = paired((9, 20, 0), (11, 20, 0))
    assert two.mean == 0.5
    assert two.half_width == pytest.approx(12.7062047361747 / 20, rel=1e-9)
    samples = 3 * [(3.1, 8, -1), (3.9, 8, 0), (4.9, 8, 1), (6.1, 8, 2)]
    controlled = paired(*samples)
    assert controlled.mean == pytest.approx(4 / 8, rel=1e-9)
    assert controlled.half_width == pytest.approx(2.228138851964939 * math.sqrt(0.12 / 10 / 12) / 8, rel=1e-9)
    assert paired(*samples[:9]).mean == pytest.approx((2 * 18 + 3.1) / 72)


def test_paired_ratios_of_nothing_or_one_sample():
    assert math.isnan(paired_ratio_interval(values(), values(), values()).mean)
    one = paired((3, 6, 1))
    assert (one.num, one.mean) == (1, 0.5)
    assert math.isnan(one.half_width)
    assert math.isnan(paired((1, 2, 0), (math.nan, 2, 0)).half_width)
    assert math.isnan(paired((1, -2, 0), (1, 1, 0)).mean)


def test_the_interval_after_more_and_more_samples():
    samples = 1e9 + np.random.default_rng(5).normal(0, 1e6, 300)
    found = convergence(samples, 40)
    assert (found.num[0], found.num[-1]) == (2, 300)
    assert len(found.num) <= 40
    for num, mean, half_width in zip(found.num, found.mean, found.half_width, strict=True):
        interval = mean_interval(samples[: int(num)])
        assert mean == pytest.approx(interval.mean, rel=1e-12)
        assert half_width == pytest.approx(interval.half_width, rel=1e-6)


@pytest.mark.parametrize("num", [0, 1])
def test_nothing_to_narrow(num: int):
    assert convergence(TEN[:num]).num.size == 0
