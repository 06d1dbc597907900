# SPDX-License-Identifier: Apache-2.0
"""Sentences and facts about a parallel file test: how fast, from where, slow ranks, what is missing."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from leadline.diagnosis import Diagnosed, told_faults
from leadline.io.result import METADATA, IoPhase, IoResult, PhaseState
from leadline.text import diagnosis as diagnosis_text
from leadline.text.run import facts_of_run, ranks_text, when
from leadline.units import amount_text, bandwidth_text, bytes_text

_MOVEMENTS = {
    "N-N": "a file for each rank",
    "N-1": "one file for all ranks",
    "N-M-M": "ranks send to I/O ranks, which have a file each",
    "N-M-1": "ranks send to I/O ranks, which share one file",
    "N-M": "ranks share several files",
}
_IN_MEMORY = ("tmpfs", "ramfs", "hugetlbfs")  # file systems; earlier versions said of them that writes are durable
_DIRECTORIES = {
    "N-N": "a directory for each rank",
    "N-1": "one directory for all ranks",
    "N-M": "ranks share several directories",
}
_SOURCES = {"cache": "from cache", "storage": "from storage", "mixed": "partly from cache"}
_EARLIER = (
    "of an earlier version, whose headline was that of the slowest rank; making and checking the data is in the time "
    "of the bandwidth"
)
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
    meanings = _DIRECTORIES if _is_metadata(result) else _MOVEMENTS
    return f"{result.movement}{strided}: {meanings.get(result.movement, 'unknown')}"


def _is_metadata(result: IoResult) -> bool:
    """Whether files and directories were made and removed, rather than written and read."""
    return any(phase.operation in METADATA for phase in result.phases)


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
    return {
        "inside": "fsync included",
        "outside": "fsync not included",
        "none": "no fsync",
        "each": "fsync behind each write included",
    }.get(result.options.get("sync", ""), "")


def with_rates(result: IoResult, operation: str) -> list[IoPhase]:
    """The complete phases of an operation."""
    return [one for one in result.measured_phases if one.operation == operation and math.isfinite(one.bytes_per_s)]


def median_rate(phases: Sequence[IoPhase]) -> float:
    """What a run of several repetitions is known by."""
    return statistics.median(one.bytes_per_s for one in phases)


def source_text(result: IoResult, phase: IoPhase) -> str:
    """Where a read came from, in a word; of a write, whether it is durable."""
    if phase.operation == "write":
        if result.file_system in _IN_MEMORY:
            return "in memory"
        is_durable = phase.summary.get("is_durable")
        return "durability not known" if is_durable is None else "durable" if is_durable else "not durable"
    return _SOURCES.get(str(phase.summary.get("source")), "source unknown")


def headline(result: IoResult, diagnosed: Diagnosed) -> list[str]:
    """The sentences that an administrator reads first."""
    measured = result.measured_phases
    if not measured:
        return ["Nothing was measured."]
    sentences = [_rates_sentence(result, operation) for operation in ("write", "read")]
    sentences += [_mix_sentence(with_rates(result, "mix")), _operations_sentence(result)]
    sentences += [_wrong_sentence(phase) for phase in measured]
    told = [sentence for sentence in sentences if sentence]
    return told + (verdict(result, diagnosed) if result.files else []) if told else ["No phase finished."]


def verdict(result: IoResult, diagnosed: Diagnosed) -> list[str]:
    """Who is slow, in the words of the diagnosis; why that is not known."""
    found = {part: one for part, one in diagnosed.found.items() if part in result.slices}
    if not found:
        return [f"Who is slow was not judged: {diagnosed.absent or 'no phase is complete'}."]
    return diagnosis_text.headline_of(found, told_faults(diagnosed, result.slices))


def slow_ranks(diagnosed: Diagnosed, operation: str) -> frozenset[int]:
    """Those that faults of an operation concern."""
    diagnoses = [one for part, one in diagnosed.found.items() if part.pattern == operation]
    faults = [fault for one in diagnoses for fault in one.faults if fault.counts and fault.phases]
    return frozenset(rank for fault in faults if fault.phases for rank in fault.phases.ranks)


def _of_several(phases: Sequence[IoPhase]) -> str:
    return f", median of {len(phases)} repetitions" if len(phases) > 1 else ""


def _rates_sentence(result: IoResult, operation: str) -> str:
    phases = with_rates(result, operation)
    if not phases:
        return ""
    rate = bandwidth_text(median_rate(phases), 3)
    last, several = phases[-1], _of_several(phases)
    amount = amount_text(last.value("bytes"))
    if operation == "write":
        durable = source_text(result, last)
        return f"Writing: {rate} ({amount}, {includes_sync(result) or 'fsync not known'}, {durable}){several}."
    return f"Reading: {rate} ({amount}, {source_text(result, last)}){several}."


def _mix_sentence(phases: Sequence[IoPhase]) -> str:
    told = []
    for name in ("reads", "writes"):
        parts = (phase.summary.get(name) or {} for phase in phases)
        if rates := [rate for part in parts if (rate := part.get("bytes_per_s"))]:
            told.append(f"{name} {bandwidth_text(statistics.median(rates), 3)}")
    return f"Both at once: {', '.join(told)}{_of_several(phases)}." if told else ""


def _operations_sentence(result: IoResult) -> str:
    """Medians over repetitions, of files and directories as a whole."""
    told = []
    for operation in METADATA:
        rates = sorted(
            one.operations_per_s
            for one in result.measured_phases
            if one.operation == operation and math.isfinite(one.operations_per_s)
        )
        if rates:
            told.append(f"{operation} {statistics.median(rates):,.0f}")
    return f"Operations in a second: {', '.join(told)}." if told else ""


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
    objects, files = ("items", "directories") if _is_metadata(result) else ("objects", "files")
    more = " ..." if len(result.files) > 1 else ""
    own = {
        "movement": movement_text(result),
        objects: f"{result.num_objects:,} of {bytes_text(result.object_size_bytes)} for each rank",
        "I/O ranks": ranks_text(sorted(result.io_ranks)) if result.io_ranks else "none: no file",
        files: f"{len(result.files):,}: {result.files[0]}{more}" if result.files else "none",
        "file system": result.file_system,
        "library": result.backend_library,
        "rates": _EARLIER if any(one.is_of_earlier_version for one in result.phases) else "",
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
