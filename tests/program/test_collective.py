# SPDX-License-Identifier: Apache-2.0
"""`leadline collective` over TCP: numbers that fit, groups, files, its page and table, lost and interrupted runs."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import program
import pytest
from built_program import needs_analysis
from program import Leadline
from result import schema_of, status_of, summary_of, wrong_json

QUICK = ["--local", "4", "--rounds", "2", "--batches", "3", "--iterations", "4", "--message-size", "64,40000",
         "--wait", "yield"]  # fmt: skip
OPERATIONS = ["allreduce", "allgather", "reduce-scatter", "alltoall"]
CELLS = [(operation, size) for operation in OPERATIONS for size in (64, 40000)]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All operations, every number checked."""
    folder = tmp_path_factory.mktemp("collective")
    done = program.complete([program.PROGRAM, "collective", *QUICK, "--verify", "--output", "r.h5"], folder)
    assert done.status == 0, done.err
    (folder / "text").write_text(done.out)
    return folder / "r.h5"


def test_the_file_fits_the_summary(result: Path) -> None:
    summary = summary_of(result)
    assert wrong_json(summary, schema_of("collective")) == []
    assert summary["algorithm"] == "ring", "TCP has no operations of its own"
    assert [(cell["operation"], cell["message_size_bytes"]) for cell in summary["cells"]] == CELLS
    assert status_of(result)[0]
    with h5py.File(result) as file:
        group = file["collective"]
        assert (group["membership/group"][()] == 1).all()
        times = group["groups/time_ns"][()]
        assert times.shape == (2, 4, 2, 1, 3)
        assert (times > 0).all()
        for cell, (operation, size) in zip(summary["cells"], np.ndindex(4, 2), strict=True):
            of_cell = times[:, operation, size].ravel()
            assert cell["num"] == of_cell.size
            assert cell["time_ns_median"] == pytest.approx(np.median(of_cell))
            assert cell["time_ns_max"] == of_cell.max()
            slowest = group["ranks/time_ns_max"][:, operation, size].max()
            assert slowest == pytest.approx(of_cell.max()), "the time of a group is that of its slowest rank"


def test_bandwidths_are_those_of_nccl_tests(result: Path) -> None:
    for cell in summary_of(result)["cells"]:
        of_bus = 2 * 3 / 4 if cell["operation"] == "allreduce" else 3 / 4
        assert cell["bus_bytes_per_s"] == pytest.approx(of_bus * cell["algorithm_bytes_per_s"])
        with h5py.File(result) as file:
            place = [*np.ndindex(4, 2)][CELLS.index((cell["operation"], cell["message_size_bytes"]))]
            times = file["collective/groups/time_ns"][(slice(None), *place)]
        rates = 1e9 * cell["message_size_bytes"] / times
        assert cell["algorithm_bytes_per_s"] == pytest.approx(np.median(rates))


