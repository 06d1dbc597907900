# SPDX-License-Identifier: Apache-2.0
"""The tables of a parallel file test's report, as text ready to be shown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from leadline.io import text as io_text
from leadline.io.result import IO_TIMES, LATENCIES, METADATA, RATES, IoPhase, IoResult
from leadline.units import (
    Unit,
    amount_text,
    bandwidth_text,
    bandwidth_unit,
    bytes_text,
    in_unit,
    middle,
    number,
    time_text,
    time_unit,
)

Row = dict[str, Any]


def key_figures(result: IoResult) -> list[tuple[str, str, str, str]]:
    """The large numbers below the headline: each with the definition it leads to, its name, and what else to say."""
    figures = []
    for phase in result.measured_phases:
        if phase.operation in METADATA and phase.repeat == 0 and math.isfinite(phase.operations_per_s):
            figures.append((per_second(phase.operations_per_s), "operations", phase.operation, " in a second"))
    for operation in ("write", "read"):
        phases = io_text.with_rates(result, operation)
        if not phases:
            continue
        rate = io_text.median_rate(phases)
        typical = min(phases, key=lambda one: abs(one.bytes_per_s - rate))
        several = f", median of {len(phases)}" if len(phases) > 1 else ""
        word = io_text.source_text(result, typical)
        figures.append((bandwidth_text(rate), "bandwidth", operation, f": {word}{several}"))
        p99_ns, median_ns = typical.value("call_ns_p99"), typical.value("call_ns_p50")
        if math.isfinite(p99_ns):
            median = time_text(median_ns, 3)
            figures.append((time_text(p99_ns, 3), "latency", "p99 of calls", f" of {typical.name}, median {median}"))
    return figures


def phase_table(result: IoResult, phases: Sequence[IoPhase]) -> Row:
    """A row for each phase: rates in one unit, and where the bytes came from."""
    unit = bandwidth_unit(middle(phase.value(name) for phase in phases for name in RATES))
    rows = [
        {
            "name": phase.name,
            "amount": amount_text(phase.value("bytes")) if math.isfinite(phase.value("bytes")) else "–",
            **{name: in_unit(phase.value(name), unit) for name in RATES},
            "operations_per_s": per_second(phase.operations_per_s),
            "slowest": _rank_of((phase.summary.get("io") or {}).get("max_rank")),
            "source": _source_of(result, phase),
            "continued": f"{phase.value('num_continued'):,.0f}" if phase.value("num_continued") > 0 else "–",
            "error": str(phase.summary.get("error") or ""),
        }
        for phase in phases
    ]
    has_bytes = not phases or any(phase.operation not in METADATA for phase in phases)
    return {
        "title": "Writing and reading" if has_bytes else "Files and directories",
        "unit": unit.name,
        "rows": rows,
        "has_bytes": has_bytes,
        "has_stop": has_bytes and any(phase.summary.get("has_stop") for phase in phases),
    }


def _source_of(result: IoResult, phase: IoPhase) -> str:
    has_source = math.isfinite(phase.bytes_per_s) and phase.operation != "mix"
    return io_text.source_text(result, phase) if has_source else "–"


def per_second(operations_per_s: float) -> str:
    """A number of operations in a second, as text."""
    return f"{operations_per_s:,.0f}" if operations_per_s >= 1000 else number(operations_per_s, 4)


def _rank_of(rank: object) -> str:
    return f"{rank}" if isinstance(rank, int) else "–"


def latency_table(phases: Sequence[IoPhase]) -> list[Row]:
    """A row for each phase: quantiles of the calls' times, each in its unit, since the slowest call may take ten
    million times as long as the median one.
    """
    return [
        {"name": phase.name, "num": f"{phase.value('num_calls'):,.0f}",
         **{name: time_text(phase.value(name), 3) for name in LATENCIES}}
        for phase in phases
        if phase.value("num_calls") > 0
    ]  # fmt: skip


def time_table(phase: IoPhase) -> Row:
    """A row for each kind of time that any rank spent: least, mean, greatest, and who."""
    spreads = {name: (phase.summary.get("times") or {}).get(name) or {} for name in IO_TIMES}
    spreads = {"I/O time": phase.summary.get("io") or {}, **spreads}
    known = {name: spread for name, spread in spreads.items() if spread.get("max")}
    unit = time_unit(middle(float(spread["max"]) for spread in known.values()))
    rows = [_time_row(name, spread, unit) for name, spread in known.items()]
    return {"index": phase.index, "name": phase.name, "unit": unit.name, "rows": rows}


def _time_row(name: str, spread: dict[str, Any], unit: Unit) -> Row:
    least, mean, most = (
        float(spread[key]) if spread.get(key) is not None else math.nan for key in ("min", "mean", "max")
    )
    return {
        "name": name, "min": in_unit(least, unit), "mean": in_unit(mean, unit), "max": in_unit(most, unit),
        "min_rank": _rank_of(spread.get("min_rank")), "max_rank": _rank_of(spread.get("max_rank")),
    }  # fmt: skip


def cache_rows(result: IoResult, phases: Sequence[IoPhase]) -> list[Row]:
    """A row for each phase: the page cache before and behind it."""
    return [
        {
            "name": phase.name,
            "pages": _pages(phase.summary.get("cache_before")),
            **{f"{what}_{when}": _share(phase.summary.get(f"cache_{when}"), what) for what in ("cached", "dirty")
               for when in ("before", "after")},
            "word": _source_of(result, phase),
        }
        for phase in phases
    ]  # fmt: skip


def _pages(cache: Any) -> str:
    return f"{cache['pages']:,}" if cache and cache.get("pages") is not None else "–"


def _share(cache: Any, what: str) -> str:
    if not cache or not cache.get("is_known") or not cache.get("pages"):
        return "–"
    return f"{number(100 * cache[what] / cache['pages'], 3)} %"


def _entries(phases: Sequence[IoPhase], name: str) -> Iterator[tuple[IoPhase, dict[str, Any]]]:
    for phase in phases:
        for one in phase.summary.get(name) or []:
            yield phase, one


def _known(value: float | None, text_of: Callable[[float], str]) -> str:
    return "–" if value is None else text_of(value)


def slow_call_rows(phases: Sequence[IoPhase]) -> list[Row]:
    """The slowest calls of all phases."""
    return [
        {
            "phase": phase.name, "rank": _rank_of(one["rank"]), "host": one["host"], "file": one["file"],
            "offset": bytes_text(one["offset_bytes"]), "size": bytes_text(one["size_bytes"]),
            **{name: _known(one[f"{name}_ns"], lambda time_ns: time_text(time_ns, 3)) for name in ("time", "begin")},
        }
        for phase, one in _entries(phases, "slow_calls")
    ]  # fmt: skip


def wrong_rows(phases: Sequence[IoPhase]) -> list[Row]:
    """Objects that are not what was written."""
    found = []
    for phase, one in _entries(phases, "wrong"):
        whose, there = one["expected"], one["found"]
        found.append({
            "phase": phase.name, "file": one["file"], "object": f"{whose['object']:,}", "rank": _rank_of(whose["rank"]),
            "offset": f"{whose['offset_bytes'] + one['first_byte']:,}", "bytes": f"{one['num_bytes']:,}",
            "kind": io_text.MISMATCHES.get(one["kind"], one["kind"]),
            "read_by": f"{_rank_of(one['read_by'])} on {one['host']}",
            "found": f"object {there['object']:,} of rank {there['rank']}" if there else "–",
        })  # fmt: skip
    return found


def hint_rows(result: IoResult) -> list[Row]:
    """Hints as asked and as granted, from the summary at the end of the run."""
    hints = (result.summary or {}).get("hints") or []
    if not isinstance(hints, list):
        return []
    return [
        {"key": one["key"], "asked": one["asked"] or "–", "granted": one["granted"] or "–",
         "word": _hint_word(one)} for one in hints
    ]  # fmt: skip


def _hint_word(hint: dict[str, Any]) -> str:
    if hint["asked"] and not hint["granted"]:
        return "ignored"
    if not hint["asked"]:
        return "the library’s own"
    return "confirmed" if hint["is_confirmed"] else "echoed, not confirmed"
