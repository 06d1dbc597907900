# SPDX-License-Identifier: Apache-2.0
"""The ordered pairs of a result as columns, some rows of the matrices at a time, for all exported tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leadline.model import Column, FloatArray, LinkResult, Slice

# Called with the share of the work that is done, 0 to 1.
Progress = Callable[[float], None]

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


def columns_of(result: LinkResult) -> tuple[Column, ...]:
    """Whose pair it is, what the file has of it, and its bandwidth."""
    return (*_PLACE_COLUMNS, *result.pair_columns, _BANDWIDTH)


@dataclass(frozen=True)
class PairBlock:
    """Some ordered pairs of a slice that the run was to measure, by from, then to. NaN = not measured, or not known."""

    part: Slice
    from_rank: NDArray[np.intp]
    to_rank: NDArray[np.intp]
    values: dict[str, FloatArray]  # round, those of LinkResult.pair_columns, and bandwidth_bytes_per_s


def pair_blocks(
    result: LinkResult, parts: Sequence[Slice], num_cells: int, progress: Progress | None = None
) -> Iterator[PairBlock]:
    """All pairs of some slices, about `num_cells` a time (one row at least)."""
    cells_of_rank = result.num_ranks if result.read_pairs is None else max(result.provenance.num_rounds, 1)
    num_rows = max(num_cells // cells_of_rank, 1)
    blocks = [(part, first) for part in parts for first in range(0, result.num_ranks, num_rows)]
    for done, (part, first) in enumerate(blocks):
        yield _block(result, part, first, min(first + num_rows, result.num_ranks))
        if progress:
            progress((done + 1) / len(blocks))


def _block(result: LinkResult, part: Slice, first: int, end: int) -> PairBlock:
    if result.read_pairs is not None:
        names = ("round", *(column.name for column in result.pair_columns))
        pairs = result.read_pairs(part, names, first, end)
        return _with_bandwidths(
            result, part, pairs.from_rank, pairs.to_rank, {name: pairs.values[name] for name in names}
        )
    to_measure = result.rows_to_measure(part, first, end)
    row, to_rank = np.nonzero(to_measure)
    values = {}
    if part.repeat in result.repeats_with_rounds:
        values["round"] = result.read_rows(part, "round", first, end)[to_measure]
    else:
        values["round"] = np.full(len(row), np.nan)
    for column in result.pair_columns:
        values[column.name] = result.read_rows(part, column.name, first, end)[to_measure]
    return _with_bandwidths(result, part, row + first, to_rank, values)


def _with_bandwidths(
    result: LinkResult,
    part: Slice,
    from_rank: NDArray[np.intp],
    to_rank: NDArray[np.intp],
    values: dict[str, FloatArray],
) -> PairBlock:
    bandwidths = np.asarray(result.bandwidth_bytes_per_s(values["time_ns_median"], part.message_size_bytes))
    return PairBlock(part, from_rank, to_rank, values | {"bandwidth_bytes_per_s": bandwidths})


def plain_name(name: str) -> str:
    """A host's name for a table that a spreadsheet or a terminal may show: nothing in it is obeyed by either."""
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") else shown
