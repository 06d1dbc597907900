# SPDX-License-Identifier: Apache-2.0
"""Ranges and blocks of datasets in an HDF5 file, read when they are needed, directly from their offsets."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from leadline.error import LeadlineError
from leadline.model import FloatArray
from leadline.readers.contents import BAD_VALUES, reason_of
from leadline.readers.input_file import ImpossibleValueError, InputFile, check_cells, truncated, unreadable

# Of rows that are shorter, those bytes that are not wanted come with the page anyhow.
_SHORT_ROW_BYTES = 4096


@dataclass(frozen=True)
class NumberLayout:
    """Where the values of a dataset lie; offset None = in chunks, or packed."""

    offset: int | None
    kind: np.dtype[Any]
    shape: tuple[int, ...]


class NumberReader:
    """Reads numbers, from several threads at once too. The library, which has one lock for all of its files, is left
    out wherever a dataset lies in one piece, as the engine writes it.
    """

    def __init__(self, input_file: InputFile, layouts: Mapping[str, NumberLayout]) -> None:
        """`layouts` by the names of the datasets; the caller has checked their shapes and that they lie in the file."""
        self._input, self._layouts = input_file, layouts
        self._library_file: h5py.File | None = None
        self._lock = threading.Lock()

    def damaged(self, why: str) -> LeadlineError:
        """The error for a file in which something cannot be."""
        return unreadable(self._input.path, f"damaged: {why}")

    def stretch(self, name: str, first: int, end: int) -> NDArray[Any]:
        """Values of a dataset as they are stored, all of its dimensions in a row."""
        layout = self._layouts[name]
        if layout.offset is None:
            return self._through_library(name, lambda dataset: dataset[()].reshape(-1)[first:end])
        numbers = np.empty(max(end - first, 0), dtype=layout.kind)
        if numbers.size and not self._input.read_into(layout.offset + first * layout.kind.itemsize, numbers):
            raise truncated(self._input.path)
        return numbers

    def times(self, name: str, first: int, end: int) -> FloatArray:
        """The same as float64; holes are NaN."""
        layout, times = self._layouts[name], np.empty(max(end - first, 0))
        if layout.offset is None:
            times[...] = self.stretch(name, first, end)
            return self._checked(name, times)
        try:
            if not self._input.read_cells(layout.offset + first * layout.kind.itemsize, layout.kind, times):
                raise truncated(self._input.path)
        except ImpossibleValueError:
            raise self._impossible(name) from None
        return times

    def block(self, name: str, plane: int, rows: tuple[int, int], columns: tuple[int, int]) -> NDArray[Any]:
        """Of a dataset of three dimensions a rectangle of a plane as it is stored, [rows, columns]: each from the first
        to before the second.
        """
        layout, (row, end_row), (column, end_column) = self._layouts[name], rows, columns
        num_rows, num_columns = max(end_row - row, 0), max(end_column - column, 0)
        if layout.offset is None:
            return self._through_library(name, lambda dataset: dataset[plane, row:end_row, column:end_column])
        _, all_rows, width = layout.shape
        size, first_row = layout.kind.itemsize, plane * all_rows + row
        if width * size <= _SHORT_ROW_BYTES or (column, end_column) == (0, width):
            whole = np.empty((num_rows, width), dtype=layout.kind)
            if whole.size and not self._input.read_into(layout.offset + first_row * width * size, whole):
                raise truncated(self._input.path)
            return whole[:, column:end_column]
        numbers = np.empty((num_rows, num_columns), dtype=layout.kind)
        offsets = [layout.offset + ((first_row + index) * width + column) * size for index in range(num_rows)]
        if numbers.size and not self._input.read_pieces(offsets, numbers):
            raise truncated(self._input.path)
        return numbers

    def block_of_times(self, name: str, plane: int, rows: tuple[int, int], columns: tuple[int, int]) -> FloatArray:
        """The same as float64; holes are NaN."""
        return self._checked(name, np.array(self.block(name, plane, rows, columns), dtype=np.float64, order="C"))

    def _checked(self, name: str, cells: FloatArray) -> FloatArray:
        try:
            check_cells(cells.reshape(-1))
        except ImpossibleValueError:
            raise self._impossible(name) from None
        return cells

    def _impossible(self, name: str) -> LeadlineError:
        return self.damaged(f"/{name} has values that no measurement gives")

    def _through_library(self, name: str, values_of: Callable[[h5py.Dataset], Any]) -> NDArray[Any]:
        """Of datasets in chunks, which others than the engine may have written."""
        try:
            with self._lock:
                if self._library_file is None:
                    self._library_file = h5py.File(self._input.path, "r", locking=False)
                return np.asarray(values_of(self._library_file[name]))
        except (OSError, *BAD_VALUES) as error:
            raise self.damaged(reason_of(error)) from error
