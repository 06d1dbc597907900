# SPDX-License-Identifier: Apache-2.0
# Row "bisection": random matchings beside bare calls of the same, and a whole run beside an empty MPI program.
"""Launches alternate, each pair in the other order than the pair before. A launch is as fast as the machine happens to
be, so of either side the fastest counts for the loop; a whole run is judged by medians."""

import json
import statistics

from .launch import MPIS, NotMeasuredError, need, run, text_of
from .pairs import order_of
from .table import Row, absent, quartiles, time_text, verdict_of

KEY = "bisection"
LIMIT = 0.97
MORE_S = 2
REQUIRED, REQUIRED_WHOLE = f">= {LIMIT}", f"<= {MORE_S} s more"
LOOP_RANKS, LOOP_SIZE = 4, 64 << 10
# Exchanges, warm-up, patterns. With more ranks than cores MPICH's blocking calls never give a core away.
SHAPES = {"Open MPI": (200, 20, 20), "MPICH": (10, 2, 2)}
WHOLE_RANKS, WHOLE_PATTERNS = 8, 10


def in_turn(num_launches, sides):
    """Calls the two sides' functions in pairs of neighbouring launches; what they returned, by side."""
    found = ([], [])
    for number in range(num_launches):
        for side in order_of(number):
            found[side].append(sides[side]())
    return found


def loop(bench, mpi):
    exchanges, warmup, patterns = SHAPES[mpi.name]
    bare = bench.compile(mpi.compiler, "bare/mpi_bisection.c", f"{mpi.launcher}.bisection", ["-O2"])
    start = mpi.start(LOOP_RANKS, bound=False)
    ours = [*start, bench.leadline, "bisection", "--transport", "mpi", "--within-hosts"]
    ours += ["--message-size", f"{LOOP_SIZE}B", "--exchanges", exchanges, "--warmup", warmup]
    ours += ["--rounds", patterns, "--precision", 0, "--time-limit", 0, "--baseline-pairs", 0, "--retest", 0]
    ours += ["--output", "-", "--quiet"]
    other = [*start, bare, LOOP_SIZE, exchanges, warmup, patterns]
    folder = bench.scratch("bisection")

    def ours_ns():
        summary = json.loads(run(ours, limit_s=300, cwd=folder).stdout)["sizes"][0]
        return 1e9 * LOOP_SIZE / summary["bytes_per_s_harmonic"]

    def bare_ns():
        return float(run(other, limit_s=300, cwd=folder).stdout)

    our_times_ns, bare_times_ns = in_turn(bench.num_launches, (ours_ns, bare_ns))
    ratio = min(bare_times_ns) / min(our_times_ns)
    over_launches = statistics.median(bare_times_ns) / statistics.median(our_times_ns)
    low, high = quartiles([b / a for a, b in zip(our_times_ns, bare_times_ns, strict=True)])
    return Row(
        KEY,
        f"exchange of {LOOP_SIZE >> 10} KiB in random matchings, {LOOP_RANKS} ranks, {mpi.name}",
        time_text(min(our_times_ns)),
        time_text(min(bare_times_ns)) + " bare calls",
        ratio,
        REQUIRED,
        verdict_of(ratio >= LIMIT),
        note=f"ratio of medians over launches {over_launches:.3f}; neighbouring launches {low:.3f}..{high:.3f}",
        commands=[text_of(ours), text_of(other)],
        numbers={"ours_ns": our_times_ns, "bare_ns": bare_times_ns},
    )


def whole(bench, mpi):
    empty = bench.compile(mpi.compiler, "bare/mpi_empty.c", f"{mpi.launcher}.empty")
    start = mpi.start(WHOLE_RANKS, bound=False)
    folder = bench.scratch("bisection")
    path = folder / "result.h5"
    ours = [*start, bench.leadline, "bisection", "--message-size", "1MiB", "--rounds", WHOLE_PATTERNS]
    ours += ["--overwrite", "--quiet", "--output", path]
    other = [*start, empty]
    our_walls_s, empty_walls_s = in_turn(
        bench.num_launches,
        (lambda: run(ours, limit_s=120, cwd=folder).wall_s, lambda: run(other, limit_s=120, cwd=folder).wall_s),
    )
    more_s = statistics.median(our_walls_s) - statistics.median(empty_walls_s)
    return Row(
        KEY,
        f"whole run, {WHOLE_RANKS} ranks, 1 MiB, {WHOLE_PATTERNS} patterns, {mpi.name}",
        f"{statistics.median(our_walls_s):.3f} s",
        f"{statistics.median(empty_walls_s):.3f} s empty program",
        None,
        REQUIRED_WHOLE,
        verdict_of(more_s <= MORE_S),
        note=f"{more_s:.3f} s more; ours {min(our_walls_s):.3f}..{max(our_walls_s):.3f} s",
        commands=[text_of(ours), text_of(other)],
        numbers={"ours_s": our_walls_s, "empty_s": empty_walls_s},
    )


def rows(bench):
    parts = ((loop, "exchange in random matchings", REQUIRED), (whole, "whole run", REQUIRED_WHOLE))
    for mpi in MPIS:
        for part, what, required in parts:
            try:
                need(mpi.launcher)
                yield part(bench, mpi)
            except NotMeasuredError as why:
                yield absent(KEY, f"{what}, {mpi.name}", required, why)
