# SPDX-License-Identifier: Apache-2.0
"""From a CollectiveResult to one self-contained HTML page: a table for each operation."""

from __future__ import annotations

import math
from typing import Any

from leadline.collective.result import CollectiveResult
from leadline.model import Progress
from leadline.report.frame import html_page
from leadline.text.run import facts_of_run, no_findings, when, who_and_where
from leadline.units import bandwidth_text, bytes_text, time_text

Row = dict[str, Any]


def render_collective(result: CollectiveResult, progress: Progress | None = None) -> str:
    """The page. Everything from the file is escaped."""
    page = html_page(
        "collective.html.j2",
        result,
        styles=("report.css",),
        scripts=(),
        data={},
        benchmark="Collective test",
        title=f"Collective test of {result.path.name}",
        run_line=" · ".join(filter(None, (who_and_where(result, list(result.message_sizes_bytes)), when(result)))),
        no_findings=no_findings(result),
        headline=headline(result),
        verdict="",
        missing="" if result.cells else "There are no numbers of the whole run",
        without_script="This page needs no script.",
        run=_facts(result),
        operations=[{"name": name, "rows": rows} for name in result.operations if (rows := _rows(result, name))],
    )
    if progress:
        progress(1)
    return page


def headline(result: CollectiveResult) -> list[str]:
    """The bandwidth of each operation with its fastest size."""
    sentences = []
    for name in result.operations:
        cells = [one for one in result.cells if one.operation == name and math.isfinite(one.bus_bytes_per_s)]
        if not cells:
            continue
        best = max(cells, key=lambda one: one.bus_bytes_per_s)
        sentences.append(
            f"{name}: {bandwidth_text(best.bus_bytes_per_s)} on the bus with {bytes_text(best.message_size_bytes)}."
        )
    return sentences or ["Nothing was measured."]


def _rows(result: CollectiveResult, operation: str) -> list[Row]:
    return [
        {
            "size": bytes_text(one.message_size_bytes),
            "times": [time_text(value) for value in (one.time_ns_median, one.time_ns_min, one.time_ns_max)],
            "rates": [bandwidth_text(value) for value in (one.algorithm_bytes_per_s, one.bus_bytes_per_s)],
        }
        for one in result.cells
        if one.operation == operation
    ]


def _facts(result: CollectiveResult) -> list[tuple[str, str]]:
    groups = f"{result.num_groups:,} of {result.group_hosts:,} hosts in each round" if result.group_hosts else ""
    facts = {
        **facts_of_run(result),
        "operations by": "the transport's library" if result.algorithm == "library" else result.algorithm,
        "groups": groups,
        "rounds": f"{result.num_rounds:,}, each with {result.num_batches:,} batches of {result.num_iterations:,}",
    }
    return [(name, value) for name, value in facts.items() if value]
