# SPDX-License-Identifier: Apache-2.0
"""Patterns over several hosts: a slow host is slow with everybody, a shared cable only when it is shared, a slow way
between two hosts only in its own connection."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest
from network import Network
from ranks import finish, started

Make = Callable[[int], Network]
HOSTS = [0, 1, 2, 3, 4, 5]
SLOW = 2


def measured(hosts: Network, folder: Path, *words: str, exchanges: int = 4) -> dict[str, Any]:
    """The summary of a run with one rank on each of six hosts, its patterns all measured."""
    options = ["--exchanges", str(exchanges), "--warmup", "1", "--message-size", "64KiB", *words]
    with started(hosts, HOSTS, folder, *options, benchmark="bisection") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * len(HOSTS), [end.err for end in ends]
    with h5py.File(folder / "r.h5") as file:
        summary: dict[str, Any] = json.loads(file["summary"][()])
    return summary


def names_in(summary: dict[str, Any]) -> list[str]:
    """Of the faults of the only message size."""
    (slice_,) = summary["diagnoses"]
    return [one["name"] for one in slice_["diagnosis"]["faults"]]


def test_of_equal_hosts_none_is_named(network: Make, tmp_path: Path) -> None:
    hosts = network(len(HOSTS))
    for host in HOSTS:
        hosts.slow_down(host)
    assert names_in(measured(hosts, tmp_path, "--rounds", "20", "--precision", "0")) == []


def test_a_slow_host_is_named(network: Make, tmp_path: Path) -> None:
    hosts = network(len(HOSTS))
    hosts.slow_down(SLOW)
    summary = measured(hosts, tmp_path, "--rounds", "12", "--precision", "0")
    assert names_in(summary) == [f"host {hosts.names[SLOW]}"]
    slowest = summary["slow_connections"][0]
    assert SLOW in (slowest["from"], slowest["to"])
    assert slowest["slow_alone"]


@pytest.mark.parametrize(("pattern", "distance"), [("shift:1", 1), ("tornado:1", 2)])
def test_one_slow_way_of_a_pattern_slows_its_own_connection_alone(
    network: Make, tmp_path: Path, pattern: str, distance: int
) -> None:
    hosts, sender = network(len(HOSTS)), 3
    receiver = sender + distance
    hosts.slow_down_towards(sender, receiver)
    summary = measured(hosts, tmp_path, "--pattern", pattern, exchanges=40)
    (found,) = summary["patterns"]
    assert (found["slowest_from"], found["slowest_to"]) == (sender, receiver)
    with h5py.File(tmp_path / "r.h5") as file:
        times = file["bisection/time_ns"][0, :, 0]
        senders = file["bisection/receive_from"][0, :, 0]
    assert senders[receiver] == sender
    others = [times[host] for host in HOSTS if host != receiver]
    assert max(others) < times[receiver] / 2, times


def test_a_cable_that_pairs_share_is_slow_only_under_load(network: Make, tmp_path: Path) -> None:
    hosts = network(len(HOSTS))
    for host in HOSTS:
        hosts.slow_down(host)
    hosts.plug_into_second_switch(HOSTS[3:])
    summary = measured(hosts, tmp_path, "--rounds", "20", "--precision", "0", "--retest", "4")
    # One pair or three cross the cable, which carries one: of all 15 matchings 6 have three.
    (size,) = summary["sizes"]
    assert size["contention_share"]["mean"] < 0.95
    assert names_in(summary) == [], "no host is slow by itself"
    slow = [one for one in summary["slow_connections"] if one["alone_time_ns"] < 0.7 * one["time_ns"]]
    assert len(slow) >= 2, "the others are of the ranks that are slow with everybody"
    for one in slow:
        assert (one["from"] in HOSTS[:3]) != (one["to"] in HOSTS[:3]), one
    assert not any(one["slow_alone"] for one in summary["slow_connections"])
