# SPDX-License-Identifier: Apache-2.0
"""Boots the virtual machine once, runs all jobs there, and hands out how they ended."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program
from built_program import built, pytest_configure  # noqa: F401
from jobs import JOBS
from machine import Done, NotHereError, image, run

# Twelve minutes were seen on two cores with five times as much to do as they could; a bound, not an expectation.
PATIENCE_S = float(os.environ.get("LEADLINE_RDMA_PATIENCE") or 1800)


@pytest.fixture(scope="session")
def ended(built: None) -> Iterator[dict[str, Done]]:  # noqa: F811, ARG001
    """Every job by its name. Where there is no such machine, the reason is that of a skip."""
    if os.geteuid() != 0:
        pytest.skip("no virtual machine with RDMA devices: only root can hand all files to it")
    cache = program.ROOT / "build" / "rdma"
    try:
        # In the build folder: the machine has temporary folders of its own.
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="run.") as share:
            build = program.PROGRAM.parents[1]
            yield run(image(cache), JOBS, build, Path(share), timeout_s=PATIENCE_S)
    except NotHereError as reason:
        pytest.skip(f"no virtual machine with RDMA devices: {reason}")
