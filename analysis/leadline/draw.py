# SPDX-License-Identifier: Apache-2.0
"""Arrays to figure data: pixel positions of plots, ticks, and the matrices as the page's script reads them."""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass

import numpy as np

from leadline.model import BoolArray, FloatArray
from leadline.stats import ColourRange, Distribution, Histogram
from leadline.units import Unit, bytes_text, number, plain

# Bytes of matrices that a page may carry before base64; a browser opens that at once, and it can still be mailed.
PAGE_BUDGET_BYTES = 6 << 20
LARGEST_PICTURE = 512  # cells on a side


@dataclass(frozen=True)
class Tick:
    """A mark on an axis."""

    position: float
    label: str


@dataclass(frozen=True)
class Bar:
    """A bar of a histogram, with the words that the mouse finds on it."""

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
class Curve:
    """A line with its band, as SVG point lists, and its points with words."""

    name: str
    line: str
    band: str
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
    width, panel_height, left, right = 1160.0, 150.0, 64.0, 1140.0
    edges = histogram.edges / unit.scale
    x = Axis(float(edges[0]), float(edges[-1]), left, right, histogram.logarithmic)
    panels = []
    for index, (name, counts) in enumerate(histogram.counts.items()):
        top, bottom = 30.0 + index * panel_height, (index + 1) * panel_height
        highest = max(int(counts.max(initial=0)), 10)
        y = Axis(0.5, highest * 1.4, bottom, top, True)
        powers = range(math.floor(math.log10(highest)) + 1)
        bars = [
            Bar(x.at(low), y.at(count), max(x.at(high) - x.at(low) - 0.6, 1.0), round(bottom - y.at(count), 2),
                f"{count} pair{'s' if count > 1 else ''}: {number(low)} to {number(high)} {unit.name}")
            for low, high, count in zip(edges[:-1], edges[1:], counts.tolist(), strict=True)
            if count
        ]  # fmt: skip
        ticks = tuple(Tick(y.at(10.0**power), f"{10**power:,}") for power in powers)
        median = medians_ns[name] / unit.scale
        median_x = x.at(median) if math.isfinite(median) else math.nan
        panels.append(Panel(name, int(counts.sum()), top, bottom, tuple(bars), ticks, median_x))
    values = nice_values(float(edges[0]), float(edges[-1]), histogram.logarithmic, 12)
    time_ticks = tuple(Tick(x.at(value), plain(value)) for value in values)
    height = len(panels) * panel_height + 44
    return HistogramFigure(width, height, left, right, unit.name, tuple(panels), time_ticks)


def curve_figure(
    title: str, unit: Unit, sizes: list[int], groups: dict[str, list[tuple[float, float, float]]]
) -> CurveFigure:
    """Middle, low and high of every size; sizes without a value are left out of the line."""
    width, height, left, right, top, bottom = 570.0, 330.0, 64.0, 556.0, 34.0, 278.0
    shown = [v / unit.scale for rows in groups.values() for row in rows for v in row if math.isfinite(v) and v > 0]
    low, high = (min(shown) / 1.15, max(shown) * 1.15) if shown else (1.0, 10.0)
    positions = {size: math.log2(max(size, 0.5)) for size in sizes}  # a message of no bytes has a place too
    x = Axis(min(positions.values()), max(positions.values()), left + 14, right - 14, False)
    y = Axis(low, high, bottom, top, True)
    curves = []
    for name, rows in groups.items():
        there = [
            (size, middle / unit.scale, a / unit.scale, b / unit.scale)
            for size, (middle, a, b) in zip(sizes, rows, strict=True)
            if middle > 0
        ]
        points = tuple(
            (
                x.at(positions[size]),
                y.at(middle),
                f"{bytes_text(size)}: {number(middle)} {unit.name} ({number(a)} to {number(b)})",
            )
            for size, middle, a, b in there
        )
        upper = [f"{x.at(positions[size])},{y.at(b)}" for size, _, _, b in there]
        lower = [f"{x.at(positions[size])},{y.at(a)}" for size, _, a, _ in reversed(there)]
        curves.append(Curve(name, " ".join(f"{px},{py}" for px, py, _ in points), " ".join(upper + lower), points))
    most = 9
    labelled = sizes[:: -(-len(sizes) // most)]
    x_ticks = tuple(Tick(x.at(positions[size]), bytes_text(size)) for size in labelled)
    y_ticks = tuple(Tick(y.at(v), plain(v)) for v in nice_values(low, high, True, 8))
    return CurveFigure(title, width, height, left, right, top, bottom, x_ticks, y_ticks, tuple(curves))


def spread(distribution: Distribution) -> tuple[float, float, float]:
    """What a curve shows of a distribution: the median between 5 and 95 %."""
    return distribution.median, distribution.p05, distribution.p95


def packed(values: FloatArray) -> str:
    """Little-endian float32 in base64; NaN stays NaN."""
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode("ascii")


def packed_bits(cells: BoolArray) -> str:
    """Eight cells a byte, the first one in the highest bit, in base64."""
    return base64.b64encode(np.packbits(cells).tobytes()).decode("ascii")


def range_for_script(span: ColourRange) -> dict[str, object] | None:
    """A colour range for the page's script; None where there is no value."""
    if not math.isfinite(span.low):
        return None
    return {"low": span.low, "high": span.high, "logarithmic": span.logarithmic,
            "below": span.num_below, "above": span.num_above}  # fmt: skip


def tile_edge(num_ranks: int, num_matrices: int) -> int:
    """Ranks on a side of a tile, 1 where every cell fits into the page's budget."""
    affordable = math.isqrt(PAGE_BUDGET_BYTES // (4 * max(num_matrices, 1)))
    return -(-num_ranks // max(min(affordable, LARGEST_PICTURE), 64))
