# SPDX-License-Identifier: Apache-2.0
"""The plots of a bisection test's sheet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from leadline.bisection.analysis import SizeAnalysis
from leadline.bisection.data import Data, counts_of_connections, counts_of_patterns
from leadline.bisection.simulate.model import PatternComparison
from leadline.report.paper import ALARM, BLUE, GREY, INK, SAND, Paper, shortened
from leadline.report.plot_frame import Area, fitting_ticks, plot_in, round_ticks
from leadline.report.sheet import SIZE
from leadline.units import Unit, bandwidth_unit, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMED = 9
_MARK: dict[str, Any] = {"color": INK, "linewidth": 0.8, "linestyle": (0, (3, 2)), "zorder": 5}
_NAMES = 22.0  # mm left of bars
_BAR_STEP = 4.4  # mm


def draw_patterns(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """How many random patterns have which mean, with the interval of the effective bisection bandwidth."""
    counts, unit = counts_of_patterns(one), bandwidth_unit(one.ebb.mean)
    if counts is None:
        return
    axes = plot_in(paper, area, f"patterns over their mean, {unit.name}")
    axes.set_ylim(0, max(counts["counts"]) * 1.22)
    _draw_counts(axes, counts, unit)
    if math.isfinite(one.ebb.half_width):
        axes.axvspan(one.ebb.low / unit.scale, one.ebb.high / unit.scale, color=SAND, alpha=0.25, linewidth=0)
    _mark(axes, one.ebb.mean / unit.scale, "eBB")


def draw_connections(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """How many connections have which bandwidth."""
    counts, unit = counts_of_connections(one), bandwidth_unit(one.speeds.median)
    if counts is None:
        return
    axes = plot_in(paper, area, f"connections over their bandwidth, {unit.name}")
    axes.set(yscale="log", ylim=(0.5, max(*counts["counts"], 10) * 2.2))
    _draw_counts(axes, counts, unit)
    _mark(axes, one.speeds.median / unit.scale, "median")


def _draw_counts(axes: Axes, counts: Data, unit: Unit) -> None:
    edges = np.array(counts["edges"]) / unit.scale
    axes.bar(edges[:-1], counts["counts"], np.diff(edges), align="edge", color=BLUE)
    axes.set_xlim(edges[0], edges[-1])
    round_ticks(axes.yaxis, 5, is_whole=True)
    round_ticks(axes.xaxis, 7)


def _mark(axes: Axes, at: float, text: str) -> None:
    """A dashed line from top to bottom with its name."""
    axes.axvline(at, **_MARK)
    low, high = axes.get_xlim()
    align, shift = ("right", -2) if at > low + 0.8 * (high - low) else ("left", 2)
    axes.annotate(text, (at, 1), (shift, -6), xycoords=("data", "axes fraction"), textcoords="offset points",
                  fontsize=6, color=GREY, ha=align)  # fmt: skip


def draw_convergence(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """The mean after more and more patterns, in its 95 % interval."""
    converged, unit = one.converged, bandwidth_unit(one.ebb.mean)
    axes = plot_in(paper, area, f"eBB after so many patterns, {unit.name}")
    mean, half = converged.mean / unit.scale, converged.half_width / unit.scale
    shown = converged.num >= min(8, converged.num[-1])
    low, high = float((mean - half)[shown].min()), float((mean + half)[shown].max())
    if not high > low:
        low, high = 0.95 * float(mean[-1]), 1.05 * float(mean[-1])
    axes.set(xscale="log", ylim=(max(low, 0), high + 0.06 * (high - low)))
    axes.fill_between(converged.num, mean - half, mean + half, color=BLUE, alpha=0.18, linewidth=0)
    axes.plot(converged.num, mean, color=BLUE)
    round_ticks(axes.yaxis, 5)
    powers = [2**power for power in range(1, 40) if 2**power <= converged.num[-1]]
    fitting_ticks(axes, {num: f"{num:,}" for num in powers})


def draw_named(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """Bars beside the effective bisection bandwidth, slowest first."""
    unit = bandwidth_unit(one.named[0].bytes_per_s_mean)
    has_ebb = one.ebb.num > 0
    slowest = sorted(one.named, key=lambda pattern: pattern.bytes_per_s_mean)
    shown = slowest[:_MOST_NAMED]
    height = min(area.height, _BAR_STEP * len(shown) + 10)
    name = f"named patterns, {unit.name}" + ("; dashed: eBB" if has_ebb else "")
    axes = plot_in(paper, Area(area.x, area.y, area.width, height), name, _NAMES)
    means = [pattern.bytes_per_s_mean / unit.scale for pattern in shown]
    colours = [SAND if pattern.relative < 1 else BLUE for pattern in shown]
    bars = axes.barh(np.arange(len(shown)), means, color=colours)
    axes.bar_label(bars, [number(mean) for mean in means], fontsize=SIZE, color=GREY, padding=2)
    if has_ebb:
        axes.axvline(one.ebb.mean / unit.scale, **_MARK)
    axes.set(xlim=(0, 1.15 * max([*means, one.ebb.mean / unit.scale if has_ebb else 0])), ylim=(len(shown) - 0.5, -0.5))
    axes.set_yticks(range(len(shown)), [shortened(pattern.name, _NAMES - 2, SIZE) for pattern in shown],
                    fontsize=SIZE, color=INK, parse_math=False)  # fmt: skip
    axes.set_xticks([])
    axes.grid(visible=False)
    axes.spines["bottom"].set_visible(False)
    if len(slowest) > len(shown):
        axes.set_xlabel(f"and {len(slowest) - len(shown):,} faster ones", loc="left")


def draw_comparison(paper: Paper, area: Area, comparison: PatternComparison) -> None:
    """Every random pattern, measured over simulated."""
    axes = plot_in(paper, area, "measured over simulated" + ("" if comparison.has_baseline else ", of the fastest"))
    is_red = np.isin(comparison.pattern_index, [one.pattern_index for one in comparison.deviating])
    for those, colour in ((~is_red, BLUE), (is_red, ALARM)):
        axes.plot(comparison.simulated[those], comparison.measured[those], "s", color=colour, markersize=2)
    axes.margins(0.06)
    axes.autoscale(enable=False)
    axes.axline((0, 0), slope=comparison.ratio, color=GREY, linewidth=0.7, linestyle=(0, (3, 2)))
    round_ticks(axes.yaxis, 5)
    round_ticks(axes.xaxis, 7)


def draw_worst(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """The steps of the search for bad patterns; red ones were gone on from."""
    steps, unit = one.worst, bandwidth_unit(float(one.worst.bytes_per_s_mean[0]))
    has_ebb = one.ebb.num > 0
    axes = plot_in(paper, area, f"search for bad patterns, {unit.name}" + ("; dashed: eBB" if has_ebb else ""))
    there = np.isfinite(steps.bytes_per_s_mean)
    number_of, means = steps.index[there] + 1, steps.bytes_per_s_mean[there] / unit.scale
    accepted = steps.accepted[there]
    axes.plot(number_of, means, color=BLUE, linewidth=0.9)
    axes.plot(number_of[accepted], means[accepted], "s", color=ALARM)
    if has_ebb:
        axes.axhline(one.ebb.mean / unit.scale, **_MARK)
    most = max([*means.tolist(), *([one.ebb.mean / unit.scale] if has_ebb else [])], default=1.0)
    axes.set(xlim=(0.9, max(len(steps), 2) + 0.1), ylim=(0, 1.08 * most))
    round_ticks(axes.yaxis, 5)
    round_ticks(axes.xaxis, 8, is_whole=True)


def draw_places(paper: Paper, area: Area, kind: str, bars: list[Data]) -> None:
    """The share of slow connections of every host or rank."""
    axes = plot_in(paper, area, f"share of slow connections, %, over {kind}")
    begins, ends = (np.array([bar[name] for bar in bars]) for name in ("begin", "end"))
    axes.bar(begins - 0.5, [100 * (bar["share"] or 0) for bar in bars], ends - begins, align="edge", edgecolor="white",
             linewidth=0.2, color=[ALARM if bar["slow"] else BLUE for bar in bars])  # fmt: skip
    axes.set(xlim=(-0.5, ends[-1] - 0.5), ylim=(0, 100))
    round_ticks(axes.yaxis, 5)
    round_ticks(axes.xaxis, 10, is_whole=True)
