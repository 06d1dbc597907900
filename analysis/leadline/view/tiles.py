# SPDX-License-Identifier: Apache-2.0
"""Tiles and single cells of a picture, read from the result file at the moment they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline.link.result import LinkResult, SampledPairs
from leadline.link.scan.sampled import medians_of_groups, sortable
from leadline.model import FloatArray, IntArray, Slice, Statistic
from leadline.scan import Axis, AxisName, axis_of
from leadline.scan.picture import Float32Array
from leadline.view.reduction import MISSING, OUTSIDE, Reduction, reduced_columns, reduced_rows

SIDE = 256  # cells along a tile
_LARGEST_SIDE = 4096  # cells along an index
_LEAST_EDGE_OF_INDEX = 8  # below, a screen of tiles is little to read, and an index would be large
_VALUES_AT_ONCE = 1 << 22
_LARGEST_TIME = np.finfo(np.float32).max


@dataclass(frozen=True)
class Layer:
    """One statistic of one slice along one axis: what tiles are tiles of."""

    part: Slice
    axis: AxisName
    statistic: Statistic


@dataclass(frozen=True)
class Tile:
    """256 x 256 cells of the picture of a layer with a certain edge."""

    layer: Layer
    reduction: Reduction
    edge: int
    row: int
    column: int


@dataclass(frozen=True)
class Span:
    """The ranks of some cells of a picture that follow each other."""

    ranks: IntArray  # by position
    sizes: IntArray  # ranks of each cell, at least 1


class AxisPositions:
    """Which ranks are at which positions of an axis."""

    def __init__(self, axis: Axis) -> None:
        """O(N)."""
        self.num_positions = axis.num_positions
        self._order = np.argsort(axis.position_of, kind="stable")
        positions = np.arange(axis.num_positions + 1)
        self._first = np.searchsorted(axis.position_of[self._order], positions).astype(np.int64)

    def num_cells(self, edge: int) -> int:
        """Cells along a side of the picture."""
        return -(-self.num_positions // edge)

    def span(self, edge: int, first: int, end: int) -> Span:
        """The ranks of cells first to end - 1, as far as there are cells."""
        bounds = np.arange(first, min(end, self.num_cells(edge)) + 1) * edge
        bounds = self._first[np.minimum(bounds, self.num_positions)]
        return Span(self._order[bounds[0] : bounds[-1]], np.diff(bounds))


def positions_of_axes(result: LinkResult) -> dict[AxisName, AxisPositions]:
    """Of every axis."""
    return {name: AxisPositions(axis_of(result, name)) for name in AxisName}


def largest_edge(num_positions: int) -> int:
    """The first power of two with which all is one cell."""
    return 1 << (num_positions - 1).bit_length()


def edge_of_index(axis: AxisName, num_positions: int) -> int:
    """Tiles of smaller edges are read from the file, those of this and larger ones come from an index."""
    edge = 1 if axis is AxisName.HOSTS else _LEAST_EDGE_OF_INDEX
    while -(-num_positions // edge) > _LARGEST_SIDE:
        edge *= 2
    return edge


def read_tile(result: LinkResult, positions: AxisPositions, tile: Tile) -> Float32Array:
    """A tile [256, 256] from the pairs themselves; memory is bounded, time grows with the tile's pairs."""
    rows, columns = (positions.span(tile.edge, SIDE * first, SIDE * (first + 1)) for first in (tile.row, tile.column))
    if result.read_pairs is not None:
        return padded(reduced_pairs(result, tile.layer, rows, columns, tile.reduction))
    strips = [
        reduced_columns(cells, columns.sizes, tile.reduction)
        for _, cells in _blocks(result, tile.layer, rows.ranks, columns.ranks)
    ]
    return padded(reduced_rows(np.concatenate(strips), rows.sizes, tile.reduction))


def reduced_pairs(result: LinkResult, layer: Layer, rows: Span, columns: Span, reduction: Reduction) -> Float32Array:
    """Cells [rows, columns] from the pairs of stored rounds alone; time and memory grow with these, not with cells of
    single pairs.
    """
    cell_of_row, cell_of_column = (_cells_of_ranks(span, result.num_ranks) for span in (rows, columns))
    found = _pairs_from(result, layer, np.sort(rows.ranks))
    column = cell_of_column[found.to_rank]
    is_inside = column >= 0
    sender, column = found.from_rank[is_inside], column[is_inside]
    with np.errstate(over="ignore"):
        times = np.minimum(
            found.values[f"time_ns_{layer.statistic.value}"][is_inside].astype(np.float32), _LARGEST_TIME
        )
    there, size = np.isfinite(times), len(columns.sizes)
    cells = np.full(len(rows.sizes) * size, OUTSIDE, dtype=np.float32)
    cells[cell_of_row[sender] * size + column] = MISSING
    if reduction is Reduction.WORST:
        np.maximum.at(cells, (cell_of_row[sender] * size + column)[there], times[there])
    else:
        of_senders, medians = medians_of_groups(
            [sortable(sender[there] * size + column[there], times[there])], np.float32
        )
        sender, column = np.divmod(of_senders, size)
        of_cells, medians = medians_of_groups([sortable(cell_of_row[sender] * size + column, medians)], np.float32)
        cells[of_cells] = medians
    return cells.reshape(len(rows.sizes), size)


