# SPDX-License-Identifier: Apache-2.0
"""Numbers to figure data: pixel positions and ticks of histograms, cumulative distributions and curves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.model import FloatArray
from leadline.stats.distribution import Distribution
from leadline.stats.histogram import Histogram
from leadline.stats.tally import Tally
from leadline.units import Unit, bytes_text, number, plain

_PANEL_HEIGHT = 150.0
_LEAST_HEIGHT = 244.0  # of histogram and cumulative distribution, which stand side by side
_BELOW_PANELS = 44.0  # ticks and the name of the axis
_LEAST_SHARE = 0.001  # lower end of a cumulative distribution: the slow end is what matters
_MOST_SHARES = 6  # ticks on either side of the half
_CUMULATIVE_BINS = 240


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    position: float
    label: str


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram, with the words that the mouse finds on it; `bin` is its place among all bins."""

    bin: int
    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True)
class Panel:
    """One group's histogram."""

    name: str
    num_pairs: int
    top: float
    bottom: float
    bars: tuple[Bar, ...]
    count_ticks: tuple[Tick, ...]
    median_x: float


@dataclass(frozen=True)
class HistogramFigure:
    """Panels one above the other over the same time axis."""

    width: float
    height: float
    left: float
    right: float
    unit: str
    panels: tuple[Panel, ...]
    time_ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class Step:
    """A strip of a cumulative distribution from top to bottom, with the words that the mouse finds on it."""

    x: float
    width: float
    title: str


@dataclass(frozen=True)
class CumulativeFigure:
    """The share of pairs up to a time, for each group; the line is an SVG point list."""

    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    unit: str
    lines: tuple[tuple[str, str], ...]  # name, points
    steps: tuple[Step, ...]
    share_ticks: tuple[Tick, ...]
    time_ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class Curve:
    """A line with its band, as SVG point lists, a line of the fastest, and its points with words."""

    name: str
    line: str
    band: str
    fastest: str
    points: tuple[tuple[float, float, str], ...]


@dataclass(frozen=True)
class CurveFigure:
    """Curves over the message size, both axes logarithmic."""

    title: str
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class SizePoint:
    """What a curve shows of one message size, in the base unit."""

    middle: float
    low: float
    high: float
    fastest: float


