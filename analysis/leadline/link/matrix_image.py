# SPDX-License-Identifier: Apache-2.0
"""The matrix drawn on paper: cells in colours, labelled axes, marks of what stands out, colour bar, legend."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from leadline.draw import colours
from leadline.draw.plots import nice_values
from leadline.link.analysis import SliceAnalysis
from leadline.link.first_screen import expected_of_cells
from leadline.link.result import LinkResult
from leadline.model import FloatArray
from leadline.report.paper import ALARM, GREY, INK, Paper, shortened, width_mm
from leadline.report.plot_frame import fitting_ticks, round_ticks
from leadline.scan import Axis, AxisName, Picture, Standout, num_circled
from leadline.scan.picture import Float32Array
from leadline.stats.colour_range import ColourRange
from leadline.units import Unit, bandwidth_unit, number, plain, time_unit

LABEL_ROOM_MM = 29.0  # left of a matrix
TICK_ROOM_MM = 6.0  # above it
BAR_ROOM_MM = 13.5  # below it
_LEAST_CELL = 0.7  # mm, of a circled cell
_MOST_OUTLINES = 40
_LEVELS = 200  # of the map; with the special colours fewer than the 256 of an indexed image
_ABOVE, _BELOW, _MISSING, _HATCH, _DIAGONAL, _OUTSIDE = range(_LEVELS, _LEVELS + 6)
_FACTORS = _LEVELS + 6  # of times by expected ones, the first of them
_TICK_SIZE = 6.0  # points
_FEWEST_PIXELS = 1200  # on a side, so that viewers that smooth images have no cells to smear
_MOST_WRITTEN = 12  # ranks, up to which the times stand in the cells


def _palette() -> NDArray[np.uint8]:
    anchors = np.array([_rgb(name) for name in colours.MAP], dtype=np.float64)
    at = np.linspace(0, len(anchors) - 1, _LEVELS)
    levels = [np.interp(at, np.arange(len(anchors)), anchors[:, channel]) for channel in range(3)]
    special = (colours.ABOVE, colours.BELOW, colours.MISSING, colours.HATCH, colours.DIAGONAL, colours.OUTSIDE,
               *(colour for _, colour in colours.FACTORS))  # fmt: skip
    return np.vstack([np.rint(np.column_stack(levels)), [_rgb(name) for name in special]]).astype(np.uint8)


def _rgb(name: str) -> tuple[int, int, int]:
    return int(name[1:3], 16), int(name[3:5], 16), int(name[5:7], 16)


@dataclass(frozen=True)
class Matrix:
    """A picture with all that its drawing needs to know."""

    result: LinkResult
    analysis: SliceAnalysis
    picture: Picture
    times_ns: Float32Array  # of the picture, worst or median
    span: ColourRange
    unit: Unit
    circled: tuple[Standout, ...]
    expected_ns: FloatArray | None = None  # of each cell; None: the colours are those of the times themselves

    @property
    def axis(self) -> Axis:
        """What stands along both sides."""
        return self.picture.grid.axis

    @property
    def size(self) -> int:
        """Cells on a side."""
        return self.picture.grid.size

    @cached_property
    def codes(self) -> NDArray[np.uint8]:
        """Index into the palette of each cell, [G, G]."""
        times, span = self.times_ns.astype(np.float64), self.span
        codes = np.full(times.shape, _OUTSIDE, dtype=np.uint8)
        if self.axis.name is not AxisName.HOSTS and self.picture.grid.edge == 1:
            np.fill_diagonal(codes, _DIAGONAL)
        codes[self.picture.num_missing > 0] = _MISSING
        there = np.isfinite(times)
        values = times[there]
        if self.expected_ns is not None:
            limits = [factor for factor, _ in colours.FACTORS[1:]]
            codes[there] = _FACTORS + np.digitize(values / self.expected_ns[there], limits)
            return codes
        if span.logarithmic:
            shares = np.log(values / span.low) / math.log(span.high / span.low)
        else:
            shares = (values - span.low) / (span.high - span.low)
        levels = np.clip(shares * (_LEVELS - 1) + 0.5, 0, _LEVELS - 1).astype(np.uint8)
        levels[values > span.high] = _ABOVE
        levels[values < span.low] = _BELOW
        codes[there] = levels
        return codes

    @property
    def num_above(self) -> int:
        """Cells that are slower than the range."""
        return int((self.codes == _ABOVE).sum())

    @property
    def num_below(self) -> int:
        """Cells that are faster."""
        return int((self.codes == _BELOW).sum())

    def pixels(self, factor: int, num_stripes: int = 70) -> NDArray[np.uint8]:
        """RGB, each cell factor x factor pixels; where pairs are missing with lines across."""
        codes = np.repeat(np.repeat(self.codes, factor, axis=0), factor, axis=1)
        gaps = self.picture.num_missing > 0
        if gaps.any():
            # Over stretches of cells, so that they are seen where cells are smaller than the pattern.
            at = np.arange(len(codes), dtype=np.int32)
            period = max(len(codes) // max(num_stripes, 1), 4)
            lines = (at[:, None] + at[None, :]) % period < max(period // 5, 1)
            codes[np.repeat(np.repeat(gaps, factor, axis=0), factor, axis=1) & lines] = _HATCH
        return np.asarray(_palette()[codes])


def matrix_of(
    result: LinkResult, analysis: SliceAnalysis, picture: Picture, span: ColourRange,
    expected: tuple[float, float] | None = None,
) -> Matrix:  # fmt: skip
    """A picture of the worst pairs; of hosts that of the medians, since every one of them has some slow pair.
    `expected`: times in ns inside a host and between hosts, by which the colours tell the times.
    """
    times = picture.median if picture.grid.axis.name is AxisName.HOSTS else picture.worst
    circled = analysis.standouts[: num_circled(analysis.standouts)]
    expected_ns = expected_of_cells(result, picture.grid, expected) if expected else None
    return Matrix(result, analysis, picture, times, span, time_unit(analysis.overall.median), circled, expected_ns)


def pixel_factor(size: int) -> int:
    """Pixels on a side of a cell in an image for print."""
    return max(-(-_FEWEST_PIXELS // size), 1)


@dataclass(frozen=True)
class Frame:
    """Where a matrix lies on the paper."""

    matrix: Matrix
    x: float
    y: float
    side: float

    @property
    def step(self) -> float:
        """mm of one position (a rank or a host)."""
        return self.side / (self.matrix.size * self.matrix.picture.grid.edge)

    def rank_at(self, rank: int) -> float:
        """mm from the frame's edge to the middle of the cell of a rank."""
        edge = self.matrix.picture.grid.edge
        return (int(self.matrix.axis.position_of[rank]) // edge + 0.5) * edge * self.step


def draw_matrix(paper: Paper, frame: Frame, factor: int, *, labelled: bool = True) -> None:
    """Cells, outline, marks, and the labels of both axes."""
    x, y, side = frame.x, frame.y, frame.side
    paper.image(frame.matrix.pixels(factor, round(side / 1.5)), x, y, side, side)
    paper.box(x, y, side, side, edge=GREY, line=0.5, layer=4)
    runs = _host_runs(frame.matrix)
    _draw_links(paper, frame, runs)
    _draw_side_marks(paper, frame, runs)
    if labelled:
        _draw_rings(paper, frame)
        _draw_values(paper, frame)
        _draw_rank_labels(paper, frame)
        _draw_host_labels(paper, frame, runs)


def _host_runs(matrix: Matrix) -> list[tuple[int, int, int]]:
    """Stretches of positions of the same host: host, first position, position behind the last."""
    host_at = np.empty(matrix.axis.num_positions, dtype=np.int64)
    host_at[matrix.axis.position_of] = matrix.result.host_index
    starts = [0, *(np.flatnonzero(np.diff(host_at)) + 1).tolist(), len(host_at)]
    return [(int(host_at[a]), a, b) for a, b in itertools.pairwise(starts)]


def _draw_links(paper: Paper, frame: Frame, runs: list[tuple[int, int, int]]) -> None:
    """An outline around the pairs of each link that is slow as a whole; never too small to be seen."""
    if len(runs) > len(frame.matrix.result.hosts):
        return
    place = {host: (first * frame.step, (end - first) * frame.step) for host, first, end in runs}
    for link in frame.matrix.analysis.slow_links[:_MOST_OUTLINES]:
        (top, height), (left, width) = place[link.from_host], place[link.to_host]
        wide, high = max(width + 1.0, 2.2), max(height + 1.0, 2.2)
        corner = (frame.x + left + width / 2 - wide / 2, frame.y + top + height / 2 - high / 2)
        paper.box(*corner, wide, high, edge="white", line=2.2, layer=5)
        paper.box(*corner, wide, high, edge=colours.ABOVE, line=1.0, layer=5.1)


def _draw_rings(paper: Paper, frame: Frame) -> None:
    """Around each circled pair; cells that are too small to be seen are drawn larger inside."""
    matrix, palette = frame.matrix, _palette()
    cell = frame.side / matrix.size
    radius = max(1.5, 0.5 * cell + 0.7) if cell < 6 else 0.42 * cell
    for standout in matrix.circled:
        x, y = frame.rank_at(standout.cell.to_rank), frame.rank_at(standout.cell.from_rank)
        at = (frame.x + x, frame.y + y)
        paper.ring(*at, radius, colour="white", width=2.0)
        paper.ring(*at, radius, colour=INK, width=0.8, layer=5.1)
        if cell < _LEAST_CELL:
            red, green, blue = palette[matrix.codes[int(y / cell), int(x / cell)]].tolist()
            corner = (at[0] - _LEAST_CELL / 2, at[1] - _LEAST_CELL / 2)
            paper.box(*corner, _LEAST_CELL, _LEAST_CELL, fill=f"#{red:02x}{green:02x}{blue:02x}", layer=5.2)


def _draw_side_marks(paper: Paper, frame: Frame, runs: list[tuple[int, int, int]]) -> None:
    """A red bar beside the rows and above the columns of unusual hosts and ranks."""
    analysis = frame.matrix.analysis
    marked = [(first * frame.step, end * frame.step) for host, first, end in runs if host in analysis.slow_hosts]
    if frame.matrix.axis.name is not AxisName.HOSTS:
        half = frame.matrix.picture.grid.edge * frame.step / 2
        marked += [(frame.rank_at(rank) - half, frame.rank_at(rank) + half) for rank in analysis.slow_ranks]
    for low, high in marked:
        middle, length = (low + high) / 2, max(high - low, 0.7)
        paper.box(frame.x - 1.3, frame.y + middle - length / 2, 0.9, length, fill=colours.ABOVE)
        paper.box(frame.x + middle - length / 2, frame.y - 1.3, length, 0.9, fill=colours.ABOVE)


def _draw_values(paper: Paper, frame: Frame) -> None:
    """The times in the cells, where these are few."""
    matrix = frame.matrix
    if matrix.size > _MOST_WRITTEN or matrix.picture.grid.edge > 1:
        return
    cell, palette, codes = frame.side / matrix.size, _palette(), matrix.codes
    for row, column in np.argwhere(np.isfinite(matrix.times_ns)).tolist():
        red, green, blue = palette[codes[row, column]].tolist()
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 140
        shown = float(matrix.times_ns[row, column])
        expected = matrix.unit.scale if matrix.expected_ns is None else float(matrix.expected_ns[row, column])
        text = number(shown / expected, 3)
        middle = (frame.x + (column + 0.5) * cell, frame.y + (row + 0.5) * cell + 0.75)
        if width_mm(text, 6) < 0.9 * cell:
            paper.text(*middle, text, 6, colour="white" if dark else INK, align="center")


def _draw_rank_labels(paper: Paper, frame: Frame) -> None:
    axis, analysis = frame.matrix.axis, frame.matrix.analysis
    last = axis.num_positions - 1
    widest = width_mm(str(last), _TICK_SIZE)
    y = frame.y - 2.0
    for step_mm, across in ((widest + 2.5, True), (2.7, False)):
        step = _round_step(step_mm / frame.step)
        wanted = [(rank, ALARM) for rank in analysis.slow_ranks[:12]]
        wanted += [(position, GREY) for position in range(0, last + 1, step)]
        placed: list[float] = []
        for rank, colour in wanted:
            at = frame.rank_at(rank)
            if any(abs(at - other) < step_mm * 0.9 for other in placed):
                continue
            placed.append(at)
            if across:
                paper.text(frame.x + at, y, str(rank), _TICK_SIZE, colour=colour, align="center")
            else:
                paper.text(frame.x - 2.0, frame.y + at + 0.75, str(rank), _TICK_SIZE, colour=colour, align="right")
    name_y = frame.y - TICK_ROOM_MM + 0.9
    paper.text(frame.x + frame.side / 2, name_y, "to rank", _TICK_SIZE, colour=GREY, align="center")
    paper.text(frame.x - 2.0, y, "from rank", _TICK_SIZE, colour=GREY, align="right")


def _round_step(least: float) -> int:
    power = 1
    while 10 * power <= least:
        power *= 10
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def _draw_host_labels(paper: Paper, frame: Frame, runs: list[tuple[int, int, int]]) -> None:
    """Names of hosts left of the numbers of ranks, first those that stand out, then as many as there is room for."""
    matrix = frame.matrix
    names = short_names(matrix.result.hosts)
    if len(names) < 2:
        return
    right = frame.x - 3.2 - width_mm(str(matrix.axis.num_positions - 1), _TICK_SIZE)
    room = LABEL_ROOM_MM - (frame.x - right) - 0.8
    slow = set(matrix.analysis.slow_hosts)
    stride = max(math.ceil(2.8 / ((runs[-1][2] / len(runs)) * frame.step)), 1)
    placed: list[float] = []
    for host, first, end in [*(run for run in runs if run[0] in slow), *runs[::stride]]:
        low, high = frame.y + first * frame.step, frame.y + end * frame.step
        middle = (low + high) / 2
        # The line below "from rank" is its own.
        if any(abs(middle - other) < 2.6 for other in placed):
            continue
        placed.append(middle)
        colour = ALARM if host in slow else INK
        name = shortened(names[host], room, _TICK_SIZE, bold=host in slow)
        paper.text(right - 0.8, middle + 0.75, name, _TICK_SIZE, colour=colour, bold=host in slow, align="right")
        trim = 0.25 if high - low > 1.2 else 0.0
        paper.line([right, right], [low + trim, high - trim], colour=colour, width=0.6)


def short_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Host names without the domain that all have in common."""
    domains = {name.partition(".")[2] for name in names}
    firsts = [name.partition(".")[0] for name in names]
    is_safe = len(domains) == 1 and all(firsts) and len(set(firsts)) == len(names) and not firsts[0].isdigit()
    return tuple(firsts) if is_safe else names


def draw_colour_bar(paper: Paper, frame: Frame) -> None:
    """Below the matrix: times under the bar, bandwidths above it, blocks of colour for what lies beyond the range."""
    matrix, span = frame.matrix, frame.matrix.span
    if matrix.expected_ns is not None:
        _draw_factor_bar(paper, frame, matrix.expected_ns)
        return
    if not math.isfinite(span.low):
        return
    x, y, width, height = frame.x, frame.y + frame.side + 5.4, frame.side, 2.8
    ends = 5.0
    for colour, at, there in (
        (colours.BELOW, x, matrix.num_below), (colours.ABOVE, x + width - ends + 0.8, matrix.num_above),
    ):  # fmt: skip
        if there:
            paper.box(at, y, ends - 0.8, height, fill=colour, layer=3)
    left, right = x + ends * bool(matrix.num_below), x + width - ends * bool(matrix.num_above)
    paper.image(_palette()[np.arange(_LEVELS)][None, :, :], left, y, right - left, height)
    bar = paper.plot(left, y, right - left, height)
    above = bar.twiny()
    for axes in (bar, above):
        axes.set(yticks=[], xscale="log" if span.logarithmic else "linear", frame_on=False)
        axes.set_xlim(span.low / matrix.unit.scale, span.high / matrix.unit.scale)
    round_ticks(bar.xaxis, 7)
    size = matrix.analysis.part.message_size_bytes
    fastest, slowest = (float(matrix.result.bandwidth_bytes_per_s(t, size)) for t in (span.low, span.high))
    unit = bandwidth_unit(math.sqrt(fastest * slowest))
    name = f"time of a message in {matrix.unit.name}"
    more = ": fast left, slow right"
    has_room = width_mm(name + more, 6) + width_mm("above: bandwidth in MiB/s", 6) + 3 < width
    paper.text(x, y + height + 6.6, name + more if has_room else name, 6, colour=GREY)
    speeds = nice_values(slowest / unit.scale, fastest / unit.scale, slowest * 3 < fastest, 7) if size > 0 else []
    per_time = float(matrix.result.bandwidth_bytes_per_s(matrix.unit.scale, size)) / unit.scale
    fitting_ticks(above, {per_time / speed: plain(speed) for speed in speeds})
    if size > 0:
        paper.text(x + width, y + height + 6.6, f"above: bandwidth in {unit.name}", 6, colour=GREY, align="right")


def _draw_factor_bar(paper: Paper, frame: Frame, expected_ns: FloatArray) -> None:
    """A block for each step of the factor, with its name below; then what is expected."""
    x, y, width, height = frame.x, frame.y + frame.side + 3.0, frame.side, 2.8
    step = width / len(colours.FACTORS)
    for index, (least, colour) in enumerate(colours.FACTORS):
        most = colours.FACTORS[index + 1][0] if index + 1 < len(colours.FACTORS) else math.inf
        name = f"below ×{most:g}" if not least else f"×{least:g} and more" if most == math.inf else f"to ×{most:g}"
        paper.box(x + index * step, y, step, height, fill=colour, edge=GREY, line=0.3)
        paper.text(x + (index + 0.5) * step, y + height + 2.6, name, 6, colour=GREY, align="center")
    at, unit = np.unique(expected_ns).tolist(), frame.matrix.unit
    kinds = ("inside a host ", "between hosts ") if len(at) == 2 else ("",)
    times = ", ".join(f"{kind}{number(time_ns / unit.scale, 3)}" for kind, time_ns in zip(kinds, at, strict=True))
    text = f"time by expected, which is the median without findings: {times} {unit.name}"
    short = text if width_mm(text, 6) < width else f"expected: {times} {unit.name}"
    paper.text(x, y + height + 6.6, short, 6, colour=GREY)


def legend(matrix: Matrix) -> list[tuple[str, str]]:
    """Colour (or a mark's name) and meaning of what the colour bar does not tell; only of what there is."""
    picture, codes = matrix.picture, matrix.codes
    edge, analysis = picture.grid.edge, matrix.analysis
    kind = "pair" if edge == 1 else "cell"
    lines = []
    for colour, num, name in ((colours.ABOVE, matrix.num_above, "slower"), (colours.BELOW, matrix.num_below, "faster")):
        if num:
            lines.append((colour, f"{name} than the range: {num:,} {kind}{'s' if num != 1 else ''}"))
    if edge > 1:
        lines.append(("", f"a cell is the slowest of {edge} × {edge} pairs"))
    if int(picture.num_missing.sum()):
        lines.append(("hatch", f"not measured: {int(picture.num_missing.sum()):,} pairs"))
    if (codes == _OUTSIDE).any():
        lines.append((colours.OUTSIDE, "not in this test"))
    if (codes == _DIAGONAL).any():
        lines.append((colours.DIAGONAL, "a rank to itself: not a pair"))
    if matrix.circled:
        lines.append(("ring", "pair that stands out"))
    if analysis.slow_links:
        lines.append(("outline", "link between hosts that stands out"))
    if analysis.slow_hosts or analysis.slow_ranks:
        lines.append(("bar", "host or rank that stands out"))
    return lines


def draw_legend_mark(paper: Paper, x: float, y: float, mark: str) -> None:
    """A swatch or mark of 3 x 2.2 mm with its lower edge at y."""
    if mark == "ring":
        paper.ring(x + 1.5, y - 1.0, 1.1, colour=INK, width=0.8)
    elif mark == "outline":
        paper.box(x + 0.3, y - 2.1, 2.4, 2.2, edge=colours.ABOVE, line=1.0)
    elif mark == "bar":
        paper.box(x + 1.0, y - 2.2, 0.9, 2.4, fill=colours.ABOVE)
    elif mark == "hatch":
        paper.box(x, y - 2.1, 3, 2.2, fill=colours.MISSING, edge=GREY, line=0.3)
        for at in (0.2, 1.0):
            paper.line([x + at, x + at + 1.8], [y + 0.1, y - 2.1], colour=colours.HATCH, width=0.8)
    elif mark:
        paper.box(x, y - 2.1, 3, 2.2, fill=mark, edge=GREY, line=0.3)
