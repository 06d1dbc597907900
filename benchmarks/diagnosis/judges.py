#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Prints how right the diagnosis and plain rules are on simulated clusters with known faults, a line a family of cases.
"""Needs numpy and h5py. Simulates link and bisection tests (tests/physics), and gives the files to `leadline diagnose`
and the rules."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import re
import sys
import tempfile
import time
from dataclasses import dataclass, field
from typing import Any

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/physics"))

import baselines  # noqa: E402
import families  # noqa: E402
import findings  # noqa: E402
from result_file import Files  # noqa: E402
from score import Score, score  # noqa: E402

DIAGNOSE = "diagnose"
JUDGES = [DIAGNOSE, *baselines.RULES, baselines.PATTERN_RULE, baselines.EXCHANGE_RULE]
MOST_ALARMED, MOST_RUNS_WITH_FALSE = 0.02, 0.05
LEAST_OF_OTHERS, LEAST_OF_LINKS = 0.99, 0.95

Numbers = dict[str, float | int | None]


@dataclass
class Total:
    """Of one judge over the runs of a family."""

    scores: list[Score] = field(default_factory=list)
    processor_s: list[float] = field(default_factory=list)
    num_alarms: int = 0

    def numbers(self) -> Numbers:
        """Recall is None where nothing was planted; alarmed: of sound clusters, the share of runs with status 1."""
        planted = sum(one.num_planted for one in self.scores)
        runs = len(self.scores)
        return {
            "runs": runs,
            "planted": planted,
            "recall": sum(one.num_named for one in self.scores) / planted if planted else None,
            "near": sum(one.num_near for one in self.scores) / planted if planted else None,
            "false_a_run": sum(len(one.false) for one in self.scores) / runs,
            "runs_with_false": sum(bool(one.false) for one in self.scores) / runs,
            "alarmed": self.num_alarms / runs if not planted else None,
            "processor_s_mean": sum(self.processor_s) / runs,
        }


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compares the diagnosis with plain rules on simulated clusters.")
    parser.add_argument("--leadline", type=pathlib.Path, default=SOURCE / "build/release/bin/leadline", metavar="FILE")
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="of each family (default: 20)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first run of a family (default: 1)")
    for option, choices in (("--family", list(families.FAMILIES)), ("--judge", JUDGES)):
        text = f"only this; may stand several times. There are: {'; '.join(choices)}".replace("%", "%%")
        parser.add_argument(option, choices=choices, action="append", metavar="NAME", help=text)
    parser.add_argument("--show", action="store_true", help="a line for each element not named and each false finding")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="keeps the files: FOLDER/FAMILY-SEED/")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="also all numbers")
    options = parser.parse_args(words)
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    if not os.access(options.leadline, os.X_OK):
        parser.error(f"there is no program {options.leadline}")
    return options


def judge(name: str, options: argparse.Namespace, files: Files) -> findings.Judgement:
    if name == DIAGNOSE:
        return findings.judged(options.leadline, files)
    return baselines.judged(name, files.result)


def play(family: str, names: list[str], options: argparse.Namespace, folder: pathlib.Path) -> dict[str, Total]:
    totals = {name: Total() for name in names}
    runs = 1 if family in families.SLOW and not options.family else options.runs
    for seed in range(options.seed, options.seed + runs):
        label = f"{family.replace(', ', '-').replace(' ', '-')}-{seed}"
        files = families.write_case(family, seed, folder / (label if options.keep else "case"))
        truth = json.loads(files.truth.read_text())
        for name, total in totals.items():
            judgement = judge(name, options, files)
            one = score(judgement.findings, truth)
            total.scores.append(one)
            total.processor_s.append(judgement.processor_s)
            total.num_alarms += judgement.is_alarm
            if options.show:
                show(f"{label} {name}", one, judgement, truth)
    return totals


def rules_of(family: str) -> set[str]:
    """Those that can judge its files."""
    if families.is_of_exchanges(family):
        return set(baselines.EXCHANGE_RULES)
    return {baselines.PATTERN_RULE} if families.is_of_patterns(family) else set(baselines.RULES)


def show(label: str, one: Score, judgement: findings.Judgement, truth: dict[str, Any]) -> None:
    print(f"{label}: {one.num_named} of {one.num_planted} named, {len(one.false)} of {len(judgement.findings)} false")
    for planted in truth["planted"]:
        print(f"  planted {planted['kind']} {planted['name']} x{planted['factor']:.2f} {planted['symptom']}")
    for finding in judgement.findings[:12]:
        mark = "false" if finding in one.false else "right or near"
        place = finding.name or " - ".join(",".join(sorted(end)) for end in (finding.hosts, finding.other_hosts) if end)
        print(f"  {mark}: {finding.kind} {place}")


def goal_of(family: str) -> dict[str, float]:
    """What the diagnosis must reach: the least recall, the greatest share of runs with something false."""
    if family.startswith("clean"):
        return {"alarmed": MOST_ALARMED}
    if family in families.NEED_NOT_BE_NAMED:
        return {"runs_with_false": MOST_RUNS_WITH_FALSE}
    is_of_links = {"link", "cable", "lost"} & set(re.findall(r"\w+", family))
    return {"recall": LEAST_OF_LINKS if is_of_links else LEAST_OF_OTHERS,
            "runs_with_false": MOST_RUNS_WITH_FALSE}  # fmt: skip


def meets(numbers: Numbers, goal: dict[str, float]) -> bool:
    got = {key: numbers[key] or 0 for key in goal}
    return all(got[key] >= limit if key == "recall" else got[key] <= limit for key, limit in goal.items())


def better_rules(numbers: dict[str, Numbers]) -> list[str]:
    """Rules that find as much (near counts: rules know no ports) with as little that is false, and not the same."""

    def standing(one: Numbers) -> tuple[float, float]:
        return (one["recall"] or 0) + (one["near"] or 0), -(one["runs_with_false"] or 0)

    if DIAGNOSE not in numbers:
        return []
    ours = standing(numbers[DIAGNOSE])
    others = {name: standing(one) for name, one in numbers.items() if name != DIAGNOSE}
    return [name for name, rule in others.items() if rule != ours and rule[0] >= ours[0] and rule[1] >= ours[1]]


def line(family: str, name: str, numbers: Numbers, verdict: str) -> str:
    def share(key: str) -> str:
        value = numbers[key]
        return "-" if value is None else f"{100 * value:.1f} %"

    return (
        f"{family:30} {name:11} {numbers['runs']:5} {numbers['planted']:8} {share('recall'):>8} {share('near'):>8}"
        f" {numbers['false_a_run']:9.2f} {share('runs_with_false'):>10} {share('alarmed'):>8}"
        f" {numbers['processor_s_mean']:8.3f} {verdict}".rstrip()
    )


def main(words: list[str]) -> int:
    options = parse(words)
    names = options.judge or JUDGES
    print(
        f"{'family':30} {'judge':11} {'runs':>5} {'planted':>8} {'named':>8} {'near':>8} {'false/run':>9}"
        f" {'with false':>10} {'alarmed':>8} {'cpu (s)':>8} goal"
    )
    told, begin = [], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="leadline-judges-") as scratch:
        for family in options.family or families.FAMILIES:
            rules = rules_of(family)
            judges = [name for name in names if name == DIAGNOSE or name in rules]
            totals = play(family, judges, options, options.keep or pathlib.Path(scratch))
            numbers = {name: total.numbers() for name, total in totals.items()}
            better, goal = better_rules(numbers), goal_of(family)
            for name, one in numbers.items():
                is_met = meets(one, goal)
                verdict = "meets" if is_met else "MISSES"
                if name == DIAGNOSE and better:
                    verdict += f"; better: {', '.join(better)}"
                print(line(family, name, one, verdict if name == DIAGNOSE else ""), flush=True)
                told.append({"family": family, "judge": name, **one, "goal": goal, "is_met": is_met,
                             "better_rules": better if name == DIAGNOSE else []})  # fmt: skip
    print(f"seeds {options.seed} to {options.seed + options.runs - 1}, {time.monotonic() - begin:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
