# SPDX-License-Identifier: Apache-2.0
"""When a series changed its level: exact p-values, where a change is told, and where none may be."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from leadline.stats.change_points import (
    FALSE_DISCOVERY_RATE,
    FEWEST_OF_LEVEL,
    fewest_values,
    largest_p_value,
    level_changes,
    strongest_change,
)


def noisy(*levels: tuple[int, float], seed: int = 1) -> np.ndarray:
    """So many values of each level, which scatter by 2 %."""
    random = np.random.default_rng(seed)
    return np.concatenate([level * np.exp(0.02 * random.standard_normal(num)) for num, level in levels])


@pytest.mark.parametrize(("num_before", "num_after"), [(5, 4), (4, 5), (6, 6)])
def test_the_p_value_is_that_of_all_orders(num_before: int, num_after: int) -> None:
    num = num_before + num_after
    values = np.concatenate([np.arange(num_before, 0.0, -1), 100 + np.arange(num_after, 0.0, -1)])
    change = strongest_change(values)
    assert change is not None
    assert (change.begin, change.end) == (num_before, num)
    sums = [sum(chosen) for chosen in itertools.combinations(range(1, num + 1), num_before)]
    as_far = sum(one <= min(sums) or one >= max(sums) for one in sums) / len(sums)
    assert change.p_value == pytest.approx(2 * (num - 2 * FEWEST_OF_LEVEL + 1) * as_far)


def test_a_change_is_told_where_it_is() -> None:
    (change,) = level_changes(noisy((20, 5.0), (10, 6.0)), FALSE_DISCOVERY_RATE)
    assert change.index == 20
    assert change.before == pytest.approx(5, rel=0.03)
    assert change.ratio == pytest.approx(1.2, rel=0.03)


def test_there_and_back_are_two_changes() -> None:
    changes = level_changes(noisy((25, 5.0), (8, 8.0), (25, 5.0)), FALSE_DISCOVERY_RATE)
    assert [change.index for change in changes] == [25, 33]
    assert changes[0].after == changes[1].before
    assert changes[0].ratio > 1 > changes[1].ratio


@pytest.mark.parametrize("num_runs", [2, 5, 12, 40, 150])
def test_no_change_is_told_of_noise(num_runs: int) -> None:
    told = [level_changes(noisy((num_runs, 5.0), seed=seed), FALSE_DISCOVERY_RATE) for seed in range(50)]
    assert sum(map(bool, told)) <= 2


def test_steps_one_after_the_other() -> None:
    changes = level_changes(noisy((20, 5.0), (20, 6.0), (20, 7.0), (20, 5.0)), FALSE_DISCOVERY_RATE)
    assert [change.index for change in changes] == [20, 40, 60]


def test_small_changes_are_not_told() -> None:
    assert level_changes(noisy((40, 5.0), (40, 5.15)), FALSE_DISCOVERY_RATE) == []
    assert level_changes(np.full(50, 5.0), FALSE_DISCOVERY_RATE) == []


def test_outliers_are_no_level() -> None:
    values = noisy((60, 5.0))
    values[[7, 30, 58, 59]] *= 10
    assert level_changes(values, FALSE_DISCOVERY_RATE) == []


@pytest.mark.parametrize("num_series", [1, 16, 1000])
def test_fewest_values_are_enough_and_needed(num_series: int) -> None:
    fewest = fewest_values(num_series)
    for num, is_told in ((fewest, True), (fewest - 1, False)):
        values = np.concatenate([np.linspace(1, 1.1, num // 2), np.linspace(5, 6, num - num // 2)])
        change = strongest_change(values)
        assert change is not None
        p_values = [change.p_value, *[1.0] * (num_series - 1)]
        assert (change.p_value <= largest_p_value(p_values)) == is_told


def test_equal_values_share_their_ranks() -> None:
    values = np.array([5.0] * 12 + [6.0] * 12)
    (change,) = level_changes(values, FALSE_DISCOVERY_RATE)
    assert change.index == 12
    assert level_changes(np.array([5.0, 6.0] * 12), FALSE_DISCOVERY_RATE) == []
