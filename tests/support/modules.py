# SPDX-License-Identifier: Apache-2.0
"""Which transports there are to be tested, and what PSM2 needs where there is no adapter."""

from __future__ import annotations

import functools
import json
import subprocess
from pathlib import Path

import program
import pytest


@functools.cache
def not_built() -> dict[str, str]:
    """The reasons, by the names of transports."""
    done = subprocess.run([program.PROGRAM, "transports", "--json"], capture_output=True, check=True, timeout=120)
    all_of_them = json.loads(done.stdout)["modules"]
    return {one["module"]: one["why_not_loadable"] for one in all_of_them if "not built" in one["why_not_loadable"]}


def has_module(name: str) -> bool:
    """Whether it is part of the program."""
    return name not in not_built()


def require_module(transport: str) -> None:
    """Skips the test where a transport ("ucx", "ucx:tcp,self") has not been built."""
    name = transport.partition(":")[0]
    if not has_module(name):
        pytest.skip(f"the transport {name} is {not_built()[name]}")


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
