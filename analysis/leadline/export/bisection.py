# SPDX-License-Identifier: Apache-2.0
"""The patterns or connections of a bisection test as columns, some at a time, for all exported tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from leadline.export.csv_table import Table, with_others
from leadline.export.pairs import Progress, plain_name
from leadline.model import NO_RANK, BisectionResult, Column, PatternKind, Patterns

# As lists of Python a cell takes some hundred bytes.
_BLOCK_CELLS = 1 << 15

_NAME_COLUMNS = (
    Column("message_size_bytes", "bytes", "size of each message"),
    Column("number", "1", "number of the pattern among those of this size, from 0, in the order measured"),
    Column("kind", "", "random, named, or worst: a step of the search for bad patterns"),
    Column("pattern", "", "random, worst, or the name asked for"),
    Column("index", "1", "what replays a random pattern with the seed; the step of the search, from 0"),
    Column("repeat", "1", "number of the repeat of a named pattern, from 1"),
)
_SPEEDS = {
    "mean": "arithmetic mean over its connections", "harmonic": "message size by the mean time of its connections",
    "min": "its slowest connection", "max": "its fastest connection",
    "full_load": "mean over its connections while all were busy",
}  # fmt: skip


def table_of(result: BisectionResult, is_of_channels: bool) -> Table[BisectionResult]:
    """Which table a result gives: of its patterns, or of their connections."""
    return CONNECTIONS if is_of_channels else with_others(PATTERNS, result.other_columns)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _rank(value: int) -> int | None:
    return None if value == NO_RANK else value


def _names(result: BisectionResult, patterns: Patterns) -> list[list[Any]]:
    """The first columns of each pattern's rows."""
    rows = []
    for number, kind, index, repeat in zip(patterns.number.tolist(), patterns.kind.tolist(), patterns.index.tolist(),
                                           patterns.repeat.tolist(), strict=True):  # fmt: skip
        word = PatternKind(kind).name.lower()
        name = plain_name(result.pattern_names[index]) if kind == PatternKind.NAMED else word
        is_named = kind == PatternKind.NAMED
        rows.append([patterns.message_size_bytes, number, word, name, None if is_named else index,
                     repeat + 1 if is_named else None])  # fmt: skip
    return rows


def _patterns(
    result: BisectionResult, sizes: Sequence[int], progress: Progress | None = None
) -> Iterator[list[list[Any]]]:
    for done, size_index in enumerate(sizes):
        patterns = result.reader.patterns(size_index)
        speeds = [getattr(patterns, f"bytes_per_s_{which}").tolist() for which in _SPEEDS]
        counts = (patterns.accepted, patterns.num_connections)
        others = (patterns.slowest_from, patterns.slowest_to, patterns.begin_s, patterns.measuring_s)
        columns = (*(one.tolist() for one in counts), *speeds, *(one.tolist() for one in others))
        unknown = [[float(values[index]) for values in patterns.others.values()] for index in range(len(patterns))]
        rows = []
        for name, more, accepted, num, *numbers in zip(_names(result, patterns), unknown, *columns, strict=True):
            *values, slowest_from, slowest_to, begin_s, measuring_s = numbers
            is_step = name[2] == "worst"
            rows.append([*name, int(accepted) if is_step else None, num, *(_known(value) for value in values),
                         _rank(slowest_from), _rank(slowest_to), begin_s, measuring_s, *map(_known, more)])  # fmt: skip
        yield rows
        if progress:
            progress((done + 1) / len(sizes))


def _connections(
    result: BisectionResult, sizes: Sequence[int], progress: Progress | None = None
) -> Iterator[list[list[Any]]]:
    """Size by size the connections of some ranks at a time: receiver by receiver, each one's pattern by pattern."""
    hosts = [plain_name(place.host) for place in result.ranks]
    for done, size_index in enumerate(sizes):
        patterns = result.reader.patterns(size_index)
        names, size, columns = _names(result, patterns), patterns.message_size_bytes, (0, len(patterns))
        for ranks in result.rank_blocks(len(patterns), _BLOCK_CELLS) if len(patterns) else ():
            receive_from = result.reader.partners(size_index, "receive_from", ranks, columns)
            times, full_load = (
                result.reader.times(size_index, name, ranks, columns) for name in ("time_ns", "full_load_time_ns")
            )
            rows = []
            for row, place in np.argwhere(receive_from != NO_RANK).tolist():
                rank, sender, time_ns = ranks[0] + row, int(receive_from[row, place]), float(times[row, place])
                rows.append([*names[place], sender, rank, hosts[sender], hosts[rank], _known(time_ns),
                             _known(1e9 * size / time_ns), _known(float(full_load[row, place]))])  # fmt: skip
            yield rows
            if progress:
                progress((done + ranks[1] / result.num_ranks) / len(sizes))


PATTERNS: Table[BisectionResult] = Table(
    (
        *_NAME_COLUMNS,
        Column("accepted", "1", "search: 1 where it went on from this step; empty for other patterns"),
        Column("num_connections", "1", "ranks that send"),
        *(Column(f"bytes_per_s_{which}", "bytes/s", meaning) for which, meaning in _SPEEDS.items()),
        Column("slowest_from", "1", "rank that sends on the slowest connection"),
        Column("slowest_to", "1", "rank that receives on it"),
        Column("begin_s", "s", "beginning since the first pattern of the run"),
        Column("measuring_s", "s", "seconds that it took"),
    ),
    _patterns,
)
CONNECTIONS: Table[BisectionResult] = Table(
    (
        *_NAME_COLUMNS,
        Column("from", "1", "rank that sends"),
        Column("to", "1", "rank that receives"),
        Column("from_host", "", "host of the rank that sends"),
        Column("to_host", "", "host of the rank that receives"),
        Column("time_ns", "ns", "time of one message, the receiver's own; empty where it was not measured"),
        Column("bytes_per_s", "bytes/s", "message size by that time"),
        Column("full_load_time_ns", "ns", "the same until the first connection of all was done"),
    ),
    _connections,
)
TABLES = (PATTERNS, CONNECTIONS)
