# SPDX-License-Identifier: Apache-2.0
"""The MPI libraries whose launchers the tests start ranks with: Debian's two, and one that has fault tolerance."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from modules import require_module

# Of the package `openmpi` of Python's index, beside the Python of the tests. Debian's is not built for fault tolerance.
_OPEN_MPI_5 = Path(sys.executable).with_name("mpirun")

PROGRAMS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.hydra", "ulfm": str(_OPEN_MPI_5)}


def require_launcher(name: str) -> None:
    """Skips the test where this launcher is not installed, or the module of its library is not built."""
    require_module("mpi_mpich" if name == "mpich" else "mpi_openmpi")
    if shutil.which(PROGRAMS[name]) is None:
        pytest.skip(f"{PROGRAMS[name]} is not installed")
