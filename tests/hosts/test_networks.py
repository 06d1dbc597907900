# SPDX-License-Identifier: Apache-2.0
"""Which of its networks a host sends its messages over: --interface."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import program
import pytest
from network import Network
from ranks import finish, started
from result import ResultFile, summary_of

pytestmark = pytest.mark.any_load

Make = Callable[[int], Network]
SIZE, MESSAGES = 65536, 50


@pytest.fixture
def hosts(network: Make) -> Network:
    """Two hosts with two networks."""
    both = network(2)
    both.add_second_network([0, 1])
    return both


def received(hosts: Network, device: str) -> int:
    """Bytes that came to the first host by this device so far."""
    words = hosts.on(0, "ip", "-s", "-j", "link", "show", "dev", device)
    # `ip` and not /sys, which shows the devices of the namespace that mounted it.
    line = subprocess.run(words, capture_output=True, text=True, timeout=20, check=True).stdout
    return int(line.split('"rx":{"bytes":')[1].split(",")[0])


@pytest.mark.parametrize("interface", ["eth1", "10.56.0.0/24", "10.56.", "fd56::/64"])
def test_messages_go_over_the_network_that_was_chosen(hosts: Network, tmp_path: Path, interface: str) -> None:
    before = {device: received(hosts, device) for device in ("eth0", "eth1")}
    words = ["--interface", interface, "--message-size", str(SIZE), "--messages", str(MESSAGES), "--verify"]
    with started(hosts, [0, 1], tmp_path, *words) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0, 0], [end.err for end in ends]
    went = {device: received(hosts, device) - before[device] for device in before}
    assert went["eth1"] > SIZE * MESSAGES, "the messages took another way"
    assert went["eth0"] < SIZE * MESSAGES / 4, "the control plane alone takes the network of the variables"
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.devices == ["eth1", "eth1"]
    assert np.array_equal(result.measured(), result.every_pair())


def test_the_ranks_of_a_host_take_several_networks_in_turn(hosts: Network, tmp_path: Path) -> None:
    words = ["--interface", "eth0,eth1", "--message-size", "4KiB", "--messages", "20", "--verify"]
    with started(hosts, [0, 0, 1, 0, 1], tmp_path, *words) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 5, [end.err for end in ends]
    result = ResultFile(tmp_path / "r.h5")
    assert result.devices == ["eth0", "eth1", "eth0", "eth0", "eth1"]
    assert np.array_equal(result.measured(), result.every_pair())
    opened = result.summary["connections"]
    assert opened["num_opened"] == 5 * 4
    assert 0 < opened["longest_s"] <= opened["total_s_max"]
    assert {opened["longest_rank"], opened["longest_partner"]} <= set(range(5))


def test_a_host_without_that_network_is_named(network: Make, tmp_path: Path) -> None:
    hosts = network(2)
    hosts.add_second_network([0])
    with started(hosts, [0, 1], tmp_path, "--interface", "eth1") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [3, 3], [end.err for end in ends]
    errors = "".join(end.err for end in ends)
    assert errors.count("leadline: ") == 1, errors
    assert "no network interface matches 'eth1'" in errors, errors
    assert "eth0 10.55.0.2" in errors, "what that host has"
    assert not (tmp_path / "r.h5").exists(), "nothing was begun"


# The kernel shows no NUMA nodes of these devices: a folder stands in for its own.
_WITH_NUMA_NODES = """
mount -t tmpfs none /sys/class/net && for pair in "$1" "$2"; do
  mkdir -p "/sys/class/net/${pair%:*}/device" && echo "${pair#*:}" >"/sys/class/net/${pair%:*}/device/numa_node"
