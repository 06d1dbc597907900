# SPDX-License-Identifier: Apache-2.0
"""One page of A4 about a topology test, as PDF, PostScript or PNG: rates over message size, and their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from leadline.diagnosis import diagnosed
from leadline.model import Progress
from leadline.model.run import with_progress
from leadline.report.paper import GREY, Kind, Paper
from leadline.report.plot_frame import Area, fitting_ticks, plot_in, round_ticks
from leadline.report.sheet import GAP, HEADING, ROW, SIZE, Head, Line, fitted, heading, problems_of, sheet_of, table
from leadline.text.run import no_findings
from leadline.topology import text as topology_text
from leadline.topology.analysis import GroupAnalysis, analyse_group, groups_of
from leadline.topology.data import HUES, hue_numbers
from leadline.topology.load import LoadSeries, series_of
from leadline.topology.result import Definition, TopologyResult
from leadline.topology.tables import load_rows, number_table
from leadline.units import bandwidth_unit, bytes_text

_PLOT_HEIGHT = 66.0
_LEGEND, _LEGEND_LINE = 30.0, 3.4  # right of the plot
_MOST_MARKED = 60  # points of a line that have marks
_DASHES: dict[str, tuple[float, ...]] = {
    "both-ways": (),
    "answered": (4, 2),
    "phased": (4, 2),
}  # of a mode; others are dotted
_DOTTED = (1, 1.5)
_DEFINITIONS = (
    "Time of an exchange: its slowest rank, without the closing barrier; the median of all exchanges. Total: all bytes "
    "that pass; local: those of the busiest rank; average: total by the channels. NETTEST’s: from the mean, with the "
    "barrier. 1 MiB = 1,048,576 bytes. Every number is defined in docs/metrics.md."
)


@dataclass(frozen=True)
class Curve:
    """A line of a plot."""

    name: str
    colour: str
    dashes: tuple[float, ...]
    points: tuple[tuple[float, float, float, float], ...]  # x, y, and the ends of a band around y


def topology_sheet(
    result: TopologyResult, sizes: Sequence[int], kind: Kind | str, progress: Progress | None = None,
    topology: str | None = None,
) -> bytes:  # fmt: skip
    """The sheet about some message sizes, as a file's contents."""
    wanted = [] if result.is_load else [(group, size) for group in groups_of(result) for size in sizes]
    analyses = [analyse_group(result, group, size) for group, size in with_progress(wanted, progress)]
    load = tuple(one for one in series_of(result) if one.size_index in sizes)
    found = diagnosed(result, topology_text.parts_of(result, analyses), topology)
    head = Head(
        "topology test",
        topology_text.title(result),
        problems_of(result, topology_text.missing(result, analyses)),
        tuple(topology_text.headline(result, analyses, load, found)),
        topology_text.run_facts(result),
    )

    def draw(paper: Paper, area: Area) -> None:
        if load:
            area = _draw_plot(paper, area, "Throughput over time", _load_curves(result, load), is_load=True)
            _draw_load(paper, area, load)
        elif any(analysis.num_measured for analysis in analyses):
            if len({one.size_index for one in analyses if one.num_measured}) > 1:
                name = "What the network sustains: all bytes transferred, over message size"
                area = _draw_plot(paper, area, name, _rate_curves(analyses), is_load=False)
            _draw_numbers(paper, area, result, analyses)

    return sheet_of(result, kind, head, no_findings(result), _DEFINITIONS, draw)


def _draw_plot(paper: Paper, area: Area, name: str, curves: list[Curve], is_load: bool) -> Area:
    """Returns what is left of the room."""
    heading(paper, area.x, area.y, area.width, name)
    _draw_curves(paper, Area(area.x, area.y + HEADING + 1.5, area.width, _PLOT_HEIGHT), curves, is_load)
    y = area.y + HEADING + _PLOT_HEIGHT + GAP
    return Area(area.x, y, area.width, area.y + area.height - y)


def _rate_curves(analyses: list[GroupAnalysis]) -> list[Curve]:
    """Of every group the total rate over the size, with the interval of its median."""
    groups = list(dict.fromkeys(analysis.group for analysis in analyses))
    hues = hue_numbers([group.first for group in groups])
    curves = []
    for group in groups:
        points = []
        for one in analyses:
            timing = one.timings[Definition.EXCHANGE].times
            if one.group is group and one.num_measured and one.message_size_bytes:
                times = (timing.median, timing.median_interval_high, timing.median_interval_low)
                middle, low, high = (one.rates(time).total for time in times)
                points.append((float(one.message_size_bytes), middle, low, high))
        colour = HUES[hues[group.first.index] % len(HUES)]
        curves.append(Curve(group.name, colour, _DASHES.get(group.first.mode, _DOTTED), tuple(points)))
    return curves


