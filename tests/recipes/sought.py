# SPDX-License-Identifier: Apache-2.0
"""What CMake looks for, read from its files; and what each kind of recipe calls it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conftest import ROOT

_FOLDERS = ("engine", "apps", "cmake")
_LOOKS_FOR = (
    re.compile(r"^\s*find_package\(\s*(?P<name>\w+)(?P<rest>[^)]*)\)", re.MULTILINE),
    re.compile(r"^\s*pkg_check_modules\(\s*\w+(?P<rest>[^)]*?)\s(?P<name>[\w.+-]+)\)", re.MULTILINE),
    re.compile(r"^\s*find_path\(\s*\w+\s+(?P<name>[\w./]+\.h)\b(?P<rest>[^)]*)\)", re.MULTILINE),
    re.compile(r"^\s*find_program\(\s*LEADLINE_\w+\s+(?P<name>help2man)(?P<rest>)\)", re.MULTILINE),
)


@dataclass(frozen=True)
class Names:
    """What the recipes call a dependency; None: that recipe has not got it, for the reason beside it."""

    spack: str | None
    easybuild: str | None


NAMES = {
    "PkgConfig": Names("pkgconfig", "pkgconf"),
    "fmt": Names("fmt", "fmt"),
    "CLI11": Names("cli11", "CLI11"),
    "nlohmann_json": Names("nlohmann-json", "nlohmann_json"),
    "HDF5": Names("hdf5", "HDF5"),
    "hwloc": Names("hwloc", "hwloc"),
    "libsodium": Names("libsodium", "libsodium"),
    "ucx": Names("ucx", "UCX"),
    "libfabric": Names("libfabric", "libfabric"),
    "libibverbs": Names("rdma-core", "OS_PKG_IBVERBS_DEV"),
    "psm2.h": Names("opa-psm2", None),  # EasyBuild has none in this toolchain
    "pmix": Names("pmix", "PMIx"),
    "MPI": Names("mpi", "OpenMPI"),
    "help2man": Names("help2man", "help2man"),
    "portals4.h": Names(None, None),  # no collection has an implementation
    # Part of the compiler's C library; what says which commit was built; tests.
    "Threads": Names(None, None),
    "Git": Names(None, None),
    "GTest": Names(None, None),
}


def sought() -> dict[str, bool]:
    """Packages, headers and programs that CMake looks for: whether there is no build without."""
    files = [ROOT / "CMakeLists.txt", *(path for name in _FOLDERS for path in sorted((ROOT / name).rglob("*")))]
    found: dict[str, bool] = {}
    for path in files:
        if path.name != "CMakeLists.txt" and path.suffix != ".cmake":
            continue
        text = re.sub(r"#.*", "", path.read_text(encoding="utf-8"))
        for pattern in _LOOKS_FOR:
            for match in pattern.finditer(text):
                name = match["name"]
                found[name] = found.get(name, False) or "REQUIRED" in match["rest"].split()
    return found
