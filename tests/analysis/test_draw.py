# SPDX-License-Identifier: Apache-2.0
"""Figure data: ticks, bars of single pairs, cumulative distributions, curves."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline.draw.plots import SizePoint, cumulative_figure, curve_figure, histogram_figure, nice_values
from leadline.stats.histogram import histogram
from leadline.stats.tally import Tally
from leadline.units import Unit

NS = Unit("ns", 1)


def tally_of(values: np.ndarray) -> Tally:
    tally = Tally()
    tally.add(values)
    return tally


@given(st.floats(1e-6, 1e12), st.floats(1.0001, 1e9), st.booleans(), st.integers(4, 12))
def test_ticks_are_inside_and_few(low, factor, logarithmic, most):
    high = low * factor
    values = nice_values(low, high, logarithmic, most)
    assert len(values) <= most + 1
    assert all(low * (1 - 1e-9) <= value <= high * (1 + 1e-9) for value in values)
    assert values == sorted(set(values))


def test_a_single_pair_is_seen_among_a_million():
    tally = tally_of(np.append(np.full(1_000_000, 5.0), [90.0]))
    figure = histogram_figure(histogram({"a": tally}), {"a": 5.0}, NS)
    panel = figure.panels[0]
    assert [bar.title.split(":")[0] for bar in panel.bars] == ["1,000,000 pairs", "1 pair"]
    assert [bar.bin for bar in panel.bars] == [0, 59]
    assert panel.bars[1].height >= 0.04 * panel.bars[0].height
    assert panel.bars[1].height >= 4
    assert all(panel.top <= bar.y and bar.y + bar.height <= panel.bottom + 0.01 for bar in panel.bars)


def test_no_values_are_an_empty_figure():
    groups = {"a": Tally()}
    figure = histogram_figure(histogram(groups), {"a": math.nan}, NS)
    assert figure.panels[0].bars == ()
    assert cumulative_figure(groups, histogram(groups), NS, figure.height).lines == (("a", ""),)


def points_of(line: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(",") for point in line.split())]


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=60))
def test_a_cumulative_distribution_rises_and_stays_inside(values):
    groups = {"a": tally_of(np.array(values))}
    figure = cumulative_figure(groups, histogram(groups), NS, 244)
    points = points_of(figure.lines[0][1])
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert [y for _, y in points] == sorted((y for _, y in points), reverse=True)
    assert all(figure.left <= x <= figure.right and figure.top <= y <= figure.bottom for x, y in points)
    assert points[-1][1] == figure.top or len(values) < 10
    heights = [tick.position for tick in figure.share_ticks]
    assert heights == sorted(heights, reverse=True)
    assert figure.steps[-1].title.endswith(f"a: all {len(values)}")


def test_the_slowest_of_many_are_seen_in_the_cumulative_distribution():
    values = np.append(np.linspace(1000, 1100, 999_999), [40_000.0])
    groups = {"a": tally_of(values)}
    figure = cumulative_figure(groups, histogram(groups), NS, 244)
    x, y = points_of(figure.lines[0][1])[-3]
    assert x < 0.25 * figure.right
    assert y > figure.top + 5  # a step is left for the last one
    assert [tick.label for tick in figure.share_ticks][-1] == "99.9999 %"
    assert "99.9999" not in figure.steps[0].title
    assert "1 slower" in figure.steps[30].title


@pytest.mark.parametrize("num_pairs", [1, 10, 1000, 10**6])
def test_shares_are_few_and_apart(num_pairs):
    groups = {"a": tally_of(np.linspace(5, 9, num_pairs))}
    ticks = cumulative_figure(groups, histogram(groups), NS, 244).share_ticks
    assert 3 <= len(ticks) <= 12
    assert all(a.position - b.position >= 8 for a, b in itertools.pairwise(ticks))


def test_curves_leave_out_what_is_missing():
    points = {0: SizePoint(5, 4, 6, 3), 64: SizePoint(7, 6, 8, 6)}
    figure = curve_figure("t", NS, [0, 8, 64], {"a": points, "b": {}})
    assert len(figure.curves[0].points) == 2
    assert figure.curves[1].line == ""
    heights = [y for _, y, _ in figure.curves[0].points]
    assert heights[0] > heights[1]  # longer is higher up
