# SPDX-License-Identifier: Apache-2.0
"""An index: the picture of one layer that one pass over the file makes, and all coarser ones from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.model import IntArray
from leadline.report.matrix_data import LARGEST_PICTURE, range_of
from leadline.scan import Grid, Picture
from leadline.scan.picture import Float32Array
from leadline.view.reduction import MISSING, OUTSIDE, Reduction, halved
from leadline.view.tiles import SIDE, AxisPositions, CellPairs, Tile, padded, time_or_none

_Numbers = NDArray[Any]


class Index:
    """G x G cells at most 4096 on a side, about 15 bytes each with the coarser ones."""

    def __init__(self, picture: Picture) -> None:
        """Of a picture whose edge is a power of two. `range` is that of the colours, for the page: of a picture that is
        as large as a screen, since the worst of more pairs is worse.
        """
        self.edge = picture.grid.edge
        nothing = np.where(picture.num_missing > 0, MISSING, OUTSIDE)
        self._levels: dict[Reduction, list[Float32Array]] = {}
        for reduction, times in ((Reduction.WORST, picture.worst), (Reduction.MEDIAN, picture.median)):
            levels = [np.where(np.isfinite(times), times, nothing).astype(np.float32)]
            while len(levels[-1]) > 1:
                levels.append(halved(levels[-1], reduction))
            self._levels[reduction] = levels
        self.range = range_of(coarser(picture, LARGEST_PICTURE))
        self._from, self._to = _small(picture.worst_from), _small(picture.worst_to)
        self._num_measured, self._num_missing = _small(picture.num_measured), _small(picture.num_missing)

    @property
    def num_bytes(self) -> int:
        """Memory that it holds."""
        arrays: list[_Numbers] = [self._from, self._to, self._num_measured, self._num_missing]
        return sum(array.nbytes for array in arrays) + sum(
            level.nbytes for levels in self._levels.values() for level in levels
        )

    def tile(self, tile: Tile) -> Float32Array:
        """A tile [256, 256] of this or a coarser edge. A coarser median is that of up to four medians, again and again:
        near the median of all pairs, and not the same.
        """
        level = self._levels[tile.reduction][(tile.edge // self.edge).bit_length() - 1]
        row, column = SIDE * tile.row, SIDE * tile.column
        return padded(level[row : row + SIDE, column : column + SIDE])

    def cell(self, positions: AxisPositions, edge: int, row: int, column: int) -> CellPairs:
        """What a cell of this or a coarser edge stands for."""
        factor = edge // self.edge
        part = tuple(slice(first * factor, (first + 1) * factor) for first in (row, column))
        worst = self._levels[Reduction.WORST][0][part]
        at = np.unravel_index(int(worst.argmax()), worst.shape)
        num_missing = int(self._num_missing[part].sum(dtype=np.int64))
        num_pairs = int(self._num_measured[part].sum(dtype=np.int64)) + num_missing
        median_ns = time_or_none(self._levels[Reduction.MEDIAN][factor.bit_length() - 1][row, column])
        if worst[at] >= 0:
            return CellPairs(int(self._from[part][at]), int(self._to[part][at]), num_pairs, num_missing, median_ns)
        first_from, first_to = (int(positions.span(edge, cell, cell + 1).ranks[0]) for cell in (row, column))
        return CellPairs(first_from, first_to, num_pairs, num_missing, median_ns)


def coarser(picture: Picture, largest_size: int) -> Picture:
    """The same pairs in at most so many cells on a side, the edge a multiple; its medians are medians of medians."""
    size = picture.grid.size
    factor = -(-size // largest_size)
    if factor == 1:
        return picture
    num_groups = -(-size // factor)

    def groups(values: _Numbers, nothing: float) -> _Numbers:
        padded_values = np.full((num_groups * factor,) * 2, nothing, dtype=values.dtype)
        padded_values[:size, :size] = values
        split = padded_values.reshape(num_groups, factor, num_groups, factor).swapaxes(1, 2)
        answer: _Numbers = split.reshape(num_groups, num_groups, factor * factor)
        return answer

    worst, medians = groups(picture.worst, np.nan), np.sort(groups(picture.median, np.nan), axis=-1)
    place = np.where(np.isnan(worst), -1, worst).argmax(axis=-1)[..., None]
    num_medians = np.count_nonzero(np.isfinite(medians), axis=-1)[..., None]
    low, high = (np.take_along_axis(medians, np.maximum(num_medians - 1 + more, 0) // 2, axis=-1) for more in (0, 1))
    return Picture(
        grid=Grid(picture.grid.axis, picture.grid.edge * factor),
        worst=np.take_along_axis(worst, place, axis=-1)[..., 0],
        worst_from=np.take_along_axis(groups(picture.worst_from, -1), place, axis=-1)[..., 0],
        worst_to=np.take_along_axis(groups(picture.worst_to, -1), place, axis=-1)[..., 0],
        median=((low + high) / 2)[..., 0],
        num_measured=groups(picture.num_measured, 0).sum(axis=-1, dtype=np.int32),
        num_missing=groups(picture.num_missing, 0).sum(axis=-1, dtype=np.int32),
        values=picture.values,
    )


def _small(values: NDArray[np.int32] | IntArray) -> _Numbers:
    """The same numbers in as few bytes as they need; -1 may become another one that is never used."""
    largest = int(values.max(initial=0))
    return values.astype(np.min_scalar_type(largest))