done && shift 2 && exec "$@"
"""


def devices_used(hosts: Network, folder: Path, *, nodes: tuple[str, str], words: tuple[str, ...] = ()) -> list[str]:
    """By two ranks, each on a host of its own with these NUMA nodes of its devices, and on the node 0 itself."""
    command = [program.PROGRAM, "link", "--wait", "block", "--bind", "numa", "--verbose", "--output", "r.h5"]
    sizes = ["--message-size", str(SIZE), "--messages", str(MESSAGES), "--verify"]
    before = {device: received(hosts, device) for device in ("eth0", "eth1")}
    with contextlib.ExitStack() as stack:
        runs = [
            stack.enter_context(
                program.Run(
                    hosts.on(host, "sh", "-c", _WITH_NUMA_NODES, "sh", *nodes, *command, *sizes, *words),
                    folder,
                    program.explicit_environment(hosts.addresses[:2], [20000, 20001], host),
                )
            )
            for host in (0, 1)
        ]
        ends = finish(runs)
    assert [end.status for end in ends] == [0, 0], [end.err for end in ends]
    result = ResultFile(folder / "r.h5")
    assert np.array_equal(result.measured(), result.every_pair())
    used = "eth1" if "this one eth1" in ends[0].err else "eth0"
    came = {device: received(hosts, device) - before[device] for device in before}
    assert came[used] > SIZE * MESSAGES, "messages went where it was said"
    return result.devices


@pytest.fixture
def one_network(network: Make) -> Network:
    """Two hosts with two adapters each on one network."""
    if len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) != 1:
        pytest.skip("this machine has not just one NUMA node")
    both = network(2)
    both.add_second_adapter([0, 1])
    return both


def test_ranks_use_the_adapter_of_their_numa_node(one_network: Network, tmp_path: Path) -> None:
    assert devices_used(one_network, tmp_path, nodes=("eth0:1", "eth1:0")) == ["eth1", "eth1"]


@pytest.mark.parametrize("nodes", [("eth0:0", "eth1:1"), ("eth0:-1", "eth1:-1"), ("eth0:0", "eth1:0")])
def test_ranks_keep_the_adapter_of_the_run_where_none_is_nearer(
    one_network: Network, tmp_path: Path, nodes: tuple[str, str]
) -> None:
    assert devices_used(one_network, tmp_path, nodes=nodes) == ["", ""]


def test_the_users_choice_goes_before_the_nearest_adapter(one_network: Network, tmp_path: Path) -> None:
    chosen = devices_used(one_network, tmp_path, nodes=("eth0:1", "eth1:0"), words=("--interface", "eth0"))
    assert chosen == ["eth0", "eth0"]


def test_adapters_of_different_networks_are_not_mixed(hosts: Network, tmp_path: Path) -> None:
    for host in (0, 1):
        hosts.answer_for_own_addresses(host)
    assert devices_used(hosts, tmp_path, nodes=("eth0:1", "eth1:0")) == ["", ""]


def test_an_adapter_that_does_not_carry_its_own_address_is_not_chosen(one_network: Network, tmp_path: Path) -> None:
    """On one host of the two."""
    rule = ["ip", "rule", "del", "table", "2"]
    subprocess.run(one_network.on(1, *rule), capture_output=True, timeout=20, check=True)
    devices = devices_used(one_network, tmp_path, nodes=("eth0:1", "eth1:0"))
    assert devices == ["eth1", "eth0"]


def test_empty_names_of_networks_are_refused(tmp_path: Path) -> None:
    done = program.complete([program.PROGRAM, "link", "--local", "2", "--interface", "eth0,,eth1"], tmp_path)
    assert done.status == 2
    assert "--interface" in done.err


def test_pairs_are_compared_with_what_their_adapters_carry(network: Make, tmp_path: Path) -> None:
    """The kernel tells 10 Gb/s of these devices; no comparison among hosts shows that all cables are slow."""
    hosts = network(3)
    for host in range(3):
        hosts.slow_down(host, "1gbit")
    words = ["--serial", "--message-size", "1KiB,1MiB", "--messages", "2", "--warmup", "0", "--retest", "0"]
    with started(hosts, [0, 1, 2], tmp_path, *words) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 3, [end.err for end in ends]
    summary = summary_of(tmp_path / "r.h5")
    assert summary["provenance"]["line_rate"] == {"adapter": "eth0, 10 Gb/s", "bytes_per_s": 1.25e9}
    small, large = (one["diagnosis"]["line_rate"] for one in summary["slices"])
    assert small is None
    assert 0.01 < large["share"] < 0.3
    sentence = f"alone a pair between hosts reaches {100 * large['share']:.3g} % of the line rate of its adapter"
    assert sentence in " ".join(ends[0].out.split())
    told = json.loads(program.complete([program.PROGRAM, "diagnose", "r.h5", "--json"], tmp_path).out)
    assert told["slices"][1]["diagnosis"] == summary["slices"][1]["diagnosis"]
