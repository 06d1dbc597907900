# SPDX-License-Identifier: Apache-2.0
"""A matrix reduced to cells of several positions on a side, each of which keeps its worst pair."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leadline.model import FloatArray
from leadline.scan.axis import Axis
from leadline.stats.colour_range import NEAR, ColourRange, colour_range, widened
from leadline.stats.tally import Tally

Float32Array = NDArray[np.float32]
Int32Array = NDArray[np.int32]


@dataclass(frozen=True)
class Grid:
    """What to draw: cells of edge x edge positions of an axis."""

    axis: Axis
    edge: int

    @property
    def size(self) -> int:
        """G, cells on a side of the picture."""
        return -(-self.axis.num_positions // self.edge)


@dataclass(frozen=True)
class Picture:
    """A grid with the times (ns) of one statistic in it. All arrays are [G, G], row = from."""

    grid: Grid
    worst: Float32Array  # the largest time of the cell's pairs; NaN = none measured
    worst_from: Int32Array  # the ranks of that pair, -1 = none
    worst_to: Int32Array
    median: Float32Array  # median over the sending ranks of the median of their pairs in the cell; NaN = none
    num_measured: Int32Array  # pairs with a time
    num_missing: Int32Array  # pairs to measure without one
    values: Tally  # the times of all pairs, not reduced


def edge_for(num_positions: int, largest_size: int) -> int:
    """The smallest edge with which a picture has at most so many cells on a side."""
    return max(-(-num_positions // largest_size), 1)


def shown(picture: Picture) -> FloatArray:
    """The worst times that are there, in one row."""
    return picture.worst[np.isfinite(picture.worst)].astype(np.float64)


def is_reduced(picture: Picture) -> bool:
    """Whether its cells have several pairs."""
    return picture.grid.size < picture.grid.axis.position_of.size


def picture_range(picture: Picture) -> ColourRange:
    """What its colours are spread over: the range of the worst times, and where a cell has several pairs, down to the
    usual fast pairs and medians, so that a colour stays the same time at every zoom. The numbers below and above are
    cells of the picture.
    """
    cells = shown(picture)
    span = colour_range(cells)
    if not cells.size or not is_reduced(picture):
        return span
    usual = np.concatenate([cells, picture.median[np.isfinite(picture.median)]])
    fast = picture.values.quantile(0.01)
    low = min(fast, float(usual[usual >= fast / NEAR].min(initial=np.inf)))
    # Single pairs scatter around the medians, and are what zooming in shows.
    least = picture.values.distribution().min
    span = widened(span, least if least >= low / NEAR else low)
    return replace(span, num_below=int(np.count_nonzero(cells < span.low)))
