# SPDX-License-Identifier: Apache-2.0
"""The tables of a link test's report about one slice, as text ready to be shown; page and sheet have the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from leadline.link import text as link_text
from leadline.link.analysis import JudgedPair, Side, SliceAnalysis, Verdict
from leadline.link.result import LinkResult, Spread
from leadline.model import Slice
from leadline.scan import SLOW_FACTOR
from leadline.stats.distribution import Distribution
from leadline.text import run as run_text
from leadline.units import Unit, bandwidth_text, bandwidth_unit, bytes_text, in_unit, interval_text, number, time_text
from leadline.units import time_unit as time_unit_for

MOST_ROWS = 32  # of a table; the slowest ones are kept
MOST_RETESTS = 100
# Of a class of pairs: which number, its title, and the definition that explains it.
SHOWN_NUMBERS = (
    ("min", "min", "extremes"), ("p05", "5 %", "quantile"), ("median", "median", "median"),
    ("interval", "95 % interval", "interval"), ("mean", "mean", "mean"), ("p95", "95 %", "quantile"),
    ("p99", "99 %", "quantile"), ("p999", "99.9 %", "quantile"), ("max", "max", "extremes"),
)  # fmt: skip

Row = dict[str, Any]


def units_of(result: LinkResult, analysis: SliceAnalysis) -> tuple[Unit, Unit]:
    """One unit for all times of a slice, and one for all its bandwidths."""
    typical = analysis.overall.median
    speed = float(result.bandwidth_bytes_per_s(typical, analysis.part.message_size_bytes))
    return time_unit_for(typical), bandwidth_unit(speed)


def tables_of(result: LinkResult, analysis: SliceAnalysis) -> dict[str, Any]:
    """All rows about one slice, its key figures, and how many rows were left out of each table."""
    unit, speed_unit = units_of(result, analysis)
    part, hosts = analysis.part, result.hosts
    return {
        "repeat": part.repeat, "size_index": part.size_index, "name": link_text.part_name(result, part),
        "unit": unit.name, "bandwidth_unit": speed_unit.name,
        **_key_figures(result, analysis, unit),
        "rows": class_rows(result, analysis), "numbers": SHOWN_NUMBERS,
        "together": together_rows(result, part),
        "pairs": [_pair_row(result, pair, unit) for pair in analysis.pairs[:MOST_RETESTS]],
        "num_pairs_left_out": max(len(analysis.pairs) - MOST_RETESTS, 0),
        "links": _link_rows(result, analysis, unit),
        "num_links_left_out": max(len(analysis.slow_links) - MOST_ROWS, 0),
        "standouts": _standout_rows(result, analysis, unit),
        "num_standouts_left_out": max(len(analysis.standouts) - MOST_ROWS, 0),
        "hosts": _host_rows(result, analysis, unit), "num_hosts_left_out": max(len(hosts) - MOST_ROWS, 0),
        "ranks": _rank_rows(result, analysis, unit), "num_ranks_left_out": max(result.num_ranks - MOST_ROWS, 0),
        "slowest_sender": _slowest(result, analysis.ranks, "from_ratio"),
        "slowest_receiver": _slowest(result, analysis.ranks, "to_ratio"),
    }  # fmt: skip


def _key_figures(result: LinkResult, analysis: SliceAnalysis, unit: Unit) -> dict[str, Any]:
    overall = analysis.overall
    interval = interval_text(overall.median_interval_low, overall.median_interval_high, unit)
    speed = float(result.bandwidth_bytes_per_s(overall.median, analysis.part.message_size_bytes))
    num_loops = analysis.scan.num_to_measure if link_text.is_loop_to_itself([analysis]) else 0
    return {
        "median": time_text(overall.median), "p99": time_text(overall.p99), "max": time_text(overall.max),
        "interval": f"{interval} {unit.name}" if overall.num_pairs else "–",
        "bandwidth": bandwidth_text(speed),
        "num_pairs": overall.num_pairs,
        "slowdown": number(overall.max / overall.median, 3),
        "missing": analysis.scan.num_missing,
        "num_others": result.num_ranks * (result.num_ranks - 1) - (analysis.scan.num_to_measure - num_loops),
    }  # fmt: skip


def class_rows(result: LinkResult, analysis: SliceAnalysis) -> list[Row]:
    """The distribution of all pairs, and where there are several classes of each."""
    unit, speed_unit = units_of(result, analysis)
    groups: dict[str, Distribution] = {"all pairs": analysis.overall}
    if len(analysis.classes) > 1:
        groups |= {pair_class.value: numbers for pair_class, numbers in analysis.classes.items()}
    rows = []
    for name, numbers in groups.items():
        speed = float(result.bandwidth_bytes_per_s(numbers.median, analysis.part.message_size_bytes))
        rows.append({
            "name": name, "num_pairs": numbers.num_pairs, "bandwidth": in_unit(speed, speed_unit),
            **{key: in_unit(getattr(numbers, key), unit) for key, _, _ in SHOWN_NUMBERS if key != "interval"},
            "interval": interval_text(numbers.median_interval_low, numbers.median_interval_high, unit),
        })  # fmt: skip
    return rows


def together_rows(result: LinkResult, part: Slice) -> list[Row]:
    """What only some runs measure, of many pairs together: bandwidth across a cut, exchanges of all with all."""
    rows = []
    if across := result.bisection_bytes_per_s.get(part):
        rows.append(_together_row("bisection", "bisection bandwidth", part.message_size_bytes, across, "round"))
    if exchanges := result.all_to_all.get(part):
        for when, spread, value_of in (
            ("before the rounds", exchanges.before, "rank"),
            ("after the rounds", exchanges.after, "rank"),
            ("before each round", exchanges.each_round, "exchange"),
        ):
            if spread:
                size = exchanges.message_size_bytes
                rows.append(_together_row("all-to-all", f"all-to-all {when}", size, spread, value_of))
    return rows


def _together_row(term: str, name: str, size: int, spread: Spread, value_of: str) -> Row:
    unit = bandwidth_unit(spread.mean) if term == "bisection" else time_unit_for(spread.mean)
    return {
        "term": term, "name": name, "size": bytes_text(size), "unit": unit.name,
        "over": f"{spread.num:,} {value_of}{'s' if spread.num != 1 else ''}",
        **{key: in_unit(getattr(spread, key), unit) for key in ("min", "mean", "max")},
    }  # fmt: skip


def _ends(result: LinkResult, from_rank: int, to_rank: int) -> Row:
    return {
        "from": from_rank, "to": to_rank,
        "from_host": result.ranks[from_rank].host, "to_host": result.ranks[to_rank].host,
    }  # fmt: skip


def _pair_row(result: LinkResult, pair: JudgedPair, unit: Unit) -> Row:
    retest = pair.retest
    return _ends(result, retest.from_rank, retest.to_rank) | {
        "time": in_unit(retest.time_ns, unit), "again": in_unit(retest.retest_time_ns, unit),
        "usual": in_unit(pair.usual_ns, unit), "ratio": number(pair.ratio, 3), "verdict": pair.verdict.value,
        "alarming": pair.verdict is Verdict.SLOW_ALONE_TOO,
    }  # fmt: skip


def _link_rows(result: LinkResult, analysis: SliceAnalysis, unit: Unit) -> list[Row]:
    hosts = result.hosts
    return [
        {"from_host": link.from_host, "to_host": link.to_host, "from_name": hosts[link.from_host],
         "to_name": hosts[link.to_host], "time": in_unit(link.time_ns, unit),
         **_ratio(link.ratio, "ratio", analysis.is_diagnosed or None)}
        for link in analysis.slow_links[:MOST_ROWS]
    ]  # fmt: skip


def _standout_rows(result: LinkResult, analysis: SliceAnalysis, unit: Unit) -> list[Row]:
    verdicts = {(pair.retest.from_rank, pair.retest.to_rank): pair.verdict for pair in analysis.pairs}
    rows = []
    for one in analysis.standouts[:MOST_ROWS]:
        cell = one.cell
        verdict = verdicts.get((cell.from_rank, cell.to_rank), Verdict.NOT_RETESTED)
        rows.append(_ends(result, cell.from_rank, cell.to_rank) | {
            "time": in_unit(cell.time_ns, unit), **_ratio(one.ratio, "ratio"), "verdict": verdict.value,
            "class": result.class_of(cell.from_rank, cell.to_rank).value,
        })  # fmt: skip
    return rows


def _slowest(result: LinkResult, sides: Sequence[Side], name: str) -> Row | None:
    known = [side for side in sides if math.isfinite(getattr(side, name))]
    if not known:
        return None
    side = max(known, key=lambda side: float(getattr(side, name)))
    return {"rank": side.index, "host": result.ranks[side.index].host, "ratio": number(getattr(side, name), 3)}


def _shown(sides: Sequence[Side]) -> list[Side]:
    """All where they are few, else the slowest, slowest first."""
    return list(sides) if len(sides) <= MOST_ROWS else sorted(sides, key=lambda side: -side.ratio)[:MOST_ROWS]


def _ratio(ratio: float, name: str, is_alarming: bool | None = None) -> Row:
    """A ratio with the bar behind it; red where it is alarming, None = by the factor."""
    return {
        name: number(ratio, 3),
        f"{name}_width": min(round(ratio * 24), 96) if math.isfinite(ratio) else 0,  # px; 24 = usual
        f"{name}_alarming": ratio >= SLOW_FACTOR if is_alarming is None else is_alarming,
    }


def _side_cells(side: Side, unit: Unit, is_slow: bool | None) -> Row:
    cells: Row = {"from": in_unit(side.from_ns, unit), "to": in_unit(side.to_ns, unit)}
    return cells | _ratio(side.from_ratio, "from_ratio", is_slow) | _ratio(side.to_ratio, "to_ratio", is_slow)


def _rank_rows(result: LinkResult, analysis: SliceAnalysis, unit: Unit) -> list[Row]:
    of_slow_hosts = np.isin(result.host_index, analysis.slow_hosts)
    rows = []
    for side in _shown(analysis.ranks):
        is_slow = side.index in analysis.slow_ranks or bool(of_slow_hosts[side.index])
        cells = _side_cells(side, unit, is_slow if analysis.is_diagnosed else None)
        rows.append(asdict(result.ranks[side.index]) | cells)
    return rows


def _host_rows(result: LinkResult, analysis: SliceAnalysis, unit: Unit) -> list[Row]:
    hosts, host_of = result.hosts, result.host_index
    rows = []
    for side in _shown(analysis.hosts):
        is_slow = side.index in analysis.slow_hosts if analysis.is_diagnosed else None
        ranks = np.flatnonzero(host_of == side.index).tolist()
        rows.append({"host": hosts[side.index], "index": side.index, "ranks": run_text.ranks_text(ranks),
                     "num_ranks": len(ranks), "inside": in_unit(float(analysis.inside_ns[side.index]), unit)}
                    | _side_cells(side, unit, is_slow))  # fmt: skip
    return rows
