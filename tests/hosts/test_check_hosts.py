# SPDX-License-Identifier: Apache-2.0
"""`leadline check` on hosts with a fault, and with a host that does not come."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import program
import pytest
from network import Network
from ranks import finish, started

# All hosts share the cores of one machine: what others take from them is no fault, so only gross faults count here.
WORDS = ["--budget", "8s", "--bandwidth-size", "256KiB", "--fail", "0.2", "--json"]


def answer(hosts: Network, host_of: list[int], folder: Path, *words: str) -> tuple[list[int], dict[str, Any]]:
    """Statuses of all ranks, and the document of rank 0."""
    with started(hosts, host_of, folder, *WORDS, *words, benchmark="check", timeout=90) as runs:
        ends = finish(runs)
    assert ends[0].out, ends[0].err
    return [end.status for end in ends], json.loads(ends[0].out)


@pytest.mark.slow
def test_a_slow_host_is_to_be_drained(network: Callable[[int], Network], tmp_path: Path) -> None:
    hosts = network(6)
    hosts.lengthen(2, delay_us=5000)
    statuses, document = answer(hosts, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5], tmp_path)
    assert document["state"] == "bad", document["problems"]
    assert set(statuses) == {1}
    assert document["drain"] == ["node2"], document["problems"]
    assert {one.name for one in (tmp_path / "r.h5").iterdir()} >= {"latency.h5", "bandwidth.h5", "check.json"}


@pytest.mark.slow
def test_the_others_are_checked_where_a_host_does_not_come(network: Callable[[int], Network], tmp_path: Path) -> None:
    hosts = network(5)
    addresses = [hosts.addresses[host] for host in range(5)]
    ports = [20000 + rank for rank in range(5)]  # below those that connections get
    command = [program.PROGRAM, "check", "--wait", "block", *WORDS, "--start-timeout", "3s", "--output", "r"]
    runs = [
        program.Run(
            hosts.on(host, *command), tmp_path, program.explicit_environment(addresses, ports, host), timeout=90
        )
        for host in range(4)
    ]
    ends = finish(runs)
    document = json.loads(ends[0].out)
    assert [end.status for end in ends] == [1, 1, 1, 1]
    (absent,) = [one for one in document["problems"] if one["kind"] == "ranks_absent"]
    assert absent["grade"] == "bad"
    assert absent["ranks"] == [4]
    assert [part["why_not"] for part in document["parts"]] == [None, None, None]
    numbers = {one["name"]: one for one in document["numbers"]}
    assert numbers["bisection"]["bytes_per_s"] > 0
