# SPDX-License-Identifier: Apache-2.0
"""What `leadline diagnose` says about results of simulated fabrics whose faults are known, and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import h5py
import program
import pytest
from fabrics import fabric_file
from program import Leadline
from result import schema_of, wrong_json
from test_results import damaged_files

SAMPLES = program.ROOT / "tests" / "samples"
LINKTEST = sorted((SAMPLES / "linktest").glob("*.sion"))

# 8 hosts of 2 ranks, 4 below each of two switches.
MACHINE = {"host_name": "node", "hosts_per_switch": 4, "jitter": 0.02}
NUM_RANKS = 16
SLOW_HOST = {"slow_host": 5, "factor": 1.8}


@pytest.fixture
def measured(link: Leadline, tmp_path: Path) -> Any:
    """Measures a fabric with these faults into r.h5; its words go to `leadline link`."""

    def measure(*faults: dict[str, Any], words: tuple[str, ...] = (), output: str = "r.h5") -> Path:
        fabric = fabric_file(tmp_path, *faults, **MACHINE)
        link("--transport", fabric, "--local", str(NUM_RANKS), "--output", output, *words)
        return tmp_path / output

    return measure


@pytest.fixture
def diagnosed(leadline: Leadline) -> Any:
    """The slices of the JSON document, which is what the schema says; `status` is that of the program."""

    def diagnose(path: str | Path, *words: str | Path, status: int = 0) -> list[dict[str, Any]]:
        done = leadline("diagnose", path, *words, "--json")
        assert done.status == status, done.err
        document = json.loads(done.out)
        assert wrong_json(document, schema_of("diagnosis")) == []
        assert document["result"] == str(path)
        return list(document["slices"])

    return diagnose


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result of a fabric without faults, measured once: to be copied."""
    folder = tmp_path_factory.mktemp("sound")
    words = ["link", "--messages", "5", "--local", str(NUM_RANKS), "--transport", fabric_file(folder, **MACHINE)]
    done = program.complete([program.PROGRAM, *words, "--output", "r.h5"], folder)
    assert done.status == 0, done.err
    return folder / "r.h5"


def faults(slices: list[dict[str, Any]], at: int = 0) -> list[dict[str, Any]]:
    return [fault for fault in slices[at]["diagnosis"]["faults"] if not fault["is_note"]]


def test_a_host_name_is_no_command_for_the_terminal(measured: Any, leadline: Leadline) -> None:
    path = measured(SLOW_HOST)
    with h5py.File(path, "r+") as file:
        hosts = file["ranks/host"][:]
        foreign = "\x1b]0;x\x07\x9b31m\nverdict: none\u2028\u202eb\u2066".encode()
        file["ranks/host"][:] = [name.replace(b"node5", foreign) for name in hosts]
    for command in ("diagnose", "info"):
        done = leadline(command, path)
        assert done.status == 0, done.err
        assert "?]0;x??31m?verdict: none??b?" in done.out
        assert not re.search("[^\n\x20-\x7e\xa0-\u2027\u202f-\u2065]", done.out)
        assert not re.search("^verdict: none", done.out, re.MULTILINE)


