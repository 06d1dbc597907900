# SPDX-License-Identifier: Apache-2.0
# Row "files": writing and reading files beside a bare C program with the same MPI-IO calls, for every MPI-IO library.
"""Launches alternate, each pair in the other order than the pair before. Memory (tmpfs) is written without fsync, the
disk with it, by both sides."""

import dataclasses
import json
import os
import pathlib
import statistics
import tempfile

from .bisection import in_turn
from .launch import MPIS, NotMeasuredError, need, run, text_of
from .table import Row, absent, quartiles, time_text, verdict_of

KEY = "files"
LIMIT = 0.97
REQUIRED = f">= {LIMIT}"
RANKS, OBJECTS, SIZE = 4, 64, 1 << 20
MEMORY = pathlib.Path("/dev/shm")


@dataclasses.dataclass(frozen=True)
class Stack:
    """An MPI library with one of its ways to do MPI-IO."""

    name: str
    mpi: object
    backend: str
    extra: dict


OPEN_MPI, MPICH = MPIS
STACKS = (
    Stack("Open MPI (ompio)", OPEN_MPI, "mpi-io:ompio", {"OMPI_MCA_io": "ompio"}),
    Stack("Open MPI (romio)", OPEN_MPI, "mpi-io:romio", {"OMPI_MCA_io": "romio321"}),
    Stack("MPICH (romio)", MPICH, "mpi-io", {}),
)


def rows_of(bench, stack, place, folder, movement):
    mpi = stack.mpi
    with_sync = place == "disk"
    bare = bench.compile(mpi.compiler, "bare/mpi_file.c", f"{mpi.launcher}.file", ["-O2"])
    start = mpi.start(RANKS, bound=False)
    target = folder / ("ours" if movement == "N-1" else "ours.%r")
    ours = [*start, bench.leadline, "io", "--movement", movement, "--objects", OBJECTS, "--object-size", f"{SIZE}B"]
    ours += ["--backend", stack.backend, "--target", target, "--delete", "--sync", "inside" if with_sync else "none"]
    ours += ["--output", "-", "--quiet"]
    other = [*start, bare, folder / "bare", 1 if movement == "N-1" else 0, OBJECTS, SIZE, 1 if with_sync else 0]
    total_bytes = RANKS * OBJECTS * SIZE

    def ours_ns():
        phases = json.loads(run(ours, limit_s=300, cwd=folder).stdout)["phases"]
        return [1e9 * total_bytes / phase["bytes_per_s"] for phase in phases]

    def bare_ns():
        return [float(word) for word in run(other, limit_s=300, extra=stack.extra, cwd=folder).stdout.split()]

    our_times_ns, bare_times_ns = in_turn(bench.num_launches, (ours_ns, bare_ns))
    for index, operation in enumerate(("write", "read")):
        own = [times[index] for times in our_times_ns]
        beside = [times[index] for times in bare_times_ns]
        ratio = statistics.median(beside) / statistics.median(own)
        low, high = quartiles([b / a for a, b in zip(own, beside, strict=True)])
        yield Row(
            KEY,
            f"{operation} {movement}, {place}, {RANKS} ranks, {OBJECTS} x {SIZE >> 20} MiB, {stack.name}",
            time_text(statistics.median(own)),
            time_text(statistics.median(beside)) + " bare calls",
            ratio,
            REQUIRED,
            verdict_of(ratio >= LIMIT),
            note=f"fastest launches {min(beside) / min(own):.3f}; neighbouring launches {low:.3f}..{high:.3f}",
            commands=[text_of(ours), text_of([*(f"{k}={v}" for k, v in stack.extra.items()), *other])],
            numbers={"ours_ns": own, "bare_ns": beside},
        )


def rows(bench):
    places = (("tmpfs", MEMORY), ("disk", bench.build))
    for stack in STACKS:
        for place, above in places:
            for movement in ("N-N", "N-1"):
                what = f"{movement}, {place}, {stack.name}"
                try:
                    need(stack.mpi.launcher)
                    if not os.access(above, os.W_OK):
                        raise NotMeasuredError(f"{above} cannot be written")
                    with tempfile.TemporaryDirectory(prefix="leadline-files-", dir=above) as folder:
                        yield from rows_of(bench, stack, place, pathlib.Path(folder), movement)
                except NotMeasuredError as why:
                    yield absent(KEY, what, REQUIRED, why)
