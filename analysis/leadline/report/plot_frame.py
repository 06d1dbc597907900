# SPDX-License-Identifier: Apache-2.0
"""What the plots of all sheets have in common: their place on the paper, their name, grid and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leadline.draw.plots import Axis as Scale
from leadline.draw.plots import nice_values
from leadline.report.paper import GREY, Paper, width_mm
from leadline.units import plain

LETTERS = 6.0  # points, of all letters in plots
_AXIS_ROOM = 6.6  # mm below a plot
_COUNT_ROOM = 9.5  # mm left of one


@dataclass(frozen=True)
class Area:
    """A rectangle on the paper, in mm."""

    x: float
    y: float
    width: float
    height: float


def inside(area: Area, room: float = _COUNT_ROOM) -> Area:
    """What is left of a place for the plot itself: `room` is for numbers on its left."""
    return Area(area.x + room, area.y + 1.6, area.width - room - 1.0, area.height - 1.6 - _AXIS_ROOM)


def name_above(paper: Paper, area: Area, text: str) -> None:
    """What a plot shows, on top of it."""
    paper.text(area.x, area.y + 1.0, text, LETTERS + 0.5, colour=GREY)


def grid_lines(paper: Paper, inner: Area, up: Scale, scale: float, is_whole: bool = False) -> None:
    """Lines at round values with their numbers beside them, and the axis below. `scale`: of a value to its number."""
    for value in nice_values(up.low / scale, up.high / scale, up.logarithmic, 5):
        if is_whole and value != round(value):
            continue
        at = up.at(value * scale)
        paper.line([inner.x, inner.x + inner.width], [at, at])
        paper.text(inner.x - 1.2, at + 0.75, f"{round(value):,}" if is_whole else plain(value), 6, colour=GREY,
                   align="right")  # fmt: skip
    paper.line([inner.x, inner.x + inner.width], [inner.y + inner.height] * 2, colour=GREY)


def labels_below(paper: Paper, inner: Area, ticks: Sequence[tuple[float, str]], unit: str = "") -> None:
    """Below the axis as many as fit side by side, the outermost ones first."""
    y = inner.y + inner.height
    placed: list[tuple[float, float]] = []  # middle and half width
    for at, text in [*ticks[:1], *ticks[-1:], *ticks[1:-1]]:
        half = width_mm(text, LETTERS) / 2
        if any(abs(at - other) < half + other_half + 1.4 for other, other_half in placed):
            continue
        placed.append((at, half))
        paper.line([at, at], [y, y + 0.9], colour=GREY)
        paper.text(at, y + 3.2, text, LETTERS, colour=GREY, align="center")
    if unit:
        paper.text(inner.x + inner.width, y + 5.7, unit, LETTERS, colour=GREY, align="right")
