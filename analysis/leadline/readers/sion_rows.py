# SPDX-License-Identifier: Apache-2.0
"""Rows of the matrices in a SION file: each lies in the bytes of its rank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from leadline.model import FloatArray, IntArray, Slice
from leadline.readers.input_file import Convert, ImpossibleValueError, check_cells, unreadable
from leadline.readers.sion_container import SionContainer
from leadline.readers.sion_places import Shape


def ns_of_seconds(times_s: FloatArray) -> FloatArray:
    """The nanoseconds that divide to these seconds, as far as doubles can: a quotient has few neighbours that could
    have been meant, and most often the product is one of them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        times_ns = np.asarray(times_s * 1e9)
        others = np.flatnonzero(times_ns / 1e9 != times_s)
        products = times_ns[others]
        # What the engine tries first comes last.
        for towards in (np.inf, 0.0):
            neighbours = np.nextafter(products, towards)
            fits = neighbours / 1e9 == times_s[others]
            times_ns[others[fits]] = neighbours[fits]
    return times_ns


class RowReader:
    """Reads rows; from several threads at once too. The caller has looked at the records of all ranks."""

    def __init__(self, container: SionContainer, shape: Shape, is_extended: bool, repeat_index: Mapping[int, int]):
        """`repeat_index` is the place of each repeat in the file by its number."""
        self._container, self._shape, self._is_extended = container, shape, is_extended
        self._repeat_index, self._order = repeat_index, container.payload_order

    def read_rows(self, part: Slice, dataset: str, first: int, end: int) -> FloatArray:
        """See leadline.model.ReadRows."""
        first, end = max(first, 0), min(end, self._shape.num_ranks)
        rows = np.empty((max(end - first, 0), self._shape.num_ranks))
        for rank in range(first, end):
            self._read_row(part, dataset, rank, 0, rows[rank - first])
        return rows

    def read_block(self, part: Slice, dataset: str, rows: IntArray, columns: IntArray) -> FloatArray:
        """See leadline.model.ReadBlock. Of each row the stretch is read in which the columns lie."""
        cells = np.empty((len(rows), len(columns)))
        if cells.size == 0:
            return cells
        first = int(columns.min())
        stretch = np.empty(int(columns.max()) + 1 - first)
        for index, rank in enumerate(rows.tolist()):
            self._read_row(part, dataset, rank, first, stretch)
            cells[index] = stretch[columns - first]
        return cells

    def _read_row(self, part: Slice, dataset: str, rank: int, column: int, row: FloatArray) -> None:
        """Fills `row` with the cells of a rank from a column on."""
        place = self._in_extension if self._is_extended else self._in_record
        offset, kind, convert = place(part, dataset, rank)
        stored = np.dtype(self._order + kind)
        try:
            self._container.read_cells(rank, offset + column * stored.itemsize, stored, row, convert)
        except ImpossibleValueError:
            why = f"damaged: {dataset} of repeat {part.repeat} has values that no measurement gives"
            raise unreadable(self._container.path, why) from None

    def _in_extension(self, part: Slice, dataset: str, rank: int) -> tuple[int, str, Convert]:
        payload, index = self._shape.payload(rank), self._repeat_index[part.repeat]
        if dataset == "round":
            return payload + self._shape.rounds(index), "i4", check_cells
        kind = "u4" if dataset == "count" else "f8"
        return payload + self._shape.matrix(index, part.size_index, dataset), kind, check_cells

    def _in_record(self, part: Slice, dataset: str, rank: int) -> tuple[int, str, Convert]:
        """LinkTest keeps one time for all messages to a partner: that of one batch."""
        del part
        if dataset == "round":
            return self._shape.record_steps(rank), "i4", check_cells
        return self._shape.record_times(rank), "f8", _count_cells if dataset == "count" else _time_cells


def _time_cells(cells: FloatArray) -> None:
    cells[...] = ns_of_seconds(cells)
    check_cells(cells)


def _count_cells(cells: FloatArray) -> None:
    _time_cells(cells)
    cells[np.isfinite(cells)] = 1
