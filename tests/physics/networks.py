# SPDX-License-Identifier: Apache-2.0
"""Switches, cables, and who is connected where; shortest paths, with all equal ones that hashing may choose.

Routing is minimal: every shortest path between two leaf switches is a choice, at most MOST_PATHS of them; a torus goes
by dimension order, which is one choice (Dally and Seitz 1987). Bundles are several cables between two switches.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from elements import Ints

MOST_PATHS = 32


@dataclass(frozen=True)
class Cable:
    """Between two switches; `index` counts those between the same two."""

    first: int
    second: int
    index: int


@dataclass
class Network:
    """Switches by number. `attached[h]` lists the switch of each adapter of host h."""

    kind: str
    switches: list[str] = field(default_factory=list)
    cables: list[Cable] = field(default_factory=list)
    attached: list[list[int]] = field(default_factory=list)
    # Of a torus: the coordinates of each switch, and the extents.
    extents: tuple[int, ...] = ()

    def switch(self, name: str) -> int:
        """A new one."""
        self.switches.append(name)
        return len(self.switches) - 1

    def connect(self, first: int, second: int, num: int = 1) -> None:
        """With so many cables."""
        for index in range(num):
            self.cables.append(Cable(first, second, index))

    @property
    def num_hosts(self) -> int:
        return len(self.attached)

    @property
    def leaves(self) -> list[int]:
        """Switches with hosts, in their order."""
        return sorted({switch for switches in self.attached for switch in switches})

    def hosts_of(self, switch: int) -> list[int]:
        """Hosts whose first adapter is connected to it."""
        return [host for host, switches in enumerate(self.attached) if switches[0] == switch]

    def cables_of(self, switch: int) -> list[int]:
        return [number for number, cable in enumerate(self.cables) if switch in (cable.first, cable.second)]

    def hosts_beyond(self, cable: int) -> tuple[list[int], list[int]] | None:
        """The hosts on either side where this cable's switches are connected by nothing else; otherwise None."""
        one = self.cables[cable]
        neighbours = self._neighbours()
        seen, waiting = {one.first}, deque([one.first])
        while waiting:
            for other, cables in neighbours[waiting.popleft()].items():
                if cables != [cable] and other not in seen:
                    seen.add(other)
                    waiting.append(other)
        if one.second in seen:
            return None
        near = [host for host, switches in enumerate(self.attached) if switches[0] in seen]
        return near, [host for host in range(self.num_hosts) if host not in set(near)]

    def _neighbours(self) -> dict[int, dict[int, list[int]]]:
        """Of each switch its neighbours, each with the cables that lead there."""
        found: dict[int, dict[int, list[int]]] = {switch: {} for switch in range(len(self.switches))}
        for number, cable in enumerate(self.cables):
            found[cable.first].setdefault(cable.second, []).append(number)
            found[cable.second].setdefault(cable.first, []).append(number)
        return found

    def routes(self) -> dict[tuple[int, int], list[list[int]]]:
        """For two leaves: the choices, each of switches and directed cables: switch, 2·cable + way, switch ..."""
        neighbours, leaves = self._neighbours(), self.leaves
        if self.extents:
            return {(a, b): [self._dimension_order(a, b, neighbours)] for a in leaves for b in leaves if a != b}
        routes: dict[tuple[int, int], list[list[int]]] = {}
        for target in leaves:
            distance = _distances(target, neighbours)
            for source in leaves:
                if source != target and source in distance:
                    routes[source, target] = self._choices(source, target, distance, neighbours)
        return routes

    def _choices(
        self, source: int, target: int, distance: dict[int, int], neighbours: dict[int, dict[int, list[int]]]
    ) -> list[list[int]]:
        found: list[list[int]] = []

        def walk(at: int, so_far: list[int]) -> None:
            if at == target:
                found.append(so_far)
                return
            for other, cables in sorted(neighbours[at].items()):
                if distance.get(other, -1) == distance[at] - 1:
                    for cable in cables:
                        if len(found) < MOST_PATHS:
                            walk(other, [*so_far, self._way(cable, at), other])

        walk(source, [source])
        return found

    def _way(self, cable: int, leaving: int) -> int:
        return 2 * cable + (0 if self.cables[cable].first == leaving else 1)

    def _dimension_order(self, source: int, target: int, neighbours: dict[int, dict[int, list[int]]]) -> list[int]:
        place, goal = list(_place(source, self.extents)), _place(target, self.extents)
        route = [source]
        for axis, extent in enumerate(self.extents):
            while place[axis] != goal[axis]:
                ahead = (goal[axis] - place[axis]) % extent
                place[axis] = (place[axis] + (1 if ahead <= extent - ahead else -1)) % extent
                at, other = route[-1], _number(tuple(place), self.extents)
                route += [self._way(neighbours[at][other][0], at), other]
        return route


