# SPDX-License-Identifier: Apache-2.0
"""What the plots of all sheets have in common: their place on the paper, their name and the ticks of their axes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leadline.draw.plots import nice_values
from leadline.report.paper import GREY, LETTERS, Paper, width_mm
from leadline.units import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

_NAME_ROOM = 2.8  # mm above a plot
_AXIS_ROOM = 6.6  # below it
_COUNT_ROOM = 9.5  # left of it


@dataclass(frozen=True)
class Area:
    """A rectangle on the paper, in mm."""

    x: float
    y: float
    width: float
    height: float


def plot_in(paper: Paper, area: Area, name: str, room: float = _COUNT_ROOM) -> Axes:
    """Axes in a place, with what they show on top; `room` is for numbers on their left, in mm."""
    paper.text(area.x, area.y + 1.0, name, LETTERS + 0.5, colour=GREY)
    height = area.height - _NAME_ROOM - _AXIS_ROOM
    return paper.plot(area.x + room, area.y + _NAME_ROOM, area.width - room - 1.0, height)


def round_ticks(axis: Axis, most: int, *, is_whole: bool = False) -> None:
    """At most so many round values within the limits of the axis."""
    low, high = axis.get_view_interval()
    values = nice_values(low, high, axis.get_scale() == "log", most)
    labels = {
        value: f"{round(value):,}" if is_whole else plain(value)
        for value in values
        if not is_whole or value == round(value)
    }
    if axis is axis.axes.xaxis:
        fitting_ticks(axis.axes, labels)
        return
    axis.set_ticks(list(labels), list(labels.values()))
    axis.set_ticks([], minor=True)


def fitting_ticks(axes: Axes, labels: Mapping[float, str]) -> None:
    """Of the labels of the horizontal axis as many as fit side by side, the outermost ones first."""
    values, mm = sorted(labels), 25.4 / axes.figure.dpi
    placed: dict[float, tuple[float, float]] = {}  # middle and half width
    for value in [*values[:1], *values[-1:], *values[1:-1]]:
        at, half = axes.get_xaxis_transform().transform((value, 0))[0] * mm, width_mm(labels[value], LETTERS) / 2
        if all(abs(at - other) >= half + other_half + 1.4 for other, other_half in placed.values()):
            placed[value] = (at, half)
    axes.set_xticks(list(placed), [labels[value] for value in placed])
    axes.set_xticks([], minor=True)
