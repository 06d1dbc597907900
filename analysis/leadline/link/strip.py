# SPDX-License-Identifier: Apache-2.0
"""The small picture of a fault: its rows and columns of the matrix in the matrix's colours, as shapes for SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from leadline.diagnosis.components import Ranks, end_of, is_known, pairs_of
from leadline.draw import colours
from leadline.link.result import LinkResult
from leadline.link.scan.reduce import medians_of_last
from leadline.model import (
    BoolArray,
    Component,
    ComponentKind,
    Fault,
    FaultDirection,
    FloatArray,
    IntArray,
    Slice,
    Statistic,
    Symptom,
)
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
MOST_ROWS = 8
_MOST_CELLS = 128  # along a strip, and some more where stretches of the component begin and end
_MOST_STRETCHES = 24  # beyond that, what belongs to the component stands first
_ROWS_READ = 32  # ranks of a component, of those that have more
_OTHERS_READ = 16  # ranks beside it that are read to compare
_READ_A_CELL = 4  # ranks that stand for those of a cell, where there are more than _ALL_READ
_ALL_READ = 512


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


@dataclass(frozen=True)
class Direction:
    """What the ranks of a component send, or receive."""

    times: FloatArray  # ns, [rows, cells]; NaN = nothing measured
    others: FloatArray  # of ranks beside it, [cells]; empty where there are none
    concerned: BoolArray  # [cells], whether pairs of the component are in the cell


@dataclass(frozen=True)
class StripCells:
    """Both directions over the same cells."""

    widths: IntArray  # [cells], ranks that each stands for
    is_reordered: bool  # the partners that belong to the component stand first
    sent: Direction
    received: Direction


def strip_cells(result: LinkResult, part: Slice, fault: Fault) -> StripCells | None:
    """None where it is not known which ranks belong to the component. Reads parts of a thousand rows at most."""
    ranks, component = Ranks(result), fault.component
    if not is_known(component):
        return None
    own = np.flatnonzero(end_of(ranks, component))
    if not own.size:
        return None
    rows = _spread_out(own, MOST_ROWS if own.size <= MOST_ROWS else _ROWS_READ)
    everyone = np.arange(result.num_ranks)
    belongs: tuple[BoolArray, BoolArray] = (
        np.any(pairs_of(ranks, component, fault.direction, rows, everyone), axis=0),
        np.any(pairs_of(ranks, component, fault.direction, everyone, rows), axis=1),
    )
    order, is_reordered = _order(ranks, belongs[0] | belongs[1])
    cells = _cells(ranks, order, [mask[order] for mask in (*belongs, np.isin(everyone, own))])
    of_cells = [_spread_out(cell, _READ_A_CELL) if result.num_ranks > _ALL_READ else cell for cell in cells]
    others = _others(ranks, component, own)

    def read(is_sent: bool) -> Direction:
        mask = belongs[0] if is_sent else belongs[1]
        times = _read(result, part, fault.symptom, rows, of_cells, is_sent)
        return Direction(
            times=_rows_reduced(times),
            others=medians(_read(result, part, fault.symptom, others, of_cells, is_sent).T),
            concerned=np.array([bool(mask[cell].any()) for cell in cells]),
        )

    return StripCells(
        widths=np.array([cell.size for cell in cells]),
        is_reordered=is_reordered,
        sent=read(True),
        received=read(False),
    )


def statistic_of(result: LinkResult, symptom: Symptom) -> Statistic:
    """That in which a fault shows; a compact result has no means."""
    if symptom is not Symptom.UNSTEADY:
        return Statistic.MEDIAN
    return Statistic.P99 if result.is_compact else Statistic.MEAN


def medians(values: FloatArray) -> FloatArray:
    """Along the last axis without NaN; NaN where nothing is."""
    if not values.shape[-1]:
        return np.empty(0)
    return medians_of_last(values.astype(np.float32)).astype(np.float64)


def _spread_out(ranks: IntArray, most: int) -> IntArray:
    """At most so many of them, at equal distances."""
    if ranks.size <= most:
        return ranks
    return ranks[(np.arange(most) * ranks.size) // most]


def _order(ranks: Ranks, belongs: BoolArray) -> tuple[IntArray, bool]:
    """All ranks host by host; those that belong to the component first where they are strewn."""
    order = np.argsort(ranks.host_of, kind="stable")
    if np.count_nonzero(np.diff(belongs[order])) < _MOST_STRETCHES:
        return order, False
    return order[np.argsort(~belongs[order], kind="stable")], True


def _cells(ranks: Ranks, order: IntArray, masks: list[BoolArray]) -> list[IntArray]:
    """Neighbours that are drawn as one: single ranks, else those of a host, else of several; never on both sides of
    the end of a mask.
    """
    host = ranks.host_of[order]
    begins = np.zeros(order.size, dtype=bool)
    if order.size <= _MOST_CELLS:
        begins[:] = True
    elif host.max() < _MOST_CELLS:
        begins[1:] = np.diff(host) != 0
    else:
        begins[:: -(-order.size // _MOST_CELLS)] = True
    for mask in masks:
        if np.count_nonzero(np.diff(mask)) <= _MOST_STRETCHES:
            begins[1:] |= np.diff(mask)
    begins[0] = False
    return np.split(order, np.flatnonzero(begins))


def _others(ranks: Ranks, component: Component, own: IntArray) -> IntArray:
    """Some ranks that have nothing to do with the component."""
    is_other = np.ones(ranks.host_of.size, dtype=bool)
    is_other[own] = False
    if component.has_two_ends:
        everyone = np.flatnonzero(is_other)
        is_other[everyone] = ~pairs_of(ranks, component, FaultDirection.BOTH, everyone, own).any(axis=1)
    return _spread_out(np.flatnonzero(is_other), _OTHERS_READ)


def _read(
    result: LinkResult, part: Slice, symptom: Symptom, rows: IntArray, cells: list[IntArray], is_sent: bool
) -> FloatArray:
    """Of each row the median of each cell, [rows, cells]: what the ranks send, or what they receive."""
    if not rows.size:
        return np.empty((0, len(cells)))
    partners, dataset = np.concatenate(cells), f"time_ns_{statistic_of(result, symptom).value}"
    if is_sent:
        times = result.read_block(part, dataset, rows, partners)
    else:
        times = result.read_block(part, dataset, partners, rows).T
    if len(cells) == partners.size:
        return times
    ends = np.cumsum([cell.size for cell in cells])[:-1]
    return np.column_stack([medians(block) for block in np.split(times, ends, axis=1)])


def _rows_reduced(times: FloatArray) -> FloatArray:
    """Neighbours together, so that few rows are left."""
    if len(times) <= MOST_ROWS:
        return times
    return np.vstack([medians(rows.T) for rows in np.array_split(times, MOST_ROWS)])
