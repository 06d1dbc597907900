# SPDX-License-Identifier: Apache-2.0
"""What the first screen of a link test's page has beside the matrix: expected times."""

from __future__ import annotations

import math

import numpy as np

from leadline.link.analysis import SliceAnalysis
from leadline.link.result import LinkResult, PairClass
from leadline.model import BoolArray, Diagnosis, FloatArray, IntArray, Statistic
from leadline.report.findings import End, blocks_of
from leadline.scan import AxisName, Grid


def expected_ns(
    result: LinkResult, analysis: SliceAnalysis, diagnosis: Diagnosis | None
) -> dict[str, list[float | None]]:
    """The expected median time of a pair inside a host, and between hosts: the median of the pairs of its class that
    belong to no fault, of all pairs of the class where all do. In a reduced picture the median of the medians of its
    cells. None where the class has no time.
    """
    picture = analysis.pictures[AxisName.RANKS]
    times = picture.worst if picture.grid.edge == 1 else picture.median
    cell_of = picture.grid.axis.position_of // picture.grid.edge
    is_one_host = _are_of_one_host(result, picture.grid)
    is_sound = np.isfinite(times) & (times > 0)
    for fault in diagnosis.faults if diagnosis else ():
        for ends in blocks_of(fault):
            rows, columns = (_cells_of(end, result.host_index, cell_of, picture.grid.size) for end in ends)
            is_sound &= ~(rows[:, None] & columns[None, :])
    expected: list[float | None] = []
    for name, is_of_class in ((PairClass.SAME_HOST, is_one_host), (PairClass.BETWEEN_HOSTS, ~is_one_host)):
        sound = times[is_of_class & is_sound]
        of_class = analysis.classes[name].median if name in analysis.classes else math.nan
        median = float(np.median(sound)) if sound.size and of_class > 0 else of_class
        expected.append(median if median > 0 else None)
    return {Statistic.MEDIAN.value: expected}


def expected_of_cells(result: LinkResult, grid: Grid, expected: tuple[float, float]) -> FloatArray:
    """The expected time of each cell, float64 [G, G]: inside a host where all its pairs are, else between hosts."""
    return np.where(_are_of_one_host(result, grid), *expected)


def _are_of_one_host(result: LinkResult, grid: Grid) -> BoolArray:
    """Whether all ranks of a cell's row and column are of one host, bool [G, G]."""
    hosts = _hosts_of_cells(result.host_index, grid.axis.position_of // grid.edge, grid.size)
    return np.asarray((hosts[:, None] == hosts[None, :]) & (hosts >= 0)[:, None])


def _hosts_of_cells(host_of: IntArray, cell_of: IntArray, size: int) -> IntArray:
    """The host of each row or column of cells, int64 [G]; -1 where it has several."""
    low, high = np.full(size, host_of.size), np.full(size, -1)
    np.minimum.at(low, cell_of, host_of)
    np.maximum.at(high, cell_of, host_of)
    return np.where(low == high, low, -1)


def _cells_of(end: End, host_of: IntArray, cell_of: IntArray, size: int) -> BoolArray:
    """Whether a row or column of cells has a rank of this end, bool [G]."""
    found = np.full(size, end is None)
    if end is not None:
        ranks = np.array(end["ranks"]) if "ranks" in end else np.flatnonzero(np.isin(host_of, end["hosts"]))
        found[cell_of[ranks]] = True
    return found
