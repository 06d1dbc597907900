# SPDX-License-Identifier: Apache-2.0
"""A result has the network that its run was told of: a diagnosis of the file says what the run said, without it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import pytest
from fabrics import fabric_file
from program import Done, Leadline
from result import schema_of, summary_of, text_of, wrong_json

# A ring of four switches, which is no tree: the file has hops.
CABLES = "hosts: {}\n{}\n".format(
    " ".join(f"node{host}" for host in range(8)),
    "\n".join([*(f"node{host} s{host // 2}" for host in range(8)), *(f"s{one} s{(one + 1) % 4}" for one in range(4))]),
)
SLURM = "SwitchName=leaf0 Nodes=node[0-3]\nSwitchName=leaf1 Nodes=node[4-7]\nSwitchName=top Switches=leaf[0-1]\n"
TESTS = {
    "link": ["link", "--message-size", "1KiB", "--messages", "5"],
    "topology": ["topology", "--pattern", "complete2", "--message-size", "1KiB", "--iterations", "4"],
    "bisection": ["bisection", "--message-size", "1KiB", "--rounds", "24", "--exchanges", "4", "--precision", "0"],
    "io": ["io", "--target", "data.%r", "--object-size", "4KiB", "--objects", "4"],
}


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Gone when the file is diagnosed."""
    path = tmp_path / "net.cables"
    path.write_text(CABLES)
    return path


@pytest.fixture
def measured(leadline: Leadline, tmp_path: Path) -> Any:
    """Runs a test over 8 simulated hosts of 2 ranks, one of which is slow."""

    def run(test: str, *words: str | Path, output: str = "r.h5") -> Done:
        fabric = fabric_file(tmp_path, {"slow_host": 5, "factor": 2}, host_name="node", hosts_per_switch=2, jitter=0.02)
        done = leadline(*TESTS[test], "--transport", fabric, "--local", "16", "--wait", "yield", *words, "-o", output)
        assert done.status == 0, done.err
        return done

    return run


def diagnoses_in(path: Path) -> list[dict[str, Any]]:
    """As the run wrote them."""
    summary = summary_of(path)
    return [one["diagnosis"] for one in summary.get("slices") or summary["diagnoses"] if one["diagnosis"]]


@pytest.mark.parametrize("test", ["link", "topology", "bisection"])
def test_a_file_is_judged_as_its_run(
    measured: Any, leadline: Leadline, network: Path, tmp_path: Path, test: str
) -> None:
    measured(test, "--topology", network)
    network.unlink()
    document = json.loads(leadline("diagnose", "r.h5", "--json").out)
    assert wrong_json(document, schema_of("diagnosis")) == []
    of_run, of_file = diagnoses_in(tmp_path / "r.h5"), [one["diagnosis"] for one in document["slices"]]
    assert {one["topology"] for one in of_run} == {one["topology"] for one in of_file} == {str(network)}
    for own, told in zip(of_run, of_file, strict=True):
        assert [one["name"] for one in told["classes"]] == [one["name"] for one in own["classes"]]
        assert [one["name"] for one in told["faults"]] == [one["name"] for one in own["faults"]]
        assert [one["ruled_out"] for one in told["faults"]] == [one["ruled_out"] for one in own["faults"]]
    text = leadline("diagnose", "r.h5").out
    assert text.endswith(f"note: network, as the run was told: {network} (4 leaf switches)\n")
    info = leadline("info", "r.h5")
    assert f"network          {network} (4 leaf switches)\n" in info.out
    described = json.loads(leadline("info", "r.h5", "--json").out)
    assert wrong_json(described, schema_of("info")) == []
    assert described["result"]["network"] == f"{network} (4 leaf switches)"


def test_a_file_test_has_it_too(measured: Any, leadline: Leadline, network: Path) -> None:
    measured("io", "--topology", network)
    assert "(4 leaf switches)" in leadline("info", "r.h5").out


