# SPDX-License-Identifier: Apache-2.0
"""The cells, messages or points of load of a topology test as columns, some at a time, for all exported tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from leadline.error import wrong
from leadline.export.table import ENDS, REPEAT, SIZE, Block, Table, Words, by_column, plain_name
from leadline.model import Column, Progress
from leadline.model.run import with_progress
from leadline.stats.distribution import describe
from leadline.topology.load import series_of
from leadline.topology.result import Definition, LoadPoint, TopologyCell, TopologyResult

_CELL_COLUMNS = (
    Column("topology", "", "name of the topology"),
    SIZE,
    REPEAT,
    Column(
        "channels", "1", "channels over which messages went: all of the topology, but for those of lost ranks and pairs"
    ),
)
_TIMES = ("min", "median", "mean", "p99", "max")
_PREFIXES = {Definition.EXCHANGE: "", Definition.WITH_BARRIER: "with_barrier_"}
_WORDS = {
    Definition.EXCHANGE: "of an exchange: its slowest rank, without the closing barrier",
    Definition.WITH_BARRIER: "of an exchange on rank 0's clock, closing barrier included",
}


def _times_columns(definition: Definition) -> Iterator[Column]:
    prefix, words = _PREFIXES[definition], _WORDS[definition]
    yield Column(f"{prefix}num", "1", f"timed exchanges {words}; empty where the cell was not measured")
    for which in _TIMES:
        yield Column(f"{prefix}time_ns_{which}", "ns", f"{which} time {words}")
    yield Column(f"{prefix}median_interval_ns_low", "ns", "lower end of the 95 % interval of the median")
    yield Column(f"{prefix}median_interval_ns_high", "ns", "upper end of the 95 % interval of the median")
    for at in ("median", "mean"):
        for rate in ("total", "local", "average"):
            yield Column(f"{prefix}{rate}_bytes_per_s_at_{at}", "bytes/s", f"{rate} rate at the {at} time")


def table_of(result: TopologyResult, options: argparse.Namespace) -> tuple[Table[TopologyResult], Sequence[int]]:
    """The table of its cells, of its messages, or of the points of its load, and the message sizes that it is of."""
    if options.channels and result.is_load:
        raise wrong("the result has no --channels", "It is of a load, in which no message is traced")
    table = LOAD if result.is_load else CHANNELS if options.channels else CELLS
    return table, result.size_indices(options.message_size)


def _name_of(result: TopologyResult, cell: TopologyCell) -> list[Any]:
    topology = result.topologies[cell.topology_index]
    return [plain_name(topology.name), cell.message_size_bytes, cell.repeat + 1]


def _cells(result: TopologyResult, sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    cells = [cell for cell in result.cells if cell.size_index in sizes]
    for cell in with_progress(cells, progress):
        topology, served = result.topologies[cell.topology_index], result.served_channels((cell,))
        row = [*_name_of(result, cell), served.num]
        for definition in Definition:
            times = result.exchange_times_ns(cell, definition)
            spread = describe(times[np.isfinite(times)])
            values = [getattr(spread, which) for which in _TIMES]
            values += [spread.median_interval_low, spread.median_interval_high]
            for time_ns in (spread.median, spread.mean):
                rates = topology.rates(cell.message_size_bytes, time_ns, served)
                values += [rates.total, rates.local, rates.average]
            row += [spread.num_pairs or None, *values]
        rank_rates = result.rank_rates(cell)
        there = np.flatnonzero(np.isfinite(rank_rates))
        for place in there[rank_rates[there].argsort(kind="stable")][[0, -1]].tolist() if there.size else (None, None):
            row += [place, None if place is None else float(rank_rates[place])]
        yield by_column([row])


def _messages(result: TopologyResult, sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    hosts = [plain_name(place.host) for place in result.ranks]
    cells = [cell for cell in result.cells if cell.size_index in sizes]
    for cell in with_progress(cells, progress):
        for first, end in result.rank_blocks(cell.topology_index, 1 << 14):
            found = result.arrivals(cell, first, end)
            ranks = found.from_rank, found.to_rank
            yield (
                *([value] * len(found.to_rank) for value in _name_of(result, cell)),
                *ranks, *(Words(rank, hosts) for rank in ranks),
                found.time_ns, 1e9 * cell.message_size_bytes / found.time_ns,
            )  # fmt: skip


def _points(result: TopologyResult, sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    found: list[tuple[LoadPoint, float]] = [
        pair for one in series_of(result) if one.size_index in sizes
        for pair in zip(one.points, one.total_bytes_per_s.tolist(), strict=True)
    ]  # fmt: skip
    found.sort(key=lambda pair: pair[0].begin_s)
    yield by_column([
        [*_name_of(result, point.cell), point.begin_s, point.elapsed_s, point.num_exchanges, point.num_verified,
         point.time_ns_median, point.time_ns_max, rate]
        for point, rate in found
    ])  # fmt: skip
    if progress:
        progress(1)


CELLS: Table[TopologyResult] = Table(
    (
        *_CELL_COLUMNS,
        *(column for definition in Definition for column in _times_columns(definition)),
        Column("slowest_rank", "1", "rank with the lowest own rate"),
        Column("slowest_rank_bytes_per_s", "bytes/s", "its rate, by its own median time"),
        Column("fastest_rank", "1", "rank with the highest own rate"),
        Column("fastest_rank_bytes_per_s", "bytes/s", "its rate, by its own median time"),
    ),
    _cells,
)
CHANNELS: Table[TopologyResult] = Table(
    (
        *_CELL_COLUMNS[:3],
        *ENDS,
        Column("arrival_time_ns", "ns", "time to arrival since the opening barrier; empty where it was not measured"),
        Column("bytes_per_s", "bytes/s", "message size by that time"),
    ),
    _messages,
)
LOAD: Table[TopologyResult] = Table(
    (
        *_CELL_COLUMNS[:3],
        Column("begin_s", "s", "beginning of the point since the load began"),
        Column("elapsed_s", "s", "its length"),
        Column("num_exchanges", "1", "exchanges in it"),
        Column("num_verified", "1", "exchanges after which every byte was compared"),
        Column("time_ns_median", "ns", "median time of an exchange"),
        Column("time_ns_max", "ns", "longest time of an exchange"),
        Column("total_bytes_per_s", "bytes/s", "total rate, bytes by elapsed time"),
    ),
    _points,
)
TABLES = (CELLS, CHANNELS, LOAD)
