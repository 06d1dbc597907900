# SPDX-License-Identifier: Apache-2.0
"""Forwarding tables follow the routes that the cluster takes, and the program reads them."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import forwarding
import h5py
import networks
import numpy as np
import program
import pytest
from cluster import Cluster, Layout
from fabrics import fabric_file
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


def test_a_run_names_a_cable_as_a_diagnosis_of_its_file_does(tmp_path: Path) -> None:
    cluster = Cluster(networks.fat_tree([4] * 4, 2), Layout(routing="table"))
    bad = cluster.cable[:2]  # the first cable, both ways
    hosts = np.arange(cluster.num_hosts, dtype=np.int32)
    faults = [
        {"slow_link": [int(source), int(target)], "factor": 3}
        for source in hosts
        for target, path in zip(hosts, cluster.paths(np.full_like(hosts, source), hosts), strict=True)
        if np.isin(path, bad).any()
    ]
    fabric = fabric_file(tmp_path, *faults, ranks_per_host=1, hosts_per_switch=4, host_name="n", jitter=0.02)

    def as_named(text: str) -> str:
        return re.sub(r"\bn(\d{4})\b", lambda name: f"n{int(name[1]) - 1}", text)

    (tmp_path / "ib.txt").write_text(as_named(forwarding.fabric_text(cluster)))
    (tmp_path / "tables").write_text(as_named(forwarding.tables_text(cluster)))

    def ran(*words: str | Path) -> str:
        network = ["--topology", tmp_path / "ib.txt", "--routes", tmp_path / "tables"]
        process = subprocess.run([program.PROGRAM, *words, *network], capture_output=True, text=True, check=False)
        assert process.returncode == 0, process.stderr
        return process.stdout

    words = ["--transport", fabric, "--local", str(len(hosts)), "--message-size", "1KiB", "--messages", "20", "--quiet"]
    ran("link", *words, "--output", tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        of_run = json.loads(file["summary"][()])["slices"][0]["diagnosis"]
    (of_file,) = json.loads(ran("diagnose", tmp_path / "run.h5", "--json"))["slices"]
    assert of_run == of_file["diagnosis"]
    (cable,) = [one for one in of_run["faults"] if one["list"] == "persistent"]
    first = cluster.network.cables[0]
    switches = {cluster.network.switches[end] for end in (first.first, first.second)}
    assert {cable["switch_name"], cable["other_switch_name"]} == switches
    assert (cable["kind"], cable["component"]["first"]) == ("cable", None)
