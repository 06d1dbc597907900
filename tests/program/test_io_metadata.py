# SPDX-License-Identifier: Apache-2.0
"""`leadline io --metadata` and the presets: what a run says of files and directories as a whole, and what it leaves."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import pytest
from program import Leadline
from result import schema_of, wrong_json

import leadline as analysis

OPERATIONS = ["mkdir", "rmdir", "create", "stat", "open", "read_file", "unlink"]
NUMBERS = {"write": 0, "read": 1} | {name: number for number, name in enumerate(OPERATIONS, 2)}
FEW = ["io", "--metadata", "--local", "3", "--objects", "20", "--wait", "yield", "--quiet"]


@pytest.mark.parametrize("words", [["--target", "d.%r"], ["--movement", "N-1", "--target", "d"]])
def test_every_operation_has_a_rate(leadline: Leadline, tmp_path: Path, words: list[str]) -> None:
    done = leadline(*FEW, *words, "--object-size", "3901B", "--read-shift", "ranks:1", "--output", "r.json")
    assert (done.status, done.err) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"], "items or directories are left"
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("io")) == []
    assert [phase["operation"] for phase in document["phases"]] == OPERATIONS
    for phase in document["phases"]:
        assert phase["is_complete"]
        assert phase["num_objects"] == phase["num_calls"] == 60
        assert phase["operations_per_s"] == pytest.approx(60e9 / phase["io"]["max"])
        assert 0 < phase["call_ns_p50"] <= phase["call_ns_p99"] <= phase["call_ns_max"]
        assert (phase["bytes_per_s"], phase["is_durable"], phase["source"]) == (None, None, None)
        assert phase["bytes"] == (60 * 3901 if phase["operation"] in ("create", "read_file") else 0)
        assert f"{phase['operation']} " in done.out
    assert document["verified_bytes"] == 60 * (3901 // 8 * 8)
    assert [one["operation"] for one in document["operations"]] == OPERATIONS
    assert all(one["operations_per_s_median"] > 0 for one in document["operations"])


def test_the_file_is_read_again(leadline: Leadline, tmp_path: Path) -> None:
    words = ["--repeat", "2", "--items", "files", "--target", "d.%r", "--output"]
    for name in ("r.h5", "s.h5"):
        assert leadline(*FEW, *words, name).status == 0
    with h5py.File(tmp_path / "r.h5") as file:
        stored = [int(number) for number in file["io/phases/operation"]]
    assert stored == 2 * [NUMBERS[name] for name in OPERATIONS[2:]]
    result = analysis.load(tmp_path / "r.h5")
    assert [phase.operation for phase in result.phases] == 2 * OPERATIONS[2:]
    assert all(phase.operations_per_s > 0 for phase in result.phases)
    info = json.loads(leadline("info", "r.h5", "--json").out)["result"]
    assert [phase["operation"] for phase in info["phases"]] == 2 * OPERATIONS[2:]
    assert all(phase["operations_per_s"] > 0 for phase in info["phases"])
    compared = json.loads(leadline("compare", "r.h5", "s.h5", "--json").out)
    numbers = {number["name"]: number["unit"] for number in compared["runs"]["numbers"] if not number["part"]}
    assert numbers == dict.fromkeys(OPERATIONS[2:], "1/s")
    assert leadline("diagnose", "r.h5").status == 0
    page = leadline("report", "r.h5", "--output", "page.html")
    assert page.status == 0, page.err
    text = (tmp_path / "page.html").read_text()
    assert "Operations in a second: create " in text
    assert "<h2>Files and directories</h2>" in text
    assert "N-N: a directory for each rank" in text


def test_a_directory_that_is_there_is_refused(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "d.1").mkdir()
    (tmp_path / "d.1" / "precious").write_text("precious")
    leadline(*FEW, "--target", "d.%r", "--format", "none").assert_refused(2, "d.1", "--target")
    assert [path.name for path in tmp_path.rglob("*")] == ["d.1", "precious"]


def test_calls_count_as_operations(leadline: Leadline, tmp_path: Path) -> None:
    words = ["--objects", "40", "--object-size", "4KiB", "--random", "7", "--mix", "70:30", "--target", "t.%r"]
    for name in ("r.json", "r.h5"):
        done = leadline("io", "--local", "2", "--wait", "yield", "--quiet", *words, "--output", name)
        assert done.status == 0, done.err
        assert "IOPS" in done.out
    document = json.loads((tmp_path / "r.json").read_text())
    assert wrong_json(document, schema_of("io")) == []
    assert [phase["operation"] for phase in document["phases"]] == ["write", "mix", "read"]
    for phase in document["phases"]:
        assert phase["operations_per_s"] == pytest.approx(phase["bytes_per_s"] / 4096)
    mix = document["phases"][1]
    assert mix["reads"]["num_calls"] + mix["writes"]["num_calls"] == mix["num_calls"] == 80
    assert mix["reads"]["num_calls"] > mix["writes"]["num_calls"] > 0
    assert [phase.operation for phase in analysis.load(tmp_path / "r.h5").phases] == ["write", "mix", "read"]
    page = leadline("report", "r.h5", "--output", "page.html")
    assert page.status == 0, page.err
    assert "Both at once: reads " in (tmp_path / "page.html").read_text()


# What the plan must say of each.
PRESETS = {
    "ior-easy": ["N-N", "4960000 objects of 2 MiB", "write, read; 5 min 00 s each at most"],
    "ior-hard": ["N-1, strided", "10000000 objects of 47008 B"],
    "mdtest-easy": ["N-N", "1000000 files a rank at most", "Phases: create, stat"],
    "mdtest-hard": ["N-1", "1000000 files of 3901 B", "Directories: 1"],
}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_shown(leadline: Leadline, name: str) -> None:
    done = leadline("io", "--preset", name, "--dry-run", "--ranks", "8", "--ranks-per-host", "4")
    assert (done.status, done.err) == (0, "")
    for text in (f"Preset {name}: --", *PRESETS[name]):
        assert text in done.out


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_runs(leadline: Leadline, tmp_path: Path, name: str) -> None:
    target = "t" if name.endswith("hard") else "t.%r"
    words = ["--objects", "4", "--time-limit", "0", "--target", target, "--output", "r.json", "--quiet"]
    done = leadline("io", "--preset", name, "--local", "2", "--wait", "yield", *words)
    assert (done.status, done.err) == (0, "")
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["options"]["preset"] == name
    assert all(phase["is_complete"] for phase in document["phases"])
    assert document["num_objects"] == 4
