# SPDX-License-Identifier: Apache-2.0
"""Hosts and ways between them that are lost before or in a run: the cause is named, and nobody healthy is blamed."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from network import Network
from ranks import finish, started

pytestmark = [pytest.mark.slow, pytest.mark.any_load]

Make = Callable[[int], Network]
TIMEOUT = ["--timeout", "4s", "--strict-ranks"]
# Some minutes of work, in which every rank exchanges messages with every other all the time.
ENDLESS = {
    "link": [
        "--message-size",
        "1000-1060+1",
        "--messages",
        "5000",
        "--batches",
        "500",
        "--retest",
        "0",
    ],
    "topology": ["--message-size", "1000", "--pattern", "complete2", "--duration", "100s"],
    "bisection": ["--message-size", "1000-1060+1"],
}


def do_not_reach(one: int, other: int) -> str:
    """Of two ranks, each alone on the host of its number, in either order."""
    ranks = [f"rank {rank} on node{rank}" for rank in (one, other)]
    return f"leadline: ({ranks[0]} and {ranks[1]}|{ranks[1]} and {ranks[0]}) do not reach each other in "


@pytest.mark.parametrize("benchmark", ENDLESS)
def test_two_hosts_that_never_reached_each_other(network: Make, tmp_path: Path, benchmark: str) -> None:
    hosts = network(3)
    hosts.cut_between(1, 2)
    with started(hosts, [0, 1, 2], tmp_path, *ENDLESS[benchmark], *TIMEOUT, benchmark=benchmark) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [4] * 3
    assert re.match(do_not_reach(1, 2), ends[0].complaint), ends[0].complaint
    assert [end.complaints for end in ends[1:]] == [[], []]


@pytest.mark.parametrize("benchmark", ENDLESS)
@pytest.mark.parametrize("pair", [(1, 2), (1, 3)], ids=["leaves", "parent-and-child"])
def test_two_hosts_are_cut_from_each_other(
    network: Make, tmp_path: Path, benchmark: str, pair: tuple[int, int]
) -> None:
    hosts = network(4)
    with started(hosts, [0, 1, 2, 3], tmp_path, *ENDLESS[benchmark], *TIMEOUT, benchmark=benchmark) as runs:
        runs[0].await_err(r"\S")
        time.sleep(1)
        hosts.cut_between(*pair)
        ends = finish(runs)
    assert [end.status for end in ends] == [4] * 4
    assert re.match(do_not_reach(*pair), ends[0].complaint), ends[0].complaint
    assert sum(len(end.complaints) for end in ends) == 1


@pytest.mark.parametrize("victim", [0, 1, 2])
def test_the_cable_of_a_host_is_cut(network: Make, tmp_path: Path, victim: int) -> None:
    hosts = network(3)
    with started(hosts, [0, 1, 2], tmp_path, *ENDLESS["link"], *TIMEOUT) as runs:
        runs[0].await_err(r"\S")
        hosts.cut(victim)
        ends = finish(runs)
    assert [end.status for end in ends] == [4] * 3
    if victim == 0:
        assert "leadline: rank 0 on node0 has heard nothing from any other host for 4 s" in ends[0].complaint
    else:
        assert f"leadline: rank {victim} on node{victim} has been silent for 4 s" in ends[0].complaint
    for end in ends[1:]:  # who cannot be told says what it knows, and blames nobody
        for line in end.complaints:
            assert "has heard nothing from rank 0 on node0 for 4 s" in line


def test_a_long_stall_is_told_while_it_lasts(network: Make, tmp_path: Path) -> None:
    hosts = network(3)
    with started(hosts, [0, 1, 2], tmp_path, *ENDLESS["link"], "--strict-ranks", "--timeout", "12s") as runs:
        runs[0].await_err(r"\S")
        hosts.cut_between(1, 2)
        runs[0].await_err(r"leadline: rank (1|2) on node(1|2) has waited for rank (1|2) on node(1|2) for 6 s in ")
        ends = finish(runs)
    assert [end.status for end in ends] == [4] * 3
