# SPDX-License-Identifier: Apache-2.0
"""One page of A4 about a bisection test, as PDF, PostScript or PNG: distributions, interval, slow connections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from leadline.bisection import tables
from leadline.bisection import text as bisection_text
from leadline.bisection.data import component_bars
from leadline.bisection.page import BisectionAnalysis, analyse_bisection, faults_of
from leadline.bisection.plots import (
    draw_comparison,
    draw_connections,
    draw_convergence,
    draw_named,
    draw_patterns,
    draw_places,
    draw_worst,
)
from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.model import SimulatedBisection
from leadline.model import Progress
from leadline.report.paper import GREY, Kind, Paper
from leadline.report.plot_frame import Area
from leadline.report.sheet import GAP, HEADING, ROW, SIZE, Head, Line, fitted, heading, problems_of, sheet_of, table
from leadline.text.run import no_findings
from leadline.units import bytes_text

_PLOT_HEIGHT, _BETWEEN = 40.0, 6.0
_COMPONENTS_HEIGHT = 26.0
_MOST_SIDE_BY_SIDE = 3
_SIZES_SHARE = 0.5  # of the room that tables have, if there is much of everything
_DEFINITIONS = (
    "eBB: arithmetic mean of the bandwidth over connections and random patterns, one direction. ±: 95 % interval, by "
    "Student’s t over patterns. Harmonic: message size by mean time. Pairs alone: while all others are idle. "
    "1 MiB = 1,048,576 bytes. Every number is defined in docs/metrics.md."
)

Named = tuple[str, Callable[[Area], None]]


def bisection_sheet(
    result: BisectionResult, sizes: Sequence[int], kind: Kind | str, simulated: SimulatedBisection | None = None,
    progress: Progress | None = None, topology: str | None = None,
) -> bytes:  # fmt: skip
    """The sheet about some message sizes, as a file's contents."""
    analysis = analyse_bisection(result, sizes, simulated, progress, topology)
    head = Head(
        "bisection test",
        bisection_text.title(result),
        problems_of(result, bisection_text.missing(result, analysis.sizes)),
        tuple(bisection_text.headline(result, analysis.sizes, analysis.diagnosed, analysis.comparison)),
        bisection_text.run_facts(result),
    )
    draw = partial(_draw, result, analysis)
    return sheet_of(result, kind, head, no_findings(result), _DEFINITIONS, draw)


def _draw(result: BisectionResult, analysis: BisectionAnalysis, paper: Paper, area: Area) -> None:
    x, y, width, end = area.x, area.y, area.width, area.y + area.height
    one = tables.shown_first(analysis.sizes)
    if one.ebb.num:
        name = f"Over {one.ebb.num:,} random patterns with {bytes_text(one.message_size_bytes)}"
        y = _draw_row(paper, Area(x, y, width, _PLOT_HEIGHT), name, [
            lambda area: draw_patterns(paper, area, one), lambda area: draw_connections(paper, area, one),
        ])  # fmt: skip
    for row in _further_plots(paper, result, analysis):
        y = _draw_row(paper, Area(x, y, width, _PLOT_HEIGHT), " · ".join(name for name, _ in row),
                      [draw for _, draw in row])  # fmt: skip
    y = _draw_tables(paper, Area(x, y, width, end - y), result, analysis)
    of_components = component_bars(result, analysis.components, faults_of(result, analysis))
    if of_components and end - y > _COMPONENTS_HEIGHT + 1.5:
        kind, bars = next(iter(of_components.items()))
        draw_places(paper, Area(x, y + 1.5, width, _COMPONENTS_HEIGHT), kind, bars)


def _draw_row(paper: Paper, area: Area, name: str, plots: Sequence[Callable[[Area], None]]) -> float:
    """Plots side by side below the name of their section; returns where the rest may begin."""
    heading(paper, area.x, area.y, area.width, name)
    width = (area.width - _BETWEEN * (len(plots) - 1)) / len(plots)
    for index, draw in enumerate(plots):
        draw(Area(area.x + index * (width + _BETWEEN), area.y + HEADING + 1.5, width, area.height))
    return area.y + HEADING + area.height + GAP


