# SPDX-License-Identifier: Apache-2.0
"""What the commands make of a result of the bisection test; see leadline.benchmarks.Commands."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.result_file import load_simulation
from leadline.model import Progress

OPTIONS = frozenset({"message_size", "topology", "simulated", "channels"})
HINTS = {"": "A report of a bisection test has all patterns"}


def report(
    result: BisectionResult, options: argparse.Namespace, kind: str, _tell: Callable[[str], None]
) -> Callable[[Progress], str | bytes]:
    """See Commands."""
    simulated = load_simulation(options.simulated) if options.simulated is not None else None
    sizes = result.size_indices(options.message_size)
    if kind == "html":
        from leadline.bisection.page import render_bisection

        return lambda progress: render_bisection(result, sizes, simulated, progress, options.topology)
    from leadline.bisection.sheet import bisection_sheet

    return lambda progress: bisection_sheet(result, sizes, kind, simulated, progress, options.topology)
