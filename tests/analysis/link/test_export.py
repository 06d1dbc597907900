# SPDX-License-Identifier: Apache-2.0
"""The command `leadline-export`: tables that other tools read, and what it may overwrite."""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from pathlib import Path

import h5py
import numpy as np
import pyarrow.parquet
import pytest
from made_up_diagnosis import diagnosis, fault, in_slices, slow_component

import leadline
from conftest import MadeUp, few_rounds, hostile, partial, slow_host, sweep, two_hosts, write_result
from leadline.cli.export import main
from leadline.link.export import table_of

KINDS = {"--csv": ".csv", "--parquet": ".parquet", "--bad-links": ".bad-links.tsv"}

WHOLE = argparse.Namespace(message_size=None, repeat=None)


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), strict=True))


def read_tabs(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))


def expected_lines(result: leadline.LinkResult) -> list[dict[str, object]]:
    """Every pair to measure, straight from the matrices; None = empty."""
    lines: list[dict[str, object]] = []
    for part in result.slices:
        names = ["count", *(f"time_ns_{one.value}" for one in result.statistics)]
        matrices = {name: result.read_rows(part, name, 0, result.num_ranks) for name in names}
        if part.repeat in result.repeats_with_rounds:
            matrices["round"] = result.read_rows(part, "round", 0, result.num_ranks)
        for from_rank, to_rank in np.argwhere(result.to_measure(part)).tolist():
            cell = {name: float(matrix[from_rank, to_rank]) for name, matrix in matrices.items()}
            bandwidth = float(result.bandwidth_bytes_per_s(cell["time_ns_median"], part.message_size_bytes))
            numbers = {"round": float("nan")} | cell | {"bandwidth_bytes_per_s": bandwidth}
            line: dict[str, object] = {
                "from": from_rank, "to": to_rank,
                "from_host": result.ranks[from_rank].host, "to_host": result.ranks[to_rank].host,
                "message_size_bytes": part.message_size_bytes, "repeat": part.repeat + 1,
            }  # fmt: skip
            lines.append(line | {name: None if np.isnan(value) else value for name, value in numbers.items()})
    return lines


@pytest.fixture(params=[two_hosts, sweep, partial, few_rounds], ids=lambda made: made.__name__)
def some_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made: MadeUp = request.param()
    return write_result(tmp_path / "run.h5", made)


def test_csv_has_every_pair_to_measure(some_file: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(some_file), "--csv"]) == 0
    table = some_file.with_suffix(".csv")
    assert capsys.readouterr().out == f"{table}\n"
    lines = read_csv(table.read_text(encoding="utf-8"))
    result = leadline.load(some_file)
    expected = expected_lines(result)
    assert len(lines) == len(expected)
    for line, wanted in zip(lines, expected, strict=True):
        assert list(line) == [column.name for column in table_of(result, WHOLE)[0].columns]
        for name, value in wanted.items():
            read_back = line[name] if isinstance(value, str) else float(line[name]) if line[name] else None
            assert read_back == value, name


def test_parquet_has_the_same(some_file: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(some_file), "--parquet"]) == 0
    path = some_file.with_suffix(".parquet")
    assert capsys.readouterr().out == f"{path}\n"
    table = pyarrow.parquet.read_table(path)
    result = leadline.load(some_file)
    assert [{name: row[name] for name in row} for row in table.to_pylist()] == [
        {column.name: wanted[column.name] for column in table_of(result, WHOLE)[0].columns}
        for wanted in expected_lines(result)
    ]
    units = {field.name: field.metadata[b"unit"].decode() for field in table.schema}
    assert units["time_ns_p99"] == "ns"
    assert units["bandwidth_bytes_per_s"] == "bytes/s"
    assert units["message_size_bytes"] == "bytes"
    assert json.loads(table.schema.metadata[b"leadline"])["nonce"] == result.nonce


