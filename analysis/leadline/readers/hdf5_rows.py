# SPDX-License-Identifier: Apache-2.0
"""Rows of the matrices in an HDF5 file."""

from __future__ import annotations

from collections.abc import Mapping

from leadline.hdf5_process import Dataset, Hdf5File
from leadline.model import FloatArray, IntArray, Slice
from leadline.readers.contents import block_of_rows
from leadline.readers.hdf5_numbers import NumberReader
from leadline.readers.input_file import InputFile


class RowReader:
    """Reads rows; from several threads at once too."""

    def __init__(self, input_file: InputFile, file: Hdf5File, datasets: Mapping[str, Dataset], num_ranks: int) -> None:
        """`datasets` by their names; the caller has checked their shapes and that they lie in the file."""
        self._numbers, self._num_ranks = NumberReader(input_file, file, datasets), num_ranks

    def read_rows(self, part: Slice, dataset: str, first: int, end: int) -> FloatArray:
        """See leadline.model.ReadRows."""
        row = self._first_row(part, dataset)
        first, end = max(first, 0), max(min(end, self._num_ranks), max(first, 0))
        cells = ((row + first) * self._num_ranks, (row + end) * self._num_ranks)
        return self._numbers.times(_name(part, dataset), *cells).reshape(end - first, self._num_ranks)

    def read_block(self, part: Slice, dataset: str, rows: IntArray, columns: IntArray) -> FloatArray:
        """See leadline.model.ReadBlock. Of each row the stretch is read in which the columns lie."""
        if not len(rows) or not len(columns) or not self._numbers.is_in_one_piece(_name(part, dataset)):
            return block_of_rows(self.read_rows, part, dataset, rows, columns)
        starts = (self._first_row(part, dataset) + rows) * self._num_ranks + int(columns.min())
        return self._numbers.columns_of_times(_name(part, dataset), starts, columns - columns.min())

    def _first_row(self, part: Slice, dataset: str) -> int:
        """All sizes have the same rounds."""
        return 0 if dataset == "round" else part.size_index * self._num_ranks


def _name(part: Slice, dataset: str) -> str:
    return f"repeats/{part.repeat:04d}/{dataset}"
