# SPDX-License-Identifier: Apache-2.0
"""`leadline-export` of a bisection test: patterns, connections, and what it refuses."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet
import pytest
from made_up_bisection import even, hostile_names, killed, odd, slow_host, write_bisection

import leadline
from leadline.bisection.result import BisectionResult
from leadline.cli.export import main

Lines = list[dict[str, str]]


def table(path: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Lines:
    assert main([str(path), "--csv", "-o", "-", *arguments]) == 0
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out), strict=True))


def loaded(path: Path) -> BisectionResult:
    return leadline.load_bisection(path)


def test_a_line_for_each_pattern(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_bisection(tmp_path / "run.h5", slow_host())
    lines = table(path, capsys)
    result = loaded(path)
    assert len(lines) == 144 + 105
    of_size = [line for line in lines if line["message_size_bytes"] == str(1 << 20)]
    patterns = result.patterns("1MiB")
    for place, line in enumerate(of_size):
        assert int(line["number"]) == place
        assert int(line["num_connections"]) == patterns.num_connections[place]
        for which in ("mean", "harmonic", "min", "max", "full_load"):
            assert float(line[f"bytes_per_s_{which}"]) == getattr(patterns, f"bytes_per_s_{which}")[place]
        assert int(line["slowest_to"]) == patterns.slowest_to[place]
    first, named, step = of_size[3], of_size[90], of_size[-1]
    assert [first[name] for name in ("kind", "pattern", "index", "repeat", "accepted")] == [
        "random", "random", "3", "", "",
    ]  # fmt: skip
    assert [named[name] for name in ("kind", "pattern", "index", "repeat")] == ["named", "reversal", "", "2"]
    assert [step[name] for name in ("kind", "pattern", "index", "repeat")] == ["worst", "worst", "11", ""]
    assert step["accepted"] in "01"


def test_a_line_for_each_connection(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_bisection(tmp_path / "run.h5", odd())
    lines = table(path, capsys, "--channels", "--message-size", "1MiB")
    result = loaded(path)
    assert len(lines) == 6 * 30
    times = result.reader.times(0, "time_ns", (0, 7), (0, 30))
    send_to = result.reader.partners(0, "send_to", (0, 7), (0, 30))
    for line in lines:
        sender, rank, number = int(line["from"]), int(line["to"]), int(line["number"])
        assert send_to[sender, number] == rank
        assert float(line["time_ns"]) == times[rank, number]
        assert float(line["bytes_per_s"]) == pytest.approx(2**20 * 1e9 / times[rank, number])
        assert (line["from_host"], line["kind"]) == ("laptop", "random")


def test_what_was_not_measured_is_empty(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_bisection(tmp_path / "run.h5", killed())
    lines = table(path, capsys, "--channels", "--message-size", "64KiB")
    empty = [line for line in lines if not line["time_ns"]]
    assert [(line["to"], line["number"], line["bytes_per_s"]) for line in empty] == [("5", "30", "")]
    assert table(path, capsys, "--channels", "--message-size", "1MiB") == []
    assert len(table(path, capsys)) == 71


def test_the_mean_of_the_lines_is_the_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_bisection(tmp_path / "run.h5", even())
    patterns, connections = table(path, capsys), table(path, capsys, "--channels")
    ebb = np.mean([float(line["bytes_per_s_mean"]) for line in patterns])
    assert math.isclose(ebb, np.mean([float(line["bytes_per_s"]) for line in connections]), rel_tol=1e-12)


def test_names_that_a_spreadsheet_would_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = hostile_names()
    made.hosts, made.named = ["=1+1", 'a,"b', "c\x1b[1m", "d"], ["@SUM(1):1"]
    made.slow_hosts = {}
    lines = table(write_bisection(tmp_path / "run.h5", made), capsys, "--channels")
    assert {line["from_host"] for line in lines} == {"'=1+1", 'a,"b', "c\ufffd[1m", "d"}
    assert {line["pattern"] for line in lines} == {"random", "'@SUM(1):1"}


def test_columns_of_a_later_version_are_passed_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_bisection(tmp_path / "run.h5", even())
    with h5py.File(path, "r+") as file:
        shape = file["bisection/patterns/kind"].shape
        column = file["bisection/patterns"].create_dataset("balance", data=np.full(shape, -0.5))
        column.attrs.update({"unit": "1", "meaning": "how even it was"})
        file["bisection/patterns/of_another_shape"] = np.zeros(3)
    lines = table(path, capsys)
    assert lines
    assert {line["balance"] for line in lines} == {"-0.5"}
    assert main([str(path), "--parquet", "-o", str(tmp_path / "r.parquet")]) == 0
    field = pyarrow.parquet.read_schema(tmp_path / "r.parquet").field("balance")
    assert field.metadata == {b"unit": b"number", b"description": b"how even it was"}
    with leadline.load_bisection(path) as result:
        patterns = result.patterns(result.message_sizes_bytes[0], "random")
        assert len(patterns.others["balance"]) == len(patterns)
