# SPDX-License-Identifier: Apache-2.0
# Row "whole-run": from start to finish of a local run, less the time of its messages.
"""What a user waits for beside the messages."""

import statistics

from .hdf5 import ResultFile
from .launch import NotMeasuredError, run, text_of
from .table import Row, absent, quartiles, verdict_of

KEY = "whole-run"
LIMIT_S = 0.6
REQUIRED = f"< {LIMIT_S} s"
NUM_RANKS, NUM_MESSAGES, NUM_WARMUP = 8, 100, 10


def communication_s(slice_):
    """The slowest pair of every round, and the messages of the retest, there and back."""
    retest_ns = sum(pair["retest_time_ns"] or 0 for pair in slice_["slowest_pairs"])
    return slice_["slowest_pairs_s"] + 1e-9 * retest_ns * 2 * (NUM_MESSAGES + NUM_WARMUP)


def rows(bench):
    what = f"--local {NUM_RANKS}, start to finish"
    path = bench.scratch("whole-run") / "result.h5"
    command = [
        bench.leadline,
        "link",
        "--local",
        NUM_RANKS,
        "--message-size",
        "1KiB",
        "--messages",
        NUM_MESSAGES,
        "--warmup",
        NUM_WARMUP,
        "--quiet",
        "--output",
        path,
    ]
    try:
        wall_s, messages_s = [], []
        for _ in range(bench.num_launches):
            wall_s.append(run(command, limit_s=120, cwd=path.parent).wall_s)
            with ResultFile(path) as result:
                messages_s.append(communication_s(result.summary()["slices"][0]))
            path.unlink()
        beside_s = [wall - messages for wall, messages in zip(wall_s, messages_s, strict=False)]
        low, high = quartiles(beside_s)
        middle_s = statistics.median(beside_s)
        yield Row(
            KEY,
            what,
            f"{statistics.median(wall_s):.3f} s",
            f"{statistics.median(messages_s):.3f} s messages",
            None,
            REQUIRED,
            verdict_of(middle_s < LIMIT_S),
            commands=[text_of(command)],
            note=f"{middle_s:.3f} s beside the messages (quartiles {low:.3f}..{high:.3f})",
            numbers={"wall_s": wall_s, "messages_s": messages_s},
        )
    except NotMeasuredError as why:
        yield absent(KEY, what, REQUIRED, why)
