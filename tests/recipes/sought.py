# SPDX-License-Identifier: Apache-2.0
"""What CMake looks for, read from its files; and what each kind of recipe calls it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conftest import ROOT

_FOLDERS = ("engine", "apps", "cmake", "analysis")
_LOOKS_FOR = (
    re.compile(r"^\s*leadline_dependency\(\w+ PACKAGE (?P<name>\w+)", re.MULTILINE),
    re.compile(r"^\s*leadline_optional_package\((?P<name>\w+) ", re.MULTILINE),
    re.compile(r"^\s*find_package\(\s*(?P<name>\w+)", re.MULTILINE),
    re.compile(r"^\s*pkg_check_modules\([^)]*?\s(?P<name>[\w.+-]+)\)", re.MULTILINE),
    re.compile(r"^\s*find_program\(\s*LEADLINE_\w+\s+(?P<name>help2man)\)", re.MULTILINE),
)
_REQUIRED = (
    r"leadline_dependency\(\w+ PACKAGE {}\b",
    r"find_package\(\s*{}\b[^)]*\bREQUIRED\b",
    r"if\(NOT {}_FOUND\)\s+message\(FATAL_ERROR",
)


@dataclass(frozen=True)
class Names:
    """What the recipes call a dependency; None: that recipe has not got it, for the reason beside it."""

    spack: str | None
    easybuild: str | None
    nix: str | None


NAMES = {
    "fmt": Names("fmt", "fmt", "fmt"),
    "CLI11": Names("cli11", "CLI11", "cli11"),
    "nlohmann_json": Names("nlohmann-json", "nlohmann_json", "nlohmann_json"),
    "HDF5": Names("hdf5", "HDF5", "hdf5"),
    "MPI": Names("mpi", "OpenMPI", "mpi"),
    "UCX": Names("ucx", "UCX", "ucx"),
    "LIBFABRIC": Names("libfabric", "libfabric", "libfabric"),
    "VERBS": Names("rdma-core", "OS_PKG_IBVERBS_DEV", "rdma-core"),
    "PSM2": Names("opa-psm2", None, None),  # EasyBuild has none in this toolchain, Nix none for ARM
    "PORTALS4": Names(None, None, None),  # no collection has an implementation
    "PMIX": Names("pmix", "PMIx", "pmix"),
    "Python3": Names("python", "Python", "python3"),
    "PkgConfig": Names("pkgconfig", "pkgconf", "pkg-config"),
    "help2man": Names("help2man", "help2man", "help2man"),
    # Part of the compiler's C library; what says which commit was built; tests.
    "Threads": Names(None, None, None),
    "Git": Names(None, None, None),
    "GTest": Names(None, None, None),
}
TOOLS = {"PkgConfig", "help2man"}  # the build does without them, and finds less or makes no manual pages then


def _text() -> str:
    """All of CMake's files, without comments."""
    files = [ROOT / "CMakeLists.txt", *(path for name in _FOLDERS for path in sorted((ROOT / name).rglob("*")))]
    texts = [
        path.read_text(encoding="utf-8") for path in files if path.name == "CMakeLists.txt" or path.suffix == ".cmake"
    ]
    return "\n".join(re.sub(r"#.*", "", text) for text in texts)


def sought() -> dict[str, bool]:
    """Packages and programs that CMake looks for: whether there is no build without."""
    text = _text()
    names = {match["name"] for pattern in _LOOKS_FOR for match in pattern.finditer(text)}
    return {name: any(re.search(one.format(re.escape(name)), text) for one in _REQUIRED) for name in names}


def choices() -> set[str]:
    """Cache variables that leave a part of the build out, but for the tests."""
    return set(re.findall(r"^leadline_choice\((LEADLINE_\w+)", _text(), re.MULTILINE)) - {"LEADLINE_TESTS"}
