# SPDX-License-Identifier: Apache-2.0
"""The small picture of a fault: its rows and columns of the matrix in the matrix's colours, as shapes for SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.draw import colours
from leadline.link.result import LinkResult
from leadline.link.strip_cells import StripCells, statistic_of, strip_cells
from leadline.model import BoolArray, ComponentKind, Fault, FloatArray, Slice, Statistic
from leadline.stats.colour_range import ColourRange
from leadline.units import counted

WIDTH = 640.0
OTHERS = "others"
_STEPS = 32  # of the colours
_LEAST_CELL, _LEAST_CONCERNED = 1.5, 16.0  # wide
_ROW_HEIGHTS = (5.0, 14.0)
_HEIGHT = 40.0  # of many rows
_HEIGHT_OF_OTHERS = 10.0
_TIMES = {Statistic.MEDIAN: "Medians", Statistic.MEAN: "Means", Statistic.P99: "99th percentiles"}


@dataclass(frozen=True)
class Band:
    """Rows of cells: a path for each colour, and frames around what belongs to the component (left, width)."""

    label: str
    height: float
    paths: tuple[tuple[str, str], ...]
    frames: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Strip:
    """What the component sends, what others send, and both for what they receive."""

    bands: tuple[Band, ...]
    description: str  # of the picture, for those who do not see it
    caption: str


def strip_of(result: LinkResult, part: Slice, fault: Fault, span: ColourRange) -> Strip | None:
    """None where it is not known which ranks belong to the component."""
    cells = strip_cells(result, part, fault)
    if cells is None:
        return None
    widths = _drawn_widths(cells)
    # Rounded as they are written, so that no gap is left between neighbours.
    edges = np.round(np.concatenate([[0.0], np.cumsum(widths)]), 1)
    name = _name_of_end(result, fault)
    bands = []
    for one, verb in ((cells.sent, "sent by"), (cells.received, "received by")):
        bands.append(_band(f"{verb} {name}", one.times, one.concerned, edges, span))
        if one.others.size:
            bands.append(_band(OTHERS, one.others[None, :], np.zeros_like(one.concerned), edges, span))
    description = f"Rows and columns of {fault.name} in the matrix; {_outlier_text(cells)}"
    return Strip(tuple(bands), description, _caption(result, cells, fault))


def _name_of_end(result: LinkResult, fault: Fault) -> str:
    """The end of the component whose rows are shown, in short."""
    component, hosts = fault.component, result.hosts
    if component.kind in (ComponentKind.RANK, ComponentKind.PAIR):
        return f"rank {component.first}"
    if component.kind in (ComponentKind.SWITCH, ComponentKind.UPLINK, ComponentKind.CABLE):
        return counted(len(component.hosts), "host") + " below"
    if component.kind is ComponentKind.RAIL:
        return f"slot {component.first}"
    if component.kind is ComponentKind.SOCKET:
        return f"socket {component.socket}" + (f" of {hosts[component.first]}" if component.first >= 0 else "")
    return hosts[component.first]


def _caption(result: LinkResult, cells: StripCells, fault: Fault) -> str:
    num_cells = len(cells.widths)
    what = "a rank" if num_cells == result.num_ranks else "neighbouring ranks, their median"
    order = "its partners first" if cells.is_reordered else "host by host"
    times = _TIMES[statistic_of(result, fault.symptom)]
    shown = f"{times} to and from all {result.num_ranks:,} ranks, {order}; a column is {what}."
    return f"{shown} Framed: the pairs of this component."


def _outlier_text(cells: StripCells) -> str:
    """How the component's pairs compare with others."""
    ratios = []
    for one in (cells.sent, cells.received):
        if one.others.size and one.concerned.any():
            own, others = one.times[:, one.concerned], one.others[one.concerned]
            if np.isfinite(own).any() and np.isfinite(others).any():
                ratios.append(float(np.nanmedian(own)) / float(np.nanmedian(others)))
    return f"framed cells take {max(ratios):.3g} times as long as those of others" if ratios else "framed cells"


def _drawn_widths(cells: StripCells) -> FloatArray:
    """By the ranks that a cell stands for, but none so narrow that it is not seen, least of all what is concerned."""
    concerned = cells.sent.concerned | cells.received.concerned
    least = np.where(concerned & (concerned.mean() < 0.5), _LEAST_CONCERNED, _LEAST_CELL)
    widths = np.maximum(cells.widths * WIDTH / cells.widths.sum(), least)
    return np.asarray(widths * WIDTH / widths.sum())


def _band(label: str, times: FloatArray, concerned: BoolArray, edges: FloatArray, span: ColourRange) -> Band:
    height = min(max(_HEIGHT / len(times), _ROW_HEIGHTS[0]), _ROW_HEIGHTS[1])
    height = _HEIGHT_OF_OTHERS if label == OTHERS else height
    parts: dict[str, list[str]] = {}
    for index, row in enumerate(times):
        names = [_colour(value, span) for value in row.tolist()]
        begin = 0
        for end in range(1, len(names) + 1):
            if end < len(names) and names[end] == names[begin]:
                continue
            left, right = edges[begin], edges[end]
            shape = f"M{left:.1f} {index * height:.1f}h{right - left:.1f}v{height:.1f}h{left - right:.1f}z"
            parts.setdefault(names[begin], []).append(shape)
            begin = end
    paths = tuple((colour, "".join(shapes)) for colour, shapes in parts.items())
    return Band(label, height * len(times), paths, _frames(concerned, edges))


def _frames(concerned: BoolArray, edges: FloatArray) -> tuple[tuple[float, float], ...]:
    """Around each stretch."""
    turns = np.flatnonzero(np.diff(np.concatenate([[False], concerned, [False]]).astype(int)))
    return tuple((float(edges[a]), float(edges[b] - edges[a])) for a, b in turns.reshape(-1, 2).tolist())


def _colour(time_ns: float, span: ColourRange) -> str:
    """As on the matrix, in fewer steps."""
    if not math.isfinite(time_ns):
        return colours.OUTSIDE
    if time_ns > span.high:
        return colours.ABOVE
    if time_ns < span.low:
        return colours.BELOW
    if span.logarithmic:
        share = math.log(time_ns / span.low) / math.log(span.high / span.low)
    else:
        share = (time_ns - span.low) / (span.high - span.low)
    return colours.map_colour(round(share * _STEPS) / _STEPS)
