# SPDX-License-Identifier: Apache-2.0
"""The recipes know all that CMake looks for."""

from __future__ import annotations

from sought import NAMES, sought


def test_the_recipes_know_what_cmake_looks_for() -> None:
    """A new dependency goes into each recipe, and its names into NAMES."""
    assert set(sought()) == set(NAMES)


def test_what_is_required_is_told_from_what_is_not() -> None:
    required = {name for name, is_required in sought().items() if is_required}
    assert {"HDF5", "fmt", "CLI11", "nlohmann_json"} <= required
    assert not required & {"UCX", "LIBFABRIC", "VERBS", "PSM2", "PMIX", "Python3", "help2man"}
