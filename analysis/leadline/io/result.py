# SPDX-License-Identifier: Apache-2.0
"""What a result of the parallel file test is: plain frozen data; the rows of ranks are read when they are asked for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from leadline.model.diagnosis import JudgedResult
from leadline.model.run import BoolArray, Column, FloatArray, IntArray, no_choice
from leadline.model.table import Record, Table

IO_TIMES = (
    "open", "preallocate", "call", "wait", "send", "receive", "barrier", "fill", "verify", "sync", "close",
)  # fmt: skip
# In the order of their numbers in files. Those between the first two and the last are on files and directories as a
# whole.
OPERATIONS = ("write", "read", "mkdir", "rmdir", "create", "stat", "open", "read_file", "unlink", "mix")
METADATA = OPERATIONS[2:-1]
# Of a phase, in its summary.
RATES = {
    "bytes_per_s": "all bytes by the time from the common start to the end of the last rank",
    "bytes_per_s_first_done": "what all had moved when the first rank was done, by that time",
    "bytes_per_s_io": "all bytes by the I/O time of the slowest rank, without making and checking contents",
    "bytes_per_s_mean": "all bytes by the mean I/O time",
    "bytes_per_s_transfer": "by the slowest I/O time without open, preallocation, sync and close",
    "bytes_per_s_at_stop": "when the time limit passed",
}
LATENCIES = ("call_ns_min", "call_ns_p50", "call_ns_p90", "call_ns_p99", "call_ns_p999", "call_ns_max")
NUM_LATENCY_BUCKETS = 128
NUM_SERIES_BINS = 128


def latency_edges_ns() -> FloatArray:
    """Float64 [129]: bucket i of latencies is from edge i to edge i + 1; the first and the last are open."""
    return np.exp2(10 + np.arange(NUM_LATENCY_BUCKETS + 1) / 4)


class PhaseState(IntEnum):
    """How far a phase came."""

    NOT_MEASURED = 0
    COMPLETE = 1
    FAILED = 2  # an error ended it, a rank was lost in it, or the run ended in it; rows are what ranks had until then


@dataclass(frozen=True, repr=False)
class IoPhase(Record):
    """All objects written once, or read once; or one operation on each file or directory of --metadata. Numbers over
    all ranks are the engine's own; NaN = not measured.
    """

    index: int  # 0-based, in the order of the run
    operation: str  # one of OPERATIONS
    repeat: int
    state: PhaseState
    summary: Mapping[str, Any]  # as in docs/formats/json.md, rates of all versions by today's names; empty where the
    # phase was not measured
    is_of_earlier_version: bool = False  # its own headline was what is bytes_per_s_io now

    @property
    def name(self) -> str:
        """As people call it: `write`, `read 2`."""
        return f"{self.operation} {self.repeat + 1}" if self.repeat else self.operation

    def value(self, name: str) -> float:
        """A number of the summary; NaN where there is none."""
        value = self.summary.get(name)
        return float(value) if isinstance(value, (int, float)) else math.nan

    @property
    def is_interrupted(self) -> bool:
        """Whether the run ended in the middle of it: rows then have bytes and the time until then, and no other."""
        return self.summary.get("is_interrupted") is True

    @property
    def bytes_per_s(self) -> float:
        """All bytes by the time from the common start to the end of the last rank: the headline."""
        return self.value("bytes_per_s")

    @property
    def operations_per_s(self) -> float:
        """All calls, or operations on items, by the same time; NaN in older files."""
        return self.value("operations_per_s")


@dataclass(frozen=True, repr=False)
class PhaseRows(Table):
    """What each rank did in a phase. All arrays begin with [N]; times in ns, NaN = the rank has no row, or the time is
    not known since the phase was interrupted. Definitions: docs/metrics.md.
    """

    has_row: BoolArray
    begin_ns: FloatArray  # since the common start of the phase
    end_ns: FloatArray
    io_ns: FloatArray
    times_ns: Mapping[str, FloatArray]  # by IO_TIMES
    num_objects: IntArray
    bytes: IntArray
    message_bytes: IntArray
    num_calls: IntArray
    num_continued: IntArray
    bytes_at_stop: IntArray
    num_mismatches: IntArray
    call_ns_min: FloatArray
    call_ns_max: FloatArray
    file: IntArray  # into IoResult.files; -1 = none
    cache_known: IntArray  # bit 0: before, bit 1: behind the phase
    cache_pages: IntArray
    cached_before: IntArray
    dirty_before: IntArray
    writeback_before: IntArray
    cached_after: IntArray
    dirty_after: IntArray
    writeback_after: IntArray
    others: Mapping[str, FloatArray]  # by IoResult.other_columns

    @property
    def bytes_per_s(self) -> FloatArray:
        """A rank's own rate: its bytes by its I/O time."""
        with np.errstate(divide="ignore", invalid="ignore"):
            rate: FloatArray = np.where(self.bytes > 0, 1e9 * self.bytes / self.io_ns, np.nan)
        return rate

    def to_table(self) -> dict[str, NDArray[Any]]:
        """See Table; a row each rank, times under their names in the file (`call_ns`)."""
        return super().to_table() | {f"{name}_ns": times for name, times in self.times_ns.items()} | dict(self.others)


