# SPDX-License-Identifier: Apache-2.0
"""Rows of the matrices in an HDF5 file: directly from their offsets, or through the library if they have none."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np

from leadline.error import LeadlineError
from leadline.model import FloatArray, IntArray, Slice
from leadline.readers.contents import BAD_VALUES, block_of_rows, reason_of
from leadline.readers.input_file import ImpossibleValueError, InputFile, check_cells, truncated, unreadable


@dataclass(frozen=True)
class DatasetLayout:
    """Where the cells of a matrix lie, one row after the other; offset None = in chunks, or packed."""

    offset: int | None
    kind: np.dtype[Any]
    num_ranks: int


class RowReader:
    """Reads rows; from several threads at once too. The library has one lock for all of its files, so it is left out
    wherever a matrix lies in one piece, as the engine writes it.
    """

    def __init__(self, input_file: InputFile, layouts: Mapping[str, DatasetLayout], num_ranks: int) -> None:
        """`layouts` by the names of the datasets; the caller has checked their shapes and that they lie in the file."""
        self._input, self._layouts, self._num_ranks = input_file, layouts, num_ranks
        self._library_file: h5py.File | None = None
        self._lock = threading.Lock()

    def read_rows(self, part: Slice, dataset: str, first: int, end: int) -> FloatArray:
        """See leadline.model.ReadRows. All sizes have the same rounds."""
        name = f"repeats/{part.repeat:04d}/{dataset}"
        layout = self._layouts[name]
        size_index = 0 if dataset == "round" else part.size_index
        first, end = max(first, 0), min(end, self._num_ranks)
        rows = np.empty((max(end - first, 0), self._num_ranks))
        try:
            if layout.offset is None:
                block = slice(first, end)
                cells = (block,) if dataset == "round" else (size_index, block)
                self._through_library(name, cells, rows)
                check_cells(rows.reshape(-1))
                return rows
            row = size_index * self._num_ranks + first
            offset = layout.offset + row * self._num_ranks * layout.kind.itemsize
            if not self._input.read_cells(offset, layout.kind, rows):
                raise truncated(self._input.path)
        except ImpossibleValueError:
            why = f"damaged: /{name} has values that no measurement gives"
            raise unreadable(self._input.path, why) from None
        return rows

    def read_block(self, part: Slice, dataset: str, rows: IntArray, columns: IntArray) -> FloatArray:
        """See leadline.model.ReadBlock. Of each row the stretch is read in which the columns lie."""
        name = f"repeats/{part.repeat:04d}/{dataset}"
        layout = self._layouts[name]
        if layout.offset is None or not len(rows) or not len(columns):
            return block_of_rows(self.read_rows, part, dataset, rows, columns)
        first_row = 0 if dataset == "round" else part.size_index * self._num_ranks
        first = int(columns.min())
        cells = np.empty((len(rows), len(columns)))
        is_direct = layout.kind == cells.dtype and bool((np.diff(columns) == 1).all())
        offsets = (layout.offset + ((first_row + rows) * self._num_ranks + first) * layout.kind.itemsize).tolist()
        if not (
            self._input.read_pieces(offsets, cells) if is_direct else self._gather(offsets, layout, columns, cells)
        ):
            raise truncated(self._input.path)
        try:
            check_cells(cells.reshape(-1))
        except ImpossibleValueError:
            why = f"damaged: /{name} has values that no measurement gives"
            raise unreadable(self._input.path, why) from None
        return cells

    def _gather(self, offsets: list[int], layout: DatasetLayout, columns: IntArray, cells: FloatArray) -> bool:
        """The wanted columns of every stretch of a row; False where the file ends before that."""
        wanted = columns - columns.min()
        stretch = np.empty(int(wanted.max()) + 1, dtype=layout.kind)
        for index, offset in enumerate(offsets):
            if not self._input.read_into(offset, stretch):
                return False
            cells[index] = stretch[wanted]
        return True

    def _through_library(self, name: str, cells: tuple[int | slice, ...], rows: FloatArray) -> None:
        try:
            with self._lock:
                if self._library_file is None:
                    self._library_file = h5py.File(self._input.path, "r", locking=False)
                rows[...] = self._library_file[name][cells]
        except LeadlineError:
            raise
        except (OSError, *BAD_VALUES) as error:
            raise unreadable(self._input.path, f"damaged: {reason_of(error)}") from error
