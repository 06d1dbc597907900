# SPDX-License-Identifier: Apache-2.0
"""A tally is exact while it holds few values, close when it only counts them, and never loses one."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leadline.stats import tally as module
from leadline.stats.distribution import describe
from leadline.stats.tally import Tally

BLOCKS = st.lists(st.lists(st.floats(1.0, 1e4), max_size=30), min_size=1, max_size=6)


def tally_of(blocks: list[list[float]], most_exact: int = 1_000_000) -> Tally:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_EXACT", most_exact)
        tally = Tally()
        for block in blocks:
            tally.add(np.array(block, dtype=np.float64))
        return tally


def values_of(blocks: list[list[float]]) -> np.ndarray:
    return np.array([value for block in blocks for value in block])


def numbers(tally: Tally) -> dict[str, float]:
    return dataclasses.asdict(tally.distribution())


@settings(max_examples=40)
@given(BLOCKS)
def test_few_values_are_exact(blocks):
    values = values_of(blocks)
    tally = tally_of(blocks)
    assert tally.is_exact
    assert str(numbers(tally)) == str(dataclasses.asdict(describe(values)))
    assert tally.num_values == values.size


@settings(max_examples=40)
@given(BLOCKS)
def test_counted_values_are_close(blocks):
    values = values_of(blocks)
    tally = tally_of(blocks, most_exact=0)
    assert tally.is_exact == (values.size == 0)
    # One value alone is never only counted.
    if values.size < 2:
        return
    found = tally.distribution()
    assert (found.num_pairs, found.min, found.max) == (values.size, values.min(), values.max())
    assert found.mean == pytest.approx(values.mean(), rel=1e-12)
    ordered = np.sort(values)
    for share in (0.01, 0.25, 0.5, 0.99):
        # The quantile lies between the two values beside it, but for the width of a bin.
        place = share * (values.size - 1)
        low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
        assert low * (1 - 2e-4) <= tally.quantile(share) <= high * (1 + 2e-4)


@settings(max_examples=40)
@given(BLOCKS)
def test_the_order_of_blocks_means_nothing(blocks):
    some, others = tally_of(blocks, most_exact=40), Tally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_EXACT", 40)
        for block in reversed(blocks):
            others.merge(tally_of([block], most_exact=40))
    assert some.is_exact == others.is_exact
    first, second = numbers(some), numbers(others)
    assert first.pop("mean") == pytest.approx(second.pop("mean"), rel=1e-12, nan_ok=True)
    assert str(first) == str(second)


@settings(max_examples=40)
@given(BLOCKS, st.integers(1, 50))
def test_no_bin_loses_a_counted_value(blocks, num_bins):
    tally = tally_of(blocks, most_exact=0)
    values = values_of(blocks)
    if not values.size:
        return
    edges = np.linspace(values.min(), values.max() * (1 + 1e-12), num_bins + 1)
    counts = tally.counts(edges)
    assert counts.sum() == values.size
    assert counts.min() >= 0
    expected = np.histogram(values, edges)[0]
    # A value may be counted beside an edge that is nearer to it than a bin is wide.
    near = np.abs(values[:, None] / edges[None, :] - 1).min(axis=1) < 2e-4
    assert np.abs(np.cumsum(counts) - np.cumsum(expected)).max() <= np.count_nonzero(near)


def test_one_of_many_is_counted_in_its_bin():
    random = np.random.default_rng(1)
    tally = tally_of([random.normal(4000, 100, 10_000).tolist(), [160_000.0]], most_exact=1000)
    edges = np.geomspace(2000, 200_000, 61)
    counts = tally.counts(edges)
    far = int(np.searchsorted(edges, 160_000.0)) - 1
    assert (counts[far], counts[40:].sum(), counts.sum()) == (1, 1, 10_001)


def test_edges_inside_count_what_lies_between_them():
    tally = tally_of([list(np.linspace(100, 200, 1001))], most_exact=10)
    assert tally.counts(np.array([120.0, 150.0, 180.0])).tolist() == pytest.approx([300, 300], abs=2)
    assert tally.counts(np.array([300.0, 400.0])).tolist() == [0]


def test_values_far_off_are_counted_at_the_ends():
    tally = tally_of([[1e-300, 1e-200, 5.0, 1e300]], most_exact=0)
    assert (tally.distribution().min, tally.distribution().max, tally.num_values) == (1e-300, 1e300, 4)
    assert tally.counts(np.array([1e-300, 4.0, 6.0, 1e300])).tolist() == [2, 1, 1]


def test_nothing_has_no_quantile():
    assert math.isnan(Tally().quantile(0.5))
    assert Tally().counts(np.array([1.0, 2.0])).tolist() == [0]
