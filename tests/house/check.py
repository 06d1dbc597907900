#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs checks of the sources by name; prints what is wrong as path:line: complaint; CTest runs each as house.NAME."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import documents
import glossary
import joined
import layers
import readability
import sources
import tools
import tree
import versions

CHECKS: dict[str, Callable[[Path], list[str]]] = {
    "layers": layers.layers,
    "libraries": layers.libraries,
    "analysis_layers": layers.analysis_layers,
    "joined_names": joined.joined_names,
    "first_lines": sources.first_lines,
    "words": sources.words,
    "glossary": glossary.glossary,
    "docstrings": sources.docstrings,
    "links": documents.links,
    "findings": documents.findings,
    "pictures": documents.pictures,
    "sentences": readability.too_long,
    "spelling": tools.spelling,
    "site": tools.site,
    "versions": versions.versions,
    "clang_format": tools.clang_format,
    "ruff_format": tools.ruff_format,
    "ruff_check": tools.ruff_check,
    "mypy": tools.mypy,
    "shellcheck": tools.shellcheck,
}
STATUS_SKIPPED = 77


def main() -> int:
    """All named checks in turn. Status 1 when one complains, 77 when none could run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the checkout")
    parser.add_argument("names", nargs="*", metavar="CHECK", help="all when none is given: " + " ".join(CHECKS))
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in CHECKS]
    if unknown:
        parser.error(f"unknown check {unknown[0]} (there are: {' '.join(CHECKS)})")
    names = options.names or list(CHECKS)
    statuses = [run(name, options.root.resolve()) for name in names]
    if any(status == 1 for status in statuses):
        return 1
    return STATUS_SKIPPED if all(status == STATUS_SKIPPED for status in statuses) else 0


def run(name: str, root: Path) -> int:
    """One check; prints its complaints and returns its status."""
    try:
        complaints = CHECKS[name](root)
    except tree.MissingError as missing:
        print(f"{name}: Skipped: {missing}")
        return STATUS_SKIPPED
    for complaint in complaints:
        print(complaint)
    print(f"{name}: {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