def test_a_slow_host_is_named(measured: Any, leadline: Leadline, diagnosed: Any) -> None:
    path = measured(SLOW_HOST)
    (fault,) = faults(diagnosed(path))
    assert (fault["kind"], fault["name"], fault["symptom"], fault["direction"]) == (
        "host",
        "host node5",
        "slow",
        "both",
    )
    only_host = {"level": None, "first": 5, "second": None, "socket": None, "hosts": [], "other_hosts": []}
    assert fault["component"] == only_host
    low, high = fault["ratio_interval"]
    assert low <= fault["ratio"] <= high
    assert fault["ratio"] == pytest.approx(1.8, rel=0.05)
    assert fault["p_value"] < 1e-3
    assert fault["num_pairs"] == 2 * 2 * (NUM_RANKS - 2)
    for pair in fault["pairs"]:
        assert 5 in (pair["from"] // 2, pair["to"] // 2)
        assert pair["measured"] / pair["expected"] == pytest.approx(fault["ratio"])

    done = leadline("diagnose", path)
    assert (done.status, done.err) == (0, "")
    assert "verdict: 1 fault found" in done.out
    for word in ("host node5 is slow", "seen", "ruled out", "do "):
        assert word in done.out


def test_what_a_finding_concerns_is_data(measured: Any, diagnosed: Any) -> None:
    (host,) = faults(diagnosed(measured(SLOW_HOST)))
    assert (host["host_names"], host["host_list"], host["ranks"]) == (["node5"], "node5", [10, 11])
    assert (host["other_host_names"], host["other_ranks"], host["switch_name"]) == ([], [], None)
    # 56 of 240 pairs take 1.8 times as long.
    assert host["time_share"] == pytest.approx(56 * 0.8 / (240 + 56 * 0.8), rel=0.3)
    (link,) = faults(diagnosed(measured({"slow_link": [6, 1], "factor": 4}, output="link.h5")))
    assert (link["host_names"], link["other_host_names"]) == (["node1"], ["node6"])
    assert (link["ranks"], link["other_ranks"]) == ([2, 3], [12, 13])
    (rank,) = faults(diagnosed(measured({"slow_rank": 9, "factor": 2}, output="rank.h5")))
    assert (rank["host_list"], rank["ranks"]) == ("node4", [9])


def test_hosts_below_a_switch_are_told_in_short(leadline: Leadline, diagnosed: Any, tmp_path: Path) -> None:
    network = "fat-tree:8x4"
    (tmp_path / "faults.json").write_text('{"faults": [{"slow_uplink": 2, "level": 0, "factor": 2.5}]}')
    words = ("--topology", network, "--ranks-per-host", "2", "--faults", tmp_path / "faults.json")
    made = leadline("simulate", "link", *words, "--output", "r.h5")
    assert made.status == 0, made.err
    (uplink,) = faults(diagnosed(tmp_path / "r.h5", "--topology", network))
    assert uplink["kind"] == "uplink"
    assert len(uplink["host_names"]) == 8
    assert uplink["host_list"].endswith("[16-23]")
    assert uplink["switch_name"] in uplink["name"]
    told = leadline("diagnose", tmp_path / "r.h5", "--topology", network)
    assert f"hosts    {uplink['host_list']}\n" in told.out


def test_a_suspect_that_may_lie_behind_more_switches_is_in_the_verdict(leadline: Leadline, tmp_path: Path) -> None:
    """Nobody told the network, so nobody is at fault; but nothing says that all is well."""
    network = "fat-tree:8x4"
    (tmp_path / "faults.json").write_text('{"faults": [{"slow_port": 21, "factor": 1.19}]}')
    words = ("--topology", network, "--ranks-per-host", "4", "--faults", tmp_path / "faults.json")
    assert leadline("simulate", "link", *words, "--output", "r.h5").status == 0
    told = leadline("diagnose", "r.h5", "--strict", "--topology", "none")
    assert told.status == 0
    assert told.out.startswith("verdict: no fault found, but 1 suspect could not be tested: see below\n")
    assert "\n  - the port of host21 is slow: " in told.out
    told = leadline("diagnose", "r.h5", "--strict", "--topology", network)
    assert told.status == 1
    assert told.out.startswith("verdict: 1 fault found\n  1. the port of host21 is slow: ")


def test_a_sound_fabric_is_sound(measured: Any, leadline: Leadline, diagnosed: Any) -> None:
    path = measured()
    (only,) = diagnosed(path)
    diagnosis = only["diagnosis"]
    assert diagnosis["faults"] == []
    assert diagnosis["num_pairs"] == diagnosis["num_measured"] == NUM_RANKS * (NUM_RANKS - 1)
    assert (diagnosis["threshold"], diagnosis["false_discovery_rate"], diagnosis["topology"]) == (0.1, 0.01, None)
    assert sum(one["num_pairs"] for one in diagnosis["classes"]) == diagnosis["num_measured"]
    done = leadline("diagnose", path, "--strict")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("verdict: no fault found")


def test_a_slow_link_is_named_by_both_of_its_hosts(measured: Any, diagnosed: Any) -> None:
    # Semidirectional: a half round trip shows what either way has.
    (fault,) = faults(diagnosed(measured({"slow_link": [6, 1], "factor": 4})))
    assert (fault["kind"], fault["component"]["first"], fault["component"]["second"]) == ("link", 1, 6)
    assert fault["direction"] == "both"
    assert "node1" in fault["name"]
    assert "node6" in fault["name"]
    assert any("node1 as a whole" in sentence for sentence in fault["ruled_out"])


def test_a_slow_rank_is_named(measured: Any, diagnosed: Any) -> None:
    (fault,) = faults(diagnosed(measured({"slow_rank": 9, "factor": 2})))
    assert (fault["kind"], fault["component"]["first"]) == ("rank", 9)
    assert fault["name"] == "rank 9 on node4"


def topologies(folder: Path) -> dict[str, str]:
    """The same network in the words of each kind."""
    slurm = folder / "topology.conf"
    slurm.write_text(
        "SwitchName=top Switches=leaf[0-1]\nSwitchName=leaf0 Nodes=node[0-3]\nSwitchName=leaf1 Nodes=node[4-7]\n"
    )
    return {"formula": "fat-tree:4x2", "file": str(slurm), "pattern": "pattern:node(?<half>[0-3]|[4-7])"}


@pytest.mark.parametrize("kind", ["formula", "file"])
def test_with_a_topology_switches_are_ruled_out(measured: Any, diagnosed: Any, tmp_path: Path, kind: str) -> None:
    word = topologies(tmp_path)[kind]
    path = measured(SLOW_HOST)
    (only,) = diagnosed(path, "--topology", word)
    (fault,) = faults([only])
    assert fault["name"] == "host node5"
    assert any("3 other hosts" in sentence for sentence in fault["ruled_out"])
    assert not any("hosts in common" in sentence for sentence in faults(diagnosed(path))[0]["ruled_out"])
    assert only["diagnosis"]["topology"]
    assert len(only["diagnosis"]["classes"]) == 3, "inside, below one switch, and beyond"


def test_a_pattern_over_host_names_is_a_topology(measured: Any, diagnosed: Any) -> None:
    path = measured(SLOW_HOST)
    (only,) = diagnosed(path, "--topology", r"pattern:(?<parity>node\d)")
    assert faults([only])[0]["name"] == "host node5"
    assert only["diagnosis"]["topology"].startswith("pattern")


def test_each_size_and_repeat_is_diagnosed(measured: Any, leadline: Leadline, diagnosed: Any) -> None:
    path = measured(SLOW_HOST, words=("--message-size", "8,1KiB", "--repeat", "2"))
    slices = diagnosed(path)
    assert [(one["repeat"], one["message_size_bytes"]) for one in slices] == [(0, 8), (0, 1024), (1, 8), (1, 1024)]
    assert [one["size_index"] for one in slices] == [0, 1, 0, 1]
    assert all(faults(slices, at)[0]["name"] == "host node5" for at in range(4))
    assert diagnosed(path, "--message-size", "1KiB", "--repeat", "2") == slices[3:]
    assert diagnosed(path, "--repeat", "1") == slices[:2]
    text = leadline("diagnose", path).out
    assert "message size 1 KiB, repeat 2" in text
    assert text.count("verdict: ") == 4
    assert leadline("diagnose", path, "--message-size", "8", "--repeat", "1").out.startswith("verdict: ")


def test_the_threshold_decides(measured: Any, diagnosed: Any) -> None:
    path = measured({"slow_host": 2, "factor": 1.3})
    assert faults(diagnosed(path))[0]["name"] == "host node2"
    (only,) = diagnosed(path, "--threshold", "50%")
    assert faults([only]) == []
    assert only["diagnosis"]["threshold"] == 0.5
    assert diagnosed(path, "--threshold", "0.5") == [only]
    (bold,) = diagnosed(path, "--false-discovery-rate", "5%")
    assert bold["diagnosis"]["false_discovery_rate"] == 0.05


def test_strict_is_for_scripts(measured: Any, leadline: Leadline, diagnosed: Any) -> None:
    path = measured(SLOW_HOST)
    done = leadline("diagnose", path, "--strict")
    assert done.status == 1
    assert done.complaint == f"leadline: 1 fault found in '{path}'"
    assert done.out == leadline("diagnose", path).out, "what was found is said all the same"
    assert len(diagnosed(path, "--strict", status=1)) == 1
    assert leadline("diagnose", path, "--strict", "--threshold", "100%").status == 0


def test_sion_says_the_same(measured: Any, leadline: Leadline, diagnosed: Any, tmp_path: Path) -> None:
    path = measured(SLOW_HOST)
    assert leadline("convert", path, "--output", "r.sion").status == 0
    assert diagnosed(tmp_path / "r.sion") == diagnosed(path)


@pytest.mark.parametrize("words", [(), ("--serial",)], ids=["under load", "serial"])
@pytest.mark.parametrize(
    "faults", [[], [SLOW_HOST], [{"slow_link": [3, 6], "factor": 2.0}]], ids=["sound", "host", "link"]
)
def test_a_run_and_a_diagnosis_of_its_file_say_the_same(
    measured: Any, diagnosed: Any, faults: list[Any], words: tuple[str, ...]
) -> None:
    path = measured(*faults, words=words)
    (only,) = diagnosed(path)
    with h5py.File(path) as file:
        (said,) = json.loads(file["summary"][()])["slices"]
        again = {name: file["second_measurements"][name][:] for name in ("from", "to", "is_alone", "time_ns_median")}
    assert only["diagnosis"] == said["diagnosis"]
    alone = again["is_alone"] == 1
    assert alone.sum() >= 16, "pairs by chance, whatever is suspected"
    assert (again["time_ns_median"] > 0).all()
    assert (again["from"] != again["to"]).all()


@pytest.mark.parametrize("sample", LINKTEST, ids=lambda path: path.stem)
def test_linktest_s_own_results_can_be_diagnosed(diagnosed: Any, leadline: Leadline, sample: Path) -> None:
    (only,) = diagnosed(sample)
    num_ranks = 4 if "n4" in sample.name else 8
    assert only["diagnosis"]["num_measured"] == num_ranks * (num_ranks - 1)
    assert {fault["kind"] for fault in only["diagnosis"]["faults"]} <= {"pair", "rank"}, "all are on one host"
    done = leadline("diagnose", sample)
    assert (done.status, done.err) == (0, "")
    assert "verdict: " in done.out


def test_one_rank_has_no_pairs(link: Leadline, leadline: Leadline, diagnosed: Any) -> None:
    link("--local", "1", "--retest", "0", "--output", "r.h5")
    (only,) = diagnosed("r.h5")
    assert only["diagnosis"]["faults"] == []
    assert "verdict: nothing was measured" in leadline("diagnose", "r.h5").out


def test_a_part_of_the_pairs_is_said_to_be_one(measured: Any, leadline: Leadline, diagnosed: Any) -> None:
    path = measured(SLOW_HOST, words=("--only-rounds", "1-9"))
    (only,) = diagnosed(path)
    assert only["diagnosis"]["num_measured"] == 9 * NUM_RANKS
    assert faults([only])[0]["component"]["first"] == 5
    assert f"{9 * NUM_RANKS} of {NUM_RANKS * (NUM_RANKS - 1)} ordered pairs" in leadline("diagnose", path).out


@pytest.mark.parametrize("name", ["r.h5", "r.sion"])
def test_what_a_killed_run_left_is_diagnosed(leadline: Leadline, tmp_path: Path, name: str) -> None:
    words = ["link", "--local", "3", "--messages", "10", "--repeat", "400", "--wait", "yield", "--verbose", "--output",
             name]  # fmt: skip
    with program.Run([program.PROGRAM, *words], tmp_path, program.SLOW_MESSAGES) as run:
        run.await_err(r"(?s)3/3.*3/3.*3/3")  # two repeats are in the file by then
        os.killpg(run.pid, 9)
        run.finish()
    done = leadline("diagnose", name, "--repeat", "1")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("the result is not complete: ")
    document = json.loads(leadline("diagnose", name, "--repeat", "1", "--json").out)
    assert wrong_json(document, schema_of("diagnosis")) == []
    assert document["complete"] is False
    assert document["slices"][0]["diagnosis"]["num_measured"] == 6


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 2, "RESULT"),
        (["r.h5", "s.h5"], 2, "s.h5"),
        (["r.h5", "--frobnicate"], 2, "--frobnicate"),
        (["r.h5", "--message-size", "3"], 2, "no such size or repeat"),
        (["r.h5", "--repeat", "2"], 2, "no such size or repeat"),
        (["r.h5", "--repeat", "0"], 2, "--repeat"),
        (["r.h5", "--message-size", "much"], 2, "much"),
        (["r.h5", "--threshold", "0"], 2, "--threshold"),
        (["r.h5", "--threshold", "150%"], 2, "--threshold"),
        (["r.h5", "--threshold", "nan"], 2, "--threshold"),
        (["r.h5", "--threshold", "-5%"], 2, "--threshold"),
        (["r.h5", "--threshold", "10 percent"], 2, "--threshold"),
        (["r.h5", "--false-discovery-rate", "0"], 2, "--false-discovery-rate"),
        (["r.h5", "--false-discovery-rate", "2"], 2, "--false-discovery-rate"),
        (["r.h5", "--strict", "--strict"], 2, "--strict"),
        (["r.h5", "--threshold", "1%", "--threshold", "2%"], 2, "--threshold"),
        (["r.h5", "--topology", "fat-tree:"], 2, "fat-tree:"),
        (["r.h5", "--topology", "fat-tree:2x2"], 2, "hosts"),
        (["r.h5", "--topology", "pattern:("], 2, "pattern:("),
        (["r.h5", "--topology", r"pattern:x(?<rack>\d)"], 2, "node0"),
        (["r.h5", "--topology", "nowhere.conf"], 2, "nowhere.conf"),
        (["r.h5", "--topology", "text"], 2, "text"),
        (["r.h5", "--topology", "other.conf"], 2, "node4"),
        (["missing.h5"], 2, "missing.h5"),
        (["."], 2, "'.'"),
        (["text"], 2, "neither HDF5 nor SION"),
        (["other.h5"], 2, "other.h5"),
        ([str(SAMPLES / "sion" / "01-serial-min2.sion")], 2, "01-serial-min2.sion"),
    ],
)
def test_refusals(sound: Path, leadline: Leadline, tmp_path: Path, words: list[str], status: int, said: str) -> None:
    if words and words[0] == "r.h5":
        shutil.copy(sound, tmp_path)
    (tmp_path / "text").write_text("message size 1 KiB\n")
    (tmp_path / "other.conf").write_text("SwitchName=s0 Nodes=node[0-3]\n")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["temperature"] = [1.0]
    done = leadline("diagnose", *words)
    done.assert_refused(status, said)


