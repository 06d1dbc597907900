# SPDX-License-Identifier: Apache-2.0
# Row "blocks": how fast one core fills objects for files and checks them.
"""The engine's own functions, on one core, whichever instructions it has."""

import statistics

from .launch import NotMeasuredError, run, text_of
from .memory import engine_program
from .table import Row, absent, verdict_of

KEY = "blocks"
OBJECT_BYTES, NUM_OBJECTS, NUM_RUNS = 1 << 20, 500, 3
LEAST_GB_PER_S = 5
REQUIRED = f">= {LEAST_GB_PER_S} GB/s"


def rows(bench):
    try:
        program = engine_program(bench, "memory/block_pattern.cpp", "block_pattern")
        command = [program, OBJECT_BYTES, NUM_OBJECTS, NUM_RUNS]
        speeds = [
            [float(word) for word in line.split()]
            for _ in range(bench.num_launches)
            for line in run(command, limit_s=120).stdout.splitlines()
        ]
    except NotMeasuredError as why:
        yield absent(KEY, "objects of 1 MiB", REQUIRED, why)
        return
    for what, of_runs in zip(("filling", "checking"), zip(*speeds, strict=True), strict=True):
        gb_per_s = statistics.median(of_runs)
        yield Row(
            KEY,
            f"{what} objects of 1 MiB",
            f"{gb_per_s:.1f} GB/s",
            "-",
            None,
            REQUIRED,
            verdict_of(gb_per_s >= LEAST_GB_PER_S),
            note=f"{min(of_runs):.1f} to {max(of_runs):.1f} GB/s",
            commands=[text_of(command)],
            numbers={"gb_per_s": list(of_runs)},
        )
