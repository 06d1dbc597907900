# SPDX-License-Identifier: Apache-2.0
# Row "memory": heap of a rank for every partner, and what the dry run of a million ranks takes.
"""Peaks of heap are counted byte by byte by a preloaded library; a slope is the difference between two sizes."""

import statistics
import struct
import subprocess

from .hdf5 import ResultFile
from .launch import SOURCE, NotMeasuredError, need, run, text_of
from .table import Row, absent, verdict_of

KEY = "memory"
LIMIT_BYTES = 64
REQUIRED = f"<= {LIMIT_BYTES} bytes"
LOCAL_RANKS = (16, 64)
SIMULATED_RANKS = (50_000, 100_000)
DRY_RUN_RANKS = 1 << 20
DRY_RUN_S, DRY_RUN_BYTES = 5, 100_000_000


def peaks(folder):
    """Peak of heap of every process that left its count."""
    return {int(path.name): struct.unpack("=qq", path.read_bytes()[:16])[1] for path in folder.iterdir()}


def counted_run(bench, counter, command, limit_s):
    folder = bench.scratch("heap")
    run(
        command, limit_s=limit_s, cwd=folder.parent, extra={"LD_PRELOAD": str(counter), "HEAP_PEAK_FOLDER": str(folder)}
    )
    return peaks(folder)


def slope_row(what, peak_of, sizes, command, note=""):
    slope = (peak_of[sizes[1]] - peak_of[sizes[0]]) / (sizes[1] - sizes[0])
    return Row(
        KEY,
        what,
        f"{slope:.1f} bytes",
        f"{sizes[0]} and {sizes[1]} ranks",
        None,
        REQUIRED,
        verdict_of(slope <= LIMIT_BYTES),
        note=note,
        commands=[text_of(command)],
        numbers={"peak_heap_bytes": peak_of},
    )


def real_rows(bench, counter):
    """Rank 0, and the hungriest other rank, of real runs."""
    of_rank_0, of_others = {}, {}
    for size in LOCAL_RANKS:
        path = bench.scratch("memory") / "result.h5"
        command = [
            bench.leadline,
            "link",
            "--local",
            size,
            "--messages",
            1,
            "--batches",
            1,
            "--warmup",
            0,
            "--quiet",
            "--output",
            path,
        ]
        peak_of = counted_run(bench, counter, command, limit_s=240)
        with ResultFile(path) as result:
            processes = result.processes()
        try:
            of_rank_0[size] = peak_of[processes[0]]
            of_others[size] = max(peak_of[process] for process in processes[1:])
        except KeyError as process:
            raise NotMeasuredError(f"process {process} left no count") from None
    for what, peak_of in (("rank 0", of_rank_0), ("other ranks", of_others)):
        yield slope_row(f"a partner, {what}, real runs", peak_of, LOCAL_RANKS, command)


def flags_of(*packages):
    """Linker flags of the first of these packages that pkg-config knows."""
    need("pkg-config")
    for package in packages:
        found = subprocess.run(
            ["pkg-config", "--cflags", "--libs", package], capture_output=True, text=True, timeout=20
        )
        if found.returncode == 0:
            return found.stdout.split()
    raise NotMeasuredError(f"pkg-config does not know {packages[0]}")


def engine_program(bench, source, name):
    """A program of this folder, linked with the layers of the engine that lies beside the measured program."""
    engine = bench.leadline.parent.parent / "engine"
    layers = sorted(str(path) for path in engine.rglob("*.a"))
    if not layers:
        raise NotMeasuredError(
            f"{engine} holds no libraries of the layers: the program does not lie in its build folder"
        )
    libraries = [flag for packages in (["fmt"], ["hdf5-serial", "hdf5"]) for flag in flags_of(*packages)]
    return bench.compile(
        "c++",
        source,
        name,
        ["-std=c++20", "-O2", "-pthread", "-I", str(SOURCE / "engine")],
        ["-Wl,--start-group", *layers, "-Wl,--end-group", *libraries, "-ldl"],
    )


def simulated_rows(bench, counter):
    program = engine_program(bench, "memory/one_rank_of_many.cpp", "one_rank_of_many")
    for what, rank in (("rank 0", 0), ("rank 1", 1)):
        peak_of = {}
        for size in SIMULATED_RANKS:
            path = bench.scratch("memory") / "result.h5"
            command = [program, size, rank, path]
            peak_of[size] = max(counted_run(bench, counter, command, limit_s=120).values())
        yield slope_row(
            f"a partner, {what}, others simulated",
            peak_of,
            SIMULATED_RANKS,
            command,
            note="the engine's addresses, plan, file and all rounds; no other process",
        )


def dry_run_rows(bench):
    command = [bench.leadline, "link", "--dry-run", "--ranks", DRY_RUN_RANKS]
    ended = [run(command, limit_s=60) for _ in range(bench.num_launches)]
    wall_s = statistics.median(one.wall_s for one in ended)
    rss = max(one.max_rss_bytes for one in ended)
    for what, ours, limit, is_met in (
        ("time", f"{wall_s:.3f} s", f"< {DRY_RUN_S} s", wall_s < DRY_RUN_S),
        ("memory", f"{rss / 1e6:.1f} MB", f"< {DRY_RUN_BYTES // 10**6} MB", rss < DRY_RUN_BYTES),
    ):
        yield Row(
            KEY,
            f"dry run of {DRY_RUN_RANKS} ranks, {what}",
            ours,
            "-",
            None,
            limit,
            verdict_of(is_met),
            commands=[text_of(command)],
            numbers={"wall_s": [one.wall_s for one in ended], "max_rss_bytes": rss},
        )


def rows(bench):
    try:
        yield from dry_run_rows(bench)
    except NotMeasuredError as why:
        yield absent(KEY, f"dry run of {DRY_RUN_RANKS} ranks", f"< {DRY_RUN_S} s", why)
    for what, part in (("a partner, real runs", real_rows), ("a partner, others simulated", simulated_rows)):
        try:
            counter = bench.compile("cc", "memory/heap_peak.c", "heap_peak.so", ["-O2", "-shared", "-fPIC"])
            yield from part(bench, counter)
        except NotMeasuredError as why:
            yield absent(KEY, what, REQUIRED, why)
