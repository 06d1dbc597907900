# SPDX-License-Identifier: Apache-2.0
# Row "topologies": NETTEST's six procedures with 4 ranks at 16 KiB, beside bare calls of the same procedures.
"""Launches alternate, each pair in the other order than the pair before; each launch measures all six. A launch
is as fast as the machine happens to be, up to 1.4 times apart, so of either side the fastest counts."""

import json
import statistics

from .launch import MPIS, NotMeasuredError, need, run, text_of
from .table import Row, absent, quartiles, time_text, verdict_of

KEY = "topologies"
LIMIT = 0.97
REQUIRED = f">= {LIMIT}"
NUM_RANKS, SIZE = 4, 16 << 10
PROCEDURES = ("star", "star2", "complete", "complete2", "ring", "ring2")
# Exchanges, warm-up, and launches for one of the other rows. With more ranks than cores, MPICH's blocking calls never
# give a core away: an exchange then takes as long as the system lets a rank have its core, milliseconds.
SHAPES = {"Open MPI": (600, 60, 4), "MPICH": (20, 2, 1)}
WAITS = {"Open MPI": ("spin", "auto"), "MPICH": ("auto",)}


def medians_of_ours(ended):
    """Of the time with the closing barrier inside, as the bare program has it."""
    cells = json.loads(ended.stdout)["cells"]
    return {cell["topology"]: cell["with_barrier"]["time_ns_median"] for cell in cells}


def medians_of_bare(ended):
    return json.loads(ended.stdout)


def commands(bench, mpi, bare, wait):
    exchanges, warmup, _ = SHAPES[mpi.name]
    start = mpi.start(NUM_RANKS, bound=False)
    ours = [*start, bench.leadline, "topology", "--transport", "mpi", "--wait", wait]
    ours += ["--message-size", f"{SIZE}B", "--iterations", exchanges, "--warmup", warmup, "--traced", 0]
    ours += ["--output", "-", "--quiet"]
    return ours, [*start, bare, SIZE, exchanges, warmup]


def launches(bench, num_launches, ours, other):
    """Medians in ns by procedure, ours and bare, in pairs of neighbouring launches."""
    folder = bench.scratch("topologies")
    sides = ((ours, medians_of_ours, []), (other, medians_of_bare, []))
    for number in range(num_launches):
        for command, medians, found in sides if number % 2 == 0 else sides[::-1]:
            found.append(medians(run(command, limit_s=300, cwd=folder)))
    return sides[0][2], sides[1][2]


def row(mpi, wait, procedure, ours, other, texts):
    ours_ns = [launch[procedure] for launch in ours]
    other_ns = [launch[procedure] for launch in other]
    ratio = min(other_ns) / min(ours_ns)
    over_launches = statistics.median(other_ns) / statistics.median(ours_ns)
    low, high = quartiles([b / a for a, b in zip(ours_ns, other_ns, strict=True)])
    return Row(
        KEY,
        f"{procedure}, {mpi.name}, --wait {wait}",
        time_text(min(ours_ns)),
        time_text(min(other_ns)) + " bare calls",
        ratio,
        REQUIRED,
        verdict_of(ratio >= LIMIT),
        note=f"medians over {len(ours_ns)} launches {time_text(statistics.median(ours_ns))} and "
        f"{time_text(statistics.median(other_ns))}, ratio {over_launches:.3f}; "
        f"neighbouring launches {low:.3f}..{high:.3f}",
        commands=texts,
        numbers={"ours_ns": ours_ns, "bare_ns": other_ns},
    )


def rows(bench):
    for mpi in MPIS:
        for wait in WAITS[mpi.name]:
            try:
                need(mpi.launcher)
                # MPI_STATUSES_IGNORE is a pointer to nothing, which GCC takes for an array that is too small.
                flags = ["-O2", "-Wno-stringop-overflow"]
                bare = bench.compile(mpi.compiler, "bare/mpi_topologies.c", f"{mpi.launcher}.topologies", flags)
                ours, other = commands(bench, mpi, bare, wait)
                num_launches = bench.num_launches * (1 if bench.is_quick else SHAPES[mpi.name][2])
                found = launches(bench, num_launches, ours, other)
                for procedure in PROCEDURES:
                    yield row(mpi, wait, procedure, *found, [text_of(ours), text_of(other)])
            except NotMeasuredError as why:
                yield absent(KEY, f"{mpi.name}, --wait {wait}", REQUIRED, why)