def _load_curves(result: TopologyResult, load: tuple[LoadSeries, ...]) -> list[Curve]:
    """Of every topology and size the total rate of each point; sizes are told apart by their dashes."""
    hues = hue_numbers(result.topologies)
    sizes = sorted({one.message_size_bytes for one in load})
    curves = []
    for one in load:
        rates = one.total_bytes_per_s.tolist()
        points = tuple((point.begin_s, rate, rate, rate) for point, rate in zip(one.points, rates, strict=True))
        position = sizes.index(one.message_size_bytes)
        dashes = (4.0 / position, 2.0) if position else ()
        name = f"{one.topology.name}, {bytes_text(one.message_size_bytes)}"
        curves.append(Curve(name, HUES[hues[one.topology.index] % len(HUES)], dashes, points))
    return curves


def _draw_curves(paper: Paper, area: Area, curves: list[Curve], is_load: bool) -> None:
    """Over message size, logarithmic, or for a load over seconds."""
    curves = [curve for curve in curves if curve.points]
    values = [value for curve in curves for point in curve.points for value in point[1:]]
    if not values:
        return
    unit = bandwidth_unit(math.sqrt(min(values) * max(values)))
    name = unit.name + (", over seconds since the load began" if is_load else "")
    axes = plot_in(paper, Area(area.x, area.y, area.width - _LEGEND, area.height), name)
    is_wide = max(values) > 8 * min(values)
    low, high = (min(values) / 1.2, max(values) * 1.2) if is_wide else (0.0, max(values) * 1.06)
    axes.set(xscale="linear" if is_load else "log", yscale="log" if is_wide else "linear")
    axes.set_ylim(low / unit.scale, high / unit.scale)
    for curve in curves:
        xs, middle, lower, upper = np.array(curve.points).T
        axes.fill_between(xs, lower / unit.scale, upper / unit.scale, color=curve.colour, alpha=0.16, linewidth=0)
        marker = "s" if len(xs) <= _MOST_MARKED else ""
        axes.plot(xs, middle / unit.scale, color=curve.colour, dashes=curve.dashes, marker=marker, label=curve.name)
    most = int(axes.bbox.height / paper.figure.dpi * 25.4 / _LEGEND_LINE)
    axes.legend(handles=axes.lines[:most], loc="upper left", bbox_to_anchor=(1, 1), markerscale=0)
    round_ticks(axes.yaxis, 8)
    if is_load:
        round_ticks(axes.xaxis, 10)
    else:
        fitting_ticks(axes, {point[0]: bytes_text(int(point[0])) for curve in curves for point in curve.points})


def _draw_numbers(paper: Paper, area: Area, result: TopologyResult, analyses: list[GroupAnalysis]) -> None:
    """As many rows as fit; the largest sizes where they are too many."""
    numbers = number_table(result, analyses)
    y = heading(paper, area.x, area.y, area.width, f"Rates in {numbers['unit']}")
    rows = numbers["rows"]
    num_fitting = max(int((area.height - HEADING - 4) / ROW) - 2, 1)
    sizes = sorted({row["size_index"] for row in rows})
    while len(rows) > num_fitting and len(sizes) > 1:
        sizes = sizes[1:]
        rows = [row for row in rows if row["size_index"] in sizes]
    titles = ("channels", "message size", "total", "95 % interval", "local", "average", "NETTEST’s")
    heads = [("topology", False), *((title, True) for title in titles), ("slowest rank", False),
             ("latest message", False)]  # fmt: skip
    names = ("channels", "size", "total", "interval", "local", "average", "nettest")
    lines = []
    for row in rows[:num_fitting]:
        rank, late = row["slowest_rank"], row["slowest_channel"]
        slowest = f"{rank['rate']}: {rank['rank']}, {rank['host']}" if rank else "–"
        message = f"{late['from']} → {late['to']}, {late['ratio']} ×" if late else "–"
        lines.append(Line((row["group"], *(row[name] for name in names), slowest, message)))
    y = table(paper, area.x, y, fitted(heads, lines, area.width), lines)
    if len(numbers["rows"]) > len(lines):
        text = f"{len(numbers['rows']) - len(lines):,} rows are left out; the page (.html) has all."
        paper.text(area.x, y, text, SIZE, colour=GREY)


def _draw_load(paper: Paper, area: Area, load: tuple[LoadSeries, ...]) -> None:
    rows = load_rows(load)
    y = heading(paper, area.x, area.y, area.width, f"Points of the load: total rate in {rows[0]['unit']}")
    names = {"size": "message size", "points": "points", "exchanges": "exchanges", "verified": "compared",
             "usual": "usual", "lowest": "lowest", "highest": "highest", "at": "lowest at", "slowdown": "slowdown",
             "longest": "longest"}  # fmt: skip
    heads = [("topology", False), *((title, True) for title in names.values())]
    num_fitting = max(int((area.height - HEADING - 4) / ROW) - 2, 1)
    lines = [Line((row["name"], *(row[name] for name in names)), row["alarming"]) for row in rows[:num_fitting]]
    y = table(paper, area.x, y, fitted(heads, lines, area.width), lines)
    if len(rows) > num_fitting:
        paper.text(area.x, y, f"and {len(rows) - num_fitting:,} more", SIZE, colour=GREY)
