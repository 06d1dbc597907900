# SPDX-License-Identifier: Apache-2.0
"""What a result is once it is loaded: plain frozen data; matrices are read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


class Statistic(str, Enum):
    """What is kept of the timed batches of an ordered pair; times are nanoseconds a message."""

    MEDIAN = "median"
    MIN = "min"
    MEAN = "mean"
    P99 = "p99"
    MAX = "max"


@dataclass(frozen=True)
class RankPlace:
    """Where one rank ran."""

    rank: int
    host: str
    device: str  # empty = the library chose
    cpus: str  # "0-3,8"
    pid: int
    num_cpus: int
    numa_node: int  # -1 = several, or unknown


@dataclass(frozen=True)
class Provenance:
    """Where a result comes from; the attributes of /provenance under their own names."""

    version: str
    commit: str
    command_line: tuple[str, ...]
    start_utc: str
    end_utc: str  # empty = the run did not come to its end
    launcher: str
    kernel: str
    transport: str
    transport_library: str
    transport_device: str
    simulated: bool
    clock_source: str
    clock_resolution_ns: float
    clock_cost_ns: float
    wait: str
    control_plane_on_loopback: bool
    num_ranks: int
    num_hosts: int
    num_rounds: int
    direction: str


@dataclass(frozen=True)
class Slice:
    """One sweep over all rounds: one message size in one repeat."""

    repeat: int  # 0-based
    permutation: int  # -1 = ranks as they are
    size_index: int  # into Result.message_sizes_bytes
    message_size_bytes: int


@dataclass(frozen=True)
class Retest:
    """One of the slowest ordered pairs: its median in company, and alone after the main test (NaN = not retested)."""

    repeat: int
    size_index: int
    from_rank: int
    to_rank: int
    time_ns: float
    retest_time_ns: float


@dataclass(frozen=True)
class Finding:
    """Something a person should look at, as the engine wrote it."""

    id: str
    severity: str  # "note" or "warning"
    message: str
    evidence: str
    advice: str


@dataclass(frozen=True)
class Spread:
    """Some values in short; NaN = not measured."""

    num: int
    min: float
    mean: float
    max: float


@dataclass(frozen=True)
class AllToAll:
    """Exchanges of all ranks with all others, times in ns of a rank's whole exchange; None = none at that place."""

    message_size_bytes: int
    before: Spread | None  # over the ranks
    after: Spread | None
    each_round: Spread | None  # over ranks and rounds


ReadRows = Callable[[Slice, str, int, int], FloatArray]


@dataclass(frozen=True)
class Result:
    """What a run left behind. N = ranks; row = from, column = to."""

    path: Path
    format_version: int
    nonce: str
    provenance: Provenance
    options: Mapping[str, str]
    message_sizes_bytes: tuple[int, ...]
    ranks: tuple[RankPlace, ...]
    slices: tuple[Slice, ...]  # by repeat, then size
    retests: tuple[Retest, ...]  # slowest first in each slice
    findings: tuple[Finding, ...]
    summary: Mapping[str, object] | None  # the engine's own; None in a run without an end
    complete: bool
    incomplete_reason: str  # empty when complete
    all_to_all: Mapping[Slice, AllToAll]  # only slices that have such exchanges
    bisection_bytes_per_s: Mapping[Slice, Spread]  # bandwidth across the cut over the rounds; only where there is one
    has_rounds: bool  # the file has the schedule: which pairs meet
    read_rows: ReadRows  # (slice, dataset name, first row, row behind the last) -> [rows, N]

    @property
    def num_ranks(self) -> int:
        """N."""
        return len(self.ranks)

    def matrix(self, part: Slice, statistic: Statistic = Statistic.MEDIAN) -> FloatArray:
        """Times in ns a message, float64 [N, N]; NaN = not measured (the diagonal, unless N is 1)."""
        return self.read_rows(part, f"time_ns_{statistic.value}", 0, self.num_ranks)

    def count(self, part: Slice) -> FloatArray:
        """Timed batches, float64 [N, N]; NaN = not measured."""
        return self.read_rows(part, "count", 0, self.num_ranks)

    def to_measure(self, part: Slice) -> BoolArray:
        """Cells that a complete run fills, bool [N, N]: those of its schedule. Where the file has none, all but the
        diagonal, which only one rank alone has.
        """
        if self.has_rounds:
            in_schedule = np.isfinite(self.read_rows(part, "round", 0, self.num_ranks))
            # No schedule is empty: the run was killed before it had written this one.
            if in_schedule.any():
                return in_schedule
        return np.ones((1, 1), dtype=bool) if self.num_ranks == 1 else ~np.eye(self.num_ranks, dtype=bool)

    def bandwidth_bytes_per_s(self, time_ns: float | FloatArray, message_size_bytes: int) -> float | FloatArray:
        """Bytes a second that a pair moves; both directions count where both are sent at once."""
        num_directions = 2 if self.provenance.direction == "bidirectional" else 1
        return num_directions * message_size_bytes * 1e9 / time_ns

    def hosts(self) -> tuple[str, ...]:
        """Host names, each once, in the order of their lowest ranks."""
        return tuple(dict.fromkeys(place.host for place in self.ranks))

    def host_of(self) -> IntArray:
        """Index into hosts() for every rank, int64 [N]."""
        index = {host: position for position, host in enumerate(self.hosts())}
        return np.array([index[place.host] for place in self.ranks], dtype=np.int64)
