# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result of the parallel file test (docs/formats/hdf5.md) to an IoResult."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from leadline.benchmarks import load_as
from leadline.io.result import (
    IO_TIMES,
    NUM_LATENCY_BUCKETS,
    NUM_SERIES_BINS,
    OPERATIONS,
    IoPhase,
    IoResult,
    PhaseRows,
    PhaseState,
    Series,
)
from leadline.model import Column, FloatArray, IntArray, Slice
from leadline.readers.contents import columns_of, facts_of, text_of
from leadline.readers.diagnosis import diagnoses_of
from leadline.readers.hdf5_file import FileReader
from leadline.readers.hdf5_numbers import NumberReader

_COLUMNS = columns_of(PhaseRows)
del _COLUMNS["has_row"]  # follows from them


def load_io(path: str | os.PathLike[str]) -> IoResult:
    """As load(), for results of the parallel file test: LeadlineError for one of another benchmark."""
    return load_as(path, IoResult)


class Reader(FileReader):
    """Reads all but the rows of ranks, and checks that those are there."""

    def result(self) -> IoResult:
        """LeadlineError or a bad value for whatever is not one."""
        head = self._head()
        num_ranks = len(head["ranks"])
        phases = self._phases()
        numbers, others = self._numbers(len(phases), num_ranks)
        facts = facts_of(self._attributes("io"), IoResult)
        slices = tuple(
            Slice(0, -1, 0, facts["object_size_bytes"], operation)
            for operation in OPERATIONS
            if operation != "mix"  # nobody is judged by it
            if any(phase.operation == operation and phase.state == PhaseState.COMPLETE for phase in phases)
        )
        return IoResult(
            **head,
            **facts,
            slices=slices,
            **diagnoses_of(head, slices),
            io_ranks=self._io_ranks(num_ranks),
            files=tuple(text_of(name) for name in self._array("io/files", 1)) if self._has("io/files") else (),
            phases=phases,
            other_columns=others,
            reader=_RowReader(
                numbers,
                num_ranks,
                tuple(column.name for column in others),
                frozenset(phase.index for phase in phases if phase.is_interrupted),
            ),
        )

    def _io_ranks(self, num_ranks: int) -> tuple[int, ...]:
        if not self._has("io/io_ranks"):
            return ()
        ranks = tuple(int(rank) for rank in self._array("io/io_ranks", 1))
        if any(not 0 <= rank < num_ranks for rank in ranks):
            raise self._damaged(f"/io/io_ranks has ranks that are not there, of {num_ranks}")
        return ranks

    def _phases(self) -> tuple[IoPhase, ...]:
        columns = self._columns("io/phases", {"operation": "iu", "repeat": "iu", "state": "iu", "summary": "OSU"})
        return tuple(
            IoPhase(index, OPERATIONS[operation], int(repeat), PhaseState(int(state)), *self._summary(summary))
            for index, (operation, repeat, state, summary) in enumerate(zip(*columns.values(), strict=True))
        )

    def _summary(self, stored: Any) -> tuple[dict[str, Any], bool]:
        """With the rates under today's names, and whether that took a change."""
        text = text_of(stored)
        summary = json.loads(text) if text else {}
        if not isinstance(summary, dict):
            raise self._damaged("/io/phases/summary is no object")
        is_earlier = "bytes_per_s" in summary and "bytes_per_s_io" not in summary
        if is_earlier:
            summary["bytes_per_s_io"] = summary["bytes_per_s"]
            summary["bytes_per_s"] = summary.get("bytes_per_s_wall")
        return summary, is_earlier

    def _numbers(self, num_phases: int, num_ranks: int) -> tuple[NumberReader, tuple[Column, ...]]:
        of_each = (num_phases, num_ranks)
        kinds = {f"{time}_ns": "f" for time in IO_TIMES} | _COLUMNS | {"series_bin_ns": "iu"}
        self._add_all("io/ranks", of_each, kinds)
        self._add("io/ranks/latencies", (*of_each, NUM_LATENCY_BUCKETS), "iu")
        self._add("io/ranks/series_bytes", (*of_each, NUM_SERIES_BINS), "iu")
        known = [name.rpartition("/")[2] for name in self._datasets]
        others = self._add_others("io/ranks", of_each, known)
        return NumberReader(self._input, self._file, self._datasets), others


class _RowReader:
    """Reads a phase of a file; see leadline.io.result.IoReader."""

    def __init__(
        self, numbers: NumberReader, num_ranks: int, others: tuple[str, ...], interrupted: frozenset[int]
    ) -> None:
        self._numbers, self._num_ranks, self._interrupted = numbers, num_ranks, interrupted
        self._others = others

    def rows(self, phase: int) -> PhaseRows:
        # A hole is a rank without a row; in a row 0 is a time like any other: a file that was never synced.
        has_row = self._stored("end_ns", phase) != 0
        is_whole = has_row & (phase not in self._interrupted)
        times = {name: self._times(f"{name}_ns", phase, is_whole) for name in IO_TIMES}
        numbers: dict[str, Any] = {}
        for name, kind in _COLUMNS.items():
            if kind == "f":
                numbers[name] = self._times(name, phase, has_row if name in ("begin_ns", "end_ns") else is_whole)
            else:
                numbers[name] = self._stored(name, phase).astype(np.int64)
        numbers["file"] = np.where(has_row, numbers["file"], -1)
        others = {name: np.where(is_whole, self._stored(name, phase), np.nan) for name in self._others}
        return PhaseRows(has_row=has_row, times_ns=times, others=others, **numbers)

    def latencies(self, phase: int, ranks: tuple[int, int]) -> IntArray:
        return self._block("latencies", phase, ranks, NUM_LATENCY_BUCKETS)

    def series(self, phase: int, ranks: tuple[int, int]) -> Series:
        bin_ns = self._stored("series_bin_ns", phase)[ranks[0] : ranks[1]].astype(np.int64)
        return Series(bin_ns, self._block("series_bytes", phase, ranks, NUM_SERIES_BINS))

    def _stored(self, name: str, phase: int) -> Any:
        first = phase * self._num_ranks
        return self._numbers.stretch(f"io/ranks/{name}", first, first + self._num_ranks)

    def _times(self, name: str, phase: int, has_row: Any) -> FloatArray:
        times = np.where(has_row, self._stored(name, phase).astype(np.float64), np.nan)
        if np.any(times[has_row] < 0) or np.any(np.isinf(times[has_row])):
            raise self._numbers.damaged(f"/io/ranks/{name} has values that no measurement gives")
        return times

    def _block(self, name: str, phase: int, ranks: tuple[int, int], width: int) -> IntArray:
        block = self._numbers.block(f"io/ranks/{name}", phase, ranks, (0, width))
        return np.asarray(block, dtype=np.int64)
