# SPDX-License-Identifier: Apache-2.0
"""Some cases of fault_matrix.py, which has all of them."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from fault_matrix import NUM_HOSTS, Case, named_in, run_case
from modules import require_module
from mpi_launchers import require_launcher
from network import Network

pytestmark = [pytest.mark.slow, pytest.mark.any_load]

CASES = [
    Case("kill", "io", "tcp", (2, 0)),
    Case("cut", "io N-N", "tcp", (3, 0)),
    Case("freeze", "bisection", "tcp", (3, 0)),
    Case("cut-between", "bisection", "tcp", (1, 2)),
    Case("one-way", "topology", "tcp", (3, 1)),
    Case("cut-for-3-s", "link", "tcp", (1, 0)),
    Case("cut", "link", "tcp", (2, 0)),
    Case("freeze", "link", "libfabric", (0, 1)),
    Case("cut-between", "link", "ucx", (1, 2)),
    Case("kill", "topology", "libfabric", (3, 0)),
    Case("kill", "topology", "mpi-ulfm", (2, 0)),
    Case("cut", "topology", "mpi-openmpi", (3, 0)),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(network: Callable[[int], Network], tmp_path: Path, case: Case) -> None:
    if case.launcher is None:
        require_module(case.transport)
    else:
        require_launcher(case.launcher)
    hosts = network(NUM_HOSTS)
    wrong = run_case(hosts, case, tmp_path)
    has_launcher_crashed = case.launcher is not None and f"status [{-signal.SIGSEGV}]" in " ".join(wrong)
    if has_launcher_crashed and case.fault == "kill":  # Open MPI's mpirun does now and then; the hosts are as before
        (again := tmp_path / "again").mkdir()
        wrong = run_case(hosts, case, again)
    assert wrong == []


def test_who_is_named() -> None:
    assert named_in("rank 1 on node1 and rank 2 on node2 do not reach each other") == {"node1", "node2"}
    assert named_in("(rank 0 on node0 reaches both)") == set()
    assert named_in("rank 1 on node1 has heard nothing from rank 0 on node0 for 4 s") == {"node0"}
    assert named_in("rank 0 on node0 has heard nothing from any other host") == {"node0"}
    assert named_in("rank 0 on node0 has lost its connection to rank 2 on node2") == {"node2"}
