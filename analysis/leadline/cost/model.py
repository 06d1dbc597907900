# SPDX-License-Identifier: Apache-2.0
"""What a communication pattern costs on a measured matrix, and a placement of its ranks that costs less."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from leadline.model.run import FloatArray, IntArray
from leadline.model.table import Record


@dataclass(frozen=True)
class PairCost:
    """All messages of one size from one rank to another in a pattern."""

    from_rank: int
    to_rank: int
    message_size_bytes: int
    num_messages: int
    time_ns: float  # of one message, as measured
    total_ns: float  # num_messages · time_ns
    in_cost_ns: float  # what of total_ns is in the pattern's cost; over all pairs these add up to it


@dataclass(frozen=True, repr=False)
class PatternCost(Record):
    """What a pattern costs with the ranks where they were measured. N = ranks, S = stages of the pattern. A pair
    without a time counts 0, and then all times here are lower bounds.
    """

    pattern: str  # as the user wrote it, with the extents that were chosen: "halo-2d:8x4"
    hosts: tuple[str, ...]  # of every rank, [N]
    message_sizes_bytes: tuple[int, ...]  # that occur, ascending
    repeat: int  # 0-based
    statistic: str  # what of each pair its time is: "median"
    direction: str  # of the measurement
    num_messages: int
    num_pairs: int  # ordered pairs that exchange messages
    num_unmeasured_pairs: int  # those of them without a time
    stage_ns: FloatArray  # [S]: of every stage its slowest rank
    stage_rank: IntArray  # [S]: that rank
    send_ns: FloatArray  # [N]: all that a rank sends, one message after another
    receive_ns: FloatArray  # [N]: all that it receives
    pairs: tuple[PairCost, ...]  # those with the largest part of the cost first, then the longest
    result_nonce: str

    @property
    def num_ranks(self) -> int:
        """N."""
        return len(self.hosts)

    @property
    def num_stages(self) -> int:
        """S."""
        return len(self.stage_ns)

    @property
    def cost_ns(self) -> float:
        """The pattern's time: stage after stage, each as long as its slowest rank."""
        return float(self.stage_ns.sum())

    @property
    def busy_ns(self) -> FloatArray:
        """[N]: the longer of what a rank sends and what it receives; never above the cost."""
        return np.maximum(self.send_ns, self.receive_ns)

    @property
    def is_lower_bound(self) -> bool:
        """Some pair that the pattern uses has no time."""
        return self.num_unmeasured_pairs > 0


@dataclass(frozen=True, repr=False)
class Placement(Record):
    """Which rank of a pattern goes where: the least cost that a search has found. N = ranks."""

    place_of_rank: IntArray  # [N]: rank i goes where this rank was measured; a permutation
    cost_ns: float  # of the pattern, there
    identity_ns: float  # with every rank where it was measured
    bound_ns: float  # no placement at all costs less; NaN = not known
    num_tried: int  # swaps of two ranks; where all were tried, placements
    stopped_by: str  # "all tried", "bound" (it costs no more than that), "effort" or "time limit"
    seed: int

    @property
    def is_best(self) -> bool:
        """It is proved that none costs less."""
        return self.stopped_by in ("all tried", "bound")

    @property
    def saving(self) -> float:
        """The share of the cost that it saves."""
        return 1 - self.cost_ns / self.identity_ns
