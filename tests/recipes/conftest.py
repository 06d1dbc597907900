# SPDX-License-Identifier: Apache-2.0
"""What the tests of the recipes in packaging/recipes share: the facts of the sources that recipes repeat."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
import tomllib

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "packaging" / "recipes"
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(ROOT / "tests" / "support"))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes seconds")


@pytest.fixture(scope="session")
def package_version() -> str:
    """As CMake has it."""
    found = re.search(r"project\(leadline VERSION ([\d.]+) ", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    assert found
    return found[1]


@pytest.fixture(scope="session")
def python_packages() -> dict[str, str]:
    """What the analysis package needs, by its name in Python's index: since which version; and Python itself."""
    with (ROOT / "analysis" / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    needed = (needed.partition(">=") for needed in project["dependencies"])
    python = {"Python": project["requires-python"].removeprefix(">=")}
    return python | {name: since for name, _, since in needed}
