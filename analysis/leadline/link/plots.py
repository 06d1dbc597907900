# SPDX-License-Identifier: Apache-2.0
"""The plots of a link test's sheet: distribution of the pairs, time and bandwidth over message size."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from leadline.draw.plots import Axis as Scale
from leadline.draw.plots import nice_values
from leadline.link.analysis import SliceAnalysis
from leadline.link.result import LinkResult, PairClass
from leadline.report.paper import GREY, INK, Paper
from leadline.report.plot_frame import LETTERS, Area, inside, labels_below, name_above
from leadline.stats.histogram import histogram
from leadline.stats.tally import Tally
from leadline.units import Unit, bandwidth_unit, bytes_text, plain, time_unit

CLASS_COLOURS = {PairClass.SAME_HOST: "#c25e00", PairClass.BETWEEN_HOSTS: "#2a5f9e"}
_SHARE_ROOM = 12.5  # as wide as 99.9999 %
_STEPS_OF_CURVE = 240
Curves = dict[PairClass, dict[int, tuple[float, ...]]]  # of each class and message size three values
_LEAST_SHARE = 0.005  # the fast end of the cumulative distribution


def draw_distribution(paper: Paper, left: Area, right: Area, analysis: SliceAnalysis, unit: Unit) -> None:
    """The histogram of each class, and beside it how many pairs take at most how long; both have their names on top."""
    groups = {pair_class.value: tally for pair_class, tally in analysis.scan.classes.items()}
    bins = histogram(groups, 60)
    name_above(paper, left, "pairs over time of a message, logarithmic")
    inner = inside(left)
    across = Scale(float(bins.edges[0]), float(bins.edges[-1]), inner.x, inner.x + inner.width, bins.logarithmic)
    height = inner.height / max(len(groups), 1)
    highest = max([10, *(int(counts.max(initial=0)) for counts in bins.counts.values())])
    for index, pair_class in enumerate(analysis.scan.classes):
        top = inner.y + index * height
        panel = Area(inner.x, top + 3.2, inner.width, height - 3.2)
        counts = bins.counts[pair_class.value].tolist()
        up = Scale(0.5, highest * 1.3, panel.y + panel.height, panel.y, True)
        _count_ticks(paper, panel, up, highest)
        for low, high, count in zip(bins.edges[:-1], bins.edges[1:], counts, strict=True):
            if count:
                at, end = across.at(float(low)), across.at(float(high))
                paper.box(at, up.at(count), max(end - at - 0.12, 0.25), panel.y + panel.height - up.at(count),
                          fill=CLASS_COLOURS[pair_class], layer=3)  # fmt: skip
        paper.line([panel.x, panel.x + panel.width], [panel.y + panel.height] * 2, colour=GREY)
        median = analysis.classes[pair_class].median
        if math.isfinite(median):
            paper.line([across.at(median)] * 2, [panel.y, panel.y + panel.height], colour=INK, width=0.8, layer=4)
        name = f"{pair_class.value}: {sum(counts):,} pairs"
        paper.text(panel.x + panel.width, top + 2.2, name, LETTERS, colour=CLASS_COLOURS[pair_class], align="right")
    _time_axis(paper, inner, across, unit)
    _draw_cumulative(paper, right, analysis, unit, (float(bins.edges[0]), float(bins.edges[-1]), bins.logarithmic))


def _draw_cumulative(
    paper: Paper, area: Area, analysis: SliceAnalysis, unit: Unit, stretch: tuple[float, float, bool]
) -> None:
    low, high, logarithmic = stretch
    name_above(paper, area, "share of pairs up to a time")
    inner = inside(area, _SHARE_ROOM)
    across = Scale(low, high, inner.x, inner.x + inner.width, logarithmic)
    most = max((tally.num_values for tally in analysis.scan.classes.values()), default=0)
    end = -_logit(0.5 / max(most, 10))
    up = Scale(max(-end, _logit(_LEAST_SHARE)), end, inner.y + inner.height, inner.y + 1.2, False)
    _share_ticks(paper, inner, up)
    edges = np.geomspace(low, high, _STEPS_OF_CURVE) if logarithmic else np.linspace(low, high, _STEPS_OF_CURVE)
    edges[0], edges[-1] = low, high
    for pair_class, tally in analysis.scan.classes.items():
        if not tally.num_values:
            continue
        counts = np.concatenate([[0], np.cumsum(tally.counts(edges))]) / tally.num_values
        shares = np.clip(counts, 0.25 / tally.num_values, 1 - 0.25 / tally.num_values)
        ys = [up.at(min(max(_logit(float(share)), up.low), up.high)) for share in shares]
        paper.line([across.at(float(edge)) for edge in edges], ys, colour=CLASS_COLOURS[pair_class], width=1.1, layer=4)
    _time_axis(paper, inner, across, unit)


def _logit(share: float) -> float:
    return math.log10(share / (1 - share))


def _share_ticks(paper: Paper, inner: Area, up: Scale) -> None:
    """As on the page 90, 99, 99.9 % ... are equally far apart: the slowest of many pairs stay visible."""
    nines = [("90", 0.1), ("99", 0.01), *(("99." + "9" * (power - 2), 10.0**-power) for power in range(3, 7))]
    shares = [(0.0, "50"), (-_logit(0.1), "90"), *((_logit(10.0**-p), plain(10.0 ** (2 - p))) for p in (1, 2))]
    shares += [(-_logit(rest), text) for text, rest in nines[1:]]
    placed: list[float] = []
    for value, text in shares:
        at = up.at(value)
        if up.low <= value <= up.high and all(abs(at - other) >= 2.5 for other in placed):
            placed.append(at)
            paper.line([inner.x, inner.x + inner.width], [at, at])
            paper.text(inner.x - 1.2, at + 0.75, f"{text} %", LETTERS, colour=GREY, align="right")
    paper.line([inner.x, inner.x + inner.width], [inner.y + inner.height] * 2, colour=GREY)


def sweep_points(analyses: Sequence[SliceAnalysis]) -> Curves:
    """For every class and size in bytes the 5 % quantile, median and 95 % quantile in ns, all repeats together; empty
    where there is one size only.
    """
    if len({analysis.part.message_size_bytes for analysis in analyses}) < 2:
        return {}
    tallies: dict[PairClass, dict[int, Tally]] = {}
    for analysis in analyses:
        for pair_class, tally in analysis.scan.classes.items():
            of_class = tallies.setdefault(pair_class, {})
            of_class.setdefault(analysis.part.message_size_bytes, Tally()).merge(tally)
    return {
        pair_class: {
            size: (numbers.p05, numbers.median, numbers.p95)
            for size, numbers in sorted((size, tally.distribution()) for size, tally in of_class.items())
            if numbers.num_pairs
        }
        for pair_class, of_class in tallies.items()
    }


def draw_sweep(
    paper: Paper, left: Area, right: Area, result: LinkResult,
    points: Curves,
) -> None:  # fmt: skip
    """Time and bandwidth over message size: the median of each class, in a band from 5 to 95 % of its pairs."""
    speeds = {
        pair_class: {
            size: tuple(float(result.bandwidth_bytes_per_s(time, size)) for time in reversed(times))
            for size, times in of_class.items()
            if size > 0
        }
        for pair_class, of_class in points.items()
    }
    middles = [[row[1] for of_class in groups.values() for row in of_class.values()] for groups in (points, speeds)]
    typical = [math.sqrt(min(values) * max(values)) if values else math.nan for values in middles]
    _draw_curves(paper, left, "time", time_unit(typical[0]), points)
    _draw_curves(paper, right, "bandwidth", bandwidth_unit(typical[1]), speeds)


def _draw_curves(paper: Paper, area: Area, what: str, unit: Unit, curves: Curves) -> None:
    name_above(paper, area, f"{what} over size, {unit.name}")
    inner = inside(area)
    sizes = sorted({size for of_class in curves.values() for size in of_class})
    values = [value for of_class in curves.values() for row in of_class.values() for value in row]
    if len(sizes) < 2 or not values:
        return
    where = {size: math.log2(max(size, 0.5)) for size in sizes}  # a message of no bytes has a place too
    across = Scale(where[sizes[0]], where[sizes[-1]], inner.x + 1.5, inner.x + inner.width - 1.5, False)
    low, high = min(values) / 1.15, max(values) * 1.15
    up = Scale(low, high, inner.y + inner.height, inner.y + 1.2, True)
    for value in nice_values(low / unit.scale, high / unit.scale, True, 5):
        at = up.at(value * unit.scale)
        paper.line([inner.x, inner.x + inner.width], [at, at])
        paper.text(inner.x - 1.2, at + 0.75, plain(value), LETTERS, colour=GREY, align="right")
    paper.line([inner.x, inner.x + inner.width], [inner.y + inner.height] * 2, colour=GREY)
    for pair_class, of_class in curves.items():
        colour = CLASS_COLOURS[pair_class]
        xs = [across.at(where[size]) for size in of_class]
        lower, middle, upper = ([up.at(row[index]) for row in of_class.values()] for index in range(3))
        paper.area([*xs, *reversed(xs)], [*upper, *reversed(lower)], fill=colour, opacity=0.18)
        paper.line(xs, middle, colour=colour, width=1.1, layer=4)
        for x, y in zip(xs, middle, strict=True):
            paper.box(x - 0.45, y - 0.45, 0.9, 0.9, fill=colour, layer=5)
    labels_below(paper, inner, [(across.at(where[size]), bytes_text(size)) for size in sizes])


def _count_ticks(paper: Paper, panel: Area, up: Scale, highest: int) -> None:
    """Powers of ten from a single pair on, no closer than letters are high."""
    powers = range(math.floor(math.log10(highest)) + 1)
    stride = max(math.ceil(2.6 / max(up.at(1) - up.at(10), 0.01)), 1)
    for power in powers[::stride]:
        at = up.at(10.0**power)
        paper.line([panel.x, panel.x + panel.width], [at, at])
        paper.text(panel.x - 1.2, at + 0.75, _short_count(10**power), LETTERS, colour=GREY, align="right")


def _short_count(count: int) -> str:
    if count >= 1_000_000:
        return f"{count // 1_000_000} M"
    return f"{count:,}"


def _time_axis(paper: Paper, inner: Area, across: Scale, unit: Unit) -> None:
    ticks = nice_values(across.low / unit.scale, across.high / unit.scale, across.logarithmic, 8)
    labels_below(paper, inner, [(across.at(value * unit.scale), plain(value)) for value in ticks], unit.name)