def test_what_is_named_now_comes_first(measured: Any, leadline: Leadline, network: Path, tmp_path: Path) -> None:
    measured("link", "--topology", network)
    (tmp_path / "topology.conf").write_text(SLURM)
    for word, topology in (("topology.conf", "topology.conf"), ("none", None)):
        document = json.loads(leadline("diagnose", "r.h5", "--json", "--topology", word).out)
        assert [one["diagnosis"]["topology"] for one in document["slices"]] == [topology]
        assert "as the run was told" not in leadline("diagnose", "r.h5", "--topology", word).out


def test_nothing_is_stored_where_nothing_was_told(measured: Any, leadline: Leadline, tmp_path: Path) -> None:
    measured("link")
    with h5py.File(tmp_path / "r.h5") as file:
        assert "network" not in file
    assert "network " not in leadline("info", "r.h5").out
    described = json.loads(leadline("info", "r.h5", "--json").out)
    assert described["result"]["network"] is None


def test_it_goes_through_sion(measured: Any, leadline: Leadline, network: Path, tmp_path: Path) -> None:
    measured("link", "--topology", network, output="r.sion")
    network.unlink()
    assert "\nnote: network, as the run was told: " in leadline("diagnose", "r.sion").out
    assert leadline("convert", "r.sion", "--output", "back.h5").status == 0
    with h5py.File(tmp_path / "back.h5") as file:
        stored = json.loads(text_of(file["network"][()]))
    assert stored["source"] == str(network)
    assert [level["hosts"] for level in stored["levels"]] == [["0-1", "2-3", "4-5", "6-7"]]
    assert stored["hops"] == ["0 1 2 1", "1 0 1 2", "2 1 0 1", "1 2 1 0"]


def test_a_simulated_machine_has_its_own(leadline: Leadline) -> None:
    assert leadline("simulate", "link", "--topology", "fat-tree:4x4", "--output", "s.h5").status == 0
    document = json.loads(leadline("diagnose", "s.h5", "--json").out)
    assert document["slices"][0]["diagnosis"]["topology"] == "fat-tree:4x4"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "damaged"),
        ('{"source": "x", "levels": [], "hops": []}', "no levels"),
        ('{"source": "x", "levels": [{"kind": "leaf", "names": ["a"], "hosts": ["0-6"]}], "hops": []}', "lacks hosts"),
        ('{"source": "x", "levels": [{"kind": "leaf", "names": ["a"], "hosts": ["0-8"]}], "hops": []}', "below 8"),
    ],
)
def test_one_that_cannot_be_is_damage(
    measured: Any, leadline: Leadline, network: Path, tmp_path: Path, text: str, why: str
) -> None:
    measured("link", "--topology", network)
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        del file["network"]
        file["network"] = text
    done = leadline("diagnose", "r.h5")
    assert done.status == 4
    assert done.err.count("\n") == 1
    assert "r.h5" in done.err
    assert why in done.err
    assert leadline("diagnose", "r.h5", "--topology", network).status == 0
    assert leadline("info", "r.h5").status == 0


def test_one_that_is_left_out_is_said_to_be(measured: Any, leadline: Leadline, network: Path, tmp_path: Path) -> None:
    measured("link", "--topology", network)
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        del file["network"]
        file["network"] = '{"source": "big.conf", "why_left_out": "it would take more than 8 MiB"}'
    words = "big.conf (left out: it would take more than 8 MiB)"
    assert f"network          {words}\n" in leadline("info", "r.h5").out
    told = leadline("diagnose", "r.h5")
    assert told.out.endswith(f"note: network, as the run was told: {words}\n")
    assert json.loads(leadline("diagnose", "r.h5", "--json").out)["slices"][0]["diagnosis"]["topology"] is None


def test_a_copy_of_the_file_is_enough(measured: Any, leadline: Leadline, network: Path, tmp_path: Path) -> None:
    measured("link", "--topology", network)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shutil.move(tmp_path / "r.h5", elsewhere / "r.h5")
    network.unlink()
    assert "host node5 is slow" in leadline("diagnose", "r.h5", cwd=elsewhere).out
