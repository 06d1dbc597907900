# SPDX-License-Identifier: Apache-2.0
"""Networks of the simulation: routes over links that are there, by their rules; files; what is no network."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from leadline.bisection.simulate.contention import congestion
from leadline.bisection.simulate.network import NO_LINK, Network
from leadline.bisection.simulate.topology import parse_topology
from leadline.error import LeadlineError

NAMES = [
    "fat-tree:2x3", "fat-tree:3x4,spines=2", "fat-tree:1x2", "fat-tree:2x2x3", "fat-tree:3x2x3,spines=2,cores=3",
    "dragonfly:1", "dragonfly:2", "dragonfly:2,groups=4", "dragonfly:2,groups=1", "torus:5", "torus:4x3", "torus:2x1x4",
]  # fmt: skip
ALL = [(name, routing) for name in NAMES for routing in parse_topology(name).routings]


def every_pair(network: Network) -> tuple[np.ndarray, np.ndarray]:
    start, end = np.divmod(np.arange(network.num_hosts**2), network.num_hosts)
    return start[start != end], end[start != end]


def routes_of(network: Network, routing: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    start, end = every_pair(network)
    return start, end, network.routes(routing, start, end, np.random.default_rng(1))


def congestion_of(network: Network, pairs: list[tuple[int, int]], routing: str | None = None) -> list[float]:
    start, end = np.array(pairs).T
    links = network.routes(network.routing(routing), start, end, np.random.default_rng(1))
    return congestion(links, network.capacity).tolist()


@pytest.mark.parametrize(("name", "routing"), ALL)
def test_routes_use_links_that_are_there_and_each_once(name: str, routing: str):
    network = parse_topology(name)
    start, end, links = routes_of(network, routing)
    assert np.array_equal(links[:, 0], start)
    assert np.array_equal(links[:, 1], network.num_hosts + end)
    inner = links[:, 2:]
    assert inner.max(initial=NO_LINK) < network.num_links
    assert np.all((inner == NO_LINK) | (inner >= 2 * network.num_hosts))
    if routing != "valiant":
        for route in inner:
            used = route[route != NO_LINK]
            assert len(set(used.tolist())) == len(used)


@pytest.mark.parametrize(("name", "num_kinds"), [("fat-tree:3x4", 1), ("fat-tree:2x2x4", 2), ("torus:5x5", 1)])
def test_fixed_routes_are_even(name: str, num_kinds: int):
    """All hosts to all others at once: no link between switches is busier than another of its level."""
    network = parse_topology(name)
    _, _, links = routes_of(network, network.routings[0])
    flows = np.bincount(links[links != NO_LINK], minlength=network.num_links)
    assert set(flows[: 2 * network.num_hosts].tolist()) == {network.num_hosts - 1}
    assert len(set(flows[2 * network.num_hosts :].tolist())) == num_kinds


def test_a_fat_tree_chooses_its_spine_by_the_destination():
    network = parse_topology("fat-tree:2x2")
    # Hosts 0, 1 on one leaf, 2, 3 on the other: to 2 by spine 0, to 3 by spine 1.
    assert congestion_of(network, [(0, 2), (1, 3)]) == [1, 1]
    tapered = parse_topology("fat-tree:2x2,spines=1")
    assert congestion_of(tapered, [(0, 2), (1, 3)]) == [2, 2]
    assert congestion_of(tapered, [(0, 2), (2, 0)]) == [1, 1], "cables are full duplex"
    assert congestion_of(tapered, [(0, 1), (2, 3)]) == [1, 1], "inside a leaf"
    three = parse_topology("fat-tree:2x3")
    # Hosts 2 and 4 have the same spine, and so have 3 and 5.
    assert congestion_of(three, [(0, 2), (1, 4)]) == [2, 2]


def test_a_tree_of_three_levels_goes_as_high_as_it_must():
    network = parse_topology("fat-tree:2x2x2,cores=1")
    _, _, links = routes_of(network, "d-mod-k")
    start, end = every_pair(network)
    num_hops = (links != NO_LINK).sum(axis=1)
    same_leaf, same_pod = start // 2 == end // 2, start // 4 == end // 4
    assert set(num_hops[same_leaf]) == {2}
    assert set(num_hops[~same_leaf & same_pod]) == {4}
    assert set(num_hops[~same_pod]) == {6}
    # Destinations 4 and 6 share spine 0, whose one core carries both.
    assert congestion_of(network, [(0, 4), (2, 6)]) == [2, 2]
    assert congestion_of(parse_topology("fat-tree:2x2x2"), [(0, 4), (2, 6)]) == [1, 1]


def test_a_dragonfly_has_one_global_link_between_two_groups():
    network = parse_topology("dragonfly:2")
    assert network.num_hosts == 9 * 4 * 2
    group = list(range(8))
    other = [8 * 3 + host for host in group]
    assert congestion_of(network, list(zip(group, other, strict=True))) == 8 * [8.0]
    assert max(congestion_of(network, list(zip(group, other, strict=True)), "valiant")) < 8
    # Three groups with four routers of two global links: four cables between any two.
    few = parse_topology("dragonfly:2,groups=3")
    assert congestion_of(few, list(zip(group, range(8, 16), strict=True))) == 8 * [2.0]


def test_valiant_leaves_pairs_inside_a_group_alone():
    network = parse_topology("dragonfly:2")
    pairs = [(0, 7), (7, 0), (2, 5)]
    start, end = np.array(pairs).T
    links = network.routes("valiant", start, end, np.random.default_rng(3))
    assert ((links != NO_LINK).sum(axis=1) == 3).all()


def test_a_torus_takes_the_shorter_way():
    network = parse_topology("torus:6")
    start, end, links = routes_of(network, "dimension-order")
    hops = (links != NO_LINK).sum(axis=1) - 2
    ahead = (end - start) % 6
    assert np.array_equal(hops, np.minimum(ahead, 6 - ahead))
    # Half way round even ones go up, odd ones down: 0 to 3 and 2 to 5 meet between 2 and 3, 1 to 4 is over 0 and 5.
    assert congestion_of(network, [(0, 3), (2, 5), (1, 4)]) == [2, 2, 1]
    grid = parse_topology("torus:4x4")
    # Along x first: (0, 0) to (1, 1) meets (1, 0) to (1, 2) behind (1, 0), and not (0, 1) to (2, 1).
    assert congestion_of(grid, [(0, 5), (1, 9), (4, 6)]) == [2, 2, 1]


def write(folder: Path, text: str) -> str:
    path = folder / "network.txt"
    path.write_text(text)
    return str(path)


def tree_file(folder: Path, per_leaf: int, leaves: int, spines: int) -> str:
    hosts = [f"n{host:03d} leaf{host // per_leaf}" for host in range(per_leaf * leaves)]
    cables = [f"leaf{leaf} spine{spine}" for leaf in range(leaves) for spine in range(spines)]
    return write(folder, "\n".join(hosts + cables))


def test_a_tree_in_a_file_is_routed_as_a_tree(tmp_path: Path):
    network, tree = parse_topology(tree_file(tmp_path, 3, 4, 2)), parse_topology("fat-tree:3x4,spines=2")
    assert network.num_hosts == 12
    assert network.host_names[:2] == ("n000", "n001")
    random = np.random.default_rng(5)
    for _ in range(20):
        pairs = list(enumerate(random.permutation(12).tolist()))
        assert congestion_of(network, pairs) == congestion_of(tree, pairs)


def test_a_tree_of_three_levels_in_a_file_is_routed_as_one(tmp_path: Path):
    d, pods = 2, 3
    lines = [f"n{host} leaf{host // d}" for host in range(d * d * pods)]
    lines += [f"leaf{leaf} spine{leaf // d}.{spine}" for leaf in range(d * pods) for spine in range(d)]
    lines += [
        f"spine{pod}.{spine} core{spine}.{core}" for pod in range(pods) for spine in range(d) for core in range(d)
    ]
    network, tree = parse_topology(write(tmp_path, "\n".join(lines))), parse_topology("fat-tree:2x2x3")
    random = np.random.default_rng(6)
    for _ in range(20):
        pairs = list(enumerate(random.permutation(12).tolist()))
        assert congestion_of(network, pairs) == congestion_of(tree, pairs)


def test_capacities_count_in_connections(tmp_path: Path):
    text = "# a comment\nn0 a 100\nn1 a 100\nn2 b 200\nn3 b 100 # fat\n\na b 150\n"
    network = parse_topology(write(tmp_path, text))
    assert network.capacity.max() == 2
    assert congestion_of(network, [(0, 2), (1, 3)]) == pytest.approx([4 / 3, 4 / 3])
    assert congestion_of(network, [(0, 2), (2, 0), (3, 1)]) == pytest.approx([1, 4 / 3, 4 / 3])


def test_ranks_of_a_host_share_its_cable():
    network = parse_topology("fat-tree:2x2")
    assert congestion_of(network, [(0, 2), (0, 3), (1, 1)]) == [2, 2, 1]


def test_hosts_may_be_named(tmp_path: Path):
    network = parse_topology(write(tmp_path, "hosts: c a\na s\nb s\nc s\nidle s\n"))
    assert network.host_names == ("c", "a")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no cable"),
        ("# nothing\n\n", "no cable"),
        ("a\n", "line 1: 1 words"),
        ("a s\nb s 1 2\n", "line 2: 4 words"),
        ("a s\nb s x\n", "line 2: 'x' is no capacity"),
        ("a s 0\nb s\n", "'0' is no capacity"),
        ("a s -1\n", "'-1' is no capacity"),
        ("a s nan\n", "'nan' is no capacity"),
        ("a s inf\n", "'inf' is no capacity"),
        ("a s\ns s\n", "line 2: the cable leads from s to itself"),
        ("a s\nb s\ns a\n", "line 3: s and a have a cable in line 1 already"),
        ("a s\nb t\n", "4 hosts|both ends"),
        ("a s\nb s\nc t\nd t\n", "no cables lead from a to c"),
        ("a s\ns t\nt u\nu s\n", "1 hosts"),
        ("a b\nb c\nc a\n", "0 hosts"),
        ("hosts: a x\na s\nb s\n", "line 1: host x has 0 cables"),
        ("a s\nb s\nhosts: a s\n", "line 3: host s has 2 cables"),
        ("hosts: a a\na s\nb s\n", "host a is named twice"),
        ("hosts: a\na s\nb s\n", "1 hosts"),
        ("a\0b s\n", "no text"),
    ],
)
def test_files_that_are_no_networks(tmp_path: Path, text: str, why: str):
    with pytest.raises(LeadlineError, match=why) as caught:
        parse_topology(write(tmp_path, text))
    assert "network.txt" in str(caught.value)
    assert caught.value.status == 2


def test_a_ring_of_switches_has_routes(tmp_path: Path):
    """Loops in the cables are no loops in the routes."""
    network = parse_topology(write(tmp_path, "a s\nb t\nc u\nd v\ns t\nt u\nu v\nv s\n"))
    _, _, links = routes_of(network, "shortest")
    assert (links != NO_LINK).sum(axis=1).max() == 4


def test_no_file_and_no_kind(tmp_path: Path):
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    with pytest.raises(LeadlineError, match="no text"):
        parse_topology(str(tmp_path / "binary"))
    with pytest.raises(LeadlineError, match="it is no file"):
        parse_topology(str(tmp_path))
    with pytest.raises(LeadlineError, match="neither a kind of network nor a file"):
        parse_topology(str(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("", "neither a kind"),
        ("fattree:8x8", "neither a kind"),
        ("fat-tree", "no extents"),
        ("fat-tree:", "'' is no number"),
        ("fat-tree:8", "1 extents"),
        ("fat-tree:2x2x2x2", "4 extents"),
        ("fat-tree:8x0", "'0' is no number"),
        ("fat-tree:8x-1", "'-1' is no number"),
        ("fat-tree:1x1", "one host"),
        ("fat-tree:8x8,spines", "'' is no number"),
        ("fat-tree:8x8,spines=4,spines=4", "spines is given twice"),
        ("fat-tree:8x8,cores=4", "two levels has no cores"),
        ("fat-tree:8x8,leaves=4", "'leaves=4' means nothing here"),
        ("fat-tree:9999999x9999999x9999999", "too large"),
        ("torus:2000000", "too large"),
        ("torus:1", "one host"),
        ("torus:4x4,hosts=2", "means nothing"),
        ("dragonfly:4x4", "2 extents"),
        ("dragonfly:1,groups=4", "too many groups"),
        ("dragonfly:9999999", "too large"),
    ],
)
def test_words_that_are_no_networks(word: str, why: str):
    with pytest.raises(LeadlineError, match=why) as caught:
        parse_topology(word)
    assert "--topology" in str(caught.value)
    assert caught.value.status == 2


def test_routings_that_do_not_fit():
    network = parse_topology("fat-tree:2x2")
    assert network.routing(None) == "d-mod-k"
    with pytest.raises(LeadlineError, match="--routing valiant does not fit this network"):
        network.routing("valiant")
    with pytest.raises(LeadlineError, match="there is no routing fastest") as caught:
        network.routing("fastest")
    assert caught.value.status == 2
