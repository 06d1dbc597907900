#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Prints how often a site profile learnt from five simulated launches alarms at later ones, a line a kind of launch.
"""Needs numpy and h5py. Beside it stands a plain rule: the median over all pairs of a size above 1.25 times that of the
good launches."""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/physics"))

from launches import LATER, is_slower_by_rule, judged_by_profile, launches, learnt  # noqa: E402


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Judges simulated launches by a site profile and by a plain rule.")
    parser.add_argument("--leadline", type=pathlib.Path, default=SOURCE / "build/release/bin/leadline", metavar="FILE")
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="clusters (default: 20)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first cluster (default: 1)")
    options = parser.parse_args(words)
    told = {name: {"slower": 0, "accused": 0, "rule": 0} for name in LATER}
    for seed in range(options.seed, options.seed + options.runs):
        with tempfile.TemporaryDirectory(prefix="leadline-profiles-") as scratch:
            made = launches(seed, pathlib.Path(scratch))
            profile = learnt(options.leadline, made.good, pathlib.Path(scratch))
            for name, files in made.later.items():
                one = judged_by_profile(options.leadline, files, profile)
                told[name]["slower"] += bool(one.slower_classes)
                told[name]["accused"] += bool(one.accused)
                told[name]["rule"] += is_slower_by_rule(made.good, files)
    print(f"{'later launch':36} {'told slower':>12} {'others accused':>15} {'plain rule':>11}")
    for name, counts in told.items():
        print(f"{name:36} {counts['slower']:12} {counts['accused']:15} {counts['rule']:11}")
    print(f"of {options.runs} clusters, seeds {options.seed} to {options.seed + options.runs - 1}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