@dataclass(frozen=True, repr=False)
class Series(Record):
    """Bytes by time: bin i of a rank is from i to i + 1 times its bin's length, since the common start of the phase."""

    bin_ns: IntArray  # [ranks]
    bytes: IntArray  # [ranks, 128]


class IoReader(Protocol):
    """Reads from the file; several threads may. Phases by their index."""

    def rows(self, phase: int) -> PhaseRows:
        """Of all ranks."""

    def latencies(self, phase: int, ranks: tuple[int, int]) -> IntArray:
        """Calls by latency, int64 [ranks, 128], from the first to before the second."""

    def series(self, phase: int, ranks: tuple[int, int]) -> Series:
        """Bytes by time of these ranks."""


@dataclass(frozen=True, repr=False)
class IoResult(JudgedResult):
    """What a run of the parallel file test left in its file. N = ranks; a slice is an operation with a complete
    phase.
    """

    benchmark = "io"

    movement: str  # "N-N", "N-1", "N-M-M", "N-M-1", "N-M"
    order: str  # "segmented" or "strided"
    num_objects: int  # of a rank, as asked
    object_size_bytes: int
    run: int  # in the header of every block
    backend_library: str
    file_system: str
    io_ranks: tuple[int, ...]  # empty in a run without files
    files: tuple[str, ...]
    phases: tuple[IoPhase, ...]
    other_columns: tuple[Column, ...]  # what a later version has of each rank in a phase
    reader: IoReader

    @property
    def measured_phases(self) -> tuple[IoPhase, ...]:
        """Phases that have rows."""
        return tuple(phase for phase in self.phases if phase.state != PhaseState.NOT_MEASURED)

    def phase(self, operation: str, repeat: int = 0) -> IoPhase:
        """The write or read of a repetition, the first by default."""
        for phase in self.phases:
            if (phase.operation, phase.repeat) == (operation, repeat):
                return phase
        raise no_choice("phase", f"{operation} {repeat}", (phase.name for phase in self.phases))

    def rows(self, phase: IoPhase) -> PhaseRows:
        """What each rank did in it."""
        return self.reader.rows(phase.index)

    def latencies(self, phase: IoPhase, first: int = 0, end: int | None = None) -> IntArray:
        """Calls by latency, int64 [ranks, 128], of the ranks from `first` to before `end`, all by default; the limits
        are latency_edges_ns().
        """
        return self.reader.latencies(phase.index, (first, self.num_ranks if end is None else end))

    def series(self, phase: IoPhase, first: int = 0, end: int | None = None) -> Series:
        """Bytes by time of the same ranks."""
        return self.reader.series(phase.index, (first, self.num_ranks if end is None else end))

    def _parts(self) -> str:
        return f"{', '.join(dict.fromkeys(phase.operation for phase in self.phases))}, {self.movement}, objects"
