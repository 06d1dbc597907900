# SPDX-License-Identifier: Apache-2.0
"""Runs over several hosts: who is where, a slow host, a cable that is cut."""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import program
import pytest
from network import Network
from result import ResultFile

Make = Callable[[int], Network]


@contextlib.contextmanager
def started(network: Network, host_of: Sequence[int], folder: Path, *words: str) -> Iterator[list[program.Run]]:
    """One process a rank, with explicit variables, on the hosts given."""
    addresses = [network.addresses[host] for host in host_of]
    ports = [60000 + rank for rank in range(len(host_of))]
    command = [program.PROGRAM, "link", "--wait", "yield", "--output", "r.h5", *words]
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                program.Run(
                    network.on(host, *command), folder, program.explicit_environment(addresses, ports, rank), timeout=60
                )
            )
            for rank, host in enumerate(host_of)
        ]


def finish(runs: list[program.Run]) -> list[program.Done]:
    return [run.finish() for run in runs]


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
    assert ("between hosts" in ends[0].out) == (len(host_of) > 2), "classes stand apart where there are two"


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
    words = ["--messages", "5000", "--batches", "500", "--timeout", "2s", "--retest-slowest", "0"]
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


def test_a_host_that_is_not_there(network: Make, tmp_path: Path) -> None:
    hosts = network(2)
    hosts.cut(1)
    with started(hosts, [0, 1], tmp_path, "--timeout", "2s") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [4, 4]
    assert all(len(end.complaints) == 1 for end in ends), "neither can know whether the other speaks"
    assert not (tmp_path / "r.h5").exists()


def test_open_mpi_over_two_hosts(network: Make, tmp_path: Path) -> None:
    if shutil.which("mpirun.openmpi") is None:
        pytest.skip("mpirun.openmpi is not installed")
    hosts = network(2)
    (tmp_path / "hostfile").write_text("node0 slots=2\nnode1 slots=2\n")
    net = "10.55.0.0/24"
    settings = {"plm_rsh_agent": hosts.agent, "plm_rsh_no_tree_spawn": 1, "pml": "ob1", "btl": "tcp,self",
                "btl_tcp_if_include": net, "oob_tcp_if_include": net}  # fmt: skip
    mca = [str(word) for name, value in settings.items() for word in ("--mca", name, value)]
    mpirun = ["mpirun.openmpi", "--hostfile", "hostfile", "-n", "4", *mca, str(program.PROGRAM)]
    words = ["link", "--messages", "10", "--wait", "yield", "--output", str(tmp_path / "r.h5")]
    done = program.complete(hosts.on(0, *mpirun, *words), tmp_path)
    assert done.status == 0, done.err
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.hosts == ["node0", "node0", "node1", "node1"]
    assert result.provenance["control_plane_on_loopback"] == 0
    assert np.array_equal(result.measured(), result.every_pair())
