# SPDX-License-Identifier: Apache-2.0
"""Blocks of rows of a matrix, worked on by a few threads and handed over in the order of the rows; the 16-bit codes by
which their times are counted and looked up.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from leadline.link.result import LinkResult
from leadline.model import BoolArray, FloatArray, IntArray, Slice, Statistic

Float32Array = NDArray[np.float32]
T = TypeVar("T")

# Cells of a block. Of 2^20 to 2^23 this was the fastest on a machine with 2 MiB of second-level cache; a thread holds
# about 60 bytes a cell.
BLOCK_CELLS = 1 << 21
MOST_THREADS = 4
# What float32 holds without losing digits; no time lies outside, but a file may say so.
_FLOAT32_LEAST, _FLOAT32_MOST = 1e-37, 3e38
Codes = NDArray[np.uint16]
CODES_AN_OCTAVE = 256
NUM_CODES = 1 << 16
# The bits of a positive float32 grow with it; the first 16 of them behind the sign are its code.
_SHIFT = 15


@dataclass(frozen=True)
class Rows:
    """Some rows of a matrix of times in ns, NaN = none."""

    first: int
    end: int  # the row behind the last
    times: FloatArray  # [end - first, N]
    there: BoolArray  # where a time is
    to_measure: BoolArray | None  # where one should be; None = everywhere but on the diagonal, and one is there
    diagonal_there: BoolArray  # [end - first]


def as_float32(times: FloatArray) -> Float32Array:
    """A copy of times in half the memory."""
    with np.errstate(over="ignore"):
        narrow = times.astype(np.float32)
    return np.clip(narrow, _FLOAT32_LEAST, _FLOAT32_MOST, out=narrow)


def read(result: LinkResult, part: Slice, statistic: Statistic, first: int, end: int) -> Rows:
    """Reads rows. The schedule is read only where a time is missing: what is measured is in it."""
    times = result.read_rows(part, f"time_ns_{statistic.value}", first, end)
    there = np.isfinite(times)
    diagonal_there = there[np.arange(end - first), np.arange(first, end)]
    num_others = int(np.count_nonzero(there)) - int(np.count_nonzero(diagonal_there))
    is_full = result.num_ranks > 1 and num_others == (end - first) * (result.num_ranks - 1)
    to_measure = None if is_full else result.rows_to_measure(part, first, end) | there
    return Rows(first, end, times, there, to_measure, diagonal_there)


def bounds(num_ranks: int, block_cells: int | None = None) -> list[tuple[int, int]]:
    """First row and the one behind the last of every block."""
    num_rows = max((block_cells or BLOCK_CELLS) // num_ranks, 1)
    return [(first, min(first + num_rows, num_ranks)) for first in range(0, num_ranks, num_rows)]


def in_order(
    work: Callable[[int, int], T], blocks: Sequence[tuple[int, int]], num_threads: int | None = None
) -> Iterator[T]:
    """What `work` makes of each block, in their order, while a few threads compute the next ones."""
    num_threads = num_threads or min(_num_cores(), MOST_THREADS)
    if num_threads == 1 or len(blocks) == 1:
        yield from (work(*block) for block in blocks)
        return
    waiting: deque[Future[T]] = deque()
    with ThreadPoolExecutor(num_threads) as pool:
        try:
            for block in blocks:
                waiting.append(pool.submit(work, *block))
                if len(waiting) > num_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _num_cores() -> int:
    """Those that this process may run on, where the system says so."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Times:
    """Times in ns of some rows, [rows, M], NaN = none; those of a row by the rank that they are to."""

    times: FloatArray
    codes: Codes
    ranks_at: Callable[[IntArray, IntArray], tuple[IntArray, IntArray]]  # row, column of the array -> from, to


def codes_of(times: Float32Array) -> Codes:
    """A number for every time that grows with it, 256 an octave; NaN is above all times."""
    return (times.view(np.uint32) >> _SHIFT).astype(np.uint16)


def time_of_code(codes: IntArray) -> FloatArray:
    """The lowest time with that code, float64 in ns."""
    return (np.asarray(codes).astype(np.uint32) << _SHIFT).view(np.float32).astype(np.float64)


NAN_CODE = int(codes_of(np.array([np.nan], dtype=np.float32))[0])
