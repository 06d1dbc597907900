# SPDX-License-Identifier: Apache-2.0
"""What the commands make of a result of the parallel file test; see leadline.benchmarks.Commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from leadline.io.result import IoResult
from leadline.model import Progress

OPTIONS = frozenset({"ranks", "topology"})
HINTS = {
    "": "A report of a parallel file test has all phases",
    "message_size": "A parallel file test has objects of one size",
    "channels": "Use --ranks",
}


def report(
    result: IoResult, options: argparse.Namespace, kind: str, _tell: Callable[[str], None]
) -> Callable[[Progress], str | bytes]:
    """See Commands."""
    if kind == "html":
        from leadline.io.page import render_io

        return lambda progress: render_io(result, progress, options.topology)
    from leadline.io.sheet import io_sheet

    return lambda progress: io_sheet(result, kind, progress, options.topology)
