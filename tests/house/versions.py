# SPDX-License-Identifier: Apache-2.0
"""The version stands in several files, since each tool reads its own: all say what the build says."""

from __future__ import annotations

import re
from pathlib import Path

import tree

_OF_THE_BUILD = ("CMakeLists.txt", re.compile(r"^project\(leadline VERSION (\S+) ", re.MULTILINE))
# A list of changes goes on with earlier versions: only its first one counts.
_ELSEWHERE = (
    ("analysis/pyproject.toml", re.compile(r'^version = "(.+)"$', re.MULTILINE)),
    ("analysis/leadline/__init__.py", re.compile(r'^__version__ = "(.+)"$', re.MULTILINE)),
    ("CHANGELOG.md", re.compile(r"\A.*?^## (\d[^\s,]*)", re.MULTILINE | re.DOTALL)),
    ("README.md", re.compile(r"leadline-([\d.]+\w*)-py3")),
    ("docs/how-to/install.md", re.compile(r"leadline-([\d.]+\w*)-py3")),
    ("packaging/debian/changelog", re.compile(r"\Aleadline \((.+)-\d+\) ")),
    ("packaging/leadline.spec", re.compile(r"^Version:\s+(\S+)$", re.MULTILINE)),
)


def versions(root: Path) -> list[str]:
    """The version of the build, of the analysis package, of packages and of documents is one."""
    name, pattern = _OF_THE_BUILD
    found = pattern.search(tree.text_of(root / name))
    if found is None:
        return [f"{name}:1: no version of the project"]
    complaints = []
    for place, other in _ELSEWHERE:
        text = tree.text_of(root / place) if (root / place).is_file() else ""
        matches = list(other.finditer(text))
        if not matches:
            complaints.append(f"{place}:1: no version; that of the build is {found[1]}")
        for match in matches:
            if match[1] != found[1]:
                line = 1 + text.count("\n", 0, match.start(1))
                complaints.append(f"{place}:{line}: the version is {match[1]}, that of the build {found[1]}")
    return complaints
