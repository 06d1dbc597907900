# SPDX-License-Identifier: Apache-2.0
"""Makes the hosts of a test, or skips it with the reason why they cannot be made here."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from built_program import built, pytest_configure  # noqa: F401
from network import Network, NotHereError


@pytest.fixture
def network(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], Network]]:
    with contextlib.ExitStack() as stack:

        def make(num_hosts: int) -> Network:
            try:
                return stack.enter_context(Network(num_hosts, tmp_path_factory.mktemp("network")))
            except NotHereError as reason:
                pytest.skip(f"no network namespaces here: {reason}")

        yield make
