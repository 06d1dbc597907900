# SPDX-License-Identifier: Apache-2.0
"""One page of A4 about a parallel file test, as PDF, PostScript or PNG: timeline of ranks, throughput, numbers, who is
slow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from leadline.diagnosis import diagnosed
from leadline.io import tables
from leadline.io import text as io_text
from leadline.io.analysis import PhaseAnalysis
from leadline.io.data import KIND_COLOURS
from leadline.io.page import analyse_io
from leadline.io.plots import draw_latencies, draw_throughput, draw_use, kinds_of
from leadline.io.result import IoResult
from leadline.model import Progress
from leadline.report.paper import GREY, Kind, Paper, width_mm
from leadline.report.plot_frame import Area
from leadline.report.sheet import GAP, HEADING, ROW, SIZE, Head, Line, fitted, heading, problems_of, sheet_of, table

_PLOT_HEIGHT, _USE_HEIGHT, _BETWEEN = 34.0, 44.0, 6.0
_MOST_PHASES = 7
_DEFINITIONS = (
    "Bandwidth: all bytes by the time from the common start to the end of the last rank. First done: what all had "
    "moved when the first rank was done, by that time. Slowest rank: by its time without making and checking the "
    "data. 1 MiB = 1,048,576 bytes. Every number is defined in docs/metrics.md."
)


def io_sheet(
    result: IoResult, kind: Kind | str, progress: Progress | None = None, topology: str | None = None
) -> bytes:
    """The sheet, as a file's contents. The last write and the last read have plots, all phases numbers."""
    analyses = analyse_io(result, progress)
    found = diagnosed(result, result.slices, topology)
    slow = {operation: io_text.slow_ranks(found, operation) for operation in ("write", "read")}
    head = Head(
        "parallel file test",
        io_text.title(result),
        problems_of(result, io_text.missing(result)),
        tuple(io_text.headline(result, found)),
        io_text.run_facts(result),
    )
    plotted = shown(analyses)

    def draw(paper: Paper, area: Area) -> None:
        y = _draw_plots(paper, area, plotted, slow) if plotted else area.y
        _draw_tables(paper, Area(area.x, y, area.width, area.y + area.height - y), result)

    return sheet_of(result, kind, head, io_text.no_findings(result), _DEFINITIONS, draw)


def shown(analyses: Sequence[PhaseAnalysis]) -> list[PhaseAnalysis]:
    """The last write and the last read that have rows."""
    last = {one.phase.operation: one for one in analyses if one.rows.has_row.any()}
    return [last[operation] for operation in ("write", "read") if operation in last]


def _draw_plots(
    paper: Paper, area: Area, plotted: Sequence[PhaseAnalysis], slow: Mapping[str, frozenset[int]]
) -> float:
    """Side by side for each phase; returns where the rest may begin."""
    y = heading(paper, area.x, area.y, area.width, "What each rank did with its time") + 0.5
    y = _draw_legend(paper, area.x, y, plotted)
    width = (area.width - _BETWEEN * (len(plotted) - 1)) / len(plotted)
    places = [area.x + index * (width + _BETWEEN) for index in range(len(plotted))]
    for x, one in zip(places, plotted, strict=True):
        draw_use(paper, Area(x, y, width, _USE_HEIGHT), one, slow[one.phase.operation])
    y += _USE_HEIGHT + GAP
    heading(paper, area.x, y, area.width, "Throughput over time, times of calls")
    half = (width - _BETWEEN / 2) / 2
    for x, one in zip(places, plotted, strict=True):
        draw_throughput(paper, Area(x, y + HEADING + 1.5, half, _PLOT_HEIGHT), one)
        draw_latencies(paper, Area(x + half + _BETWEEN / 2, y + HEADING + 1.5, half, _PLOT_HEIGHT), one)
    return y + HEADING + _PLOT_HEIGHT + GAP + 1.5


def _draw_legend(paper: Paper, x: float, y: float, plotted: Sequence[PhaseAnalysis]) -> float:
    for kind in dict.fromkeys(kind for one in plotted for kind in kinds_of(one)):
        paper.box(x, y - 2, 2.2, 2.2, fill=KIND_COLOURS[kind], layer=3)
        paper.text(x + 3, y, kind, SIZE, colour=GREY)
        x += 3 + width_mm(kind, SIZE) + 4
    return y + 1.5


def _draw_tables(paper: Paper, area: Area, result: IoResult) -> None:
    """Rates of the last phases, and of wrong data as many as fit."""
    measured = result.measured_phases
    numbers = tables.phase_table(result, measured)
    if not numbers["rows"]:
        return
    columns = {
        "name": "phase", "amount": "bytes", "bytes_per_s": "bandwidth",
        "bytes_per_s_first_done": "first done", "bytes_per_s_io": "slowest rank", "slowest": "which",
        "bytes_per_s_mean": "mean", "bytes_per_s_transfer": "transfer", "operations_per_s": "IOPS", "source": "source",
    }  # fmt: skip
    if not numbers["has_bytes"]:
        columns = {"name": "phase", "amount": "bytes", "operations_per_s": "in a second", "slowest": "slowest rank"}
    title = f"{numbers['title']}, {numbers['unit']}" if numbers["has_bytes"] else numbers["title"]
    y = heading(paper, area.x, area.y, area.width, title)
    rows = numbers["rows"][-_MOST_PHASES:]
    lines = [Line(tuple(row[name] for name in columns), bool(row["error"])) for row in rows]
    heads = [(title, name not in ("name", "source")) for name, title in columns.items()]
    y = table(paper, area.x, y, fitted(heads, lines, area.width), lines) + GAP / 2
    room = int((area.y + area.height - y) / ROW) - 3
    wrong = tables.wrong_rows(measured)
    if wrong and room > 0:
        y = heading(paper, area.x, y, area.width, "Wrong data")
        lines = [Line((row["phase"], row["file"], row["object"], row["rank"], row["offset"], row["kind"]), True)
                 for row in wrong[:room]]  # fmt: skip
        heads = [
            ("phase", False),
            ("file", False),
            ("object", True),
            ("of rank", True),
            ("byte", True),
            ("what", False),
        ]
        table(paper, area.x, y, fitted(heads, lines, area.width), lines)
