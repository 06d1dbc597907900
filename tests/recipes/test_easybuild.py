# SPDX-License-Identifier: Apache-2.0
"""EasyBuild's recipe: what it says agrees with the sources; and EasyBuild takes it, where `eb` is."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sought import NAMES, choices, sought

from conftest import RECIPES

FOLDER = RECIPES / "easybuild"
# What EasyBuild defines for recipes, as far as this one uses it.
CONSTANTS = {"SOURCELOWER_TAR_GZ": "%(namelower)s-%(version)s.tar.gz", "OS_PKG_IBVERBS_DEV": "OS_PKG_IBVERBS_DEV"}
PYTHON_PACKAGES = {
    "Python": "Python",
    "numpy": "SciPy-bundle",
    "h5py": "h5py",
    "matplotlib": "matplotlib",
    "PyYAML": "PyYAML",
    "Jinja2": "Python-bundle-PyPI",
}


@pytest.fixture(scope="module")
def path() -> Path:
    (found,) = FOLDER.glob("*.eb")
    return found


@pytest.fixture(scope="module")
def recipe(path: Path) -> dict[str, Any]:
    """Its parameters: an easyconfig is Python, evaluated with these names."""
    found: dict[str, Any] = {}
    exec(compile(path.read_text(encoding="utf-8"), path, "exec"), dict(CONSTANTS), found)
    return found


def test_its_name_says_what_it_builds(path: Path, recipe: dict[str, Any], package_version: str) -> None:
    toolchain = recipe["toolchain"]
    assert path.name == f"leadline-{package_version}-{toolchain['name']}-{toolchain['version']}.eb"
    assert (recipe["name"], recipe["version"]) == ("leadline", package_version)


def test_it_has_what_each_recipe_must_have(recipe: dict[str, Any]) -> None:
    assert {"easyblock", "homepage", "description", "sources", "sanity_check_paths", "moduleclass"} <= set(recipe)


def test_the_archive_is_made_as_it_says(path: Path, package_version: str) -> None:
    (command,) = re.findall(r"git archive (.*)", path.read_text(encoding="utf-8"))
    assert command == f"--prefix leadline-{package_version}/ --output leadline-{package_version}.tar.gz HEAD"


def test_dependencies_are_what_cmake_looks_for(recipe: dict[str, Any]) -> None:
    given = {one[0] for one in recipe["dependencies"] + recipe["builddependencies"]} | set(recipe["osdependencies"])
    of_cmake = {NAMES[name].easybuild for name in sought()} - {None}
    assert given == of_cmake | set(PYTHON_PACKAGES.values()) | {"CMake", "Ninja"}


def test_python_packages_are_those_of_the_analysis(recipe: dict[str, Any], python_packages: dict[str, str]) -> None:
    assert set(PYTHON_PACKAGES) == set(python_packages)
    (python,) = (one[1] for one in recipe["dependencies"] if one[0] == "Python")
    assert numbers(python) >= numbers(python_packages["Python"])


def test_it_makes_each_choice_of_the_sources(recipe: dict[str, Any]) -> None:
    options = dict(word.removeprefix("-D").split("=") for word in recipe["configopts"].split())
    assert set(options) == choices() | {"LEADLINE_TESTS", "LEADLINE_PYTHON"}
    given = {one[0] for one in recipe["dependencies"] + recipe["builddependencies"]} | set(recipe["osdependencies"])
    for name, names in NAMES.items():
        if f"LEADLINE_{name}" in options:
            assert options[f"LEADLINE_{name}"] == ("ON" if names.easybuild in given else "OFF"), name


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@pytest.mark.slow
def test_easybuild_finds_all_that_it_needs(path: Path) -> None:
    """The archive is not looked for; recipes of all dependencies are, among those that come with EasyBuild."""
    eb = shutil.which("eb")
    if eb is None:
        pytest.skip("eb of EasyBuild is not installed")
    words = [eb, path, "--dry-run", "--robot", "--allow-use-as-root-and-accept-consequences"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=600)
    if "modules tool can not be used" in done.stdout + done.stderr:
        pytest.skip("eb finds no modules tool (MODULESHOME of Environment Modules, LMOD_CMD of Lmod)")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"\* \[ \] .*/{re.escape(path.name)} ", done.stdout)
