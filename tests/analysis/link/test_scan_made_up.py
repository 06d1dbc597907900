# SPDX-License-Identifier: Apache-2.0
"""The made-up results of the benchmarks are results, and the faults in them are found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

import leadline
from leadline.link.analysis import analyse
from leadline.model import Statistic

PROGRAM = Path(__file__).resolve().parents[3] / "benchmarks" / "made_up_result.py"


def made_up(path: Path, *words: str) -> leadline.LinkResult:
    subprocess.run([sys.executable, str(PROGRAM), str(path), *words], check=True, stdout=subprocess.DEVNULL, timeout=60)
    return leadline.load(path)


def test_faults_are_where_they_are_wanted(tmp_path: Path):
    words = ["--ranks", "96", "--ranks-per-host", "8", "--slow-host", "3=3", "--slow-link", "5:9=4"]
    result = made_up(tmp_path / "made-up.h5", *words, "--slow-cell", "70:10=40")
    part = result.slices[0]
    found = analyse(result, part)
    assert (found.slow_hosts, found.scan.num_missing, found.scan.num_to_measure) == ((3,), 0, 96 * 95)
    assert {(link.from_host, link.to_host) for link in found.slow_links} == {(5, 9), (9, 5)}
    cell = found.standouts[0].cell
    assert (cell.from_rank, cell.to_rank) == (70, 10)
    for statistic in result.statistics:
        assert np.isfinite(result.matrix(part, statistic)).sum() == 96 * 95
    rounds = result.read_rows(part, "round", 0, 96)
    # In a round everybody meets somebody, and both agree on which it is.
    np.testing.assert_array_equal(rounds, rounds.T)
    assert all(len(set(row[np.isfinite(row)])) == 95 for row in rounds)


def test_statistics_that_are_left_out_are_holes(tmp_path: Path):
    path = tmp_path / "made-up.h5"
    result = made_up(path, "--ranks", "9", "--ranks-per-host", "2", "--cyclic", "--statistics", "median,max")
    assert [place.host for place in result.ranks[:6]] == [
        "node0001",
        "node0002",
        "node0003",
        "node0004",
        "node0005",
        "node0001",
    ]
    assert np.isnan(result.matrix(result.slices[0], Statistic.P99)).all()
    assert np.isfinite(result.matrix(result.slices[0], Statistic.MAX)).sum() == 72
