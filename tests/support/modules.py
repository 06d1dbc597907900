# SPDX-License-Identifier: Apache-2.0
"""Which transports there are to be tested, and what PSM2 needs where there is no adapter."""

from __future__ import annotations

import subprocess
from pathlib import Path

import program
import pytest


def has_module(name: str) -> bool:
    """Whether it lies beside the program."""
    return (program.PROGRAM.parents[1] / "lib" / "leadline" / f"leadline_transport_{name}.so").exists()


def require_module(transport: str) -> None:
    """Skips the test where a transport ("ucx", "ucx:tcp,self") has not been built."""
    name = transport.partition(":")[0]
    if not has_module(name):
        pytest.skip(f"the module {name} is not built")


def fake_adapter(folder: Path) -> dict[str, str]:
    """The environment in which PSM2 takes an adapter for present and sends messages through shared memory."""
    library = folder / "fake_adapter.so"
    source = program.ROOT / "tests" / "support" / "fake_adapter.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True, timeout=60)
    adapter = folder / "hfi1_0"
    adapter.mkdir()
    return {
        "LD_PRELOAD": str(library),
        "ASAN_OPTIONS": "verify_asan_link_order=0",
        "HFI_SYSFS_PATH": str(adapter),
        "PSM2_DEVICES": "self,shm",
    }
