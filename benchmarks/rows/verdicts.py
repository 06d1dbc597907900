# SPDX-License-Identifier: Apache-2.0
# Row "verdicts": how right the diagnosis is on simulated clusters, by family; and a whole diagnosis of 28,672 ranks.
"""Nothing is measured: simulated link tests with known faults."""

import json
import sys

from .launch import FOLDER, SOURCE, FailedError, NotMeasuredError, run, text_of
from .memory import engine_program
from .table import Row, absent, verdict_of

KEY = "verdicts"
LIMIT_S, LIMIT_GB = 60, 2
MOST_S = 6 * 3600
ALL_PAIRS = "all pairs of 28672 ranks, one host x1.2"
ALL_PAIRS_REQUIRED = f"found, nothing else, <= {LIMIT_S} s, <= {LIMIT_GB} GB"
RUNS, QUICK_RUNS = 100, 4


def rows(bench):
    """A line a family, then the large one."""
    try:
        yield from family_rows(bench)
    except NotMeasuredError as why:
        yield absent(KEY, "simulated clusters", "right", why)
    try:
        yield all_pairs_row(engine_program(bench, "diagnosis/many_ranks.cpp", "many_ranks"))
    except NotMeasuredError as why:
        yield absent(KEY, ALL_PAIRS, ALL_PAIRS_REQUIRED, why)


def family_rows(bench):
    """By judges.py, which needs numpy and h5py: the Python of .venv has them."""
    own = SOURCE / ".venv/bin/python"
    python = own if own.exists() else sys.executable
    try:
        run([python, "-c", "import h5py, numpy"], limit_s=60)
    except FailedError:
        raise NotMeasuredError(f"{python} has no h5py and numpy") from None
    numbers = bench.scratch(KEY) / "numbers.json"
    command = [python, FOLDER / "diagnosis/judges.py", "--leadline", bench.leadline, "--json", numbers]
    command += ["--runs", QUICK_RUNS if bench.is_quick else RUNS]
    run(command, limit_s=MOST_S)
    told = json.loads(numbers.read_text())
    for family in dict.fromkeys(one["family"] for one in told):
        yield family_row(family, {one["judge"]: one for one in told if one["family"] == family}, command)


def family_row(family, judges, command):
    """Beside the plain rule of medians."""
    ours, rule = judges["diagnose"], judges["medians"]
    goal = ", ".join(f"{key} {'>=' if key == 'recall' else '<='} {value:.0%}" for key, value in ours["goal"].items())
    better = ours["better_rules"]
    return Row(
        KEY,
        family,
        text(ours),
        text(rule),
        None,
        goal,
        verdict_of(ours["is_met"]),
        note=f"better: {', '.join(better)}" if better else "",
        commands=[text_of(command)],
        numbers=judges,
    )


def text(one):
    """What a judge did, in words."""
    if one["recall"] is None:
        return f"{one['alarmed']:.0%} of {one['runs']} alarmed"
    return (
        f"{one['recall']:.0%} of {one['planted']} named, {one['runs_with_false']:.0%} of {one['runs']} runs with false"
    )


def all_pairs_row(program):
    """All pairs of 28,672 ranks on 112 switches of 32 hosts, one of them 20 % slow."""
    command = [program, "host", 1.2, 0, 4, 1, 28]
    words = run(command, limit_s=MOST_S).stdout.splitlines()[-1].split()
    told = dict(zip(words[::2], map(float, words[1::2]), strict=True))
    is_met = told["found"] == 1 and told["wrong"] == 0 and told["diagnosing"] <= LIMIT_S and told["peak"] <= LIMIT_GB
    return Row(
        KEY,
        ALL_PAIRS,
        f"found {told['found']:.0f}, wrong {told['wrong']:.0f}, {told['diagnosing']:.1f} s, {told['peak']:.2f} GB",
        "-",
        None,
        ALL_PAIRS_REQUIRED,
        verdict_of(is_met),
        note=f"{told['processor']:.0f} s of processors; without reading a file",
        commands=[text_of(command)],
        numbers=told,
    )
