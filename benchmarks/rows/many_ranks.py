# SPDX-License-Identifier: Apache-2.0
# Row "many-ranks": what randomly sampled rounds of a million ranks show, and what their diagnosis costs.
"""A simulated machine in one process: the engine's own rounds, records and diagnosis; nothing is measured."""

from .launch import NotMeasuredError, run, text_of
from .memory import engine_program
from .table import Row, absent, verdict_of

KEY = "many-ranks"
NUM_RANKS = 1 << 20
LIMIT_GB, LIMIT_S = 20, 900

# What is broken, how much slower it is, and in how many rounds it is to be found, alone.
CASES = (("host", 1.2, 32), ("host", 1.5, 32), ("uplink", 1.2, 256))


def rows(bench):
    try:
        program = engine_program(bench, "diagnosis/many_ranks.cpp", "many_ranks")
        for kind, factor, num_rounds in CASES:
            yield row_of(program, kind, factor, num_rounds)
    except NotMeasuredError as why:
        yield absent(KEY, f"diagnosis of {NUM_RANKS} ranks", "found", why)


def row_of(program, kind, factor, num_rounds):
    command = [program, kind, factor, num_rounds]
    words = run(command, limit_s=LIMIT_S).stdout.splitlines()[-1].split()
    told = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    is_met = told["found"] == 1 and told["wrong"] == 0 and told["peak"] < LIMIT_GB
    return Row(
        KEY,
        f"one {kind} of {NUM_RANKS} ranks, x{factor}, {num_rounds} rounds",
        f"found {told['found']:.0f}, wrong {told['wrong']:.0f}, {told['peak']:.2f} GB",
        "-",
        None,
        f"found, nothing else, < {LIMIT_GB} GB",
        verdict_of(is_met),
        note=f"simulated in {told['simulating']:.0f} s, diagnosed in {told['diagnosing']:.0f} s "
        f"({told['processor']:.0f} s of processors)",
        commands=[text_of(command)],
        numbers=told,
    )
