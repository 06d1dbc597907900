# SPDX-License-Identifier: Apache-2.0
"""Congestion over several hosts: victims that share a narrow cable with the load are told from those that do not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import h5py
import program
import pytest
from network import Network
from ranks import finish, started

Make = Callable[[int], Network]
NUM_HOSTS = 6
WORDS = ["--load", "bisection", "--intensity", "100", "--rounds", "6", "--test-time", "100ms", "--interval", "1ms",
         "--load-size", "16KiB", "--message-size", "4KiB"]  # fmt: skip


def victims_of(folder: Path) -> list[int]:
    """Whom the seed chooses, one rank a host."""
    words = ["congestion", "--dry-run", "--ranks", str(NUM_HOSTS), "--ranks-per-host", "1", *WORDS]
    found = re.search(r"2 victims \((\d)(?:,|-)(\d)\)", program.complete([program.PROGRAM, *words], folder).out)
    assert found
    return [int(found[1]), int(found[2])]


def measured(hosts: Network, folder: Path, *words: str) -> dict[str, Any]:
    """The summary of a run with one rank on each host."""
    with started(hosts, range(NUM_HOSTS), folder, *WORDS, *words, benchmark="congestion") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * NUM_HOSTS, [end.err for end in ends]
    with h5py.File(folder / "r.h5") as file:
        summary: dict[str, Any] = json.loads(file["summary"][()])
    return summary


def impact_on(summary: dict[str, Any], test: str, shared: str = "all") -> dict[str, Any]:
    found = [one for one in summary["impacts"] if (one["test"], one["shared"]) == (test, shared)]
    assert len(found) == 1, found
    return found[0]


def behind_a_narrow_cable(hosts: Network, behind: Sequence[int]) -> None:
    """These hosts reach the others through one cable; all hosts' own cables are as narrow as that."""
    hosts.plug_into_second_switch(behind)
    for host in range(NUM_HOSTS):
        hosts.slow_down(host)


@pytest.mark.parametrize("is_shared", [True, False])
def test_a_shared_cable_is_told_from_one_that_is_not(is_shared: bool, network: Make, tmp_path: Path) -> None:
    """With half of the load and one of the victims behind the cable both meet on it; with both victims they do not."""
    one, other = victims_of(tmp_path)
    load = [host for host in range(NUM_HOSTS) if host not in (one, other)]
    behind = [one, *load[:2]] if is_shared else [one, other]
    hosts = network(NUM_HOSTS)
    behind_a_narrow_cable(hosts, behind)
    cables = [f"node{host} {'behind' if host in behind else 'before'}" for host in range(NUM_HOSTS)]
    (tmp_path / "network.txt").write_text("\n".join([*cables, "before behind", ""]))
    summary = measured(hosts, tmp_path, "--topology", str(tmp_path / "network.txt"))
    assert summary["victims"] == [one, other]
    assert summary["victims_are_hosts"]
    shared = "switch" if is_shared else "nothing"
    latency, bandwidth = (impact_on(summary, test, shared) for test in ("latency", "bandwidth"))
    if is_shared:
        # 64 KiB of each of two senders before a message, at 50 Mbit/s: 20 ms.
        assert latency["median"]["estimate"] > 10, latency
        assert latency["median"]["low"] > 1
        assert bandwidth["mean"]["estimate"] > 2, bandwidth
        assert summary["worst"] is not None
    else:
        # Processes of one machine hold each other up, whatever cables they use: by less than the queue would.
        assert latency["median"]["estimate"] < 10, latency
        assert bandwidth["mean"]["estimate"] < 2, bandwidth
    assert summary["loads"][0]["bytes_per_s"] > 1e6
