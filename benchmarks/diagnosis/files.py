#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Prints how right the diagnosis and a plain rule are on simulated file tests with known faults.
"""Needs numpy and h5py. Simulates file tests (tests/physics/file_phases.py), and gives the files to `leadline diagnose`
and to row and column medians."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter

sys.dont_write_bytecode = True
SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/physics"))

import numpy as np  # noqa: E402
from file_phases import KINDS, LAYOUTS, Scatter, median_rule, phase_times, plant, write  # noqa: E402

Found = set[tuple[str, int]]


def parse(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compares the diagnosis with a plain rule on simulated file tests.")
    parser.add_argument(
        "--leadline",
        type=pathlib.Path,
        default=SOURCE / "build/release/bin/leadline",
        metavar="FILE",
    )
    parser.add_argument("--runs", type=int, default=20, metavar="N", help="of each line (default: 20)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the first run (default: 1)")
    parser.add_argument("--phases", type=int, default=6, metavar="N", help="of each run (default: 6)")
    parser.add_argument(
        "--layout",
        choices=list(LAYOUTS),
        action="append",
        metavar="NAME",
        help="only this",
    )
    parser.add_argument(
        "--kind",
        choices=KINDS,
        action="append",
        metavar="NAME",
        help="only this is planted",
    )
    parser.add_argument(
        "--show",
        action="store_true",
        help="a line for each fault not named and each false one",
    )
    options = parser.parse_args(words)
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    if not os.access(options.leadline, os.X_OK):
        parser.error(f"there is no program {options.leadline}")
    return options


def diagnosed(leadline: pathlib.Path, path: pathlib.Path) -> tuple[Found, Found]:
    """What is named as a fault; what could not be told from something else."""
    done = subprocess.run(
        [leadline, "diagnose", path, "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    named: Found = set()
    open_: Found = set()
    for one in json.loads(done.stdout)["slices"]:
        for fault in one["diagnosis"]["faults"]:
            place = (fault["kind"], fault["component"]["first"])
            if fault["list"] == "persistent":
                named.add(place)
            elif fault["list"] == "untested":
                open_.add(place)
    return named, open_


def main(words: list[str]) -> int:
    options = parse(words)
    print("layout            planted  runs  named  open  false   medians  false")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "result.h5"
        for layout in options.layout or LAYOUTS:
            for kind in options.kind or KINDS:
                total: Counter[str] = Counter()
                for seed in range(options.seed, options.seed + options.runs):
                    draw = np.random.default_rng(seed)
                    storage = LAYOUTS[layout](draw)
                    if kind != "nothing" and kind not in storage.can_tell and layout != "confounded":
                        continue
                    planted = plant(kind, storage, draw)
                    times_s = phase_times(storage, planted, Scatter(), options.phases, seed)
                    write(storage, times_s, path)
                    named, open_ = diagnosed(options.leadline, path)
                    truth = {(planted.kind, planted.number)} if planted else set()
                    plain = median_rule(storage, times_s)
                    total.update(runs=1, named=len(named & truth), false=len(named - truth), open=bool(open_),
                                 plain=len(plain & truth), plain_false=len(plain - truth),
                                 alarmed=bool(named - truth))  # fmt: skip
                    if options.show and (named - truth or (truth - named and storage.can_tell)):
                        print(f"  seed {seed}: planted {planted}, named {named}, open {open_}")
                if total["runs"]:
                    print(f"{layout:17} {kind:8} {total['runs']:4} {total['named']:6} {total['open']:5} "
                          f"{total['false']:6}   {total['plain']:7} {total['plain_false']:6}")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
