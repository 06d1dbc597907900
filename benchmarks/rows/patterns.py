# SPDX-License-Identifier: Apache-2.0
# Row "patterns": what a random pattern of a million ranks takes on each of them.
"""The engine's own function, call by call; its heap is the peak with patterns less the peak without."""

import statistics

from .launch import NotMeasuredError, run, text_of
from .memory import counted_run, engine_program
from .table import Row, absent, time_text, verdict_of

KEY = "patterns"
NUM_RANKS = 1 << 20
LIMIT_NS, LIMIT_BYTES = 50e6, 16_000_000
# One rank a host, many on each host, and the hardest case: half of all pairs must be parted.
RANKS_PER_HOST = (1, 64, NUM_RANKS // 2)
NUM_PATTERNS = 10


def rows(bench):
    try:
        program = engine_program(bench, "memory/random_patterns.cpp", "random_patterns")
        counter = bench.compile("cc", "memory/heap_peak.c", "heap_peak.so", ["-O2", "-shared", "-fPIC"])
        for ranks_per_host in RANKS_PER_HOST:
            yield from rows_of(bench, program, counter, ranks_per_host)
    except NotMeasuredError as why:
        yield absent(KEY, f"random pattern of {NUM_RANKS} ranks", f"< {time_text(LIMIT_NS)}", why)


def rows_of(bench, program, counter, ranks_per_host):
    what = f"random pattern of {NUM_RANKS} ranks, {ranks_per_host} a host"
    command = [program, NUM_RANKS, ranks_per_host, NUM_PATTERNS]
    launches = [
        [float(line.split()[0]) for line in run(command, limit_s=120).stdout.splitlines()]
        for _ in range(bench.num_launches)
    ]
    time_ns = statistics.median(statistics.median(times) for times in launches)
    yield Row(
        KEY,
        f"{what}, time",
        time_text(time_ns),
        "-",
        None,
        f"< {time_text(LIMIT_NS)}",
        verdict_of(time_ns < LIMIT_NS),
        note=f"slowest call {time_text(max(max(times) for times in launches))}",
        commands=[text_of(command)],
        numbers={"time_ns": launches},
    )
    without, with_patterns = (
        max(counted_run(bench, counter, [*command[:-1], num], limit_s=120).values()) for num in (0, 2)
    )
    yield Row(
        KEY,
        f"{what}, memory",
        f"{(with_patterns - without) / 1e6:.2f} MB",
        "-",
        None,
        f"<= {LIMIT_BYTES // 10**6} MB",
        verdict_of(with_patterns - without <= LIMIT_BYTES),
        note=f"beside {without / 1e6:.2f} MB of tables that any run has: hosts, and who takes part",
        commands=[text_of(command)],
        numbers={"peak_heap_bytes": {"without": without, "with": with_patterns}},
    )
