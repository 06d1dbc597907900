# SPDX-License-Identifier: Apache-2.0
"""What a result of the congestion test is: plain frozen data; times of rounds are read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np

from leadline.model.run import FloatArray, IntArray, RunResult, member_of
from leadline.model.table import first_of

_BUCKETS_PER_OCTAVE, _LEAST_NS = 128, 32.0


class VictimTest(str, Enum):
    """What victims do."""

    LATENCY = "latency"  # to the partner and back, from when a message was due
    BANDWIDTH = "bandwidth"  # a stream: from one message to the next
    ALLREDUCE = "allreduce"


TESTS = tuple(VictimTest)


@dataclass(frozen=True)
class CongestionCell:
    """A load with an intensity."""

    index: int  # into CongestionResult.cells
    load: str  # its name; empty = no load at all
    intensity_percent: int

    @property
    def name(self) -> str:
        """`incast 50 %`, or `no load`."""
        return f"{self.load} {self.intensity_percent} %" if self.load else "no load"


@dataclass(frozen=True)
class Times:
    """Of a test, alone or under load: nanoseconds of an operation; NaN = too few to tell."""

    num: int
    mean: float
    median: float
    p99: float
    p999: float
    max: float


@dataclass(frozen=True)
class Factor:
    """Impact factor: loaded by alone, with its 95 % interval."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Impact:
    """What a load does to a test."""

    load: str  # empty = no load
    intensity_percent: int
    test: VictimTest
    shared: str  # all, host, switch, nothing
    num_rounds: int
    alone: Times
    loaded: Times
    mean: Factor
    median: Factor
    p99: Factor
    p999: Factor


@dataclass(frozen=True)
class LoadRate:
    """What a load reaches."""

    load: str
    intensity_percent: int
    bytes_per_s: float
    alone_bytes_per_s: float  # without pauses and victims; NaN = not measured
    fairness: float
    recovery_s: float  # NaN = not measured, or longer than a test


@dataclass(frozen=True, repr=False)
class CongestionResult(RunResult):
    """A congestion test. C cells, R rounds."""

    benchmark: ClassVar[str] = "congestion"

    cells: tuple[CongestionCell, ...]
    victims: IntArray
    num_load_ranks: int
    victims_are_hosts: bool
    num_rounds: int  # that were asked for
    impacts: tuple[Impact, ...]  # none in a run without an end
    loads: tuple[LoadRate, ...]
    column: Callable[[str, int, int], FloatArray]  # of a table: what stands behind these first two indices

    def rounds(self, cell: int, test: VictimTest | str) -> Mapping[str, FloatArray]:
        """The times of a test of a cell by round, [R]: `alone_time_ns_median`, `loaded_time_ns_p99` ...; NaN = not
        measured.
        """
        place = TESTS.index(member_of(VictimTest, test))
        names = [f"{state}_time_ns_{name}" for state in ("alone", "loaded")
                 for name in ("mean", "median", "p99", "p999", "max")]  # fmt: skip
        return {name: self.column(f"rounds/{name}", cell, place) for name in names}

    def distribution(self, cell: int, test: VictimTest | str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Where buckets of time begin and the last one ends, in nanoseconds, and how many operations each has, alone
        and under load.
        """
        place = TESTS.index(member_of(VictimTest, test))
        alone, loaded = (np.nan_to_num(self.column(f"distribution/{state}", cell, place))
                         for state in ("alone", "loaded"))  # fmt: skip
        octave, part = np.divmod(np.arange(alone.size + 1), _BUCKETS_PER_OCTAVE)
        return _LEAST_NS * 2.0**octave * (1 + part / _BUCKETS_PER_OCTAVE), alone, loaded

    def _parts(self) -> str:
        return f"a congestion test under {first_of([cell.name for cell in self.cells])}, with bandwidth"


__all__ = ["CongestionCell", "CongestionResult", "Factor", "Impact", "LoadRate"]
