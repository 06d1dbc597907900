# SPDX-License-Identifier: Apache-2.0
"""The tables of a bisection test's report, as text ready to be shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from leadline.bisection import text as bisection_text
from leadline.bisection.analysis import SizeAnalysis
from leadline.bisection.data import first_size
from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.model import PatternComparison
from leadline.units import Unit, bandwidth_text, bandwidth_unit, bytes_text, in_unit, middle, number, time_unit

Row = dict[str, Any]

MOST_PATTERNS = 5
_BAR_PX = 150  # of a pattern as fast as the effective bisection bandwidth
_LONGEST_BAR_PX = 300


def shown_first(sizes: Sequence[SizeAnalysis]) -> SizeAnalysis:
    """The size that figures and charts are about at first."""
    return next(one for one in sizes if one.size_index == first_size(sizes))


def key_figures(sizes: Sequence[SizeAnalysis]) -> list[tuple[str, str, str, str]]:
    """The large numbers below the headline: each with the definition it leads to, its name, and what else to say."""
    one = shown_first(sizes)
    if not one.ebb.num:
        return []
    alone = f": {bisection_text.bandwidth_interval(one.baseline)}" if one.baseline.num else ""
    figures = [
        (bisection_text.bandwidth_interval(one.ebb), "ebb", "eBB", f" with {bytes_text(one.message_size_bytes)}")
    ]
    if math.isfinite(one.contention_share.mean):
        share, static = (bisection_text.plus_minus(value) for value in (one.contention_share, one.static_share))
        figures.append((share, "relative", "of pairs alone", alone))
        figures.append((static, "static", "static share", ": pairs alone over the fastest one"))
    stopped, median = bisection_text.STOPPED_BY.get(one.stopped_by, ""), bandwidth_text(one.speeds.median)
    return [
        *figures,
        (bandwidth_text(one.harmonic), "harmonic", "harmonic", ": from the mean time, as Netgauge’s"),
        (bandwidth_text(one.speeds.p05), "quantile", "5 % quantile", f" of connections, median {median}"),
        (number(one.tail, 3), "tail", "tail", " of connections: 1 % take at least so many times the median"),
        (f"{one.ebb.num:,}", "pattern", "random patterns", f": {stopped}" if stopped else ""),
    ]  # fmt: skip


def size_table(result: BisectionResult, sizes: Sequence[SizeAnalysis]) -> Row:
    """A row for each message size that has random patterns."""
    measured = [one for one in sizes if one.ebb.num]
    unit = bandwidth_unit(middle([one.ebb.mean for one in measured]))
    return {"unit": unit.name, "rows": [_size_row(result, one, unit) for one in measured]}


def _size_row(result: BisectionResult, one: SizeAnalysis, unit: Unit) -> Row:
    speeds = one.speeds
    return {
        "size": bytes_text(one.message_size_bytes), "patterns": f"{one.ebb.num:,}",
        "ebb": bisection_text.plus_minus(one.ebb, unit),
        "share": f"± {number(100 * one.ebb.share, 2)} %" if math.isfinite(one.ebb.share) else "–",
        "harmonic": in_unit(one.harmonic, unit),
        **{name: in_unit(getattr(speeds, name), unit) for name in ("median", "p05", "p01", "min", "max")},
        "full_load": bisection_text.plus_minus(one.full_load, unit),
        "baseline": bisection_text.plus_minus(one.baseline, unit),
        "relative": bisection_text.plus_minus(one.contention_share),
        "static": bisection_text.plus_minus(one.static_share), "tail": number(one.tail, 3),
        "stopped": bisection_text.ended_word(result, one),
    }  # fmt: skip


def named_rows(one: SizeAnalysis) -> Row:
    """Named patterns of a size, slowest first, with bars beside the effective bisection bandwidth."""
    unit = bandwidth_unit(middle([pattern.bytes_per_s_mean for pattern in one.named]))
    longest = max((p.bytes_per_s_mean for p in one.named), default=math.nan)
    scale = one.ebb.mean if one.ebb.num else longest
    rows = []
    for pattern in sorted(one.named, key=lambda pattern: pattern.bytes_per_s_mean):
        spread = f"{in_unit(pattern.bytes_per_s_least, unit)} – {in_unit(pattern.bytes_per_s_most, unit)}"
        rows.append({
            "name": pattern.name, "connections": f"{pattern.num_connections:,}",
            "mean": in_unit(pattern.bytes_per_s_mean, unit), "slowest": in_unit(pattern.bytes_per_s_slowest, unit),
            "repeats": spread if pattern.num_repeats > 1 else "–", "relative": number(pattern.relative, 3),
            "share": pattern.bytes_per_s_mean / scale,
            "width": round(min(_BAR_PX * pattern.bytes_per_s_mean / scale, _LONGEST_BAR_PX), 1),
            "bad": pattern.relative < 1,
        })  # fmt: skip
    return {"unit": unit.name, "rows": rows, "mark": _BAR_PX if one.ebb.num else None}


def slow_rows(result: BisectionResult, one: SizeAnalysis) -> Row:
    """Connections of random patterns that were measured again, slowest first."""
    speeds = [1e9 * one.message_size_bytes / slow.seen.time_ns for slow in one.slow]
    unit = bandwidth_unit(middle([one.speeds.median]))
    rows = []
    for slow, speed in zip(one.slow, speeds, strict=True):
        seen = slow.seen
        rows.append({
            "from": seen.from_rank, "to": seen.to_rank, "from_host": result.ranks[seen.from_rank].host,
            "to_host": result.ranks[seen.to_rank].host, "pattern": _pattern_of(result, one, seen.number),
            "speed": in_unit(speed, unit), "relative": number(slow.relative, 2),
            "alone": in_unit(1e9 * one.message_size_bytes / slow.alone_time_ns, unit),
            "verdict": bisection_text.verdict_on(slow), "alarming": slow.is_slow_alone,
        })  # fmt: skip
    return {"unit": unit.name, "rows": rows}


def _pattern_of(result: BisectionResult, one: SizeAnalysis, pattern_number: int) -> str:
    if not 0 <= pattern_number < len(one.patterns):
        return "–"
    return result.pattern_name(int(one.patterns.kind[pattern_number]), int(one.patterns.index[pattern_number]))


def pattern_rows(result: BisectionResult, one: SizeAnalysis, most: int = MOST_PATTERNS) -> Row:
    """The random patterns with the lowest means."""
    patterns = one.random
    unit = bandwidth_unit(middle([one.ebb.mean]))
    rows = []
    for pattern in np.argsort(patterns.bytes_per_s_mean, kind="stable")[:most].tolist():
        from_rank, to_rank = int(patterns.slowest_from[pattern]), int(patterns.slowest_to[pattern])
        known = from_rank >= 0 and to_rank >= 0
        rows.append({
            "name": result.pattern_name(int(patterns.kind[pattern]), int(patterns.index[pattern])),
            "mean": in_unit(float(patterns.bytes_per_s_mean[pattern]), unit),
            "relative": number(float(patterns.bytes_per_s_mean[pattern]) / one.ebb.mean, 3),
            "slowest": f"{from_rank} → {to_rank}" if known else "–",
            "hosts": f"{result.ranks[from_rank].host} → {result.ranks[to_rank].host}" if known else "",
            "least": in_unit(float(patterns.bytes_per_s_min[pattern]), unit),
        })  # fmt: skip
    return {"unit": unit.name, "rows": rows}


def bucket_rows(one: SizeAnalysis) -> Row:
    """Connections by their time, as the run's own summary has them."""
    times = time_unit(one.buckets[0].low_ns if one.buckets else math.nan)
    unit = bandwidth_unit(middle([one.speeds.median]))
    total = sum(bucket.num for bucket in one.buckets)
    rows = []
    for bucket in one.buckets:
        fast, slow = (1e9 * one.message_size_bytes / time_ns for time_ns in (bucket.low_ns, bucket.high_ns))
        rows.append({
            "low": in_unit(bucket.low_ns, times), "high": in_unit(bucket.high_ns, times), "num": f"{bucket.num:,}",
            "speeds": f"{in_unit(slow, unit)} – {in_unit(fast, unit)}",
            "share": f"{number(100 * bucket.num / total, 3)} %", "width": round(_BAR_PX * bucket.num / total, 1),
        })  # fmt: skip
    return {"time_unit": times.name, "unit": unit.name, "rows": rows}


def deviating_rows(comparison: PatternComparison) -> list[Row]:
    """Random patterns in which measurement and model are farthest from each other, as against all patterns."""
    return [
        {"name": f"random {one.pattern_index}", "measured": number(one.measured, 3),
         "simulated": number(one.simulated, 3), "deviation": f"{number(one.deviation, 3)} ×"}
        for one in comparison.deviating
    ]  # fmt: skip


def comparison_facts(comparison: PatternComparison) -> list[tuple[str, str, str]]:
    """What measured against simulated comes to: each with the definition it leads to, and its name."""
    measured, simulated = float(comparison.measured.mean()), float(comparison.simulated.mean())
    pearson, spearman = (f"{one:.2f}" if math.isfinite(one) else "–"
                         for one in (comparison.pearson, comparison.spearman))  # fmt: skip
    return [
        (number(measured, 3), "measured", "measured"), (number(simulated, 3), "simulated", "simulated"),
        (number(comparison.ratio, 3), "ratio", "measured ÷ simulated"),
        (pearson, "correlation", "correlation (Pearson)"),
        (spearman, "correlation", "of their order (Spearman)"),
    ]  # fmt: skip
