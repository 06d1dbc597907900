# SPDX-License-Identifier: Apache-2.0
"""Small parallel file tests over every library that does I/O."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import program
import pytest

SIZE = 1 << 16


@dataclass(frozen=True)
class Stack:
    """What does the I/O, and how ranks are started for it."""

    name: str
    start: tuple[str, ...]
    words: tuple[str, ...]

    def command(self, num_ranks: int, *words: str | Path) -> list[str | Path]:
        """`leadline io` with these words on so many ranks. Skips the test where its launcher is not installed."""
        if not self.start:
            return [program.PROGRAM, "io", "--local", str(num_ranks), *self.words, *words]
        if shutil.which(self.start[0]) is None:
            pytest.skip(f"{self.start[0]} is not installed")
        return [*self.start, "-n", str(num_ranks), program.PROGRAM, "io", *self.words, *words]


POSIX = Stack("posix", (), ("--backend", "posix"))
OPEN_MPI = ("mpirun.openmpi", "--oversubscribe")
OMPIO = Stack("ompio", OPEN_MPI, ("--backend", "mpi-io:ompio"))
ROMIO = Stack("romio", OPEN_MPI, ("--backend", "mpi-io:romio"))
MPICH = Stack("mpich", ("mpiexec.hydra",), ("--backend", "mpi-io"))
STACKS = (POSIX, OMPIO, ROMIO, MPICH)


def small(stack: Stack, files: Path, *words: str | Path, ranks: int = 2) -> list[str | Path]:
    """Eight objects of 64 KiB a rank."""
    usual = {"--objects": "8", "--object-size": "64KiB", "--target": files / "f.%r", "--output": "r.json"}
    added = [word for name, value in usual.items() if name not in words for word in (name, value)]
    return stack.command(ranks, "--wait", "yield", *added, *words)


SCORED = ("ior-easy.h5", "ior-hard.h5", "mdtest-easy.h5", "mdtest-hard.h5")


def run_presets(folder: Path) -> Path:
    """Results of two ranks and eight objects for each preset, as `leadline score` takes them, in this folder."""
    for name in SCORED:
        preset = name.removesuffix(".h5")
        target = f"{preset}.%r" if preset.endswith("easy") else preset
        words = ["--preset", preset, "--objects", "8", "--target", target, "--output", name]
        done = program.complete([program.PROGRAM, "io", "--local", "2", "--wait", "yield", *words], folder)
        assert done.status == 0, done.err
    return folder
