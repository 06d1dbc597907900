# SPDX-License-Identifier: Apache-2.0
"""What a model of a network says about the patterns of a bisection test, and how that fits what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.model.run import FloatArray, IntArray
from leadline.model.table import Record


@dataclass(frozen=True)
class SimulatedPattern:
    """A named pattern in the model: one value, since nothing in it is random but the routes of some routings."""

    name: str  # "halves", "shift:3"
    num_connections: int
    relative_mean: float  # mean over connections of 1/c
    relative_harmonic: float  # 1 / mean of c
    worst_congestion: float  # the largest c


@dataclass(frozen=True, repr=False)
class SimulatedBisection(Record):
    """A bisection test in a model of a network. c, the congestion of a connection, is flows / capacity on the busiest
    directed link of its route, at least 1; its share of the bandwidth of a pair alone is 1/c, and "relative" is that.
    The patterns are the same as those of a measurement with the same seed and places. M = random patterns.
    """

    topology: str  # as asked for: "fat-tree:8x8", the name of a file
    routing: str
    seed: int
    num_ranks: int
    hosts: tuple[str, ...]  # the host of every rank, [num_ranks]
    active_ranks_per_host: int  # so many ranks of each host take part; 0 = all
    within_hosts: bool  # random pairs may lie on one host
    num_participants: int
    pattern_index: IntArray  # [M]: the number that replays a pattern with the seed; rising
    relative_mean: FloatArray  # [M], mean over the connections of a pattern of 1/c
    relative_harmonic: FloatArray  # [M], 1 / mean over its connections of c
    worst_congestion: FloatArray  # [M], the largest c
    half_width: float  # of the 95 % interval of `ebb` by Student's t; NaN below two patterns
    # Of 1/c over all connections of all random patterns.
    relative_median: float
    relative_p05: float
    relative_p01: float
    relative_min: float
    harmonic: float  # 1 / mean of c
    named: tuple[SimulatedPattern, ...] = ()
    measured_nonce: str = ""  # of the result that ranks, places and patterns were taken from; empty = of none

    @property
    def num_patterns(self) -> int:
        """M."""
        return len(self.pattern_index)

    @property
    def ebb(self) -> float:
        """The expected relative effective bisection bandwidth: mean over patterns; NaN without random patterns."""
        return float(np.mean(self.relative_mean)) if self.num_patterns else math.nan


@dataclass(frozen=True)
class PatternDeviation:
    """A random pattern, and how far the measurement is from the model there, as against all patterns."""

    pattern_index: int
    measured: float  # relative to the baseline
    simulated: float
    deviation: float  # measured / simulated, by the same of the means of all patterns; 1 = as in all


@dataclass(frozen=True, repr=False)
class PatternComparison(Record):
    """Random patterns that were both measured and simulated, one by one. K = such patterns, at least one."""

    size_index: int  # into the result's message_sizes_bytes
    message_size_bytes: int
    unit_bytes_per_s: float  # what `measured` is relative to
    has_baseline: bool  # False: none was measured, and the unit is the fastest connection of these patterns
    pattern_index: IntArray  # [K]
    measured_bytes_per_s: FloatArray  # [K], mean over the connections of a pattern
    measured: FloatArray  # [K], the same, relative
    simulated: FloatArray  # [K]
    pearson: float  # correlation of `measured` with `simulated`; NaN below three patterns, or where one never changes
    spearman: float  # likewise, of their ranks
    ratio: float  # mean of `measured` / mean of `simulated`
    deviating: tuple[PatternDeviation, ...]  # farthest from 1 first

    @property
    def num_patterns(self) -> int:
        """K."""
        return len(self.pattern_index)
