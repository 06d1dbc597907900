# SPDX-License-Identifier: Apache-2.0
"""From a CongestionResult to one self-contained HTML page: what grows most, the curves, a table for each test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from leadline.congestion.result import TESTS, CongestionResult, Factor, Impact, VictimTest
from leadline.model import Progress
from leadline.report.frame import html_page
from leadline.text.run import facts_of_run, no_findings, ranks_text, when, who_and_where
from leadline.units import bandwidth_text, bytes_text, factor_text, number, plain, time_text

Row = dict[str, Any]

_STYLES = ("report.css", "congestion.css")
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 520, 250, 54, 500, 14, 210
_MOST_BEYOND = 3  # how far, as a ratio, intervals are shown beyond the values
_TITLES = {VictimTest.LATENCY: "Latency", VictimTest.BANDWIDTH: "Bandwidth", VictimTest.ALLREDUCE: "Allreduce"}
_WORDS = {"median": "median", "p99": "99 % quantile"}


def render_congestion(result: CongestionResult, progress: Progress | None = None) -> str:
    """The page. Everything from the file is escaped."""
    page = html_page(
        "congestion.html.j2",
        result,
        styles=_STYLES,
        scripts=(),
        data={},
        benchmark="Congestion test",
        title=f"Congestion test of {result.path.name}",
        run_line=" · ".join(filter(None, (who_and_where(result, list(result.message_sizes_bytes)), when(result)))),
        no_findings=no_findings(result),
        headline=headline(result),
        verdict=_colour(result),
        missing="" if result.impacts else "Nothing was measured to the end",
        without_script="This page needs no script.",
        run=_facts(result),
        tests=[_of_test(result, test) for test in TESTS],
        shared=_shared(result),
        loads=_loads(result),
    )
    if progress:
        progress(1)
    return page


def _colour(result: CongestionResult) -> str:
    """Of the headline."""
    if worst_of(result.impacts):
        return "alarming"
    return "fine" if result.impacts and result.complete else ""


def worst_of(impacts: Sequence[Impact]) -> tuple[Impact, str, Factor] | None:
    """The median or 99 % quantile that surely grows most under load; None where none does."""
    found = [(one, name, getattr(one, name)) for one in impacts if one.load and one.shared == "all" for name in _WORDS]
    sure = [entry for entry in found if entry[2].low > 1]
    return max(sure, key=lambda entry: entry[2].low, default=None)


def headline(result: CongestionResult) -> list[str]:
    """The sentences that an administrator reads first."""
    if not result.impacts:
        return ["Nothing was measured."]
    if not any(math.isfinite(getattr(one, name).low) for one in result.impacts for name in _WORDS):
        return ["What loads surely do is not known: there are too few rounds for an interval."]
    worst = worst_of(result.impacts)
    if worst is None:
        return ["No load surely makes the median or the 99 % quantile of a test longer."]
    impact, name, factor = worst
    return [
        f"Under {_name_of(impact)} the {_WORDS[name]} of {impact.test.value} is {factor_text(factor.estimate)} times "
        f"as long as alone (95 % interval {_interval(factor)})."
    ]


def _name_of(impact: Impact) -> str:
    return f"{impact.load} {impact.intensity_percent} %" if impact.load else "no load"


def _interval(factor: Factor) -> str:
    ends = (factor.low, factor.high)
    return f"{factor_text(factor.low)} to {factor_text(factor.high)}" if all(map(math.isfinite, ends)) else "–"


def _facts(result: CongestionResult) -> list[tuple[str, str]]:
    victims = ranks_text([int(rank) for rank in result.victims])
    facts = {
        **facts_of_run(result),
        "victims": f"{victims}; {'whole hosts' if result.victims_are_hosts else 'hosts have ranks of both kinds'}",
        "load": f"{result.num_load_ranks:,} ranks: {', '.join(cell.name for cell in result.cells)}",
        "rounds": f"{result.num_rounds:,}",
    }
    return [(name, value) for name, value in facts.items() if value]


def _of_test(result: CongestionResult, test: VictimTest) -> Row:
    impacts = [one for one in result.impacts if one.test == test and one.shared == "all"]
    return {
        "name": _TITLES[test],
        "what": {
            VictimTest.LATENCY: "8 B to the partner and back, from when each message was due.",
            VictimTest.BANDWIDTH: f"A stream of {bytes_text(result.message_sizes_bytes[0])}: from message to message.",
            VictimTest.ALLREDUCE: "8 B over all victims, one behind the other.",
        }[test],
        "rows": [_row(result, one) for one in impacts],
        "chart": _chart(impacts),
    }


def _row(result: CongestionResult, impact: Impact) -> Row:
    row: Row = {"name": _name_of(impact)}
    for name in ("median", "p99", "p999"):
        factor: Factor = getattr(impact, name)
        row[name] = {
            "alone": time_text(getattr(impact.alone, name)), "loaded": time_text(getattr(impact.loaded, name)),
            "factor": number(factor.estimate, 3), "interval": _interval(factor),
            "bad": bool(factor.low > 1 and impact.load),
        }  # fmt: skip
    if impact.test == VictimTest.BANDWIDTH:
        row["rate"] = " / ".join(
            bandwidth_text(1e9 * result.message_sizes_bytes[0] / times.mean) for times in (impact.loaded, impact.alone)
        )
    return row


def _chart(impacts: Sequence[Impact]) -> Row | None:
    """Factor over intensity, a line for each load: median and 99 % quantile with their intervals."""
    loads = list(dict.fromkeys(one.load for one in impacts if one.load))
    factors: list[Factor] = [getattr(one, name) for one in impacts for name in _WORDS]
    ends, values = [end for one in factors for end in _ends(one)], [one.estimate for one in factors if _ends(one)]
    if not loads or not values:
        return None
    # A wide interval goes beyond the picture.
    low = max(min(0.8, *ends), min(0.8, *values) / _MOST_BEYOND)
    high = min(max(1.3, *ends), max(1.3, *values) * _MOST_BEYOND)

    def across(percent: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * percent / 100

    def down(factor: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * math.log(min(max(factor, low), high) / low) / math.log(high / low)

    lines = []
    for index, load in enumerate(loads):
        of_load = sorted((one for one in impacts if one.load in (load, "")), key=lambda one: one.intensity_percent)
        for name in _WORDS:
            there = [(one, getattr(one, name)) for one in of_load if math.isfinite(getattr(one, name).estimate)]
            if not there:  # bandwidth has no quantile of few messages
                continue
            lines.append({
                "name": f"{load}, {_WORDS[name]}", "class": f"load-{index % 4} {name}",
                "points": " ".join(f"{across(one.intensity_percent):.1f},{down(f.estimate):.1f}" for one, f in there),
                "bars": [(across(one.intensity_percent), down(f.low), down(f.high)) for one, f in there if _ends(f)],
            })  # fmt: skip
    return {
        "width": _WIDTH, "height": _HEIGHT + 18 * len(lines), "left": _LEFT, "right": _RIGHT, "bottom": _BOTTOM,
        "rows": [(down(tick), plain(tick)) for tick in _ticks(low, high)],
        "columns": [(across(percent), f"{percent} %") for percent in (0, 25, 50, 75, 100)],
        "lines": lines,
    }  # fmt: skip


def _ends(factor: Factor) -> list[float]:
    """What of it is to be seen."""
    return [value for value in (factor.estimate, factor.low, factor.high) if math.isfinite(value) and value > 0]


def _ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**power for power in powers for step in ((1, 2, 5) if high < 100 * low else (1,))]
    return [tick for tick in ticks if low <= tick <= high] or [1.0]


def _shared(result: CongestionResult) -> list[Row]:
    return [
        {"name": _name_of(one), "test": one.test.value, "shared": one.shared, "rounds": one.num_rounds,
         "median": number(one.median.estimate, 3), "p99": number(one.p99.estimate, 3), "interval": _interval(one.p99)}
        for one in result.impacts if one.shared != "all" and one.load
    ]  # fmt: skip


def _loads(result: CongestionResult) -> list[Row]:
    return [
        {"name": f"{one.load} {one.intensity_percent} %", "rate": bandwidth_text(one.bytes_per_s),
         "alone": bandwidth_text(one.alone_bytes_per_s), "fairness": number(one.fairness, 3),
         "recovery": time_text(1e9 * one.recovery_s)}
        for one in result.loads
    ]  # fmt: skip
