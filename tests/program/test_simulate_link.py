# SPDX-License-Identifier: Apache-2.0
"""`leadline simulate link`: the file that nobody measured, what is said of it, and what is refused."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from program import Leadline
from result import ResultFile, schema_of, wrong_json

TREE = ["--topology", "fat-tree:4x3", "--ranks-per-host", "2", "--sockets-per-host", "2"]


def faults_file(folder: Path, *faults: dict[str, Any], **other: Any) -> Path:
    """With those faults and no noise, unless `other` says so."""
    path = folder / "faults.json"
    path.write_text(json.dumps({"noise": "none", "faults": faults} | other), encoding="utf-8")
    return path


def simulated(leadline: Leadline, folder: Path, *words: str | Path, name: str = "made.h5") -> ResultFile:
    done = leadline("simulate", "link", *TREE, *words, "--output", name)
    assert (done.status, done.err) == (0, "")
    return ResultFile(folder / name)


def test_a_fault_is_where_the_file_says(leadline: Leadline, tmp_path: Path) -> None:
    sound = simulated(leadline, tmp_path, "--faults", faults_file(tmp_path), name="sound.h5")
    fault = {"slow_port": "host3", "direction": "receiving", "factor": 2}
    broken = simulated(leadline, tmp_path, "--faults", faults_file(tmp_path, fault))
    ratio = broken.medians()[~np.eye(24, dtype=bool)] / sound.medians()[~np.eye(24, dtype=bool)]
    host = np.arange(24) // 2
    expected = np.where((host[None, :] == 3) & (host[:, None] != 3), 2.0, 1.0)[~np.eye(24, dtype=bool)]
    np.testing.assert_allclose(ratio, expected, rtol=1e-9)
    assert np.all(np.diag(broken.medians()) == 0)


def test_it_is_an_ordinary_result_that_says_it_is_simulated(leadline: Leadline, tmp_path: Path) -> None:
    result = simulated(leadline, tmp_path, "--message-size", "64KiB", "--seed", "7")
    assert result.complete
    assert result.provenance["simulated"] == 1
    assert (result.sizes, result.options["seed"]) == ([65536], "7")
    assert result.hosts[:3] == ["host0", "host0", "host1"]
    assert len(result.retest["from"]) == 10
    assert sorted(result.repeats[0]["round"][0].tolist()) == list(range(24))
    assert wrong_json(result.summary, schema_of("link")) == []
    assert {finding["id"] for finding in result.summary["findings"]} == {"simulated"}
    off_diagonal = result.medians()[~np.eye(24, dtype=bool)]
    assert result.summary["slices"][0]["all"]["time_ns_median"] == pytest.approx(np.median(off_diagonal))


def test_the_same_words_give_the_same_numbers(leadline: Leadline, tmp_path: Path) -> None:
    one = simulated(leadline, tmp_path, "--random-faults", "2", name="one.h5")
    again = simulated(leadline, tmp_path, "--random-faults", "2", name="again.h5")
    other = simulated(leadline, tmp_path, "--random-faults", "2", "--seed", "2", name="other.h5")
    for key in ("time_ns_min", "time_ns_median", "time_ns_mean", "time_ns_p99", "time_ns_max"):
        np.testing.assert_array_equal(one.repeats[0][key], again.repeats[0][key])
    assert not np.array_equal(one.medians(), other.medians())


def test_it_says_what_is_wrong(leadline: Leadline, tmp_path: Path) -> None:
    faults = faults_file(tmp_path, {"slow_uplink": "leaf1", "factor": 1.5}, {"slow_host": 2, "loss": 0.01})
    done = leadline("simulate", "link", *TREE, "--faults", faults, "--random-faults", "1", "--effect", "1.5-3")
    assert done.status == 0
    assert "24 ranks on 12 hosts of fat-tree:4x3" in done.out
    assert "fault: the uplink of leaf switch leaf1: takes 1.5 times as long" in done.out
    assert "fault: host host2: loses 1 % of messages" in done.out
    assert done.out.count("fault:") == 3
    name = re.search(r"(leadline-simulated-link-\w+\.h5): 552 ordered pairs, simulated", done.out)
    assert name
    assert (tmp_path / name[1]).exists()


def test_topologies_come_from_files_too(leadline: Leadline, tmp_path: Path) -> None:
    tree = tmp_path / "topology.conf"
    tree.write_text(
        "SwitchName=s1 Nodes=n[1-3]\nSwitchName=s2 Nodes=n[4-6]\nSwitchName=top Switches=s[1-2]\n", encoding="utf-8"
    )
    faults = faults_file(tmp_path, {"slow_cable": ["s1", "s2"], "factor": 3})
    words = ["--topology", tree, "--faults", faults, "--ranks", "5", "--output", "made.sion"]
    done = leadline("simulate", "link", *words)
    assert done.status == 0, done.err
    assert leadline("convert", "made.sion", "--output", "made.h5").status == 0
    result = ResultFile(tmp_path / "made.h5")
    assert result.hosts == ["n1", "n2", "n3", "n4", "n5"]
    medians = result.medians()
    assert medians[0, 3] == pytest.approx(3 * (1550 + 1024 / 12.5))
    assert medians[0, 1] == pytest.approx(1300 + 1024 / 12.5)


def test_analysis_reads_it(leadline: Leadline, tmp_path: Path) -> None:
    simulated(leadline, tmp_path)
    done = leadline("info", "made.h5")
    assert done.status == 0
    assert "simulated" in done.out


BAD = {
    "no topology": (["--ranks", "4"], ["topology", "fat-tree"]),
    "empty topology": (["--topology", ""], ["--topology"]),
    "unknown formula": (["--topology", "fat-tree:4"], ["fat-tree:4"]),
    "pattern of names": (["--topology", r"pattern:r(\d+)"], ["pattern", "no names"]),
    "missing file": (["--topology", "nowhere.conf"], ["nowhere.conf"]),
    "too many ranks": ([*TREE, "--ranks", "25"], ["25 ranks", "12 hosts"]),
    "one rank": ([*TREE, "--ranks", "1"], ["--ranks", "from 2"]),
    "more sockets than ranks": (["--topology", "fat-tree:4x3", "--sockets-per-host", "2"], ["2 sockets"]),
    "no faults file": ([*TREE, "--faults", "nowhere.json"], ["nowhere.json"]),
    "negative faults": ([*TREE, "--random-faults", "-1"], ["--random-faults"]),
    "faults without a place": ([*TREE, "--random-faults", "1000"], ["1000 random faults"]),
    "effect alone": ([*TREE, "--effect", "2"], ["--effect", "--random-faults"]),
    "effect below 1": ([*TREE, "--random-faults", "1", "--effect", "0.5"], ["--effect", "0.5"]),
    "descending effect": ([*TREE, "--random-faults", "1", "--effect", "3-2"], ["--effect", "descends"]),
    "several sizes": ([*TREE, "--message-size", "8,16"], ["8,16"]),
    "huge size": ([*TREE, "--message-size", "2TiB"], ["2TiB"]),
    "unknown direction": ([*TREE, "--direction", "sideways"], ["sideways"]),
    "JSON": ([*TREE, "--output", "made.json"], ["made.json", ".h5"]),
    "no ending": ([*TREE, "--output", "made"], ["made"]),
    "no such folder": ([*TREE, "--output", "nowhere/made.h5"], ["nowhere"]),
    "a word too many": ([*TREE, "more"], ["more"]),
    "option given twice": ([*TREE, "--seed", "1", "--seed", "2"], ["--seed"]),
}


@pytest.mark.parametrize("words, named", BAD.values(), ids=BAD.keys())
def test_bad_words_are_refused(leadline: Leadline, tmp_path: Path, words: list[str], named: list[str]) -> None:
    done = leadline("simulate", "link", *words)
    assert done.status in (2, 4)
    assert done.out == ""
    for name in named:
        assert name in done.complaint
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_written_nothing_is_simulated(leadline: Leadline, tmp_path: Path) -> None:
    done = leadline("simulate", "link", *TREE, "--output", "nowhere/made.h5", "--verbose")
    assert done.status == 2
    assert "made a machine" not in done.err
    (tmp_path / "old.json").write_text("precious")
    for file in ("nowhere/told.json", "old.json"):
        done = leadline("simulate", "link", *TREE, "--output", "made.h5", f"--json={file}", "--verbose")
        assert (done.status, done.out) == (2, "")
        assert file in done.complaint
        assert "made a machine" not in done.err
    assert [one.name for one in tmp_path.iterdir()] == ["old.json"]


@pytest.mark.parametrize(
    "fault, named",
    [
        ({"slow_host": "host12", "factor": 2}, "host12"),
        ({"slow_host": 12, "factor": 2}, "no host 12"),
        ({"slow_rank": 24, "factor": 2}, "no rank 24"),
        ({"slow_switch": "leaf3", "factor": 2}, "leaf3"),
        ({"slow_rank": 2, "factor": 0.5}, "factor"),
        ({"slow_rank": 2, "speed": 2, "factor": 2}, "speed"),
        ({"sluggish": 2, "factor": 2}, "slow_host"),
    ],
)
def test_bad_faults_are_refused(leadline: Leadline, tmp_path: Path, fault: dict[str, Any], named: str) -> None:
    faults = faults_file(tmp_path, fault)
    done = leadline("simulate", "link", *TREE, "--faults", faults)
    assert (done.status, done.out) == (2, "")
    assert named in done.complaint
    assert "faults[0]" in done.complaint
    assert list(tmp_path.iterdir()) == [faults]


def test_an_older_file_is_replaced_only_on_demand(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "made.h5").write_text("precious", encoding="utf-8")
    done = leadline("simulate", "link", *TREE, "--output", "made.h5")
    assert done.status == 2
    assert "made.h5" in done.complaint
    assert (tmp_path / "made.h5").read_text(encoding="utf-8") == "precious"
    assert leadline("simulate", "link", *TREE, "--output", "made.h5", "--overwrite").status == 0
    assert ResultFile(tmp_path / "made.h5").complete


def test_a_file_larger_than_the_disk_is_refused_at_once(leadline: Leadline, tmp_path: Path) -> None:
    space = os.statvfs(tmp_path)
    num_ranks = 1 << 20
    if 48 * num_ranks**2 < space.f_bavail * space.f_frsize:
        pytest.skip("the disk has room for 48 TiB")
    words = ["--topology", "fat-tree:64x64", "--ranks-per-host", "256", "--output", "made.h5"]
    done = leadline("simulate", "link", *words)
    assert done.status == 4
    assert "GiB" in done.complaint
    assert list(tmp_path.iterdir()) == []


def test_the_other_simulation_is_still_reached(leadline: Leadline) -> None:
    done = leadline("simulate", "bisection", "--topology", "fat-tree:4x4", "--quiet")
    if "there is no command" in done.err:
        pytest.skip("the analysis package is not installed")
    assert done.status == 0
    assert "link" not in done.err


def test_help_names_it(leadline: Leadline) -> None:
    assert "simulate link" in leadline("--help").out
    done = leadline("simulate", "link", "--help")
    assert done.status == 0
    for option in ("--topology", "--ranks", "--faults", "--random-faults", "--effect", "--seed", "--output"):
        assert option in done.out
