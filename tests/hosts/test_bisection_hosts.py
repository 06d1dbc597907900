# SPDX-License-Identifier: Apache-2.0
"""Random matchings over several hosts: a slow host is slow with everybody, a shared cable only when it is shared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
from network import Network
from ranks import finish, started

Make = Callable[[int], Network]
HOSTS = [0, 1, 2, 3, 4, 5]
SLOW = 2


def measured(hosts: Network, folder: Path, *words: str) -> dict[str, Any]:
    """The summary of a run with one rank on each of six hosts, its patterns all measured."""
    options = ["--exchanges", "4", "--warmup", "1", "--message-size", "64KiB", "--precision", "0", *words]
    with started(hosts, HOSTS, folder, *options, benchmark="bisection") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * len(HOSTS), [end.err for end in ends]
    with h5py.File(folder / "r.h5") as file:
        summary: dict[str, Any] = json.loads(file["summary"][()])
    return summary


def test_a_slow_host_is_named(network: Make, tmp_path: Path) -> None:
    hosts = network(len(HOSTS))
    hosts.slow_down(SLOW)
    summary = measured(hosts, tmp_path, "--rounds", "12")
    assert [place["host"] for place in summary["slow_components"]] == [hosts.names[SLOW]]
    slowest = summary["slow_connections"][0]
    assert SLOW in (slowest["from"], slowest["to"])
    assert slowest["slow_alone"]
    assert any(finding["id"] == "slow_host" for finding in summary["findings"])


def test_a_cable_that_pairs_share_is_slow_only_under_load(network: Make, tmp_path: Path) -> None:
    hosts = network(len(HOSTS))
    for host in HOSTS:
        hosts.slow_down(host)
    hosts.plug_into_second_switch(HOSTS[3:])
    summary = measured(hosts, tmp_path, "--rounds", "20", "--retest", "4")
    # One pair or three cross the cable, which carries one: of all 15 matchings 6 have three.
    (size,) = summary["sizes"]
    assert size["relative"]["mean"] < 0.95
    assert summary["slow_components"] == []
    for slow in summary["slow_connections"]:
        assert (slow["from"] in HOSTS[:3]) != (slow["to"] in HOSTS[:3]), slow
        assert slow["alone_time_ns"] < 0.7 * slow["time_ns"], slow
        assert not slow["slow_alone"], slow
