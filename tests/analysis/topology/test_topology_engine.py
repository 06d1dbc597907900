# SPDX-License-Identifier: Apache-2.0
"""Results that the engine writes: the analysis finds the same numbers as the engine's own summary."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import program
import pytest
from engine_run import run_of

import leadline
from leadline.cli.report import main as report_main
from leadline.diagnosis import diagnosed, diagnosed_in
from leadline.topology import text as topology_text
from leadline.topology.analysis import analyse_group, groups_of
from leadline.topology.load import series_of
from leadline.topology.result import Definition, TopologyResult


def measured(folder: Path, *arguments: str) -> TopologyResult:
    return leadline.load_topology(run_of(folder, "topology", 10, 2, *arguments))


def summary_cells(result: TopologyResult) -> list[dict[str, Any]]:
    assert result.summary is not None
    cells = result.summary["cells"]
    assert isinstance(cells, list)
    return cells


def test_the_same_numbers_as_the_summary(tmp_path: Path):
    arguments = ("--message-size", "64,64KiB", "--repeat", "2", "--iterations", "15", "--pattern",
                 "star,star2,complete,complete2,ring,ring2,torus-2d,tree,halves,incast:2,outcast:1")  # fmt: skip
    result = measured(tmp_path, *arguments)
    cells = summary_cells(result)
    assert len(cells) == len(result.cells) == 11 * 2 * 2
    for told in cells:
        cell = result.cell(told["topology"], told["message_size_bytes"], told["repeat"])
        for definition in Definition:
            for statistic in ("median", "mean"):
                rates, expected = result.rates(cell, statistic, definition), told[definition.value][f"at_{statistic}"]
                for rate in ("local", "total", "average"):
                    assert math.isclose(getattr(rates, rate), expected[f"{rate}_bytes_per_s"], rel_tol=1e-9)
        rank_rates = result.rank_rates(cell)
        assert math.isclose(np.nanmin(rank_rates), told["ranks"]["slowest"]["bytes_per_s"], rel_tol=1e-9)
        assert math.isclose(np.nanmax(rank_rates), told["ranks"]["fastest"]["bytes_per_s"], rel_tol=1e-9)
        found = result.arrivals(cell)
        assert np.isfinite(found.time_ns).all()
        assert found.time_ns.max() == told["slowest_channel"]["time_ns"]
        rates_of_messages = 1 / found.time_ns
        fairness = rates_of_messages.sum() ** 2 / (len(rates_of_messages) * (rates_of_messages**2).sum())
        assert math.isclose(fairness, told["fairness"], rel_tol=1e-9)


def test_the_slow_host_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    arguments = ("--message-size", "64,16KiB", "--iterations", "15", "--pattern", "complete2,ring,ring2")
    result = measured(tmp_path, *arguments)
    analyses = [analyse_group(result, group, size) for group in groups_of(result) for size in (0, 1)]
    named = {part.pattern: [one.name for one in said.faults] for part, said in result.diagnoses.items()}
    assert named == {"complete2": ["host node2"], "ring": [], "ring2": []}
    (sentence,) = topology_text.verdict(result, analyses, diagnosed_in(result))
    assert sentence.startswith("Host node2 is slow: ")
    assert sentence.endswith("(in 2 of 2 topologies and sizes).")
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))
    assert diagnosed(result, result.slices, "fat-tree:5x1").found.keys() == result.diagnoses.keys()
    assert report_main([str(tmp_path / "run.h5")]) == 0


def test_every_star(tmp_path: Path):
    result = measured(tmp_path, "--message-size", "64", "--iterations", "10", "--pattern", "star2-each")
    (group,) = groups_of(result)
    assert group.centres == tuple(range(10))
    ratios = np.nan_to_num(analyse_group(result, group, 0).ranks.from_ratio)
    assert sorted(np.argsort(-ratios)[:2].tolist()) == [4, 5]


def test_a_load(tmp_path: Path):
    result = measured(tmp_path, "--message-size", "1KiB,16KiB", "--pattern", "complete2,ring2", "--duration", "3s")
    assert result.is_load
    assert result.summary is not None
    told = result.summary["load"]
    assert isinstance(told, list)
    assert len(told) == len(result.load) > 0
    rates = {point: rate for one in series_of(result)
             for point, rate in zip(one.points, one.total_bytes_per_s.tolist(), strict=True)}  # fmt: skip
    for point, expected in zip(result.load, told, strict=True):
        assert point.num_verified == point.num_exchanges == expected["num_exchanges"]
        assert math.isclose(rates[point], expected["total_bytes_per_s"], rel_tol=1e-9)
