# SPDX-License-Identifier: Apache-2.0
"""The recipes know all that CMake looks for."""

from __future__ import annotations

from sought import NAMES, sought


def test_the_recipes_know_what_cmake_looks_for() -> None:
    """A new dependency goes into each recipe, and its names into NAMES."""
    assert set(sought()) == set(NAMES)


def test_what_is_required_is_found_among_it() -> None:
    found = sought()
    assert {name for name in ("HDF5", "fmt") if found[name]} == {"HDF5", "fmt"}
    assert not any(found[name] for name in ("ucx", "libfabric", "libibverbs", "pmix", "psm2.h"))
