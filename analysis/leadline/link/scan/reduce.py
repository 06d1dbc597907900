# SPDX-License-Identifier: Apache-2.0
"""From blocks of rows to the cells of a picture: the worst pair of each, its median, and what is missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leadline.link.scan.blocks import Float32Array, Rows
from leadline.model import BoolArray, IntArray
from leadline.scan.picture import Grid, Picture
from leadline.stats.tally import Tally


@dataclass(frozen=True)
class Reduced:
    """What some rows are for the cells of R rows of the picture; all but the first are [R, G]."""

    row_groups: IntArray  # [R], the rows of the picture
    worst: Float32Array  # NaN = none
    pair: IntArray  # from * N + to of the worst pair, the lowest of equal ones; -1 = none
    num_measured: IntArray
    num_missing: IntArray


class Reducer:
    """Makes a picture of one grid. reduce() may run in several threads at once; add() takes what it gives."""

    def __init__(self, grid: Grid) -> None:
        """Nothing is there yet."""
        self._grid, self._group_of = grid, grid.axis.position_of // grid.edge
        self._num_ranks = int(self._group_of.size)
        self._order = np.argsort(self._group_of, kind="stable")
        self._is_in_order = bool(np.all(np.diff(self._group_of) >= 0))
        self._widths = np.bincount(self._group_of, minlength=grid.size)
        self._starts = np.cumsum(self._widths) - self._widths
        size = grid.size
        self._worst = np.full((size, size), -np.inf, dtype=np.float32)
        self._pair = np.full((size, size), -1, dtype=np.int64)
        self._num_measured, self._num_missing = (np.zeros((size, size), dtype=np.int32) for _ in range(2))
        # Of every sending rank; the rows of a cell may lie in different blocks.
        self._row_medians = np.empty((self._num_ranks, size), dtype=np.float32)

    def reduce(self, rows: Rows, times: Float32Array) -> Reduced:
        """`times` are those of the rows in float32."""
        group = self._group_of[rows.first : rows.end]
        row_order = np.argsort(group, kind="stable")
        row_groups, row_starts = np.unique(group[row_order], return_index=True)
        in_order = times if self._is_in_order else np.take(times, self._order, axis=1)
        for width in np.unique(self._widths):
            self._row_medians[rows.first : rows.end, self._widths == width] = medians_of_last(
                self._segments(in_order, int(width))
            )
        worst, pair = self._worst_of(in_order, rows.first, np.split(row_order, row_starts[1:]))
        return Reduced(row_groups, worst, pair, *self._counts(rows, group, row_order, row_starts))

    def add(self, found: Reduced) -> None:
        """Rows may come in any order, each once."""
        groups = found.row_groups
        worst, pair = self._worst[groups], self._pair[groups]
        is_worse = (found.worst > worst) | ((found.worst == worst) & (found.pair < pair))
        self._worst[groups] = np.where(is_worse, found.worst, worst)
        self._pair[groups] = np.where(is_worse, found.pair, pair)
        self._num_measured[groups] += found.num_measured.astype(np.int32)
        self._num_missing[groups] += found.num_missing.astype(np.int32)

    def picture(self, values: Tally) -> Picture:
        """After the last row; `values` are the times of all pairs."""
        has_none = self._pair < 0
        median = np.empty_like(self._worst)
        for group, ranks in enumerate(np.split(self._order, self._starts[1:])):
            median[group] = medians_of_last(self._row_medians[ranks].T)
        return Picture(
            grid=self._grid,
            worst=np.where(has_none, np.float32(np.nan), self._worst),
            worst_from=np.where(has_none, -1, self._pair // self._num_ranks).astype(np.int32),
            worst_to=np.where(has_none, -1, self._pair % self._num_ranks).astype(np.int32),
            median=median,
            num_measured=self._num_measured,
            num_missing=self._num_missing,
            values=values,
        )

    def _segments(self, in_order: Float32Array, width: int) -> Float32Array:
        """A copy of the columns of all groups of this width, [rows, groups, width]."""
        columns: Float32Array
        starts = self._starts[self._widths == width]
        if np.all(np.diff(starts) == width):
            columns = in_order[:, starts[0] : starts[-1] + width].copy()
        else:
            columns = in_order[:, (starts[:, None] + np.arange(width)).ravel()]
        return columns.reshape(len(in_order), len(starts), width)

    def _worst_of(
        self, in_order: Float32Array, first: int, members: list[IntArray]
    ) -> tuple[Float32Array, NDArray[np.int64]]:
        """Rows of a picture's row first, since whole rows are compared fastest; then the columns."""
        slabs = [in_order[at[0] : at[-1] + 1] if at[-1] - at[0] == at.size - 1 else in_order[at] for at in members]
        of_columns = np.stack([np.fmax.reduce(slab, axis=0) for slab in slabs])
        worst = np.fmax.reduceat(of_columns, self._starts, axis=1)
        row, column = np.nonzero(of_columns == np.repeat(worst, self._widths, axis=1))
        pair = np.full(worst.shape, -1, dtype=np.int64)
        if not row.size:
            return worst, pair
        from_rank = np.empty(row.size, dtype=np.int64)
        ends = np.searchsorted(row, np.arange(len(slabs) + 1))
        for index, (at, slab) in enumerate(zip(members, slabs, strict=True)):
            here = slice(ends[index], ends[index + 1])
            columns = column[here]
            from_rank[here] = first + at[np.argmax(slab[:, columns] == of_columns[index, columns], axis=0)]
        group = np.searchsorted(self._starts, column, side="right") - 1
        cell = row * worst.shape[1] + group
        cell_starts = np.flatnonzero(np.diff(cell, prepend=-1))
        numbers = from_rank * self._num_ranks + self._order[column]
        pair.reshape(-1)[cell[cell_starts]] = np.minimum.reduceat(numbers, cell_starts)
        return worst, pair

    def _counts(
        self, rows: Rows, group: IntArray, row_order: IntArray, row_starts: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Measured and missing pairs, int64 [R, G] each."""
        if rows.to_measure is not None:
            return (
                self._count(rows.there, row_order, row_starts),
                self._count(rows.to_measure & ~rows.there, row_order, row_starts),
            )
        num_rows = np.diff(row_starts, append=row_order.size)
        measured = num_rows[:, None] * self._widths[None, :]
        # Without the diagonal, where no time is.
        row_of = np.searchsorted(group[row_order][row_starts], group)
        np.subtract.at(measured, (row_of, group), ~rows.diagonal_there)
        return measured, np.zeros_like(measured)

    def _count(self, cells: BoolArray, row_order: IntArray, row_starts: IntArray) -> IntArray:
        in_order = cells if self._is_in_order else np.take(cells, self._order, axis=1)
        of_rows = np.add.reduceat(in_order.view(np.uint8), self._starts, axis=1, dtype=np.int64)
        return np.asarray(np.add.reduceat(of_rows[row_order], row_starts, axis=0), dtype=np.int64)


def medians_of_last(values: Float32Array) -> Float32Array:
    """The medians along the last axis without the NaN there; NaN where nothing else is. May sort `values` in place."""
    width = values.shape[-1]
    if width == 1:
        return np.array(values[..., 0])
    ordered = np.ascontiguousarray(values)
    ordered.sort(axis=-1)  # NaN goes to the end
    lower, upper = ordered[..., (width - 1) // 2], ordered[..., width // 2]
    median: Float32Array = lower * np.float32(0.5) + upper * np.float32(0.5)
    has_gap = np.isnan(ordered[..., -1])
    if has_gap.any():
        gaps = ordered[has_gap]
        num = np.count_nonzero(~np.isnan(gaps), axis=-1)
        row = np.arange(len(gaps))
        middle = gaps[row, np.maximum(num - 1, 0) // 2] * np.float32(0.5) + gaps[row, num // 2] * np.float32(0.5)
        median[has_gap] = np.where(num > 0, middle, np.float32(np.nan))
    return median
