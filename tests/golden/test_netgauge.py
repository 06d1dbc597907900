# SPDX-License-Identifier: Apache-2.0
"""Netgauge's command lines and what they print: every file of netgauge/ is one, run under the launchers it names."""

from __future__ import annotations

import json
import os
import re
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import golden
import launch
import program
import pytest

CASES = golden.read_all(Path(__file__).resolve().parent / "netgauge")
OURS = re.compile(r"leadline: |netgauge: ")

NUMBER = r"(\d+\.\d{6})"
PAIR = re.compile(r"(\d+) <-> (\d+)")
ROUND = re.compile(rf"size: (\d+), round (\d+): num: (\d+) average: {NUMBER} us \({NUMBER} MB/s\)")
BUCKET = re.compile(rf"size: (\d+) {NUMBER} \({NUMBER} MB/s\): (\d+)")
FINAL = re.compile(rf"size: (\d+) num: (\d+) average: {NUMBER} \({NUMBER} MB/s\)")
EBB = re.compile(
    rf"# effective bisection bandwidth \(mean over connections and patterns\): {NUMBER} MB/s \+- {NUMBER} "
    r"\(95 %, (\d+) patterns\)"
)


@dataclass
class Size:
    """What stands about one message size; times in us, bandwidths in MB/s."""

    pairs: list[tuple[int, int]] = field(default_factory=list)
    rounds: list[tuple[int, int, float, float]] = field(default_factory=list)  # round, ranks, time, bandwidth
    buckets: list[tuple[float, float, int]] = field(default_factory=list)
    final: tuple[int, float, float] = (0, 0.0, 0.0)
    ebb: tuple[float, float, int] = (0.0, 0.0, 0)


def parsed(text: str) -> dict[int, Size]:
    """The lines by message size. One that is neither Netgauge's nor a comment is a mistake."""
    sizes: dict[int, Size] = {}
    pairs: list[tuple[int, int]] = []
    latest = Size()
    for line in text.splitlines():
        if found := PAIR.fullmatch(line):
            pairs.append((int(found[1]), int(found[2])))
        elif found := ROUND.fullmatch(line):
            latest = sizes.setdefault(int(found[1]), Size())
            latest.rounds.append((int(found[2]), int(found[3]), float(found[4]), float(found[5])))
            latest.pairs += pairs
            pairs = []
        elif found := BUCKET.fullmatch(line):
            sizes[int(found[1])].buckets.append((float(found[2]), float(found[3]), int(found[4])))
        elif found := FINAL.fullmatch(line):
            sizes[int(found[1])].final = (int(found[2]), float(found[3]), float(found[4]))
        elif found := EBB.fullmatch(line):
            latest.ebb = (float(found[1]), float(found[2]), int(found[3]))
        else:
            assert line.startswith("#"), line
    return sizes


@pytest.mark.parametrize(("name", "launcher"), launch.runs(CASES))
def test_golden(tmp_path: Path, name: str, launcher: str) -> None:
    case = CASES[name]
    done = launch.run(case, launcher, tmp_path)
    launch.expect(case, done, OURS)
    assert {path.name for path in tmp_path.iterdir()} == set(case.files)


def as_printed(value: float) -> Any:
    """With six digits behind the point, from times that have as many."""
    return pytest.approx(value, rel=1e-6, abs=1e-6)


def check_numbers(size_bytes: int, size: Size, ranks: int, reps: int) -> None:
    """Whatever the machine: the lines of a size are consistent as Netgauge's did."""
    assert [number for number, *_ in size.rounds] == list(range(len(size.rounds)))
    for _, num, time_us, bandwidth in size.rounds:
        assert num == ranks
        assert bandwidth == as_printed(reps * size_bytes / time_us)
    num, mean_us, bandwidth = size.final
    assert num == ranks * len(size.rounds)
    assert mean_us == pytest.approx(sum(time_us for _, _, time_us, _ in size.rounds) / len(size.rounds), rel=1e-6)
    assert bandwidth == as_printed(reps * size_bytes / mean_us)
    assert sum(count for *_, count in size.buckets) == num
    edges = [edge_us for edge_us, *_ in size.buckets]
    assert edges == sorted(set(edges))
    assert edges[0] <= min(time_us for _, _, time_us, _ in size.rounds)
    for edge_us, bandwidth, count in size.buckets:
        assert count > 0
        assert bandwidth == as_printed(reps * size_bytes / edge_us)
    ebb, half_width, num_patterns = size.ebb
    assert num_patterns == len(size.rounds)
    assert half_width >= 0
    assert ebb >= size.final[2] * (1 - 1e-6) - 1e-6, "an arithmetic mean is never below the harmonic one"


