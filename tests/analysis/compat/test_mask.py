# SPDX-License-Identifier: Apache-2.0
"""Masks of `pingponganalysis`: only pairs that a file names count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leadline.benchmarks import load
from leadline.cli.pingponganalysis import main
from leadline.compat import mask

pytestmark = pytest.mark.usefixtures("real_program")

SERIAL = str(Path(__file__).resolve().parents[2] / "samples" / "linktest" / "ompi_n8_1MiB_ser.sion")


def test_only_named_pairs_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "pairs"
    path.write_text("0 1  # there\n\n 7\t2\n0 1\n")
    run = load(SERIAL)
    part = run.slices[0]
    only = mask.masked(run, path)
    kept = np.isfinite(only.matrix(part))
    assert np.argwhere(kept).tolist() == [[0, 1], [7, 2]]
    assert np.array_equal(only.to_measure(part), kept)
    assert np.array_equal(only.matrix(part)[kept], run.matrix(part)[kept])
    assert np.array_equal(only.read_rows(part, "time_ns_median", 3, 8), only.matrix(part)[3:], equal_nan=True)
    assert only.retests == ()
    monkeypatch.setattr(mask, "_BLOCK_PAIRS", 1)
    assert np.array_equal(mask.masked(run, path).matrix(part), only.matrix(part), equal_nan=True)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "it names no pair"),
        ("0 1 2\n", "line 1 is not two ranks"),
        ("0 1\n-1 2\n", "line 2 is not two ranks"),
        ("0 8\n", "the ranks are 0 to 7"),
        ("0 " + "1" * 5000, "line 1 is not two ranks"),
    ],
)
def test_wrong_masks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, reason: str
):
    monkeypatch.chdir(tmp_path)
    Path("pairs").write_text(text)
    assert main(["-m", "pairs", SERIAL]) == 2
    assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["pairs"]


def test_a_result_without_rounds(tmp_path: Path, result_file: Path):
    """Of older files it is not known which pairs their run was to measure, and all are; a mask says so of a few."""
    path = tmp_path / "pairs"
    path.write_text("0 1\n4 4\n")
    run = load(result_file)
    only = mask.masked(run, path)
    assert np.argwhere(only.to_measure(run.slices[0])).tolist() == [[0, 1]]
    assert np.argwhere(only.rows_to_measure(run.slices[0], 1, 8)).tolist() == []