def _distances(target: int, neighbours: dict[int, dict[int, list[int]]]) -> dict[int, int]:
    distance, waiting = {target: 0}, deque([target])
    while waiting:
        at = waiting.popleft()
        for other in neighbours[at]:
            if other not in distance:
                distance[other] = distance[at] + 1
                waiting.append(other)
    return distance


def _place(number: int, extents: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(x) for x in np.unravel_index(number, extents))


def _number(place: tuple[int, ...], extents: tuple[int, ...]) -> int:
    return int(np.ravel_multi_index(place, extents))


def star(num_hosts: int) -> Network:
    """One switch."""
    network = Network("star")
    middle = network.switch("leaf1")
    network.attached = [[middle]] * num_hosts
    return network


def fat_tree(hosts_of_leaves: list[int], num_spines: int, cables_a_spine: int = 1) -> Network:
    """Two levels; each leaf has so many cables to each spine. Leaves may differ in their hosts."""
    network = Network("fat-tree")
    leaves = [network.switch(f"leaf{number + 1}") for number in range(len(hosts_of_leaves))]
    spines = [network.switch(f"spine{number + 1}") for number in range(num_spines)]
    for leaf, spine in itertools.product(leaves, spines):
        network.connect(leaf, spine, cables_a_spine)
    network.attached = [[leaf] for leaf, num in zip(leaves, hosts_of_leaves, strict=True) for _ in range(num)]
    return network


def fat_tree_of_pods(hosts_a_leaf: int, leaves_a_pod: int, num_pods: int, num_spines: int, num_cores: int) -> Network:
    """Three levels: spines belong to a pod, and every spine is connected to every core."""
    network = Network("fat-tree of pods")
    cores = [network.switch(f"core{number + 1}") for number in range(num_cores)]
    for pod in range(num_pods):
        spines = [network.switch(f"spine{pod * num_spines + number + 1}") for number in range(num_spines)]
        for spine, core in itertools.product(spines, cores):
            network.connect(spine, core)
        for number in range(leaves_a_pod):
            leaf = network.switch(f"leaf{pod * leaves_a_pod + number + 1}")
            for spine in spines:
                network.connect(leaf, spine)
            network.attached += [[leaf]] * hosts_a_leaf
    return network


def line(num_switches: int, hosts_a_switch: int) -> Network:
    """Switches in a row."""
    network = Network("line")
    switches = [network.switch(f"leaf{number + 1}") for number in range(num_switches)]
    for first, second in itertools.pairwise(switches):
        network.connect(first, second)
    network.attached = [[switch] for switch in switches for _ in range(hosts_a_switch)]
    return network


def ring(num_switches: int, hosts_a_switch: int) -> Network:
    """A line whose ends are connected."""
    network = line(num_switches, hosts_a_switch)
    network.kind = "ring"
    network.connect(num_switches - 1, 0)
    return network


def torus(extents: tuple[int, ...], hosts_a_switch: int = 1) -> Network:
    """A router at each place, connected to its neighbours along each dimension."""
    network = Network("torus", extents=extents)
    num = int(np.prod(extents))
    for number in range(num):
        network.switch(f"router{number + 1}")
    for number in range(num):
        place = _place(number, extents)
        for axis, extent in enumerate(extents):
            beside = list(place)
            beside[axis] = (beside[axis] + 1) % extent
            other = _number(tuple(beside), extents)
            if extent > 2 or (extent == 2 and place[axis] == 0):
                network.connect(number, other)
    network.attached = [[number] for number in range(num) for _ in range(hosts_a_switch)]
    return network


