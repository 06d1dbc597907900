# SPDX-License-Identifier: Apache-2.0
"""Pairs, ranks and hosts that are lost during a link test are left out and told; the rest is measured."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import program
import pytest
from network import Network
from ranks import finish, started

pytestmark = [pytest.mark.slow, pytest.mark.any_load]

Make = Callable[[int], Network]
PLAIN = ["--message-size", "1000", "--messages", "100", "--retest", "2", "--timeout", "6s"]
# A few seconds of work, in which every rank exchanges messages with every other all the time; on a busy machine, where
# one pass over all pairs takes longer than the least time, there is a second one.
LONG = [
    *("--message-size", "1000", "--messages", "1000", "--min-time", "2s", "--repeat", "2"),
    *("--retest", "0", "--timeout", "4s"),
]


@pytest.fixture
def network(network: Make) -> Make:
    """Hosts with slow cables: ranks sleep most of the time, and leave the processors to other tests."""

    def make(num_hosts: int) -> Network:
        hosts = network(num_hosts)
        for host in range(num_hosts):
            hosts.slow_down(host, "40mbit")
        return hosts

    return make


def await_first_round(runs: list[program.Run]) -> None:
    """All links are open by then, and all pairs are still to be measured once more."""
    runs[0].await_err(r" 1/\d")


def finding_of(path: Path, name: str = "pairs_not_measured") -> dict[str, Any]:
    with h5py.File(path) as file:
        summary: dict[str, Any] = json.loads(file["summary"][()])
    (finding,) = [one for one in summary["findings"] if one["id"] == name]
    return finding


def missing_pairs(path: Path) -> set[tuple[int, int]]:
    """Of the last slice. What is lost in it may have been measured in it before."""
    with h5py.File(path) as file:
        *_, last = file["repeats"].values()
        count = np.asarray(last["count"][-1])
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


def test_a_host_that_is_not_in_the_network(network: Make, tmp_path: Path) -> None:
    """Nothing refuses its connections. Ranks 1 and 5 are there, and find nobody."""
    hosts = network(4)
    hosts.cut(1)
    with started(hosts, [0, 1, 2, 3, 0, 1, 2, 3], tmp_path, *PLAIN, "--start-timeout", "4s") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [1, 4, 1, 1, 1, 4, 1, 1], ends[0].err
    finding = finding_of(tmp_path / "r.h5", "ranks_absent")
    assert finding["message"] == f"2 ranks did not join the run: {hosts.addresses[1]} (ranks 1,5)."
    assert missing_pairs(tmp_path / "r.h5") == {
        (a, b) for a in range(8) for b in range(8) if a != b and not {a, b}.isdisjoint({1, 5})
    }
    assert "rank 1 cannot reach rank 0" in ends[1].complaint


def test_a_rank_that_does_not_reach_the_one_above_it(network: Make, tmp_path: Path) -> None:
    """Ranks 3 and 1 are neighbours in the tree: rank 3 goes to rank 0, and only their pair is missing."""
    hosts = network(4)
    hosts.cut_between(1, 3)
    with started(hosts, [0, 1, 2, 3], tmp_path, *PLAIN, "--start-timeout", "4s") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 4, ends[0].err
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"] == "1 pair of ranks could not be measured: node1 and node3 do not reach each other."
    assert missing_pairs(tmp_path / "r.h5") == {(1, 3), (3, 1)}


@pytest.mark.parametrize(
    ("benchmark", "words"),
    [
        ("topology", ["--pattern", "complete2", "--message-size", "1000", "--iterations", "20"]),
        ("bisection", ["--message-size", "1000", "--rounds", "20", "--precision", "0"]),
    ],
)
def test_others_are_measured_all_the_same(network: Make, tmp_path: Path, benchmark: str, words: list[str]) -> None:
    """The two never reached each other; barriers among four ranks would need their link, too."""
    hosts = network(4)
    hosts.cut_between(2, 3)
    with started(hosts, [0, 1, 2, 3], tmp_path, *words, "--timeout", "6s", benchmark=benchmark) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 4, ends[0].err
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"] == "1 pair of ranks could not be measured: node2 and node3 do not reach each other."
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        if benchmark == "topology":
            assert file["topologies/0000/num_served"][0, 0].tolist() == [3, 3, 2, 2]
        else:
            send_to = file["bisection/send_to"][0]
            assert 3 not in send_to[2]
            assert {0, 1} <= set(send_to[2].tolist())


@pytest.mark.parametrize(("when", "movement"), [("before", "N-M-M"), ("meanwhile", "N-M-1")])
def test_a_sender_that_does_not_reach_its_io_rank(network: Make, tmp_path: Path, when: str, movement: str) -> None:
    """Its objects have no other way: nobody moves them, and all others go on."""
    hosts = network(4)
    if when == "before":
        hosts.cut_between(2, 3)
    words = ["--movement", movement, "--io-ranks", "2", "--target", "f%r" if movement == "N-M-M" else "f",
             "--object-size", "4KiB", "--objects", "2000000", "--time-limit", "2s", "--repeat", "2", "--delete",
             "--timeout", "3s"]  # fmt: skip
    with started(hosts, [0, 1, 2, 3], tmp_path, *words, benchmark="io") as runs:
        if when == "meanwhile":
            program.await_that(lambda: any(file.stat().st_size > 1 << 20 for file in tmp_path.glob("f*")))
            hosts.cut_between(2, 3)
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 4, [end.err for end in ends]
    assert ends[0].complaint == "leadline: not all pairs of ranks could be measured: see the findings"
    assert [end.complaints for end in ends[1:]] == [[]] * 3
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"] == "1 pair of ranks could not be measured: node2 and node3 do not reach each other."
    assert finding_of(tmp_path / "r.h5", "senders_without_link")["message"].startswith("Rank 3 (to rank 2) had no link")
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        assert file["io/io_ranks"][:].tolist() == [0, 2]
        first, *others = json.loads(file["summary"][()])["phases"]
        objects = file["io/ranks/num_objects"][:]
    assert first["is_complete"] == (when == "before")
    if when == "meanwhile":
        assert first["error"].startswith("rank 2 on node2 and rank 3 on node3 have lost their link (rank "), first
    assert all(one["is_complete"] and one["bytes_per_s"] > 0 and one["num_mismatches"] == 0 for one in others), others
    for phase in objects[0 if when == "before" else 1 :]:
        assert (phase > 0).tolist() == [True, True, True, False]
    assert list(tmp_path.glob("f*")) == []


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_io_ranks_that_do_not_reach_each_other_meet_without_their_link(
    network: Make, tmp_path: Path, when: str
) -> None:
    hosts = network(6)
    if when == "before":
        hosts.cut_between(2, 4)
    words = ["--movement", "N-M-1", "--io-ranks", "3", "--target", "f", "--object-size", "4KiB", "--barrier",
             "--objects", "2000000", "--time-limit", "2s", "--repeat", "2", "--delete", "--timeout", "3s"]  # fmt: skip
    with started(hosts, range(6), tmp_path, *words, benchmark="io") as runs:
        if when == "meanwhile":
            program.await_that(lambda: any(file.stat().st_size > 1 << 20 for file in tmp_path.glob("f*")))
            hosts.cut_between(2, 4)
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 6, [end.err for end in ends]
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"] == "1 pair of ranks could not be measured: node2 and node4 do not reach each other."
    finding = finding_of(tmp_path / "r.h5", "barriers_without_link")
    assert finding["message"].startswith("I/O ranks 2 and 4 had no link between them;")
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1
        first, *others = json.loads(file["summary"][()])["phases"]
        assert (file["io/ranks/num_objects"][:] > 0).all()
    assert first["is_complete"] == (when == "before")
    assert all(one["is_complete"] and one["bytes_per_s"] > 0 and one["num_mismatches"] == 0 for one in others), others


def test_a_random_pattern_may_have_no_pair_but_one_that_is_lost(network: Make, tmp_path: Path) -> None:
    """Of three ranks: others follow, which have one."""
    hosts = network(3)
    hosts.cut_between(1, 2)
    words = ["--message-size", "1000", "--rounds", "20", "--precision", "0", "--timeout", "6s"]
    with started(hosts, [0, 1, 2], tmp_path, *words, benchmark="bisection") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 3, ends[0].err
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["bisection/patterns/num_connections"][0].tolist() == [2] * 20
        assert set(file["bisection/send_to"][0][0].tolist()) == {1, 2}


@pytest.mark.parametrize("one_way", [False, True], ids=["both-ways", "one-way"])
def test_two_hosts_are_cut_from_each_other_in_the_run(network: Make, tmp_path: Path, one_way: bool) -> None:
    hosts = network(4)
    with started(hosts, [0, 1, 2, 3], tmp_path, *LONG, timeout=150) as runs:
        await_first_round(runs)
        if one_way:
            hosts.drop(1, 2)
        else:
            hosts.cut_between(1, 2)
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 4, ends[0].err
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"] == "1 pair of ranks could not be measured: node1 and node2 do not reach each other."
    assert missing_pairs(tmp_path / "r.h5") <= {(1, 2), (2, 1)}


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


@pytest.mark.parametrize(("one", "other"), [(0, 1), (1, 3)], ids=["with-rank-0", "without"])
def test_two_hosts_whose_pair_the_control_plane_needs(network: Make, tmp_path: Path, one: int, other: int) -> None:
    """Only their own pair is missing: the control plane finds another way."""
    hosts = network(4)
    with started(hosts, [0, 1, 2, 3], tmp_path, *LONG, timeout=150) as runs:
        await_first_round(runs)
        hosts.cut_between(one, other)
        ends = finish(runs)
    assert [end.status for end in ends] == [1] * 4, ends[0].err
    finding = finding_of(tmp_path / "r.h5")
    assert finding["message"].endswith(f": node{one} and node{other} do not reach each other.")
    assert missing_pairs(tmp_path / "r.h5") <= {(one, other), (other, one)}


def lost_ranks_of(path: Path) -> dict[str, Any]:
    return finding_of(path, "ranks_lost")


def leadline_of(run: program.Run) -> int:
    """The process of that rank, which other programs have started."""
    (pid,) = [pid for pid in run.processes() if Path(f"/proc/{pid}/comm").read_text().strip() == "leadline"]
    return pid


@pytest.mark.parametrize(
    ("number", "victim"),
    [(signal.SIGKILL, 1), (signal.SIGKILL, 4), (signal.SIGSTOP, 1), (signal.SIGKILL, 0), (signal.SIGSTOP, 0)],
    ids=["killed", "leaf", "frozen", "root", "frozen-root"],
)
def test_a_rank_is_left_out_and_the_rest_is_measured(
    network: Make, tmp_path: Path, number: signal.Signals, victim: int
) -> None:
    """Rank 1 has others below it in the tree of the control plane, and takes the part of rank 0 where that is lost."""
    hosts = network(5)
    with started(hosts, range(5), tmp_path, *LONG, timeout=150) as runs:
        await_first_round(runs)
        os.kill(leadline_of(runs[victim]), number)
        ends = [run.finish() for rank, run in enumerate(runs) if rank != victim]
    assert [end.status for end in ends] == [1] * 4, ends[0].err
    assert ends[0].complaints[0].startswith(f"leadline: rank {victim} on node{victim} "), ends[0].complaints
    assert ends[0].complaints[1:] == ["leadline: ranks were lost during the run: see the findings"]
    assert [end.complaints for end in ends[1:]] == [[]] * 3
    finding = lost_ranks_of(tmp_path / "r.h5")
    assert finding["message"] == f"1 rank was lost during the run: node{victim} (rank {victim})."
    assert finding["message"] in ends[0].out
    assert [pair for pair in missing_pairs(tmp_path / "r.h5") if victim not in pair] == []


def test_a_host_is_left_out_whose_cable_is_cut(network: Make, tmp_path: Path) -> None:
    hosts = network(4)
    host_of = [host for host in range(4) for _ in range(2)]
    with started(hosts, host_of, tmp_path, *LONG, timeout=150) as runs:
        await_first_round(runs)
        hosts.cut(1)
        ends = finish(runs)
    assert [end.status for end in ends] == [1, 1, 4, 4, 1, 1, 1, 1], ends[0].err
    assert lost_ranks_of(tmp_path / "r.h5")["message"] == "2 ranks were lost during the run: node1 (ranks 2-3)."
    assert all("node1" in line for end in ends[2:4] for line in end.complaints)
    assert [end.complaints for end in (ends[1], *ends[4:])] == [[]] * 5
    assert [pair for pair in missing_pairs(tmp_path / "r.h5") if not {2, 3} & set(pair)] == []


def test_all_hosts_but_that_of_rank_0_are_lost(network: Make, tmp_path: Path) -> None:
    """It is the host of rank 0, then, and the others go on."""
    hosts = network(4)
    with started(hosts, [0, 0, 1, 2, 3], tmp_path, *LONG, timeout=150) as runs:
        await_first_round(runs)
        hosts.cut(0)
        ends = finish(runs)
    assert [end.status for end in ends] == [4, 4, 1, 1, 1], [end.err for end in ends]
    assert lost_ranks_of(tmp_path / "r.h5")["message"] == "2 ranks were lost during the run: node0 (ranks 0-1)."
    assert [pair for pair in missing_pairs(tmp_path / "r.h5") if not {0, 1} & set(pair)] == []
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 1


def test_most_hosts_are_lost_one_after_the_other(network: Make, tmp_path: Path) -> None:
    """Nobody knows whether these have ended, so rank 0 does not go on when more are lost than are left."""
    hosts = network(4)
    with started(hosts, range(4), tmp_path, *LONG[:4], "--min-time", "1h", *LONG[8:], timeout=150) as runs:
        await_first_round(runs)
        for host in (3, 2):
            hosts.cut(host)
            runs[0].await_err(f"The run goes on without rank {host}\n")
        hosts.cut(1)
        ends = finish(runs)
    assert [end.status for end in ends] == [4] * 4, [end.err for end in ends]
    assert "goes on without rank 1" not in ends[0].err
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["status/complete"][()] == 0


def test_half_of_the_hosts_without_rank_0_end(network: Make, tmp_path: Path) -> None:
    """They cannot know whether the others go on."""
    hosts = network(2)
    with started(hosts, [0, 0, 1, 1], tmp_path, *LONG, timeout=150) as runs:
        await_first_round(runs)
        hosts.cut(0)
        ends = finish(runs)
    assert [end.status for end in ends] == [1, 1, 4, 4], [end.err for end in ends]
    assert lost_ranks_of(tmp_path / "r.h5")["message"] == "2 ranks were lost during the run: node1 (ranks 2-3)."
