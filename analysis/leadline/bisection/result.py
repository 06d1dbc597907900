# SPDX-License-Identifier: Apache-2.0
"""What a result of the bisection test is: plain frozen data; patterns and times are read when they are asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Protocol

import numpy as np

from leadline.error import ExitStatus, LeadlineError
from leadline.model.diagnosis import JudgedResult
from leadline.model.run import BoolArray, Column, FloatArray, IntArray, no_choice, size_in_bytes
from leadline.model.table import Table, first_of
from leadline.units import bytes_text

NO_RANK = -1


class PatternKind(IntEnum):
    """Where a pattern comes from."""

    RANDOM = 0
    NAMED = 1
    WORST = 2  # a step of the search for bad patterns


@dataclass(frozen=True, repr=False)
class Patterns(Table):
    """The measured patterns of one message size in the order in which they were measured. All arrays are [P]; what a
    number means stands in docs/metrics.md.
    """

    size_index: int  # into BisectionResult.message_sizes_bytes
    message_size_bytes: int
    number: IntArray  # 0-based: its column in the file
    kind: IntArray  # PatternKind
    index: IntArray  # random: what replays it with the seed; named: into pattern_names; worst: the step
    repeat: IntArray
    accepted: BoolArray  # worst: the search went on from it
    num_connections: IntArray
    bytes_per_s_mean: FloatArray  # over the connections; NaN = not measured, as in the next ones
    bytes_per_s_harmonic: FloatArray
    bytes_per_s_min: FloatArray
    bytes_per_s_max: FloatArray
    bytes_per_s_full_load: FloatArray
    slowest_from: IntArray
    slowest_to: IntArray
    begin_s: FloatArray  # since the first pattern of the run
    measuring_s: FloatArray
    others: Mapping[str, FloatArray]  # by BisectionResult.other_columns

    def where(self, wanted: BoolArray | IntArray) -> Patterns:
        """Some of them."""
        columns = [field.name for field in fields(self) if isinstance(getattr(self, field.name), np.ndarray)]
        others = {name: values[wanted] for name, values in self.others.items()}
        return replace(self, others=others, **{name: getattr(self, name)[wanted] for name in columns})

    def of_kind(self, kind: PatternKind | str) -> Patterns:
        """Those that are `random`, `named` or `worst`."""
        return self.where(self.kind == kind_of(kind))


@dataclass(frozen=True, repr=False)
class Connections(Table):
    """The connections of one pattern, by the rank that receives. All arrays have the same length."""

    from_rank: IntArray
    to_rank: IntArray
    time_ns: FloatArray  # of one message, the receiver's own; NaN = not measured
    full_load_time_ns: FloatArray  # the same while all others were under way
    bytes_per_s: FloatArray  # message size / time


@dataclass(frozen=True, repr=False)
class BaselineSamples(Table):
    """Pairs that were measured while all others rested. All arrays have the same length."""

    number: IntArray  # of the pattern behind which it was
    from_rank: IntArray
    to_rank: IntArray
    time_ns: FloatArray
    bytes_per_s: FloatArray


@dataclass(frozen=True)
class SlowConnection:
    """A connection of random patterns, as the run itself found it, and alone after the test."""

    size_index: int
    number: int  # of the pattern it was seen in
    from_rank: int
    to_rank: int
    time_ns: float
    alone_time_ns: float  # NaN = not measured again
    slow_alone: bool  # beside the median of all pairs alone; else slow only under load, or not measured again


class BisectionReader(Protocol):
    """Reads from the file; several threads may. Sizes by their index."""

    def patterns(self, size_index: int) -> Patterns:
        """All that were measured."""

    def baseline(self, size_index: int) -> BaselineSamples:
        """All that were measured."""

    def times(self, size_index: int, dataset: str, ranks: tuple[int, int], numbers: tuple[int, int]) -> FloatArray:
        """Float64 [ranks, patterns] of a dataset of times, from the first to before the second of each; NaN = none."""

    def partners(self, size_index: int, dataset: str, ranks: tuple[int, int], numbers: tuple[int, int]) -> IntArray:
        """Likewise of `send_to` or `receive_from`; NO_RANK = none."""


@dataclass(frozen=True, repr=False)
class BisectionResult(JudgedResult):
    """What a run of the bisection test left in its file. N = ranks. A slice is a message size; of those with
    random patterns the run wrote a diagnosis.
    """

    benchmark = "bisection"

    num_participants: int  # ranks that take part in patterns
    num_exchanges: int  # timed, of a pattern
    seed: int  # of random patterns
    within_hosts: bool  # random pairs may lie on one host
    pattern_names: tuple[str, ...]  # of the named patterns
    max_patterns: int  # of a message size: M
    slow_connections: tuple[SlowConnection, ...]  # slowest first, size by size; only in a run that finished
    stopped_by: tuple[str, ...]  # of each size: "precision", "rounds", "time_limit"; empty = not known, or none wanted
    other_columns: tuple[Column, ...]  # what a later version has of each pattern
    reader: BisectionReader

    @property
    def active_ranks_per_host(self) -> int:
        """So many ranks of each host take part; 0 = all."""
        text = self.options.get("active_ranks_per_host", "0")
        return int(text) if text.isdecimal() else 0

    @property
    def precision(self) -> float:
        """The share of the mean below which the half-width ends a size; 0 = never; NaN = the file does not tell."""
        return self._number_of_option("precision", math.nan)

    @property
    def threshold(self) -> float:
        """A connection is slow where it is slower than the median connection by more than this share of its speed."""
        return self._number_of_option("threshold", 0.2)

    @property
    def slow_limit(self) -> float:
        """The same as a limit: a connection is slow below this share of the median connection."""
        return 1 - self.threshold

    def _size_index(self, size: int | str | None = None) -> int:
        """Where a message size (1048576, "1MiB") stands; None = the only one."""
        sizes = self.message_sizes_bytes
        found = range(len(sizes))
        if size is not None:
            size_bytes = size_in_bytes(size)
            found = range(sizes.index(size_bytes), sizes.index(size_bytes) + 1) if size_bytes in sizes else range(0)
        if len(found) == 1:
            return found[0]
        problem = "the result has several message sizes; say which" if found else "the result has no such message size"
        there = ", ".join(bytes_text(one) for one in sizes)
        raise LeadlineError(problem, hint=f"It has size={there}", status=ExitStatus.BAD_COMMAND_LINE)

    def patterns(self, size: int | str | None = None, kind: PatternKind | str | None = None) -> Patterns:
        """The measured patterns of a message size, of one kind (`random`, `named`, `worst`) or all."""
        found = self.reader.patterns(self._size_index(size))
        return found if kind is None else found.of_kind(kind)

    def pattern_name(self, kind: int, index: int) -> str:
        """As people call it: `random 17`, `shift:3`, `worst, step 4`."""
        if kind == PatternKind.NAMED:
            return self.pattern_names[index]
        return f"random {index}" if kind == PatternKind.RANDOM else f"worst, step {index + 1}"

    def connections(self, number: int, size: int | str | None = None) -> Connections:
        """Those of the pattern with this number."""
        size_index = self._size_index(size)
        num_patterns = len(self.reader.patterns(size_index))
        if not 0 <= number < num_patterns:
            raise no_choice("pattern", number, [f"0 to {num_patterns - 1}" if num_patterns else "none"])
        ranks, numbers = (0, self.num_ranks), (number, number + 1)
        from_rank = self.reader.partners(size_index, "receive_from", ranks, numbers)[:, 0]
        times, full_load = (
            self.reader.times(size_index, name, ranks, numbers)[:, 0] for name in ("time_ns", "full_load_time_ns")
        )
        receives = np.flatnonzero(from_rank != NO_RANK)
        speed = 1e9 * self.message_sizes_bytes[size_index] / times[receives]
        return Connections(from_rank[receives], receives, times[receives], full_load[receives], speed)

    def baseline(self, size: int | str | None = None) -> BaselineSamples:
        """Pairs that were measured alone, with one message size."""
        return self.reader.baseline(self._size_index(size))

    def rank_blocks(self, num_patterns: int, num_cells: int = 1 << 20) -> Iterator[tuple[int, int]]:
        """All ranks, some at a time, which have about so many cells together in so many patterns (a rank at least)."""
        num_rows = max(num_cells // max(num_patterns, 1), 1)
        for first in range(0, self.num_ranks, num_rows):
            yield first, min(first + num_rows, self.num_ranks)

    def _parts(self) -> str:
        return f"patterns ({first_of(('random', *self.pattern_names))})"


def kind_of(word: PatternKind | str | int) -> PatternKind:
    """A kind by its name."""
    if isinstance(word, str):
        if word.upper() not in PatternKind.__members__:
            raise no_choice("kind of pattern", word, (one.name.lower() for one in PatternKind))
        return PatternKind[word.upper()]
    return PatternKind(word)
