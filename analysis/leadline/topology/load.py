# SPDX-License-Identifier: Apache-2.0
"""What a load (--duration) says: how much passed, how much of it was verified, and whether it kept its pace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.model import FloatArray
from leadline.scan import SLOW_FACTOR
from leadline.topology.result import LoadPoint, Topology, TopologyResult


@dataclass(frozen=True)
class LoadSeries:
    """The points of one topology with one message size, in the order of time."""

    topology: Topology
    size_index: int
    message_size_bytes: int
    points: tuple[LoadPoint, ...]
    total_bytes_per_s: FloatArray  # total rate of each point, bytes by elapsed time

    @property
    def usual_bytes_per_s(self) -> float:
        """The median of the points."""
        return float(np.median(self.total_bytes_per_s))

    @property
    def slowest(self) -> int:
        """The index of the point with the lowest rate."""
        return int(np.argmin(self.total_bytes_per_s))

    @property
    def slowdown(self) -> float:
        """How many times as slow the slowest point is as the usual one."""
        return self.usual_bytes_per_s / float(self.total_bytes_per_s[self.slowest])

    @property
    def is_uneven(self) -> bool:
        """Whether it did not keep its pace."""
        return self.slowdown >= SLOW_FACTOR


@dataclass(frozen=True)
class LoadSums:
    """Over all points."""

    elapsed_s: float
    num_exchanges: int
    num_verified: int
    num_bytes: int  # sent in all exchanges
    num_verified_bytes: int


def series_of(result: TopologyResult) -> tuple[LoadSeries, ...]:
    """Those that have points, by topology, then size."""
    found = []
    for topology in result.topologies:
        for size_index, size in enumerate(result.message_sizes_bytes):
            points = tuple(
                point
                for point in result.load
                if (point.cell.topology_index, point.cell.size_index) == (topology.index, size_index)
            )
            if points:
                rates = np.array([topology.rates(size, point.time_ns_mean, point.served).total for point in points])
                found.append(LoadSeries(topology, size_index, size, points, rates))
    return tuple(found)


def sums_of(series: Sequence[LoadSeries]) -> LoadSums:
    """What all of them come to."""
    sums = [0, 0, 0, 0]
    for one in series:
        for point in one.points:
            num_bytes = one.topology.num_ways * point.served.num * one.message_size_bytes
            nums = (point.num_exchanges, point.num_verified)
            for at, more in enumerate((*nums, *(num_bytes * num for num in nums))):
                sums[at] += more
    return LoadSums(math.fsum(point.elapsed_s for one in series for point in one.points), *sums)
