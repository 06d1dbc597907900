# SPDX-License-Identifier: Apache-2.0
"""Spack's recipe: what it declares agrees with the sources; and Spack takes it, where SPACK_ROOT names its folder."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sought import NAMES, TOOLS, choices, sought

from conftest import RECIPES, ROOT

REPOSITORY = RECIPES / "spack" / "spack_repo" / "leadline"
RECIPE = REPOSITORY / "packages" / "leadline" / "package.py"
VARIANTS = {"mpi", "ucx", "libfabric", "verbs", "psm2", "pmix", "cuda", "analysis"}


@dataclass(frozen=True)
class Dependency:
    """One depends_on()."""

    spec: str
    when: str | None
    types: tuple[str, ...]

    @property
    def name(self) -> str:
        """Without version and variants."""
        found = re.match(r"[\w-]+", self.spec)
        assert found, self.spec
        return found[0]


@dataclass
class Declared:
    """What the recipe says to Spack."""

    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    variants: dict[str, bool] = field(default_factory=dict)
    dependencies: list[Dependency] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    recipe: type | None = None

    def of(self, name: str) -> Dependency:
        """The only one of this name."""
        (one,) = [one for one in self.dependencies if one.name == name]
        return one


class Package:
    """The base class of the recipe, as far as it calls it."""

    @staticmethod
    def define(name: str, value: object) -> str:
        """As Spack writes an argument of CMake."""
        if isinstance(value, bool):
            return f"-D{name}:BOOL={'ON' if value else 'OFF'}"
        return f"-D{name}:STRING={';'.join(map(str, value)) if isinstance(value, list) else value}"

    def define_from_variant(self, name: str, variant: str) -> str:
        """All of them are on."""
        return self.define(name, bool(variant))


def directives(declared: Declared) -> dict[str, object]:
    """Spack's functions, which note what they are called with; any other name is an error of the recipe."""

    def depends_on(spec: str, when: str | None = None, type: str | tuple[str, ...] = ("build", "link")) -> None:  # noqa: A002
        types = (type,) if isinstance(type, str) else type
        (condition,) = declared.conditions or [None]
        assert not (when and condition)
        declared.dependencies.append(Dependency(spec, when or condition, types))

    def variant(name: str, *, default: bool, description: str) -> None:
        assert len(description) > 10
        declared.variants[name] = default

    @contextlib.contextmanager
    def when(condition: str) -> Iterator[None]:
        declared.conditions.append(condition)
        yield
        declared.conditions.pop()

    return {
        "depends_on": depends_on,
        "variant": variant,
        "version": lambda name, **source: declared.versions.update({name: source}),
        "conflicts": lambda spec, msg: declared.conflicts.append(f"{spec}: {msg}"),
        "license": lambda _: None,
        "when": when,
        "which": lambda _: None,
    }


@pytest.fixture(scope="module")
def declared() -> Iterator[Declared]:
    """The recipe, loaded with stand-ins for Spack's modules."""
    found = Declared()
    contents: dict[str, dict[str, object]] = {
        "spack": {},
        "spack.package": directives(found),
        "spack_repo": {},
        "spack_repo.builtin": {},
        "spack_repo.builtin.build_systems": {},
        "spack_repo.builtin.build_systems.cmake": {"CMakePackage": Package, "generator": lambda *_, **__: None},
    }
    before = {name: sys.modules.get(name) for name in contents}
    for name, members in contents.items():
        module = types.ModuleType(name)
        vars(module).update(members)
        sys.modules[name] = module
    try:
        spec = importlib.util.spec_from_file_location("recipe_of_spack", RECIPE)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        for name, old in before.items():
            sys.modules.pop(name)
            if old:
                sys.modules[name] = old
    found.recipe = module.Leadline
    assert module.CHECKOUT == ROOT, "a version is fetched from there"
    yield found


def test_versions_are_those_of_the_sources(declared: Declared, package_version: str) -> None:
    assert declared.versions == {"main": {"branch": "main"}, package_version: {"tag": f"v{package_version}"}}


def test_variants_are_named_like_transports(declared: Declared) -> None:
    assert set(declared.variants) == VARIANTS
    table = (ROOT / "docs" / "transports.md").read_text(encoding="utf-8")
    transports = set(re.findall(r"^\| `(\w+)", table, re.MULTILINE))
    assert {*declared.variants} - {"pmix", "analysis"} <= transports


def test_dependencies_are_what_cmake_looks_for(declared: Declared) -> None:
    """What CMake requires is there under every condition, and what it can do without belongs to a variant."""
    for name, is_required in sought().items():
        if NAMES[name].spack is None:
            continue
        dependency = declared.of(NAMES[name].spack)
        assert (dependency.when is None) == (is_required or name in TOOLS), name
        if dependency.when:
            assert dependency.when.removeprefix("+") in declared.variants
    headers = {"cli11", "nlohmann-json"}
    linked = {NAMES[name].spack for name, is_required in sought().items() if is_required} - headers - {None}
    assert linked
    assert all(set(declared.of(name).types) == {"build", "link"} for name in linked)
    assert all(declared.of(name).types == ("build",) for name in headers | {"pkgconfig", "cmake", "help2man"})


