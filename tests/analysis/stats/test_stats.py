# SPDX-License-Identifier: Apache-2.0
"""Statistics: closed forms, the vectors that the engine is tested with, and what holds for all inputs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.stats import colour_range as colours
from leadline.stats import distribution as stats
from leadline.stats.distribution import end_of_tail
from leadline.stats.histogram import histogram
from leadline.stats.tally import Tally

TIMES = st.lists(st.floats(1.0, 1e9), min_size=1, max_size=200)


def test_the_median_interval_is_the_engines():
    lows = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 4, 5]
    assert [stats.median_interval(n) for n in range(1, 21)] == [(low, n - low) for n, low in enumerate(lows)]
    for num_values, confidence, low in [
        (10, 0.978, 1), (10, 0.979, 0), (1000, 0.95, 468), (1500, 0.95, 711), (2001, 0.95, 956), (10000, 0.95, 4901),
        (1000, 0.99, 458), (2001, 0.99, 942),
    ]:  # fmt: skip
        assert stats.median_interval(num_values, confidence) == (low, num_values - 1 - low)


@given(st.integers(1, 400))
def test_the_median_interval_covers_and_is_the_smallest(num_values):
    low, high = stats.median_interval(num_values)

    def coverage(first: int) -> float:
        return 1 - 2 * sum(math.comb(num_values, k) for k in range(first + 1)) / 2**num_values

    assert low + high == num_values - 1
    assert coverage(low) >= 0.95 or low == 0
    assert coverage(low + 1) < 0.95


def test_nothing_has_no_interval():
    with pytest.raises(ValueError, match="no values"):
        stats.median_interval(0)


def test_describe_of_known_values():
    numbers = stats.describe(np.array([50.0, 15.0, 40.0, 20.0, 35.0]))
    assert (numbers.num_pairs, numbers.min, numbers.median, numbers.p75, numbers.max) == (5, 15, 35, 40, 50)
    assert numbers.p05 == pytest.approx(16)
    assert numbers.p99 == pytest.approx(49.6)
    assert numbers.mean == 32
    assert (numbers.median_interval_low, numbers.median_interval_high) == (15, 50)


def test_describe_of_one_and_of_none():
    one = stats.describe(np.array([7.0]))
    assert {one.min, one.median, one.mean, one.max, one.median_interval_low, one.median_interval_high} == {7.0}
    none = stats.describe(np.empty(0))
    assert none.num_pairs == 0
    assert math.isnan(none.median)
    assert math.isnan(none.median_interval_high)


@given(TIMES)
def test_describe_is_in_order(values):
    n = stats.describe(np.array(values))
    ordered = [n.min, n.p01, n.p05, n.p25, n.median, n.p75, n.p95, n.p99, n.max]
    assert all(a <= b * (1 + 1e-12) for a, b in itertools.pairwise(ordered))
    assert n.median_interval_low <= n.median <= n.median_interval_high


def test_one_outlier_does_not_stretch_the_colours():
    values = np.append(np.linspace(10, 12, 500), [400.0])
    span = colours.colour_range(values)
    assert (span.low, span.high) == (10, 12)
    assert (span.num_below, span.num_above, span.logarithmic) == (0, 1, False)


def test_two_bad_pairs_do_not_stretch_the_colours_of_a_small_matrix():
    values = np.array([1.0] * 50 + [1.1, 1.2] + [40.0, 41.0, 42.0, 43.0])
    assert colours.colour_range(values).high == 1.2


def test_classes_are_inside_the_colours():
    span = colours.colour_range(np.array([0.9] * 24 + [4.0] * 32))
    assert (span.low, span.high, span.logarithmic, span.num_above) == (0.9, 4.0, True, 0)


@given(TIMES)
def test_the_colours_say_how_many_are_outside(values):
    array = np.array(values)
    span = colours.colour_range(array)
    assert span.high / span.low >= 1.1 * (1 - 1e-9)
    assert array.min() <= span.low or span.high / span.low == pytest.approx(1.1)
    assert array.max() >= span.high or span.high / span.low == pytest.approx(1.1)
    inside = np.count_nonzero((array >= span.low) & (array <= span.high))
    assert inside + span.num_below + span.num_above == len(values)
    assert inside >= len(values) / 2


def test_noise_is_not_painted_as_a_fault():
    span = colours.colour_range(np.linspace(11.40, 11.45, 100))
    assert span.high / span.low == pytest.approx(1.1)


def test_no_values_have_no_colours():
    assert math.isnan(colours.colour_range(np.empty(0)).low)


def tally_of(values: list[float]) -> Tally:
    tally = Tally()
    tally.add(np.array(values))
    return tally


@given(TIMES, TIMES)
def test_a_histogram_loses_nothing(some, others):
    bins = histogram({"a": tally_of(some), "b": tally_of(others)})
    assert bins.counts["a"].sum() == len(some)
    assert bins.counts["b"].sum() == len(others)
    assert len(bins.edges) == len(bins.counts["a"]) + 1


def test_a_histogram_of_nothing_has_bins():
    bins = histogram({"a": Tally()})
    assert bins.counts["a"].tolist() == [0] * 60


def test_a_range_is_widened_downwards_only():
    span = colours.colour_range(np.linspace(10, 12, 500))
    assert colours.widened(span, 2.0) == colours.ColourRange(2.0, 12.0, True, 0, 0)
    assert colours.widened(span, 11.0) == span
    assert colours.widened(span, math.nan) == span


@pytest.mark.parametrize("power", [2, 3, 4])
def test_the_end_of_a_long_tail_is_behind_nearly_all_of_it(power):
    for seed in range(5):
        random = np.random.default_rng(seed)
        values = np.exp(0.05 * random.standard_normal(100_000))
        values[:5000] *= 1 + 0.3 * (1 - random.random(5000)) ** (-1 / power)
        # A tail that has fifty values beyond its own end is rare, and 40 times the usual is not always beyond it.
        assert np.count_nonzero(values > end_of_tail(values)) < 20
        assert end_of_tail(np.append(values, np.full(200, 1000.0))) < 500


def test_the_end_of_a_short_tail_is_near():
    values = np.exp(0.05 * np.random.default_rng(1).standard_normal(100_000))
    assert values.max() < end_of_tail(values) < 2.5
    assert end_of_tail(np.full(10, 7.0)) == pytest.approx(10.5)
    assert math.isnan(end_of_tail(np.ones(3)))
