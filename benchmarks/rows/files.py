# SPDX-License-Identifier: Apache-2.0
# Row "files": writing and reading files beside a bare C program with the same MPI-IO calls, for every MPI-IO library.
"""Launches alternate, each pair in the other order than the pair before. Memory (tmpfs) is written without fsync, the
disk with it, by both sides. Four ranks make the calls alone: contents are outside the times, but where ranks are more
than cores, one rank's contents take the core from another's calls. Two ranks do all that a user's run does."""

import dataclasses
import json
import os
import pathlib
import statistics
import tempfile
import time

from .bisection import in_turn
from .launch import MPIS, NotMeasuredError, need, run, text_of
from .table import Row, absent, quartiles, time_text, verdict_of

KEY = "files"
LIMIT = 0.97
REQUIRED = f">= {LIMIT}"
OBJECTS, SIZE = 64, 1 << 20
PAUSE_S = 2
CALLS_ALONE = ("--touch", "never", "--check", "none")
MEMORY = pathlib.Path("/dev/shm")


@dataclasses.dataclass(frozen=True)
class Stack:
    """An MPI library with one of its ways to do MPI-IO."""

    name: str
    mpi: object
    backend: str
    extra: dict


@dataclasses.dataclass(frozen=True)
class Case:
    """What is done where; `options` are for our side alone."""

    place: str
    movement: str
    num_ranks: int
    options: tuple

    @property
    def words(self):
        return f"{self.movement}, {self.place}, {self.num_ranks} ranks{'' if self.options else ' and contents'}"


MOVEMENTS = ("N-N", "N-1")
CASES = [Case(place, movement, 4, CALLS_ALONE) for place in ("tmpfs", "disk") for movement in MOVEMENTS]
CASES += [Case("tmpfs", movement, 2, ()) for movement in MOVEMENTS]


OPEN_MPI, MPICH = MPIS
STACKS = (
    Stack("Open MPI (ompio)", OPEN_MPI, "mpi-io:ompio", {"OMPI_MCA_io": "ompio"}),
    Stack("Open MPI (romio)", OPEN_MPI, "mpi-io:romio", {"OMPI_MCA_io": "romio321"}),
    Stack("MPICH (romio)", MPICH, "mpi-io", {}),
)


def rest(case):
    """Disks of virtual machines have a budget of bytes that refills; who comes to its end is three times slower."""
    if case.place == "disk":
        time.sleep(PAUSE_S)


def rows_of(bench, stack, case, folder):
    mpi = stack.mpi
    is_shared, with_sync = case.movement == "N-1", case.place == "disk"
    bare = bench.compile(mpi.compiler, "bare/mpi_file.c", f"{mpi.launcher}.file", ["-O2"])
    start = mpi.start(case.num_ranks, bound=False)
    target = folder / ("ours" if is_shared else "ours.%r")
    ours = [*start, bench.leadline, "io", "--movement", case.movement]
    ours += ["--objects", OBJECTS, "--object-size", f"{SIZE}B"]
    ours += ["--backend", stack.backend, "--target", target, "--delete", "--sync", "inside" if with_sync else "none"]
    ours += [*case.options, "--output", "-", "--quiet"]
    other = [*start, bare, folder / "bare", int(is_shared), OBJECTS, SIZE, int(with_sync)]
    total_bytes = case.num_ranks * OBJECTS * SIZE

    def ours_ns():
        rest(case)
        phases = json.loads(run(ours, limit_s=300, cwd=folder).stdout)["phases"]
        return [1e9 * total_bytes / phase["bytes_per_s"] for phase in phases]

    def bare_ns():
        rest(case)
        return [float(word) for word in run(other, limit_s=300, extra=stack.extra, cwd=folder).stdout.split()]

    our_times_ns, bare_times_ns = in_turn(bench.num_launches, (ours_ns, bare_ns))
    for index, operation in enumerate(("write", "read")):
        own = [times[index] for times in our_times_ns]
        beside = [times[index] for times in bare_times_ns]
        ratio = statistics.median(beside) / statistics.median(own)
        low, high = quartiles([b / a for a, b in zip(own, beside, strict=True)])
        yield Row(
            KEY,
            f"{operation} {case.words}, {OBJECTS} x {SIZE >> 20} MiB, {stack.name}",
            time_text(statistics.median(own)),
            time_text(statistics.median(beside)) + " bare calls",
            ratio,
            REQUIRED if case.options else "-",
            verdict_of(ratio >= LIMIT) if case.options else "-",
            note=f"fastest launches {min(beside) / min(own):.3f}; neighbouring launches {low:.3f}..{high:.3f}",
            commands=[text_of(ours), text_of([*(f"{k}={v}" for k, v in stack.extra.items()), *other])],
            numbers={"ours_ns": own, "bare_ns": beside},
        )


def rows(bench):
    above = {"tmpfs": MEMORY, "disk": bench.build}
    for stack in STACKS:
        for case in CASES:
            try:
                need(stack.mpi.launcher)
                if not os.access(above[case.place], os.W_OK):
                    raise NotMeasuredError(f"{above[case.place]} cannot be written")
                with tempfile.TemporaryDirectory(prefix="leadline-files-", dir=above[case.place]) as folder:
                    yield from rows_of(bench, stack, case, pathlib.Path(folder))
            except NotMeasuredError as why:
                yield absent(KEY, f"{case.words}, {stack.name}", REQUIRED, why)
