# SPDX-License-Identifier: Apache-2.0
"""The plots of a link test's sheet: distribution of the pairs, time and bandwidth over message size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from leadline.link.analysis import SliceAnalysis
from leadline.link.figures import Curves, middle_of, speeds_of
from leadline.link.result import LinkResult, PairClass
from leadline.model import FloatArray
from leadline.report.paper import INK, Paper
from leadline.report.plot_frame import Area, fitting_ticks, plot_in, round_ticks
from leadline.stats.histogram import Histogram, histogram
from leadline.units import Unit, bandwidth_unit, bytes_text, plain, time_unit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CLASS_COLOURS = {PairClass.SAME_HOST: "#c25e00", PairClass.BETWEEN_HOSTS: "#2a5f9e"}
_PANEL_NAME = 4.0  # mm above a histogram
_SHARE_ROOM = 12.5  # as wide as 99.9999 %
_STEPS_OF_CURVE = 240
_LEAST_SHARE = 0.005  # the fast end of the cumulative distribution


def draw_distribution(paper: Paper, left: Area, right: Area, analysis: SliceAnalysis, unit: Unit) -> None:
    """The histogram of each class, and beside it how many pairs take at most how long; both have their names on top."""
    classes = analysis.scan.classes
    bins = histogram({pair_class.value: tally for pair_class, tally in classes.items()}, 60)
    highest = max([10, *(int(counts.max(initial=0)) for counts in bins.counts.values())])
    frame = plot_in(paper, left, "pairs over time of a message, logarithmic")
    frame.set_axis_off()
    edges, height = bins.edges / unit.scale, 1 / max(len(classes), 1)
    for index, pair_class in enumerate(classes):
        axes = frame.inset_axes((0, 1 - (index + 1) * height, 1, height - _PANEL_NAME / left.height))
        counts, colour = bins.counts[pair_class.value], CLASS_COLOURS[pair_class]
        axes.set(yscale="log", ylim=(0.5, highest * 1.3))
        axes.bar(edges[:-1], counts, np.diff(edges), align="edge", color=colour)
        median = analysis.classes[pair_class].median
        if math.isfinite(median):
            axes.axvline(median / unit.scale, color=INK, linewidth=0.8)
        axes.set_title(f"{pair_class.value}: {int(counts.sum()):,} pairs", loc="right", color=colour, pad=1)
        round_ticks(axes.yaxis, 3, is_whole=True)
        _time_axis(axes, edges, bins.logarithmic, unit if index == len(classes) - 1 else None)
    _draw_cumulative(paper, right, analysis, unit, bins)


def _draw_cumulative(paper: Paper, area: Area, analysis: SliceAnalysis, unit: Unit, bins: Histogram) -> None:
    """As on the page 90, 99, 99.9 % ... are equally far apart: the slowest of many pairs stay visible."""
    axes = plot_in(paper, area, "share of pairs up to a time", _SHARE_ROOM)
    most = max((tally.num_values for tally in analysis.scan.classes.values()), default=0)
    rest = 0.5 / max(most, 10)
    low, high = max(rest, _LEAST_SHARE), 1 - rest
    axes.set_yscale("logit")
    axes.set_ylim(low, high)
    spaced = np.geomspace if bins.logarithmic else np.linspace
    edges = spaced(bins.edges[0], bins.edges[-1], _STEPS_OF_CURVE)
    edges[0], edges[-1] = bins.edges[0], bins.edges[-1]
    for pair_class, tally in analysis.scan.classes.items():
        if tally.num_values:
            shares = np.concatenate([[0], np.cumsum(tally.counts(edges))]) / tally.num_values
            shares = np.clip(shares, low, high)
            axes.plot(edges / unit.scale, shares, color=CLASS_COLOURS[pair_class], clip_on=False)
    ticks = [0.01, 0.1, 0.5, *(1 - 10.0**-nines for nines in range(1, 7))]
    ticks = [share for share in ticks if low <= share <= high]
    axes.set_yticks(ticks, [f"{plain(100 * share)} %" for share in ticks])
    axes.set_yticks([], minor=True)
    _time_axis(axes, edges / unit.scale, bins.logarithmic, unit)


def draw_sweep(paper: Paper, left: Area, right: Area, result: LinkResult, times: Curves) -> None:
    """Time and bandwidth over message size: the median of each class, in a band from 5 to 95 % of its pairs."""
    speeds = speeds_of(result, times)
    _draw_curves(paper, left, "time", time_unit(middle_of(times)), times)
    _draw_curves(paper, right, "bandwidth", bandwidth_unit(middle_of(speeds)), speeds)


def _draw_curves(paper: Paper, area: Area, what: str, unit: Unit, curves: Curves) -> None:
    axes = plot_in(paper, area, f"{what} over size, {unit.name}")
    sizes = sorted({size for of_class in curves.values() for size in of_class})
    if len(sizes) < 2:
        axes.set_axis_off()
        return
    axes.set(xscale="log", yscale="log")
    for pair_class, of_class in curves.items():
        colour, xs = CLASS_COLOURS[pair_class], [_shown_size(size) for size in of_class]
        lower, middle, upper = np.array([(row.low, row.middle, row.high) for row in of_class.values()]).T / unit.scale
        axes.fill_between(xs, lower, upper, color=colour, alpha=0.18, linewidth=0)
        axes.plot(xs, middle, "s-", color=colour)
    round_ticks(axes.yaxis, 5)
    fitting_ticks(axes, {_shown_size(size): bytes_text(size) for size in sizes})


def _shown_size(size: int) -> float:
    """A message of no bytes has a place on a logarithmic axis, too."""
    return max(size, 0.5)


def _time_axis(axes: Axes, ends: FloatArray, is_logarithmic: bool, unit: Unit | None) -> None:
    """Without a unit the numbers are those of the plot below."""
    axes.set(xscale="log" if is_logarithmic else "linear", xlim=(ends[0], ends[-1]))
    round_ticks(axes.xaxis, 8)
    if unit:
        axes.set_xlabel(unit.name, loc="right", labelpad=0.5)
    else:
        axes.tick_params(axis="x", labelbottom=False, length=0)
