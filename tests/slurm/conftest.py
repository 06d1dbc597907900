# SPDX-License-Identifier: Apache-2.0
"""Starts a Slurm for the tests of this folder, or skips them with the reason why it cannot be had here."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "hosts"))

import network
from built_program import built, pytest_configure  # noqa: F401
from one_machine import NotHereError, Slurm


@pytest.fixture(scope="session")
def _running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    try:
        with Slurm(2, tmp_path_factory.mktemp("slurm")) as here:
            yield here
    except NotHereError as reason:
        pytest.skip(f"no Slurm here: {reason}")


@pytest.fixture
def slurm(_running: Slurm) -> Iterator[Slurm]:
    """Two nodes, the same for all tests; what its daemons have written is shown where a test fails."""
    yield _running
    print(_running.logs())


@pytest.fixture
def slurm_over_hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Two nodes on two hosts."""
    try:
        with (
            network.Network(2, tmp_path_factory.mktemp("network")) as hosts,
            Slurm(2, tmp_path_factory.mktemp("slurm"), hosts) as here,
        ):
            yield here
            print(here.logs())
    except (network.NotHereError, NotHereError) as reason:
        pytest.skip(f"no Slurm over network namespaces here: {reason}")
