# SPDX-License-Identifier: Apache-2.0
"""What the script of a link test's page draws from: one JSON object, made here and read by templates/source.js.

{
  "num_ranks": N, "hosts": [name of each host], "host_of": [host of each rank], "socket_of": [NUMA node of each rank,
  -1 = unknown] or null where none is known, "has_loop": the diagonal is a measurement, "num_directions": 1 or 2,
  "statistics": ["median", ...], "first_statistic": "median",
  "reductions": ["worst", "median"], what a pixel shows of several pairs, "notes": [what was left out of the page],
  "colours": {"map": [...], "above", "below", "missing", "hatch", "diagonal", "outside"},
  "order_by_host": [rank at each position], only where that is another order than that of the ranks,
  "order_by_network": the same by the switches of the network, only where the file has one,
  "terms": words in place of the script's own (page.js), only where there are some,
  "served": null, or {"key": secret of the server} where matrices come from the server in tiles (view/__init__.py),
  "parts": [{
    "repeat", "repeat_name", "size_index", "size_name", "message_size_bytes",
    "time_unit": {"name", "scale"}, "bandwidth_unit": {"name", "scale"},
    "count": batches of every pair where all have the same number, else absent,
    "matrices": {"ranks": MATRIX, "ranks-by-host": MATRIX (only where another order, and not where cells are single
                 pairs: the script orders those itself), "hosts": MATRIX (only where several ranks share a host)},
    "slow_hosts": [[host, ratio]], "slow_ranks": [[rank, ratio]], "slow_links": [[from host, to host, ratio]],
    "standouts": [{"from", "to", "ratio", "time_ns": {statistic: exact time, ...}, "count", "round"}], most striking
                  first; the first ones have all of these,
    "num_circled": how many of the standouts are circled
  }]
}
MATRIX: see matrix_data.py.
Served: "pictures" and the other arrays are absent; "edges": [1, 2, 4, ...] are the edges that the server has tiles of,
"num_missing" and "num_outside" the pairs that are missing and that were not to be measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from leadline.link import text as link_text
from leadline.link.analysis import SliceAnalysis
from leadline.link.result import LinkResult
from leadline.link.scan import pictures
from leadline.model import Progress, Slice, Statistic
from leadline.report.encode import COARSE_STEP, FINE_STEP, packed_ints
from leadline.report.matrix_data import (
    BUDGET_BYTES,
    LARGEST_PICTURE,
    SMALLEST_PICTURE,
    data_of_ranks,
    is_other_order,
    matrix_data,
    range_of,
)
from leadline.scan import AxisName, Grid, Picture, Standout, axis_of, edge_for, num_circled
from leadline.units import bandwidth_unit, bytes_text, time_unit

# The parts of the page's script, in the order in which they stand in its one function.
SCRIPTS = (
    "page.js", "numbers.js", "colours.js", "source.js", "served.js", "heatmap.js", "labels.js", "axes.js", "legend.js",
    "expected.js", "marks.js", "findings.js", "tooltip.js", "matrix_view.js", "view_state.js", "report.js",
)  # fmt: skip

# Beyond so many ranks a page may be larger.
MANY_RANKS = 8192
BUDGET_BYTES_MANY_RANKS = 5_300_000
# Bytes of a code, measured on times that scatter by 5 %: deflating leaves their noise.
_FINE_CODE_BYTES = 1.65
_COARSE_CODE_BYTES = 1.15
_MOST_EXACT = 60  # standouts that have all their statistics
_TILE = 256


@dataclass(frozen=True)
class PagePlan:
    """What a page shall carry. Its axes and largest_size are for analyse()."""

    statistics: tuple[Statistic, ...]
    first_statistic: Statistic
    axes: tuple[AxisName, ...]
    largest_size: int  # cells on a side of a picture
    step: float  # of the logarithm of a time
    budget_bytes: int
    served_key: str | None = None


def plan_page(
    result: LinkResult, num_parts: int, first_statistic: Statistic = Statistic.MEDIAN, served_key: str | None = None
) -> PagePlan:
    """All statistics of all pairs where a page of so many slices holds them; else the first statistic and the
    maximum (of a compact result p99), of every pair or of the worst pair of each cell of a reduced picture.
    """
    num_ranks, num_hosts = result.num_ranks, len(result.hosts)
    by_host = is_other_order(result)
    axes = [AxisName.RANKS]
    if 1 < num_hosts < num_ranks:
        axes.append(AxisName.HOSTS)
    budget = BUDGET_BYTES if num_ranks <= MANY_RANKS else BUDGET_BYTES_MANY_RANKS
    longest = Statistic.MAX if Statistic.MAX in result.statistics else Statistic.P99
    everything, little = result.statistics, tuple(dict.fromkeys((first_statistic, longest)))
    hosts_cells = num_hosts**2 if AxisName.HOSTS in axes else 0

    def cost(statistics: int, code_bytes: float) -> float:
        return num_parts * statistics * code_bytes * (num_ranks**2 + 3 * hosts_cells)

    def plan(statistics: tuple[Statistic, ...], size: int, step: float) -> PagePlan:
        # Single pairs are put into another order by the page's script, reduced ones cannot.
        more = (AxisName.RANKS_BY_HOST,) if by_host and (served_key or num_ranks > size) else ()
        return PagePlan(statistics, first_statistic, (*axes, *more), size, step, budget, served_key)

    if served_key is not None:
        return plan(everything, LARGEST_PICTURE, COARSE_STEP)
    if num_ranks <= LARGEST_PICTURE and cost(len(everything), _FINE_CODE_BYTES) <= budget:
        return plan(everything, LARGEST_PICTURE, FINE_STEP)
    if num_ranks <= LARGEST_PICTURE and cost(len(little), _COARSE_CODE_BYTES) <= budget:
        return plan(little, LARGEST_PICTURE, COARSE_STEP)
    fitting = (
        size
        for size in range(LARGEST_PICTURE, SMALLEST_PICTURE, -1)
        if num_parts * _reduced_bytes(num_ranks, num_hosts, size, by_host) <= budget
    )
    return plan(little, next(fitting, SMALLEST_PICTURE), COARSE_STEP)


def page_data(
    result: LinkResult, analyses: Sequence[SliceAnalysis], plan: PagePlan, progress: Progress | None = None
) -> dict[str, Any]:
    """The page's JSON about these slices, analysed with the axes and the largest size of the plan. Reads the matrices
    of the other statistics once each, and some rows.
    """
    page = data_of_ranks(result) | {
        "has_loop": bool(analyses) and analyses[0].scan.num_to_measure == 1,
        "num_directions": 2 if result.provenance.direction == "bidirectional" else 1,
        "statistics": [statistic.value for statistic in plan.statistics],
        "first_statistic": plan.first_statistic.value,
        "reductions": ["worst", "median"],
        "notes": _notes(result, plan),
        "served": {"key": plan.served_key} if plan.served_key is not None else None,
        "parts": [_part(result, analysis) for analysis in analyses],
    }
    if result.network_groups:
        keys = [of_level[result.host_index] for of_level in map(np.asarray, result.network_groups)]
        page["order_by_network"] = np.lexsort((result.host_index, *keys)).tolist()
    if any(analysis.is_diagnosed for analysis in analyses):
        page["is_diagnosed"] = True
        # Whole switches may be at fault, which the list above the matrix says.
        page["terms"] = {"nothing": "No single host, rank, link or pair."}
    num_steps = len(analyses) * len(plan.statistics)
    for index, (analysis, part) in enumerate(zip(analyses, page["parts"], strict=True)):

        def step_done(number: int, index: int = index) -> None:
            if progress:
                progress((index * len(plan.statistics) + number) / num_steps)

        if plan.served_key is None:
            _add_matrices(result, analysis, plan, part, step_done)
        else:
            _add_served(result, analysis, plan, part)
    return page


def _reduced_bytes(num_ranks: int, num_hosts: int, size: int, by_host: bool) -> float:
    """What the pictures of a slice take, of two statistics and about."""

    def of_axis(num_positions: int, ranks_a_position: float) -> float:
        if num_positions < 2:
            return 0.0
        edge = edge_for(num_positions, size)
        places = 2 * math.log2(max(edge * ranks_a_position, 1)) / 8 * 1.15
        return float(-(-num_positions // edge)) ** 2 * (3 * _COARSE_CODE_BYTES + 2 * places)

    of_ranks = of_axis(num_ranks, 1) * (2 if by_host else 1)
    return of_ranks + (of_axis(num_hosts, num_ranks / num_hosts) if num_hosts < num_ranks else 0)


def _notes(result: LinkResult, plan: PagePlan) -> list[str]:
    if plan.served_key is not None or len(plan.statistics) == len(result.statistics):
        return []
    names = " and ".join(statistic.value for statistic in plan.statistics)
    edge = edge_for(result.num_ranks, plan.largest_size)
    reduced = f"A cell of the matrix is {edge} × {edge} pairs and shows the worst of them, which it also names. "
    little = f"To keep the page small it has only {names} of the pairs; leadline view has everything."
    return [reduced + little if edge > 1 else little]


def _part(result: LinkResult, analysis: SliceAnalysis) -> dict[str, Any]:
    part = analysis.part
    typical = analysis.overall.median
    speed = float(result.bandwidth_bytes_per_s(typical, part.message_size_bytes))
    return {
        "repeat": part.repeat,
        "repeat_name": link_text.repeat_name(result, part),
        "size_index": part.size_index,
        "size_name": bytes_text(part.message_size_bytes),
        "message_size_bytes": part.message_size_bytes,
        "time_unit": asdict(time_unit(typical)),
        "bandwidth_unit": asdict(bandwidth_unit(speed)),
        "matrices": {},
        "slow_hosts": [[host, _rounded(analysis.host_ratio(host))] for host in analysis.slow_hosts],
        "slow_ranks": [[rank, _rounded(analysis.rank_ratio(rank))] for rank in analysis.slow_ranks],
        "slow_links": [[link.from_host, link.to_host, _rounded(link.ratio)] for link in analysis.slow_links],
        "standouts": _standouts(result, part, analysis.standouts),
        "num_circled": num_circled(analysis.standouts),
    }


def _rounded(ratio: float) -> float:
    return float(f"{ratio:.4g}")


def _standouts(result: LinkResult, part: Slice, standouts: Sequence[Standout]) -> list[dict[str, Any]]:
    has_rounds = part.repeat in result.repeats_with_rounds
    names = {statistic.value: f"time_ns_{statistic.value}" for statistic in result.statistics}
    found = []
    for index, one in enumerate(standouts):
        cell = one.cell
        entry: dict[str, Any] = {
            "from": cell.from_rank, "to": cell.to_rank, "ratio": _rounded(one.ratio),
            "time_ns": {Statistic.MEDIAN.value: cell.time_ns},
        }  # fmt: skip
        if index < _MOST_EXACT:
            for statistic, dataset in names.items():
                time_ns = _one_cell(result, part, dataset, cell.from_rank, cell.to_rank)
                if math.isfinite(time_ns):
                    entry["time_ns"][statistic] = time_ns
            entry["count"] = int(_one_cell(result, part, "count", cell.from_rank, cell.to_rank))
            if has_rounds:
                entry["round"] = int(_one_cell(result, part, "round", cell.from_rank, cell.to_rank))
        found.append(entry)
    return found


def _one_cell(result: LinkResult, part: Slice, dataset: str, row: int, column: int) -> float:
    return float(result.read_block(part, dataset, np.array([row]), np.array([column]))[0, 0])


def _grids(result: LinkResult, plan: PagePlan) -> list[Grid]:
    axes = [axis_of(result, name) for name in plan.axes]
    return [Grid(axis, edge_for(axis.num_positions, plan.largest_size)) for axis in axes]


def _pictures_of(
    result: LinkResult, analysis: SliceAnalysis, plan: PagePlan, statistic: Statistic
) -> dict[AxisName, Picture]:
    if statistic is Statistic.MEDIAN:
        return {name: analysis.pictures[name] for name in plan.axes}
    found = pictures(result, analysis.part, statistic, _grids(result, plan))
    return {picture.grid.axis.name: picture for picture in found}


def _add_matrices(
    result: LinkResult, analysis: SliceAnalysis, plan: PagePlan, part: dict[str, Any], step_done: Any
) -> None:
    found = {}
    for index, statistic in enumerate(plan.statistics):
        found[statistic] = _pictures_of(result, analysis, plan, statistic)
        step_done(index + 1)
    for name in plan.axes:
        of_axis = {statistic: of_axes[name] for statistic, of_axes in found.items()}
        part["matrices"][name.value] = matrix_data(of_axis, plan.first_statistic, plan.step)
    ranks = part["matrices"][AxisName.RANKS.value]
    if ranks["edge"] == 1:
        _add_pair_facts(result, analysis.part, part, ranks)


def _add_pair_facts(result: LinkResult, of: Slice, part: dict[str, Any], matrix: dict[str, Any]) -> None:
    """Batches and rounds of single pairs, only where these are few enough to be cells."""
    counts = result.count(of)
    there = np.unique(counts[np.isfinite(counts) & (counts > 0)])
    if there.size == 1:
        part["count"] = int(there[0])
    elif there.size:
        matrix["counts"] = packed_ints(np.nan_to_num(counts).astype(np.int64)).fields
    if of.repeat in result.repeats_with_rounds:
        rounds = np.nan_to_num(result.read_rows(of, "round", 0, result.num_ranks))
        matrix["rounds"] = packed_ints(rounds.astype(np.int64)).fields


def _add_served(result: LinkResult, analysis: SliceAnalysis, plan: PagePlan, part: dict[str, Any]) -> None:
    scan, num_ranks = analysis.scan, result.num_ranks
    num_outside = num_ranks**2 - scan.num_to_measure - (num_ranks if scan.num_to_measure > 1 else 0)
    for grid in _grids(result, plan):
        edges = [1]
        while -(-grid.axis.num_positions // edges[-1]) > _TILE:
            edges.append(2 * edges[-1])
        span = range_of(analysis.pictures[grid.axis.name])
        ranges = {statistic.value: span if statistic is Statistic.MEDIAN else None for statistic in result.statistics}
        part["matrices"][grid.axis.name.value] = {
            "positions": grid.axis.num_positions, "edge": 1, "size": grid.axis.num_positions, "edges": edges,
            "ranges": ranges, "num_missing": scan.num_missing, "num_outside": num_outside,
        }  # fmt: skip
