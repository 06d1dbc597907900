# SPDX-License-Identifier: Apache-2.0
"""Right answers score right, wrong ones wrong, and what says the same counts the same."""

from __future__ import annotations

from typing import Any

import networks
import pytest
from cluster import Cluster, Layout
from faults import Fault, prepare, truth
from findings import Finding
from networks import Network
from score import score

TREE = networks.fat_tree([2, 2, 2], 2)
LINE = networks.line(3, 2)
TWO_LEAVES = networks.fat_tree([2, 2], 1)
LONE = networks.fat_tree([3, 1], 2)


def told(fault: Fault, network: Network = TREE, ranks_per_host: int = 2) -> dict[str, Any]:
    """The truth as it stands beside a result."""
    cluster = Cluster(network, Layout(ranks_per_host))
    prepare(cluster, [fault])
    hosts = [cluster.host_name(host) for host in range(cluster.num_hosts)]
    return {"ranks_per_host": ranks_per_host, "hosts": hosts, "planted": truth(cluster, [fault])}


def at(kind: str, *hosts: int, others: tuple[int, ...] = (), ranks: tuple[int, ...] = (), name: str = "") -> Finding:
    """A finding by numbers of hosts."""
    first, second = (frozenset(f"n{host + 1:04d}" for host in end) for end in (hosts, others))
    return Finding(kind, first, second, frozenset(ranks), name)


HOST, PORT, RANK = Fault("host", 1, 2.0), Fault("port", 1, 2.0), Fault("rank", 3, 2.0)
SWITCH, UPLINK = Fault("switch", 1, 2.0), Fault("uplink", 1, 2.0)
LINK, PAIR = Fault("link", 0, 2.0, other=3), Fault("pair", 0, 2.0, other=7)
CORE = Fault("core", 3, 2.0)  # spine1 of TREE
LEAF_TO_SPINE = Fault("cable", 0, 2.0)  # leaf1 to spine1 of TREE
IN_THE_LINE = Fault("cable", 0, 2.0)  # leaf1 to leaf2 of LINE


@pytest.mark.parametrize(
    ("fault", "network", "ranks_per_host", "finding"),
    [
        (HOST, TREE, 2, at("host", 1)),
        (HOST, TREE, 1, at("port", 1)),
        (HOST, TREE, 1, at("rank", 1, ranks=(1,))),
        (PORT, TREE, 2, at("port", 1)),
        (PORT, TREE, 1, at("host", 1)),
        (Fault("host", 3, 2.0), LONE, 2, at("switch", 3)),
        (RANK, TREE, 2, at("rank", 1, ranks=(3,))),
        (RANK, TREE, 1, at("host", 3)),
        (SWITCH, TREE, 2, at("switch", 2, 3)),
        (Fault("switch", 1, 2.0), LONE, 2, at("host", 3)),
        (UPLINK, TREE, 2, at("uplink", 2, 3)),
        (Fault("uplink", 0, 2.0), TWO_LEAVES, 2, at("cable", 0, 1, others=(2, 3))),
        (Fault("uplink", 1, 2.0), LONE, 2, at("port", 3)),
        (LEAF_TO_SPINE, TREE, 2, at("uplink", 0, 1)),
        (LEAF_TO_SPINE, TREE, 2, at("cable", name="the cable between leaf1 and spine1")),
        (IN_THE_LINE, LINE, 2, at("cable", 0, 1, others=(2, 3))),
        (IN_THE_LINE, LINE, 2, at("uplink", 2, 3, 4, 5)),
        (CORE, TREE, 2, at("switch", name="switch spine1")),
        (Fault("rail", 1, 2.0), networks.rails(3, 2, 1), 4, at("rail", ranks=(2,))),
        (LINK, TREE, 2, at("link", 0, others=(3,))),
        (LINK, TREE, 2, at("link", 3, others=(0,))),
        (LINK, TREE, 1, at("pair", 0, others=(3,), ranks=(0, 3))),
        (PAIR, TREE, 2, at("pair", 0, others=(3,), ranks=(0, 7))),
    ],
)
def test_what_names_it(fault: Fault, network: Network, ranks_per_host: int, finding: Finding) -> None:
    got = score([finding], told(fault, network, ranks_per_host))
    assert (got.num_named, got.num_near, got.false) == (1, 0, ())


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        (HOST, at("port", 1)),
        (HOST, at("inside", 1)),
        (HOST, at("rank", 1, ranks=(3,))),
        (PORT, at("host", 1)),
        (RANK, at("host", 1)),
        (SWITCH, at("uplink", 2, 3)),
        (UPLINK, at("switch", 2, 3)),
        (LINK, at("pair", 0, others=(3,), ranks=(1, 6))),
        (LEAF_TO_SPINE, at("switch", 0, 1)),
    ],
)
def test_what_is_near(fault: Fault, finding: Finding) -> None:
    got = score([finding], told(fault))
    assert (got.num_named, got.num_near, got.false) == (0, 1, ())


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        (HOST, at("host", 2)),
        (HOST, at("switch", 0, 1)),
        (HOST, at("link", 1, others=(2,))),
        (RANK, at("rank", 0, ranks=(1,))),
        (SWITCH, at("host", 2)),
        (SWITCH, at("switch", 0, 1)),
        (UPLINK, at("link", 2, others=(4,))),
        (LINK, at("host", 0)),
        (LINK, at("link", 0, others=(2,))),
        (PAIR, at("pair", 0, others=(2,), ranks=(0, 5))),
        (LEAF_TO_SPINE, at("uplink", 2, 3)),
        (LEAF_TO_SPINE, at("link", 0, others=(3,))),
        (CORE, at("switch", name="switch spine2")),
        (CORE, at("switch", name="switch spine11")),
        (CORE, at("link", 0, others=(3,))),
        (IN_THE_LINE, at("host", 0)),
        (HOST, at("rail", ranks=(1,))),
    ],
)
def test_what_is_false(fault: Fault, finding: Finding) -> None:
    got = score([finding], told(fault))
    assert (got.num_named, got.num_near, got.false) == (0, 0, (finding,))


