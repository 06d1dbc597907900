# SPDX-License-Identifier: Apache-2.0
"""From an HDF5 result of the bisection test (docs/formats/hdf5.md) to a BisectionResult."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leadline.benchmarks import load_as
from leadline.bisection.result import NO_RANK, BaselineSamples, BisectionResult, PatternKind, Patterns, SlowConnection
from leadline.model import Column, FloatArray, IntArray, Slice
from leadline.readers.contents import DamagedError, columns_of, facts_of, real_of, text_of
from leadline.readers.diagnosis import diagnoses_of
from leadline.readers.hdf5_file import FileReader
from leadline.readers.hdf5_numbers import NumberReader

_OF_SIZE = ("size_index", "message_size_bytes", "number")  # the place of a row says it
_PATTERN_COLUMNS = {name: kind for name, kind in columns_of(Patterns).items() if name not in _OF_SIZE}
_BASELINE_COLUMNS = {"number": "iu", "from": "iu", "to": "iu", "time_ns": "f"}
_MATRICES = {"send_to": "i", "receive_from": "i", "time_ns": "f", "full_load_time_ns": "f"}
_BASELINE_TIMES = "bisection/baseline/time_ns"
_ROWS_AT_A_TIME = 1 << 16
_MOST_NUMBER = 1 << 62


def load_bisection(path: str | os.PathLike[str]) -> BisectionResult:
    """As load(), for results of the bisection test: LeadlineError for one of another benchmark."""
    return load_as(path, BisectionResult)


class Reader(FileReader):
    """Reads all but patterns and times, and checks that those are there."""

    def result(self) -> BisectionResult:
        """LeadlineError or a bad value for whatever is not one."""
        head = self._head()
        sizes, num_ranks, summary = head["message_sizes_bytes"], len(head["ranks"]), head["summary"]
        facts = facts_of(self._attributes("bisection"), BisectionResult)
        num_participants, num_exchanges = facts["num_participants"], facts["num_exchanges"]
        if not 0 <= num_participants <= num_ranks or num_exchanges < 1:
            raise self._damaged(
                f"/bisection has {num_participants} participants of {num_ranks} ranks, {num_exchanges} exchanges"
            )
        names = self._pattern_names()
        max_patterns = self._matrices(len(sizes), num_ranks)
        others = self._tables(len(sizes), max_patterns)
        numbers = NumberReader(self._input, self._file, self._datasets)
        max_baseline = self._datasets[_BASELINE_TIMES].shape[1] if _BASELINE_TIMES in self._datasets else 0
        other_names = tuple(column.name for column in others)
        reader = _NumbersOfPatterns(numbers, sizes, num_ranks, max_patterns, max_baseline, len(names), other_names)
        slices = tuple(Slice(0, -1, index, size) for index, size in enumerate(sizes))
        return BisectionResult(
            **head,
            slices=slices,
            **facts,
            pattern_names=names,
            max_patterns=max_patterns,
            slow_connections=_slow_connections(summary, len(sizes), num_ranks),
            stopped_by=_stopped_by(summary, len(sizes)),
            **diagnoses_of(head, slices),
            other_columns=others,
            reader=reader,
        )

    def _pattern_names(self) -> tuple[str, ...]:
        if not self._has("bisection/pattern_names"):
            return ()
        return tuple(text_of(name) for name in self._array("bisection/pattern_names", 1))

    def _matrices(self, num_sizes: int, num_ranks: int) -> int:
        """M, which all of them have."""
        shape = self._shape("bisection/time_ns")
        if len(shape) != 3 or shape[:2] != (num_sizes, num_ranks):
            raise self._damaged(f"/bisection/time_ns has the shape {shape}")
        self._add_all("bisection", shape, _MATRICES)
        return shape[2]

    def _tables(self, num_sizes: int, max_patterns: int) -> tuple[Column, ...]:
        self._add_all("bisection/patterns", (num_sizes, max_patterns), _PATTERN_COLUMNS)
        others = self._add_others("bisection/patterns", (num_sizes, max_patterns), _PATTERN_COLUMNS)
        if not self._has("bisection/baseline"):
            return others
        shape = self._shape(_BASELINE_TIMES)
        if len(shape) != 2 or shape[0] != num_sizes:
            raise self._damaged(f"/bisection/baseline/time_ns has the shape {shape}")
        self._add_all("bisection/baseline", shape, _BASELINE_COLUMNS)
        return others


def _entries(summary: Mapping[str, object] | None, name: str) -> list[Mapping[str, Any]]:
    found = summary.get(name) if summary else None
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _slow_connections(
    summary: Mapping[str, object] | None, num_sizes: int, num_ranks: int
) -> tuple[SlowConnection, ...]:
    found = []
    for entry in _entries(summary, "slow_connections"):
        size_index, number, from_rank, to_rank = (int(entry[name]) for name in ("size_index", "number", "from", "to"))
        if not (0 <= size_index < num_sizes and 0 <= from_rank < num_ranks and 0 <= to_rank < num_ranks):
            raise DamagedError(f"/summary has the slow connection {from_rank} to {to_rank} of size {size_index}")
        times = (real_of(entry["time_ns"]), real_of(entry["alone_time_ns"]))
        found.append(SlowConnection(size_index, number, from_rank, to_rank, *times, bool(entry["slow_alone"])))
    return tuple(found)


def _stopped_by(summary: Mapping[str, object] | None, num_sizes: int) -> tuple[str, ...]:
    words = [""] * num_sizes
    for entry in _entries(summary, "sizes"):
        size_index, word = int(entry["size_index"]), str(entry["stopped_by"])
        if not 0 <= size_index < num_sizes:
            raise DamagedError(f"/summary has the size {size_index}")
        words[size_index] = "" if word == "not_stopped" else word
    return tuple(words)


class _NumbersOfPatterns:
    """See leadline.bisection.result.BisectionReader."""

    def __init__(
        self, numbers: NumberReader, sizes: tuple[int, ...], num_ranks: int, max_patterns: int, max_baseline: int,
        num_names: int, others: tuple[str, ...],
    ) -> None:  # fmt: skip
        self._numbers, self._sizes, self._num_ranks = numbers, sizes, num_ranks
        self._max_patterns, self._max_baseline, self._num_names = max_patterns, max_baseline, num_names
        self._others = others

    def patterns(self, size_index: int) -> Patterns:
        first = size_index * self._max_patterns
        end = first + self._num_measured(first)
        columns: dict[str, Any] = {
            name: (self._numbers.times if kind == "f" else self._whole)(f"bisection/patterns/{name}", first, end)
            for name, kind in _PATTERN_COLUMNS.items()
        }
        columns["accepted"] = columns["accepted"] != 0
        columns["begin_s"] = np.nan_to_num(columns["begin_s"])  # 0 is a moment
        columns["others"] = {
            name: self._numbers.stretch(f"bisection/patterns/{name}", first, end).astype(np.float64)
            for name in self._others
        }
        size = self._sizes[size_index]
        found = Patterns(size_index=size_index, message_size_bytes=size, number=np.arange(end - first), **columns)
        self._check(found)
        return found

    def _num_measured(self, first: int) -> int:
        """They lie one behind the other; behind the last one are holes."""
        name, num = "bisection/patterns/measuring_s", 0
        while num < self._max_patterns:
            end = min(num + _ROWS_AT_A_TIME, self._max_patterns)
            is_hole = np.isnan(self._numbers.times(name, first + num, first + end))
            if is_hole.any():
                return num + int(np.argmax(is_hole))
            num = end
        return num

    def _whole(self, name: str, first: int, end: int) -> IntArray:
        found: NDArray[Any] = self._numbers.stretch(name, first, end)
        if found.size and (found.max() > _MOST_NUMBER or found.min() < NO_RANK):
            raise self._numbers.damaged(f"/{name} has values that no measurement gives")
        return found.astype(np.int64)

    def _check(self, found: Patterns) -> None:
        is_named = found.kind == PatternKind.NAMED
        problems = {
            "kind": (found.kind < 0) | (found.kind > max(PatternKind)),
            "index": (found.index < 0) | (is_named & (found.index >= self._num_names)),
            "num_connections": (found.num_connections < 0) | (found.num_connections > self._num_ranks),
            "slowest_from": found.slowest_from >= self._num_ranks,
            "slowest_to": found.slowest_to >= self._num_ranks,
        }
        for name, is_wrong in problems.items():
            if is_wrong.any():
                why = f"{name} of pattern {int(np.argmax(is_wrong))} of size {found.size_index} cannot be"
                raise self._numbers.damaged(f"/bisection/patterns: {why}")

    def baseline(self, size_index: int) -> BaselineSamples:
        times: list[FloatArray] = []
        columns: dict[str, list[IntArray]] = {"number": [], "from": [], "to": []}
        for begin in range(0, self._max_baseline, _ROWS_AT_A_TIME):
            stretch = [size_index * self._max_baseline + at
                       for at in (begin, min(begin + _ROWS_AT_A_TIME, self._max_baseline))]  # fmt: skip
            of_block = self._numbers.times(_BASELINE_TIMES, *stretch)
            there = np.isfinite(of_block)
            if not there.any():
                break
            times.append(of_block[there])
            for name, pieces in columns.items():
                pieces.append(self._whole(f"bisection/baseline/{name}", *stretch)[there])
        time_ns = np.concatenate([*times, np.empty(0)])
        number, from_rank, to_rank = (
            np.concatenate([*pieces, np.empty(0, dtype=np.int64)]) for pieces in columns.values()
        )
        for ranks in (from_rank, to_rank):
            self._numbers.as_ranks("bisection/baseline", ranks, self._num_ranks)
        return BaselineSamples(number, from_rank, to_rank, time_ns, 1e9 * self._sizes[size_index] / time_ns)

    def times(self, size_index: int, dataset: str, ranks: tuple[int, int], numbers: tuple[int, int]) -> FloatArray:
        return self._numbers.block_of_times(f"bisection/{dataset}", size_index, ranks, numbers)

    def partners(self, size_index: int, dataset: str, ranks: tuple[int, int], numbers: tuple[int, int]) -> IntArray:
        name = f"bisection/{dataset}"
        found = self._numbers.block(name, size_index, ranks, numbers)
        return self._numbers.as_ranks(name, found, self._num_ranks, NO_RANK)
