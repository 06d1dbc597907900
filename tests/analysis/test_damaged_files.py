# SPDX-License-Identifier: Apache-2.0
"""Damaged files of all kinds: every command says in one line what is wrong, and neither crashes nor hangs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import made_up_bisection
import made_up_io
import made_up_topology
import mutations
import numpy as np
import program
import pytest

from conftest import few_rounds, rounds_of, sweep, write_packed_result, write_result
from leadline.cli.simulate import main as simulate

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
NUM_SEEDS = 10
TEXTS = {
    "pattern.txt": "0 1\n1 2 3\n2 3 4 1KiB\n",
    "cables.txt": "h0 s0\nh1 s0 2\nh2 s0\nh3 s0\n",
    "mask.txt": "0 1\n1 0\n2 3\n",
}


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    """Of damaged files; what SION needs is there."""
    if request.param == "linktest":
        request.getfixturevalue("real_program")
    return str(request.param)


@pytest.fixture(scope="session")
def sound_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small file of each kind that mutations.py knows."""
    folder = tmp_path_factory.mktemp("sound")
    link = sweep()
    write_result(folder / "link.h5", replace(link, rounds=[rounds_of(of_sizes[0] > 0) for of_sizes in link.times]))
    made_up_topology.write_topologies(folder / "topology.h5", made_up_topology.slow_host_of_eight())
    made_up_bisection.write_bisection(folder / "bisection.h5", made_up_bisection.slow_host())
    made_up_io.write_io(folder / "io.h5", made_up_io.straggling())
    write_packed_result(folder / "packed.h5", replace(few_rounds(), sizes=[8]))
    (folder / "linktest.sion").write_bytes((SAMPLES / "linktest" / "ompi_n4_1B_par.sion").read_bytes())
    words = ["bisection", "--topology", "fat-tree:4x4", "--measured", str(folder / "bisection.h5"), "--quiet"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))
        assert simulate([*words, "--output", str(folder / "simulation.json")]) == 0
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.usefixtures("real_program")
@pytest.mark.parametrize("kind", sorted(mutations.TRIED), indirect=True)
def test_any_damage_is_a_result_or_one_line(
    kind: str, sound_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    # The waits of a machine with other work to do are not ours.
    monkeypatch.setattr(mutations, "MOST_SECONDS", 300.0)
    for seed in range(NUM_SEEDS):
        outcome = mutations.tried(sound_files, tmp_path / "damaged", seed, (kind,))
        assert outcome.is_fine, outcome


@pytest.mark.usefixtures("real_program")
@pytest.mark.parametrize("kind", sorted(mutations.TRIED), indirect=True)
def test_what_is_sound_is_read(kind: str, sound_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Else the damage would prove nothing: each command works where there is none."""
    monkeypatch.chdir(tmp_path)
    (path,) = sound_files.glob(f"{kind}.*")
    for words in mutations.TRIED[kind]:
        assert mutations.run(words, path, sound_files)[0] == 0, words


@pytest.mark.parametrize("words", [["export", "--csv", "--ranks"], ["report"]], ids=["export", "report"])
def test_numbers_beyond_all_measure_add_no_lines(words: list[str], tmp_path: Path):
    """numpy would say that they overflow. In a process of its own: pytest takes warnings away."""
    path = made_up_io.write_io(tmp_path / "run.h5", made_up_io.even())
    with h5py.File(path, "r+") as file:
        file["io/ranks/io_ns"][...] = 1e-310
    given = [*words[1:], str(path), "-o", str(tmp_path / "out")] if words[0] == "export" else [str(path), "-o", "-"]
    code = f"from leadline.cli.{words[0]} import main; raise SystemExit(main({given!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_summary_that_lacks_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The reader takes the numbers of a phase as they are; who uses them finds that one is missing."""
    monkeypatch.chdir(tmp_path)
    path = made_up_io.write_io(tmp_path / "run.h5", made_up_io.even())
    with h5py.File(path, "r+") as file:
        stored = file["io/phases/summary"]
        texts = [json.loads(bytes(text).rstrip(b"\0")) for text in stored[()]]
        for text in texts:
            text["latencies"] = [{"low_ns": 1.0}]
        stored[...] = np.array([json.dumps(text).encode() for text in texts], dtype=stored.dtype)
    status, errors = mutations.run(["report", "FILE", "-o", "-"], path, tmp_path)
    assert (status, errors.count("\n")) == (4, 1)
    assert str(path) in errors
