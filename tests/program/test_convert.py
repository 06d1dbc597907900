# SPDX-License-Identifier: Apache-2.0
"""Results from one format to the other and back: what is kept, what is said, and what is refused."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import program
import pytest
from fabrics import fabric_file
from program import Leadline
from result import ResultFile
from test_results import damaged_files

SAMPLES = program.ROOT / "tests" / "samples"
TEXTS = SAMPLES / "texts"
LINKTEST = sorted((SAMPLES / "linktest").glob("*.sion"))
UNUSUAL = ["--local", "5", "--message-size", "8,1KiB", "--repeat", "2", "--shuffle-ranks", "2", "--retest", "3"]


def everything(path: Path) -> dict[str, Any]:
    """Every dataset and every attribute of an HDF5 file, by name."""
    found: dict[str, Any] = {}

    def visit(name: str, item: h5py.Group | h5py.Dataset) -> None:
        found.update({f"{name}@{key}": (value, type(value)) for key, value in item.attrs.items()})
        found[name] = (item[()], item.dtype, item.shape) if isinstance(item, h5py.Dataset) else "group"

    with h5py.File(path, "r") as file:
        visit("", file)
        file.visititems(visit)
    return found


def assert_same(left: Path, right: Path) -> None:
    """The right one has been SION meanwhile, which has no place for the highest quantile."""
    one, other = everything(left), everything(right)
    kept = [name for name in one if "/time_ns_p999" not in name]
    assert set(kept) == other.keys()
    for name in kept:
        np.testing.assert_equal(other[name], one[name], err_msg=name)


def records(path: Path) -> list[bytes]:
    """What each task of a SION file with one block a task holds; read here from the bytes alone."""
    data = path.read_bytes()
    block_size, num_tasks = struct.unpack_from("<ii", data, 20)
    chunks = struct.unpack_from(f"<{num_tasks}q", data, 1076 + 8 * num_tasks)
    num_rounds, meta2 = struct.unpack_from("<iq", data, 1076 + 16 * num_tasks)
    assert num_rounds == 1
    used = struct.unpack_from(f"<{num_tasks}q", data, meta2 + 8 * num_tasks)
    at = -(-(1088 + 16 * num_tasks) // block_size) * block_size
    found = []
    for chunk, size in zip(chunks, used, strict=True):
        found.append(data[at : at + size])
        at += chunk
    assert at == meta2
    return found


@pytest.mark.parametrize("words", [["--local", "4"], UNUSUAL, ["--local", "1", "--retest", "0"]])
def test_nothing_else_is_lost_on_the_way_to_sion_and_back(
    link: Leadline, leadline: Leadline, tmp_path: Path, words: list[str]
) -> None:
    link(*words, "--output", "r.h5")
    for one, other in (("r.h5", "r.sion"), ("r.sion", "again.h5"), ("again.h5", "again.sion")):
        done = leadline("convert", one, "--output", other)
        lost = "leadline: r.sion does not have time_ns_p999 of each pair\n" if one == "r.h5" else ""
        assert (done.status, done.out, done.err) == (0, f"{other}\n", lost)
    assert_same(tmp_path / "r.h5", tmp_path / "again.h5")
    assert records(tmp_path / "r.sion") == records(tmp_path / "again.sion")


def test_rounds_are_those_of_the_tournament(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "4", "--shuffle-rounds", "--output", "r.sion")
    assert leadline("convert", "r.sion", "--output", "r.h5").status == 0
    with h5py.File(tmp_path / "r.h5", "r") as file:
        rounds = file["repeats/0000/round"][:]
    assert rounds[0].tolist() == [0, 3, 2, 1]
    assert rounds[1].tolist() == [3, 0, 1, 2]
    assert struct.unpack_from("<4i", records(tmp_path / "r.sion")[0], 409 + 8 * 4) == (0, 3, 2, 1)


def test_times_of_every_exchange_of_all_with_all_are_kept(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "4", "--all-to-all", "before-each-round", "--output", "r.h5")
    with h5py.File(tmp_path / "r.h5", "r") as file:
        assert (file["repeats/0000/all_to_all_time_ns"][0] > 0).all()
    assert leadline("convert", "r.h5", "--output", "r.sion").status == 0
    assert leadline("convert", "r.sion", "--output", "again.h5").status == 0
    assert_same(tmp_path / "r.h5", tmp_path / "again.h5")


def test_a_run_writes_the_same_result_in_either_format(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    fabric = fabric_file(tmp_path)
    words = [*UNUSUAL, "--transport", fabric]
    link(*words, "--output", "r.h5")
    for name, row_path in (("direct", "auto"), ("funnel", "funnel")):
        link(*words, "--output", f"{name}.sion", "--row-path", row_path)
        assert leadline("convert", f"{name}.sion", "--output", f"{name}.h5").status == 0
        one, other = everything(tmp_path / "r.h5"), everything(tmp_path / f"{name}.h5")
        assert {key for key in one if "/time_ns_p999" not in key} == other.keys()
        for key in ("message_size_bytes", "permutations", "ranks/host", "status/reason", "repeats/0001/round"):
            np.testing.assert_equal(other[key], one[key], err_msg=key)
        result = ResultFile(tmp_path / f"{name}.h5")
        assert result.complete
        assert (result.medians()[result.every_pair()] > 0).all()
        assert len(records(tmp_path / f"{name}.sion")) == 5


@pytest.mark.parametrize("sample", LINKTEST, ids=lambda path: path.stem)
def test_linktest_s_own_results_come_back_byte_for_byte(leadline: Leadline, tmp_path: Path, sample: Path) -> None:
    for one, *words in (
        [sample, "r.h5"],
        ["r.h5", "plain.sion", "--plain"],
        ["r.h5", "r.sion"],
        ["r.sion", "again.h5"],
    ):
        done = leadline("convert", one, "--output", *words)
        assert (done.status, done.err) == (0, "")
    assert records(tmp_path / "plain.sion") == records(sample)
    assert [len(own) for own in records(tmp_path / "r.sion")] > [len(own) for own in records(sample)]
    assert all(own.startswith(other) for own, other in zip(records(tmp_path / "r.sion"), records(sample), strict=True))
    assert_same(tmp_path / "r.h5", tmp_path / "again.h5")


def test_a_report_of_linktest_s_own_result(leadline: Leadline, tmp_path: Path) -> None:
    assert leadline("convert", LINKTEST[0], "--output", "r.h5").status == 0
    with h5py.File(tmp_path / "r.h5", "r") as file:
        assert file["repeats/0000/round"][0].tolist() == [0, 3, 2, 1]
        assert file["repeats/0000/count"][0].sum() == 12
        first, *_ = struct.unpack_from("<d", records(LINKTEST[0])[0], 409 + 8)
        assert file["repeats/0000/time_ns_median"][0, 0, 1] == pytest.approx(first * 1e9)
    report = leadline("report", "r.h5")
    assert (report.status, report.err) == (0, "")


def test_plain_says_what_it_leaves_out(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link(*UNUSUAL, "--output", "r.h5")
    done = leadline("convert", "r.h5", "--output", "r.sion", "--plain")
    assert done.status == 0
    for word in ("r.sion", "message sizes", "repeats", "permutations", "statistics"):
        assert word in done.complaint
    sizes = [len(record) for record in records(tmp_path / "r.sion")]
    assert sizes == [289 + 12 * 5 + 120 + 24 * 5, *[289 + 12 * 5] * 4]


def test_sion_to_sion_is_dense_also_in_place(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "4", "--output", "r.sion")
    before = records(tmp_path / "r.sion")
    assert leadline("convert", "r.sion", "--output", "dense.sion").status == 0
    assert leadline("convert", "r.sion", "--output", "r.sion").status == 2
    assert leadline("convert", "r.sion", "--output", "r.sion", "--overwrite").status == 0
    for name in ("dense.sion", "r.sion"):
        assert records(tmp_path / name) == before
        size = (tmp_path / name).stat().st_size
        assert size == 1088 + 16 * 4 + sum(map(len, before)) + 8 * 4 * 2 + 4
    assert leadline("convert", "r.sion", "--output", "r.h5").status == 0


def test_a_set_that_is_no_result_becomes_one_dense_file(leadline: Leadline, tmp_path: Path) -> None:
    assert leadline("convert", SAMPLES / "sion" / "07-mpi-multi.sion", "--output", "one.sion").status == 0
    assert len(list(tmp_path.iterdir())) == 1
    done = leadline("convert", SAMPLES / "sion" / "07-mpi-multi.sion", "--output", "one.h5")
    assert done.status == 2
    assert "not a result of LinkTest" in done.complaint


def test_what_a_killed_run_left_becomes_incomplete_hdf5(leadline: Leadline, tmp_path: Path) -> None:
    words = ["link", "--local", "3", "--messages", "10", "--repeat", "400", "--wait", "yield", "--verbose",
             "--output", "r.sion"]  # fmt: skip
    with program.Run([program.PROGRAM, *words], tmp_path, program.SLOW_MESSAGES) as run:
        run.await_err(r"(?s)3/3.*3/3.*3/3")  # two repeats are in the file by then
        os.killpg(run.pid, 9)
        run.finish()
    assert leadline("convert", "r.sion", "--output", "again.sion").status == 4
    done = leadline("convert", "r.sion", "--output", "r.h5")
    assert (done.status, done.err) == (0, "")
    with h5py.File(tmp_path / "r.h5", "r") as file:
        assert file["status/complete"][()] == 0
        assert b"still running" in file["status/reason"][()]
        assert (file["repeats/0000/count"][0].sum(axis=1) > 0).all()
        assert file["provenance"].attrs["num_ranks"] == 3


@pytest.mark.parametrize("victim", [0, 1])
def test_a_lost_rank_is_named_in_the_file(leadline: Leadline, tmp_path: Path, victim: int) -> None:
    words = ["link", "--local", "3", "--messages", "10", "--repeat", "400", "--wait", "yield", "--verbose",
             "--output", "r.sion"]  # fmt: skip
    with program.Run([program.PROGRAM, *words, "--strict-ranks"], tmp_path, program.SLOW_MESSAGES) as run:
        run.await_err(r"(?s)3/3.*3/3.*3/3")
        assert leadline("convert", "r.sion", "--output", "now.h5").status == 0, "it can be read while the run goes on"
        os.kill(ResultFile(tmp_path / "now.h5").pids[victim], signal.SIGKILL)
        done = run.finish()
    assert done.status == 4
    assert leadline("convert", "r.sion", "--output", "r.h5").status == 0
    result = ResultFile(tmp_path / "r.h5")
    assert not result.complete
    assert result.reason == done.complaint.removeprefix("leadline: ")
    assert result.measured().sum() == 6


def test_existing_files_are_safe(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "2", "--output", "r.h5")
    (tmp_path / "r.sion").write_text("precious")
    done = leadline("convert", "r.h5", "--output", "r.sion")
    assert done.status == 2
    assert "--overwrite" in done.complaint
    assert (tmp_path / "r.sion").read_text() == "precious"
    assert leadline("convert", "r.h5", "--output", "r.sion", "--overwrite").status == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.h5", "r.sion"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([], 2, "IN"),
        (["r.h5", "s.sion"], 2, "s.sion"),
        (["r.h5", "-o", "r.dat"], 2, "r.dat"),
        (["r.h5", "-o", "-"], 2, "Name a file"),
        (["r.h5", "-o", "s.h5"], 2, "nothing to convert"),
        (["r.h5", "-o", "s.h5", "--plain"], 2, "--plain"),
        (["r.h5", "-o", "s.sion", "--json", "s.sion"], 2, "same file"),
        (["missing.h5", "-o", "s.sion"], 2, "missing.h5"),
        ([".", "-o", "s.sion"], 2, "'.'"),
        (["text", "-o", "s.sion"], 2, "neither HDF5 nor SION"),
        (["other.h5", "-o", "s.sion"], 2, "not a result"),
        (["r.h5", "-o", "nowhere/s.sion"], 2, "nowhere/s.sion"),
        (["r.h5", "-o", "s.sion", "--frobnicate"], 2, "--frobnicate"),
    ],
)
def test_refusals(link: Leadline, leadline: Leadline, tmp_path: Path, words: list[str], status: int, said: str) -> None:
    link("--local", "2", "--output", "r.h5")
    (tmp_path / "text").write_text("message size 1 KiB\n")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["temperature"] = [1.0]
    done = leadline("convert", *words)
    assert done.status == status, done.err
    assert said in done.complaint
    assert done.err == done.complaint + "\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.h5", "r.h5", "text"]


@pytest.mark.parametrize("words", [["topology", "--iterations", "2", "--message-size", "8"],
                                   ["bisection", "--rounds", "2", "--message-size", "8"],
                                   ["io", "--objects", "2", "--object-size", "4KiB", "--delete"]])  # fmt: skip
def test_other_tests_have_no_other_format(leadline: Leadline, tmp_path: Path, words: list[str]) -> None:
    assert leadline(*words, "--local", "2", "--wait", "yield", "--output", "r.h5").status == 0
    done = leadline("convert", "r.h5", "--output", "r.sion")
    assert done.status == 2
    assert done.err == done.complaint + "\n"
    for word in ("r.h5", f"leadline {words[0]}", "leadline link", "leadline info"):
        assert word in done.complaint
    assert [path.name for path in tmp_path.iterdir()] == ["r.h5"]


@pytest.mark.parametrize(
    ("name", "num_ranks", "said"),
    [
        ("osu_latency", 2, "names of the hosts"),
        ("osu_bw", 2, "(1, 2 bytes)"),
        ("osu_bibw", 2, "names of the hosts"),
        ("imb", 2, "PingPing of IMB"),
        ("mpigraph", 4, "matrix of the receivers"),
    ],
)
def test_texts_of_other_benchmarks(leadline: Leadline, tmp_path: Path, name: str, num_ranks: int, said: str) -> None:
    done = leadline("convert", TEXTS / f"{name}.txt", "--output", "r.h5")
    assert (done.status, done.out) == (0, "r.h5\n"), done.err
    assert said in done.complaint
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.num_ranks == num_ranks
    wanted = result.every_pair() if name == "mpigraph" else np.array([[False, True], [False, False]])
    for size in range(len(result.sizes)):
        assert np.array_equal(result.measured(size=size), wanted)
    for command in ("info", "diagnose"):
        assert leadline(command, "r.h5").status == 0
    assert leadline("convert", "r.h5", "--output", "r.sion").status == 0
    assert leadline("convert", TEXTS / f"{name}.txt", "--output", "s.sion").status == 0


def test_numbers_of_a_text_are_those_of_its_program(leadline: Leadline, tmp_path: Path) -> None:
    assert leadline("convert", TEXTS / "mpigraph.txt", "--output", "r.h5").status == 0
    rows = [line.split() for line in (TEXTS / "mpigraph.txt").read_text().splitlines() if " to\t" in line]
    told = np.array([[float(word) for word in row[2:]] for row in rows])
    with np.errstate(divide="ignore"):
        expected = np.where(told > 0, 65536 / (told * 2**20) * 1e9, 0)
    np.testing.assert_allclose(ResultFile(tmp_path / "r.h5").medians(), expected)


def test_a_text_is_compared_where_its_hosts_are_named(leadline: Leadline, tmp_path: Path) -> None:
    text = TEXTS / "osu_latency.txt"
    for name in ("r.h5", "s.h5"):
        done = leadline("convert", text, "--host-names", "n01,n02", "--output", name)
        assert (done.status, done.err) == (0, "")
    assert ResultFile(tmp_path / "r.h5").hosts == ["n01", "n02"]
    assert leadline("compare", "r.h5", "s.h5").status == 0
    for words, said in (
        ([text, "--host-names", "n01"], "2 ranks"),
        ([text, "--host-names", "n01,"], "--host-names"),
        ([TEXTS / "mpigraph.txt", "--host-names", "a,b,c,d"], "has the names"),
        (["r.h5", "--host-names", "a,b"], "--host-names"),
    ):
        refused = leadline("convert", *words, "--output", "t.sion")
        assert refused.status == 2
        assert said in refused.complaint


IOR = ("ior", "ior_3.0")
LIKE_IOR = ["io", "--like", "ior", "--strided", "--block-size", "1MiB", "--sync", "inside", "--repeat", "2", "--local",
            "2", "--wait", "yield", "--delete", "--target", "f"]  # fmt: skip


@pytest.mark.parametrize("name", IOR)
def test_a_text_of_ior_becomes_a_result_of_files(leadline: Leadline, tmp_path: Path, name: str) -> None:
    text = (TEXTS / f"{name}.txt").read_text()
    done = leadline("convert", TEXTS / f"{name}.txt", "--output", "r.h5")
    assert (done.status, done.out) == (0, "r.h5\n"), done.err
    assert "r.h5 does not have IOR's IOPS" in done.complaint
    rows = [line.split() for line in text.splitlines() if re.match(r"(write|read) .* \d+ *$", line)]
    rows = [row for row in rows if len(row) in (9, 11)]
    told = json.loads(leadline("info", "r.h5", "--json").out)["result"]
    assert (told["benchmark"], told["complete"]) == ("io", True)
    assert [(one["operation"], one["repeat"]) for one in told["phases"]] == [(row[0], int(row[-1])) for row in rows]
    for row, phase in zip(rows, told["phases"], strict=True):
        assert phase["bytes_per_s"] == pytest.approx(float(row[1]) * 2**20)
        assert phase["wall_ns"] == pytest.approx(float(row[-2]) * 1e9)
        assert phase["bytes_per_s_io"] is None
    with h5py.File(tmp_path / "r.h5", "r") as file:
        assert "summary" not in file
        assert not file["io/ranks/end_ns"][()].any()
        assert "check" not in file["options"].attrs
    diagnosed = leadline("diagnose", "r.h5")
    assert (diagnosed.status, diagnosed.err) == (0, "")
    assert "what each rank did is not in the result" in diagnosed.out
    for kind in ("html", "pdf"):
        assert leadline("report", "r.h5", "--output", f"r.{kind}").status == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Timeline of ranks" not in page
    assert ("not durable" if name == "ior_3.0" else "durability not known") in page, "fsync, of an unknown file system"
    assert leadline("export", "r.h5", "--csv", "--output", "r.csv").status == 0


def test_a_text_of_ior_is_compared_with_a_run_like_ior(leadline: Leadline, tmp_path: Path) -> None:
    with_host = re.sub(r"Machine +: Linux \S+", f"Machine             : Linux {os.uname().nodename}",
                       (TEXTS / "ior.txt").read_text())  # fmt: skip
    (tmp_path / "old.txt").write_text(with_host)
    assert leadline("convert", "old.txt", "--output", "old.h5").status == 0
    assert leadline(*LIKE_IOR, "--objects", "8", "--output", "new.h5").status == 0
    done = leadline("compare", "old.h5", "new.h5", "--json")
    assert done.status == 0, done.err
    runs = json.loads(done.out)["runs"]
    assert {one["name"] for one in runs["numbers"]} == {"write", "read"}
    assert any(note.startswith("not known of 'old.h5': file system, ") for note in runs["notes"])
    assert leadline(*LIKE_IOR, "--objects", "12", "--output", "more.h5").status == 0
    refused = leadline("compare", "old.h5", "more.h5")
    assert (refused.status, refused.out) == (2, "")
    assert "objects" in refused.complaint


def test_hosts_of_a_text_of_ior(leadline: Leadline, tmp_path: Path) -> None:
    one = (TEXTS / "ior.txt").read_text()
    two = re.sub(r"nodes( +): 1", r"nodes\1: 2", one)
    two = re.sub(r"clients per node( +): 2", r"clients per node\1: 1", two)
    (tmp_path / "two.txt").write_text(two)
    done = leadline("convert", "two.txt", "--output", "two.h5")
    assert "names of all hosts but the first" in done.complaint
    assert leadline("convert", "two.txt", "--host-names", "n01,n02", "--output", "named.h5").status == 0
    with h5py.File(tmp_path / "two.h5", "r") as file, h5py.File(tmp_path / "named.h5", "r") as named:
        assert file["ranks/host"][1] == b"host1"
        assert named["ranks/host"][()].tolist() == [b"n01", b"n02"]
    for words, status, said in (
        (["two.txt", "--host-names", "n01"], 2, "2 hosts"),
        ([TEXTS / "ior.txt", "--host-names", "n01"], 2, "--host-names"),
        (["two.txt", "--plain"], 2, "--plain"),
        (["cut.txt"], 4, "cut off"),
        (["failed.txt"], 4, "IOR failed: ERROR"),
    ):
        (tmp_path / "cut.txt").write_text(one[: one.index("write ") + 20])
        (tmp_path / "failed.txt").write_text(one[: one.index("access    bw")] + "ERROR: open64() failed, (aiori.c:1)\n")
        refused = leadline("convert", *words, "--output", "t.h5")
        refused.assert_refused(status, said)
    leadline("convert", "two.txt", "--output", "r.sion").assert_refused(2, "two.txt", "SION")
    assert not list(tmp_path.glob("[rt].*"))


def test_damaged_files_leave_nothing_behind(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "4", "--output", "whole.h5")
    link("--local", "4", "--output", "whole.sion")
    for ending in ("h5", "sion"):
        for name, contents in damaged_files((tmp_path / f"whole.{ending}").read_bytes()).items():
            (tmp_path / "bad").write_bytes(contents)
            other = {"h5": "sion", "sion": "h5"}[ending]
            for command in (["convert", "bad", "--output", f"out.{other}"], ["info", "bad"]):
                done = leadline(*command)
                assert done.status in (2, 4), (ending, name, command, done.err)
                assert "bad" in done.complaint, (ending, name)
            (tmp_path / "bad").unlink()
    assert len(list(tmp_path.iterdir())) == 2


def test_bytes_that_are_other_than_they_were(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "3", "--output", "whole.h5")
    whole = (tmp_path / "whole.h5").read_bytes()
    chance = random.Random(1)
    for _ in range(40):
        contents = bytearray(whole)
        for _ in range(3):
            contents[chance.randrange(min(len(contents), 6000))] = chance.choice([0, 255, chance.randrange(256)])
        (tmp_path / "bad").write_bytes(contents)
        done = leadline("convert", "bad", "--output", "out.sion", "--overwrite")
        assert done.status in (0, 2, 4), done.err
        complaints = [line for line in done.complaints if "does not have time_ns_p999" not in line]
        assert len(done.err.splitlines()) == len(done.complaints)
        assert len(complaints) == (done.status != 0)
    assert {path.name for path in tmp_path.iterdir()} <= {"whole.h5", "bad", "out.sion"}


def test_a_message_size_that_sion_cannot_hold(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "2", "--output", "r.h5")
    with h5py.File(tmp_path / "r.h5", "r+") as file:
        file["message_size_bytes"][0] = 1 << 31
    done = leadline("convert", "r.h5", "--output", "r.sion")
    assert done.status == 2
    assert "2 GiB" in done.complaint


def test_links_stay_links(link: Leadline, leadline: Leadline, tmp_path: Path) -> None:
    link("--local", "2", "--output", "r.h5")
    shutil.copy(LINKTEST[0], tmp_path / "real.sion")
    (tmp_path / "r.sion").symlink_to("real.sion")
    assert leadline("convert", "r.h5", "--output", "r.sion", "--overwrite").status == 0
    assert (tmp_path / "r.sion").is_symlink()
    assert len(records(tmp_path / "real.sion")) == 2
