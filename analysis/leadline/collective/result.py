# SPDX-License-Identifier: Apache-2.0
"""What a result of the collective test is: plain frozen data; times of batches are read when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from leadline.error import wrong
from leadline.model.run import FloatArray, IntArray, RunResult, size_in_bytes
from leadline.model.table import first_of


@dataclass(frozen=True)
class CollectiveCell:
    """An operation with a size, over all rounds, groups and batches; NaN = not measured."""

    operation: str
    message_size_bytes: int  # the larger buffer of a rank, as asked for
    num: int  # batches
    time_ns_min: float  # an operation of a batch, on the slowest rank
    time_ns_median: float
    time_ns_mean: float
    time_ns_p99: float
    time_ns_max: float
    algorithm_bytes_per_s: float  # algbw of nccl-tests
    bus_bytes_per_s: float  # busbw of nccl-tests


@dataclass(frozen=True, repr=False)
class CollectiveResult(RunResult):
    """A collective test. R rounds, G groups of a round, B batches, N ranks."""

    benchmark: ClassVar[str] = "collective"

    operations: tuple[str, ...]
    algorithm: str  # library or ring
    num_rounds: int  # that were asked for
    num_batches: int
    num_groups: int  # of a round
    num_iterations: int  # operations of a batch
    group_hosts: int  # hosts of a group; 0 = all
    cells: tuple[CollectiveCell, ...]  # none in a run without an end
    membership: IntArray  # [R, N]: group of a rank, from 1; 0 = it rested
    column: Callable[[str, int, int, int], FloatArray]  # of a table: what stands behind round, operation, size

    def group_times_ns(self, operation: str, size: int | str) -> FloatArray:
        """Of an operation in each batch, on the slowest rank of a group, [R, G, B]; NaN = not measured."""
        rows = self._rows("groups/time_ns", operation, size)
        return rows.reshape(self.num_rounds, self.num_groups, self.num_batches)

    def rank_times_ns(self, operation: str, size: int | str) -> FloatArray:
        """A rank's own time of an operation, median over the batches, [R, N]; NaN = not measured, or it rested."""
        return self._rows("ranks/time_ns_median", operation, size)

    def _rows(self, table: str, operation: str, size: int | str) -> FloatArray:
        if operation not in self.operations:
            raise wrong(f"there is no operation {operation} in the result", f"It has {', '.join(self.operations)}")
        (index,) = self.size_indices(size_in_bytes(size))
        place = self.operations.index(operation)
        return np.stack([self.column(table, one, place, index) for one in range(self.num_rounds)])

    def _parts(self) -> str:
        return f"a collective test of {first_of(list(self.operations))} by {self.algorithm}"


__all__ = ["CollectiveCell", "CollectiveResult"]
