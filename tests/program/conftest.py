# SPDX-License-Identifier: Apache-2.0
"""What the tests of the whole program share: where it is, and how it is run in a folder of each test's own."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import hanging_files as hanging
import program
from built_program import built, pytest_configure  # noqa: F401


@pytest.fixture
def leadline(tmp_path: Path) -> program.Leadline:
    """Runs `leadline WORDS` to its end, in tmp_path."""

    def run(*words: str | Path, **options: Any) -> program.Done:
        return program.complete([program.PROGRAM, *words], options.pop("cwd", tmp_path), **options)

    return run


@pytest.fixture
def link(leadline: program.Leadline) -> program.Leadline:
    """Runs `leadline link` with few messages of one size; it must end well unless `status` says otherwise."""
    # Spinning is slow where others use the cores.
    usual = {"--messages": "5", "--message-size": "1KiB", "--wait": "yield"}

    def run(*words: str | Path, status: int = 0, **options: Any) -> program.Done:
        added = [word for name, value in usual.items() if name not in words for word in (name, value)]
        done = leadline("link", *words, *added, **options)
        assert done.status == status, f"status {done.status}\n{done.err}"
        return done

    return run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder for the files of a parallel file test."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@pytest.fixture
def frozen(files: Path) -> Iterator[hanging.HangingFiles]:
    """The folder of the files, whose server stops answering when it is told to."""
    try:
        mounted = hanging.HangingFiles(files)
    except hanging.UnavailableError as why:
        pytest.skip(str(why))
    with mounted:
        yield mounted


@pytest.fixture(params=["mpirun.openmpi", "mpiexec.hydra"])
def launcher(request: pytest.FixtureRequest) -> list[str]:
    """The words that start N ranks under each MPI; N comes next."""
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    return [request.param, *(["--oversubscribe"] if "openmpi" in request.param else []), "-n"]
