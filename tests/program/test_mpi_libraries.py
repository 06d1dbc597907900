# SPDX-License-Identifier: Apache-2.0
"""Each MPI library under its own launcher: the run takes the library of the launcher, and the result names it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import program
import pytest
from modules import require_module
from result import ResultFile


@dataclass(frozen=True)
class Installation:
    """One MPI: its launcher, and the library that lies beside it."""

    launcher: Path
    library: str
    words: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """The library's full path, or the name by which the loader finds it."""
        beside = self.launcher.resolve().parents[1] / "lib" / self.library
        return str(beside) if beside.exists() else self.library


def _folder(variable: str, otherwise: Path | None = None) -> Path:
    given = os.environ.get(variable)
    return Path(given) if given else otherwise or Path("/nowhere")


def _debian(name: str) -> Path:
    return Path(shutil.which(name) or f"/nowhere/bin/{name}")


# Of Python's package index: Open MPI beside the Python of the tests, MPICH where packaging/set-up puts it. Intel's is
# used where it is installed: LEADLINE_TEST_IMPI is the folder that has bin and lib.
INSTALLATIONS = {
    "debian-openmpi": Installation(_debian("mpirun.openmpi"), "libmpi.so.40", ("--oversubscribe",)),
    "debian-mpich": Installation(_debian("mpiexec.hydra"), "libmpich.so.12"),
    "openmpi": Installation(Path(sys.executable).with_name("mpirun"), "libmpi.so.40", ("--oversubscribe",)),
    "mpich": Installation(program.ROOT / "build" / "mpich" / "bin" / "mpiexec", "libmpi.so.12"),
    "impi": Installation(_folder("LEADLINE_TEST_IMPI") / "bin" / "mpiexec.hydra", "libmpi.so.12"),
}

_ASK = """
import ctypes, sys
text, length = ctypes.create_string_buffer(16384), ctypes.c_int()
ctypes.CDLL(sys.argv[1]).MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode())
"""


def name_of_library(installation: Installation) -> str:
    """What the library says of itself, without what stands behind its version."""
    done = subprocess.run(
        [sys.executable, "-c", _ASK, installation.path], capture_output=True, text=True, timeout=60, check=True
    )
    return " ".join(done.stdout.splitlines()[0].split(",")[0].replace(" Version:", "").split())


@pytest.fixture(params=INSTALLATIONS)
def mpi(request: pytest.FixtureRequest) -> Installation:
    """One that is installed here."""
    require_module("mpi_openmpi" if "openmpi" in request.param else "mpi_mpich")
    installation = INSTALLATIONS[request.param]
    if not installation.launcher.exists():
        pytest.skip(f"{request.param}: {installation.launcher} is not installed")
    return installation


def started(mpi: Installation, folder: Path, *words: str | Path, env: dict[str, str] | None = None) -> program.Done:
    """`leadline` with these words by two ranks."""
    return program.complete([mpi.launcher, *mpi.words, "-n", "2", program.PROGRAM, *words], folder, env=env)


FEW = ["--messages", "5", "--message-size", "1KiB", "--wait", "yield", "--output", "r.h5"]


@pytest.mark.parametrize("transport", ["mpi", "tcp", "ucx"])
def test_a_run_under_each_launcher(mpi: Installation, transport: str, tmp_path: Path) -> None:
    if transport != "mpi":
        require_module(transport)
    done = started(mpi, tmp_path, "link", "--transport", transport, *FEW)
    assert done.status == 0, done.err
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.num_ranks == 2
    if transport == "mpi":
        assert result.provenance["transport_library"] == name_of_library(mpi)


def test_collective_operations_are_those_of_the_library(mpi: Installation, tmp_path: Path) -> None:
    words = ["--rounds", "2", "--batches", "2", "--iterations", "3", "--message-size", "4,100KiB", "--verify",
             "--output", "r.json"]  # fmt: skip
    done = started(mpi, tmp_path, "collective", "--transport", "mpi", *words)
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["algorithm"] == "library"
    assert document["provenance"]["transport"]["library"] == name_of_library(mpi)
    assert document["verified_bytes"] > 0
    assert all(cell["bus_bytes_per_s"] > 0 for cell in document["cells"])


def test_files_through_the_library_of_the_launcher(mpi: Installation, tmp_path: Path) -> None:
    words = ["--movement", "N-1", "--target", tmp_path / "file", "--objects", "2", "--object-size", "4KiB"]
    done = started(mpi, tmp_path, "io", "--backend", "mpi-io", *words, "--wait", "yield", "--output", "r.h5")
    assert done.status == 0, done.err
    assert name_of_library(mpi) in done.out


def test_the_library_of_a_script_between_launcher_and_program(mpi: Installation, tmp_path: Path) -> None:
    """It is that of the launcher, not one beside the shell."""
    words = ["sh", "-c", f"'{program.PROGRAM}' link --transport mpi {' '.join(FEW)}; exit $?"]
    done = program.complete([mpi.launcher, *mpi.words, "-n", "2", *words], tmp_path)
    assert done.status == 0, done.err
    assert ResultFile(tmp_path / "r.h5").provenance["transport_library"] == name_of_library(mpi)


def test_the_library_of_another_launcher_is_refused_with_both_names(mpi: Installation, tmp_path: Path) -> None:
    is_open_mpi = mpi.library == "libmpi.so.40"
    other = INSTALLATIONS["debian-mpich" if is_open_mpi else "debian-openmpi"]
    if not other.launcher.exists():
        pytest.skip(f"{other.launcher} is not installed")
    done = started(mpi, tmp_path, "link", "--transport", "mpi", *FEW, env={"LEADLINE_LIBMPI": other.path})
    assert done.status == 3
    complaint = next(line for line in done.err.splitlines() if line.startswith("leadline: "))
    assert ("Open MPI mpirun" if is_open_mpi else "MPICH Hydra") in complaint
    assert name_of_library(other) in complaint
    assert "LEADLINE_LIBMPI" in complaint
    assert not (tmp_path / "r.h5").exists()


