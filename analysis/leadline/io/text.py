# SPDX-License-Identifier: Apache-2.0
"""Sentences and facts about a parallel file test: how fast, from where, slow ranks, what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from leadline.io.result import IoPhase, IoResult, PhaseState
from leadline.text.run import facts_of_run, first_few, ranks_text, when
from leadline.units import amount_text, bandwidth_text, bytes_text, number

_MOST_NAMED = 3
_MOVEMENTS = {
    "N-N": "a file for each rank",
    "N-1": "one file for all ranks",
    "N-M-M": "ranks send to I/O ranks, which have a file each",
    "N-M-1": "ranks send to I/O ranks, which share one file",
    "N-M": "ranks share several files",
}
_SOURCES = {"cache": "from cache", "storage": "from storage", "mixed": "partly from cache"}
MISMATCHES = {
    "zeros": "zeros: a hole, or never written",
    "not_read": "not read: the buffer is untouched",
    "truncated": "truncated: the file ends before",
    "other_run": "of an earlier run or repetition",
    "other_rank": "another rank’s object",
    "other_file": "another file’s object",
    "shifted": "the rank’s own, but from another offset",
    "torn": "torn: header and data are not of one piece",
    "bit_flips": "flipped bits",
    "unknown": "bytes that no run wrote",
}  # fmt: skip


def movement_text(result: IoResult) -> str:
    """The movement and what it is."""
    strided = ", strided" if result.order == "strided" else ""
    return f"{result.movement}{strided}: {_MOVEMENTS.get(result.movement, 'unknown')}"


def title(result: IoResult) -> str:
    """What the page is about."""
    num_hosts = len(result.hosts)
    ranks = "1 rank" if result.num_ranks == 1 else f"{result.num_ranks:,} ranks"
    where = f"on {result.hosts[0]}" if num_hosts == 1 else f"on {num_hosts:,} hosts"
    objects = f"{result.num_objects:,} × {bytes_text(result.object_size_bytes)}"
    return f"{result.movement}, {ranks} {where}, {objects} each, {result.backend_library or 'no file'}"


def run_line(result: IoResult) -> str:
    """The line below the title."""
    place = f"{result.file_system}: {result.files[0]}" if result.files else "without files"
    more = f" and {len(result.files) - 1:,} more" if len(result.files) > 1 else ""
    return " · ".join(text for text in (place + more, when(result)) if text)


def includes_sync(result: IoResult) -> str:
    """What the reported time has of fsync, for a write."""
    return {"inside": "fsync included", "outside": "fsync not included", "none": "no fsync"}.get(
        result.options.get("sync", ""), ""
    )


def source_text(phase: IoPhase) -> str:
    """Where a read came from, in a word; of a write, whether it is durable."""
    if phase.operation == "write":
        return "durable" if phase.summary.get("is_durable") else "not durable"
    return _SOURCES.get(str(phase.summary.get("source")), "source unknown")


def headline(result: IoResult) -> list[str]:
    """The sentences that an administrator reads first."""
    measured = result.measured_phases
    if not measured:
        return ["Nothing was measured."]
    sentences = [_rates_sentence(result, operation) for operation in ("write", "read")]
    sentences += [_wrong_sentence(phase) for phase in measured] + _straggler_sentences(measured)
    found = [sentence for sentence in sentences if sentence]
    return found or ["No phase finished."]


def _rates_sentence(result: IoResult, operation: str) -> str:
    phases = [one for one in result.measured_phases if one.operation == operation and math.isfinite(one.bytes_per_s)]
    if not phases:
        return ""
    rates = sorted(one.bytes_per_s for one in phases)
    rate = bandwidth_text(rates[len(rates) // 2] if len(rates) % 2 else sum(rates[len(rates) // 2 - 1 :][:2]) / 2, 3)
    last, several = phases[-1], f", median of {len(phases)} repetitions" if len(phases) > 1 else ""
    amount = amount_text(last.value("bytes"))
    if operation == "write":
        durable = ", durable" if last.summary.get("is_durable") else ", not all of it durable"
        return f"Writing: {rate} ({amount}, {includes_sync(result) or 'fsync not known'}{durable}){several}."
    return f"Reading: {rate} ({amount}, {source_text(last)}){several}."


def _wrong_sentence(phase: IoPhase) -> str:
    num = phase.value("num_mismatches")
    wrong = phase.summary.get("wrong") or []
    if not num > 0:
        return ""
    objects = "1 object is" if num == 1 else f"{num:,.0f} objects are"
    if not wrong:
        return f"Data are wrong: {objects} not what was written."
    first = wrong[0]
    where = f"object {first['expected']['object']} of rank {first['expected']['rank']} in {first['file']}"
    return f"Data are wrong: {objects} not what was written. {where}: {MISMATCHES.get(first['kind'], first['kind'])}."


def _straggler_sentences(phases: tuple[IoPhase, ...]) -> list[str]:
    """The ranks that are stragglers in most phases first."""
    found: dict[int, list[tuple[IoPhase, Mapping[str, Any]]]] = {}
    for phase in phases:
        for one in phase.summary.get("stragglers") or []:
            found.setdefault(one["rank"], []).append((phase, one))
    ranks = sorted(found, key=lambda rank: (-len(found[rank]), rank))
    sentences = [_straggler_sentence(rank, found[rank], len(phases)) for rank in ranks[:_MOST_NAMED]]
    if len(ranks) > _MOST_NAMED:
        sentences.append(f"{len(ranks) - _MOST_NAMED:,} more ranks are stragglers.")
    return sentences


def _straggler_sentence(rank: int, seen: list[tuple[IoPhase, Mapping[str, Any]]], num_phases: int) -> str:
    where = "in every phase" if 1 < len(seen) == num_phases else f"in {first_few(tuple(p.name for p, _ in seen), 3)}"
    worst = min((one for _, one in seen), key=lambda one: one["relative"] or 0)
    relative = f"{number(100 * worst['relative'], 2)} %" if worst["relative"] is not None else "a part"
    return (
        f"Rank {rank} on {worst['host']} is a straggler {where}: down to {relative} of the median rank’s rate, mostly "
        f"because of {worst['mostly']}."
    )


def missing(result: IoResult) -> str:
    """What is not in the file; empty where all is."""
    failed = [phase.name for phase in result.phases if phase.state == PhaseState.FAILED and not phase.is_interrupted]
    interrupted = [phase.name for phase in result.phases if phase.is_interrupted]
    absent = [phase.name for phase in result.phases if phase.state == PhaseState.NOT_MEASURED]
    parts = [
        f"{', '.join(failed)} not complete" if failed else "",
        f"{', '.join(interrupted)} interrupted" if interrupted else "",
        f"{', '.join(absent)} not measured" if absent else "",
    ]
    return ", ".join(part for part in parts if part)


def no_findings(result: IoResult) -> str:
    """Where the run has none."""
    return "None." if result.complete else "None: the run did not finish."


def run_facts(result: IoResult) -> list[tuple[str, str]]:
    """How it was run, in short."""
    facts = facts_of_run(result)
    own = {
        "movement": movement_text(result),
        "objects": f"{result.num_objects:,} of {bytes_text(result.object_size_bytes)} for each rank",
        "I/O ranks": ranks_text(sorted(result.io_ranks)) if result.io_ranks else "none: no file",
        "files": f"{len(result.files):,}: {result.files[0]}{' ...' if len(result.files) > 1 else ''}"
        if result.files
        else "none",
        "file system": result.file_system,
        "library": result.backend_library,
    }
    order = [
        "command",
        "ranks and hosts",
        *own,
        "transport",
        "launcher",
        "wait",
        "clock",
        "time (UTC)",
        "program",
        "result file",
    ]
    known = {**facts, **own}
    return [(name, known[name]) for name in order if known.get(name)]
