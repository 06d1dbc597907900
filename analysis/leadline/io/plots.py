# SPDX-License-Identifier: Apache-2.0
"""The plots of a parallel file test's sheet."""

from __future__ import annotations

import numpy as np

from leadline.io.analysis import PhaseAnalysis, rest_ns
from leadline.io.data import KIND_COLOURS
from leadline.io.result import IO_TIMES
from leadline.report.paper import ALARM, BLUE, Paper
from leadline.report.plot_frame import Area, fitting_ticks, plot_in, round_ticks
from leadline.units import bandwidth_unit, time_text, time_unit

_MOST_ROWS = 24
_LEAST_NAMED = 2.0  # mm of a row, from which on all have their names


def kinds_of(one: PhaseAnalysis) -> list[str]:
    """The kinds of time that any rank spent."""
    rows = one.rows
    kinds = [kind for kind in IO_TIMES if (rows.times_ns[kind][rows.has_row] > 0).any()]
    return [*kinds, "rest"] if (rest_ns(rows)[rows.has_row] > 0).any() else kinds


def draw_use(paper: Paper, area: Area, one: PhaseAnalysis, slow: frozenset[int]) -> None:
    """A bar for each rank, of many the slowest: how much of each kind of time. `slow`: whose names stand out."""
    ranks = one.shown_ranks
    if ranks.size > _MOST_ROWS:
        ranks = np.sort(ranks[np.argsort(-one.rows.io_ns[ranks], kind="stable")[:_MOST_ROWS]])
    num = int(one.rows.has_row.sum())
    unit = time_unit(one.end_ns)
    part = f", the {ranks.size} slowest of {num:,} ranks" if ranks.size < num else ""
    axes = plot_in(paper, area, f"{one.phase.name}, {unit.name}{part}", room=14)
    axes.set(xlim=(0, max(one.end_ns, 1) / unit.scale), ylim=(ranks.size - 0.5, -0.5))
    axes.grid(visible=False)
    at, rest = one.rows.begin_ns[ranks] / unit.scale, rest_ns(one.rows)
    for kind in (*IO_TIMES, "rest"):
        times = np.fmax(rest if kind == "rest" else one.rows.times_ns[kind], 0)[ranks] / unit.scale
        axes.barh(np.arange(ranks.size), times, left=at, color=KIND_COLOURS[kind])
        at = at + times
    has_room = axes.bbox.height / paper.figure.dpi * 25.4 > _LEAST_NAMED * ranks.size
    named = [row for row, rank in enumerate(ranks.tolist()) if has_room or rank in slow]
    axes.set_yticks(named, [f"rank {ranks[row]}" for row in named])
    for row, label in zip(named, axes.get_yticklabels(), strict=True):
        if ranks[row] in slow:
            label.set_color(ALARM)
    round_ticks(axes.xaxis, 6)


def draw_throughput(paper: Paper, area: Area, one: PhaseAnalysis) -> None:
    """Bytes of all ranks over time."""
    if not one.total.size:
        return
    rates = 1e9 * one.total / one.bin_ns
    unit, length_ns = bandwidth_unit(float(rates.max())), one.bin_ns * len(rates)
    along = time_unit(length_ns)
    axes = plot_in(paper, area, f"{unit.name} over {along.name}")
    axes.stairs(rates / unit.scale, np.arange(len(rates) + 1) * one.bin_ns / along.scale, fill=True, color=BLUE)
    if (ramp_ns := one.phase.value("ramp_ns")) > 0:
        axes.axvline(ramp_ns / along.scale, color="black", linewidth=0.6)
    axes.set(xlim=(0, length_ns / along.scale), ylim=(0, 1.1 * rates.max() / unit.scale))
    round_ticks(axes.yaxis, 5)
    round_ticks(axes.xaxis, 5)


def draw_latencies(paper: Paper, area: Area, one: PhaseAnalysis) -> None:
    """Calls by their time, both logarithmic."""
    buckets = one.phase.summary.get("latencies") or []
    if not buckets:
        return
    lows = [bucket["low_ns"] or bucket["high_ns"] / 2**0.25 for bucket in buckets]
    highs = [bucket["high_ns"] or bucket["low_ns"] * 2**0.25 for bucket in buckets]
    counts = [bucket["num"] for bucket in buckets]
    axes = plot_in(paper, area, "calls over their time")
    axes.set(xscale="log", yscale="log", xlim=(lows[0], highs[-1]), ylim=(0.5, max(*counts, 10) * 1.8))
    axes.bar(lows, counts, np.subtract(highs, lows), align="edge", color=BLUE)
    round_ticks(axes.yaxis, 5, is_whole=True)
    powers = [10.0**power for power in range(14) if lows[0] <= 10.0**power <= highs[-1]]
    fitting_ticks(axes, {value: time_text(value, 1) for value in powers})
