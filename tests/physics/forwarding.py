# SPDX-License-Identifier: Apache-2.0
"""The same network as an InfiniBand fabric: what ibnetdiscover and ibroute print, for clusters routed by tables.

A host has one adapter, whose LID is its number + FIRST_HOST_LID. A forwarding table says by which port a switch sends
on what is for a LID; it follows from the routes that the cluster takes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from cluster import Cluster

FIRST_HOST_LID = 1001
SWITCH_GUID, HOST_GUID = 0x2C9000000000000, 0xC42A1000000000


def ports_of_cables(cluster: Cluster) -> list[tuple[int, int]]:
    """Of each cable the port at its first and at its second switch; hosts take the lower ports."""
    network = cluster.network
    used = [len(network.hosts_of(switch)) for switch in range(len(network.switches))]
    ports = []
    for cable in network.cables:
        used[cable.first] += 1
        used[cable.second] += 1
        ports.append((used[cable.first], used[cable.second]))
    return ports


def fabric_text(cluster: Cluster) -> str:
    """As ibnetdiscover prints it."""
    network, ports = cluster.network, ports_of_cables(cluster)
    lines: list[str] = []
    for switch, name in enumerate(network.switches):
        lines.append(f'Switch\t64 "S-{SWITCH_GUID + switch:016x}"\t# "{name}" enhanced port 0 lid {switch + 1} lmc 0')
        for port, host in enumerate(network.hosts_of(switch), 1):
            lines.append(
                f'[{port}]\t"H-{HOST_GUID + host:016x}"[1]({HOST_GUID + host:x})\t'
                f'# "{cluster.host_name(host)} HCA-1" lid {FIRST_HOST_LID + host} 4xHDR'
            )
        for cable, (first, second) in zip(network.cables, ports, strict=True):
            for own, port, other, there in (
                (cable.first, first, cable.second, second),
                (cable.second, second, cable.first, first),
            ):
                if own == switch:
                    text = f'[{port}]\t"S-{SWITCH_GUID + other:016x}"[{there}]\t# "{network.switches[other]}"'
                    lines.append(f"{text} lid {other + 1} 4xHDR")
        lines.append("")
    return "\n".join(lines) + "\n"


def tables_text(cluster: Cluster) -> str:
    """As ibroute prints them, one switch after the other."""
    lines: list[str] = []
    tables = tables_of(cluster)
    for switch, name in enumerate(cluster.network.switches):
        head = f"Unicast lids [0x0-0x{FIRST_HOST_LID + cluster.num_hosts - 1:x}] of switch Lid {switch + 1}"
        lines.append(f"{head} guid 0x{SWITCH_GUID + switch:016x} ({name}):")
        lines += ["  Lid  Out   Destination", "       Port     Info "]
        for host, port in sorted(tables[switch].items()):
            about = f"(Channel Adapter portguid 0x{HOST_GUID + host:016x}: '{cluster.host_name(host)} HCA-1')"
            lines.append(f"0x{FIRST_HOST_LID + host:04x} {port:03d} : {about}")
        lines.append(f"{len(tables[switch])} valid lids dumped ")
    return "\n".join(lines) + "\n"


def tables_of(cluster: Cluster) -> list[dict[int, int]]:
    """By switch: the port for each host. A ValueError where the routes of two switches to a host disagree."""
    if cluster.layout.routing != "table":
        raise ValueError("only a cluster that is routed by tables has some")
    tables: list[dict[int, int]] = [{} for _ in cluster.network.switches]
    for switch, host, port in _entries(cluster):
        if tables[switch].setdefault(host, port) != port:
            raise ValueError(f"{cluster.network.switches[switch]} has two ports for host {host}")
    return tables


def _entries(cluster: Cluster) -> Iterator[tuple[int, int, int]]:
    network, ports = cluster.network, ports_of_cables(cluster)
    routes = network.routes()
    for host in range(cluster.num_hosts):
        leaf = network.attached[host][0]
        yield leaf, host, network.hosts_of(leaf).index(host) + 1
        receiver = np.array([cluster.ranks_of(host)[0]], dtype=np.int32)
        for source in network.leaves:
            if source == leaf:
                continue
            choices = routes[source, leaf]
            route = choices[cluster.choice(receiver, receiver) % len(choices)]
            for switch, way in zip(route[0::2], route[1::2], strict=False):
                yield switch, host, ports[way // 2][way % 2]
