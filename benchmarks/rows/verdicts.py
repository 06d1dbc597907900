# SPDX-License-Identifier: Apache-2.0
# Row "verdicts": random faults of 512 hosts, found or not, by kind and size; and a whole diagnosis of 28,672 ranks.
"""A simulated machine in one process: the engine's own records and diagnosis; nothing is measured."""

from dataclasses import dataclass

from .launch import NotMeasuredError, run, text_of
from .memory import engine_program
from .table import Row, absent, verdict_of

KEY = "verdicts"
LEAST_SHARE = 0.99  # of faults that are found, and of findings that are right
LIMIT_S, LIMIT_GB = 60, 2
MOST_S = 6 * 3600


@dataclass(frozen=True)
class Series:
    """Random faults, of each kind in turn."""

    num: int
    what: str
    words: tuple  # least and greatest factor, how it shows, the first seed
    is_required: bool = False


SERIES = (
    Series(1000, "x1.2 to x3", (1.2, 3, "slow", 1), is_required=True),
    Series(260, "x1.1 to x1.2", (1.1, 1.2, "slow", 10_001)),
    Series(260, "x1.05 to x1.1", (1.05, 1.1, "slow", 20_001)),
    Series(130, "1 % lost", (1, 1, "unsteady", 30_001)),
)
QUICK = 13  # scenarios of each series, one of each kind
COUNTS = ("planted", "found", "findings", "right")


def rows(bench):
    """Hundreds of scenarios of each series: an hour of two cores."""
    try:
        program = engine_program(bench, "diagnosis/scenarios.cpp", "scenarios")
        for series in SERIES:
            yield from series_rows(program, series, QUICK if bench.is_quick else series.num)
        yield all_pairs_row(engine_program(bench, "diagnosis/many_ranks.cpp", "many_ranks"))
    except NotMeasuredError as why:
        yield absent(KEY, "faults of 512 hosts", "found", why)


def series_rows(program, series, num):
    """One for each kind of fault, one of them all."""
    command = [program, num, *series.words]
    lines = [line.split() for line in run(command, limit_s=MOST_S).stdout.splitlines() if line.startswith("seed ")]
    told = [dict(zip(words[::2], words[1::2], strict=True)) for words in lines]
    for kind in sorted({one["kind"] for one in told}):
        yield row_of(f"{series.what}, {kind}", [one for one in told if one["kind"] == kind])
    row = row_of(f"{series.what}, all kinds", told)
    row.commands = [text_of(command)]
    if series.is_required:
        row.required = f">= {LEAST_SHARE:.0%} of both"
        numbers = row.numbers
        is_met = all(numbers[a] >= LEAST_SHARE * numbers[b] for a, b in (("found", "planted"), ("right", "findings")))
        row.verdict = verdict_of(is_met)
    yield row


def row_of(what, told):
    """Without a requirement."""
    sums = {name: sum(int(one[name]) for one in told) for name in COUNTS}
    ours = f"{sums['found']} of {sums['planted']} found, {sums['right']} of {sums['findings']} findings right"
    return Row(KEY, what, ours, "-", None, "-", "-", numbers=sums)


def all_pairs_row(program):
    """All pairs of 28,672 ranks on 112 switches of 32 hosts, one of them 20 % slow."""
    command = [program, "host", 1.2, 0, 4, 1, 28]
    words = run(command, limit_s=MOST_S).stdout.splitlines()[-1].split()
    told = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    is_met = told["found"] == 1 and told["wrong"] == 0 and told["diagnosing"] <= LIMIT_S and told["peak"] <= LIMIT_GB
    return Row(
        KEY,
        "all pairs of 28672 ranks, one host x1.2",
        f"found {told['found']:.0f}, wrong {told['wrong']:.0f}, {told['diagnosing']:.1f} s, {told['peak']:.2f} GB",
        "-",
        None,
        f"found, nothing else, <= {LIMIT_S} s, <= {LIMIT_GB} GB",
        verdict_of(is_met),
        note=f"{told['processor']:.0f} s of processors; without reading a file",
        commands=[text_of(command)],
        numbers=told,
    )
