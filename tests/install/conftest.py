# SPDX-License-Identifier: Apache-2.0
"""The release build, installed into a folder and moved to another one."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program
from built_program import built, pytest_configure  # noqa: F401

BUILD = program.PROGRAM.parents[1]


class Installation(NamedTuple):
    """Where it was installed, and where it is now."""

    before: Path
    folder: Path

    def run(self, name: str, *words: str | Path, cwd: Path, **options: Any) -> program.Done:
        """One of its programs as a user has it."""
        env = bare_environment() | options.pop("env", {})
        return program.complete([self.folder / "bin" / name, *words], cwd, env=env, **options)


def bare_environment() -> dict[str, str]:
    """Nothing of this checkout is on the path; Python finds what the analysis needs in the environment of the tests."""
    kept = program.clean_environment()
    return kept | {"PATH": "/usr/bin:/bin", "PYTHONPATH": sysconfig.get_path("purelib")}


def installed(*words: str | Path, **variables: str) -> None:
    """`cmake --install` of the release build."""
    command = ["cmake", "--install", BUILD, *words]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=program.clean_environment(variables)
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def build() -> Path:
    """The folder of the release build, built as a whole."""
    if not (BUILD / "cmake_install.cmake").is_file():
        pytest.skip(f"{program.PROGRAM} is not in a build folder")
    if not (BUILD / "share" / "bash-completion" / "completions" / "leadline").is_file():
        pytest.skip("the target all was not built: completions and manual pages are missing")
    return BUILD


@pytest.fixture(scope="session")
def moved(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:  # noqa: ARG001
    """Stripped, and moved with a blank in its path."""
    folder = tmp_path_factory.mktemp("install")
    before, after = folder / "at-first", folder / "moved to"
    installed("--prefix", before, "--strip")
    before.rename(after)
    return Installation(before, after)


@pytest.fixture
def analysis(moved: Installation) -> Installation:
    """Where its commands can run: their Python is of the version whose packages the tests have."""
    command = moved.folder / "bin" / "leadline-report"
    if not command.is_file():
        pytest.skip("the build installs no analysis package (LEADLINE_ANALYSIS)")
    python = command.read_text(encoding="utf-8").splitlines()[0].removeprefix("#!")
    version = "import sys; print(*sys.version_info[:2])"
    if subprocess.run([python, "-c", version], capture_output=True, text=True, check=True).stdout.split() != [
        str(part) for part in sys.version_info[:2]
    ]:
        pytest.skip(f"{python} is of another version than the Python of the tests")
    return moved
