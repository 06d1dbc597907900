# SPDX-License-Identifier: Apache-2.0
"""The ordered pairs of a result as columns, some rows of the matrices at a time, for all exported tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from leadline.export.table import Block, Table, Words, plain_name
from leadline.link.result import LinkResult
from leadline.model import Column, FloatArray, IntArray, Progress, Slice

# As text a cell takes about 700 bytes of memory.
_BLOCK_CELLS = 1 << 16

_PLACE_COLUMNS = (
    Column("from", "1", "rank that sends"),
    Column("to", "1", "rank that receives"),
    Column("from_host", "", "host of the rank that sends"),
    Column("to_host", "", "host of the rank that receives"),
    Column("message_size_bytes", "bytes", "size of each message"),
    Column("repeat", "1", "number of the repeat, from 1"),
    Column("round", "1", "number of the round in which the pair meets, from 1; empty where the file does not say"),
)
_BANDWIDTH = Column("bandwidth_bytes_per_s", "bytes/s", "from the median; both directions where both send at once")

# How every table of pairs begins, as CSV.
HEADER_BEGINNING = ",".join(column.name for column in _PLACE_COLUMNS) + ",count,"

# Of the other columns the unit tells.
_KINDS = {"from": "int32", "to": "int32", "message_size_bytes": "uint64", "repeat": "int32", "round": "int64",
          "count": "uint32"}  # fmt: skip


def table_of(result: LinkResult) -> Table[LinkResult]:
    """Whose pair it is, what the file has of it, and its bandwidth: a row for each ordered pair that the run was to
    measure, by from, then to.
    """
    kinds = {column.name: "float64" for column in result.pair_columns} | _KINDS
    return Table((*_PLACE_COLUMNS, *result.pair_columns, _BANDWIDTH), _blocks, kinds)


def _blocks(result: LinkResult, parts: Sequence[Slice], progress: Progress | None = None) -> Iterator[Block]:
    """The pairs of some slices, about _BLOCK_CELLS of them at a time (a row at least)."""
    names, host_of = [plain_name(host) for host in result.hosts], result.host_index
    cells_of_rank = result.num_ranks if result.read_pairs is None else max(result.provenance.num_rounds, 1)
    num_rows = max(_BLOCK_CELLS // cells_of_rank, 1)
    blocks = [(part, first) for part in parts for first in range(0, result.num_ranks, num_rows)]
    for done, (part, first) in enumerate(blocks):
        from_rank, to_rank, values = _pairs(result, part, first, min(first + num_rows, result.num_ranks))
        yield (
            from_rank, to_rank, Words(host_of[from_rank], names), Words(host_of[to_rank], names),
            np.full(len(to_rank), part.message_size_bytes, dtype=np.uint64), np.full(len(to_rank), part.repeat + 1),
            *values.values(),
            np.asarray(result.bandwidth_bytes_per_s(values["time_ns_median"], part.message_size_bytes)),
        )  # fmt: skip
        if progress:
            progress((done + 1) / len(blocks))


def _pairs(result: LinkResult, part: Slice, first: int, end: int) -> tuple[IntArray, IntArray, dict[str, FloatArray]]:
    """From, to, and the numbers of the round and of each pair column; NaN = not measured, or not known."""
    names = ("round", *(column.name for column in result.pair_columns))
    if result.read_pairs is not None:
        pairs = result.read_pairs(part, names, first, end)
        return pairs.from_rank, pairs.to_rank, {name: pairs.values[name] for name in names}
    to_measure = result.rows_to_measure(part, first, end)
    row, to_rank = np.nonzero(to_measure)
    values = {"round": np.full(len(row), np.nan)}
    for name in names if part.repeat in result.repeats_with_rounds else names[1:]:
        values[name] = result.read_rows(part, name, first, end)[to_measure]
    return row + first, to_rank, values
