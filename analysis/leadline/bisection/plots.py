# SPDX-License-Identifier: Apache-2.0
"""The plots of a bisection test's sheet."""

from __future__ import annotations

import math

from leadline.bisection.analysis import SizeAnalysis
from leadline.bisection.data import Data, counts_of_connections, counts_of_patterns
from leadline.bisection.simulate.model import PatternComparison
from leadline.draw.plots import Axis as Scale
from leadline.draw.plots import nice_values
from leadline.report.paper import ALARM, GREY, INK, Paper, shortened
from leadline.report.plot_frame import Area, grid_lines, inside, labels_below, name_above
from leadline.report.sheet import SIZE
from leadline.units import Unit, bandwidth_unit, number, plain

_BLUE, _SAND = "#31688e", "#c2570c"
_MOST_NAMED = 9


def draw_patterns(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """How many random patterns have which mean, with the interval of the effective bisection bandwidth."""
    counts, unit = counts_of_patterns(one), bandwidth_unit(one.ebb.mean)
    if counts is None:
        return
    name_above(paper, area, f"patterns over their mean, {unit.name}")
    inner, across, _ = _draw_counts(paper, area, counts, unit, is_logarithmic=False)
    if math.isfinite(one.ebb.half_width):
        ends = [min(max(across.at(value), inner.x), inner.x + inner.width) for value in (one.ebb.low, one.ebb.high)]
        corners = ([ends[0], ends[1], ends[1], ends[0]], [inner.y, inner.y, inner.y + inner.height,
                                                          inner.y + inner.height])  # fmt: skip
        paper.area(*corners, fill=_SAND, opacity=0.25, layer=4)
    _mark(paper, inner, across.at(one.ebb.mean), "eBB")


def draw_connections(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """How many connections have which bandwidth."""
    counts, unit = counts_of_connections(one), bandwidth_unit(one.speeds.median)
    if counts is None:
        return
    name_above(paper, area, f"connections over their bandwidth, {unit.name}")
    inner, across, _ = _draw_counts(paper, area, counts, unit, is_logarithmic=True)
    _mark(paper, inner, across.at(one.speeds.median), "median")


def _draw_counts(
    paper: Paper, area: Area, counts: Data, unit: Unit, is_logarithmic: bool
) -> tuple[Area, Scale, Scale]:  # fmt: skip
    inner, edges = _below_name(area), counts["edges"]
    across = Scale(edges[0], edges[-1], inner.x, inner.x + inner.width, False)
    most = max(counts["counts"])
    up = (
        Scale(0.5, max(most, 10) * 2.2, inner.y + inner.height, inner.y, True)
        if is_logarithmic
        else Scale(0, most * 1.22, inner.y + inner.height, inner.y, False)
    )
    grid_lines(paper, inner, up, 1.0, is_whole=True)
    for low, high, count in zip(edges[:-1], edges[1:], counts["counts"], strict=True):
        if count:
            at, end = across.at(low), across.at(high)
            paper.box(at, up.at(count), max(end - at - 0.15, 0.25), inner.y + inner.height - up.at(count), fill=_BLUE,
                      layer=3)  # fmt: skip
    _numbers_below(paper, inner, across, unit.scale)
    return inner, across, up


def _below_name(area: Area) -> Area:
    """Where the plot itself is: the number at its top keeps away from the name above."""
    return inside(Area(area.x, area.y + 1.6, area.width, area.height - 1.6))


def _numbers_below(paper: Paper, inner: Area, across: Scale, scale: float) -> None:
    values = nice_values(across.low / scale, across.high / scale, False, 7)
    labels_below(paper, inner, [(across.at(value * scale), plain(value)) for value in values])


def _mark(paper: Paper, inner: Area, x: float, text: str) -> None:
    paper.line([x, x], [inner.y, inner.y + inner.height], colour=INK, width=0.8, layer=5, dashes=(3, 2))
    is_right = x > inner.x + 0.8 * inner.width
    paper.text(x + (-1 if is_right else 1), inner.y + 1.9, text, 6, colour=GREY, align="right" if is_right else "left")


def draw_convergence(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """The mean after more and more patterns, in its 95 % interval."""
    converged, unit = one.converged, bandwidth_unit(one.ebb.mean)
    name_above(paper, area, f"eBB after so many patterns, {unit.name}")
    inner = _below_name(area)
    shown = converged.num >= min(8, converged.num[-1])
    low = float((converged.mean - converged.half_width)[shown].min())
    high = float((converged.mean + converged.half_width)[shown].max())
    if not high > low:
        low, high = 0.95 * one.ebb.mean, 1.05 * one.ebb.mean
    across = Scale(2, max(float(converged.num[-1]), 3), inner.x + 1.5, inner.x + inner.width - 1.5, True)
    up = Scale(max(low, 0), high + 0.06 * (high - low), inner.y + inner.height, inner.y, False)
    grid_lines(paper, inner, up, unit.scale)

    def at(value: float) -> float:
        return up.at(min(max(value, up.low), up.high))

    xs = [across.at(num) for num in converged.num.tolist()]
    middle, half = converged.mean.tolist(), converged.half_width.tolist()
    upper = [at(mean + width) for mean, width in zip(middle, half, strict=True)]
    lower = [at(mean - width) for mean, width in zip(middle, half, strict=True)]
    paper.area([*xs, *reversed(xs)], [*upper, *reversed(lower)], fill=_BLUE, opacity=0.18)
    paper.line(xs, [at(mean) for mean in middle], colour=_BLUE, width=1.1, layer=4)
    powers = [2**power for power in range(1, 40) if 2**power <= converged.num[-1]]
    labels_below(paper, inner, [(across.at(float(num)), f"{num:,}") for num in powers])


def draw_named(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """Bars beside the effective bisection bandwidth, slowest first."""
    unit = bandwidth_unit(one.named[0].bytes_per_s_mean)
    has_ebb = one.ebb.num > 0
    name = f"named patterns, {unit.name}" + ("; dashed: eBB" if has_ebb else "")
    name_above(paper, area, name)
    slowest = sorted(one.named, key=lambda pattern: pattern.bytes_per_s_mean)
    shown = slowest[:_MOST_NAMED]
    longest = max([*(pattern.bytes_per_s_mean for pattern in shown), *([one.ebb.mean] if has_ebb else [])])
    left, room = area.x + 22, area.width - 22 - 12
    step = min((area.height - 6) / max(len(shown), 1), 4.4)
    y = area.y + 3.5
    for pattern in shown:
        paper.text(area.x, y + step / 2 + 0.8, shortened(pattern.name, 21, SIZE), SIZE)
        is_bad = pattern.relative < 1
        width = room * pattern.bytes_per_s_mean / longest
        paper.box(left, y + 0.5, width, step - 1, fill=_SAND if is_bad else _BLUE, layer=3)
        text = number(pattern.bytes_per_s_mean / unit.scale)
        paper.text(left + width + 1, y + step / 2 + 0.8, text, SIZE, colour=GREY)
        y += step
    if has_ebb:
        at = left + room * one.ebb.mean / longest
        paper.line([at, at], [area.y + 3, y + 0.5], colour=INK, width=0.8, layer=5, dashes=(3, 2))
    if len(slowest) > len(shown):
        paper.text(area.x, y + 2.4, f"and {len(slowest) - len(shown):,} faster ones", 6, colour=GREY)


def draw_comparison(paper: Paper, area: Area, comparison: PatternComparison) -> None:
    """Every random pattern, measured over simulated."""
    name_above(paper, area, "measured over simulated" + ("" if comparison.has_baseline else ", of the fastest"))
    inner = _below_name(area)
    xs, ys = comparison.simulated, comparison.measured
    across, up = (
        Scale(low - 0.06 * (high - low or low or 1), high + 0.06 * (high - low or low or 1), start, end, False)
        for low, high, start, end in (
            (float(xs.min()), float(xs.max()), inner.x, inner.x + inner.width),
            (float(ys.min()), float(ys.max()), inner.y + inner.height, inner.y),
        )
    )
    grid_lines(paper, inner, up, 1.0)
    low, high = max(across.low, up.low / comparison.ratio), min(across.high, up.high / comparison.ratio)
    if high > low:
        ends = ([across.at(low), across.at(high)], [up.at(low * comparison.ratio), up.at(high * comparison.ratio)])
        paper.line(*ends, colour=GREY, width=0.7, dashes=(3, 2))
    red = {one.pattern_index for one in comparison.deviating}
    for index, x, y in zip(comparison.pattern_index.tolist(), xs.tolist(), ys.tolist(), strict=True):
        paper.box(across.at(x) - 0.35, up.at(y) - 0.35, 0.7, 0.7, fill=ALARM if index in red else _BLUE,
                  layer=5 if index in red else 4)  # fmt: skip
    _numbers_below(paper, inner, across, 1.0)


def draw_worst(paper: Paper, area: Area, one: SizeAnalysis) -> None:
    """The steps of the search for bad patterns; red ones were gone on from."""
    steps, unit = one.worst, bandwidth_unit(float(one.worst.bytes_per_s_mean[0]))
    has_ebb = one.ebb.num > 0
    name_above(paper, area, f"search for bad patterns, {unit.name}" + ("; dashed: eBB" if has_ebb else ""))
    inner = _below_name(area)
    means = steps.bytes_per_s_mean.tolist()
    most = max([*(mean for mean in means if mean == mean), *([one.ebb.mean] if has_ebb else [])], default=1.0)
    across = Scale(1, max(len(means), 2), inner.x + 1.5, inner.x + inner.width - 1.5, False)
    up = Scale(0, most * 1.08, inner.y + inner.height, inner.y, False)
    grid_lines(paper, inner, up, unit.scale)
    there = [(across.at(step), up.at(mean), accepted)
             for step, mean, accepted in zip((steps.index + 1).tolist(), means, steps.accepted.tolist(), strict=True)
             if mean == mean]  # fmt: skip
    paper.line([x for x, _, _ in there], [y for _, y, _ in there], colour=_BLUE, width=0.9, layer=4)
    for x, y, accepted in there:
        if accepted:
            paper.box(x - 0.5, y - 0.5, 1.0, 1.0, fill=ALARM, layer=5)
    if has_ebb:
        paper.line([inner.x, inner.x + inner.width], [up.at(one.ebb.mean)] * 2, colour=INK, width=0.8, layer=3,
                   dashes=(3, 2))  # fmt: skip
    ticks = [value for value in nice_values(1, max(len(means), 2), False, 8) if value == round(value)]
    labels_below(paper, inner, [(across.at(value), f"{round(value):,}") for value in ticks])


def draw_places(paper: Paper, area: Area, kind: str, bars: list[Data]) -> None:
    """The share of slow connections of every host or rank."""
    name_above(paper, area, f"share of slow connections, %, over {kind}")
    inner = _below_name(area)
    across = Scale(0, bars[-1]["end"], inner.x, inner.x + inner.width, False)
    up = Scale(0, 1, inner.y + inner.height, inner.y, False)
    grid_lines(paper, inner, up, 0.01)
    for bar in bars:
        if bar["share"]:
            at, end = across.at(bar["begin"]), across.at(bar["end"])
            top = up.at(bar["share"])
            paper.box(at, top, max(end - at - (0.15 if end - at > 0.5 else 0), 0.1), inner.y + inner.height - top,
                      fill=ALARM if bar["slow"] else _BLUE, layer=3)  # fmt: skip
    ticks = [value for value in nice_values(0, bars[-1]["end"], False, 10) if value == round(value) < bars[-1]["end"]]
    labels_below(paper, inner, [(across.at(value + 0.5), f"{round(value):,}") for value in ticks])
