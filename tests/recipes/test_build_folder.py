# SPDX-License-Identifier: Apache-2.0
"""Where the tools of recipes put the sources, the build finds them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import ROOT


@pytest.mark.slow
def test_sources_in_a_hidden_folder_are_found(tmp_path: Path) -> None:
    """EasyBuild builds in ~/.local/easybuild/build."""
    source = tmp_path / ".local" / "leadline"
    source.parent.mkdir()
    source.symlink_to(ROOT)
    off = (
        f"-DLEADLINE_{name}=OFF" for name in ("TESTS", "ANALYSIS", "MPI", "UCX", "LIBFABRIC", "VERBS", "PSM2", "PMIX")
    )
    command = ["cmake", "-G", "Ninja", "-S", source, "-B", tmp_path / "build", *off]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
