# SPDX-License-Identifier: Apache-2.0
# Row "soft-roce": two bound ranks over verbs beside a bare loop, in a virtual machine with RDMA devices in software.
"""All launches are jobs of one virtual machine, that of tests/rdma, and alternate there, each pair in the other order
than the pair before. The machine is emulated: times mean nothing, their ratio does."""

import json
import os
import statistics
import sys

from .launch import SOURCE, FailedError, NotMeasuredError, text_of
from .pairs import bound, order_of
from .table import absent
from .transports import LIMIT, SECRET, Contest, Shape, compared, exchange, median_of_both, need_header

KEY = "soft-roce"
NUM_BATCHES = 20
CORES, DEVICES, NETWORKS, GID_INDEX = (0, 1), ("rxe0", "rxe1"), ("v0", "v1"), 1
SHAPES = (Shape("latency", 8, 5000), Shape("bandwidth", 1 << 20, 40))
LIMIT_S = 120
SIDES = ("ours", "bare")


def machine_of_the_tests():
    sys.path.insert(0, str(SOURCE / "tests" / "rdma"))
    try:
        import machine
    finally:
        sys.path.pop(0)
    return machine


def words_of_ours(bench, shape):
    """One shell line: rank 1 behind, rank 0 in front, which writes the result."""
    words = [bench.leadline, "link", "--transport", "verbs", "--wait", "spin", *exchange(shape, NUM_BATCHES)]
    words += ["--retest", 0, "--output", "-", "--quiet"]
    common = ["LEADLINE_SIZE=2", f"LEADLINE_SECRET={SECRET}"]
    for rank in (0, 1):
        common += [f"LEADLINE_ADDRESS_{rank}=127.0.0.1", f"LEADLINE_PORT_{rank}={60000 + rank}"]
    ranks = []
    for rank in (0, 1):
        own = bound(CORES[rank], [*words, "--interface", NETWORKS[rank]])
        ranks.append(text_of(["env", *common, f"LEADLINE_RANK={rank}", *own]))
    return f"{ranks[1]} & {ranks[0]}; status=$?; wait; exit $status"


def words_of_other(bare, shape):
    return text_of([bare, shape.size_bytes, shape.messages, shape.warmup, NUM_BATCHES, *CORES, *DEVICES, GID_INDEX])


def time_of_ours(text):
    return median_of_both(json.loads(text)["slices"])


def time_of_other(text):
    return statistics.median(json.loads(text)["time_ns_medians"])


def contest_for(bench, bare, shape):
    """Its sides are read from what the jobs have written, as nothing can be launched in the machine once it runs."""
    return Contest(
        f"{shape.words}, verbs",
        shape,
        time_of_ours,
        time_of_other,
        "bare loop",
        LIMIT,
        [words_of_ours(bench, shape), words_of_other(bare, shape)],
    )


def name_of(contest, side, number):
    return f"{contest.shape.size_bytes}-{SIDES[side]}-{number}"


def launched(bench, machine, contests):
    """Boots and runs all; how each ended."""
    jobs = []
    for contest in contests:
        for number in range(bench.num_launches):
            for side in order_of(number):
                jobs.append(machine.Job(name_of(contest, side, number), contest.commands[side], LIMIT_S))
    cache = SOURCE / "build" / "rdma"
    cache.mkdir(parents=True, exist_ok=True)
    try:
        return machine.run(machine.image(cache), jobs, bench.scratch(KEY), timeout_s=60 + LIMIT_S * len(jobs))
    except machine.NotHereError as why:
        raise NotMeasuredError(f"no virtual machine with RDMA devices: {why}") from None


def times_ns(ended, contest, side, num_launches):
    """Of every launch of one side."""
    found = []
    for number in range(num_launches):
        done = ended[name_of(contest, side, number)]
        if done.status != 0:
            said = (done.err.strip() or "no word").splitlines()[-1]
            raise FailedError(f"a launch ({SIDES[side]}) ended with status {done.status}: {said}")
        found.append((contest.ours, contest.other)[side](done.out))
    return found


def rows(bench):
    try:
        if os.geteuid() != 0:
            raise NotMeasuredError("only root can hand all files to a virtual machine")
        need_header("infiniband/verbs.h")
        bare = bench.compile("cc", "bare/verbs_ping_pong.c", "verbs.ping_pong", ["-O2", "-D_GNU_SOURCE"], ["-libverbs"])
        contests = [contest_for(bench, bare, shape) for shape in SHAPES]
        ended = launched(bench, machine_of_the_tests(), contests)
    except NotMeasuredError as why:
        yield absent(KEY, "verbs", f">= {LIMIT}", why)
        return
    for contest in contests:
        try:
            own, beside = (times_ns(ended, contest, side, bench.num_launches) for side in (0, 1))
            yield compared(KEY, contest, own, beside)
        except FailedError as why:
            yield absent(KEY, contest.what, f">= {LIMIT}", why)
