# SPDX-License-Identifier: Apache-2.0
# Row "two-ranks": latency and bandwidth between two MPI ranks, beside the bare loop of the same calls.
"""Launches alternate, each pair in the other order than the pair before."""

import json
import statistics

from .launch import MPIS, NotMeasuredError, need, run, text_of
from .table import Row, absent, quartiles, time_text, verdict_of

KEY = "two-ranks"
REQUIRED = "0.97..1.03"
TOLERANCE = 0.03
NUM_BATCHES = 20
# Message size, messages, warm-up; a launch is a fraction of a second of messages.
LATENCY = (8, 50_000, 5_000)
BANDWIDTH = (1 << 20, 1_000, 100)


def median_of_ours(ended):
    return json.loads(ended.stdout)["slices"][0]["all"]["time_ns_median"]


def median_of_bare(ended):
    return statistics.median(json.loads(ended.stdout)["time_ns_medians"])


def launches(bench, mpi, bare, shape):
    """Times of a message in ns, ours and bare, in pairs of neighbouring launches; and the two commands."""
    size, messages, warmup = shape
    if bench.is_quick:
        messages, warmup = messages // 10, warmup // 10
    start = mpi.start(2, bound=True)
    ours = [
        *start,
        bench.leadline,
        "link",
        "--transport",
        "mpi",
        "--wait",
        "spin",
        "--message-size",
        f"{size}B",
        "--messages",
        messages,
        "--warmup",
        warmup,
        "--batches",
        NUM_BATCHES,
        "--retest",
        0,
        "--output",
        "-",
        "--quiet",
    ]
    other = [*start, bare, size, messages, warmup, NUM_BATCHES]
    folder = bench.scratch("two-ranks")
    sides = ((ours, median_of_ours, []), (other, median_of_bare, []))
    for number in range(bench.num_launches):
        for command, median, times in sides if number % 2 == 0 else sides[::-1]:
            times.append(median(run(command, limit_s=120, cwd=folder)))
    return sides[0][2], sides[1][2], [text_of(ours), text_of(other)]


def spread_text(values):
    """How far launches of the same program lie apart: half the quartiles' distance, as a share of the median."""
    low, high = quartiles(values)
    return f"{50 * (high - low) / statistics.median(values):.1f} %"


def row(bench, mpi, bare, shape, quantity):
    ours, other, commands = launches(bench, mpi, bare, shape)
    ours_ns, other_ns = statistics.median(ours), statistics.median(other)
    is_latency = quantity == "latency"
    ratio = ours_ns / other_ns if is_latency else other_ns / ours_ns
    low, high = quartiles([a / b if is_latency else b / a for a, b in zip(ours, other, strict=False)])

    def text(time_ns):
        return time_text(time_ns) if is_latency else f"{shape[0] / time_ns * 1e9 / 2**30:.4g} GiB/s"

    size = "8 B" if is_latency else "1 MiB"
    note = (
        f"neighbouring launches: ratios {low:.3f}..{high:.3f} (quartiles of {len(ours)}); "
        f"launches of one program spread by {spread_text(ours)} (ours) and {spread_text(other)} (bare)"
    )
    return Row(
        KEY,
        f"{quantity} at {size}, {mpi.name}",
        text(ours_ns),
        text(other_ns) + " bare loop",
        ratio,
        REQUIRED,
        verdict_of(abs(ratio - 1) <= TOLERANCE),
        note=note,
        commands=commands,
        numbers={"ours_ns": ours, "bare_ns": other},
    )


def rows(bench):
    for mpi in MPIS:
        for shape, quantity in ((LATENCY, "latency"), (BANDWIDTH, "bandwidth")):
            try:
                need(mpi.launcher)
                bare = bench.compile(mpi.compiler, "bare/mpi_ping_pong.c", f"{mpi.launcher}.ping_pong", ["-O2"])
                yield row(bench, mpi, bare, shape, quantity)
            except NotMeasuredError as why:
                yield absent(KEY, f"{quantity}, {mpi.name}", REQUIRED, why)
