# SPDX-License-Identifier: Apache-2.0
"""An exchange of all with all shares the network, and messages wait for those before them."""

from __future__ import annotations

from pathlib import Path

import h5py
import networks
import numpy as np
import pytest
from baselines import arrivals_of, stands_out
from cluster import PORT_RATE, SOFTWARE_NS, Cluster, Layout
from elements import Ints
from exchanges import ExchangePlan, arrivals, measure_exchanges
from faults import Fault
from findings import Finding
from noise import Noise
from result_file import write

KIB, MIB = 1 << 10, 1 << 20
STILL = Noise(jitter=0, pair_scatter=0, spike_share=0)


def all_pairs(num: int) -> tuple[Ints, Ints]:
    sender, receiver = (side.ravel().astype(np.int32) for side in np.mgrid[0:num, 0:num])
    return sender[sender != receiver], receiver[sender != receiver]


def times_of(cluster: Cluster, size: int, under_way: int = 0, faults: tuple[Fault, ...] = ()) -> np.ndarray:
    plan = ExchangePlan((size,), under_way=under_way, barrier_skew_ns=0)
    return measure_exchanges(cluster, list(faults), STILL, plan).arrival_ns[0, 0]


def test_large_messages_share_the_ports() -> None:
    times = times_of(Cluster(networks.star(6), Layout()), MIB)
    assert times[~np.eye(6, dtype=bool)] == pytest.approx(5 * MIB / PORT_RATE, rel=0.05)


def test_small_messages_wait_for_the_software() -> None:
    cluster = Cluster(networks.star(8), Layout())
    ends = all_pairs(8)
    times = arrivals(cluster, cluster.elements.table(), *ends, 1, 0)
    of_last = times[ends[1] == 7]
    assert np.diff(np.sort(of_last)) == pytest.approx(SOFTWARE_NS), "one by one"
    assert np.median(of_last) > np.median(times[ends[1] == 0]) + 6 * SOFTWARE_NS, "it is the last of all"


def test_of_few_at_once_later_ones_wait() -> None:
    cluster = Cluster(networks.star(9), Layout())
    at_once, by_turns = times_of(cluster, MIB), times_of(cluster, MIB, 2)
    assert np.nanmin(by_turns) < 0.5 * np.nanmin(at_once)
    assert np.nanmedian(by_turns[:, 8]) > 1.5 * np.nanmedian(by_turns[:, 1])


def test_a_slow_port_makes_its_messages_late_and_no_others() -> None:
    times = times_of(Cluster(networks.star(8), Layout()), MIB, faults=(Fault("port", 3, 4.0, "bandwidth"),))
    is_of_port = np.zeros((8, 8), dtype=bool)
    is_of_port[3], is_of_port[:, 3] = True, True
    others = times[~is_of_port & ~np.eye(8, dtype=bool)]
    assert np.nanmin(times[is_of_port]) > 3 * others.max()


def test_the_file_has_what_was_measured(tmp_path: Path) -> None:
    cluster = Cluster(networks.star(4), Layout(2))
    made = measure_exchanges(cluster, [], STILL, ExchangePlan((KIB, MIB), num_repeats=3))
    with h5py.File(write(made, tmp_path).result) as file:
        for index in (0, 1):
            expected = np.nan_to_num(np.median(made.arrival_ns[:, index], axis=0))
            assert np.array_equal(arrivals_of(file, index), expected)


def test_the_old_rule_accuses_ends_and_messages() -> None:
    hosts = [f"n{rank}" for rank in range(8)]
    times = np.where(np.eye(8, dtype=bool), 0.0, 100.0)
    assert stands_out(times, hosts) == []
    late = times.copy()
    late[2, 5] = 200
    assert [(one.kind, one.ranks) for one in stands_out(late, hosts)] == [("pair", frozenset({2, 5}))]
    late = times.copy()
    late[2] *= 1.6
    late[:, 2] *= 1.6
    assert stands_out(late, hosts) == [Finding("host", frozenset({"n2"}))]
