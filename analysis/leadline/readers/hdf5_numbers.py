# SPDX-License-Identifier: Apache-2.0
"""Ranges and blocks of datasets in an HDF5 file, read when they are needed, directly from their offsets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.error import LeadlineError
from leadline.hdf5_process import Dataset, Hdf5File, LibraryError
from leadline.model import FloatArray, IntArray
from leadline.readers.input_file import ImpossibleValueError, InputFile, check_cells, truncated, unreadable

# Of rows that are shorter, those bytes that are not wanted come with the page anyhow.
_SHORT_ROW_BYTES = 4096


class NumberReader:
    """Reads numbers, from several threads at once too. The library, which answers one request after the other, is left
    out wherever a dataset lies in one piece, as the engine writes it.
    """

    def __init__(self, input_file: InputFile, file: Hdf5File, datasets: Mapping[str, Dataset]) -> None:
        """`datasets` by their names; the caller has checked their shapes and that they lie in the file."""
        self._input, self._datasets = input_file, datasets
        # Where nothing is left for the library to read, its process ends with the last reference.
        self._file = file if any(dataset.offset is None for dataset in datasets.values()) else None

    def damaged(self, why: str) -> LeadlineError:
        """The error for a file in which something cannot be."""
        return unreadable(self._input.path, f"damaged: {why}")

    def stretch(self, name: str, first: int, end: int) -> NDArray[Any]:
        """Values of a dataset as they are stored, all of its dimensions in a row."""
        dataset = self._datasets[name]
        if dataset.offset is None:
            return self._packed_stretch(dataset, first, end)
        numbers = np.empty(max(end - first, 0), dtype=dataset.dtype)
        if numbers.size and not self._input.read_into(dataset.offset + first * dataset.dtype.itemsize, numbers):
            raise truncated(self._input.path)
        return numbers

    def as_ranks(self, name: str, numbers: NDArray[Any], num_ranks: int, least: int = 0) -> IntArray:
        """Numbers of ranks as int64; below 0, where that is allowed, is none."""
        if numbers.size and not (numbers.min() >= least and numbers.max() < num_ranks):
            raise self.damaged(f"/{name} names a rank that is not there")
        return numbers.astype(np.int64)

    def times(self, name: str, first: int, end: int) -> FloatArray:
        """The same as float64; holes are NaN."""
        dataset, times = self._datasets[name], np.empty(max(end - first, 0))
        if dataset.offset is None:
            times[...] = self.stretch(name, first, end)
            return self._checked(name, times)
        try:
            if not self._input.read_cells(dataset.offset + first * dataset.dtype.itemsize, dataset.dtype, times):
                raise truncated(self._input.path)
        except ImpossibleValueError:
            raise self._impossible(name) from None
        return times

    def block(self, name: str, plane: int, rows: tuple[int, int], columns: tuple[int, int]) -> NDArray[Any]:
        """Of a dataset of three dimensions a rectangle of a plane as it is stored, [rows, columns]: each from the first
        to before the second.
        """
        dataset, (row, end_row), (column, end_column) = self._datasets[name], rows, columns
        num_rows, num_columns = max(end_row - row, 0), max(end_column - column, 0)
        if dataset.offset is None:
            return self._packed(dataset, [(plane, plane + 1), rows, columns]).reshape(num_rows, num_columns)
        _, all_rows, width = dataset.shape
        size, first_row = dataset.dtype.itemsize, plane * all_rows + row
        if width * size <= _SHORT_ROW_BYTES or (column, end_column) == (0, width):
            whole = np.empty((num_rows, width), dtype=dataset.dtype)
            if whole.size and not self._input.read_into(dataset.offset + first_row * width * size, whole):
                raise truncated(self._input.path)
            return whole[:, column:end_column]
        numbers = np.empty((num_rows, num_columns), dtype=dataset.dtype)
        offsets = [dataset.offset + ((first_row + index) * width + column) * size for index in range(num_rows)]
        if numbers.size and not self._input.read_pieces(offsets, numbers):
            raise truncated(self._input.path)
        return numbers

    def block_of_times(self, name: str, plane: int, rows: tuple[int, int], columns: tuple[int, int]) -> FloatArray:
        """The same as float64; holes are NaN."""
        return self._checked(name, np.array(self.block(name, plane, rows, columns), dtype=np.float64, order="C"))

    def is_in_one_piece(self, name: str) -> bool:
        """Whether a dataset is read without the library."""
        return self._datasets[name].offset is not None

    def columns_of_times(self, name: str, starts: IntArray, columns: IntArray) -> FloatArray:
        """Of a dataset in one piece the values that lie so far behind each start, [starts, columns], as float64; holes
        are NaN. `columns` begin with 0.
        """
        dataset = self._datasets[name]
        assert dataset.offset is not None
        cells = np.empty((len(starts), len(columns)))
        offsets = (dataset.offset + starts * dataset.dtype.itemsize).tolist()
        if dataset.dtype == cells.dtype and bool((np.diff(columns) == 1).all()):
            is_all_there = self._input.read_pieces(offsets, cells)
        else:
            is_all_there = self._gather(offsets, dataset.dtype, columns, cells)
        if not is_all_there:
            raise truncated(self._input.path)
        return self._checked(name, cells)

    def _gather(self, offsets: list[int], kind: np.dtype[Any], columns: IntArray, cells: FloatArray) -> bool:
        """The wanted columns of every stretch of a row; False where the file ends before that."""
        stretch = np.empty(int(columns.max()) + 1, dtype=kind)
        for index, offset in enumerate(offsets):
            if not self._input.read_into(offset, stretch):
                return False
            cells[index] = stretch[columns]
        return True

    def _checked(self, name: str, cells: FloatArray) -> FloatArray:
        try:
            check_cells(cells.reshape(-1))
        except ImpossibleValueError:
            raise self._impossible(name) from None
        return cells

    def _impossible(self, name: str) -> LeadlineError:
        return self.damaged(f"/{name} has values that no measurement gives")

    def _packed_stretch(self, dataset: Dataset, first: int, end: int) -> NDArray[Any]:
        """What stretch() promises, from a dataset in chunks, which others than the engine may have written."""
        if first >= end:
            return np.empty(0, dtype=dataset.dtype)
        ranges: list[tuple[int, int]] = []
        for length in _num_below(dataset.shape):
            ranges.append((first // length, -(-end // length)))
            place = ranges[-1][0]
            first, end = first - place * length, end - place * length
            if ranges[-1][1] - place != 1:
                break
        return self._packed(dataset, ranges).reshape(-1)[first:end]

    def _packed(self, dataset: Dataset, ranges: Sequence[tuple[int, int]]) -> NDArray[Any]:
        assert self._file is not None
        try:
            return self._file.read(dataset, ranges)
        except LibraryError as error:
            raise self.damaged(str(error)) from error


def _num_below(shape: tuple[int, ...]) -> list[int]:
    """How many values one place of each dimension has."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
