# SPDX-License-Identifier: Apache-2.0
"""The impacts of a congestion test as columns."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Iterator, Sequence

from leadline.congestion.result import CongestionResult
from leadline.export.table import Block, Table, by_column, plain_name
from leadline.model import Column, Progress

_STATISTICS = ("mean", "median", "p99", "p999")
_STATES = {"alone": "alone", "loaded": "under load"}


def table_of(result: CongestionResult, options: argparse.Namespace) -> tuple[Table[CongestionResult], Sequence[int]]:
    """The table of its impacts, and the message sizes that it is of."""
    return IMPACTS, result.size_indices(options.message_size)


def _impacts(result: CongestionResult, _sizes: Sequence[int], progress: Progress | None = None) -> Iterator[Block]:
    rows = []
    for one in result.impacts:
        states = [dataclasses.astuple(getattr(one, state)) for state in _STATES]
        factors = [dataclasses.astuple(getattr(one, name)) for name in _STATISTICS]
        rows.append([
            plain_name(one.load), one.intensity_percent, one.test.value, one.shared, one.num_rounds,
            *(value for values in (*states, *factors) for value in values),
        ])  # fmt: skip
    yield by_column(rows)
    if progress:
        progress(1)


IMPACTS: Table[CongestionResult] = Table(
    (
        Column("load", "", "name of the load; empty = none"),
        Column("intensity_percent", "1", "how much of it, of what it reaches without pauses"),
        Column("test", "", "latency, bandwidth or allreduce"),
        Column("shared", "", "of which messages: all, or those that share a host, a switch or nothing with the load"),
        Column("num_rounds", "1", "rounds, each alone and under load"),
        *(
            column
            for state, words in _STATES.items()
            for column in (
                Column(f"{state}_num", "1", f"operations {words}"),
                *(Column(f"{state}_time_ns_{name}", "ns", f"time of an operation {words}: {name}")
                  for name in (*_STATISTICS, "max")),
            )
        ),
        *(
            Column(f"factor_{name}{end}", "ratio", f"impact factor of the {name}: {meaning}")
            for name in _STATISTICS
            for end, meaning in (("", "loaded by alone"), ("_low", "low end of its 95 % interval"),
                                 ("_high", "high end"))
        ),
    ),
    _impacts,
)  # fmt: skip
TABLES = (IMPACTS,)
