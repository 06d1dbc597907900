# SPDX-License-Identifier: Apache-2.0
"""Ranks that do not reach each other though the control plane does: the pair is left out, told, the rest measured."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from network import Network
from ranks import finish, started

pytestmark = pytest.mark.slow

Make = Callable[[int], Network]
PLAIN = ["--message-size", "1000", "--messages", "100", "--retest", "2", "--timeout", "6s"]
# Half a minute of work, in which every rank exchanges messages with every other all the time.
LONG = ["--message-size", "1000-1010+1", "--messages", "3000", "--retest", "0", "--timeout", "6s"]


def finding_of(path: Path) -> dict[str, Any]:
    with h5py.File(path) as file:
        summary: dict[str, Any] = json.loads(file["summary"][()])
    (finding,) = [one for one in summary["findings"] if one["id"] == "pairs_not_measured"]
    return finding


def missing_pairs(path: Path) -> set[tuple[int, int]]:
    """Of the last slice."""
    with h5py.File(path) as file:
        repeat = file["repeats/0000"]
        count = np.asarray(repeat["count"])
    while count.ndim > 2:
        count = count[-1]
    return {(int(a), int(b)) for a, b in zip(*np.nonzero(count == 0), strict=True) if a != b}


def test_two_hosts_that_never_reached_each_other(network: Make, tmp_path: Path) -> None:
    hosts = network(4)
    hosts.cut_between(2, 3)
    with started(hosts, [0, 1, 2, 3], tmp_path, *PLAIN) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 4, ends[0].err
    assert ends[0].complaint == "leadline: not all pairs of ranks could be measured: see the findings"
    assert [end.complaints for end in ends[1:]] == [[]] * 3
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"] == "1 pair of ranks could not be measured: node2 and node3 do not reach each other."
    assert "rank 2 on node2 and rank 3 on node3" in finding["evidence"]
    assert finding["message"] in ends[0].out
    assert missing_pairs(tmp_path / "r.h5") == {(2, 3), (3, 2)}


@pytest.mark.parametrize("one_way", [False, True], ids=["both-ways", "one-way"])
def test_two_hosts_are_cut_from_each_other_in_the_run(network: Make, tmp_path: Path, one_way: bool) -> None:
    hosts = network(4)
    with started(hosts, [0, 1, 2, 3], tmp_path, *LONG) as runs:
        runs[0].await_err(r"\S")
        time.sleep(1)
        if one_way:
            hosts.drop(1, 2)
        else:
            hosts.cut_between(1, 2)
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 4, ends[0].err
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"] == "1 pair of ranks could not be measured: node1 and node2 do not reach each other."
    assert missing_pairs(tmp_path / "r.h5") == {(1, 2), (2, 1)}


def test_a_host_whose_data_network_is_down(network: Make, tmp_path: Path) -> None:
    """The control plane has a network of its own. All neighbours of the host fall silent at once, so it is the host."""
    hosts = network(5)
    hosts.add_second_network(range(5))
    hosts.cut_second(3)
    ranks = [host for host in range(5) for _ in range(2)]
    with started(hosts, ranks, tmp_path, *PLAIN, "--interface", "eth1") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * len(ranks), ends[0].err
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"] == "16 pairs of ranks could not be measured: node3 does not reach 4 of 4 other hosts."


def test_two_hosts_whose_pair_the_control_plane_needs(network: Make, tmp_path: Path) -> None:
    hosts = network(4)
    with started(hosts, [0, 1, 2, 3], tmp_path, *LONG) as runs:
        runs[0].await_err(r"\S")
        time.sleep(1)
        hosts.cut_between(1, 3)
        ends = finish(runs)
    assert [end.status for end in ends] == [4] * 4, ends[0].err
    assert re.match(
        "leadline: rank ([13]) on node\\1 and rank ([13]) on node\\2 do not reach each other", ends[0].complaint
    ), ends[0].complaint
