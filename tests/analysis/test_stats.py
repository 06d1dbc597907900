# SPDX-License-Identifier: Apache-2.0
"""Statistics: closed forms, the vectors that the engine is tested with, and what holds for all inputs."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline import stats

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
    span = stats.colour_range(values)
    assert (span.low, span.high) == (10, 12)
    assert (span.num_below, span.num_above, span.logarithmic) == (0, 1, False)


def test_two_bad_pairs_do_not_stretch_the_colours_of_a_small_matrix():
    values = np.array([1.0] * 50 + [1.1, 1.2] + [40.0, 41.0, 42.0, 43.0])
    assert stats.colour_range(values).high == 1.2


def test_classes_are_inside_the_colours():
    span = stats.colour_range(np.array([0.9] * 24 + [4.0] * 32))
    assert (span.low, span.high, span.logarithmic, span.num_above) == (0.9, 4.0, True, 0)


@given(TIMES)
def test_the_colours_say_how_many_are_outside(values):
    array = np.array(values)
    span = stats.colour_range(array)
    assert span.high / span.low >= 1.1 * (1 - 1e-9)
    assert array.min() <= span.low or span.high / span.low == pytest.approx(1.1)
    assert array.max() >= span.high or span.high / span.low == pytest.approx(1.1)
    inside = np.count_nonzero((array >= span.low) & (array <= span.high))
    assert inside + span.num_below + span.num_above == len(values)
    assert inside >= len(values) / 2


def test_noise_is_not_painted_as_a_fault():
    span = stats.colour_range(np.linspace(11.40, 11.45, 100))
    assert span.high / span.low == pytest.approx(1.1)


def test_no_values_have_no_colours():
    assert math.isnan(stats.colour_range(np.empty(0)).low)


@given(TIMES, TIMES)
def test_a_histogram_loses_nothing(some, others):
    histogram = stats.histogram({"a": np.array(some), "b": np.array(others)})
    assert histogram.counts["a"].sum() == len(some)
    assert histogram.counts["b"].sum() == len(others)
    assert len(histogram.edges) == len(histogram.counts["a"]) + 1


def test_classes_of_pairs():
    host_of = np.array([0, 0, 1])
    to_measure = ~np.eye(3, dtype=bool)
    same = stats.class_mask(to_measure, host_of, stats.PairClass.SAME_HOST)
    between = stats.class_mask(to_measure, host_of, stats.PairClass.BETWEEN_HOSTS)
    assert np.argwhere(same).tolist() == [[0, 1], [1, 0]]
    assert np.count_nonzero(between) == 4
    to_measure[0, 2] = False
    assert np.argwhere(stats.class_mask(to_measure, host_of, stats.PairClass.BETWEEN_HOSTS)).tolist() == [
        [1, 2],
        [2, 0],
        [2, 1],
    ]


def test_cells_by_host_and_by_tile():
    cells = np.zeros((5, 5), dtype=bool)
    cells[0, 1] = cells[2, 4] = cells[3, 0] = True
    host_of = np.array([0, 0, 1, 2, 2])
    assert np.argwhere(stats.host_cells(cells, host_of, 3)).tolist() == [[0, 0], [1, 2], [2, 0]]
    assert np.argwhere(stats.any_of_tiles(cells, 2)).tolist() == [[0, 0], [1, 0], [1, 2]]
    assert stats.num_partners(cells, host_of).tolist() == [1, 1, 2]
    assert stats.num_partners(cells, np.arange(5)).tolist() == [2, 1, 1, 1, 1]
    assert stats.num_partners(np.array([[True]]), np.array([0])).tolist() == [0]


def test_host_matrices_are_medians_and_worst_of_blocks():
    generator = np.random.default_rng(1)
    host_of = np.array([1, 0, 2, 0, 1, 1, 0])
    matrix = generator.uniform(1, 9, (7, 7))
    np.fill_diagonal(matrix, np.nan)
    matrix[1, :] = np.nan
    median, worst = stats.host_matrices(matrix, host_of, 3)
    for a in range(3):
        for b in range(3):
            block = stats.measured(matrix[np.ix_(host_of == a, host_of == b)])
            expected = (np.median(block), block.max()) if block.size else (np.nan, np.nan)
            np.testing.assert_allclose((median[a, b], worst[a, b]), expected)


@given(st.integers(1, 12), st.integers(1, 5))
def test_the_worst_of_all_is_the_worst_of_a_tile(num_ranks, edge):
    matrix = np.random.default_rng(num_ranks).uniform(1, 9, (num_ranks, num_ranks))
    matrix[0, 0] = np.nan
    worst = stats.worst_of_tiles(matrix, edge)
    assert worst.shape == (-(-num_ranks // edge),) * 2
    if num_ranks > 1:
        assert np.nanmax(worst) == np.nanmax(matrix)
        assert worst[-1, -1] == np.nanmax(matrix[(len(worst) - 1) * edge :, (len(worst) - 1) * edge :])


@pytest.mark.parametrize("axis", [0, 1])
def test_medians_skip_what_is_missing(axis):
    matrix = np.random.default_rng(2).uniform(1, 9, (6, 6))
    matrix[2, :] = np.nan
    matrix[:, 4] = np.nan
    matrix[1, 3] = np.nan
    result = stats.medians(matrix, axis)
    lines = matrix if axis == 1 else matrix.T
    for value, line in zip(result, lines, strict=True):
        there = line[np.isfinite(line)]
        assert value == np.median(there) if there.size else math.isnan(value)
