# SPDX-License-Identifier: Apache-2.0
"""Figure data: ticks, bars of single pairs, curves, and how much a page carries."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadline import draw, stats
from leadline.units import Unit

NS = Unit("ns", 1)


@given(st.floats(1e-6, 1e12), st.floats(1.0001, 1e9), st.booleans(), st.integers(4, 12))
def test_ticks_are_inside_and_few(low, factor, logarithmic, most):
    high = low * factor
    values = draw.nice_values(low, high, logarithmic, most)
    assert len(values) <= most + 1
    assert all(low * (1 - 1e-9) <= value <= high * (1 + 1e-9) for value in values)
    assert values == sorted(set(values))


def test_a_single_pair_is_seen_among_a_million():
    values = np.append(np.full(1_000_000, 5.0), [90.0])
    figure = draw.histogram_figure(stats.histogram({"a": values}), {"a": 5.0}, NS)
    panel = figure.panels[0]
    assert [bar.title.split(":")[0] for bar in panel.bars] == ["1000000 pairs", "1 pair"]
    assert panel.bars[1].height >= 0.04 * panel.bars[0].height
    assert panel.bars[1].height >= 4
    assert all(panel.top <= bar.y and bar.y + bar.height <= panel.bottom + 0.01 for bar in panel.bars)


def test_no_values_are_an_empty_figure():
    figure = draw.histogram_figure(stats.histogram({"a": np.empty(0)}), {"a": float("nan")}, NS)
    assert figure.panels[0].bars == ()


def test_curves_leave_out_what_is_missing():
    nan = float("nan")
    figure = draw.curve_figure(
        "t", NS, [0, 8, 64], {"a": [(5, 4, 6), (nan, nan, nan), (7, 6, 8)], "b": [(nan,) * 3] * 3}
    )
    assert len(figure.curves[0].points) == 2
    assert figure.curves[1].line == ""
    heights = [y for _, y, _ in figure.curves[0].points]
    assert heights[0] > heights[1]  # longer is higher up


def test_packed_floats():
    raw = base64.b64decode(draw.packed(np.array([[1.5, np.nan]])))
    values = np.frombuffer(raw, dtype="<f4")
    assert values[0] == 1.5
    assert np.isnan(values[1])


@pytest.mark.parametrize(("num_ranks", "num_matrices", "edge"), [(1, 6, 1), (256, 6, 1), (512, 6, 1), (513, 1, 2)])
def test_tiles(num_ranks, num_matrices, edge):
    assert draw.tile_edge(num_ranks, num_matrices) == edge


@given(st.integers(1, 30000), st.integers(1, 200))
def test_pictures_fit_into_the_page(num_ranks, num_matrices):
    edge = draw.tile_edge(num_ranks, num_matrices)
    cells = -(-num_ranks // edge)
    assert cells <= draw.LARGEST_PICTURE
    assert 4 * num_matrices * cells**2 <= max(draw.PAGE_BUDGET_BYTES, 4 * num_matrices * 64**2)
