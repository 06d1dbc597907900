# SPDX-License-Identifier: Apache-2.0
"""The command lines of LinkTest's analysis, with what they print and write: every file of pingponganalysis/ is one."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import golden
import program as built
import pytest

from leadline.cli.pingponganalysis import main

FOLDER = Path(__file__).resolve().parent / "pingponganalysis"
SAMPLES = Path(__file__).resolve().parents[1] / "samples" / "linktest"
CASES = golden.read_all(FOLDER)


@pytest.mark.parametrize("name", CASES)
def test_golden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str) -> None:
    case = CASES[name]
    for path in (*SAMPLES.glob("*.sion"), *FOLDER.glob("*.pairs")):
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEADLINE_PROGRAM", str(built.PROGRAM))
    program, *words = shlex.split(case.head["command"])
    assert program == "pingponganalysis"
    status = main(words)
    captured = capsys.readouterr()
    assert status == case.status, captured.err
    assert not golden.first_difference(case.stdout, captured.out.splitlines())
    assert not golden.first_difference(case.stderr, captured.err.splitlines())
    for file_name, lines in case.files.items():
        # Nothing in these files differs from run to run.
        assert (tmp_path / file_name).read_text().splitlines() == lines, file_name