def test_a_topology_test_is_judged_over_its_repeats(leadline: Leadline) -> None:
    words = ["--iterations", "2", "--message-size", "8", "--wait", "yield", "--output", "r.h5"]
    assert leadline("topology", "--local", "2", *words).status == 0
    done = leadline("diagnose", "r.h5")
    assert done.status == 0
    assert "complete2 could not be tested: most ranks met fewer than 3 others" in done.out
    for words in (["--repeat", "1"], ["--message-size", "16"], ["--profile", "p.json"]):
        done = leadline("diagnose", "r.h5", *words)
        assert done.status == 2
        assert words[0] in done.complaint


def test_a_bisection_test_has_no_repeats(leadline: Leadline) -> None:
    words = ["--rounds", "2", "--message-size", "8", "--wait", "yield", "--output", "r.h5"]
    assert leadline("bisection", "--local", "2", *words).status == 0
    assert leadline("diagnose", "r.h5").status == 0
    for words in (["--repeat", "1"], ["--message-size", "16"]):
        done = leadline("diagnose", "r.h5", *words)
        assert done.status == 2
        assert words[0] in done.complaint


def test_damaged_files_of_a_bisection_test_are_refused_or_read(leadline: Leadline, tmp_path: Path) -> None:
    words = ["--rounds", "8", "--precision", "0", "--message-size", "8", "--wait", "yield", "--output", "whole.h5"]
    assert leadline("bisection", "--local", "4", *words).status == 0
    for name, contents in damaged_files((tmp_path / "whole.h5").read_bytes()).items():
        (tmp_path / "bad").write_bytes(contents)
        done = leadline("diagnose", "bad")
        assert done.status in (0, 2, 4), f"{name}: {done.status} {done.err}"
        assert done.status == 0 or "bad" in done.complaint, name


def test_damaged_files_are_refused_or_read(measured: Any, leadline: Leadline, tmp_path: Path) -> None:
    whole = measured(output="whole.h5")
    assert leadline("convert", whole, "--output", "whole.sion").status == 0
    for ending in ("h5", "sion"):
        for name, contents in damaged_files((tmp_path / f"whole.{ending}").read_bytes()).items():
            (tmp_path / "bad").write_bytes(contents)
            done = leadline("diagnose", "bad")
            assert done.status in (2, 4), (ending, name, done.err)
            assert "bad" in done.complaint, (ending, name)


def test_the_help_names_every_option(leadline: Leadline) -> None:
    done = leadline("diagnose", "--help")
    assert done.status == 0
    for option in ("--topology", "--message-size", "--repeat", "--threshold", "--false-discovery-rate", "--strict",
                   "-q,--quiet", "--json"):  # fmt: skip
        assert f"  {option}" in done.out
