# SPDX-License-Identifier: Apache-2.0
"""What CMake says of options and of what is missing, and where an installed program finds its libraries."""

from __future__ import annotations

import re
import subprocess
import tarfile
from pathlib import Path

import program
import pytest

INSTALL = program.ROOT / "docs" / "how-to" / "install.md"


def configured(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """One line of output each, whatever CMake's width."""
    command = ["cmake", "-S", program.ROOT, "-B", folder / "build", "-G", "Ninja", "-DLEADLINE_TESTS=OFF", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def sources() -> str:
    files = [program.ROOT / "CMakeLists.txt", *(program.ROOT / "cmake").glob("*.cmake")]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_each_option_is_explained() -> None:
    text = sources()
    declared = set(re.findall(r"^(?:option|leadline_choice)\((LEADLINE_\w+)", text, re.MULTILINE))
    declared |= set(re.findall(r"^set\((LEADLINE_\w+) .*CACHE", text, re.MULTILINE))
    declared |= {f"LEADLINE_{name}_SOURCE" for name in re.findall(r"^leadline_dependency\((\w+)", text, re.MULTILINE)}
    told = set(re.findall(r"^\| `(LEADLINE_\w+)`", INSTALL.read_text(encoding="utf-8"), re.MULTILINE))
    assert declared == told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["-DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON"],
            ["The library fmt was not found; 9 or later", "libfmt-dev", "fmt-devel", "fmt_ROOT", "LEADLINE_FMT_SOURCE"],
        ),
        (["-DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON"], ["The library HDF5 was not found", "libhdf5-dev", "HDF5_ROOT"]),
        (["-DLEADLINE_UCX=perhaps"], ["LEADLINE_UCX is 'perhaps': say AUTO, ON or OFF"]),
        (["-DLEADLINE_CLI11_SOURCE=/nowhere"], ["LEADLINE_CLI11_SOURCE is /nowhere, which is not there"]),
        (["-DLEADLINE_FMT_SOURCE=/proc"], ["LEADLINE_FMT_SOURCE is /proc, which has no CMakeLists.txt"]),
        (
            ["-DLEADLINE_TESTS=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"],
            ["GoogleTest with gmock was not found", "libgmock-dev", "GTest_ROOT", "LEADLINE_TESTS=OFF"],
        ),
        (["-DLEADLINE_SANITIZE=soap"], ["LEADLINE_SANITIZE is soap"]),
    ],
    ids=["fmt", "HDF5", "a choice", "a source", "a folder without sources", "GoogleTest", "a word"],
)
def test_what_is_missing_or_wrong_is_named(words: list[str], said: list[str], tmp_path: Path) -> None:
    done = configured(tmp_path, *words)
    assert done.returncode != 0
    text = " ".join(done.stderr.split())
    for part in said:
        assert part in text


def hdf5_elsewhere(folder: Path) -> Path:
    """The shared HDF5 of this machine in folders of its own, as a module tree has it."""
    cache = (program.PROGRAM.parents[1] / "CMakeCache.txt").read_text(encoding="utf-8")
    library = re.search(r"^HDF5_C_LIBRARY_hdf5:FILEPATH=(.+\.so)$", cache, re.MULTILINE)
    headers = [path for path in map(Path, ("/usr/include/hdf5/serial", "/usr/include")) if (path / "hdf5.h").is_file()]
    if not library or not headers:
        pytest.skip("there is no shared HDF5 in the system's folders")
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "libhdf5.so").symlink_to(library[1])
    (folder / "include").symlink_to(headers[0])
    return folder


def test_libraries_of_a_module_tree_are_found_once_installed(tmp_path: Path) -> None:
    """And the sources of a library in an archive take the place of an installed one."""
    if not (program.PROGRAM.parents[1] / "CMakeCache.txt").is_file():
        pytest.skip(f"{program.PROGRAM} is not in a build folder")
    folder = hdf5_elsewhere(tmp_path / "hdf5-1.14")
    sources = tmp_path / "cli11-9.9"
    sources.mkdir()
    (sources / "CMakeLists.txt").write_text(
        "project(CLI11 LANGUAGES CXX)\nadd_library(CLI11 INTERFACE)\nadd_library(CLI11::CLI11 ALIAS CLI11)\n"
        'message(STATUS "these sources are taken")\n',
        encoding="utf-8",
    )
    archive = tmp_path / "cli11.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(sources, arcname=sources.name)
    done = configured(
        tmp_path,
        f"-DHDF5_ROOT={folder}",
        "-DLEADLINE_STATIC_HDF5=OFF",
        f"-DLEADLINE_CLI11_SOURCE={archive}",
        "-DLEADLINE_UCX=OFF",
        "-DLEADLINE_MPI=OFF",
        "-DLEADLINE_ANALYSIS=OFF",
    )
    assert done.returncode == 0, done.stderr
    assert "these sources are taken" in done.stdout
    assert "The transport ucx is not built: left out when the program was built (LEADLINE_UCX=OFF)" in done.stdout
    assert "The analysis package is not installed: LEADLINE_ANALYSIS=OFF" in done.stdout
    rules = (tmp_path / "build" / "apps" / "cmake_install.cmake").read_text(encoding="utf-8")
    (path,) = set(re.findall(r'NEW_RPATH "(.*)"', rules)) or set(re.findall(r'RPATH "(.*)"', rules))
    assert str(folder / "lib") in path.split(":")
