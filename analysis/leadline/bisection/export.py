# SPDX-License-Identifier: Apache-2.0
"""The patterns or connections of a bisection test as columns, some at a time, for all exported tables."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence

import numpy as np

from leadline.bisection.result import NO_RANK, BisectionResult, PatternKind, Patterns
from leadline.export.table import ENDS, SIZE, Block, Table, Values, Words, plain_name, with_others
from leadline.model import Column, FloatArray, IntArray, Progress
from leadline.model.run import with_progress

# As text a cell takes some hundred bytes.
_BLOCK_CELLS = 1 << 15

_NAME_COLUMNS = (
    SIZE,
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


def table_of(result: BisectionResult, options: argparse.Namespace) -> tuple[Table[BisectionResult], Sequence[int]]:
    """The table of its patterns, or of their connections, and the message sizes that it is of."""
    table = CONNECTIONS if options.channels else with_others(PATTERNS, result.other_columns)
    return table, result.size_indices(options.message_size)


def _ranks(values: IntArray) -> FloatArray:
    return np.where(values == NO_RANK, np.nan, values)


def _names(result: BisectionResult, patterns: Patterns, which: IntArray) -> list[Values]:
    """The first columns, of some of the patterns in any order."""
    is_named = patterns.kind == PatternKind.NAMED
    words = [kind.name.lower() for kind in PatternKind]
    names = [*words, *map(plain_name, result.pattern_names)]
    number_of_name = np.where(is_named, len(words) + patterns.index, patterns.kind)
    index = [None if named else index for named, index in zip(is_named.tolist(), patterns.index.tolist(), strict=True)]
    return [
        np.full(len(which), patterns.message_size_bytes, dtype=np.uint64),
        patterns.number[which],
        Words(patterns.kind[which], words),
        Words(number_of_name[which], names),
        [index[one] for one in which.tolist()],
        np.where(is_named, patterns.repeat + 1, np.nan)[which],
    ]


def _patterns(result: BisectionResult, sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    for size_index in with_progress(sizes, progress):
        patterns = result.reader.patterns(size_index)
        yield (
            *_names(result, patterns, np.arange(len(patterns))),
            np.where(patterns.kind == PatternKind.WORST, patterns.accepted, np.nan),
            patterns.num_connections,
            *(getattr(patterns, f"bytes_per_s_{which}") for which in _SPEEDS),
            _ranks(patterns.slowest_from),
            _ranks(patterns.slowest_to),
            patterns.begin_s,
            patterns.measuring_s,
            *(np.asarray(values, dtype=np.float64) for values in patterns.others.values()),
        )


def _connections(result: BisectionResult, sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    """Size by size the connections of some ranks at a time: receiver by receiver, each one's pattern by pattern."""
    hosts = [plain_name(place.host) for place in result.ranks]
    for done, size_index in enumerate(sizes):
        patterns = result.reader.patterns(size_index)
        columns = (0, len(patterns))
        for ranks in result.rank_blocks(len(patterns), _BLOCK_CELLS) if len(patterns) else ():
            receive_from = result.reader.partners(size_index, "receive_from", ranks, columns)
            row, place = np.nonzero(receive_from != NO_RANK)
            ends = receive_from[row, place], ranks[0] + row
            time_ns, full_load_ns = (
                result.reader.times(size_index, name, ranks, columns)[row, place]
                for name in ("time_ns", "full_load_time_ns")
            )
            yield (
                *_names(result, patterns, place), *ends, *(Words(end, hosts) for end in ends),
                time_ns, 1e9 * patterns.message_size_bytes / time_ns, full_load_ns,
            )  # fmt: skip
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
        *ENDS,
        Column("time_ns", "ns", "time of one message, the receiver's own; empty where it was not measured"),
        Column("bytes_per_s", "bytes/s", "message size by that time"),
        Column("full_load_time_ns", "ns", "the same until the first connection of all was done"),
    ),
    _connections,
)
TABLES = (PATTERNS, CONNECTIONS)
