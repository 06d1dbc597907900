# SPDX-License-Identifier: Apache-2.0
"""The transports over UCX and libfabric between hosts: over the network that is there, or the one that is chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from modules import require_module
from network import Network
from ranks import finish, started
from result import ResultFile

pytestmark = pytest.mark.any_load

Make = Callable[[int], Network]
FAR = ["ucx:tcp,self", "libfabric", "libfabric:tcp;ofi_rxm"]


def devices_used(hosts: Network, folder: Path, transport: str, *words: str) -> str:
    """Measures among three ranks on two hosts; what the file says of the device."""
    options = ["--messages", "10", "--message-size", "8,64KiB", "--verify", "--transport", transport, *words]
    with started(hosts, [0, 1, 0], folder, *options, wait="yield") as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [0] * 3, [end.err for end in ends]
    result = ResultFile(folder / "r.h5")
    assert result.complete
    assert (result.measured(size=1) == result.every_pair()).all()
    return str(result.provenance["transport_device"])


@pytest.mark.parametrize("transport", FAR)
def test_the_librarys_own_choice_reaches_other_hosts(network: Make, tmp_path: Path, transport: str) -> None:
    require_module(transport)
    used = devices_used(network(2), tmp_path, transport)
    assert "eth0" in used
    assert "libfabric" not in transport or "lo" not in used.split(), "no other host knows it by a loopback address"


@pytest.mark.parametrize("interface", ["eth0", "10.55.0.0/24"])
@pytest.mark.parametrize("transport", FAR)
def test_a_network_that_is_chosen(network: Make, tmp_path: Path, transport: str, interface: str) -> None:
    require_module(transport)
    used = devices_used(network(2), tmp_path, transport, "--interface", interface)
    assert used in ("tcp/eth0", "tcp;ofi_rxm eth0")


def test_shared_memory_does_not_reach_other_hosts(network: Make, tmp_path: Path) -> None:
    require_module("libfabric")
    with started(
        network(2), [0, 1], tmp_path, "--messages", "10", "--transport", "libfabric:shm", wait="yield"
    ) as runs:
        ends = finish(runs)
    assert [end.status for end in ends] == [3, 3], [end.err for end in ends]
    (complaint,) = [line for end in ends for line in end.complaints]
    assert "to other hosts by its provider shm" in complaint
