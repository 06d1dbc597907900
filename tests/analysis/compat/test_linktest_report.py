# SPDX-License-Identifier: Apache-2.0
"""`linktest-report`: one result in, one report out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from leadline.cli.linktest_report import main

pytestmark = pytest.mark.usefixtures("real_program")

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
SAMPLE = SAMPLES / "linktest" / "ompi_n4_1B_par.sion"


@pytest.mark.parametrize(
    ("name", "beginning"),
    [("a b.pdf", b"%PDF-"), ("r.PS", b"%!PS-Adobe"), ("r.png", b"\x89PNG"), ("r.html", b"<!doctype html>")],
)
def test_the_end_of_the_name_says_what_is_written(tmp_path: Path, name: str, beginning: bytes):
    target = tmp_path / name
    target.write_text("older")
    assert main(["-i", str(SAMPLE), "-o", str(target)]) == 0
    assert target.read_bytes().lower().startswith(beginning.lower())
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_hdf5_and_long_names_of_options(result_file: Path, capsys: pytest.CaptureFixture[str]):
    target = result_file.with_suffix(".html")
    assert main([f"--input={result_file}", "--output", str(target)]) == 0
    assert capsys.readouterr().out == f"{target}\n"
    assert "node02.cluster" in target.read_text()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "-i/--input, -o/--output"),
        (["-i", "RUN"], "required: -o/--output"),
        (["-o", "x.pdf"], "required: -i/--input"),
        (["-i", "RUN", "-o"], "expected one argument"),
        (["-i", "RUN", "-i", "RUN", "-o", "x.pdf"], "-i is given twice"),
        (["-i", "RUN", "-o", "x.pdf", "y.pdf"], "unrecognized arguments: y.pdf"),
        (["-i", "RUN", "-o", "x.doc"], "a report is a .pdf, .ps, .png or .html"),
        (["-i", "RUN", "-o", "pdf"], "a report is a .pdf"),
        (["-i", "RUN", "-o", "nowhere/x.pdf"], "no such folder"),
        (["-i", "none.sion", "-o", "x.pdf"], "No such file"),
        (["-i", "run.pdf", "-o", "run.pdf"], "it is the result that is to be read"),
    ],
)
def test_wrong_command_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], reason: str
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(SAMPLE, "run.pdf")
    assert main([str(SAMPLE) if word == "RUN" else word for word in words]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("leadline: ")
    assert captured.err.count("\n") == 1
    assert reason in captured.err
    assert [path.name for path in tmp_path.iterdir()] == ["run.pdf"]


def test_a_damaged_result_leaves_the_older_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    target = tmp_path / "x.pdf"
    target.write_text("older")
    assert main(["-i", str(SAMPLES / "sion" / "bad" / "b14_bs.sion"), "-o", str(target)]) == 4
    assert capsys.readouterr().err.count("\n") == 1
    assert target.read_text() == "older"


@pytest.mark.parametrize("words", [["-h"], ["--help"], ["-v"], ["--version"]])
def test_help_and_version(words: list[str], capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    assert "linktest-report" in capsys.readouterr().out
