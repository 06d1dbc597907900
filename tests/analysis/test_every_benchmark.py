# SPDX-License-Identifier: Apache-2.0
"""What holds for all benchmarks: pages are whole, sheets and tables are written and replaced, what is refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from made_up_bisection import MADE_UP_BISECTIONS, write_bisection
from made_up_collective import MADE_UP_COLLECTIVES, write_collective
from made_up_congestion import MADE_UP_CONGESTIONS, write_congestion
from made_up_io import MADE_UP_IOS, write_io
from made_up_topology import MADE_UP_TOPOLOGIES, write_topologies
from page_source import expect_whole_and_alone

import leadline
from conftest import MADE_UP, write_result
from leadline.benchmarks import BENCHMARKS, export_of
from leadline.bisection.page import render_bisection
from leadline.cli.export import main as export_main
from leadline.cli.report import main as report_main
from leadline.cli.view import main as view_main
from leadline.collective.page import render_collective
from leadline.congestion.page import render_congestion
from leadline.export.csv_table import header_of
from leadline.io.page import render_io
from leadline.report.frame import is_own_report
from leadline.topology.page import render_topology

Capture = pytest.CaptureFixture[str]
WRITERS: dict[str, tuple[Callable[..., Path], dict[str, Any]]] = {
    "link": (write_result, MADE_UP),
    "topology": (write_topologies, MADE_UP_TOPOLOGIES),
    "bisection": (write_bisection, MADE_UP_BISECTIONS),
    "congestion": (write_congestion, MADE_UP_CONGESTIONS),
    "collective": (write_collective, MADE_UP_COLLECTIVES),
    "io": (write_io, MADE_UP_IOS),
}
RENDER: dict[str, Callable[..., str]] = {
    "topology": render_topology,
    "bisection": render_bisection,
    "congestion": render_congestion,
    "collective": render_collective,
    "io": render_io,
}
NAMES = [(benchmark, name) for benchmark in RENDER for name in sorted(WRITERS[benchmark][1])]
SHEETS = {
    "topology": ("even", "killed", "never_begun", "under_load", "each_star"),
    "bisection": ("slow_host", "killed", "never_begun", "only_named", "many_sizes"),
    "io": ("straggling", "wrong_data", "never_begun", "many_ranks"),
}
BEGINS = {"pdf": b"%PDF-", "png": b"\x89PNG", "ps": b"%!PS-Adobe"}
ONLY_LINK = "is for results of leadline link"
NO_BAD_LINKS = f"--bad-links {ONLY_LINK}. leadline report tells what stands out"


def written(folder: Path, benchmark: str, name: str) -> Path:
    write, made_up = WRITERS[benchmark]
    return write(folder / "run.h5", made_up[name]())


def test_every_benchmark_is_known_here():
    assert list(WRITERS) == list(BENCHMARKS)


@pytest.mark.parametrize(("benchmark", "name"), NAMES)
def test_every_page_is_whole_and_alone(benchmark: str, name: str, tmp_path: Path):
    expect_whole_and_alone(RENDER[benchmark](leadline.load(written(tmp_path, benchmark, name))))


@pytest.mark.parametrize(
    ("benchmark", "name", "kind"),
    [
        *((benchmark, name, "pdf") for benchmark, names in SHEETS.items() for name in (*names, "hostile_names")),
        *((benchmark, "hostile_names", kind) for benchmark in SHEETS for kind in ("png", "ps")),
    ],
)
def test_a_sheet(benchmark: str, name: str, kind: str, tmp_path: Path, capsys: Capture):
    path, sheet = written(tmp_path, benchmark, name), tmp_path / f"run.{kind}"
    assert report_main([str(path), "-o", str(sheet)]) == 0
    first = sheet.read_bytes()
    assert first.startswith(BEGINS[kind])
    assert report_main([str(path), "-o", str(sheet)]) == 0, "its own is replaced"
    assert sheet.read_bytes() == first
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("benchmark", RENDER)
def test_a_report_lies_beside_its_result(benchmark: str, tmp_path: Path, capsys: Capture):
    assert report_main([str(written(tmp_path, benchmark, "even"))]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'run.html'}\n"
    assert is_own_report((tmp_path / "run.html").read_text(encoding="utf-8")[:4096])


@pytest.mark.parametrize(
    ("benchmark", "arguments", "reason"),
    [
        ("link", ["--simulated", "model.json"], "--simulated is for results of leadline bisection"),
        ("topology", ["--simulated", "model.json"], "--simulated is for results of leadline bisection"),
        ("topology", ["--statistic", "p99"], f"--statistic {ONLY_LINK}. A report of a topology test has all repeats"),
        ("topology", ["--repeat", "1"], f"--repeat {ONLY_LINK}"),
        ("topology", ["--message-size", "3"], "the result has no message size 3 B. It has 1 KiB, 16 KiB, 256 KiB"),
        ("topology", ["--message-size", "big"], "--message-size big is not a size"),
        (
            "bisection",
            ["--statistic", "p99"],
            f"--statistic {ONLY_LINK}. A report of a bisection test has all",
        ),
        ("bisection", ["--repeat", "1"], f"--repeat {ONLY_LINK}"),
        ("bisection", ["--message-size", "3"], "the result has no message size 3 B. It has 1 MiB"),
        ("bisection", ["--simulated", "nowhere.json"], "cannot read 'nowhere.json'"),
        ("congestion", ["--repeat", "1"], f"--repeat {ONLY_LINK}. A report of a congestion test has all loads"),
        ("congestion", ["--topology", "fat-tree:2x2"], "--topology is not for results of leadline congestion"),
        ("collective", ["--repeat", "1"], f"--repeat {ONLY_LINK}. A report of a collective test has all operations"),
        ("collective", ["--topology", "fat-tree:2x2"], "--topology is not for results of leadline collective"),
        ("io", ["--statistic", "max"], f"--statistic {ONLY_LINK}. A report of a parallel file test has all phases"),
        ("io", ["--message-size", "1MiB"], "--message-size is for results with message sizes"),
        ("io", ["--simulated", "x.json"], "--simulated is for results of leadline bisection. Leave it out"),
    ],
)
def test_what_a_report_refuses(benchmark: str, arguments: list[str], reason: str, tmp_path: Path, capsys: Capture):
    path = written(tmp_path, benchmark, "two_hosts" if benchmark == "link" else "even")
    assert report_main([str(path), *arguments]) == 2
    assert reason in capsys.readouterr().err
    assert not (tmp_path / "run.html").exists()


@pytest.mark.parametrize("benchmark", RENDER)
def test_view_is_about_links(benchmark: str, tmp_path: Path, capsys: Capture):
    assert view_main([str(written(tmp_path, benchmark, "even")), "--no-browser"]) == 2
    error = capsys.readouterr().err
    assert f"a result of leadline {benchmark}" in error
    assert "Use leadline report" in error


@pytest.mark.parametrize(
    ("benchmark", "name"),
    [("topology", "even"), ("bisection", "many_sizes"), ("congestion", "even"), ("collective", "even"), ("io", "even")],
)
def test_progress_ends_at_all(benchmark: str, name: str, tmp_path: Path):
    told: list[float] = []
    RENDER[benchmark](leadline.load(written(tmp_path, benchmark, name)), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.parametrize(
    ("benchmark", "words", "text"),
    [(benchmark, words, text) for benchmark, text, more in
     (("topology", "topology", "--channels"), ("bisection", "kind", "--channels"), ("io", "operation", "--ranks"))
     for words in ([], [more])],
)  # fmt: skip
def test_parquet_has_the_same(benchmark: str, words: list[str], text: str, tmp_path: Path, capsys: Capture):
    path = written(tmp_path, benchmark, "killed")
    assert export_main([str(path), "--csv", "-o", "-", *words]) == 0
    lines = list(csv.DictReader(io.StringIO(capsys.readouterr().out), strict=True))
    assert export_main([str(path), "--parquet", *words]) == 0
    parquet = pyarrow.parquet.read_table(tmp_path / "run.parquet")
    assert parquet.column_names == list(lines[0])
    assert parquet.schema.field(text).metadata[b"unit"] == b""
    assert json.loads(parquet.schema.metadata[b"leadline"])["nonce"] == "a1b2c3"
    for name in parquet.column_names:
        values = parquet[name].to_pylist()
        assert ["" if value is None else str(value) for value in values] == [line[name] for line in lines]


def test_every_table_begins_in_its_own_way():
    headers = [header_of(one.columns) for benchmark in BENCHMARKS for one in export_of(benchmark).TABLES]
    assert len(set(headers)) == len(headers) == 10


@pytest.mark.parametrize(
    ("benchmark", "word"),
    [
        ("link", "--csv"),
        ("topology", "--channels"),
        ("bisection", "--channels"),
        ("congestion", "--csv"),
        ("collective", "--csv"),
        ("io", "--ranks"),
    ],
)
def test_an_earlier_table_is_replaced(benchmark: str, word: str, tmp_path: Path, capsys: Capture):
    path = written(tmp_path, benchmark, "two_hosts" if benchmark == "link" else "even")
    for words in ([], [word], []):
        assert export_main([str(path), *dict.fromkeys(["--csv", *words])]) == 0
    (tmp_path / "run.csv").write_text("mine\n")
    assert export_main([str(path), "--csv"]) == 2
    assert "was not written by this command" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("benchmark", "arguments", "reason"),
    [
        *((benchmark, ["--bad-links"], NO_BAD_LINKS) for benchmark in RENDER),
        *((benchmark, ["--csv", "--repeat", "1"], f"--repeat {ONLY_LINK}") for benchmark in RENDER),
        *((one, ["--csv", "--message-size", "3"], "has no message size 3") for one in ("topology", "bisection")),
        *((benchmark, ["--csv", "--ranks"], "--ranks is for results of leadline io. Leave it out")
          for benchmark in ("link", "topology", "bisection", "congestion", "collective")),
        ("link", ["--csv", "--channels"], "--channels is for results of leadline topology and leadline bisection"),
        ("io", ["--csv", "--channels"], "leadline topology and leadline bisection. Use --ranks"),
    ],
)  # fmt: skip
def test_what_an_export_refuses(benchmark: str, arguments: list[str], reason: str, tmp_path: Path, capsys: Capture):
    path = written(tmp_path, benchmark, "two_hosts" if benchmark == "link" else "even")
    assert export_main([str(path), *arguments]) == 2
    assert reason in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["run.h5"]
