# SPDX-License-Identifier: Apache-2.0
"""What the commands make of a result of the congestion test; see leadline.benchmarks.Commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Set

from leadline.congestion.result import CongestionResult
from leadline.error import wrong
from leadline.model import Progress

OPTIONS: Set[str] = frozenset()
HINTS: Mapping[str, str] = {
    "": "A report of a congestion test has all loads",
    "message_size": "A congestion test has one message size",
}


def report(
    result: CongestionResult, options: argparse.Namespace, kind: str, _tell: Callable[[str], None]
) -> Callable[[Progress], str | bytes]:
    """See Commands."""
    if options.topology is not None:
        raise wrong(
            "--topology is not for results of leadline congestion", "Give it to the run: it says what victims share"
        )
    if kind != "html":
        raise wrong("a congestion test has no sheet", "End the name of its page in .html, and print that")
    from leadline.congestion.page import render_congestion

    return lambda progress: render_congestion(result, progress)
