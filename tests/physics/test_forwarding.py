# SPDX-License-Identifier: Apache-2.0
"""Forwarding tables follow the routes that the cluster takes, and the program reads them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import forwarding
import networks
import numpy as np
import program
import pytest
from cluster import Cluster, Layout
from families import write_case
from networks import Network

NETWORKS = {
    "fat tree": networks.fat_tree([3, 2, 4], 4),
    "bundle": networks.fat_tree([2, 2], 1, 4),
    "pods": networks.fat_tree_of_pods(2, 2, 3, 2, 4),
}


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_tables_lead_each_message_along_its_route(network: Network) -> None:
    cluster = Cluster(network, Layout(2, routing="table"))
    tables, ports = forwarding.tables_of(cluster), forwarding.ports_of_cables(cluster)
    cable_at = {
        (switch, port): number
        for number, (cable, both) in enumerate(zip(network.cables, ports, strict=True))
        for switch, port in zip((cable.first, cable.second), both, strict=True)
    }
    of_cable = {int(element): number // 2 for number, element in enumerate(cluster.cable)}
    everybody = np.arange(cluster.num_ranks, dtype=np.int32)
    for sender in range(cluster.num_ranks):
        for receiver, path in zip(everybody, cluster.paths(np.full_like(everybody, sender), everybody), strict=True):
            source, target = cluster.host_of_rank(sender), cluster.host_of_rank(int(receiver))
            if source == target:
                continue
            at, passed = network.attached[source][0], []
            while at != network.attached[target][0]:
                passed.append(cable_at[at, tables[at][target]])
                cable = network.cables[passed[-1]]
                at = cable.second if at == cable.first else cable.first
            assert passed == [of_cable[int(element)] for element in path if int(element) in of_cable]


def test_only_a_cluster_that_is_routed_by_tables_has_some() -> None:
    with pytest.raises(ValueError, match="routed by tables"):
        forwarding.tables_of(Cluster(networks.star(3), Layout()))


def test_bad_tables_are_refused_with_file_and_line(tmp_path: Path) -> None:
    files = write_case("core switch, tables", 1, tmp_path)
    assert files.topology and files.routes
    files.routes.write_text(files.routes.read_text() + "0x03e9 none\n")
    words = [
        "diagnose",
        files.result,
        "--topology",
        files.topology,
        "--routes",
        files.routes,
    ]
    process = subprocess.run([program.PROGRAM, *words], capture_output=True, text=True, check=False)
    number = len(files.routes.read_text().splitlines())
    assert process.returncode == 2
    assert process.stderr.count("\n") == 1
    assert f"cannot use '{files.routes}' as forwarding tables (line {number}: it names no port" in process.stderr


def test_tables_need_the_fabric(tmp_path: Path) -> None:
    files = write_case("core switch, tables", 1, tmp_path)
    assert files.routes
    words = ["diagnose", files.result, "--routes", files.routes]
    process = subprocess.run([program.PROGRAM, *words], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (2, "")
    assert "--topology" in process.stderr
