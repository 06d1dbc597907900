# SPDX-License-Identifier: Apache-2.0
"""Topologies over several hosts: a slow host shows as a star's centre, in whose rate is last, and in the verdict."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import pytest
from network import Network
from ranks import finish, started

Make = Callable[[int], Network]
HOSTS = [0, 1, 2, 3]
SLOW = 2
WORDS = ["--pattern", "complete2", "--iterations", "20", "--warmup", "2", "--repeat", "5", "--message-size", "16KiB"]


def measured(hosts: Network, folder: Path, *words: str) -> dict[str, Any]:
    """The summary of a run with one rank on each of four hosts."""
    options = ["--iterations", "10", "--warmup", "1", "--message-size", "16KiB", *words]
    with started(hosts, HOSTS, folder, *options, benchmark="topology") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * len(HOSTS), [end.err for end in ends]
    with h5py.File(folder / "r.h5") as file:
        summary: dict[str, Any] = json.loads(file["summary"][()])
    return summary


def test_the_star_round_a_slow_host_is_slow(network: Make, tmp_path: Path) -> None:
    hosts = network(len(HOSTS))
    hosts.slow_down(SLOW)
    summary = measured(hosts, tmp_path, "--pattern", "star-each")
    assert [one["name"] for one in summary["topologies"]] == [f"star:{rank}" for rank in HOSTS]
    rates = [cell["exchange"]["at_median"]["total_bytes_per_s"] for cell in summary["cells"]]
    # 96 KiB cross the slow cable where its host is the centre, 32 KiB otherwise.
    assert min(range(len(HOSTS)), key=lambda rank: rates[rank]) == SLOW
    # What another star waits for is a message from or to the slow host.
    for rank, cell in enumerate(summary["cells"]):
        slowest = cell["slowest_channel"]
        assert rank == SLOW or SLOW in (slowest["from"], slowest["to"]), slowest


def test_the_slow_host_is_named_in_a_ring_and_in_pairs(network: Make, tmp_path: Path) -> None:
    hosts = network(len(HOSTS))
    hosts.slow_down(SLOW)
    summary = measured(hosts, tmp_path, "--pattern", "halves,ring2", "--verify")
    assert summary["verified_bytes"] > 0
    halves, ring2 = summary["cells"]
    # 0 meets 2 and 1 meets 3.
    assert {halves["ranks"]["slowest"]["rank"], halves["ranks"]["fastest"]["rank"]} in ({0, 1}, {0, 3}, {2, 1}, {2, 3})
    assert halves["ranks"]["slowest"]["rank"] in (0, SLOW)
    assert SLOW in (ring2["slowest_channel"]["from"], ring2["slowest_channel"]["to"])
    assert halves["fairness"] < 0.9


def names_in(hosts: Network, folder: Path) -> list[str]:
    """Whom an exchange of six hosts with each other names."""
    with started(hosts, list(range(6)), folder, *WORDS, benchmark="topology") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 6, [end.err for end in ends]
    with h5py.File(folder / "r.h5") as file:
        (said,) = json.loads(file["summary"][()])["diagnoses"]
    assert said["diagnosis"]["untested"] is None
    return [fault["name"] for fault in said["diagnosis"]["faults"]]


def test_the_slow_host_is_named_where_all_exchange_with_all(network: Make, tmp_path: Path) -> None:
    hosts = network(6)
    hosts.slow_down(SLOW)
    # Where something else keeps the cores of this machine busy, all messages scatter more than one host is slow.
    for attempt in range(3):
        (folder := tmp_path / str(attempt)).mkdir()
        if names := names_in(hosts, folder):
            break
    assert names == [f"host {hosts.names[SLOW]}"]


@pytest.mark.parametrize("damage", ["none", "a trunk"])
def test_where_no_host_is_slow_none_is_named(network: Make, tmp_path: Path, damage: str) -> None:
    hosts = network(6)
    if damage == "a trunk":
        hosts.plug_into_second_switch([3, 4, 5])
    assert names_in(hosts, tmp_path) == []


def test_a_slow_link_is_named_since_it_is_slow_alone(network: Make, tmp_path: Path) -> None:
    hosts = network(6)
    hosts.slow_down_between(1, 4)
    assert names_in(hosts, tmp_path) == [f"the link between {hosts.names[1]} and {hosts.names[4]}"]


def test_an_outage_that_heals_is_a_stall(network: Make, tmp_path: Path) -> None:
    hosts = network(3)
    words = ["--pattern", "complete2", "--message-size", "16KiB", "--duration", "9s", "--timeout", "30s"]
    with started(hosts, [0, 1, 2], tmp_path, *words, benchmark="topology") as runs:
        runs[0].await_err(r"elapsed")
        time.sleep(2)
        hosts.cut_between(1, 2)
        time.sleep(2)
        hosts.heal_between(1, 2)
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 3, ends[0].err
    with h5py.File(tmp_path / "r.h5") as file:
        summary = json.loads(file["summary"][()])
    (finding,) = [one for one in summary["findings"] if one["id"] == "stalls"]
    assert finding["message"] in ends[0].out
    sent_again = finding["evidence"].split("sent again: ")[1]
    assert re.search("rank 1 on node1 -> rank 2 on node2|rank 2 on node2 -> rank 1 on node1", sent_again), sent_again
    told = re.search(r"at (\d+\.\d+) s for (\d+\.\d+) s", finding["evidence"])
    assert told
    begin_s, length_s = map(float, told.groups())
    assert {1, 2} <= {*finding["ranks"]}  # others may have sent something again, too
    assert {"node1", "node2"} <= {*finding["host_names"]}
    assert finding["list"] == "only_under_load"
    assert 0.1 < finding["time_share"] < 0.9
    assert {(one["name"], one["unit"]) for one in finding["numbers"]} == {
        ("begin of stall", "s"), ("length of stall", "s"), ("TCP segments sent again", "1")
    }  # fmt: skip
    assert 1 < begin_s < 8
    assert 1.5 < length_s < 8
    # The slice that had it counts its time.
    (point,) = [
        one for one in summary["load"] if one["begin_s"] - 0.1 < begin_s < one["begin_s"] + one["elapsed_s"] - 0.1
    ]
    assert point["elapsed_s"] > length_s - 0.01, (told[0], summary["load"])
