# SPDX-License-Identifier: Apache-2.0
"""The operations of a collective test as columns."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Sequence

from leadline.collective.result import CollectiveResult
from leadline.export.table import Block, Table, by_column, plain_name
from leadline.model import Column, Progress


def table_of(result: CollectiveResult, options: argparse.Namespace) -> tuple[Table[CollectiveResult], Sequence[int]]:
    """The table of its operations, and the message sizes that it is of."""
    return CELLS, result.size_indices(options.message_size)


def _cells(result: CollectiveResult, sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    wanted = {result.message_sizes_bytes[index] for index in sizes}
    rows = []
    for cell in result.cells:
        if cell.message_size_bytes in wanted:
            operation, *numbers = dataclasses.astuple(cell)
            rows.append([plain_name(operation), *numbers])
    yield by_column(rows)
    if progress:
        progress(1)


CELLS: Table[CollectiveResult] = Table(
    (
        Column("operation", "", "allreduce, allgather, reduce-scatter or alltoall"),
        Column("message_size_bytes", "bytes", "the larger buffer of a rank, as asked for"),
        Column("num", "1", "batches, over groups and rounds"),
        *(
            Column(f"time_ns_{name}", "ns", f"an operation of a batch, on the slowest rank: {name}")
            for name in ("min", "median", "mean", "p99", "max")
        ),
        Column("algorithm_bytes_per_s", "bytes/s", "algbw of nccl-tests, median"),
        Column("bus_bytes_per_s", "bytes/s", "busbw of nccl-tests, median"),
    ),
    _cells,
)
TABLES = (CELLS,)
