# SPDX-License-Identifier: Apache-2.0
"""Routes are ways along cables, as short as the network allows."""

from __future__ import annotations

import networks
import pytest
from networks import Network

ALL = {
    "star": networks.star(3),
    "fat tree": networks.fat_tree([2, 1, 3], 4),
    "bundle": networks.fat_tree([2, 2], 1, 4),
    "pods": networks.fat_tree_of_pods(2, 2, 3, 2, 4),
    "line": networks.line(4, 2),
    "ring": networks.ring(5, 2),
    "torus": networks.torus((4, 3, 2)),
    "dragonfly": networks.dragonfly(5, 4, 2),
    "rails": networks.rails(3, 4, 2),
}


@pytest.fixture(params=list(ALL.values()), ids=list(ALL))
def network(request: pytest.FixtureRequest) -> Network:
    chosen: Network = request.param
    return chosen


def test_routes_follow_cables_from_one_leaf_switch_to_the_other(network: Network) -> None:
    routes = network.routes()
    leaves = network.leaves
    assert set(routes) == {(a, b) for a in leaves for b in leaves if a != b}
    for (source, target), choices in routes.items():
        assert len({tuple(choice) for choice in choices}) == len(choices)
        for choice in choices:
            assert (choice[0], choice[-1]) == (source, target)
            for at, way, after in zip(choice[0::2], choice[1::2], choice[2::2], strict=False):
                cable = network.cables[way // 2]
                ends = (cable.first, cable.second)
                assert (at, after) == (ends if way % 2 == 0 else ends[::-1])


def test_all_choices_are_as_long_as_the_way_back(network: Network) -> None:
    routes = network.routes()
    for (source, target), choices in routes.items():
        assert {len(choice) for choice in choices} == {len(routes[target, source][0])}


def num_cables(network: Network, source: int, target: int) -> int:
    return len(network.routes()[source, target][0]) // 2


def test_fat_trees_have_a_choice_for_each_spine_and_cable() -> None:
    assert len(ALL["fat tree"].routes()[0, 1]) == 4
    assert len(ALL["bundle"].routes()[0, 1]) == 16  # four cables up, four down
    assert num_cables(ALL["fat tree"], 0, 1) == 2


def test_pods_are_left_through_a_core() -> None:
    pods = ALL["pods"]
    leaves = [pods.switches.index(name) for name in ("leaf1", "leaf2", "leaf3")]
    assert num_cables(pods, leaves[0], leaves[1]) == 2
    assert num_cables(pods, leaves[0], leaves[2]) == 4
    assert len(pods.routes()[leaves[0], leaves[2]]) == 2 * 4 * 2


def test_a_line_is_walked_and_a_ring_the_shorter_way() -> None:
    assert num_cables(ALL["line"], 0, 3) == 3
    assert num_cables(ALL["ring"], 0, 3) == 2


def test_a_torus_goes_by_dimension_order() -> None:
    torus = ALL["torus"]
    target = (3 * 3 + 2) * 2 + 1  # at (3, 2, 1): one step back in each of the first two, one in the last
    choices = torus.routes()[0, target]
    assert len(choices) == 1
    assert num_cables(torus, 0, target) == 3


def test_dragonflies_take_three_cables_at_most() -> None:
    dragonfly = ALL["dragonfly"]
    assert {len(choices[0]) // 2 for choices in dragonfly.routes().values()} == {1, 2, 3}


def test_only_a_cable_that_nothing_goes_around_has_two_sides() -> None:
    assert ALL["line"].hosts_beyond(0) == ([0, 1], [2, 3, 4, 5, 6, 7])
    assert ALL["ring"].hosts_beyond(0) is None
    assert ALL["bundle"].hosts_beyond(0) is None


def test_topologies_as_the_program_reads_them() -> None:
    def name(host: int) -> str:
        return f"n{host}"

    network = networks.fat_tree([2, 1], 2)
    assert networks.slurm_topology(network, name) == (
        "SwitchName=leaf1 Nodes=n0,n1\nSwitchName=leaf2 Nodes=n2\nSwitchName=top Switches=leaf1,leaf2\n"
    )
    assert networks.cable_list(network, name).splitlines() == [
        "hosts: n0 n1 n2", "n0 leaf1", "n1 leaf1", "n2 leaf2",
        "leaf1 spine1 1", "leaf1 spine2 1", "leaf2 spine1 1", "leaf2 spine2 1",
    ]  # fmt: skip
    assert networks.cable_list(ALL["bundle"], name).splitlines()[-2:] == ["leaf1 spine1 4", "leaf2 spine1 4"]
