# SPDX-License-Identifier: Apache-2.0
# Row "soft-roce": two bound ranks over verbs beside a bare loop, in a virtual machine with RDMA devices in software.
"""All launches are jobs of one virtual machine, that of tests/rdma, and alternate there, each pair in the other order
than the pair before. The machine is emulated: times mean nothing, their ratio does."""

import json
import os
import statistics
import sys

from .launch import SOURCE, NotMeasuredError, text_of
from .pairs import bound
from .table import FAILED, Row, absent, quartiles, verdict_of
from .transports import LIMIT, SECRET, Shape, exchange, median_of_both, need_header

KEY = "soft-roce"
NUM_BATCHES = 20
CORES, DEVICES, NETWORKS, GID_INDEX = (0, 1), ("rxe0", "rxe1"), ("v0", "v1"), 1
SHAPES = (Shape("latency", 8, 5000), Shape("bandwidth", 1 << 20, 40))
LIMIT_S = 120


def machine_of_the_tests():
    sys.path.insert(0, str(SOURCE / "tests" / "rdma"))
    try:
        import machine
    finally:
        sys.path.pop(0)
    return machine


def ours(bench, shape):
    """One shell line: rank 1 behind, rank 0 in front, which writes the result."""
    words = [bench.leadline, "link", "--transport", "verbs", "--wait", "spin", *exchange(shape, NUM_BATCHES)]
    words += ["--retest-slowest", 0, "--output", "-", "--quiet"]
    common = ["LEADLINE_SIZE=2", f"LEADLINE_SECRET={SECRET}"]
    for rank in (0, 1):
        common += [f"LEADLINE_ADDRESS_{rank}=127.0.0.1", f"LEADLINE_PORT_{rank}={60000 + rank}"]
    ranks = []
    for rank in (0, 1):
        own = bound(CORES[rank], [*words, "--interface", NETWORKS[rank]])
        ranks.append(text_of(["env", *common, f"LEADLINE_RANK={rank}", *own]))
    return f"{ranks[1]} & {ranks[0]}; status=$?; wait; exit $status"


def other(bare, shape):
    return text_of([bare, shape.size_bytes, shape.messages, shape.warmup, NUM_BATCHES, *CORES, *DEVICES, GID_INDEX])


def time_of_ours(text):
    return median_of_both(json.loads(text)["slices"])


def time_of_other(text):
    return statistics.median(json.loads(text)["time_ns_medians"])


def times_ns(ended, shape, side, num_launches, time_of):
    """Of every launch of one side."""
    found = []
    for number in range(num_launches):
        done = ended[name_of(shape, side, number)]
        if done.status != 0:
            said = (done.err.strip() or "no word").splitlines()[-1]
            raise NotMeasuredError(f"a launch of {side} ended with status {done.status}: {said}")
        found.append(time_of(done.out))
    return found


def name_of(shape, side, number):
    return f"{shape.size_bytes}-{side}-{number}"


def launched(bench, machine, commands):
    """Boots and runs all; how each ended."""
    jobs = []
    for shape in SHAPES:
        for number in range(bench.num_launches):
            order = ("ours", "bare") if number % 2 == 0 else ("bare", "ours")
            jobs += [machine.Job(name_of(shape, side, number), commands[shape][side], LIMIT_S) for side in order]
    cache = SOURCE / "build" / "rdma"
    cache.mkdir(parents=True, exist_ok=True)
    try:
        return machine.run(machine.image(cache), jobs, bench.scratch(KEY), timeout_s=60 + LIMIT_S * len(jobs))
    except machine.NotHereError as why:
        raise NotMeasuredError(f"no virtual machine with RDMA devices: {why}") from None


def row(ended, shape, commands, num_launches):
    what = f"{shape.words}, verbs"
    try:
        own = times_ns(ended, shape, "ours", num_launches, time_of_ours)
        beside = times_ns(ended, shape, "bare", num_launches, time_of_other)
    except NotMeasuredError as why:
        return Row(KEY, what, "-", "-", None, f">= {LIMIT}", FAILED, note=str(why))
    ratio = statistics.median(beside) / statistics.median(own)
    low, high = quartiles([b / a for a, b in zip(own, beside, strict=True)])
    return Row(
        KEY,
        what,
        shape.text(statistics.median(own)),
        f"{shape.text(statistics.median(beside))} bare loop",
        ratio,
        f">= {LIMIT}",
        verdict_of(ratio >= LIMIT),
        note=f"fastest launches {min(beside) / min(own):.3f}; neighbouring launches {low:.3f}..{high:.3f}",
        commands=list(commands.values()),
        numbers={"ours_ns": own, "beside_ns": beside},
    )


def rows(bench):
    try:
        if os.geteuid() != 0:
            raise NotMeasuredError("only root can hand all files to a virtual machine")
        need_header("infiniband/verbs.h")
        bare = bench.compile("cc", "bare/verbs_ping_pong.c", "verbs.ping_pong", ["-O2", "-D_GNU_SOURCE"], ["-libverbs"])
        commands = {shape: {"ours": ours(bench, shape), "bare": other(bare, shape)} for shape in SHAPES}
        ended = launched(bench, machine_of_the_tests(), commands)
        for shape in SHAPES:
            yield row(ended, shape, commands[shape], bench.num_launches)
    except NotMeasuredError as why:
        yield absent(KEY, "verbs", f">= {LIMIT}", why)
