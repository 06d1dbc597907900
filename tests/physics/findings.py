# SPDX-License-Identifier: Apache-2.0
"""What a judge says, in one form for all judges: the findings of `leadline diagnose --json`, or those of a baseline."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from result_file import Files


@dataclass(frozen=True)
class Finding:
    """One accusation. Of a link, pair or cable `hosts` is one end and `other_hosts` the other; `name` is for people.

    Of a rail `ranks` are the places on their hosts of the ranks that use it.
    """

    kind: str
    hosts: frozenset[str] = frozenset()
    other_hosts: frozenset[str] = frozenset()
    ranks: frozenset[int] = frozenset()
    name: str = ""


@dataclass(frozen=True)
class Judgement:
    """All findings of a file, each once, its processor time, and whether --strict would end with status 1."""

    findings: tuple[Finding, ...]
    processor_s: float
    is_alarm: bool


def judged(program: Path, files: Files) -> Judgement:
    """Runs `leadline diagnose`, with topology and forwarding tables where there are any."""
    words: list[str | Path] = [program, "diagnose", files.result, "--strict", "--json"]
    if files.topology:
        words += ["--topology", files.topology]
    if files.routes:
        words += ["--routes", files.routes]
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complained:
        process = subprocess.Popen([str(word) for word in words], stdout=said, stderr=complained)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it once more
        if process.returncode not in (0, 1):
            complained.seek(0)
            raise RuntimeError(f"status {process.returncode}: {complained.read().decode()}")
        said.seek(0)
        document = json.load(said)
    told = json.loads(files.truth.read_text())
    found = findings_of(document, told["hosts"], told["host_of_rank"])
    return Judgement(found, usage.ru_utime + usage.ru_stime, process.returncode == 1)


def findings_of(document: dict[str, Any], hosts: Sequence[str], host_of_rank: Sequence[int]) -> tuple[Finding, ...]:
    """The accusations: what needs action, not the other lists. What several slices say alike counts once."""
    found: dict[Finding, None] = {}
    for slice_ in document["slices"]:
        for fault in slice_["diagnosis"]["faults"]:
            if fault["list"] != "persistent":
                continue
            found.setdefault(_finding(fault, hosts, host_of_rank))
    return tuple(found)


def _finding(fault: dict[str, Any], hosts: Sequence[str], host_of_rank: Sequence[int]) -> Finding:
    """Components are numbers: of hosts by their first ranks, as the simulated hosts are numbered, too."""
    kind, component = fault["kind"], fault["component"]
    first, second = component["first"], component["second"]

    def names(numbers: Sequence[int]) -> frozenset[str]:
        return frozenset(hosts[number] for number in numbers)

    if kind in ("switch", "uplink", "cable"):
        return Finding(kind, names(component["hosts"]), names(component["other_hosts"]), name=fault["name"])
    if kind == "rank":
        return Finding(kind, names([host_of_rank[first]]), ranks=frozenset([first]), name=fault["name"])
    if kind == "pair":
        one, other = (names([host_of_rank[rank]]) for rank in (first, second))
        return Finding(kind, one, other, frozenset([first, second]), fault["name"])
    if kind == "link":
        return Finding(kind, names([first]), names([second]), name=fault["name"])
    if kind == "rail":
        return Finding(kind, ranks=frozenset([first]), name=fault["name"])
    if first is None:
        return Finding(kind, name=fault["name"])
    return Finding(kind, names([first]), name=fault["name"])
