# SPDX-License-Identifier: Apache-2.0
"""What the root pyproject.toml says of the package: what analysis/pyproject.toml says (scikit-build-core calls it)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def dynamic_metadata(field: str, _settings: dict[str, Any]) -> Any:
    """The value of a field of [project]."""
    with Path("analysis", "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"][field]
