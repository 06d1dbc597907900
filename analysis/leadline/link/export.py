# SPDX-License-Identifier: Apache-2.0
"""A link test as other tools read it: its ordered pairs as columns, some rows at a time, and what stands out."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence

import numpy as np

from leadline.export.table import ENDS, REPEAT, SIZE, Block, Table, Words, plain_name
from leadline.link.analysis import JudgedPair, Side, SliceAnalysis, Verdict, analyse
from leadline.link.commands import chosen_parts
from leadline.link.result import LinkResult
from leadline.model import Column, FloatArray, IntArray, Progress, Slice
from leadline.model.run import stretch_of, with_progress
from leadline.scan import SLOW_FACTOR

# As text a cell takes about 700 bytes of memory.
_BLOCK_CELLS = 1 << 16

_PLACE_COLUMNS = (
    *ENDS,
    SIZE,
    REPEAT,
    Column("round", "1", "number of the round in which the pair meets, from 1; empty where the file does not say"),
)
_BANDWIDTH = Column("bandwidth_bytes_per_s", "bytes/s", "from the median; both directions where both send at once")


# Of the other columns the unit tells.
_KINDS = {"from": "int32", "to": "int32", "message_size_bytes": "uint64", "repeat": "int32", "round": "int64",
          "count": "uint32"}  # fmt: skip
_COLUMNS = ("what", "from", "to", "from_host", "to_host", "message_size_bytes", "repeat", "time_ns", "usual_ns",
            "ratio", "alone_ns", "verdict")  # fmt: skip
HEADER = "\t".join(_COLUMNS) + "\n"
ALL = "*"

_Row = tuple[str, ...]


def table_of(result: LinkResult, options: argparse.Namespace) -> tuple[Table[LinkResult], Sequence[Slice]]:
    """Whose pair it is, what the file has of it, and its bandwidth: a row for each ordered pair that the run was to
    measure, by from, then to; and the slices that it is of.
    """
    kinds = {column.name: "float64" for column in result.pair_columns} | _KINDS
    table = Table((*_PLACE_COLUMNS, *result.pair_columns, _BANDWIDTH), _blocks, kinds)
    return table, chosen_parts(result, options.message_size, options.repeat)


def _blocks(result: LinkResult, parts: Sequence[Slice], progress: Progress | None = None) -> Iterator[Block]:
    """The pairs of some slices, about _BLOCK_CELLS of them at a time (a row at least)."""
    names, host_of = [plain_name(host) for host in result.hosts], result.host_index
    cells_of_rank = result.num_ranks if result.read_pairs is None else max(result.provenance.num_rounds, 1)
    num_rows = max(_BLOCK_CELLS // cells_of_rank, 1)
    blocks = [(part, first) for part in parts for first in range(0, result.num_ranks, num_rows)]
    for part, first in with_progress(blocks, progress):
        from_rank, to_rank, values = _pairs(result, part, first, min(first + num_rows, result.num_ranks))
        yield (
            from_rank, to_rank, Words(host_of[from_rank], names), Words(host_of[to_rank], names),
            np.full(len(to_rank), part.message_size_bytes, dtype=np.uint64), np.full(len(to_rank), part.repeat + 1),
            *values.values(),
            np.asarray(result.bandwidth_bytes_per_s(values["time_ns_median"], part.message_size_bytes)),
        )  # fmt: skip


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


def bad_links_pieces(result: LinkResult, parts: Sequence[Slice], progress: Progress | None = None) -> Iterator[str]:
    """The header, then what stands out in each slice. Empty = does not apply, `*` = all others."""
    yield HEADER
    for done, part in enumerate(parts):
        found = analyse(result, part, progress=stretch_of(progress, done / len(parts), (done + 1) / len(parts)))
        for row in _rows(result, found):
            yield "\t".join(row) + "\n"


def _rows(result: LinkResult, found: SliceAnalysis) -> Iterator[_Row]:
    names = [plain_name(host) for host in result.hosts]
    of_rank = [plain_name(place.host) for place in result.ranks]
    for index in found.slow_hosts:
        yield from _of_side(found, "slow host", found.hosts[index], "", names[index])
    for index in found.slow_ranks:
        yield from _of_side(found, "slow rank", found.ranks[index], str(index), of_rank[index])
    for link in found.slow_links:
        hosts = names[link.from_host], names[link.to_host]
        yield _row(found, "slow link", ("", ""), hosts, link.time_ns, link.ratio)
    listed = set()
    for pair in found.pairs:
        if pair.retest.time_ns >= SLOW_FACTOR * pair.usual_ns:
            listed.add((pair.retest.from_rank, pair.retest.to_rank))
            yield _of_pair(found, pair, of_rank)
    for standout in found.standouts:
        ranks = standout.cell.from_rank, standout.cell.to_rank
        if ranks not in listed:
            hosts = of_rank[ranks[0]], of_rank[ranks[1]]
            words = str(ranks[0]), str(ranks[1])
            verdict = Verdict.NOT_RETESTED.value
            yield _row(found, "slow pair", words, hosts, standout.cell.time_ns, standout.ratio, verdict=verdict)


def _of_side(found: SliceAnalysis, what: str, side: Side, rank: str, host: str) -> Iterator[_Row]:
    """As a sender, as a receiver, or as both."""
    anybody = ALL if rank else ""
    if side.from_ratio >= SLOW_FACTOR:
        yield _row(found, what, (rank, anybody), (host, ALL), side.from_ns, side.from_ratio)
    if side.to_ratio >= SLOW_FACTOR:
        yield _row(found, what, (anybody, rank), (ALL, host), side.to_ns, side.to_ratio)


def _of_pair(found: SliceAnalysis, pair: JudgedPair, of_rank: list[str]) -> _Row:
    retest = pair.retest
    ranks = retest.from_rank, retest.to_rank
    return _row(
        found,
        "slow pair",
        (str(ranks[0]), str(ranks[1])),
        (of_rank[ranks[0]], of_rank[ranks[1]]),
        retest.time_ns,
        retest.time_ns / pair.usual_ns,
        retest.retest_time_ns,
        pair.verdict.value,
    )


def _row(
    found: SliceAnalysis, what: str, ranks: tuple[str, str], hosts: tuple[str, str], time_ns: float, ratio: float,
    alone_ns: float = math.nan, verdict: str = "",
) -> _Row:  # fmt: skip
    usual_ns = time_ns / ratio if ratio else math.nan
    return (
        what, *ranks, *hosts, str(found.part.message_size_bytes), str(found.part.repeat + 1), _number(time_ns, 1),
        _number(usual_ns, 1), _number(ratio, 2), _number(alone_ns, 1), verdict,
    )  # fmt: skip


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}" if math.isfinite(value) else ""


# How each table of pairs begins.
TABLES: tuple[Table[LinkResult], ...] = (
    Table((*_PLACE_COLUMNS, Column("count", "1", "timed batches")), _blocks, _KINDS),
)
