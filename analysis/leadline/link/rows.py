# SPDX-License-Identifier: Apache-2.0
"""Rows of the matrices in an HDF5 file."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.hdf5_process import Dataset, Hdf5File
from leadline.link import pair_cells
from leadline.link.result import ReadRows
from leadline.link.sampled_rounds import partners_by_round
from leadline.model import FloatArray, IntArray, Slice
from leadline.readers.hdf5_numbers import NumberReader
from leadline.readers.input_file import ImpossibleValueError, InputFile

# The program takes some 30 ms to answer, whatever it is asked.
_ROUNDS_AT_A_TIME = 1 << 22


class RowReader:
    """Reads rows; from several threads at once too."""

    def __init__(self, input_file: InputFile, file: Hdf5File, datasets: Mapping[str, Dataset], num_ranks: int) -> None:
        """`datasets` by their names; the caller has checked their shapes and that they lie in the file."""
        self._numbers, self._num_ranks = NumberReader(input_file, file, datasets), num_ranks
        self._is_compact = any(name.endswith(f"/{pair_cells.NAME}") for name in datasets)
        self._input_file, self._lock = input_file, threading.Lock()
        self._rounds: tuple[tuple[int, int], FloatArray] | None = None

    def read_rows(self, part: Slice, dataset: str, first: int, end: int) -> FloatArray:
        """See leadline.link.result.ReadRows."""
        row = self._first_row(part, dataset)
        first, end = max(first, 0), max(min(end, self._num_ranks), max(first, 0))
        cells = ((row + first) * self._num_ranks, (row + end) * self._num_ranks)
        if self._is_compact and dataset == "round":
            return self._rounds_of(part, first, end)
        if self._is_compact:
            return self._decoded(dataset, part, self._numbers.stretch(_name(part, pair_cells.NAME), *cells)).reshape(
                end - first, self._num_ranks
            )
        return self._numbers.times(_name(part, dataset), *cells).reshape(end - first, self._num_ranks)

    def read_block(self, part: Slice, dataset: str, rows: IntArray, columns: IntArray) -> FloatArray:
        """See leadline.link.result.ReadBlock. Of each row the stretch is read in which the columns lie."""
        if self._is_compact and dataset != "round" and len(rows) and len(columns):
            return self._block_of_cells(part, dataset, rows, columns)
        if (
            self._is_compact
            or not len(rows)
            or not len(columns)
            or not self._numbers.is_in_one_piece(_name(part, dataset))
        ):
            return _block_of_rows(self.read_rows, part, dataset, rows, columns)
        starts = (self._first_row(part, dataset) + rows) * self._num_ranks + int(columns.min())
        return self._numbers.columns_of_times(_name(part, dataset), starts, columns - columns.min())

    def _rounds_of(self, part: Slice, first: int, end: int) -> FloatArray:
        """A compact file does not store them: they follow from its options, and the program tells them."""
        rows = [np.empty((0, self._num_ranks))]
        num_at_once = max(_ROUNDS_AT_A_TIME // self._num_ranks, 1)
        for start in range(first - first % num_at_once, end, num_at_once):
            stop = min(start + num_at_once, self._num_ranks)
            rows.append(self._some_rounds(part.repeat, start, stop)[max(first - start, 0) : end - start])
        return np.concatenate(rows)

    def _some_rounds(self, repeat: int, first: int, end: int) -> FloatArray:
        """Those that were asked for last are kept."""
        with self._lock:
            if self._rounds is None or self._rounds[0] != (repeat, first):
                words = [f"--first={first}", f"--ranks={end - first}", f"--repeat={repeat + 1}"]
                partners = partners_by_round(self._input_file, self._num_ranks, end - first, words)
                rounds = np.full((end - first, self._num_ranks), np.nan)
                row, number = np.nonzero(partners >= 0)
                rounds[row, partners[row, number]] = number + 1
                self._rounds = (repeat, first), rounds
            return self._rounds[1]

    def _block_of_cells(self, part: Slice, dataset: str, rows: IntArray, columns: IntArray) -> FloatArray:
        cells = np.empty((len(rows), len(columns)), dtype=np.uint32)
        least, most = int(columns.min()), int(columns.max())
        starts = (self._first_row(part, dataset) + rows) * self._num_ranks
        for index, start in enumerate(starts.tolist()):
            stretch = self._numbers.stretch(_name(part, pair_cells.NAME), start + least, start + most + 1)
            cells[index] = stretch[columns - least]
        return self._decoded(dataset, part, cells)

    def _decoded(self, dataset: str, part: Slice, cells: NDArray[Any]) -> FloatArray:
        try:
            return pair_cells.decoded(dataset, cells)
        except ImpossibleValueError:
            name = _name(part, pair_cells.NAME)
            raise self._numbers.damaged(f"/{name} has values that no measurement gives") from None

    def _first_row(self, part: Slice, dataset: str) -> int:
        """All sizes have the same rounds."""
        return 0 if dataset == "round" else part.size_index * self._num_ranks


def _name(part: Slice, dataset: str) -> str:
    return f"repeats/{part.repeat:04d}/{dataset}"


def _block_of_rows(read_rows: ReadRows, part: Slice, dataset: str, rows: IntArray, columns: IntArray) -> FloatArray:
    """See leadline.link.result.ReadBlock; from whole rows, one at a time."""
    found = [read_rows(part, dataset, rank, rank + 1)[0, columns] for rank in rows.tolist()]
    return np.array(found, dtype=np.float64).reshape(len(rows), len(columns))
