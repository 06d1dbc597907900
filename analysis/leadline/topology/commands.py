# SPDX-License-Identifier: Apache-2.0
"""What the commands make of a result of the topology test; see leadline.benchmarks.Commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from leadline.error import wrong
from leadline.export.csv_table import header_of
from leadline.export.table import Table
from leadline.model import Progress
from leadline.topology.result import TopologyResult

OPTIONS = frozenset({"message_size", "channels"})
HINTS = {"": "A report of a topology test has all repeats"}


def report(
    result: TopologyResult, options: argparse.Namespace, kind: str, _tell: Callable[[str], None]
) -> Callable[[Progress], str | bytes]:
    """See Commands."""
    sizes = result.size_indices(options.message_size)
    if kind == "html":
        from leadline.topology.page import render_topology

        return lambda progress: render_topology(result, sizes, progress)
    from leadline.topology.sheet import topology_sheet

    return lambda progress: topology_sheet(result, sizes, kind, progress)


def table(result: TopologyResult, options: argparse.Namespace) -> tuple[Table[Any], Sequence[Any]]:
    """See Commands."""
    from leadline.topology.export import table_of

    if options.channels and result.is_load:
        raise wrong("the result has no --channels", "It is of a load, in which no message is traced")
    return table_of(result, options.channels), result.size_indices(options.message_size)


def headers() -> tuple[str, ...]:
    """See Commands."""
    from leadline.topology.export import TABLES

    return tuple(header_of(one.columns) for one in TABLES)
