# SPDX-License-Identifier: Apache-2.0
"""Runs the command line of a golden file under the launchers that it names."""

from __future__ import annotations

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
