# SPDX-License-Identifier: Apache-2.0
"""What the commands make of a result of the collective test; see leadline.benchmarks.Commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Set

from leadline.collective.result import CollectiveResult
from leadline.error import wrong
from leadline.model import Progress

OPTIONS: Set[str] = frozenset()
HINTS: Mapping[str, str] = {
    "": "A report of a collective test has all operations",
    "message_size": "A report of a collective test has all message sizes",
}


def report(
    result: CollectiveResult, options: argparse.Namespace, kind: str, _tell: Callable[[str], None]
) -> Callable[[Progress], str | bytes]:
    """See Commands."""
    if options.topology is not None:
        raise wrong("--topology is not for results of leadline collective", "It judges no switches")
    if kind != "html":
        raise wrong("a collective test has no sheet", "End the name of its page in .html, and print that")
    from leadline.collective.page import render_collective

    return lambda progress: render_collective(result, progress)
