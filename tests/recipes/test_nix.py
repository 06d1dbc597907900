# SPDX-License-Identifier: Apache-2.0
"""Nix's recipe: what it says agrees with the sources; and Nix evaluates it, where that is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest
from sought import NAMES, choices, sought

from conftest import RECIPES, ROOT

RECIPE = RECIPES / "nix" / "package.nix"
# Packages are their names, and mkDerivation gives back what it gets.
EVALUATED = """
let
  package = name: { inherit name; outPath = "/of/${name}"; };
  lib = {
    cleanSource = toString;
    optional = condition: one: if condition then [ one ] else [ ];
    cmakeBool = name: value: "${name}=${if value then "ON" else "OFF"}";
    cmakeFeature = name: value: "${name}=${value}";
    makeLibraryPath = builtins.concatStringsSep ":";
    licenses.asl20 = "Apache-2.0";
    platforms.linux = "Linux";
  };
  recipe = import RECIPE;
  names = builtins.filter (name: name != "withAnalysis") (builtins.attrNames (builtins.functionArgs recipe));
  of = name: { inherit name; value = package name; };
  python3.withPackages = choose: {
    interpreter = toString (choose (builtins.listToAttrs (map of PYTHON)));
  };
  given = builtins.listToAttrs (map of names) // { inherit lib python3; stdenv.mkDerivation = made: made; };
  made = recipe given;
in
made // {
  nativeBuildInputs = map (one: one.name) made.nativeBuildInputs;
  buildInputs = map (one: one.name) made.buildInputs;
}
"""


@pytest.fixture(scope="module")
def text() -> str:
    return RECIPE.read_text(encoding="utf-8")


def arguments_of(text: str) -> set[str]:
    """Of the function that the file is, but for those that every recipe has."""
    (head,) = re.findall(r"^\{\n(.*?)^\}:", text, re.DOTALL | re.MULTILINE)
    return set(re.findall(r"^  ([\w-]+)(?:,| \?)", head, re.MULTILINE)) - {"lib", "stdenv"}


def test_version_is_that_of_the_sources(text: str, package_version: str) -> None:
    assert f'version = "{package_version}";' in text


def test_dependencies_are_what_cmake_looks_for(text: str) -> None:
    of_cmake = {NAMES[name].nix for name in sought()} - {None}
    assert arguments_of(text) == of_cmake | {"cmake", "ninja", "withAnalysis"}


def test_it_makes_each_choice_of_the_sources(text: str) -> None:
    made = dict(re.findall(r'cmakeBool "(LEADLINE_\w+)" (\w+)', text))
    assert set(made) == choices() | {"LEADLINE_TESTS"}
    for name, names in NAMES.items():
        if f"LEADLINE_{name}" in made:
            assert made[f"LEADLINE_{name}"] == ("true" if names.nix else "false"), name


def test_python_packages_are_those_of_the_analysis(text: str, python_packages: dict[str, str]) -> None:
    assert set(re.findall(r"packages\.(\w+)", text)) == {name.lower() for name in python_packages} - {"python"}


def test_nix_evaluates_it(python_packages: dict[str, str]) -> None:
    """With stand-ins for its packages."""
    program = shutil.which("nix-instantiate")
    if program is None:
        pytest.skip("nix-instantiate of Nix is not installed")
    python = " ".join(json.dumps(name.lower()) for name in python_packages)
    expression = EVALUATED.replace("RECIPE", json.dumps(str(RECIPE))).replace("PYTHON", f"[ {python} ]")
    words = [program, "--eval", "--strict", "--json", "--expr", expression]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads(done.stdout)
    assert made["src"] == str(ROOT)
    assert {"cmake", "ninja"} <= set(made["nativeBuildInputs"])
    opened = ["libfabric", "pmix", "rdma-core", "ucx"]
    assert set(opened) <= set(made["buildInputs"])
    assert (
        made["postFixup"].strip()
        == f"patchelf --add-rpath {':'.join(f'/of/{one}' for one in opened)} $out/bin/leadline"
    )