def dragonfly(num_groups: int, routers_a_group: int, hosts_a_router: int) -> Network:
    """Groups of routers that are all connected; one cable between two groups (Kim, Dally, Scott, Abts 2008)."""
    network = Network("dragonfly")
    routers = [
        [network.switch(f"router{group * routers_a_group + number + 1}") for number in range(routers_a_group)]
        for group in range(num_groups)
    ]
    for group in routers:
        for first, second in itertools.combinations(group, 2):
            network.connect(first, second)
    used = [0] * num_groups
    for first, second in itertools.combinations(range(num_groups), 2):
        ends = [routers[group][used[group] % routers_a_group] for group in (first, second)]
        used[first], used[second] = used[first] + 1, used[second] + 1
        network.connect(*ends)
    network.attached = [[router] for group in routers for router in group for _ in range(hosts_a_router)]
    return network


def rails(num_hosts: int, num_rails: int, num_spines: int) -> Network:
    """Adapter r of every host is connected to switch r; spines connect these."""
    network = Network("rails")
    leaves = [network.switch(f"rail{number + 1}") for number in range(num_rails)]
    spines = [network.switch(f"spine{number + 1}") for number in range(num_spines)]
    for leaf, spine in itertools.product(leaves, spines):
        network.connect(leaf, spine)
    network.attached = [list(leaves)] * num_hosts
    return network


def slurm_topology(network: Network, host_name: Callable[[int], str]) -> str:
    """Slurm's topology.conf of a tree; switches without hosts are one, as Slurm wants it."""
    leaves = network.leaves
    lines = [
        f"SwitchName={network.switches[leaf]} Nodes={','.join(map(host_name, network.hosts_of(leaf)))}"
        for leaf in leaves
    ]
    if len(leaves) > 1:
        lines.append(f"SwitchName=top Switches={','.join(network.switches[leaf] for leaf in leaves)}")
    return "\n".join(lines) + "\n"


def cable_list(network: Network, host_name: Callable[[int], str]) -> str:
    """All cables; those between the same two switches are one with their capacity. Hosts by their first adapter."""
    hosts = list(map(host_name, range(network.num_hosts)))
    lines = [f"hosts: {' '.join(hosts)}"]
    lines += [f"{host} {network.switches[switches[0]]}" for host, switches in zip(hosts, network.attached, strict=True)]
    bundles = Counter((network.switches[cable.first], network.switches[cable.second]) for cable in network.cables)
    lines += [f"{first} {second} {num}" for (first, second), num in bundles.items()]
    return "\n".join(lines) + "\n"


def route_table(network: Network) -> tuple[Ints, Ints, Ints]:
    """Routes as arrays: choices [leaves, leaves], elements [leaves, leaves, choices, length], leaf number [switches].

    An element of a route: switch s is s + 1, directed cable c is num_switches + 1 + c, 0 = nothing.
    """
    leaves, routes = network.leaves, network.routes()
    leaf_number = np.full(len(network.switches), -1, dtype=np.int32)
    leaf_number[leaves] = np.arange(len(leaves))
    most = max((len(choices) for choices in routes.values()), default=1)
    length = max((len(choice) for choices in routes.values() for choice in choices), default=1)
    table = np.zeros((len(leaves), len(leaves), most, length), dtype=np.int32)
    num = np.ones((len(leaves), len(leaves)), dtype=np.int32)
    for leaf in leaves:
        table[leaf_number[leaf], leaf_number[leaf], :, 0] = leaf + 1
    for (source, target), choices in routes.items():
        row, column = leaf_number[source], leaf_number[target]
        num[row, column] = len(choices)
        for number in range(most):
            choice = np.array(choices[number % len(choices)])
            choice[0::2] += 1
            choice[1::2] += len(network.switches) + 1
            table[row, column, number, : choice.size] = choice
    return num, table, leaf_number
