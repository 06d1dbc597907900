# SPDX-License-Identifier: Apache-2.0
"""`leadline score` of runs of the presets of `leadline io`."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import program
import pytest
from io_runs import SCORED, run_presets
from program import Leadline
from result import schema_of, wrong_json


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small runs of all four."""
    if not (program.ANALYSIS_COMMANDS / "leadline-score").exists():
        pytest.skip("the analysis package is not installed where this Python is")
    return run_presets(tmp_path_factory.mktemp("presets"))


@pytest.fixture
def results(runs: Path, tmp_path: Path) -> None:
    for name in SCORED:
        shutil.copy(runs / name, tmp_path)


@pytest.mark.usefixtures("results")
def test_a_line_for_each_phase_and_what_is_missing(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline("score", *reversed(SCORED), "--output", "s.json")
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "s.json").read_text())
    assert wrong_json(document, schema_of("score")) == []
    lines = [line.split() for line in done.out.splitlines()]
    for phase in document["phases"]:
        assert [phase["name"], f"{phase['rate']:.6f}", phase["unit"]] in [line[:3] for line in lines]
    product = document["bandwidth_gib_per_s"] * document["metadata_kiops"]
    assert document["score"] == pytest.approx(math.sqrt(product))
    assert ["find", "missing"] in lines
    assert "This is no score of IO500:\n" in done.out
    assert done.out.endswith("s.json\n")


@pytest.mark.usefixtures("results")
def test_only_what_was_changed_is_told_to_differ_from_its_preset(leadline: Leadline) -> None:
    """The options that a score compares are those that the program sets."""
    done = leadline("score", *SCORED, "--json")
    changed = [one for one in json.loads(done.out)["deviations"] if ": --" in one]
    assert [one.partition(";")[0].split()[:2] for one in changed] == [
        [f"{name.removesuffix('.h5')}:", "--objects"] for name in SCORED
    ]


@pytest.mark.usefixtures("results")
def test_refused(leadline: Leadline, tmp_path: Path) -> None:
    easy, hard, *metadata = SCORED
    leadline("score", easy, hard).assert_refused(2, "--preset mdtest-easy, mdtest-hard")
    leadline("score", easy, easy, hard, *metadata).assert_refused(2, easy, "ior-easy")
    leadline("score", "none.h5", hard, *metadata).assert_refused(2, "none.h5", "No such file")
    leadline("score", *SCORED, "--output", "s.txt").assert_refused(2, "s.txt", ".json")
    (tmp_path / "s.json").write_text("precious")
    leadline("score", *SCORED, "--output", "s.json").assert_refused(2, "s.json", "--overwrite")
    assert (tmp_path / "s.json").read_text() == "precious"
    other = leadline("simulate", "link", "--topology", "fat-tree:4x2", "--output", "link.h5")
    assert other.status == 0, other.err
    leadline("score", "link.h5", hard, *metadata).assert_refused(2, "link.h5", "leadline io")
