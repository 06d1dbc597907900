# SPDX-License-Identifier: Apache-2.0
"""Hosts with a fault of each kind: what is at fault is named first; and nothing is named where nothing is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from network import Network, NotHereError
from verdicts import NUM_HOSTS, Cell, findings, prepare

ON_A_STAR = [
    "nothing", "a host is limited", "a link is limited", "a link is longer", "a link loses", "a cable is longer",
    "a host is busy", "a host and a link",
]  # fmt: skip
CELLS = [
    *(Cell("star", "link", 2, name) for name in ON_A_STAR),
    *(Cell("leaves", "link", 2, name) for name in ("the trunk is limited", "the trunk and a link")),
    *(Cell("star", "io", 2, name) for name in ("a host writes slowly", "a target is slow")),
]


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: f"{cell.benchmark}: {cell.name}")
def test_what_is_at_fault_is_named_first(network: Callable[[int], Network], tmp_path: Path, cell: Cell) -> None:
    hosts = network(NUM_HOSTS)
    try:
        prepare(cell, hosts, tmp_path)
    except NotHereError as reason:
        pytest.skip(f"this fault cannot be made here: {reason}")
    faults = findings(cell, hosts, tmp_path)
    assert cell.is_right(faults), faults
