# SPDX-License-Identifier: Apache-2.0
"""The transport verbs over devices in software, in a virtual machine: one per rank, joined by a switch."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
from machine import Done
from result import ResultFile, expect_topology_without

Ended = dict[str, Done]


def fine(done: Done) -> ResultFile:
    """The file of a run that ended well."""
    assert done.status == 0, f"status {done.status}: {done.out[-2000:]}{done.err[-2000:]}"
    result = ResultFile(done.folder / "r.h5")
    assert result.complete
    return result


def refusal(done: Done, status: int) -> str:
    """The one line of a run that was refused."""
    complaints = [line for line in done.err.splitlines() if line.startswith("leadline: ")]
    lines = [line for line in complaints if "died (killed by signal" not in line]  # the launcher's word beside it
    assert (done.status, len(lines)) == (status, 1), f"status {done.status}: {done.err[-2000:]}"
    return lines[0]


def has_every_pair(result: ResultFile, size: int) -> bool:
    return np.array_equal(result.measured(size=size), result.every_pair())


@pytest.mark.slow
@pytest.mark.parametrize("part", ["links", "many"])
def test_contract(ended: Ended, part: str) -> None:
    done = ended[f"contract-{part}"]
    assert done.status == 0, done.out[-4000:] + done.err[-1000:]
    assert "PASSED" in done.out


@pytest.mark.slow
@pytest.mark.parametrize("job", ["matrix", "yielding"])
def test_every_rank_uses_a_device_of_its_own(ended: Ended, job: str) -> None:
    result = fine(ended[job])
    assert result.num_ranks == (4 if job == "matrix" else 2)
    assert all(has_every_pair(result, size) for size in range(5))
    assert result.provenance["transport_device"] == "rxe0 port 1 gid 1"
    assert result.provenance["transport_library"].startswith("libibverbs ")


@pytest.mark.slow
@pytest.mark.parametrize("job", ["spinning", "small-mtu", "large-window"])
def test_both_ranks_on_one_device(ended: Ended, job: str) -> None:
    result = fine(ended[job])
    assert has_every_pair(result, len(result.sizes) - 1)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["semidirectional", "unidirectional", "bidirectional"])
def test_messages_may_be_written(ended: Ended, direction: str) -> None:
    result = fine(ended[f"write-{direction}"])
    assert all(has_every_pair(result, size) for size in range(5))


@pytest.mark.slow
@pytest.mark.parametrize("job", ["write-many", "lossy"])
def test_many_ranks(ended: Ended, job: str) -> None:
    fine(ended[job])


@pytest.mark.slow
@pytest.mark.parametrize("job", ["topologies", "topologies-written"])
def test_exchanges_with_neighbours(ended: Ended, job: str) -> None:
    done = ended[job]
    assert done.status == 0, done.err[-2000:]


@pytest.mark.slow
def test_a_rank_on_each_host(ended: Ended) -> None:
    result = fine(ended["hosts"])
    assert result.hosts == ["node0", "node1", "node2", "node3"]
    assert has_every_pair(result, 0)


LEFT = [True, True, False, True]  # without rank 2


def incomplete(done: Done) -> ResultFile:
    """The file of a link test that left out what could not be measured."""
    assert done.status == 1, f"status {done.status}: {done.out[-2000:]}{done.err[-2000:]}"
    result = ResultFile(done.folder / "r.h5")
    assert result.complete
    return result


def went_on_without(rank: int, done: Done) -> None:
    """The status and the words of a run that has lost it."""
    assert done.status == 1, f"status {done.status}: {done.out[-2000:]}{done.err[-2000:]}"
    assert f". The run goes on without rank {rank}\n" in done.err
    assert f"1 rank was lost during the run: rank {rank} on " in done.out
    assert "could not be measured" not in done.out, "no pair of the others is lost"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_link_test_goes_on_without_a_rank(ended: Ended, how: str) -> None:
    done = ended[f"link-without-{how}"]
    went_on_without(2, done)
    result = incomplete(done)
    assert has_every_pair(result, 0)
    assert np.array_equal(result.measured(size=3), result.every_pair() & np.outer(LEFT, LEFT))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_a_topology_test_goes_on_without_a_rank(ended: Ended, how: str) -> None:
    done = ended[f"topology-without-{how}"]
    went_on_without(2, done)
    expect_topology_without(done.folder / "r.h5", 2)


@pytest.mark.slow
def test_another_rank_takes_the_part_of_rank_0(ended: Ended) -> None:
    done = ended["bisection-without-rank-0"]
    went_on_without(0, done)
    with h5py.File(done.folder / "r.h5") as file:
        assert file["status/complete"][()] == 1
        num = int((file["bisection/patterns/num_connections"][0] > 0).sum())
        send_to = file["bisection/send_to"][0, :, num - 1].tolist()
    assert (send_to[0], send_to.count(-1)) == (-1, 2), "one is lost, and one of three rests"


@pytest.mark.slow
def test_a_funnel_goes_on_without_a_sender(ended: Ended) -> None:
    done = ended["funnel-without-killed"]
    went_on_without(2, done)
    with h5py.File(done.folder / "r.h5") as file:
        assert file["status/complete"][()] == 1
        assert (file["io/ranks/num_objects"][1] > 0).tolist() == LEFT


@pytest.mark.slow
def test_the_others_begin_without_a_rank_that_does_not_come(ended: Ended) -> None:
    done = ended["host-absent"]
    result = incomplete(done)
    assert "leadline: rank 2 did not join within 6 s" in done.err
    assert np.array_equal(result.measured(size=0), result.every_pair() & np.outer(LEFT, LEFT))


@pytest.mark.slow
def test_pairs_that_do_not_reach_each_other_are_left_out(ended: Ended) -> None:
    """Their ranks hear each other over the control plane."""
    done = ended["device-cut-off"]
    result = incomplete(done)
    assert "3 pairs of ranks could not be measured" in done.out
    assert has_every_pair(result, 0)
    assert np.array_equal(result.measured(size=3), result.every_pair() & np.outer(LEFT, LEFT))


@pytest.mark.slow
def test_a_rank_that_dies_ends_the_run_if_asked(ended: Ended) -> None:
    assert "rank 1" in refusal(ended["killed"], 4)


@pytest.mark.slow
def test_facts_name_devices_addresses_and_limits(ended: Ended) -> None:
    done = ended["facts"]
    assert done.status == 0
    for words in ("libibverbs ", "rxe0, software over v0", "port 1 active, Ethernet", "gid 1 RoCE v2 10.88.0.1"):
        assert words in done.out
    assert "rxe4, port 1 down" in done.out
    assert "locked memory unlimited" in done.out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "status", "words"),
    [
        ("no-such-device", 3, ['"nosuch"', "rxe0, rxe1"]),
        ("device-down", 3, ["rxe4 port 1 is down"]),
        ("network-down", 3, ["v4"]),
        ("no-such-port", 3, ["rxe0 has no port 2"]),
        ("no-such-gid", 3, ["no GID with index 77", "0, 1"]),
        ("no-such-mtu", 2, ['"300"', "256"]),
        ("no-such-timeout", 2, ['"32"', "ack-timeout", "1 to 31"]),
        ("no-such-setting", 2, ['"frobnicate"', "device, port, gid-index"]),
        ("too-long", 4, ["16777216 bytes", "its limit is 8388608"]),
        ("little-memory", 3, ["Cannot allocate memory", "ulimit -l), now 64"]),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(ended: Ended, job: str, status: int, words: list[str]) -> None:
    line = refusal(ended[job], status)
    assert all(word in line for word in words), line