def _further_plots(paper: Paper, result: BisectionResult, analysis: BisectionAnalysis) -> list[list[Named]]:
    """Rows of plots, each with what it says of itself in the name of its row; those that there is nothing for are left
    out.
    """
    one, comparison = tables.shown_first(analysis.sizes), analysis.comparison
    plots: list[Named] = []
    if one.ebb.num > 1:
        ended = f"Interval: ended {bisection_text.stopped_text(result, one)}"
        plots.append((ended, lambda area: draw_convergence(paper, area, one)))
    if one.named:
        plots.append(("named patterns", lambda area: draw_named(paper, area, one)))
    if len(one.worst):
        plots.append(("search", lambda area: draw_worst(paper, area, one)))
    if comparison:
        plots.append(("simulated", lambda area: draw_comparison(paper, area, comparison)))
    if len(plots) <= _MOST_SIDE_BY_SIDE:
        return [plots] if plots else []
    return [plots[:2], plots[2:]]


def _draw_tables(paper: Paper, area: Area, result: BisectionResult, analysis: BisectionAnalysis) -> float:
    """As many rows as fit: of sizes the largest, of slow connections the slowest; returns where the rest may begin."""
    num_rows = int(area.height / ROW) - 8
    numbers, y = tables.size_table(result, analysis.sizes), area.y
    one = tables.shown_first(analysis.sizes)
    slow = tables.slow_rows(result, one) if one.slow else {"rows": [], "unit": ""}
    wanted = len(slow["rows"])
    if numbers["rows"]:
        most = max(num_rows - wanted, int(_SIZES_SHARE * num_rows), 1)
        y = _draw_sizes(paper, Area(area.x, y, area.width, 0), numbers, most) + GAP / 2
        num_rows -= min(most, len(numbers["rows"]))
    if wanted and num_rows > 0:
        y = _draw_slow(paper, Area(area.x, y, area.width, 0), slow, num_rows)
    return y


def _draw_sizes(paper: Paper, area: Area, numbers: tables.Row, most: int) -> float:
    y = heading(paper, area.x, area.y, area.width, f"Effective bisection bandwidth, {numbers['unit']}")
    rows = numbers["rows"][-most:]
    columns = {
        "size": "message size", "patterns": "patterns", "ebb": "eBB", "share": "± %", "relative": "of pairs alone",
        "median": "median", "p05": "5 %", "p01": "1 %", "min": "min", "harmonic": "harmonic", "full_load": "full load",
        "baseline": "pairs alone", "static": "static", "tail": "tail",
    }  # fmt: skip
    lines = [Line(tuple(row[name].strip("±% ") if name == "share" else row[name] for name in columns)) for row in rows]
    y = table(paper, area.x, y, fitted([(title, True) for title in columns.values()], lines, area.width), lines)
    if len(rows) < len(numbers["rows"]):
        num = len(numbers["rows"]) - len(rows)
        paper.text(area.x, y, f"{num:,} smaller sizes are left out; the page (.html) has all.", SIZE, colour=GREY)
        y += ROW
    return y


def _draw_slow(paper: Paper, area: Area, slow: tables.Row, most: int) -> float:
    y = heading(paper, area.x, area.y, area.width, "Slowest connections, and those measured again")
    rows = slow["rows"][:most]
    unit = slow["unit"]
    heads = [("from", True), ("host", False), ("to", True), ("host", False), ("in pattern", False),
             (f"under load, {unit}", True), ("× median", True), (f"alone, {unit}", True),
             ("verdict", False)]  # fmt: skip
    lines = [
        Line((str(row["from"]), row["from_host"], str(row["to"]), row["to_host"], row["pattern"], row["speed"],
              row["relative"], row["alone"], row["verdict"]), row["alarming"])
        for row in rows
    ]  # fmt: skip
    return table(paper, area.x, y, fitted(heads, lines, area.width), lines)