def test_blocks_make_one_table(result_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    tables = []
    for num_cells in (1, 1 << 16):
        monkeypatch.setattr("leadline.link.export._BLOCK_CELLS", num_cells)
        assert main([str(result_file), "--csv", "-o", "-"]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    for what in ("link.export._BLOCK_CELLS", "export.parquet_table._GROUP_ROWS"):
        monkeypatch.setattr(f"leadline.{what}", 1)
    assert main([str(result_file), "--parquet"]) == 0
    file = pyarrow.parquet.ParquetFile(result_file.with_suffix(".parquet"))
    assert (file.num_row_groups, file.metadata.num_rows) == (8, 56)


def test_only_one_size_and_repeat(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = write_result(tmp_path / "run.h5", sweep())
    assert main([str(path), "--csv", "-o", "-", "--message-size", "64KiB", "--repeat", "2"]) == 0
    lines = read_csv(capsys.readouterr().out)
    assert {(line["message_size_bytes"], line["repeat"]) for line in lines} == {("65536", "2")}
    assert len(lines) == 56
    assert not path.with_suffix(".csv").exists()


def test_bad_links_are_the_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = slow_component("host")
    of_file = made.summary_slices[0]["diagnosis"]["faults"][0]
    of_file |= {"host_names": ["node11"], "ranks": [44, 45, 46, 47], "list": "persistent", "share": 1.0}
    path = write_result(tmp_path / "run.h5", made)
    assert main([str(path), "--bad-links"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'run.bad-links.tsv'}\n"
    found, pair = read_tabs((tmp_path / "run.bad-links.tsv").read_text(encoding="utf-8"))
    told = {"number": "1", "what": "fault", "list": "persistent", "kind": "host", "name": "host node11",
            "hosts": "node11", "ranks": "44,45,46,47", "ratio": "3.000", "share": "1.000", "num_pairs": "492",
            "num_found": "1", "num_slices": "1", "from": ""}  # fmt: skip
    assert {name: found[name] for name in told} == told
    told = {"number": "1", "what": "pair", "name": "", "from": "44", "to": "3", "measured": "12000.0",
            "expected": "4000.0"}  # fmt: skip
    assert {name: pair[name] for name in told} == told


def test_a_sound_machine_has_no_bad_links(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = two_hosts()
    made.summary_slices = in_slices(diagnosis())
    assert main([str(write_result(tmp_path / "run.h5", made)), "--bad-links", "-o", "-"]) == 0
    assert read_tabs(capsys.readouterr().out) == []


def test_bad_links_need_a_diagnosis(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main([str(write_result(tmp_path / "run.h5", slow_host())), "--bad-links"]) == 3
    assert "cannot tell which links are bad (the result file has none, and LEADLINE_PROGRAM" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["run.h5"]


@pytest.mark.parametrize("kind", ["--csv", "--bad-links"])
def test_names_are_not_obeyed(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    made = hostile()
    made.hosts = ['=cmd|" /c calc"!A0', "two\nlines\twith\x1b[31mcolour", 'say "it", twice', "plain"]
    made.summary_slices = in_slices(diagnosis(fault("host", f"host {made.hosts[1]}", 1, 2.0)))
    path = write_result(tmp_path / "run.h5", made)
    assert main([str(path), kind, "-o", "-"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    if kind == "--csv":
        names = {line["from_host"] for line in read_csv(out)}
        assert names == {"'" + made.hosts[0], "two\ufffdlines\ufffdwith\ufffd[31mcolour", *made.hosts[2:]}


@pytest.mark.parametrize("kind", KINDS)
def test_an_earlier_table_is_replaced_and_nothing_else(kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    result_file = write_result(tmp_path / "run.h5", slow_component("host"))
    path = result_file.with_suffix(KINDS[kind])
    path.write_text("mine")
    assert main([str(result_file), kind]) == 2
    assert "was not written by this command). Use --overwrite" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert main([str(result_file), kind, "--overwrite"]) == 0
    first = path.read_bytes()
    assert first != b"mine"
    assert main([str(result_file), kind]) == 0
    assert sorted(one.name for one in path.parent.iterdir()) == sorted([path.name, "run.h5"])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--csv"], "the following arguments are required: RESULT"),
        (["RUN"], "one of the arguments --csv --parquet --bad-links is required"),
        (["RUN", "--csv", "--parquet"], "not allowed with argument --csv"),
        (["RUN", "--parquet", "-o", "-"], "Parquet cannot be written to stdout"),
        (["RUN", "--csv", "-o", "RUN", "--overwrite"], "it is the result itself"),
        (["RUN", "--csv", "-o", "nowhere/table.csv"], "no such folder"),
        (["RUN", "--csv", "--message-size", "3KiB"], "the result has no message size 3 KiB"),
        (["RUN", "--csv", "--repeat", "0"], "--repeat cannot be '0'"),
        (["RUN", "--csv", "--message-size", "8", "--message-size", "8"], "--message-size is given twice"),
        (["none.h5", "--csv"], "No such file"),
    ],
)
def test_wrong_command_lines(result_file: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]):
    before = result_file.read_bytes()
    assert main([str(result_file) if word == "RUN" else word for word in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("leadline: ")
    assert captured.err.count("\n") == 1
    assert reason in captured.err
    assert result_file.read_bytes() == before


@pytest.mark.parametrize("kind", ["--csv", "--parquet"])
def test_damage_leaves_no_half_table(kind: str, result_file: Path, capsys: pytest.CaptureFixture[str]):
    with h5py.File(result_file, "r+") as file:
        file["repeats/0000/time_ns_median"][0, 7, 1] = -1
    assert main([str(result_file), kind]) == 4
    assert "no measurement gives" in capsys.readouterr().err
    assert [path.name for path in result_file.parent.iterdir()] == ["run.h5"]


def test_without_pyarrow(result_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main([str(result_file), "--parquet"]) == 3
    error = capsys.readouterr().err
    assert "the Python package pyarrow is not installed" in error
    assert "leadline[parquet]" in error
    assert main([str(result_file), "--csv"]) == 0


def test_help_and_version(capsys: pytest.CaptureFixture[str]):
    for word in ("--help", "--version"):
        with pytest.raises(SystemExit) as caught:
            main([word])
        assert caught.value.code == 0
    out = capsys.readouterr().out
    for option in ("--csv", "--parquet", "--bad-links", "--output", "--overwrite", "--message-size", "--repeat"):
        assert option in out