def test_a_host_is_named_by_all_its_ranks_and_not_by_one() -> None:
    ranks = [at("rank", 1, ranks=(2,)), at("rank", 1, ranks=(3,))]
    assert score(ranks, told(HOST)).num_named == 1
    assert score(ranks[:1], told(HOST)).num_named == 0
    assert score(ranks, told(PORT)).num_named == 0


def test_ranks_are_named_by_their_host_where_all_of_them_are_planted() -> None:
    one_of_two = told(RANK)
    all_of_host = told(RANK)
    (rank,) = one_of_two["planted"][0]["ranks"]
    all_of_host["planted"] += told(Fault("rank", rank ^ 1, 2.0))["planted"]
    host = at("host", rank // 2)
    assert score([host], one_of_two).num_named == 0
    assert score([host], all_of_host).num_named == 2
    assert score([at("port", rank // 2)], all_of_host).num_named == 0


def test_hosts_are_named_by_their_switch_where_all_of_them_are_planted() -> None:
    all_of_leaf = told(PORT)
    all_of_leaf["planted"] += told(Fault("port", 0, 2.0))["planted"]
    assert score([at("switch", 0, 1)], all_of_leaf).num_named == 2
    assert score([at("switch", 0, 1, 2)], all_of_leaf).num_named == 0
    assert score([at("uplink", 0, 1)], all_of_leaf).num_named == 0


def test_silence_names_nothing() -> None:
    got = score([], told(HOST))
    assert (got.num_planted, got.num_named, got.num_near, got.false) == (1, 0, 0, ())


def test_in_a_sound_cluster_everything_is_false() -> None:
    sound = told(HOST) | {"planted": []}
    finding = at("host", 1)
    assert score([finding], sound).false == (finding,)


def test_each_is_counted_by_itself() -> None:
    both = told(HOST)
    both["planted"] += told(Fault("host", 4, 2.0))["planted"]
    got = score([at("host", 1), at("host", 2)], both)
    assert (got.num_planted, got.num_named, got.false) == (2, 1, (at("host", 2),))
