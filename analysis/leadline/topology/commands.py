# SPDX-License-Identifier: Apache-2.0
"""What the commands make of a result of the topology test; see leadline.benchmarks.Commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from leadline.model import Progress
from leadline.topology.result import TopologyResult

OPTIONS = frozenset({"message_size", "topology", "channels"})
HINTS = {"": "A report of a topology test has all repeats"}


def report(
    result: TopologyResult, options: argparse.Namespace, kind: str, _tell: Callable[[str], None]
) -> Callable[[Progress], str | bytes]:
    """See Commands."""
    sizes = result.size_indices(options.message_size)
    if kind == "html":
        from leadline.topology.page import render_topology

        return lambda progress: render_topology(result, sizes, progress, options.topology)
    from leadline.topology.sheet import topology_sheet

    return lambda progress: topology_sheet(result, sizes, kind, progress, options.topology)
