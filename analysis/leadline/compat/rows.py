# SPDX-License-Identifier: Apache-2.0
"""Rows of a result in seconds, some at a time, and what one pass over them says of all pairs and of every rank."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from leadline.link.result import LinkResult
from leadline.model import FloatArray, IntArray, Slice, Statistic
from leadline.stats.tally import Tally

MIB = 1024.0 * 1024.0
TIMES = f"time_ns_{Statistic.MEDIAN.value}"
ROUNDS = "round"
LOW_BANDWIDTH_MIB_PER_S = 1000.0  # what LinkTest counts as little
_BLOCK_BYTES = 16 * 1024 * 1024


def blocks(result: LinkResult, part: Slice, dataset: str) -> Iterator[tuple[int, FloatArray]]:
    """Number of the first row and the rows, [some, N], until all were there."""
    num_ranks = result.num_ranks
    step = max(_BLOCK_BYTES // (8 * num_ranks), 1)
    for first in range(0, num_ranks, step):
        yield first, result.read_rows(part, dataset, first, min(first + step, num_ranks))


def times_s(result: LinkResult, part: Slice) -> Iterator[tuple[int, FloatArray]]:
    """The same for the times of the pairs, in seconds; NaN = not measured."""
    for first, time_ns in blocks(result, part, TIMES):
        yield first, time_ns / 1e9


@dataclass(frozen=True)
class Sides:
    """What the rows (or the columns) of all ranks add up to, each [N]; NaN where a rank has no time."""

    mean_s: FloatArray
    max_s: FloatArray
    num_low: IntArray  # pairs below LOW_BANDWIDTH_MIB_PER_S


@dataclass(frozen=True)
class Survey:
    """One pass over all times."""

    num_pairs: int
    min_s: float  # these are NaN where no pair has a time
    max_s: float
    mean_s: float
    sending: Sides  # rows
    receiving: Sides  # columns
    times_ns: Tally


def survey(result: LinkResult, part: Slice, progress: Callable[[float], None]) -> Survey:
    """Reads all times once; memory grows with N."""
    num_ranks = result.num_ranks
    total, most = np.zeros((2, num_ranks)), np.full((2, num_ranks), -math.inf)
    number, low = (np.zeros((2, num_ranks), dtype=np.int64) for _ in range(2))
    least, values = math.inf, Tally()
    for first, time_s in times_s(result, part):
        here = slice(first, first + len(time_s))
        there = np.isfinite(time_s)
        with np.errstate(divide="ignore", invalid="ignore"):
            is_low = bandwidth_mib_per_s(result, part, time_s) < LOW_BANDWIDTH_MIB_PER_S
        for side, axis, ranks in ((0, 1, here), (1, 0, slice(None))):
            total[side, ranks] += np.where(there, time_s, 0).sum(axis=axis)
            number[side, ranks] += there.sum(axis=axis)
            low[side, ranks] += is_low.sum(axis=axis)
            most[side, ranks] = np.maximum(most[side, ranks], np.where(there, time_s, -math.inf).max(axis=axis))
        found = time_s[there]
        if found.size:
            least = min(least, float(found.min()))
            values.add(found * 1e9)
        progress((first + len(time_s)) / num_ranks)
    num_pairs = int(number[0].sum())
    sending, receiving = (
        Sides(
            np.divide(total[side], number[side], out=np.full(num_ranks, np.nan), where=number[side] > 0),
            np.where(number[side] > 0, most[side], np.nan),
            low[side],
        )
        for side in range(2)
    )
    if not num_pairs:
        return Survey(0, math.nan, math.nan, math.nan, sending, receiving, values)
    mean_s = float(total[0].sum()) / num_pairs
    return Survey(num_pairs, least, float(most.max()), mean_s, sending, receiving, values)


def bandwidth_mib_per_s(result: LinkResult, part: Slice, time_s: FloatArray) -> FloatArray:
    """LinkTest's "MB/s", which are MiB/s."""
    bytes_in_that_time = result.bandwidth_bytes_per_s(1e9, part.message_size_bytes)
    return np.asarray(bytes_in_that_time / MIB / time_s)
