# SPDX-License-Identifier: Apache-2.0
"""What a history keeps of one result: when and how it was measured, its numbers, what was found."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from leadline.benchmarks import load
from leadline.diagnosis import diagnosed, found_faults
from leadline.error import LeadlineError
from leadline.link.analysis import SliceAnalysis, analyse
from leadline.link.result import LinkResult, PairClass
from leadline.model import FloatArray, JudgedResult, RunResult
from leadline.program import Ask, answer
from leadline.readers.contents import DamagedError
from leadline.readers.input_file import unreadable
from leadline.text.run import moment

# Of every pair of hosts a number is kept up to so many hosts and ranks: 2016 pairs.
MOST_HOSTS_OF_LINKS, MOST_RANKS_OF_LINKS = 64, 2048
_DEADLINE_S = 600.0

# Options of the file test that earlier versions did not have, with what those did. They are told where they are
# otherwise, so that runs of both go together.
_LATER_OPTIONS = {
    "metadata": "false",
    "items": "both",
    "random": "0",
    "block_size": "0",
    "mix": "0.0",
    "rate_limit": "0",
    "queue_depth": "1",
    "time_based": "false",
    "ramp_time": "0",
}
# Options in which runs must be alike to be compared; of tests other than the link test those of `leadline compare`.
_SAME_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "link": ("direction", "serial", "window", "buffers", "bisection", "between_hosts", "one_per_host"),
    "topology": ("mode", "edges", "max_outstanding", "shared_buffers", "duration"),
    "bisection": ("active_ranks_per_host", "within_hosts"),
    "congestion": ("victims", "share_hosts", "load", "intensity", "load_size"),
    "collective": ("algorithm", "group_hosts", "serial"),
    "io": (
        "movement", "strided", "objects", "object_size", "io_ranks", "io_hosts", "files", "buffer_size", "ahead",
        "no_file", "backend", "calls", "collective", "barrier", "preallocate", "direct", "uncached", "drop_cache",
        "sync", "read_shift", "time_limit",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Number:
    """A number of a run, or of a part of it."""

    name: str  # "between hosts, median", "eBB", "write"
    size_bytes: int  # 0 = none
    kind: str  # what it is of: run, part (a host, or a storage target of a file test), link
    part: str  # name of the host or target, "node1,node4" of a link; empty = of the run
    unit: str  # ns, bytes/s, 1/s, or 1: its time over what is usual in that run
    value: float  # above 0


@dataclass(frozen=True)
class Found:
    """A component that a run has found to be at fault."""

    name: str  # "host node3"
    kind: str  # "host"
    symptom: str
    listed_as: str  # persistent, only_under_load, ...
    ratio: float  # times as long as it should take
    hosts: tuple[str, ...]  # those concerned


@dataclass(frozen=True)
class Entry:
    """All that is kept of a run."""

    identity: str  # the same for every copy of a result
    path: str  # absolute
    benchmark: str
    start_utc: str  # 2026-01-31T12:00:00Z
    version: str
    conditions: Mapping[str, str]  # only runs that are alike in all of them are compared
    complete: bool
    incomplete_reason: str
    untested: str  # why nobody could be judged; empty = somebody was
    hosts: tuple[str, ...]
    num_ranks: int
    numbers: tuple[Number, ...]  # empty where the run is not complete
    findings: tuple[Found, ...]


def entry_of(path: Path, is_known: Callable[[str, bool], bool]) -> Entry | None:
    """What is kept of a result file; None where `is_known` says so of its identity, and whether it is complete.
    LeadlineError where it is no result, or does not tell when it was measured.
    """
    try:
        with load(path) as result:
            identity = result.nonce or f"sha256:{_sha256(path)}"
            return None if is_known(identity, result.complete) else _entry(path, identity, result)
    except DamagedError as error:
        raise unreadable(path, str(error).rstrip("."), "Copy the file again") from error


def _entry(path: Path, identity: str, result: RunResult) -> Entry:
    begin = moment(result.provenance.start_utc)
    if begin is None or begin.tzinfo is None:
        raise LeadlineError(f"cannot keep '{path}'", "the file does not tell when it was measured")
    findings, untested = _findings(result)
    numbers: Iterator[Number] = iter(())
    if result.complete:
        numbers = _link_numbers(result) if isinstance(result, LinkResult) else _compared_numbers(result)
    return Entry(
        identity=identity,
        path=os.path.abspath(path),  # noqa: PTH100 - not resolved
        benchmark=result.benchmark,
        start_utc=f"{begin:%Y-%m-%dT%H:%M:%SZ}",
        version=result.provenance.version,
        conditions=_conditions(result),
        complete=result.complete,
        incomplete_reason=result.incomplete_reason,
        untested=untested,
        hosts=result.hosts,
        num_ranks=result.num_ranks,
        numbers=tuple(one for one in numbers if math.isfinite(one.value) and one.value > 0),
        findings=findings,
    )


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _conditions(result: RunResult) -> dict[str, str]:
    """The link test's pairs are comparable whatever the number of hosts, unlike exchanges of all."""
    most = max(Counter(result.host_index.tolist()).values())
    where = {"transport": result.provenance.transport, "ranks a host": str(most)}
    if not isinstance(result, LinkResult):
        where |= {"ranks": str(result.num_ranks), "hosts": str(len(result.hosts))}
    options = {name.replace("_", " "): result.options.get(name, "") for name in _SAME_OPTIONS[result.benchmark]}
    if result.benchmark == "io":
        later = {name: result.options.get(name, before) for name, before in _LATER_OPTIONS.items()}
        options |= {name.replace("_", " "): value for name, value in later.items() if value != _LATER_OPTIONS[name]}
    return where | {"simulated": "yes" if result.provenance.simulated else ""} | options


