# SPDX-License-Identifier: Apache-2.0
"""The wheels that packaging/build-wheel has left in dist/, or LEADLINE_WHEEL; and a virtual environment with one."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program
from built_program import pytest_configure  # noqa: F401


@pytest.fixture(scope="session", autouse=True)
def no_other_package() -> None:
    """What is installed is what runs, not the package of this checkout."""
    os.environ.pop("PYTHONPATH", None)


def wheel_for(machine: str) -> Path:
    """Building it takes too long for a test."""
    named = os.environ.get("LEADLINE_WHEEL")
    there = [Path(named).resolve(strict=True)] if named else sorted((program.ROOT / "dist").glob("leadline-*.whl"))
    found = [path for path in there if path.name.endswith(f"_{machine}.whl")]
    if not found:
        pytest.skip(f"there is no wheel for {machine} (LEADLINE_WHEEL, or packaging/build-wheel --target {machine})")
    return found[-1]


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The one for this machine."""
    return wheel_for(platform.machine())


@pytest.fixture(scope="session", params=["x86_64", "aarch64"])
def any_wheel(request: pytest.FixtureRequest) -> Path:
    """Each that is there, whatever this machine is."""
    return wheel_for(request.param)


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the programs that pip installs; other packages are those of the Python that runs the tests."""
    folder = tmp_path_factory.mktemp("wheel") / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*pip, wheel], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "others.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"
