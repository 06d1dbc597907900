# SPDX-License-Identifier: Apache-2.0
# Row "whole-run": a run from start to finish, less its messages: by itself, and under mpirun beside an empty program.
"""What a user waits for beside the messages."""

import statistics

from .hdf5 import ResultFile
from .launch import MPIS, NotMeasuredError, need, run, text_of
from .table import Row, absent, quartiles, verdict_of

KEY = "whole-run"
LIMIT_S, LIMIT_BESIDE_EMPTY_S = 0.6, 0.05
REQUIRED, REQUIRED_BESIDE_EMPTY = f"< {LIMIT_S} s", f"< {LIMIT_BESIDE_EMPTY_S} s more"
NUM_RANKS, NUM_MESSAGES, NUM_WARMUP = 8, 100, 10


def communication_s(slice_):
    """The slowest pair of every round, and the messages of the retest, there and back."""
    retest_ns = sum(pair["retest_time_ns"] or 0 for pair in slice_["slowest_pairs"])
    return slice_["slowest_pairs_s"] + 1e-9 * retest_ns * 2 * (NUM_MESSAGES + NUM_WARMUP)


def link(bench, path, *more):
    """The command of a short link test, whose result is this file."""
    words = ["--message-size", "1KiB", "--messages", NUM_MESSAGES, "--warmup", NUM_WARMUP, "--quiet", "--output", path]
    return [bench.leadline, "link", *more, *words]


def launched(command, path):
    """Wall time, and that of the messages."""
    wall_s = run(command, limit_s=120, cwd=path.parent).wall_s
    with ResultFile(path) as result:
        messages_s = communication_s(result.summary()["slices"][0])
    path.unlink()
    return wall_s, messages_s


def row_of(what, own_s, beside, required, limit_s, more_s, more_text, commands, numbers, ratio=None):
    """`more_s`: of each launch, what must be below the limit in the middle."""
    low, high = quartiles(more_s)
    middle_s = statistics.median(more_s)
    return Row(
        KEY,
        what,
        f"{statistics.median(own_s):.3f} s",
        beside,
        ratio,
        required,
        verdict_of(middle_s < limit_s),
        commands=[text_of(command) for command in commands],
        note=f"{middle_s:.3f} s {more_text} (quartiles {low:.3f}..{high:.3f})",
        numbers=numbers,
    )


def local_row(bench, path):
    what = f"--local {NUM_RANKS}, start to finish"
    command = link(bench, path, "--local", NUM_RANKS)
    try:
        wall_s, messages_s = zip(*(launched(command, path) for _ in range(bench.num_launches)), strict=True)
    except NotMeasuredError as why:
        return absent(KEY, what, REQUIRED, why)
    beside = f"{statistics.median(messages_s):.3f} s messages"
    more_s = [wall - messages for wall, messages in zip(wall_s, messages_s, strict=True)]
    numbers = {"wall_s": wall_s, "messages_s": messages_s}
    return row_of(what, wall_s, beside, REQUIRED, LIMIT_S, more_s, "beside the messages", [command], numbers)


def row_under(mpi, bench, path):
    """The launches alternate with those of a program that calls MPI_Init and MPI_Finalize alone."""
    what, required = f"{NUM_RANKS} ranks of {mpi.name}, start to finish, without messages", REQUIRED_BESIDE_EMPTY
    try:
        need(mpi.launcher)
        start = mpi.start(NUM_RANKS, bound=False)
        empty = [*start, bench.compile(mpi.compiler, "bare/mpi_empty.c", f"{mpi.launcher}.empty")]
        command = [*start, *link(bench, path)]
        own_s, empty_s = [], []
        for _ in range(bench.num_launches):
            empty_s.append(run(empty, limit_s=120, cwd=path.parent).wall_s)
            wall_s, messages_s = launched(command, path)
            own_s.append(wall_s - messages_s)
    except NotMeasuredError as why:
        return absent(KEY, what, required, why)
    middle_s = statistics.median(empty_s)
    beside, ratio = f"{middle_s:.3f} s an empty program", statistics.median(own_s) / middle_s
    more_s = [own - other for own, other in zip(own_s, empty_s, strict=True)]
    numbers = {"own_s": own_s, "empty_s": empty_s}
    commands = [command, empty]
    return row_of(what, own_s, beside, required, LIMIT_BESIDE_EMPTY_S, more_s, "more", commands, numbers, ratio)


def rows(bench):
    path = bench.scratch("whole-run") / "result.h5"
    yield local_row(bench, path)
    for mpi in MPIS:
        yield row_under(mpi, bench, path)