def test_every_number_that_all_receive_is_checked(result: Path) -> None:
    """Of each operation and size, in two rounds on four ranks."""
    received = sum(size if operation != "reduce-scatter" else size // 4 for operation, size in CELLS)
    assert summary_of(result)["verified_bytes"] == 2 * 4 * received


def test_the_text_says_the_same(result: Path) -> None:
    text = (result.parent / "text").read_text()
    for word in (*OPERATIONS, "operations: our own, over its messages; 2 rounds", "64 B", "algbw", "busbw", "verified"):
        assert word in text


def test_info(result: Path, leadline: Leadline) -> None:
    done = leadline("info", result)
    assert done.status == 0, done.err
    assert "collective test, format 1" in done.out
    assert "2 of 2" in done.out
    told = json.loads(leadline("info", "--json=-", result).out)
    assert wrong_json(told, schema_of("info")) == []
    assert json.dumps(told).count('"bus_bytes_per_s"') == len(CELLS)


def test_a_page_and_a_table(result: Path, leadline: Leadline, tmp_path: Path) -> None:
    needs_analysis()
    done = leadline("report", result, "--output", tmp_path / "r.html")
    assert (done.status, done.err) == (0, "")
    page = (tmp_path / "r.html").read_text("utf-8")
    for word in (*OPERATIONS, "busbw", "64 B"):
        assert word in page
    done = leadline("export", result, "--csv", "--output", "-")
    assert (done.status, done.err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    told = [(row["operation"], float(row["bus_bytes_per_s"])) for row in rows]
    cells = summary_of(result)["cells"]
    assert told == [(cell["operation"], pytest.approx(cell["bus_bytes_per_s"])) for cell in cells]
    leadline("report", result, "--output", tmp_path / "r.pdf").assert_refused(2, "no sheet", ".html")


def test_it_is_compared_with_itself(result: Path, leadline: Leadline) -> None:
    done = leadline("compare", result, result)
    assert done.status == 0, done.err


def on_hosts(
    folder: Path, num_hosts: int, *words: str | Path, slow: int = -1, ranks_per_host: int = 1
) -> dict[int, program.Done]:
    """Ranks on so many hosts, by their names; of the slow one each call that sends takes 1 ms."""
    if subprocess.run(["unshare", "--uts", "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("a process cannot have a host name of its own here")
    hosts = [rank // ranks_per_host for rank in range(num_hosts * ranks_per_host)]
    addresses = [f"127.0.0.{1 + host}" for host in hosts]
    ports = program.free_ports(len(addresses))
    with contextlib.ExitStack() as stack:
        runs = {}
        for rank, host in enumerate(hosts):
            environment = program.explicit_environment(addresses, ports, rank)
            environment |= {"SEND_SLEEPS_US": "1000"} if host == slow else {}
            named = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', f"node{host}"]
            command = [*named, program.PROGRAM, "collective", *words]
            runs[rank] = stack.enter_context(program.Run(command, folder, environment))
        return {rank: run.finish() for rank, run in runs.items()}


@pytest.mark.parametrize("more", [[], ["--serial"]], ids=["at once", "serial"])
def test_groups_of_hosts(more: list[str], leadline: Leadline, tmp_path: Path) -> None:
    words = ["--rounds", "4", *QUICK[4:], "--operation", "allreduce,alltoall", "--group-hosts", "2", "--verify", *more]
    ends = on_hosts(tmp_path, 5, *words, "--output", "r.h5", ranks_per_host=2)
    assert {end.status for end in ends.values()} == {0}, ends[0].err
    when = "one after another" if more else "at the same time"
    assert f"2 groups of 4 ranks, {when}; 4 rounds" in ends[0].out
    with h5py.File(tmp_path / "r.h5") as file:
        groups = file["collective/membership/group"][()]
        times = file["collective/groups/time_ns"][()]
        own = file["collective/ranks/time_ns_median"][()]
    assert times.shape == (4, 2, 2, 2, 3)
    assert (times > 0).all()
    for of_round in groups:
        assert (of_round[::2] == of_round[1::2]).all(), "hosts are whole"
        assert sorted(of_round[::2]) == [0, 1, 1, 2, 2]
    assert len({tuple(of_round) for of_round in groups.tolist()}) > 1, "others in each round"
    for of_round, members in zip(own, groups, strict=True):
        assert ((of_round > 0) == (members > 0)).all(), "who rests has no time"
    assert "2 of 2 hosts in a round" in leadline("info", "r.h5").out


@pytest.mark.parametrize("slow", [-1, 2])
def test_a_slow_host_is_told(slow: int, tmp_path: Path) -> None:
    """By groups that are alone: the others would wait for a core of this machine, too."""
    words = ["--operation", "allreduce", "--message-size", "1MiB", "--group-hosts", "2", "--serial", "--rounds", "10",
             "--batches", "2", "--iterations", "3", "--warmup", "1", "--wait", "yield", "-o", "r.json"]  # fmt: skip
    ends = on_hosts(tmp_path, 6, *words, slow=slow)
    assert {end.status for end in ends.values()} == {0}, ends[0].err
    findings = json.loads((tmp_path / "r.json").read_text())["findings"]
    told = [finding for finding in findings if finding["id"] == "slow_host_of_groups"]
    assert [finding["host_names"] for finding in told] == ([["node2"]] if slow == 2 else [])
    if told:
        assert told[0]["message"].startswith("Host node2 is slow: its groups take ")
        assert told[0]["list"] == "persistent"
        assert told[0]["numbers"][0]["value"] > 1.1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--local", "1"], ["at least 2 ranks"]),
        (["--local", "2", "--operation", "allreduce,allreduce"], ["allreduce twice"]),
        (["--local", "2", "--algorithm", "library"], ["--algorithm library cannot be had", "tcp", "--algorithm ring"]),
        (["--local", "2", "--group-hosts", "2"], ["--group-hosts 2 is more than there are hosts"]),
        (["--local", "2", "--transport", "model:nowhere.json"], ["nowhere.json"]),
    ],
)
def test_what_is_refused(words: list[str], named: list[str], leadline: Leadline, tmp_path: Path) -> None:
    leadline("collective", *words, "--wait", "yield").assert_refused(2, *named)
    assert list(tmp_path.iterdir()) == []


def test_more_than_the_memory(leadline: Leadline) -> None:
    done = leadline("collective", "--local", "512", "--message-size", "4GiB", "--dry-run")
    assert "Memory: " in done.out
    done = leadline("collective", "--local", "64", "--message-size", "4GiB", "--wait", "yield")
    assert done.status == 3
    assert all(word in done.complaint for word in ("memory", "--message-size"))


def test_a_plan(leadline: Leadline) -> None:
    done = leadline("collective", "--dry-run", "--ranks", "64", "--ranks-per-host", "4", "--group-hosts", "3")
    assert done.status == 0
    for word in ("64 ranks: allreduce", "5 random groups of 12 ranks", "1 KiB, 4 MiB", "Time: ", "Memory: "):
        assert word in done.out


ENDLESS = [*QUICK[:3], "10000", *QUICK[4:], "--output", "r.h5"]


def rounds_in(path: Path) -> int:
    try:
        with h5py.File(path, locking=False) as file:
            return int((file["collective/groups/time_ns"][:, -1, -1, 0, 0] > 0).sum())
    except (OSError, KeyError):
        return 0


def await_rounds(path: Path, num: int) -> None:
    end_s = time.monotonic() + 30
    while rounds_in(path) < num and time.monotonic() < end_s:
        time.sleep(0.05)


def test_ctrl_c_keeps_the_rounds_before(leadline: Leadline, tmp_path: Path) -> None:
    with program.Run([program.PROGRAM, "collective", *ENDLESS], tmp_path) as run:
        await_rounds(tmp_path / "r.h5", 1)
        run.send(signal.SIGINT)
        done = run.finish()
    assert done.status != 0
    assert rounds_in(tmp_path / "r.h5") > 0
    is_complete, reason = status_of(tmp_path / "r.h5")
    assert not is_complete
    assert reason
    told = leadline("info", "r.h5").out
    assert "of 10000" in told
    assert "No numbers: the run ended before its summary was written" in told


def test_a_lost_rank_ends_the_measuring(tmp_path: Path) -> None:
    """What was measured before is the result."""
    with program.Run([program.PROGRAM, "collective", *ENDLESS], tmp_path) as run:
        await_rounds(tmp_path / "r.h5", 2)
        with h5py.File(tmp_path / "r.h5", locking=False) as file:
            os.kill(int(file["ranks/pid"][3]), signal.SIGKILL)
        done = run.finish()
    assert done.status == 1, done.err
    assert "1 rank was lost during the run: rank 3" in done.out
    assert " of 10000 rounds" in done.out
    assert status_of(tmp_path / "r.h5")[0]
    cells = summary_of(tmp_path / "r.h5")["cells"]
    assert cells[-1]["num"] == 3 * rounds_in(tmp_path / "r.h5") > 3


def test_a_lost_rank_ends_the_run_with_strict_ranks(tmp_path: Path) -> None:
    with program.Run([program.PROGRAM, "collective", *ENDLESS, "--strict-ranks"], tmp_path) as run:
        await_rounds(tmp_path / "r.h5", 1)
        with h5py.File(tmp_path / "r.h5", locking=False) as file:
            os.kill(int(file["ranks/pid"][2]), signal.SIGKILL)
        done = run.finish()
    assert done.status == 4
    assert "rank 2 on" in done.complaint
    assert not status_of(tmp_path / "r.h5")[0]
