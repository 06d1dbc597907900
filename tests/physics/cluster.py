# SPDX-License-Identifier: Apache-2.0
"""A cluster: ranks on hosts with sockets and adapters, connected by a network; which elements each path has.

Costs are round numbers of the size that InfiniBand and RoCE clusters show: half a round trip of about 1.5 us between
two hosts of a leaf switch, less than 1 us in shared memory with the software of MPI, about 0.1 us a switch, 25 GB/s a
port (200 Gbit/s), 5 ns a metre of cable (the speed of light in glass).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from elements import NOTHING, Elements, Ints, joined
from networks import Network, cable_list, route_table, slurm_topology

SOFTWARE_NS = 380.0  # of a rank, each time that it sends or receives
SHARED_MEMORY_NS = 60.0  # beside both ends' software
OTHER_SOCKET_NS = 130.0
ADAPTER_NS = 260.0
CABLE_NS = 25.0
SWITCH_NS = 110.0
PORT_RATE = CABLE_RATE = 25.0  # bytes/ns
RANK_RATE = 28.0  # more than its port, so that one rank alone can fill that
MEMORY_RATE, MEMORY_FLOW_RATE = 120.0, 11.0
OTHER_SOCKET_RATE, OTHER_SOCKET_FLOW_RATE = 60.0, 30.0

Routing = Literal["flow", "destination", "table", "adaptive"]


@dataclass(frozen=True)
class Layout:
    """Where ranks run: they fill hosts one by one, or go round all hosts."""

    ranks_per_host: int = 1
    sockets_per_host: int = 1
    is_placement_told: bool = True  # otherwise the file says NUMA node -1
    routing: Routing = "flow"
    seed: int = 1
    goes_round: bool = False
    # Of each host that has other processors than most: its software time as a factor.
    software_factors: dict[int, float] = field(default_factory=dict)


class Cluster:
    """All elements by kind and place, and paths. Faults change a copy of `table`."""

    def __init__(self, network: Network, layout: Layout) -> None:
        self.network, self.layout = network, layout
        self.num_hosts = network.num_hosts
        self.num_ranks = self.num_hosts * layout.ranks_per_host
        self.num_rails = len(network.attached[0])
        elements = Elements()
        self.rank_out = elements.add_many(self.num_ranks, SOFTWARE_NS, flow_limit=RANK_RATE)
        self.rank_in = elements.add_many(self.num_ranks, SOFTWARE_NS, flow_limit=RANK_RATE)
        self.inside = elements.add_many(self.num_hosts, SHARED_MEMORY_NS, MEMORY_RATE, MEMORY_FLOW_RATE)
        self.other_socket = elements.add_many(
            self.num_hosts, OTHER_SOCKET_NS, OTHER_SOCKET_RATE, OTHER_SOCKET_FLOW_RATE
        )
        num_adapters = self.num_hosts * self.num_rails
        self.port_out = elements.add_many(num_adapters, ADAPTER_NS + CABLE_NS, PORT_RATE)
        self.port_in = elements.add_many(num_adapters, ADAPTER_NS + CABLE_NS, PORT_RATE)
        self.switch = elements.add_many(len(network.switches), SWITCH_NS)
        self.cable = elements.add_many(2 * len(network.cables), CABLE_NS, CABLE_RATE)
        self.links: dict[tuple[int, int], int] = {}  # ordered pair of hosts or of ranks: an element of its own
        self.links_are_of_ranks = False
        self.elements = elements
        for host, factor in layout.software_factors.items():
            for rank in self.ranks_of(host):
                elements.latency_ns[self.rank_out[rank]] *= factor
                elements.latency_ns[self.rank_in[rank]] *= factor
        self._num_choices, self._routes, self._leaf_number = route_table(network)
        self._attached = np.array(network.attached, dtype=np.int32)
        self._element_of_route = np.concatenate([[NOTHING], self.switch, self.cable]).astype(np.int32)

    def host_name(self, host: int) -> str:
        return f"n{host + 1:04d}"

    def host_of(self, ranks: Ints) -> Ints:
        by = ranks % self.num_hosts if self.layout.goes_round else ranks // self.layout.ranks_per_host
        return np.asarray(by, dtype=np.int32)

    def host_of_rank(self, rank: int) -> int:
        return int(self.host_of(np.array([rank], dtype=np.int32))[0])

    def ranks_of(self, host: int) -> range:
        if self.layout.goes_round:
            return range(host, self.num_ranks, self.num_hosts)
        return range(host * self.layout.ranks_per_host, (host + 1) * self.layout.ranks_per_host)

    def socket_of(self, ranks: Ints) -> Ints:
        """Ranks of a host fill its sockets block by block; adapters are on the first one, or spread over all."""
        return np.asarray(
            self.place_of(ranks) * self.layout.sockets_per_host // self.layout.ranks_per_host, dtype=np.int32
        )

    def rail_of(self, ranks: Ints) -> Ints:
        return np.asarray(self.place_of(ranks) * self.num_rails // self.layout.ranks_per_host, dtype=np.int32)

    def place_of(self, ranks: Ints) -> Ints:
        """On its host, from 0."""
        by = ranks // self.num_hosts if self.layout.goes_round else ranks % self.layout.ranks_per_host
        return np.asarray(by, dtype=np.int32)

    def add_link(self, first: int, second: int) -> int:
        """An element that only messages from the first host (or rank) to the second pass."""
        self.links[first, second] = self.elements.add(0.0)
        return self.links[first, second]

    def paths(self, sender: Ints, receiver: Ints, draw: Ints | None = None) -> Ints:
        """Elements of each message, [messages, length]. `draw` picks another of the equal routes (adaptive routing)."""
        from_host, to_host = self.host_of(sender), self.host_of(receiver)
        is_inside = from_host == to_host
        from_rail, to_rail = self.rail_of(sender), self.rail_of(receiver)
        columns = [self.rank_out[sender], self.rank_in[receiver]]
        columns.append(np.where(is_inside, self.inside[from_host], NOTHING))
        columns += self._sockets(sender, receiver, from_rail, to_rail, is_inside)
        columns.append(np.where(is_inside, NOTHING, self.port_out[from_host * self.num_rails + from_rail]))
        columns.append(np.where(is_inside, NOTHING, self.port_in[to_host * self.num_rails + to_rail]))
        source = self._leaf_number[self._attached[from_host, from_rail]]
        target = self._leaf_number[self._attached[to_host, to_rail]]
        choice = self._choice(sender, receiver, draw) % self._num_choices[source, target]
        route = self._element_of_route[self._routes[source, target, choice]]
        columns += list(np.where(is_inside[:, None], NOTHING, route).T)
        if self.links:
            columns.append(self._link(sender, receiver))
        return joined(columns)

    def _sockets(self, sender: Ints, receiver: Ints, from_rail: Ints, to_rail: Ints, is_inside: Ints) -> list[Ints]:
        if self.layout.sockets_per_host == 1:
            return []
        from_socket, to_socket = self.socket_of(sender), self.socket_of(receiver)
        from_host, to_host = self.host_of(sender), self.host_of(receiver)
        sockets = self.layout.sockets_per_host
        adapter_from, adapter_to = from_rail * sockets // self.num_rails, to_rail * sockets // self.num_rails
        leaves = np.where(is_inside, from_socket != to_socket, from_socket != adapter_from)
        arrives = ~is_inside.astype(bool) & (to_socket != adapter_to)
        return [
            np.where(leaves, self.other_socket[from_host], NOTHING),
            np.where(arrives, self.other_socket[to_host], NOTHING),
        ]

    def choice(self, sender: Ints, receiver: Ints) -> int:
        """Of one message; modulo the number of routes."""
        return int(self._choice(sender, receiver, None)[0])

    def _choice(self, sender: Ints, receiver: Ints, draw: Ints | None) -> Ints:
        """A hash as switches make one: of both ends (ECMP), or of the destination alone: the rank, or its host, whose
        address a forwarding table has."""
        if self.layout.routing == "table":
            receiver = self.host_of(receiver)
        keys = receiver.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        if self.layout.routing not in ("destination", "table"):
            keys ^= (sender.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
        if draw is not None:
            keys += draw.astype(np.uint64) * np.uint64(0x165667B19E3779F9)
        keys += np.uint64(self.layout.seed)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64's finaliser
            keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray((keys >> np.uint64(33)) % np.uint64(1 << 30), dtype=np.int32)

    def _link(self, sender: Ints, receiver: Ints) -> Ints:
        ends = (sender, receiver) if self.links_are_of_ranks else (self.host_of(sender), self.host_of(receiver))
        num = self.num_ranks
        keys = np.array(sorted(first * num + second for first, second in self.links))
        elements = np.array([self.links[int(key) // num, int(key) % num] for key in keys])
        wanted = ends[0].astype(np.int64) * num + ends[1]
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.asarray(np.where(keys[place] == wanted, elements[place], NOTHING), dtype=np.int32)

    def topology_text(self, as_cables: bool) -> str:
        """What is given to the judge: Slurm's file or the list of cables."""
        make = cable_list if as_cables else slurm_topology
        return make(self.network, self.host_name)
