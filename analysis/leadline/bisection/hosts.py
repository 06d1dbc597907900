# SPDX-License-Identifier: Apache-2.0
"""What connections between every two hosts got in random patterns: a matrix of medians."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.bisection.result import NO_RANK, BisectionResult, Patterns
from leadline.model import FloatArray, IntArray, Table
from leadline.scan import edge_for

MOST_CELLS = 96  # on a side
_MOST_VALUES = 1 << 22  # connections that are kept at once, 12 bytes each


@dataclass(frozen=True, repr=False)
class HostMatrix(Table):
    """From hosts (row) to hosts (column), [G, G]; of many hosts a cell is `edge` x `edge` of them."""

    edge: int
    num_patterns: int  # the first ones, from which it is
    share: FloatArray  # median over the cell's connections of bandwidth over that of the median connection; NaN = none
    num: IntArray  # connections


def host_matrix(
    result: BisectionResult, random: Patterns, median_bytes_per_s: float, most_values: int = _MOST_VALUES
) -> HostMatrix | None:
    """Of the random patterns of a message size, of as many as have so many connections. None where there is no pair of
    hosts, or no connection.
    """
    num_hosts = len(result.hosts)
    if num_hosts < 2 or not len(random) or not median_bytes_per_s > 0:
        return None
    edge = edge_for(num_hosts, MOST_CELLS)
    size = -(-num_hosts // edge)
    numbers = random.number[: max(most_values // result.num_ranks, 1)]
    cells, shares = _connections(result, random, numbers, edge, size, median_bytes_per_s)
    if not cells.size:
        return None
    order = np.lexsort((shares, cells))
    cells, shares = cells[order], shares[order]
    num = np.bincount(cells, minlength=size * size)
    begin = np.cumsum(num) - num
    there = num > 0
    low, high = begin[there] + (num[there] - 1) // 2, begin[there] + num[there] // 2
    share = np.full(size * size, math.nan)
    share[there] = (shares[low].astype(float) + shares[high]) / 2
    return HostMatrix(edge, len(numbers), share.reshape(size, size), num.reshape(size, size))


def _connections(
    result: BisectionResult, random: Patterns, numbers: IntArray, edge: int, size: int, median_bytes_per_s: float
) -> tuple[IntArray, FloatArray]:
    """Of every connection with a time its cell, and its share."""
    begin, end = int(numbers[0]), int(numbers[-1]) + 1
    host_cell = result.host_index // edge
    usual_ns = 1e9 * random.message_size_bytes / median_bytes_per_s
    found = []
    for first, last in result.rank_blocks(end - begin):
        block = (first, last), (begin, end)
        times = result.reader.times(random.size_index, "time_ns", *block)[:, numbers - begin]
        senders = result.reader.partners(random.size_index, "receive_from", *block)[:, numbers - begin]
        rank, pattern = np.nonzero((senders != NO_RANK) & (times > 0))
        sender = senders[rank, pattern]
        cell = host_cell[sender] * size + host_cell[first + rank]
        found.append((cell, (usual_ns / times[rank, pattern]).astype(np.float32)))
    return np.concatenate([cell for cell, _ in found]), np.concatenate([share for _, share in found])