@dataclass(frozen=True)
class Axis:
    """Values to pixels."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    def at(self, value: float) -> float:
        """The pixel of a value."""
        low, high, value = (math.log(v) if self.logarithmic else v for v in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 2)


def nice_values(low: float, high: float, logarithmic: bool, most: int = 8) -> list[float]:
    """At most `most` round numbers inside the range."""
    if not low < high:
        return [low]
    if logarithmic and high / low > 8:
        first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
        for steps in ((1, 2, 5), (1, 3), (1,)):
            values = [m * 10.0**e for e in range(first, last + 1) for m in steps]
            values = [value for value in values if low <= value <= high]
            if len(values) <= most:
                return values
        return values[:: -(-len(values) // most)]
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough)
    return [step * k for k in range(math.ceil(low / step), math.floor(high / step * (1 + 1e-12)) + 1)]


def histogram_figure(histogram: Histogram, medians_ns: dict[str, float], unit: Unit) -> HistogramFigure:
    """Counts are logarithmic from 0.5, so that a bin with one pair stands clearly above the axis."""
    width, left, right = 700.0, 84.0, 688.0
    num_panels = max(len(histogram.counts), 1)
    panel_height = max(_PANEL_HEIGHT, (_LEAST_HEIGHT - _BELOW_PANELS) / num_panels)
    edges = histogram.edges / unit.scale
    x = Axis(float(edges[0]), float(edges[-1]), left, right, histogram.logarithmic)
    panels = []
    for index, (name, counts) in enumerate(histogram.counts.items()):
        top, bottom = 30.0 + index * panel_height, (index + 1) * panel_height
        highest = max(int(counts.max(initial=0)), 10)
        y = Axis(0.5, highest * 1.4, bottom, top, True)
        powers = range(math.floor(math.log10(highest)) + 1)
        bars = [
            Bar(place, x.at(low), y.at(count), max(x.at(high) - x.at(low) - 0.6, 1.0), round(bottom - y.at(count), 2),
                f"{count:,} pair{'s' if count > 1 else ''}: {number(low)} to {number(high)} {unit.name}")
            for place, (low, high, count) in enumerate(zip(edges[:-1], edges[1:], counts.tolist(), strict=True))
            if count
        ]  # fmt: skip
        ticks = tuple(Tick(y.at(10.0**power), f"{10**power:,}") for power in powers)
        median = medians_ns[name] / unit.scale
        median_x = x.at(median) if math.isfinite(median) else math.nan
        panels.append(Panel(name, int(counts.sum()), top, bottom, tuple(bars), _thinned(ticks, 5), median_x))
    height = num_panels * panel_height + _BELOW_PANELS
    return HistogramFigure(width, height, left, right, unit.name, tuple(panels), _time_ticks(x, histogram, 8))


def _thinned(ticks: tuple[Tick, ...], most: int) -> tuple[Tick, ...]:
    """Every so many of them that at most `most` remain."""
    return ticks[:: -(-len(ticks) // most)] if ticks else ticks


def _time_ticks(x: Axis, histogram: Histogram, most: int) -> tuple[Tick, ...]:
    return tuple(Tick(x.at(v), plain(v)) for v in nice_values(x.low, x.high, histogram.logarithmic, most))


def cumulative_figure(groups: dict[str, Tally], histogram: Histogram, unit: Unit, height: float) -> CumulativeFigure:
    """The distributions of the groups over the stretch of time of their histogram. Shares are spread so that 90, 99,
    99.9 % ... are equally far apart: the slowest of many pairs stay visible.
    """
    width, left, right, top, bottom = 440.0, 92.0, 428.0, 30.0, height - _BELOW_PANELS
    edges = histogram.edges
    x = Axis(float(edges[0] / unit.scale), float(edges[-1] / unit.scale), left, right, histogram.logarithmic)
    spaced = np.geomspace if histogram.logarithmic else np.linspace
    fine = spaced(edges[0], edges[-1], _CUMULATIVE_BINS + 1)
    fine[0], fine[-1] = edges[0], edges[-1]
    most = max((tally.num_values for tally in groups.values()), default=0)
    least = max(0.5 / max(most, 10), _LEAST_SHARE)
    y = Axis(_logit(least), -_logit(0.5 / max(most, 10)), bottom, top, False)
    lines = tuple((name, _steps(tally.counts(fine), fine / unit.scale, x, y)) for name, tally in groups.items())
    steps = _strips(histogram, x, unit)
    return CumulativeFigure(width, height, left, right, top, bottom, unit.name, lines, steps, _share_ticks(y),
                            _time_ticks(x, histogram, 5))  # fmt: skip


def _logit(share: float) -> float:
    return math.log10(share / (1 - share))


def _steps(counts: np.ndarray, edges: FloatArray, x: Axis, y: Axis) -> str:
    """Flat where no pair is, and rising over the bins that have some."""
    total, below = int(counts.sum()), 0
    points: list[str] = []
    for place in np.flatnonzero(counts).tolist():
        for edge, share in ((edges[place], below), (edges[place + 1], below + int(counts[place]))):
            logit = _logit(min(max(share, 0.25) / total, 1 - 0.25 / total))
            point = f"{x.at(float(edge))},{y.at(min(max(logit, y.low), y.high))}"
            if not points or points[-1] != point:
                points.append(point)
        below += int(counts[place])
    return " ".join(points)


def _share_ticks(y: Axis) -> tuple[Tick, ...]:
    low_side, high_side = (
        [power for power in range(1, 13) if _logit(10.0**-power) >= -end] for end in (-y.low, y.high)
    )
    stride = max(-(-len(high_side) // _MOST_SHARES), 1)
    ticks = [Tick(y.at(_logit(10.0**-power)), f"{plain(10.0 ** (2 - power))} %") for power in reversed(low_side)]
    ticks.append(Tick(y.at(0.0), "50 %"))
    for power in high_side[stride - 1 :: stride] if stride > 1 else high_side:
        nines = "90" if power == 1 else "99" + ("." + "9" * (power - 2) if power > 2 else "")
        ticks.append(Tick(y.at(-_logit(10.0**-power)), f"{nines} %"))
    return tuple(ticks)


def _strips(histogram: Histogram, x: Axis, unit: Unit) -> tuple[Step, ...]:
    edges = histogram.edges / unit.scale
    below = {name: np.cumsum(counts).tolist() for name, counts in histogram.counts.items() if counts.sum()}
    steps = []
    for place in range(len(edges) - 1):
        low, high = float(edges[place]), float(edges[place + 1])
        shares = [f"{name}: {_share_text(sums[place], sums[-1])}" for name, sums in below.items()]
        title = "\n".join([f"at most {number(high)} {unit.name}", *shares])
        steps.append(Step(x.at(low), round(x.at(high) - x.at(low), 2), title))
    return tuple(steps)


def _share_text(num_below: int, num_all: int) -> str:
    slower = num_all - num_below
    return f"all {num_all:,}" if not slower else f"{number(100 * num_below / num_all, 4)} %, {slower:,} slower"


def curve_figure(title: str, unit: Unit, sizes: list[int], groups: dict[str, dict[int, SizePoint]]) -> CurveFigure:
    """A curve a group, of the sizes that have a value."""
    width, height, left, right, top, bottom = 570.0, 330.0, 64.0, 556.0, 34.0, 278.0
    shown = [
        v / unit.scale
        for rows in groups.values()
        for row in rows.values()
        for v in (row.middle, row.low, row.high, row.fastest)
        if math.isfinite(v) and v > 0
    ]
    low, high = (min(shown) / 1.15, max(shown) * 1.15) if shown else (1.0, 10.0)
    positions = {size: math.log2(max(size, 0.5)) for size in sizes}  # a message of no bytes has a place too
    x = Axis(min(positions.values()), max(positions.values()), left + 14, right - 14, False)
    y = Axis(low, high, bottom, top, True)
    curves = []
    for name, rows in groups.items():
        there = sorted(rows.items())
        at = {size: x.at(positions[size]) for size in rows}
        points = tuple((at[size], y.at(row.middle / unit.scale), _words_of(size, row, unit)) for size, row in there)
        upper = [f"{at[size]},{y.at(row.high / unit.scale)}" for size, row in there]
        lower = [f"{at[size]},{y.at(row.low / unit.scale)}" for size, row in reversed(there)]
        fastest = [f"{at[size]},{y.at(row.fastest / unit.scale)}" for size, row in there]
        line = " ".join(f"{px},{py}" for px, py, _ in points)
        curves.append(Curve(name, line, " ".join(upper + lower), " ".join(fastest), points))
    most = 9
    labelled = sizes[:: -(-len(sizes) // most)]
    x_ticks = tuple(Tick(x.at(positions[size]), bytes_text(size)) for size in labelled)
    y_ticks = tuple(Tick(y.at(v), plain(v)) for v in nice_values(low, high, True, 8))
    return CurveFigure(title, width, height, left, right, top, bottom, x_ticks, y_ticks, tuple(curves))


def _words_of(size: int, row: SizePoint, unit: Unit) -> str:
    middle, low, high, fastest = (number(v / unit.scale) for v in (row.middle, row.low, row.high, row.fastest))
    return f"{bytes_text(size)}: {middle} {unit.name} ({low} to {high}), fastest {fastest}"


def spread(distribution: Distribution) -> SizePoint:
    """What a curve shows of a distribution: the median between 5 and 95 %, and the fastest."""
    return SizePoint(distribution.median, distribution.p05, distribution.p95, distribution.min)
