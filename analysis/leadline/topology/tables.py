# SPDX-License-Identifier: Apache-2.0
"""The tables of a topology test's report, as text ready to be shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.scan import Cell
from leadline.topology.analysis import GroupAnalysis, own_slowest
from leadline.topology.load import LoadSeries, sums_of
from leadline.topology.result import Definition, TopologyResult
from leadline.topology.text import best_of, median_rates
from leadline.units import (
    Unit,
    amount_text,
    bandwidth_text,
    bandwidth_unit,
    bytes_text,
    in_unit,
    interval_text,
    middle,
    moment_text,
    number,
    time_text,
    time_unit,
)

Row = dict[str, Any]


def key_figures(
    result: TopologyResult, analyses: Sequence[GroupAnalysis], load: Sequence[LoadSeries]
) -> list[tuple[str, str, str, str]]:
    """The large numbers below the headline: each with the definition it leads to, its name, and what else to say."""
    return _of_load(load) if result.is_load else _of_exchanges(result, analyses)


def _of_exchanges(result: TopologyResult, analyses: Sequence[GroupAnalysis]) -> list[tuple[str, str, str, str]]:
    best = best_of(analyses)
    if best is None:
        return []
    rates, where = median_rates(best), f"{best.group.name}, {bytes_text(best.message_size_bytes)}"
    num_measured, num_cells = (sum(getattr(one, name) for one in analyses) for name in ("num_measured", "num_cells"))
    num_groups = len({one.group.name for one in analyses})
    repeats = f" × {result.num_repeats} repeats" if result.num_repeats > 1 else ""
    sizes = len(result.message_sizes_bytes)
    what = f": {num_groups} topologies × {sizes} size{'s' if sizes > 1 else ''}{repeats}" if num_groups > 1 else ""
    fairness = (number(best.fairness, 3), "fairness", "fairness", " there")
    return [
        (bandwidth_text(rates.total), "total", "largest total rate", f": {where}"),
        (bandwidth_text(rates.local), "local", "local rate", " there, through the busiest rank"),
        (bandwidth_text(rates.average), "average", "average rate", " there, of a channel"),
        *([fairness] if math.isfinite(best.fairness) else []),
        (
            f"{num_measured:,}" + (f" of {num_cells:,}" if num_measured < num_cells else ""),
            "cell",
            "measurements",
            what,
        ),
    ]


def _of_load(load: Sequence[LoadSeries]) -> list[tuple[str, str, str, str]]:
    if not load:
        return []
    sums = sums_of(load)
    best = max(load, key=lambda one: one.usual_bytes_per_s)
    worst = max(load, key=lambda one: one.slowdown)
    return [
        (bandwidth_text(best.usual_bytes_per_s), "total", "largest usual total rate", f": {_name_of(best)}"),
        (f"{number(worst.slowdown, 3)} ×", "load", "largest slowdown", f" of a point: {_name_of(worst)}"),
        (f"{number(sums.elapsed_s, 3)} s", "load", "under load", ""),
        (amount_text(sums.num_bytes), "load", "sent", f" in {sums.num_exchanges:,} exchanges"),
        (amount_text(sums.num_verified_bytes), "verified", "compared", " with what was sent"),
    ]


def _name_of(series: LoadSeries) -> str:
    return f"{series.topology.name}, {bytes_text(series.message_size_bytes)}"


def number_table(result: TopologyResult, analyses: Sequence[GroupAnalysis]) -> Row:
    """A row for each topology (or family) and size that was measured."""
    measured = [analysis for analysis in analyses if analysis.num_measured]
    unit = bandwidth_unit(middle([rate for one in measured for rate in _all_rates(one)]))
    times = time_unit(middle([one.timings[Definition.EXCHANGE].times.median for one in measured]))
    rows: list[Row] = []
    for analysis in measured:
        row = _number_row(result, analysis, unit, times)
        row["is_first"] = not rows or rows[-1]["group"] != row["group"]
        rows.append(row)
    return {"unit": unit.name, "time_unit": times.name, "rows": rows}


def _all_rates(analysis: GroupAnalysis) -> tuple[float, float, float]:
    rates = median_rates(analysis)
    return rates.local, rates.total, rates.average


def _number_row(result: TopologyResult, analysis: GroupAnalysis, unit: Unit, times: Unit) -> Row:
    spread = analysis.timings[Definition.EXCHANGE].times
    rates = median_rates(analysis)
    # Of a family the times are medians of stars, and their mean has no meaning.
    mean = math.nan if analysis.group.is_family else analysis.timings[Definition.WITH_BARRIER].times.mean
    low, high = (analysis.rates(time).total for time in (spread.median_interval_high, spread.median_interval_low))
    slowest = own_slowest(analysis).tolist()
    return {
        "group": analysis.group.name, "size_index": analysis.size_index,
        "size": bytes_text(analysis.message_size_bytes), "channels": f"{analysis.group.first.num_channels:,}",
        "total": in_unit(rates.total, unit), "local": in_unit(rates.local, unit),
        "average": in_unit(rates.average, unit), "interval": interval_text(low, high, unit),
        "time": in_unit(spread.median, times), "nettest": in_unit(analysis.rates(mean).total, unit),
        "slowest_rank": _rank(result, analysis, slowest[0], unit) if slowest else None,
        "fastest_rank": _rank(result, analysis, slowest[-1], unit) if slowest else None,
        "slowest_channel": _message(result, analysis, analysis.slowest[0]) if analysis.slowest else None,
        "fairness": number(analysis.fairness, 3),
    }  # fmt: skip


def _rank(result: TopologyResult, analysis: GroupAnalysis, rank: int, unit: Unit) -> Row:
    rate = in_unit(float(analysis.rank_rates[rank]), unit)
    return {"rank": rank, "host": result.ranks[rank].host, "rate": rate}


def _message(result: TopologyResult, analysis: GroupAnalysis, cell: Cell) -> Row:
    return {
        "from": cell.from_rank, "to": cell.to_rank,
        "hosts": f"{result.ranks[cell.from_rank].host} → {result.ranks[cell.to_rank].host}",
        "time": time_text(cell.time_ns), "ratio": number(cell.time_ns / analysis.median_ns, 3),
    }  # fmt: skip


def centre_rows(result: TopologyResult, analysis: GroupAnalysis, most: int) -> list[Row]:
    """Of a family: the slowest centres, slowest first."""
    times, arrivals = analysis.rank_times_ns, analysis.centre_ns
    there = np.flatnonzero(np.isfinite(times))
    order = there[np.argsort(-np.nan_to_num(analysis.ranks.from_ratio[there]), kind="stable")][:most].tolist()
    unit, rates = time_unit(float(np.nanmedian(times))), {rank: analysis.rates(float(times[rank])) for rank in order}
    speed = bandwidth_unit(rates[order[0]].total) if order else bandwidth_unit(math.nan)
    return [
        {"rank": rank, "host": result.ranks[rank].host, "time": f"{in_unit(float(times[rank]), unit)} {unit.name}",
         "arrival": time_text(float(arrivals[rank])),
         "total": f"{in_unit(rates[rank].total, speed)} {speed.name}", "size": bytes_text(analysis.message_size_bytes),
         "ratio": number(float(analysis.ranks.from_ratio[rank]), 3)}
        for rank in order
    ]  # fmt: skip


def load_rows(load: Sequence[LoadSeries]) -> list[Row]:
    """A row for each topology and size that was under load."""
    speed = bandwidth_unit(middle([one.usual_bytes_per_s for one in load]))
    rows = []
    for one in load:
        low = float(one.total_bytes_per_s[one.slowest])
        rows.append({
            "name": one.topology.name, "size": bytes_text(one.message_size_bytes), "unit": speed.name,
            "points": f"{len(one.points):,}",
            "exchanges": f"{sum(point.num_exchanges for point in one.points):,}",
            "verified": f"{sum(point.num_verified for point in one.points):,}",
            "usual": in_unit(one.usual_bytes_per_s, speed), "lowest": in_unit(low, speed),
            "highest": in_unit(float(one.total_bytes_per_s.max()), speed),
            "at": moment_text(one.points[one.slowest].begin_s), "slowdown": number(one.slowdown, 3),
            "longest": time_text(max(point.time_ns_max for point in one.points)), "alarming": one.is_uneven,
        })  # fmt: skip
    return rows
