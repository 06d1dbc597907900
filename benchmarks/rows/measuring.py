# SPDX-License-Identifier: Apache-2.0
# Row "measuring": the whole measuring phase beside the sum over rounds of the slowest pair.
"""16 ranks on however few cores there are."""

import statistics

from .hdf5 import ResultFile
from .launch import MPIS, NotMeasuredError, need, run, text_of
from .table import Row, absent, quartiles, verdict_of

KEY = "measuring"
LIMIT = 1.15
REQUIRED = f"<= {LIMIT}"
NUM_RANKS, NUM_MESSAGES, NUM_WARMUP = 16, 100, 10


def round_of(a, b, num_ranks):
    """1-based round of the circle method in which a < b meet; even numbers of ranks."""
    if a == 0:
        return num_ranks - b
    return (-(a + b - 2) * (num_ranks // 2)) % (num_ranks - 1) or num_ranks - 1


def slowest_pairs_ns(mean_ns, num_messages, num_warmup):
    """Sum over rounds of the slowest pair, from the matrix of mean times alone: there and back, both halves."""
    num_ranks = len(mean_ns)
    slowest = {}
    for a in range(num_ranks):
        for b in range(a + 1, num_ranks):
            number = round_of(a, b, num_ranks)
            pair_ns = 2 * (num_messages + num_warmup) * (mean_ns[a][b] + mean_ns[b][a])
            slowest[number] = max(slowest.get(number, 0), pair_ns)
    if len(slowest) != num_ranks - 1:
        raise NotMeasuredError(f"{len(slowest)} rounds were found, not {num_ranks - 1}")
    return sum(slowest.values())


def one_launch(command, path):
    run(command, limit_s=180, cwd=path.parent)
    with ResultFile(path) as result:
        slice_ = result.summary()["slices"][0]
        from_matrix_s = 1e-9 * slowest_pairs_ns(result.matrix("time_ns_mean"), NUM_MESSAGES, NUM_WARMUP)
    path.unlink()
    return slice_["measuring_s"], slice_["slowest_pairs_s"], from_matrix_s, slice_["retest_s"]


def rows_of(bench, name, words):
    path = bench.scratch("measuring") / "result.h5"
    command = [
        *words,
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
    seen = [one_launch(command, path) for _ in range(bench.num_launches)]
    measuring_s, by_itself_s, from_matrix_s, retest_s = (
        statistics.median(column) for column in zip(*seen, strict=False)
    )
    for what, other_s, column in ((name, by_itself_s, 1), (f"{name}, from matrices", from_matrix_s, 2)):
        ratios = [launch[0] / launch[column] for launch in seen]
        low, high = quartiles(ratios)
        ratio = statistics.median(ratios)
        yield Row(
            KEY,
            what,
            f"{1e3 * measuring_s:.1f} ms",
            f"{1e3 * other_s:.1f} ms slowest pairs",
            ratio,
            REQUIRED,
            verdict_of(ratio <= LIMIT),
            commands=[text_of(command)],
            note=f"quartiles of the ratio {low:.3f}..{high:.3f}; the retest takes {1e3 * retest_s:.1f} ms of it",
            numbers={"launches": seen, "columns": ["measuring_s", "slowest_pairs_s", "from_matrix_s", "retest_s"]},
        )


def rows(bench):
    runs = [("tcp", None, lambda: [bench.leadline, "link", "--local", NUM_RANKS])]
    for mpi in MPIS:
        runs.append(
            (
                mpi.name,
                mpi.launcher,
                lambda mpi=mpi: [*mpi.start(NUM_RANKS, bound=False), bench.leadline, "link", "--transport", "mpi"],
            )
        )
    for name, launcher, words in runs:
        what = f"{NUM_RANKS} ranks, {name}"
        try:
            if launcher is not None:
                need(launcher)
            yield from rows_of(bench, what, words())
        except NotMeasuredError as why:
            yield absent(KEY, what, REQUIRED, why)
