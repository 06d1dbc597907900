# SPDX-License-Identifier: Apache-2.0
"""Randomly sampled rounds that a file stores as they were: cells by rank and round; the program tells who met whom."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.hdf5_process import Dataset, Hdf5File
from leadline.link import pair_cells
from leadline.link.result import WHY_NOT_MEASURED, NotMeasured, SampledPairs
from leadline.model import FloatArray, IntArray, Slice
from leadline.program import output_of, unusable
from leadline.readers.hdf5_numbers import NumberReader
from leadline.readers.input_file import ImpossibleValueError, InputFile
from leadline.readers.sion import temporary_folder

# Of the dataset that has the cells of a repeat.
NAME = "sampled_pair"

# Guesses that err on the side of slow machines and disks.
_DEADLINE_S = 60.0
_CELLS_A_SECOND = 1e5


class SampledReader:
    """Reads pairs, rows and blocks; from several threads at once too."""

    def __init__(self, input_file: InputFile, file: Hdf5File, datasets: Mapping[str, Dataset]) -> None:
        """`datasets` by their names; the caller has checked that they lie in the file and have one shape."""
        self._numbers = NumberReader(input_file, file, datasets)
        _, self._num_ranks, self._num_rounds = next(iter(datasets.values())).shape
        self._input_file = input_file
        self._lock = threading.Lock()
        self._partners: NDArray[np.int32] | None = None

    def read_pairs(self, part: Slice, datasets: Sequence[str], first: int, end: int) -> SampledPairs:
        """See leadline.link.result.ReadPairs."""
        first, end = max(first, 0), max(min(end, self._num_ranks), max(first, 0))
        return self._pairs_of(part, datasets, np.arange(first, end), self._cells(part, first, end))

    def read_rows(self, part: Slice, dataset: str, first: int, end: int) -> FloatArray:
        """See leadline.link.result.ReadRows. For few ranks: a row has all of them."""
        first, end = max(first, 0), max(min(end, self._num_ranks), max(first, 0))
        found = self.read_pairs(part, (dataset,), first, end)
        rows = _nothing(dataset, (end - first, self._num_ranks))
        rows[found.from_rank - first, found.to_rank] = found.values[dataset]
        return rows

    def read_block(self, part: Slice, dataset: str, rows: IntArray, columns: IntArray) -> FloatArray:
        """See leadline.link.result.ReadBlock."""
        block = _nothing(dataset, (len(rows), len(columns)))
        if not block.size:
            return block
        cells = np.concatenate([self._cells(part, rank, rank + 1) for rank in rows.tolist()])
        found = self._pairs_of(part, (dataset,), rows, cells)
        row_of = np.repeat(np.arange(len(rows)), found.num_of_rows)
        # Columns may come in any order, and more than once.
        order = np.argsort(columns, kind="stable")
        left, right = (np.searchsorted(columns[order], found.to_rank, side=side) for side in ("left", "right"))
        num = right - left
        pair = np.repeat(np.arange(num.size), num)
        place = np.arange(pair.size) - np.repeat(np.cumsum(num) - num, num) + left[pair]
        block[row_of[pair], order[place]] = found.values[dataset][pair]
        return block

    def _cells(self, part: Slice, first: int, end: int) -> NDArray[np.uint32]:
        row = part.size_index * self._num_ranks
        stretch = self._numbers.stretch(_name(part), (row + first) * self._num_rounds, (row + end) * self._num_rounds)
        return stretch.reshape(-1, self._num_rounds)

    def _pairs_of(
        self, part: Slice, datasets: Sequence[str], ranks: IntArray, cells: NDArray[np.uint32]
    ) -> SampledPairs:
        """Of each pair that met several times what was measured last, or that it was not."""
        partners = self._who_met_whom()[ranks].astype(np.int64)
        num_rounds = partners.shape[1]
        cells = cells[:, :num_rounds]
        is_measured = cells > pair_cells.LARGEST_WITHOUT_TIME
        # One number says partner, whether it was measured, and round; the last of each partner counts.
        keys = np.sort((partners * 2 + is_measured) * num_rounds + np.arange(num_rounds), axis=1)
        partner_of = keys // (2 * num_rounds)
        is_last = np.ones(keys.shape, dtype=bool)
        is_last[:, :-1] = partner_of[:, 1:] != partner_of[:, :-1]
        is_last &= partner_of >= 0
        row, place = np.nonzero(is_last)
        key = keys[row, place]
        values = {name: self._decoded(part, name, cells[row, key % num_rounds]) for name in datasets if name != "round"}
        if "round" in datasets:
            # That of the last meeting, whether it was measured or not.
            meetings = np.sort(partners * num_rounds + np.arange(num_rounds), axis=1)
            values["round"] = (meetings[row, place] % num_rounds + 1).astype(np.float64)
        return SampledPairs(ranks[row], partner_of[row, place], np.bincount(row, minlength=len(ranks)), values)

    def _decoded(self, part: Slice, dataset: str, cells: NDArray[np.uint32]) -> FloatArray:
        try:
            return pair_cells.decoded(dataset, cells)
        except ImpossibleValueError:
            raise self._numbers.damaged(f"/{_name(part)} has values that no measurement gives") from None

    def _who_met_whom(self) -> NDArray[np.int32]:
        """By rank and round, -1 = nobody. Asked once."""
        with self._lock:
            if self._partners is None:
                self._partners = partners_by_round(self._input_file, self._num_ranks, self._num_ranks)
                if self._partners.shape[1] > self._num_rounds:
                    raise self._numbers.damaged("it has more rounds than cells of a rank")
            return self._partners


def partners_by_round(
    input_file: InputFile, num_ranks: int, num_rows: int, words: Sequence[str] = ()
) -> NDArray[np.int32]:
    """Whom so many of the ranks meet in each round, from `leadline partners`: [rows, rounds], -1 = nobody."""
    path, deadline_s = input_file.path, _DEADLINE_S + num_rows * num_ranks / _CELLS_A_SECOND
    with temporary_folder(f"cannot read '{path}'", "Set TMPDIR to a folder with room for its table") as folder:
        table = folder / "partners.npy"
        command = ["partners", "--output", os.fspath(table), *words, "--", os.fspath(input_file.contents)]
        program, _ = output_of(command, f"cannot read '{path}'", deadline_s)
        try:
            partners: NDArray[Any] = np.load(table, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise unusable(program, error) from error
    is_table = partners.dtype == np.int32 and partners.ndim == 2 and len(partners) == num_rows
    if not is_table or (partners >= num_ranks).any():
        raise unusable(program, ValueError(f"it is no table of {num_rows} of {num_ranks} ranks"))
    return partners


def _name(part: Slice) -> str:
    return f"repeats/{part.repeat:04d}/{NAME}"


def _nothing(dataset: str, shape: tuple[int, int]) -> FloatArray:
    """What stands where the rounds did not draw a pair."""
    return np.full(shape, float(NotMeasured.NOT_IN_SCHEDULE) if dataset == WHY_NOT_MEASURED else math.nan)
