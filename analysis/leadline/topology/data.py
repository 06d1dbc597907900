# SPDX-License-Identifier: Apache-2.0
"""What the script of a topology test's page draws from: the matrices of its messages as in link_data.py, and charts.

Beside what link_data.py has, a part (a topology or a family of stars with one message size) has
  "group_index", "group_name", "relative_to_ns": the median of its messages,
  "slowest": [[from, to, ns]], the slowest messages,
  "ranks": [[rank, own ns or null, bytes/s or null, × as sender or null, × as receiver or null]], the slowest first,
  "hosts": [[host, × as sender or null, × as receiver or null]], the slowest first.
The charts, an object of their own: {
  "groups": [{"name", "hue", "dash", "ways", "channels", "busiest": channels of the busiest rank, "is_family"}],
  "hues": [colour], "sizes": [bytes],
  "rates": [{"group", "size_index", "exchange": TIMES, "with_barrier": TIMES}],
  "centres": [{"group", "size_index", "ranks": [centre], "times_ns": [of its star], "arrivals_ns": [median of the
               messages of its star, or null]}],
  "load": [{"group", "size_index", "points": [[begin_s, elapsed_s, mean ns, max ns]]}],
}
TIMES: {"median", "low", "high": the interval of the median, "mean", "repeats": [median of each]} in ns
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import numpy as np

from leadline.model import ComponentKind, Fault, Statistic
from leadline.report.encode import COARSE_STEP, FINE_STEP, rounded
from leadline.report.matrix_data import (
    BUDGET_BYTES,
    LARGEST_PICTURE,
    SMALLEST_PICTURE,
    data_of_ranks,
    is_other_order,
    matrix_data,
)
from leadline.scan import AxisName
from leadline.topology.analysis import GroupAnalysis, Timing, TopologyGroup
from leadline.topology.load import LoadSeries
from leadline.topology.result import Definition, Topology, TopologyResult
from leadline.units import bandwidth_unit, bytes_text, time_unit

MOST_ROWS = 16  # of a list below the matrix
# Of more ranks, cells of the largest picture would be too many for the few that have messages.
_MANY_RANKS_PICTURE = 512
# Bytes of a cell with messages: its code, and where it stands for several, which of them is the worst.
_CODE_BYTES, _PLACE_BYTES = 1.65, 2.0
_TERMS = {
    "pair": "message", "outside": "no channel", "own": "a rank to itself: no channel", "median": "arrives after",
    "bandwidth": "size ÷ time", "relative": "× the median",
}  # fmt: skip
# Distinguishable for the colour-blind, together with dashes.
HUES = ("#31688e", "#c2570c", "#2c7a4b", "#8250df", "#0e8a9b", "#a5397a", "#8a6d1d", "#57606a", "#b3001b", "#3d5a1e")
_MODES = {"both-ways": "", "answered": "7 4", "phased": "7 4", "one-way": "2 3"}
_DASH_OF_OTHERS = "1 2"
_rounded = partial(rounded, digits=5)


def axes_of(result: TopologyResult, largest_size: int) -> tuple[AxisName, ...]:
    """What stands along the sides of the matrices."""
    num_ranks, num_hosts = result.num_ranks, len(result.hosts)
    axes = [AxisName.RANKS]
    if 1 < num_hosts < num_ranks:
        axes.append(AxisName.HOSTS)
    # Single messages are put into another order by the page's script, reduced ones cannot.
    if is_other_order(result) and num_ranks > largest_size:
        axes.append(AxisName.RANKS_BY_HOST)
    return tuple(axes)


def picture_size(result: TopologyResult, groups: Sequence[TopologyGroup]) -> int:
    """Cells on a side of a picture, so that a page with all sizes of all groups stays small."""
    largest = LARGEST_PICTURE if result.num_ranks <= LARGEST_PICTURE else _MANY_RANKS_PICTURE
    num_messages = [sum(one.num_channels * one.num_ways for one in group.topologies) for group in groups]

    def page_bytes(size: int) -> float:
        of_cell = _CODE_BYTES + (_PLACE_BYTES if size < result.num_ranks else 0)
        return len(result.message_sizes_bytes) * of_cell * sum(min(num, size * size) for num in num_messages)

    fitting = (size for size in range(largest, SMALLEST_PICTURE, -1) if page_bytes(size) <= BUDGET_BYTES)
    return next(fitting, SMALLEST_PICTURE)


def page_of(result: TopologyResult, parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The data of the matrices; parts are those of the analyses that have any traced message."""
    return data_of_ranks(result) | {
        "has_loop": False,
        "num_directions": 1,
        "statistics": [Statistic.MEDIAN.value],
        "first_statistic": Statistic.MEDIAN.value,
        "reductions": ["worst"],
        "served": None,
        "terms": _TERMS,
        "first_part": _most_striking(parts),
        "parts": list(parts),
    }


def _most_striking(parts: Sequence[dict[str, Any]]) -> int:
    """The part that is shown first: where somebody is slowest, else the last."""
    found = [max((ratio for _, ratio in part["slow_hosts"] + part["slow_ranks"]), default=0) for part in parts]
    return found.index(max(found)) if any(found) else max(len(found) - 1, 0)


def _slow(faults: Sequence[Fault], kinds: Sequence[ComponentKind]) -> list[list[float | None]]:
    return [[one.component.first, _rounded(one.ratio)] for one in faults if one.component.kind in kinds]


