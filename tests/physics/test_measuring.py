# SPDX-License-Identifier: Apache-2.0
"""What a link test of a simulated cluster shows: rounds, faults at their factor, load, second measurements."""

from __future__ import annotations

from itertools import combinations

import networks
import numpy as np
import pytest
from cluster import Cluster, Layout
from faults import Fault, Kind, Symptom, Way
from measuring import Measured, Plan, measure, num_rounds, pairs_of_round
from networks import Network
from noise import QUIET, Noise, Singles

KIB, MIB = 1 << 10, 1 << 20
STILL = Noise(jitter=0, pair_scatter=0, spike_share=0)


def run(
    network: Network, faults: list[Fault], size: int = KIB, layout: Layout | None = None, plan: Plan | None = None
) -> Measured:
    return measure(Cluster(network, layout or Layout()), faults, STILL, plan or Plan((size,), num_batches=1))


def times(network: Network, faults: list[Fault], size: int = KIB, layout: Layout | None = None) -> Singles:
    return run(network, faults, size, layout).slices[0].times_ns["median"]


@pytest.mark.parametrize("num_ranks", range(2, 35))
def test_every_pair_meets_once_and_nobody_twice_in_a_round(num_ranks: int) -> None:
    met: list[tuple[int, int]] = []
    for number in range(num_rounds(num_ranks)):
        first, second = pairs_of_round(num_ranks, number)
        ranks = np.concatenate([first, second])
        assert np.unique(ranks).size == ranks.size
        met += [(min(a, b), max(a, b)) for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    assert sorted(met) == list(combinations(range(num_ranks), 2))


@pytest.mark.parametrize("symptom", ["latency", "bandwidth"])
@pytest.mark.parametrize(
    ("kind", "place", "slow", "sound"),
    [
        ("rank", 1, (1, 2), (0, 2)),
        ("host", 1, (1, 2), (0, 2)),
        ("port", 1, (1, 2), (0, 2)),
        ("switch", 0, (0, 2), (2, 4)),
        ("uplink", 0, (0, 2), (0, 1)),
        ("link", 0, (0, 2), (0, 3)),
    ],
)
def test_a_fault_takes_its_factor(
    kind: Kind, place: int, symptom: Symptom, slow: tuple[int, int], sound: tuple[int, int]
) -> None:
    """Two hosts a leaf switch, a rank each: nothing is shared by more than one message at a time."""
    network = networks.fat_tree([2] * 3, 4)
    size = KIB if symptom == "latency" else MIB
    fault = Fault(kind, place, 2.0, symptom, other=2 if kind == "link" else -1)
    factor = times(network, [fault], size) / np.maximum(times(network, [], size), 1)
    assert factor[slow] == pytest.approx(2.0, rel=0.01)
    assert factor[slow[::-1]] == pytest.approx(2.0, rel=0.01)
    assert factor[sound] == pytest.approx(1.0, rel=0.01)


def test_two_latencies_add_up() -> None:
    without, with_both = (times(networks.star(6), faults) for faults in ([], bad_ports("latency")))
    assert with_both[1, 2] / without[1, 2] == pytest.approx(1 + 1 + 2, rel=0.01)
    assert with_both[1, 3] / without[1, 3] == pytest.approx(2, rel=0.01)


def test_of_two_bandwidths_the_lower_one_counts() -> None:
    without, with_both = (times(networks.star(6), faults, MIB) for faults in ([], bad_ports("bandwidth")))
    assert with_both[1, 2] / without[1, 2] == pytest.approx(3, rel=0.01)
    assert with_both[1, 3] / without[1, 3] == pytest.approx(2, rel=0.01)


def bad_ports(symptom: Symptom) -> list[Fault]:
    return [Fault("port", 1, 2, symptom), Fault("port", 2, 3, symptom)]


def test_a_slow_port_leaves_pairs_within_its_host_alone_and_a_slow_host_does_not() -> None:
    layout, network = Layout(2), networks.star(4)
    without = times(network, [], KIB, layout)
    assert times(network, [Fault("port", 0, 3)], KIB, layout)[0, 1] == without[0, 1]
    assert times(network, [Fault("host", 0, 3)], KIB, layout)[0, 1] > 3 * without[0, 1]


@pytest.mark.parametrize("way", ["out", "in"])
def test_a_port_that_is_slow_one_way(way: Way) -> None:
    """Half of a round trip shows the same in both directions; messages one way do not."""
    fault = Fault("port", 1, 2, "bandwidth", way)
    both = times(networks.star(4), [fault], MIB)
    assert both[1, 2] == both[2, 1]
    plan = Plan((MIB,), num_batches=1, direction="unidirectional")
    one = run(networks.star(4), [fault], plan=plan).slices[0].times_ns["median"]
    out, into = (one[1, 2], one[2, 1])
    assert (out > 2 * into) if way == "out" else (into > 2 * out)


def test_a_link_is_slow_between_its_hosts_only() -> None:
    network, layout = networks.star(4), Layout(2)
    factor = times(network, [Fault("link", 0, 3, other=2)], KIB, layout) / np.maximum(
        times(network, [], KIB, layout), 1
    )
    slow = {(a, b) for a, b in np.argwhere(factor > 1.01).tolist()}
    assert slow == {(a, b) for a in (0, 1) for b in (4, 5)} | {(b, a) for a in (0, 1) for b in (4, 5)}


def test_one_cable_of_several_slows_the_pairs_that_hashing_sends_over_it() -> None:
    network, layout = networks.fat_tree([8, 8], 4), Layout(2)
    factor = times(network, [Fault("cable", 0, 3)], KIB, layout) / np.maximum(times(network, [], KIB, layout), 1)
    share = np.mean(factor[:16, 16:] > 1.2)
    assert 0.25 < share < 0.6  # a quarter of the ways there, and a quarter of the ways back
    assert (factor[:16, :16] < 1.01).all()


def test_messages_to_one_destination_take_one_way_under_forwarding_tables() -> None:
    network = networks.fat_tree([8, 8], 4)
    cluster = Cluster(network, Layout(routing="destination"))
    senders = np.arange(8, dtype=np.int32)
    paths = cluster.paths(senders, np.full(8, 12, dtype=np.int32))
    assert np.unique(paths[:, -4:], axis=0).shape[0] == 1


def test_alone_a_pair_is_as_fast_as_nobody_in_its_way_makes_it() -> None:
    network = networks.fat_tree([8, 8], 1)  # eight pairs at a time on one cable
    measured = run(network, [], plan=Plan((MIB,), num_batches=1, num_retests=5, num_controls=5))
    retests = measured.slices[0].retests
    slowest = [one for one in retests if not one.is_control]
    assert len(slowest) == 5 and len(retests) == 10
    assert [one.time_ns for one in retests] == sorted((one.time_ns for one in retests), reverse=True)
    assert all(one.time_ns > 1.9 * one.alone_ns for one in slowest)


def test_half_width_shows_in_large_messages_only() -> None:
    plan = Plan((KIB, MIB), num_batches=1)
    without, with_it = (run(networks.star(4), faults, plan=plan) for faults in ([], [Fault("port", 1, 2, "bandwidth")]))
    small, large = (
        one.times_ns["median"][1, 2] / other.times_ns["median"][1, 2]
        for one, other in zip(with_it.slices, without.slices, strict=True)
    )
    assert small == pytest.approx(1, abs=0.05)
    assert large == pytest.approx(2, rel=0.01)


def test_sockets_and_slower_processors_are_seen() -> None:
    layout = Layout(4, 2, software_factors={1: 2.0})
    got = times(networks.star(3), [], KIB, layout)
    assert got[0, 1] < got[0, 2]  # the same socket, the other one
    assert got[0, 8] < got[0, 4]  # a host with older processors


def test_rails_meet_on_their_own_switch() -> None:
    got = times(networks.rails(3, 2, 1), [], KIB, Layout(2))
    assert got[0, 2] < got[0, 3]  # the other rail is behind a spine


def test_a_slow_rail_is_slow_on_every_host() -> None:
    network, layout = networks.rails(3, 2, 1), Layout(2)
    factor = times(network, [Fault("rail", 1, 2)], KIB, layout) / np.maximum(times(network, [], KIB, layout), 1)
    assert factor[1, 3] > 2.5 and factor[0, 3] > 1.5  # both ends of the pair are on it, one is
    assert factor[0, 2] == 1 and factor[0, 1] == 1


def test_a_seed_gives_the_same_again() -> None:
    def some(seed: int) -> Singles:
        cluster = Cluster(networks.star(8), Layout(2, seed=seed))
        return measure(cluster, [], QUIET, Plan(seed=seed)).slices[0].times_ns["mean"]

    assert np.array_equal(some(1), some(1))
    assert not np.array_equal(some(1), some(2))


def test_statistics_are_in_order() -> None:
    cluster = Cluster(networks.star(8), Layout(2))
    got = measure(cluster, [], QUIET, Plan()).slices[0].times_ns
    for low, high in (("min", "median"), ("median", "p99"), ("p99", "max"), ("min", "mean"), ("mean", "max")):
        assert (got[low] <= got[high]).all()
