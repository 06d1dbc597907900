# SPDX-License-Identifier: Apache-2.0
# Row "funnel": all ranks' data streaming to one, without a file, beside a bare windowed send and receive loop.
"""Launches alternate. Both sides move the same bytes through as many buffers."""

import json
import statistics

from .bisection import in_turn
from .launch import MPIS, NotMeasuredError, need, run, text_of
from .table import Row, absent, quartiles, time_text, verdict_of

KEY = "funnel"
LIMIT = 0.9
REQUIRED = f">= {LIMIT}"
RANKS, OBJECTS, SIZE, WINDOW = 4, 256, 1 << 20, 4


def row_of(bench, mpi):
    bare = bench.compile(mpi.compiler, "bare/mpi_funnel.c", f"{mpi.launcher}.funnel", ["-O2"])
    start = mpi.start(RANKS, bound=False)
    senders = RANKS - 1
    # Two buffers of half a window for each sender: as many receives are under way as the bare loop posts.
    ours = [*start, bench.leadline, "io", "--movement", "N-M-1", "--io-ranks", 1, "--no-file", "--no-self-send"]
    ours += ["--op", "write", "--objects", OBJECTS, "--object-size", f"{SIZE}B", "--touch", "never", "--ahead", 1]
    ours += ["--buffer-size", f"{senders * WINDOW // 2 * SIZE}B", "--output", "-", "--quiet"]
    other = [*start, bare, OBJECTS, SIZE, WINDOW]
    folder = bench.scratch("funnel")
    total_bytes = senders * OBJECTS * SIZE

    def ours_ns():
        phase = json.loads(run(ours, limit_s=300, cwd=folder).stdout)["phases"][0]
        return 1e9 * total_bytes / phase["bytes_per_s"]

    our_times_ns, bare_times_ns = in_turn(
        bench.num_launches, (ours_ns, lambda: float(run(other, limit_s=300, cwd=folder).stdout))
    )
    ratio = statistics.median(bare_times_ns) / statistics.median(our_times_ns)
    low, high = quartiles([b / a for a, b in zip(our_times_ns, bare_times_ns, strict=True)])
    return Row(
        KEY,
        f"{senders} ranks to one, {OBJECTS} x {SIZE >> 20} MiB each, no file, {mpi.name}",
        time_text(statistics.median(our_times_ns)),
        time_text(statistics.median(bare_times_ns)) + " bare loop",
        ratio,
        REQUIRED,
        verdict_of(ratio >= LIMIT),
        note=f"fastest launches {min(bare_times_ns) / min(our_times_ns):.3f}; "
        f"neighbouring launches {low:.3f}..{high:.3f}",
        commands=[text_of(ours), text_of(other)],
        numbers={"ours_ns": our_times_ns, "bare_ns": bare_times_ns},
    )


def rows(bench):
    for mpi in MPIS:
        try:
            need(mpi.launcher)
            yield row_of(bench, mpi)
        except NotMeasuredError as why:
            yield absent(KEY, f"ranks to one, {mpi.name}", REQUIRED, why)
