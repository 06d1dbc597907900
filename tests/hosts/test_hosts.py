# SPDX-License-Identifier: Apache-2.0
"""Runs over several hosts: who is where, a slow host, a cable that is cut."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import program
import pytest
from mpi_launchers import require_launcher
from network import Network
from ranks import finish, mpi_launcher, started
from result import ResultFile

Make = Callable[[int], Network]


@pytest.mark.any_load
@pytest.mark.parametrize("host_of", [[0, 1], [0, 0, 1, 1], [0, 1, 0]])
def test_two_hosts(network: Make, tmp_path: Path, host_of: list[int]) -> None:
    with started(network(2), host_of, tmp_path, "--messages", "20", "--message-size", "8,4KiB", "--verify") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * len(host_of), [end.err for end in ends]
    assert [end.out + end.err for end in ends[1:]] == [""] * (len(host_of) - 1)
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.hosts == [f"node{host}" for host in host_of]
    assert result.provenance["num_hosts"] == 2
    assert result.provenance["control_plane_on_loopback"] == 0
    assert np.array_equal(result.measured(size=1), result.every_pair())
    host = np.array(host_of)
    between = int((host[:, None] != host[None, :]).sum())
    for one in result.summary["slices"]:
        assert one["between_hosts"]["num_pairs"] == between
        assert one["same_host"]["num_pairs"] == len(host) * (len(host) - 1) - between
    assert "2 hosts" in ends[0].out
    assert ("same host" in ends[0].out) == (len(host_of) > 2), "classes stand apart where there are two"


@pytest.mark.any_load
@pytest.mark.parametrize("are_of_torchrun", [False, True])
def test_two_hosts_where_rank_0_alone_is_known(network: Make, tmp_path: Path, are_of_torchrun: bool) -> None:
    """Its name is enough."""
    hosts = network(2)
    command = [program.PROGRAM, "link", "--wait", "block", "--messages", "20", "--output", "r.h5"]
    host_of = [0, 0, 1, 1]
    with contextlib.ExitStack() as stack:
        runs = []
        for rank, host in enumerate(host_of):
            variables = program.environment_with_rank_0("node0", 29500, rank, 4)
            if are_of_torchrun:
                variables = {"RANK": str(rank), "WORLD_SIZE": "4", "MASTER_ADDR": "node0", "MASTER_PORT": "29500"}
            runs.append(stack.enter_context(program.Run(hosts.on(host, *command), tmp_path, variables)))
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 4, [end.err for end in ends]
    result = ResultFile(tmp_path / "r.h5")
    assert result.hosts == [f"node{host}" for host in host_of]
    assert result.provenance["control_plane_on_loopback"] == 0
    assert np.array_equal(result.measured(), result.every_pair())


def connections(pid: int) -> int:
    """TCP connections that this process holds open at this moment."""
    inodes = set()
    for descriptor in Path("/proc", str(pid), "fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(str(descriptor.readlink()))
    lines = Path("/proc", str(pid), "net/tcp").read_text().splitlines()[1:]
    established = "01"
    return sum(words[3] == established and f"socket:[{words[9]}]" in inodes for words in map(str.split, lines))


@pytest.mark.any_load
@pytest.mark.slow
def test_sixty_four_ranks_host_against_host(network: Make, tmp_path: Path) -> None:
    hosts = network(8)
    host_of = [rank // 8 for rank in range(64)]
    words = ["--between-hosts", "--message-size", "1KiB", "--messages", "10", "--min-time", "5s", "--verify",
             "--verbose"]  # fmt: skip
    with started(hosts, host_of, tmp_path, *words, timeout=240) as runs:
        runs[0].await_err("repeat 2")  # every link is open by now
        most = max(connections(run.pid) for run in runs[::9])  # of each host one, while the run goes on
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 64, next(end.err for end in ends if end.err)
    partners = 56  # on other hosts, each with a connection for data
    assert partners < most <= partners + 16, "the control plane holds too many connections, or none"
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    host = np.array(host_of)
    assert np.array_equal(result.measured(), host[:, None] != host[None, :])
    assert result.provenance["num_rounds"] == 7 * 8
    assert result.summary["slices"][0]["same_host"]["num_pairs"] == 0


@pytest.mark.any_load
@pytest.mark.parametrize(
    ("options", "meets"),
    [
        (["--between-hosts"], lambda a, b: a != b),
        (["--between-hosts", "--bisection"], lambda a, b: (a < 2) != (b < 2)),
        (["--one-per-host"], lambda a, b: a != b),
    ],
    ids=["between", "halves", "one"],
)
def test_parts_of_the_pairs(
    network: Make, tmp_path: Path, options: list[str], meets: Callable[[int, int], bool]
) -> None:
    host_of = [0, 1, 1, 2, 3, 0]
    with started(network(4), host_of, tmp_path, "--messages", "10", "--check-buffers", *options) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 6, [end.err for end in ends]
    first = [host_of.index(host) for host in range(4)]
    plays = [rank in first if "--one-per-host" in options else True for rank in range(6)]
    wanted = [[plays[a] and plays[b] and meets(host_of[a], host_of[b]) for b in range(6)] for a in range(6)]
    result = ResultFile(tmp_path / "r.h5")
    assert np.array_equal(result.measured(), np.array(wanted))


def test_a_slow_host_is_visible(network: Make, tmp_path: Path) -> None:
    hosts = network(4)
    hosts.slow_down(2)
    words = ["--messages", "10", "--message-size", "16KiB"]
    with started(hosts, [0, 1, 2, 3], tmp_path, *words) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 4, [end.err for end in ends]
    medians = ResultFile(tmp_path / "r.h5").medians()
    slow = np.arange(4) == 2
    touched = slow[:, None] ^ slow[None, :]
    healthy = ~touched & ~np.eye(4, dtype=bool)
    # 16 KiB take at least 2 ms at 50 Mbit/s, less what the bucket holds; half of that is safe, and known beforehand.
    assert medians[touched].min() > 1e6
    assert np.median(medians[touched]) > 3 * np.median(medians[healthy])


@pytest.mark.slow
def test_a_cable_is_cut(network: Make, tmp_path: Path) -> None:
    hosts = network(2)
    sizes = ",".join(["1", *map(str, range(1000, 1040))])
    words = ["--messages", "5000", "--batches", "500", "--timeout", "2s", "--retest", "0", "--strict-ranks",
             "--verbose"]  # fmt: skip
    with started(hosts, [0, 0, 1, 1], tmp_path, *words, "--message-size", sizes) as runs:
        runs[0].await_err(r"\(2 of 41\)[^!]* 1/3 ")
        hosts.cut(1)
        ends = finish(runs)
    assert [end.status for end in ends] == [4] * 4
    assert re.search(r"rank [23] on node1 has been silent for 2 s", ends[0].complaint), ends[0].complaint
    assert re.search(r"round \d of 3, with partner \d|summary after the last round", ends[0].complaint)
    assert sum(len(end.complaints) for end in ends[:2]) == 1
    result = ResultFile(tmp_path / "r.h5")
    assert not result.complete
    assert result.reason == ends[0].complaint.removeprefix("leadline: ")
    assert np.array_equal(result.measured(), result.every_pair())


@pytest.mark.any_load
def test_a_host_that_is_not_there(network: Make, tmp_path: Path) -> None:
    hosts = network(2)
    hosts.cut(1)
    with started(hosts, [0, 1], tmp_path, "--timeout", "2s") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [4, 4]
    assert all(len(end.complaints) == 1 for end in ends), "neither can know whether the other speaks"
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.any_load
def test_hosts_of_one_name(network: Make, tmp_path: Path) -> None:
    hosts = network(3)
    hosts.host_names = ["vm"] * 3
    with started(hosts, [0, 1, 1, 2], tmp_path, "--messages", "10") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 4, [end.err for end in ends]
    assert "4 ranks on 3 hosts" in ends[0].out
    assert ResultFile(tmp_path / "r.h5").hosts == ["vm", "vm#2", "vm#2", "vm#3"]


@pytest.mark.any_load
def test_open_mpi_over_two_hosts(network: Make, tmp_path: Path) -> None:
    require_launcher("openmpi")
    hosts = network(2)
    mpirun = [*mpi_launcher("openmpi", hosts, ranks_per_host=2), str(program.PROGRAM)]
    words = ["link", "--messages", "10", "--wait", "yield", "--output", str(tmp_path / "r.h5")]
    done = program.complete(hosts.on(0, *mpirun, *words), tmp_path)
    assert done.status == 0, done.err
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.hosts == ["node0", "node0", "node1", "node1"]
    assert result.provenance["control_plane_on_loopback"] == 0
    assert np.array_equal(result.measured(), result.every_pair())