@pytest.mark.parametrize("launcher", ["mpirun", "mpiexec"])
def test_the_sweep_of_the_old_runs(tmp_path: Path, launcher: str) -> None:
    line = "netgauge -v 2 -s 1024-65536 -g 1 -x ebb -r 2 -n 5 -b 4 -p"
    done = launch.run(golden.Golden("sweep", {"command": line, "ranks": "4"}), launcher, tmp_path)
    assert done.status == 0, done.err
    sizes = parsed(done.out)
    assert list(sizes) == [1024, 2048, 4096, 8192, 16384, 32768, 65536]
    for size_bytes, size in sizes.items():
        check_numbers(size_bytes, size, ranks=4, reps=5)
        assert 1 <= len(size.buckets) <= 4
        for first in (0, 2):
            assert sorted(size.pairs[first] + size.pairs[first + 1]) == [0, 1, 2, 3]


def test_the_histogram_of_the_page(tmp_path: Path) -> None:
    """The page's second measurement with fewer ranks and rounds: buckets of equal width, the last one not empty."""
    line = "netgauge -s 1048576-1048576 -x ebb -r 100 -b 50"
    done = launch.run(golden.Golden("histogram", {"command": line, "ranks": "4"}), "mpirun", tmp_path)
    assert done.status == 0, done.err
    (size,) = parsed(done.out).values()
    assert len(size.rounds) == 100
    check_numbers(1048576, size, ranks=4, reps=20)
    first_us, last_us = size.buckets[0][0], size.buckets[-1][0]
    width_us = (last_us - first_us) / 49
    assert width_us > 0, "the last of 50 buckets holds the maximum"
    for edge_us, *_ in size.buckets:
        places = (edge_us - first_us) / width_us
        assert places == pytest.approx(round(places), abs=1e-3)


def test_seeds_make_the_pairs(tmp_path: Path) -> None:
    def pairs(*words: str) -> list[tuple[int, int]]:
        line = " ".join(["netgauge -s 8 -x ebb -r 20 -n 1 -p", *words])
        done = launch.run(golden.Golden("seeds", {"command": line, "ranks": "4"}), "mpirun", tmp_path)
        assert done.status == 0, done.err
        return parsed(done.out)[8].pairs

    assert pairs("--seed", "1") == pairs()
    assert pairs("--seed", "2") != pairs()


def test_a_result_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    """It holds the times of the lines, and is not replaced unasked."""
    case = golden.Golden("result", {"command": "netgauge -s 4096 -x ebb -r 3 -n 5 -O ng.json", "ranks": "2"})
    done = launch.run(case, "mpirun", tmp_path)
    assert done.status == 0, done.err
    assert done.out.splitlines()[-1] == "# result: ng.json"
    text = (tmp_path / "ng.json").read_text()
    result = json.loads(text)
    size = parsed(done.out)[4096]
    times_us = [5 * pattern["time_ns_mean"] / 1000 for pattern in result["patterns"]]
    assert times_us == pytest.approx([time_us for _, _, time_us, _ in size.rounds], abs=1e-6)
    assert result["sizes"][0]["ebb"]["bytes_per_s_mean"] == pytest.approx(1e6 * size.ebb[0], abs=1)
    assert result["baseline"] == []

    again = launch.run(case, "mpirun", tmp_path)
    assert again.status == 2
    assert "leadline: result file ng.json is there already" in again.err
    assert (tmp_path / "ng.json").read_text() == text
    case.head["command"] += " --overwrite"
    assert launch.run(case, "mpirun", tmp_path).status == 0


@pytest.mark.parametrize("launcher", ["mpirun", "mpiexec"])
def test_rounds_are_there_before_the_end(tmp_path: Path, launcher: str) -> None:
    case = golden.Golden("killed", {"command": "netgauge -s 65536 -x ebb -r 1000000 > lines.txt", "ranks": "3"})
    lines = tmp_path / "lines.txt"
    with program.Run(launch.command(case, launcher), tmp_path) as run:
        program.await_that(lambda: lines.exists() and len(lines.read_text().splitlines()) > 12)
        os.kill(next(pid for pid in run.processes() if launch.rank_of(pid, "netgauge") == "2"), signal.SIGKILL)
        done = run.finish()
    assert done.status != 0
    rounds = [line for line in lines.read_text().splitlines() if line.startswith("size: ")]
    assert all(ROUND.fullmatch(line) for line in rounds[:8])
    assert not any(FINAL.fullmatch(line) for line in rounds)
