# SPDX-License-Identifier: Apache-2.0
"""Cells of a picture from the cells of a finer one: the worst, or the median, of every group of rows or columns.

A cell is a float32: a time in ns, MISSING or OUTSIDE. The order of the three is on purpose: their maximum is right.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from leadline.model import IntArray
from leadline.scan.picture import Float32Array

MISSING = np.float32(-1)
OUTSIDE = np.float32(-2)


class Reduction(str, Enum):
    """What a cell of several pairs shows."""

    WORST = "worst"
    MEDIAN = "median"


def reduced_columns(cells: Float32Array, sizes: IntArray, reduction: Reduction) -> Float32Array:
    """One column from every sizes[i] columns that follow each other; cells is [R, sum(sizes)], the answer
    [R, len(sizes)]. The median leaves out what has no time.
    """
    one = _worst if reduction is Reduction.WORST else _median
    widths = np.unique(sizes)
    if len(widths) == 1:
        return one(cells, int(widths[0]))
    starts = np.cumsum(sizes) - sizes
    answer = np.empty((len(cells), len(sizes)), dtype=np.float32)
    for width in widths.tolist():
        groups = np.flatnonzero(sizes == width)
        columns = (starts[groups][:, None] + np.arange(width)).ravel()
        answer[:, groups] = one(cells[:, columns], width)
    return answer


def reduced_rows(cells: Float32Array, sizes: IntArray, reduction: Reduction) -> Float32Array:
    """As reduced_columns(), of rows; cells is [sum(sizes), C]."""
    return np.ascontiguousarray(reduced_columns(np.ascontiguousarray(cells.T), sizes, reduction).T)


def halved(cells: Float32Array, reduction: Reduction) -> Float32Array:
    """Every 2 x 2 cells as one; [ceil(G / 2), ceil(G / 2)]. The median is that of up to four medians."""
    size = -(-len(cells) // 2)
    padded = np.full((2 * size, 2 * size), OUTSIDE, dtype=np.float32)
    padded[: len(cells), : len(cells)] = cells
    if reduction is Reduction.WORST:
        columns = _worst(padded, 2)
        worst: Float32Array = np.maximum(columns[::2], columns[1::2])
        return worst
    quarters = [padded[row::2, column::2] for row in (0, 1) for column in (0, 1)]
    return _median(np.stack(quarters, axis=-1).reshape(size, 4 * size), 4)


def _worst(cells: Float32Array, width: int) -> Float32Array:
    # Whole columns at a time: numpy's own reduction over a short last axis takes several times as long.
    worst: Float32Array = cells[:, ::width].copy()
    for offset in range(1, width):
        np.maximum(worst, cells[:, offset::width], out=worst)
    return worst


def _median(cells: Float32Array, width: int) -> Float32Array:
    if width == 1:
        return cells
    median = _median_of_times(cells, width)
    lacks_some = _worst(-cells, width) > 0
    if lacks_some.any():
        median[lacks_some] = _median_of_some(cells.reshape(len(cells), -1, width)[lacks_some])
    return median


def _median_of_times(cells: Float32Array, width: int) -> Float32Array:
    """Right where all cells of a group have times."""
    if width == 2:
        low, high = cells[:, ::2], cells[:, 1::2]
    elif width == 4:
        # Sorting four numbers needs few comparisons, and whole columns of them are compared at a time.
        a, b, c, d = (cells[:, offset::4] for offset in range(4))
        low = np.maximum(np.minimum(a, b), np.minimum(c, d))
        high = np.minimum(np.maximum(a, b), np.maximum(c, d))
    else:
        ordered = np.sort(cells.reshape(len(cells), -1, width), axis=-1)
        low, high = ordered[..., (width - 1) // 2], ordered[..., width // 2]
    median: Float32Array = low * np.float32(0.5)
    median += high * np.float32(0.5)
    return median


def _median_of_some(groups: Float32Array) -> Float32Array:
    """[groups, cells of each] -> [groups]: of those with a time; else what is there."""
    has_time = groups >= 0
    num = np.count_nonzero(has_time, axis=1)
    ordered = np.sort(np.where(has_time, groups, np.float32(np.inf)), axis=1)
    row = np.arange(len(groups))
    low, high = ordered[row, np.maximum(num - 1, 0) // 2], ordered[row, np.minimum(num // 2, groups.shape[1] - 1)]
    median: Float32Array = np.where(num > 0, low * np.float32(0.5) + high * np.float32(0.5), groups.max(axis=1))
    return median
