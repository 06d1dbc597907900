# SPDX-License-Identifier: Apache-2.0
"""Ranks that were to be started one by one and do not come: the others begin without them."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Collection, Sequence
from pathlib import Path

import h5py
import numpy as np
import program
import pytest
from modules import require_module
from program import Leadline
from result import ResultFile

pytestmark = pytest.mark.slow

RANKS = 7
ADDRESSES = [f"127.0.0.{1 + rank // 2}" for rank in range(RANKS)]


def run_without(
    absent: Collection[int], folder: Path, *words: str | Path, delays_s: dict[int, float] | None = None
) -> dict[int, program.Done]:
    """How each rank that is started ends; two ranks have the same address. Those with a delay come later."""
    ports = program.free_ports(RANKS)
    delays_s = delays_s or {}
    begin = time.monotonic()
    with contextlib.ExitStack() as stack:
        runs = {}
        for rank in sorted(set(range(RANKS)) - set(absent), key=lambda rank: delays_s.get(rank, 0)):
            time.sleep(max(begin + delays_s.get(rank, 0) - time.monotonic(), 0))
            environment = program.explicit_environment(ADDRESSES, ports, rank)
            runs[rank] = stack.enter_context(program.Run([program.PROGRAM, *words], folder, environment))
        return {rank: run.finish() for rank, run in runs.items()}


def link(*words: str | Path) -> list[str | Path]:
    return ["link", "--messages", "5", "--message-size", "64", "--wait", "yield", *words]


# At the top of the tree with all below it, inside it and at its ends.
@pytest.mark.parametrize("absent", [[1], [2, 5], [6], [1, 3, 4], [1, 2, 3, 4, 6]])
def test_the_others_begin(absent: list[int], tmp_path: Path) -> None:
    ends = run_without(absent, tmp_path, *link("--start-timeout", "2s", "--output", "r.h5"))
    assert {end.status for end in ends.values()} == {1}, ends[0].err
    assert ["".join((end.out, end.err)) for rank, end in ends.items() if rank > 0] == [""] * (len(ends) - 1)
    for rank in absent:
        assert f"leadline: rank {rank} did not join within 2 s (it should listen at 127.0.0." in ends[0].err
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    is_absent = np.isin(np.arange(RANKS), absent)
    assert np.array_equal(result.measured(), result.every_pair() & ~is_absent[:, None] & ~is_absent)
    is_in_test = np.asarray(result.repeats[0]["round"]) > 0
    assert np.array_equal(is_in_test, result.every_pair()), "what is missing was to be measured"
    findings = {finding["id"]: finding for finding in result.summary["findings"]}
    number = f"{len(absent)} rank{'s' if len(absent) > 1 else ''} did not join the run: "
    assert findings["ranks_absent"]["message"].startswith(number)
    assert findings.keys().isdisjoint({"ranks_lost", "pairs_not_measured"})


@pytest.mark.parametrize("name", ["r.h5", "r.sion", "r.json"])
def test_every_format_names_the_hosts(name: str, leadline: Leadline, tmp_path: Path) -> None:
    """Rank 1 has the address of rank 0; nobody else is at that of rank 6."""
    run_without([1, 6], tmp_path, *link("--start-timeout", "2s", "--output", name))
    if name == "r.json":
        hosts = json.loads((tmp_path / name).read_text())["hosts"]
        assert any("127.0.0.4" in host.values() for host in hosts), hosts
        return
    done = leadline("info", name)
    assert done.status == 0, done.err
    assert "(0-5), 127.0.0.4 (6)" in done.out
    assert leadline("report", name).status == 0


@pytest.mark.parametrize("absent", [[1], [2, 5]])
def test_where_only_rank_0_is_known(absent: list[int], leadline: Leadline, tmp_path: Path) -> None:
    (port,) = program.free_ports(1)
    command = [program.PROGRAM, *link("--start-timeout", "4s", "--output", "r.h5")]
    with contextlib.ExitStack() as stack:
        runs = []
        for rank in sorted(set(range(RANKS)) - set(absent)):
            environment = program.environment_with_rank_0("127.0.0.1", port, rank, RANKS)
            runs.append(stack.enter_context(program.Run(command, tmp_path, environment)))
        ends = [run.finish() for run in runs]
    assert {end.status for end in ends} == {1}, ends[0].err
    for rank in absent:
        assert f"leadline: rank {rank} on host-of-rank-{rank} was not started" in ends[0].err
    is_absent = np.isin(np.arange(RANKS), absent)
    result = ResultFile(tmp_path / "r.h5")
    assert np.array_equal(result.measured(), result.every_pair() & ~is_absent[:, None] & ~is_absent)
    assert f"host-of-rank-{absent[0]} ({absent[0]})" in leadline("info", "r.h5").out


BENCHMARKS: dict[str, Sequence[str]] = {
    "topology": ("--pattern", "complete2", "--message-size", "1KiB"),
    "bisection": ("--pattern", "shift:1", "--message-size", "1KiB", "--time-limit", "0"),
    "congestion": ("--rounds", "2", "--test-time", "10ms", "--intensity", "100"),
    "collective": ("--rounds", "2", "--batches", "2", "--message-size", "1KiB"),
    "io": ("--objects", "4", "--object-size", "64KiB", "--target", "f.%r", "--delete"),
}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_every_benchmark(benchmark: str, leadline: Leadline, tmp_path: Path) -> None:
    words = [benchmark, *BENCHMARKS[benchmark], "--wait", "yield", "--start-timeout", "2s", "--output", "r.h5"]
    ends = run_without([1, 4], tmp_path, *words)
    assert {end.status for end in ends.values()} == {1}, ends[0].err
    assert "2 ranks did not join the run: " in ends[0].out
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        if benchmark == "topology":
            served = file["topologies/0000/num_served"][0, 0]
            assert ((served > 0) == ~np.isin(np.arange(RANKS), [1, 4])).all(), served
        if benchmark == "congestion":
            victims = set(file["congestion/victims"][()].tolist())
            assert victims.isdisjoint({1, 4})
            assert file["congestion"].attrs["num_load_ranks"] == 5 - len(victims)
            assert (file["congestion/rounds/loaded_num"][:, [0, 2]] > 0).all(), "a stream may have too few messages"
        if benchmark == "collective":
            assert file["collective/membership/group"][0].tolist() == [1, 0, 1, 1, 0, 1, 1]
            assert (file["collective/groups/time_ns"][()] > 0).all()
        if benchmark == "bisection":
            assert file["bisection/send_to"][0, :, 0].tolist() == [-1, -1, 3, -1, -1, 6, 0]
    report = leadline("report", "r.h5")
    assert (report.status, report.err) == (0, "")
    assert not list(tmp_path.glob("f.*"))


OVER_LIBRARIES = {"libfabric": ["libfabric:tcp;ofi_rxm"], "ucx": ["ucx:tcp,self", "--transport-option", "go-on=yes"]}


@pytest.mark.parametrize("benchmark", ["link", "topology"])
@pytest.mark.parametrize("transport", OVER_LIBRARIES)
def test_over_libraries(transport: str, benchmark: str, tmp_path: Path) -> None:
    require_module(transport)
    words = link() if benchmark == "link" else [benchmark, *BENCHMARKS[benchmark], "--wait", "yield"]
    more = ["--transport", *OVER_LIBRARIES[transport], "--start-timeout", "2s", "--output", "r.h5"]
    ends = run_without([1, 4], tmp_path, *words, *more)
    assert {end.status for end in ends.values()} == {1}, ends[0].err
    assert "2 ranks did not join the run: " in ends[0].out
    is_there = ~np.isin(np.arange(RANKS), [1, 4])
    if benchmark == "link":
        result = ResultFile(tmp_path / "r.h5")
        assert np.array_equal(result.measured(), result.every_pair() & np.outer(is_there, is_there))
        return
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        assert file["topologies/0000/num_served"][0, 0].tolist() == [4 * there for there in is_there]


@pytest.mark.parametrize("transport", ["libfabric:shm", "ucx:tcp,self"])
def test_over_libraries_that_need_all_ranks(transport: str, tmp_path: Path) -> None:
    """Of libfabric it is known only when its provider is."""
    require_module(transport)
    words = link("--transport", transport, "--start-timeout", "2s", "--output", "r.h5")
    ends = run_without([5], tmp_path, *words)
    assert {end.status for end in ends.values()} == {4}
    assert "rank 5 did not join within 2 s" in "".join(end.err for end in ends.values())
    if transport == "libfabric:shm":
        assert "a run needs all ranks" in ends[0].complaints[-1]


@pytest.mark.parametrize("more", [[], ["--barrier"]], ids=["", "barrier"])
@pytest.mark.parametrize("absent", [4, 5])
def test_a_funnel_without_an_io_rank_or_a_sender(absent: int, more: list[str], tmp_path: Path) -> None:
    """An I/O rank that does not come takes those whose I/O it would do with it."""
    words = ["io", "--objects", "4", "--object-size", "64KiB", "--movement", "N-M-M", "--io-ranks", "2",
             "--target", "f.%r", "--start-timeout", "2s", "--output", "r.h5"]  # fmt: skip
    ends = run_without([absent], tmp_path, *words, *more)
    assert {end.status for end in ends.values()} == {1}, [end.err for end in ends.values()]
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        num_objects = file["io/ranks/num_objects"][0]
    left_out = [4, 5, 6] if absent == 4 else [absent]
    assert (num_objects > 0).tolist() == [rank not in left_out for rank in range(RANKS)]


def test_nobody_comes(tmp_path: Path) -> None:
    ends = run_without(range(1, RANKS), tmp_path, *link("--start-timeout", "2s", "--output", "r.h5"))
    assert ends[0].status == 4
    assert ends[0].complaint.startswith("leadline: of 7 ranks only rank 0 is there (rank 1 did not join within 2 s")
    assert list(tmp_path.iterdir()) == []


def test_the_first_does_not_come(tmp_path: Path) -> None:
    ends = run_without([0], tmp_path, *link("--start-timeout", "2s", "--output", "r.h5"))
    assert {end.status for end in ends.values()} == {4}
    assert any("cannot reach rank 0 at 127.0.0.1:" in end.err for end in ends.values())


def test_strict_ranks(tmp_path: Path) -> None:
    ends = run_without([5], tmp_path, *link("--start-timeout", "2s", "--strict-ranks", "--output", "r.h5"))
    assert {end.status for end in ends.values()} == {4}
    assert "rank 5 did not join within 2 s" in "".join(end.err for end in ends.values())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("late", [0, 1, 3])
def test_one_that_comes_in_time(late: int, tmp_path: Path) -> None:
    """Those below it have gone to rank 0 by then."""
    words = link("--start-timeout", "6s", "--output", "r.h5")
    ends = run_without([], tmp_path, *words, delays_s={late: 4})
    assert {end.status for end in ends.values()} == {0}, ends[0].err
    result = ResultFile(tmp_path / "r.h5")
    assert np.array_equal(result.measured(), result.every_pair())


@pytest.mark.parametrize("late", [1, 3])
def test_one_that_comes_too_late(late: int, tmp_path: Path) -> None:
    words = link("--start-timeout", "2s", "--output", "r.h5")
    ends = run_without([], tmp_path, *words, delays_s={late: 6})
    assert {rank: end.status for rank, end in ends.items()} == {rank: 4 if rank == late else 1 for rank in ends}
    complaint = ends[late].complaint
    assert ("cannot reach rank 0" if late == 1 else "reaches neither rank 1 nor rank 0") in complaint
