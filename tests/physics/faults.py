# SPDX-License-Identifier: Apache-2.0
"""Faults of a cluster: which elements they concern, and how they change them.

`factor` is what a fault does to the measured time of a usual pair that passes the element once: time with it by time
without. As latency it adds a constant; as bandwidth it lowers a limit. So two slow latencies on a path add up, and of
two slow bandwidths the lower one counts. Of lost messages `factor` is meaningless and `lost` the share of messages.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from cluster import Cluster
from elements import Floats, Ints, Table

Kind = Literal["rank", "host", "port", "rail", "switch", "uplink", "cable", "core", "link", "pair"]
Way = Literal["both", "out", "in"]
Symptom = Literal["latency", "bandwidth", "loss"]


@dataclass(frozen=True)
class Fault:
    """`place`: rank, host, switch or cable; of a link or pair the second end is `other`.

    An uplink is all cables from a switch to others; its place is the switch. A core is a switch without hosts.
    A rail is one adapter of every host.
    """

    kind: Kind
    place: int
    factor: float
    symptom: Symptom = "latency"
    way: Way = "both"
    other: int = -1
    lost: float = 0.0


@dataclass(frozen=True)
class Usual:
    """What a usual pair between hosts shows at a size: its time one way under load, and how elements are shared."""

    size_bytes: int
    time_ns: float
    latency_ns: float
    shares: Floats


def plant(cluster: Cluster, faults: list[Fault], table: Table, of_small: Usual, of_large: Usual) -> None:
    """Changes the table: latencies by what small messages take, bandwidths by what large ones take."""
    for fault in faults:
        elements = elements_of(cluster, fault)
        # Of a round trip a fault one way concerns one half.
        factor = fault.factor if fault.way == "both" else 2 * fault.factor - 1
        if fault.symptom == "loss":
            table.loss[elements] = 1 - (1 - table.loss[elements]) * (1 - fault.lost)
            continue
        if fault.symptom == "latency":
            # Both ends of a round trip pass a rank's elements once in each direction.
            table.latency_ns[elements] += (factor - 1) * of_small.time_ns
            continue
        rate = of_large.size_bytes / (factor * of_large.time_ns - of_large.latency_ns)
        if fault.kind in ("rank", "host", "switch", "core", "link", "pair"):
            table.flow_limit[elements] = np.minimum(table.flow_limit[elements], rate)
        else:
            table.capacity[elements] = np.minimum(table.capacity[elements], rate * of_large.shares[elements])


def elements_of(cluster: Cluster, fault: Fault) -> Ints:
    """Each of them is passed once in a direction by a path that meets the fault."""
    out, into = _ways(cluster, fault)
    chosen = {"both": [out, into], "out": [out], "in": [into]}[fault.way]
    return np.unique(np.concatenate(chosen)).astype(np.int32)


def _ways(cluster: Cluster, fault: Fault) -> tuple[Ints, Ints]:
    place, network = fault.place, cluster.network
    if fault.kind == "rank":
        return cluster.rank_out[[place]], cluster.rank_in[[place]]
    if fault.kind == "host":
        ranks = list(cluster.ranks_of(place))
        return cluster.rank_out[ranks], cluster.rank_in[ranks]
    if fault.kind == "port":
        adapters = np.arange(place * cluster.num_rails, (place + 1) * cluster.num_rails)
        return cluster.port_out[adapters], cluster.port_in[adapters]
    if fault.kind == "rail":
        adapters = np.arange(place, cluster.num_hosts * cluster.num_rails, cluster.num_rails)
        return cluster.port_out[adapters], cluster.port_in[adapters]
    if fault.kind in ("switch", "core"):
        return cluster.switch[[place]], cluster.switch[[place]]
    if fault.kind == "cable":
        return cluster.cable[[2 * place]], cluster.cable[[2 * place + 1]]
    if fault.kind == "uplink":
        away = [2 * number + (0 if network.cables[number].first == place else 1) for number in network.cables_of(place)]
        return cluster.cable[away], cluster.cable[[number ^ 1 for number in away]]
    return _link(cluster, fault.place, fault.other), _link(cluster, fault.other, fault.place)


def _link(cluster: Cluster, first: int, second: int) -> Ints:
    return np.array([cluster.links[first, second]], dtype=np.int32)


def prepare(cluster: Cluster, faults: list[Fault]) -> None:
    """Links and pairs get elements of their own, before the table is made."""
    ends = {fault.kind for fault in faults} & {"link", "pair"}
    if len(ends) > 1:
        raise ValueError("either links of hosts or pairs of ranks")
    cluster.links_are_of_ranks = "pair" in ends
    for fault in faults:
        if fault.kind in ("link", "pair"):
            cluster.add_link(fault.place, fault.other)
            cluster.add_link(fault.other, fault.place)


def truth(cluster: Cluster, faults: list[Fault]) -> list[dict[str, Any]]:
    """What was planted: of each fault its name, hosts and ranks; of cables and switches the hosts of each side."""
    told = []
    for fault in faults:
        one: dict[str, Any] = {**asdict(fault), **_places(cluster, fault)}
        told.append(one)
    return told


def _places(cluster: Cluster, fault: Fault) -> dict[str, Any]:
    network, name = cluster.network, cluster.host_name
    if fault.kind == "rank":
        host = cluster.host_of_rank(fault.place)
        return {"name": f"rank {fault.place}", "ranks": [fault.place], "hosts": [name(host)], "switches": []}
    if fault.kind in ("host", "port"):
        return {
            "name": name(fault.place),
            "ranks": list(cluster.ranks_of(fault.place)),
            "hosts": [name(fault.place)],
            "switches": [],
        }
    if fault.kind == "rail":
        first_host = np.array(cluster.ranks_of(0), dtype=np.int32)
        places = np.flatnonzero(cluster.rail_of(first_host) == fault.place).tolist()
        return {"name": f"rail {fault.place}", "ranks": places, "hosts": [], "switches": []}
    if fault.kind in ("link", "pair"):
        ends = [fault.place, fault.other]
        hosts = ends if fault.kind == "link" else [cluster.host_of_rank(end) for end in ends]
        names = [name(host) for host in hosts]
        ranks = ends if fault.kind == "pair" else [rank for host in hosts for rank in cluster.ranks_of(host)]
        return {"name": " - ".join(map(str, names)), "ranks": ranks, "hosts": names, "switches": []}
    if fault.kind == "cable":
        cable = network.cables[fault.place]
        switches = [cable.first, cable.second]
        beyond = network.hosts_beyond(fault.place)
        sides = list(beyond) if beyond else []
    else:
        switches, sides = [fault.place], []
    sides += [hosts for hosts in map(network.hosts_of, switches) if hosts]
    names = [network.switches[switch] for switch in switches]
    return {
        "name": " - ".join(names),
        "ranks": [],
        "hosts": [],
        "switches": names,
        "sides": [[name(host) for host in side] for side in sides],
    }
