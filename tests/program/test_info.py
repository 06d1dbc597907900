# SPDX-License-Identifier: Apache-2.0
"""What `leadline info` says about results and about files that are none."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import h5py
import program
import pytest
from program import Leadline
from result import ResultFile

SAMPLES = program.ROOT / "tests" / "samples"


@pytest.fixture
def info(leadline: Leadline) -> Any:
    """The description as a document; `status` is that of the program."""

    def describe(path: str | Path, status: int = 0) -> Any:
        done = leadline("info", path, "--json")
        assert done.status == status, done.err
        return json.loads(done.out)

    return describe


@pytest.mark.parametrize("ending", ["h5", "sion"])
def test_a_result_of_our_own(link: Leadline, leadline: Leadline, info: Any, ending: str) -> None:
    name = f"r.{ending}"
    link("--local", "4", "--message-size", "8,1KiB", "--repeat", "2", "--output", name)
    said = info(name)
    result = said["result"]
    assert said["format"] == {"h5": "hdf5", "sion": "sion"}[ending]
    assert (said["container"] is None) == (ending == "h5")
    assert result["complete"] is True
    assert result["num_ranks"] == 4
    assert result["message_size_bytes"] == [8, 1024]
    assert [len(host["ranks"]) for host in result["hosts"]] == [len("0-3")]
    assert len(result["slices"]) == 4
    assert all(slice_["num_pairs"] == 12 for slice_ in result["slices"])
    assert result["options"]["messages"] == "5"
    text = leadline("info", name).out
    for word in (name, "complete         yes", "4 ranks on 1 host", "2 repeats of 2 message sizes", "tcp", "1 KiB"):
        assert word in text
    assert ("LinkTest 1.2's record" in text) == (ending == "sion")


def test_a_bisection_test(leadline: Leadline, info: Any, tmp_path: Path) -> None:
    words = ["--pattern", "random,halves", "--rounds", "6", "--message-size", "8,1KiB", "--wait", "yield"]
    assert leadline("bisection", "--local", "4", *words, "--exchanges", "3", "--output", "r.h5").status == 0
    result = info("r.h5")["result"]
    assert (result["benchmark"], result["complete"], result["num_ranks"]) == ("bisection", True, 4)
    assert (result["num_participants"], result["num_exchanges"], result["seed"]) == (4, 3, 1)
    assert result["pattern_names"] == ["halves"]
    assert result["options"]["rounds"] == "6"
    with h5py.File(tmp_path / "r.h5") as file:
        summary = json.loads(file["summary"][()])
    for size, recorded in zip(result["sizes"], summary["sizes"], strict=True):
        assert (size["num_patterns"], size["num_baseline"]) == (7, 6)
        for name in ("message_size_bytes", "stopped_by", "ebb", "static_share", "contention_share", "tail",
                     "bytes_per_s_harmonic"):  # fmt: skip
            assert size[name] == recorded[name]
    text = leadline("info", "r.h5").out
    for word in ("bisection test, format 1", "4 ranks on 1 host", "random,halves; seed 1, 3 exchanges each", "rounds"):
        assert word in text
    assert "No eBB" not in text


def test_a_bisection_test_that_was_killed(leadline: Leadline, info: Any, tmp_path: Path) -> None:
    def num_patterns() -> int:
        (size,) = info("r.h5")["result"]["sizes"]
        return int(size["num_patterns"])

    endless = ["--rounds", "1000000", "--precision", "0", "--time-limit", "0", "--message-size", "8", "--wait", "yield"]
    words = ["bisection", "--local", "2", *endless, "--output", "r.h5"]
    with program.Run([program.PROGRAM, *words], tmp_path) as run:
        program.await_that((tmp_path / "r.h5").exists)
        program.await_that(lambda: leadline("info", "r.h5").status == 0 and num_patterns() > 0)
        os.killpg(run.pid, signal.SIGKILL)
        run.finish()
    (size,) = info("r.h5")["result"]["sizes"]
    assert min(size["num_patterns"], size["num_baseline"]) > 0
    assert size["ebb"] is None
    text = leadline("info", "r.h5").out
    assert "No eBB: the run ended before its summary was written." in text
    assert "complete         no: still running, or killed without a word" in text


def test_a_parallel_file_test(leadline: Leadline, info: Any, tmp_path: Path) -> None:
    words = ["--movement", "N-1", "--objects", "4", "--object-size", "64KiB", "--repeat", "2", "--wait", "yield"]
    assert leadline("io", "--local", "3", *words, "--target", "t", "--output", "r.h5").status == 0
    result = info("r.h5")["result"]
    assert (result["benchmark"], result["complete"], result["num_ranks"]) == ("io", True, 3)
    assert (result["movement"], result["order"], result["backend_library"]) == ("N-1", "segmented", "POSIX")
    assert (result["num_objects"], result["object_size_bytes"], result["num_phases"]) == (4, 65536, 4)
    assert [Path(name).name for name in result["files"]] == ["t"]
    assert result["options"]["repeat"] == "2"
    with h5py.File(tmp_path / "r.h5") as file:
        summary = json.loads(file["summary"][()])
        lines = [json.loads(line) for line in file["io/phases/summary"][()]]
    assert lines == summary["phases"]
    assert [phase["operation"] for phase in result["phases"]] == ["write", "read", "write", "read"]
    for phase, recorded in zip(result["phases"], summary["phases"], strict=True):
        assert phase["bytes"] == 3 * 4 * 65536
        assert phase == {name: recorded[name] for name in phase}
    text = leadline("info", "r.h5").out
    for word in ("parallel file test, format 1", "3 ranks on 1 host", "4 a rank, of 64 KiB", "4 of 4", "write", "read"):
        assert word in text


def test_a_parallel_file_test_that_was_killed(leadline: Leadline, info: Any, tmp_path: Path) -> None:
    def num_phases() -> int:
        return len(info("r.h5")["result"]["phases"])

    words = ["io", "--local", "2", "--objects", "2", "--object-size", "4KiB", "--repeat", "100000", "--wait", "yield"]
    with program.Run([program.PROGRAM, *words, "--target", "t%r", "--output", "r.h5"], tmp_path) as run:
        program.await_that((tmp_path / "r.h5").exists)
        program.await_that(lambda: leadline("info", "r.h5").status == 0 and num_phases() > 0)
        os.killpg(run.pid, signal.SIGKILL)
        run.finish()
    result = info("r.h5")["result"]
    assert result["complete"] is False
    assert result["num_phases"] == 200000
    assert all(phase["is_complete"] and phase["bytes_per_s"] > 0 for phase in result["phases"])
    assert "complete         no: still running, or killed without a word" in leadline("info", "r.h5").out


def test_numbers_without_a_summary_are_those_of_the_rows(
    link: Leadline, leadline: Leadline, info: Any, tmp_path: Path
) -> None:
    for num_ranks in ("3", "4"):
        link("--local", num_ranks, "--output", "r.h5", "--overwrite")
        medians = ResultFile(tmp_path / "r.h5").medians()
        times = sorted(medians[medians > 0].tolist())
        assert leadline("convert", "r.h5", "--output", "r.sion", "--plain", "--overwrite").status == 0
        (slice_,) = info("r.sion")["result"]["slices"]
        (known,) = info("r.h5")["result"]["slices"]
        assert known["num_pairs"] == slice_["num_pairs"] == len(times)
        assert known["time_ns_min"] == pytest.approx(times[0])
        assert known["time_ns_max"] == pytest.approx(times[-1])
        assert slice_["time_ns_min"] <= slice_["time_ns_median"] <= slice_["time_ns_max"]


def test_linktest_s_own_result(leadline: Leadline, info: Any) -> None:
    path = SAMPLES / "linktest" / "ompi_n4_1B_par.sion"
    said = info(path)
    container = said["container"]
    assert (container["num_tasks"], container["num_files"], container["block_size_bytes"]) == (4, 1, 4096)
    assert (container["size_bytes"], container["used_bytes"]) == (8256, 553 + 3 * 337)
    assert container["unused_bytes"] == 8256 - (1088 + 16 * 4) - (553 + 3 * 337) - 8 * 4 * 2
    assert (container["finished"], container["dense"]) == (True, False)
    assert said["result"]["message_size_bytes"] == [1]
    (slice_,) = said["result"]["slices"]
    assert slice_["num_pairs"] == 12
    assert 0 < slice_["time_ns_min"] < slice_["time_ns_median"] < slice_["time_ns_max"]
    assert "LinkTest 1.2's record\n" in leadline("info", path).out


def test_median_of_linktest_s_own_result(leadline: Leadline, info: Any, tmp_path: Path) -> None:
    path = SAMPLES / "linktest" / "ompi_n8_1KiB_a2a.sion"
    assert leadline("convert", path, "--output", "r.h5").status == 0
    medians = ResultFile(tmp_path / "r.h5").medians()
    times = sorted(medians[medians > 0].tolist())
    (slice_,) = info(path)["result"]["slices"]
    assert slice_["num_pairs"] == len(times) == 56
    assert slice_["time_ns_min"] == times[0]
    assert slice_["time_ns_max"] == times[-1]
    assert slice_["time_ns_median"] == pytest.approx((times[27] + times[28]) / 2)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("07-mpi-multi", {"num_tasks": 5, "num_files": 2, "finished": True}),
        ("07-mpi-multi.sion.000001", {"num_tasks": 3, "num_files": 2, "part_of_set": True}),
        ("14-keyval", {"num_tasks": 3, "key_value_records": True}),
        ("20-mpi-unclosed", {"num_tasks": 3, "finished": False, "dense": False}),
        ("21-defrag-of-06", {"num_tasks": 4, "block_size_bytes": 512, "finished": True}),
    ],
)
def test_any_sion_file(leadline: Leadline, info: Any, name: str, facts: dict[str, Any]) -> None:
    path = SAMPLES / "sion" / (name if ".sion" in name else f"{name}.sion")
    said = info(path)
    assert said["result"] is None
    assert said["why_no_result"]
    assert {key: said["container"][key] for key in facts} == facts
    assert "result           none: " in leadline("info", path).out


def test_a_dense_file_says_so(leadline: Leadline, info: Any) -> None:
    assert leadline("convert", SAMPLES / "linktest" / "ompi_n4_1B_par.sion", "--output", "r.sion").status == 0
    said = info("r.sion")
    assert said["container"]["dense"] is True
    assert said["container"]["unused_bytes"] == 0
    assert said["result"]["complete"] is True


def test_what_is_neither(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("message size\n")
    for words in (["text"], ["missing"], ["."], [], ["text", "text"]):
        leadline("info", *words).assert_refused(2)


def test_a_damaged_container_and_a_damaged_result(leadline: Leadline, tmp_path: Path) -> None:
    whole = bytearray((SAMPLES / "linktest" / "ompi_n4_1B_par.sion").read_bytes())
    cut = tmp_path / "cut.sion"
    cut.write_bytes(whole[:-10])
    done = leadline("info", cut)
    assert (done.status, done.out) == (4, "")
    assert "TRUNCATED" in done.complaint
    whole[4096 + 553 : 4096 + 558] = b"xxxxx"  # the second record's first word
    wrong = tmp_path / "wrong.sion"
    wrong.write_bytes(whole)
    done = leadline("info", wrong)
    assert done.status == 4
    assert "RECORDID" in done.complaint
    assert "4 tasks in 1 file" in done.out, "the container is fine, and described"