def _findings(result: RunResult) -> tuple[tuple[Found, ...], str]:
    """Those of the diagnosis; and why nobody could be judged, or empty."""
    if not isinstance(result, JudgedResult):
        return (), "it has no diagnosis"
    said = diagnosed(result, result.slices)
    judged = [one for one in said.found.values() if not one.untested]
    if not judged:
        return (), said.absent or next((one.untested for one in said.found.values()), "nothing was measured")
    found = [
        Found(
            one.fault.name, one.fault.component.kind.value, one.fault.symptom.value, one.fault.listed_as.value,
            one.fault.ratio, one.fault.host_names,
        )
        for one in found_faults(said, result.slices)
        if not one.fault.is_note
    ]  # fmt: skip
    return tuple(found), ""


def _compared_numbers(result: RunResult) -> Iterator[Number]:
    """Those by which `leadline compare` compares such results: it is asked for them."""
    path = os.path.abspath(result.path)  # noqa: PTH100 - not resolved
    words = ["compare", path, path, "--json"]
    _, document = answer(Ask(words, "comparison", f"cannot ask for the numbers of '{result.path}'", _DEADLINE_S))
    runs: Any = document.get("runs")
    for one in runs["numbers"]:
        if one["after"] is not None:
            part = one["part"] or ""
            kind = "part" if part else "run"
            yield Number(one["name"], one["message_size_bytes"], kind, part, one["unit"], float(one["after"]))


def _link_numbers(result: LinkResult) -> Iterator[Number]:
    """Of several repeats the median."""
    repeats: dict[tuple[str, int, str, str, str], list[float]] = defaultdict(list)
    for part in result.slices:
        analysis = analyse(result, part)
        for one in _slice_numbers(result, analysis):
            repeats[one.name, one.size_bytes, one.kind, one.part, one.unit].append(one.value)
    for key, values in repeats.items():
        yield Number(*key, float(np.median(values)))


def _slice_numbers(result: LinkResult, analysis: SliceAnalysis) -> Iterator[Number]:
    size_bytes = analysis.part.message_size_bytes
    for pair_class, distribution in analysis.classes.items():
        for name, value in (("median", distribution.median), ("99 %", distribution.p99)):
            yield Number(f"{pair_class.value}, {name}", size_bytes, "run", "", "ns", value)
    if len(result.hosts) < 2:
        return
    for side in analysis.hosts:
        yield Number("its pairs", size_bytes, "part", result.hosts[side.index], "1", side.ratio)
    if len(result.hosts) > MOST_HOSTS_OF_LINKS or result.num_ranks > MOST_RANKS_OF_LINKS:
        return
    links = _link_ratios(result, analysis)
    for first in range(len(links)):
        for second in range(first + 1, len(links)):
            yield Number("its pairs", size_bytes, "link", link_name(result.hosts[first], result.hosts[second]), "1",
                         float(links[first, second]))  # fmt: skip


def link_name(one: str, other: str) -> str:
    """Of the link between two hosts, whatever their order."""
    return ",".join(sorted((one, other)))


def _link_ratios(result: LinkResult, analysis: SliceAnalysis) -> FloatArray:
    """The slower direction of the pairs between two hosts over the median of all such pairs and over what both hosts
    are slower by themselves, [H, H].
    """
    part = analysis.part
    between = analysis.classes.get(PairClass.BETWEEN_HOSTS)
    usual = between.median if between else math.nan
    which = ("median", part.message_size_bytes, part.repeat)
    times = result.times[which].by_host().values
    factors = np.array([max(side.ratio, 1.0) for side in analysis.hosts])
    return np.asarray(np.fmax(times, times.T) / (usual * np.maximum(factors[:, None], factors[None, :])))


def conditions_key(benchmark: str, conditions: Mapping[str, str]) -> str:
    """The same text for the same conditions."""
    return json.dumps([benchmark, dict(sorted(conditions.items()))], ensure_ascii=False)
