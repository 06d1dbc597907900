# SPDX-License-Identifier: Apache-2.0
"""`leadline-export` of a topology test: cells, messages, points of a load, and what it refuses."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from made_up_topology import hostile_names, killed, one_way, slow_message, under_load, write_topologies

import leadline
from leadline.cli.export import main

Lines = list[dict[str, str]]


def table(path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Lines:
    assert main([str(path), "--csv", "-o", "-", *arguments]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out), strict=True))


def test_a_line_for_each_cell(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_topologies(tmp_path / "run.h5", killed())
    result = leadline.load_topology(path)
    lines = table(path, capsys)
    assert len(lines) == len(result.cells)
    for line, cell in zip(lines, result.cells, strict=True):
        assert line["topology"] == result.topologies[cell.topology_index].name
        assert (int(line["message_size_bytes"]), int(line["repeat"])) == (cell.message_size_bytes, cell.repeat + 1)
        if not result.is_measured(cell):
            assert set(list(line.values())[4:]) == {""}
            continue
        for prefix, definition in (("", "exchange"), ("with_barrier_", "with_barrier")):
            times = result.exchange_times_ns(cell, definition)
            assert int(line[f"{prefix}num"]) == 20
            assert float(line[f"{prefix}time_ns_median"]) == np.median(times)
            assert float(line[f"{prefix}time_ns_p99"]) == np.quantile(times, 0.99)
            for at in ("median", "mean"):
                rates = result.rates(cell, at, definition)
                for rate in ("total", "local", "average"):
                    value = float(line[f"{prefix}{rate}_bytes_per_s_at_{at}"])
                    assert value == pytest.approx(getattr(rates, rate), rel=1e-12)
        rank_rates = result.rank_rates(cell)
        assert int(line["slowest_rank"]) == np.nanargmin(rank_rates)
        assert float(line["fastest_rank_bytes_per_s"]) == np.nanmax(rank_rates)


def test_a_line_for_each_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_topologies(tmp_path / "run.h5", slow_message())
    lines = table(path, capsys, "--channels", "--message-size", "16KiB")
    assert len(lines) == 2 * (16 * 15 + 32)
    result = leadline.load_topology(path)
    matrix = result.channel_matrix("complete2", "16KiB", 1).values
    of_cell = [line for line in lines if (line["topology"], line["repeat"]) == ("complete2", "2")]
    for line in of_cell:
        assert float(line["arrival_time_ns"]) == matrix[int(line["from"]), int(line["to"])]
        assert float(line["bytes_per_s"]) == pytest.approx(16384e9 / float(line["arrival_time_ns"]))
        assert line["from_host"] == result.ranks[int(line["from"])].host


def test_only_the_way_that_messages_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_topologies(tmp_path / "run.h5", one_way())
    lines = [line for line in table(path, capsys, "--channels") if line["topology"] == "incast"]
    assert [(line["from"], line["to"]) for line in lines] == [(str(rank), "0") for rank in range(1, 6)]


def test_points_of_a_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = under_load()
    path = write_topologies(tmp_path / "run.h5", made)
    lines = table(path, capsys)
    assert made.load is not None
    assert [float(line["begin_s"]) for line in lines] == [row[3] for row in made.load]
    assert [int(line["num_exchanges"]) for line in lines] == [row[5] for row in made.load]
    assert float(lines[1]["total_bytes_per_s"]) == pytest.approx(2 * 8 * 4096 * made.load[1][5] / made.load[1][4])


def test_names_that_a_spreadsheet_would_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = hostile_names()
    made.hosts = ["=1+1", 'a,"b', "c\x1b[1m", "d"]
    lines = table(write_topologies(tmp_path / "run.h5", made), capsys, "--channels")
    assert {line["from_host"] for line in lines} == {"'=1+1", 'a,"b', "c\ufffd[1m", "d"}


def test_channels_of_what_has_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(write_topologies(tmp_path / "load.h5", under_load())), "--csv", "--channels"]) == 2
    assert "the result has no --channels (" not in (error := capsys.readouterr().err)
    assert "the result has no --channels. It is of a load, in which no message is traced" in error