def part_of(analysis: GroupAnalysis, groups: Sequence[TopologyGroup], faults: Sequence[Fault] = ()) -> dict[str, Any]:
    """One part of that data, of an analysis that has its pictures; `faults`: what the diagnosis says of it."""
    pictures = {picture.grid.axis.name: picture for picture in analysis.pictures}
    step = FINE_STEP if pictures[AxisName.RANKS].grid.edge == 1 else COARSE_STEP
    speed = 1e9 * analysis.message_size_bytes / analysis.median_ns
    return {
        "group_index": groups.index(analysis.group),
        "group_name": analysis.group.name,
        "repeat": 0,
        "repeat_name": "all",
        "size_index": analysis.size_index,
        "size_name": bytes_text(analysis.message_size_bytes),
        "message_size_bytes": analysis.message_size_bytes,
        "time_unit": asdict(time_unit(analysis.median_ns)),
        "bandwidth_unit": asdict(bandwidth_unit(speed)),
        "relative_to_ns": analysis.median_ns,
        "matrices": {
            name.value: matrix_data({Statistic.MEDIAN: picture}, Statistic.MEDIAN, step)
            for name, picture in pictures.items()
        },
        "slow_hosts": _slow(faults, (ComponentKind.HOST, ComponentKind.PORT)),
        "slow_ranks": _slow(faults, (ComponentKind.RANK,)),
        "slow_links": [],
        "standouts": [],
        "num_circled": 0,
        "slowest": [[cell.from_rank, cell.to_rank, _rounded(cell.time_ns)] for cell in analysis.slowest],
        "ranks": _ranks(analysis),
        "hosts": _hosts(analysis),
    }  # fmt: skip


def _ranks(analysis: GroupAnalysis) -> list[list[float | None]]:
    places, own = analysis.ranks, analysis.rank_times_ns
    there = np.flatnonzero(np.isfinite(own) | np.isfinite(places.ratio))
    order = there[np.lexsort((-np.nan_to_num(own[there]), -np.nan_to_num(places.ratio[there])))]
    columns = (own, analysis.rank_rates, places.from_ratio, places.to_ratio)
    return [[rank, *(_rounded(float(column[rank])) for column in columns)] for rank in order[:MOST_ROWS].tolist()]


def _hosts(analysis: GroupAnalysis) -> list[list[float | None]]:
    places = analysis.hosts
    there = np.flatnonzero(np.isfinite(places.ratio))
    order = there[np.argsort(-places.ratio[there], kind="stable")][:MOST_ROWS].tolist()
    return [[host, _rounded(float(places.from_ratio[host])), _rounded(float(places.to_ratio[host]))] for host in order]


def charts_of(
    result: TopologyResult, groups: Sequence[TopologyGroup], analyses: Sequence[GroupAnalysis],
    load: Sequence[LoadSeries],
) -> dict[str, Any]:  # fmt: skip
    """The data of the charts."""
    measured = [analysis for analysis in analyses if analysis.num_measured]
    group_of = {topology.index: place for place, group in enumerate(groups) for topology in group.topologies}
    return {
        "groups": _groups(groups),
        "hues": HUES,
        "sizes": list(result.message_sizes_bytes),
        "rates": [
            {"group": groups.index(one.group), "size_index": one.size_index}
            | {definition.value: _times(one.timings[definition]) for definition in Definition}
            for one in measured
        ],
        "centres": [_centres(one, groups) for one in measured if one.group.is_family],
        "load": [
            {"group": group_of[one.topology.index], "size_index": one.size_index,
             "points": [[_rounded(point.begin_s), _rounded(point.elapsed_s), _rounded(point.time_ns_mean),
                         _rounded(point.time_ns_max)] for point in one.points]}
            for one in load
        ],
    }  # fmt: skip


def _groups(groups: Sequence[TopologyGroup]) -> list[dict[str, Any]]:
    """A hue for those that differ in the mode alone, a line for each mode."""
    hues = hue_numbers([group.first for group in groups])
    return [
        {"name": group.name, "hue": hues[group.first.index],
         "dash": _MODES.get(group.first.mode, _DASH_OF_OTHERS), "ways": group.first.num_ways,
         "channels": group.first.num_channels, "busiest": group.first.max_channels_rank, "is_family": group.is_family}
        for group in groups
    ]  # fmt: skip


def hue_numbers(topologies: Sequence[Topology]) -> dict[int, int]:
    """A number for each topology by its index: the same for those that differ in the mode alone, as star and star2."""
    names = {one.index: _without_mode(one) for one in topologies}
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names.values()))}
    return {index: numbers[name] for index, name in names.items()}


def _without_mode(topology: Topology) -> str:
    word, colon, argument = topology.name.partition(":")
    return topology.shape + colon + argument if word.removesuffix("2") == topology.shape else topology.name


def _times(timing: Timing) -> dict[str, Any]:
    times = timing.times
    return {
        "median": _rounded(times.median), "low": _rounded(times.median_interval_low),
        "high": _rounded(times.median_interval_high), "mean": _rounded(times.mean),
        "repeats": [_rounded(one) for one in timing.repeats_ns],
    }  # fmt: skip


def _centres(analysis: GroupAnalysis, groups: Sequence[TopologyGroup]) -> dict[str, Any]:
    ranks = sorted(centre for centre in analysis.group.centres if math.isfinite(analysis.rank_times_ns[centre]))
    times, arrivals = (
        [_rounded(float(of_ranks[rank])) for rank in ranks] for of_ranks in (analysis.rank_times_ns, analysis.centre_ns)
    )
    return {
        "group": groups.index(analysis.group), "size_index": analysis.size_index, "ranks": ranks, "times_ns": times,
        "arrivals_ns": arrivals,
    }  # fmt: skip
