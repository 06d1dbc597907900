# SPDX-License-Identifier: Apache-2.0
"""Made-up results of the congestion test, written as docs/formats/hdf5.md says; a load makes times so much longer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from made_up import make_room, nodes, write_head

import leadline

TESTS = {"latency": 20e3, "bandwidth": 120e3, "allreduce": 60e3}  # ns of an operation alone
STATISTICS = ("mean", "median", "p99", "p999", "max")
BUCKETS = 4096


@dataclass
class MadeUpCongestion:
    """What is to be in a file. Cells: place of the load, -1 = none; percent."""

    hosts: list[str]
    loads: list[str] = field(default_factory=lambda: ["incast"])
    cells: list[tuple[int, int]] = field(default_factory=lambda: [(-1, 0), (0, 50), (0, 100)])
    median_factor: float = 1.5  # with 100 %
    tail_factor: float = 40.0  # likewise, of p99
    num_rounds: int = 4
    num_measured: int = 4
    shared: tuple[str, ...] = ()  # what messages share with the load, beside "all"
    is_sure: bool = True  # whether intervals are narrow
    sizes: list[int] = field(default_factory=lambda: [131072])
    complete: bool = True
    reason: str = "still running, or killed without a word"
    findings: list[dict[str, str]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    command_line: list[str] = field(default_factory=lambda: ["leadline", "congestion"])

    @property
    def victims(self) -> list[int]:
        """The first ranks."""
        return list(range(max(2, len(self.hosts) // 5)))

    def factor(self, cell: int, statistic: str) -> float:
        """Loaded by alone."""
        share = self.cells[cell][1] / 100
        most = self.tail_factor if statistic in ("p99", "p999", "max") else self.median_factor
        return float(most**share)

    def time_ns(self, cell: int, test: str, state: str, statistic: str) -> float:
        """The same in all rounds."""
        spread = dict(zip(STATISTICS, (1.1, 1.0, 3.0, 5.0, 9.0), strict=True))[statistic]
        return TESTS[test] * spread * (self.factor(cell, statistic) if state == "loaded" else 1)

    def cell_name(self, cell: int) -> dict[str, Any]:
        """As documents have it."""
        load, percent = self.cells[cell]
        return {"load": None if load < 0 else self.loads[load], "intensity_percent": percent}

    def impact(self, cell: int, test: str, shared: str) -> dict[str, Any]:
        """As docs/formats/json.md says."""

        def times(state: str) -> dict[str, Any]:
            found = {f"time_ns_{name}": self.time_ns(cell, test, state, name) for name in STATISTICS}
            return {"num": 1000 * self.num_measured, **found}

        def factor(name: str) -> dict[str, Any]:
            value = self.factor(cell, name)
            width = 1.02 if self.is_sure else 100
            return {"estimate": value, "low": value / width, "high": value * width}

        factors = {name: factor(name) for name in ("mean", "median", "p99")}
        return {
            **self.cell_name(cell), "test": test, "shared": shared, "num_rounds": self.num_measured,
            "alone": times("alone"), "loaded": times("loaded"), **factors,
            "p999": {"estimate": None, "low": None, "high": None},
        }  # fmt: skip

    def load(self, cell: int) -> dict[str, Any]:
        """Likewise."""
        share = self.cells[cell][1] / 100
        return {
            **self.cell_name(cell), "num_rounds": self.num_measured, "bytes_per_s": 1e9 * share,
            "alone_bytes_per_s": 1.1e9, "fairness": 0.97, "recovery_s": None if share == 1 else 0.004,
        }  # fmt: skip


def write_congestion(path: Path, made: MadeUpCongestion) -> Path:
    """The file, complete or as a killed run leaves it."""
    num_cells, num_tests = len(made.cells), len(TESTS)
    with h5py.File(path, "w") as file:
        write_head(file, made, "congestion", {"victims": "0.2", "load": ",".join(made.loads)}, {}, "eth0")
        group = file.create_group("congestion")
        group.attrs.update({
            "num_load_ranks": np.int64(len(made.hosts) - len(made.victims)), "victims_are_hosts": np.int32(1),
            "num_rounds": np.int32(made.num_rounds), "seed": np.uint64(1), "test_time_s": 0.1, "interval_s": 1e-4,
        })  # fmt: skip
        group["loads"] = np.array([name.encode() for name in made.loads], dtype="S32")
        group["cell_load"] = np.array([load for load, _ in made.cells], dtype="<i4")
        group["cell_intensity_percent"] = np.array([percent for _, percent in made.cells], dtype="<i4")
        group["victims"] = np.array(made.victims, dtype="<i4")
        for name, width in (("rounds", made.num_rounds), ("victim_times", len(made.victims))):
            shape = (num_cells, num_tests, width)
            kinds: dict[str, Any] = {}
            for state in ("alone", "loaded"):
                kinds[f"{state}_num"] = (shape, "<u8")
                kinds |= {f"{state}_time_ns_{statistic}": (shape, "<f8") for statistic in STATISTICS}
            make_room(group.create_group(name), kinds)
        make_room(
            group.create_group("load"),
            dict.fromkeys(("bytes_per_s", "fairness"), ((num_cells, made.num_rounds), "<f8")),
        )
        make_room(group.create_group("distribution"),
                  dict.fromkeys(("alone", "loaded"), ((num_cells, num_tests, BUCKETS), "<u8")))  # fmt: skip
        _write_rounds(group, made)
        if made.complete:
            parts = ["all", *made.shared]
            document = {
                "benchmark": "congestion", "findings": made.findings, "victims": made.victims,
                "cells": [made.cell_name(cell) for cell in range(num_cells)],
                "impacts": [made.impact(cell, test, shared) for cell in range(num_cells) for test in TESTS
                            for shared in (parts if test != "allreduce" else ["all"])],
                "loads": [made.load(cell) for cell, (load, _) in enumerate(made.cells) if load >= 0],
            }  # fmt: skip
            file["summary"] = json.dumps(document)
    return path


def _write_rounds(group: h5py.Group, made: MadeUpCongestion) -> None:
    for cell in range(len(made.cells)):
        for at, test in enumerate(TESTS):
            for state in ("alone", "loaded"):
                for name in ("rounds", "victim_times"):
                    end = made.num_measured if name == "rounds" else len(made.victims) * (made.num_measured > 0)
                    group[f"{name}/{state}_num"][cell, at, :end] = 1000
                    for statistic in STATISTICS:
                        value = made.time_ns(cell, test, state, statistic)
                        group[f"{name}/{state}_time_ns_{statistic}"][cell, at, :end] = value
                octave = int(np.log2(made.time_ns(cell, test, state, "median") / 32))
                group[f"distribution/{state}"][cell, at, 128 * octave + 5] = 1000 * made.num_measured


def even() -> MadeUpCongestion:
    """A load that is felt."""
    return MadeUpCongestion(nodes(8, 1))


def unfelt() -> MadeUpCongestion:
    """No interval is above 1."""
    return MadeUpCongestion(nodes(8, 1), median_factor=1.01, tail_factor=1.02, is_sure=False)


def many_loads() -> MadeUpCongestion:
    """All of them, with messages that share different things."""
    loads = ["incast", "complete", "random", "bisection"]
    cells = [(-1, 0), *((load, percent) for load in range(4) for percent in (25, 100))]
    return MadeUpCongestion(nodes(10, 2), loads, cells, shared=("host", "switch", "nothing"))


def killed() -> MadeUpCongestion:
    """In its third round."""
    return MadeUpCongestion(nodes(8, 1), num_measured=2, complete=False, reason="rank 1 on node01 died in round 3 of 4")


def never_begun() -> MadeUpCongestion:
    """Before its first round."""
    return MadeUpCongestion(nodes(8, 1), num_measured=0, complete=False)


def hostile_names() -> MadeUpCongestion:
    """Names that would be markup, formulas or commands."""
    return MadeUpCongestion(["<b>host</b>", "=cmd", "a,b", "x"], loads=["<script>alert(1)</script>"])


MADE_UP_CONGESTIONS: dict[str, Callable[[], MadeUpCongestion]] = {
    made.__name__: made for made in (even, unfelt, many_loads, killed, never_begun, hostile_names)
}


def loaded(made: MadeUpCongestion, folder: Path) -> leadline.CongestionResult:
    return leadline.load_congestion(write_congestion(folder / "run.h5", made))
