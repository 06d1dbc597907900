# SPDX-License-Identifier: Apache-2.0
"""Random patterns share the network max-min fairly, and what is measured alone shares nothing."""

from __future__ import annotations

import networks
import numpy as np
import pytest
from cluster import PORT_RATE, RANK_RATE, Cluster, Layout
from elements import Ints
from faults import Fault
from noise import Noise
from patterns import (
    MIB,
    PatternPlan,
    exchange_times,
    fair_rates,
    matching,
    measure_patterns,
    slow_by_median,
)

STILL = Noise(jitter=0, pair_scatter=0, spike_share=0)


def ranks(*numbers: int) -> Ints:
    return np.array(numbers, dtype=np.int32)


def test_flows_that_meet_nobody_have_their_port() -> None:
    cluster = Cluster(networks.star(4), Layout())
    rates = fair_rates(cluster.paths(ranks(0, 1, 2), ranks(1, 2, 3)), cluster.elements.table())
    assert rates == pytest.approx([PORT_RATE] * 3)
    assert PORT_RATE < RANK_RATE


def test_flows_share_the_fullest_element_and_others_have_the_rest() -> None:
    """Three flows from leaf 1 to leaf 2 over one cable; one within leaf 1 to a port that one of them leaves."""
    cluster = Cluster(networks.fat_tree([4, 4], 1), Layout())
    paths = cluster.paths(ranks(0, 1, 2, 0), ranks(4, 5, 6, 3))
    assert fair_rates(paths, cluster.elements.table()) == pytest.approx([PORT_RATE / 3] * 3 + [PORT_RATE * 2 / 3])


def test_pairs_that_are_done_leave_their_share() -> None:
    cluster = Cluster(networks.star(4), Layout())
    table = cluster.elements.table()
    both = exchange_times(ranks(0, 2), ranks(1, 3), cluster, table, MIB, None)
    assert both == pytest.approx([both[0]] * 2)
    assert both[0] == pytest.approx(MIB / PORT_RATE, rel=0.05)
    cluster = Cluster(networks.fat_tree([2, 2], 1), Layout())
    table = cluster.elements.table()
    table.capacity[cluster.port_out[0]] /= 10
    slow, fast = exchange_times(ranks(0, 1), ranks(2, 3), cluster, table, MIB, None)
    assert slow == pytest.approx(10 * MIB / PORT_RATE, rel=0.05)
    assert fast == pytest.approx(MIB / PORT_RATE / 0.9, rel=0.05), "what the slow one leaves of the cable"


def test_a_matching_has_each_rank_once_and_no_pair_on_a_host() -> None:
    cluster = Cluster(networks.star(5), Layout(3))
    first, second = matching(cluster, np.random.default_rng(1))
    both = np.concatenate([first, second])
    assert len(set(both.tolist())) == both.size == 14, "of 15 one rests"
    assert (cluster.host_of(first) != cluster.host_of(second)).all()


def test_an_uplink_slows_those_who_cross_it_and_alone_it_carries_one() -> None:
    cluster = Cluster(networks.fat_tree([4, 4, 4, 4], 4), Layout(routing="adaptive"))
    plan = PatternPlan(num_patterns=40)
    made = measure_patterns(cluster, [Fault("uplink", 0, 4.0, "bandwidth")], STILL, plan)
    crosses = (np.arange(16)[None, :] < 4) != (made.partner < 4)
    assert np.median(made.time_ns[crosses]) > 3 * np.median(made.time_ns[~crosses])
    assert len(made.alone) == 40
    assert len(made.retests) == plan.num_retests
    cross = [(one < 4) != (other < 4) for one, other, _ in made.retests]
    assert sum(cross) >= plan.num_retests / 2, "the others are of the ranks that are slow with everybody"


def test_a_slow_host_is_measured_alone_though_others_are_slower_beside_it() -> None:
    cluster = Cluster(networks.fat_tree([4, 4, 4, 4], 1), Layout())
    plan = PatternPlan(num_patterns=40, num_retests=4)
    made = measure_patterns(cluster, [Fault("host", 5, 3.0, "bandwidth")], STILL, plan)
    assert any(5 in (one, other) for one, other, _ in made.retests)


def test_the_plain_rule_needs_nine_tenths_of_five() -> None:
    partner = np.tile(ranks(1, 0, 3, 2), (10, 1))
    times = np.ones((10, 4))
    times[:, 2:] = 2
    times[0, 2] = 1
    times[:2, 3] = 1
    assert slow_by_median(times, partner, ["a", "b", "c", "d"]) == ["c"]
    times[1, 2] = 1
    assert slow_by_median(times, partner, ["a", "b", "c", "d"]) == []
    assert slow_by_median(times[2:6], partner[2:6], ["a", "b", "c", "d"]) == []
