# SPDX-License-Identifier: Apache-2.0
"""Hosts with a fault of each kind: what is at fault is named first; and nothing is named where nothing is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from network import Network, NotHereError
from verdicts import NUM_HOSTS, SCENARIOS, findings


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_at_fault_is_named_first(network: Callable[[int], Network], tmp_path: Path, name: str) -> None:
    scenario = SCENARIOS[name]
    hosts = network(NUM_HOSTS)
    try:
        scenario.damage(hosts)
    except NotHereError as reason:
        pytest.skip(f"this fault cannot be made here: {reason}")
    (faults,) = findings(hosts, scenario, tmp_path)
    assert scenario.is_right(faults), faults
