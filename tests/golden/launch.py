# SPDX-License-Identifier: Apache-2.0
"""Runs the command line of a golden file under the launchers that it names."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import golden
import program
import pytest

LAUNCHERS = {
    "mpirun": "mpirun.openmpi --oversubscribe -n {ranks}",
    "mpiexec": "mpiexec.hydra -n {ranks}",
    "none": "",
}


def runs(cases: Mapping[str, golden.Golden]) -> list[tuple[str, str]]:
    """Every case with each of its launchers."""
    return [(name, launcher) for name, case in cases.items() for launcher in case.head.get("launchers", "none").split()]


def command(case: golden.Golden, launcher: str) -> list[str]:
    """The case's command line as a shell reads it; skips the test where there is no such launcher."""
    start = LAUNCHERS[launcher].format(ranks=case.head.get("ranks", "4"))
    if start and shutil.which(start.split()[0]) is None:
        pytest.skip(f"{start.split()[0]} is not installed")
    return ["bash", "-c", f"exec {start} {case.head['command']}"]


def run(case: golden.Golden, launcher: str, folder: Path) -> program.Done:
    """The case, to its end."""
    return program.complete(command(case, launcher), folder, env=case.environment)


def expect(case: golden.Golden, done: program.Done, ours: re.Pattern[str]) -> None:
    """It printed what the golden file says. `ours`: how lines begin that are our own; what else comes on stderr is the
    launcher's, or a finding about this machine.
    """
    assert done.status == case.status, done.err
    assert not golden.first_difference(case.stdout, done.out.splitlines())
    assert not golden.difference_in_any_order(case.stderr, [line for line in done.err.splitlines() if ours.match(line)])


def rank_of(pid: int, name: str) -> str | None:
    """Of a process of that name; None for others."""
    try:
        if Path("/proc", str(pid), "comm").read_text() != f"{name}\n":
            return None
        environment = Path("/proc", str(pid), "environ").read_bytes().decode(errors="replace")
    except OSError:
        return None
    found = re.search(r"(?:OMPI_COMM_WORLD_RANK|PMI_RANK)=(\d+)", environment)
    return found[1] if found else None