def test_a_library_of_the_same_launcher_may_be_named(tmp_path: Path) -> None:
    """MPICH's launchers start the ranks of each other's libraries."""
    mpi, other = INSTALLATIONS["debian-mpich"], INSTALLATIONS["mpich"]
    for one in (mpi, other):
        if not one.launcher.exists():
            pytest.skip(f"{one.launcher} is not installed")
    done = started(mpi, tmp_path, "link", "--transport", "mpi", *FEW, env={"LEADLINE_LIBMPI": other.path})
    assert done.status == 0, done.err
    assert ResultFile(tmp_path / "r.h5").provenance["transport_library"] == name_of_library(other)


@pytest.mark.parametrize("words", [["link"], ["io", "--backend", "mpi-io", "--movement", "N-1", "--objects", "2"]])
def test_the_standard_abi(words: list[str], tmp_path: Path) -> None:
    mpi = INSTALLATIONS["mpich"]
    library = mpi.launcher.parents[1] / "lib" / "libmpi_abi.so.1"
    if not library.exists():
        pytest.skip(f"{library} is not installed")
    more = FEW if words == ["link"] else ["--target", "file", "--object-size", "4KiB", "--output", "r.h5"]
    done = started(mpi, tmp_path, *words, "--transport", "mpi", *more, env={"LEADLINE_LIBMPI": str(library)})
    assert done.status == 0, done.err
    assert name_of_library(mpi) in done.out


@pytest.mark.parametrize("is_chosen", [False, True])
def test_intels_library_takes_the_libfabric_beside_it(is_chosen: bool, tmp_path: Path) -> None:
    """Whatever the loader's path has; unless the user has chosen one."""
    mpi = INSTALLATIONS["impi"]
    folder = Path(mpi.path).parent
    if not (folder / "libfabric.so.1").exists():
        pytest.skip("Intel MPI is not installed as wheels have it: LEADLINE_TEST_IMPI")
    env = {"I_MPI_FABRICS": "ofi", "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(tmp_path / "loaded")}
    if is_chosen:
        env["I_MPI_OFI_LIBRARY_INTERNAL"] = "0"
    done = started(mpi, tmp_path, "link", "--transport", "mpi", *FEW, env=env)
    loaded = "".join(file.read_text(errors="replace") for file in tmp_path.glob("loaded.*"))
    assert (f"calling init: {folder}/libfabric.so.1" in loaded) != is_chosen
    assert (f"calling init: {folder}/libtcp-fi.so" in loaded) != is_chosen
    if not is_chosen:
        assert done.status == 0, done.err


def _prototypes(header: Path) -> dict[str, str]:
    """Functions and their parameters, without white space."""
    found = re.findall(r"^int (MPI_\w+)(\([^;]*\));", header.read_text(), re.MULTILINE)
    return {name: re.sub(r"\s", "", parameters) for name, parameters in found}


def test_the_header_of_the_standard_abi_is_as_the_librarys(tmp_path: Path) -> None:
    own = program.ROOT / "engine" / "mpi" / "abi" / "standard" / "mpi_abi.h"
    library = INSTALLATIONS["mpich"].launcher.parents[1] / "include" / "mpi_abi.h"
    compiler = shutil.which("cc")
    if not library.exists() or compiler is None:
        pytest.skip(f"{library} is not installed" if compiler else "there is no C compiler")
    constants = re.findall(r"#define (MPI_\w+)", own.read_text())
    types = ["MPI_Aint", "MPI_Offset", "MPI_Count", "MPI_Status", "MPI_Comm", "MPI_Request"]
    numbers = [*(f"(intptr_t){name}" for name in constants), *(f"sizeof({name})" for name in types)]
    members = [f"offsetof(MPI_Status, MPI_{name})" for name in ("SOURCE", "TAG", "ERROR", "internal")]
    lines = "\n".join(f'printf("%s %ld\\n", "{one}", (long)({one}));' for one in [*numbers, *members])
    source = tmp_path / "constants.c"
    source.write_text(
        f"#include <stddef.h>\n#include <stdio.h>\n#include <mpi_abi.h>\nint main(void) {{\n{lines}\n}}\n"
    )
    told = []
    for header in (own, library):
        subprocess.run([compiler, f"-I{header.parent}", source, "-o", tmp_path / "constants"], check=True, timeout=60)
        told.append(subprocess.run([tmp_path / "constants"], capture_output=True, text=True, check=True).stdout)
    assert told[0] == told[1]
    assert len(told[0].splitlines()) > 40
    prototypes = _prototypes(own)
    functions = re.findall(r"X\((MPI_\w+)\)", (own.parents[1] / "functions.hpp").read_text())
    assert set(prototypes) == set(functions)
    assert prototypes.items() <= _prototypes(library).items()


@pytest.mark.parametrize("path", ["/nowhere/libmpi.so", str(program.PROGRAM)])
def test_what_is_no_library_is_refused(path: str, tmp_path: Path) -> None:
    mpi = INSTALLATIONS["debian-mpich"]
    if not mpi.launcher.exists():
        pytest.skip(f"{mpi.launcher} is not installed")
    done = started(mpi, tmp_path, "link", "--transport", "mpi", *FEW, env={"LEADLINE_LIBMPI": path})
    assert done.status == 3
    assert done.complaint.startswith("leadline: LEADLINE_LIBMPI names no MPI library (")
    assert path in done.complaint
