# SPDX-License-Identifier: Apache-2.0
"""The course of a number over time as a small figure: a line over the runs, its levels, and where it changed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from leadline.draw.plots import Axis

_WIDTH, _HEIGHT, _MARGIN = 260.0, 44.0, 5.0
_LEAST_SPAN = 1.1  # of the axis: noise of a per cent does not fill the figure


@dataclass(frozen=True)
class Point:
    """A value, with the strip above and below it that the mouse finds, and the words on it."""

    x: float
    y: float
    left: float
    width: float
    title: str
    is_change: bool  # from this run on the level is another one


@dataclass(frozen=True)
class Sparkline:
    """A line is an SVG point list; a level runs from one change to the next."""

    width: float
    height: float
    line: str
    levels: tuple[tuple[float, float, float], ...]  # x of both ends, y
    points: tuple[Point, ...]


def sparkline(
    times: Sequence[float], values: Sequence[float], titles: Sequence[str], levels: Sequence[tuple[int, float]]
) -> Sparkline:
    """Of values above 0 at these times, of which there is at least one; those of one moment stand side by side. The
    axis of values is logarithmic. `levels`: the index of the value that begins it, and its median.
    """
    if times[0] == times[-1]:
        times = range(len(times))
    x = Axis(times[0], times[-1], _MARGIN, _WIDTH - _MARGIN, False)
    low, high = min(values), max(values)
    spare = max(_LEAST_SPAN * low / high, 1.0) ** 0.5
    y = Axis(low / spare, high * spare, _HEIGHT - _MARGIN, _MARGIN, True)
    at = [(x.at(time), y.at(value)) for time, value in zip(times, values, strict=True)]
    begins = {index for index, _ in levels if index > 0}
    edges = [0.0, *((one[0] + other[0]) / 2 for one, other in itertools.pairwise(at)), _WIDTH]
    points = tuple(
        Point(px, py, round(edges[index], 2), round(edges[index + 1] - edges[index], 2), titles[index], index in begins)
        for index, (px, py) in enumerate(at)
    )
    ends = [*(index - 1 for index, _ in levels[1:]), len(at) - 1][: len(levels)]
    return Sparkline(
        _WIDTH, _HEIGHT, " ".join(f"{px},{py}" for px, py in at),
        tuple((at[index][0], at[end][0], y.at(value)) for (index, value), end in zip(levels, ends, strict=True)),
        points,
    )  # fmt: skip