def _cells_of_ranks(span: Span, num_ranks: int) -> IntArray:
    """Of every rank its cell, -1 = in none."""
    cells = np.full(num_ranks, -1, dtype=np.int64)
    cells[span.ranks] = np.repeat(np.arange(len(span.sizes)), span.sizes)
    return cells


def _pairs_from(result: LinkResult, layer: Layer, ranks: IntArray) -> SampledPairs:
    """Of these ranks, ascending; neighbours are read together."""
    assert result.read_pairs is not None
    dataset = f"time_ns_{layer.statistic.value}"
    firsts = np.flatnonzero(np.diff(ranks, prepend=-2) != 1)
    ends = np.append(firsts[1:], len(ranks))
    found = [
        result.read_pairs(layer.part, (dataset,), int(ranks[first]), int(ranks[end - 1]) + 1)
        for first, end in zip(firsts.tolist(), ends.tolist(), strict=True)
    ]
    return SampledPairs(
        np.concatenate([one.from_rank for one in found]),
        np.concatenate([one.to_rank for one in found]),
        np.concatenate([one.num_of_rows for one in found]),
        {dataset: np.concatenate([one.values[dataset] for one in found])},
    )


def padded(cells: Float32Array) -> Float32Array:
    """A whole tile of what there is of it."""
    if cells.shape == (SIDE, SIDE):
        return cells
    tile = np.full((SIDE, SIDE), OUTSIDE, dtype=np.float32)
    tile[: cells.shape[0], : cells.shape[1]] = cells
    return tile


@dataclass(frozen=True)
class CellPairs:
    """What a cell of a picture stands for."""

    from_rank: int  # of its worst pair; of its first where none has a time
    to_rank: int
    num_pairs: int  # to measure
    num_missing: int  # of those
    median_ns: float | None  # as a tile shows it; None = none has a time


def read_cell(result: LinkResult, layer: Layer, rows: IntArray, columns: IntArray) -> CellPairs:
    """A cell from the pairs themselves: those from the ranks `rows` to the ranks `columns`."""
    worst, place, num_measured, num_missing = float(OUTSIDE), (int(rows[0]), int(columns[0])), 0, 0
    medians = []
    for first, cells in _blocks(result, layer, rows, columns):
        row, column = np.unravel_index(int(cells.argmax()), cells.shape)
        if cells[row, column] > max(worst, float(MISSING)):
            worst, place = float(cells[row, column]), (int(rows[first + row]), int(columns[column]))
        num_measured += int(np.count_nonzero(cells >= 0))
        num_missing += int(np.count_nonzero(cells == MISSING))
        medians.append(reduced_columns(cells, np.array([len(columns)]), Reduction.MEDIAN))
    median = reduced_rows(np.concatenate(medians), np.array([len(rows)]), Reduction.MEDIAN)[0, 0]
    return CellPairs(*place, num_measured + num_missing, num_missing, time_or_none(median))


def time_or_none(cell: np.float32) -> float | None:
    """The time of a cell, where it has one."""
    return float(cell) if cell >= 0 else None


def read_pair(result: LinkResult, part: Slice, pair: CellPairs) -> dict[str, Any]:
    """All that the file has of one ordered pair; None = not measured, or not in the file."""

    def value(dataset: str) -> float | None:
        cell = float(result.read_block(part, dataset, np.array([pair.from_rank]), np.array([pair.to_rank]))[0, 0])
        return cell if np.isfinite(cell) else None

    count = value("count")
    number = value("round") if part.repeat in result.repeats_with_rounds else None
    return {
        "from": pair.from_rank, "to": pair.to_rank,
        "time_ns": {statistic.value: value(f"time_ns_{statistic.value}") for statistic in result.statistics},
        "count": int(count or 0), "round": None if number is None else int(number),
        "num_pairs": pair.num_pairs, "num_missing": pair.num_missing, "median_ns": pair.median_ns,
    }  # fmt: skip


def sampled_rows(result: LinkResult, layer: Layer, rows: IntArray) -> Iterator[Float32Array]:
    """Whole rows of single pairs, some at a time: [some, N]."""
    for _, cells in _blocks(result, layer, rows, np.arange(result.num_ranks)):
        yield cells


def _blocks(result: LinkResult, layer: Layer, rows: IntArray, columns: IntArray) -> Iterator[tuple[int, Float32Array]]:
    """The cells of single pairs, some rows at a time: first row, [rows, columns]."""
    width = int(columns.max() - columns.min()) + 1
    num_rows = max(_VALUES_AT_ONCE // width, 1)
    for first in range(0, len(rows), num_rows):
        some = rows[first : first + num_rows]
        times = result.read_block(layer.part, f"time_ns_{layer.statistic.value}", some, columns)
        yield first, _cells(result, layer.part, times, some, columns)


def _cells(result: LinkResult, part: Slice, times: FloatArray, rows: IntArray, columns: IntArray) -> Float32Array:
    with np.errstate(over="ignore"):
        cells: Float32Array = times.astype(np.float32)
    largest = cells.max(initial=0)
    if largest <= _LARGEST_TIME:  # neither a hole nor beyond float32
        return cells
    np.minimum(cells, _LARGEST_TIME, out=cells)
    holes = np.isnan(cells)
    with_holes = np.flatnonzero(holes.any(axis=1))
    # The schedule is read only where it decides.
    to_measure = result.block_to_measure(part, rows[with_holes], columns)
    cells[with_holes] = np.where(holes[with_holes], np.where(to_measure, MISSING, OUTSIDE), cells[with_holes])
    return cells