def test_cmake_is_the_one_that_the_sources_ask_for(declared: Declared) -> None:
    found = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", (ROOT / "CMakeLists.txt").read_text("utf-8"))
    assert found
    assert declared.of("cmake").spec == f"cmake@{found[1]}:"


def test_python_packages_are_those_of_the_analysis(declared: Declared, python_packages: dict[str, str]) -> None:
    own = {"Python": "python"} | {name: f"py-{name.lower()}" for name in python_packages if name != "Python"}
    for name, since in python_packages.items():
        dependency = declared.of(own[name])
        assert dependency.spec.split()[0] == f"{own[name]}@{since}:"
        assert dependency.when == "+analysis"
        assert "run" in dependency.types
    assert {one.name for one in declared.dependencies if one.when == "+analysis"} == set(own.values())


class EverySpec(dict[str, Any]):
    """With all variants, and packages in folders of their own."""

    def __contains__(self, _: object) -> bool:
        return True

    def __missing__(self, name: str) -> types.SimpleNamespace:
        prefix = types.SimpleNamespace(lib=f"/of/{name}/lib", lib64=f"/of/{name}/lib64")
        command = types.SimpleNamespace(path=f"/of/{name}/bin/{name}")
        return types.SimpleNamespace(prefix=prefix, external=False, command=command)

    def satisfies(self, _: str) -> bool:
        return True


@pytest.fixture
def arguments(declared: Declared) -> dict[str, str]:
    """What it gives to CMake where all variants are on."""
    assert declared.recipe
    package = declared.recipe()
    package.prefix = types.SimpleNamespace(lib="/own/lib")
    package.spec = EverySpec()
    return dict(re.sub(r"^-D(\w+):\w+=", r"\1=", argument).split("=") for argument in package.cmake_args())


def test_libraries_that_are_opened_have_their_folders_in_the_run_path(arguments: dict[str, str]) -> None:
    """A library that is linked gets there by itself; one that is opened by its name does not."""
    folders = arguments["CMAKE_INSTALL_RPATH"].split(";")
    opened = [NAMES[name].spack for name in ("UCX", "LIBFABRIC", "VERBS", "PSM2", "PMIX")]
    assert [name for name in [*opened, "nccl"] if f"/of/{name}/lib" not in folders] == []
    assert folders[0] == "/own/lib"


def test_it_makes_each_choice_of_the_sources(declared: Declared, arguments: dict[str, str]) -> None:
    made = {name for name in arguments if name.startswith("LEADLINE_")}
    assert made == choices() | {"LEADLINE_TESTS", "LEADLINE_PYTHON"}
    off = {name for name in made if arguments[name] == "OFF"}
    assert off == {"LEADLINE_TESTS", "LEADLINE_PORTALS4"}
    assert {name.removeprefix("LEADLINE_").lower() for name in choices() - off} == VARIANTS - {"cuda"}
    assert arguments["LEADLINE_PYTHON"] == "/of/python/bin/python"
    assert set(declared.variants) == VARIANTS


def test_the_repository_has_the_layout_that_spack_wants() -> None:
    text = (REPOSITORY / "repo.yaml").read_text(encoding="utf-8")
    assert f"namespace: {REPOSITORY.name}" in text
    assert REPOSITORY.parent.name == "spack_repo"
    assert RECIPE.parent.name == "leadline"


@pytest.mark.slow
def test_spack_concretizes_it(tmp_path: Path) -> None:
    """With Spack itself, in a scope of configuration of its own."""
    root = os.environ.get("SPACK_ROOT")
    if not root:
        pytest.skip("SPACK_ROOT does not say where Spack is")
    scope = tmp_path / "scope"
    scope.mkdir()
    (scope / "repos.yaml").write_text(f"repos:\n  leadline: {REPOSITORY}\n", encoding="utf-8")
    spack = [Path(root, "bin", "spack"), "--config-scope", scope]

    def done(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*spack, *words], capture_output=True, text=True, check=False, timeout=600)

    about = done("info", "--all", "leadline")
    assert about.returncode == 0, about.stderr
    assert all(re.search(rf"\b{name}\b", about.stdout) for name in VARIANTS)
    audit = done("audit", "packages", "leadline")
    assert audit.returncode == 0, audit.stdout + audit.stderr
    concrete = done("spec", "leadline@main~analysis~mpi~ucx~libfabric~verbs~pmix")
    assert concrete.returncode == 0, concrete.stderr
    assert re.search(r"leadline@main.*~ucx", concrete.stdout)
