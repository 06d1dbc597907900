# SPDX-License-Identifier: Apache-2.0
"""The files that the house checks look at, and how a check says that it cannot run here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

CPP_SUFFIXES = (".cpp", ".hpp", ".h", ".c")
GENERATED_TOP_FOLDERS = ("build", "results", "shared")
GENERATED_FOLDERS = ("__pycache__", "node_modules")
HIDDEN_FOLDERS_THAT_COUNT = (".ci", ".github")


class MissingError(Exception):
    """A tool or a folder that a check needs is not here; the check is skipped with this reason."""


def files(root: Path) -> Iterator[Path]:
    """Every file of the checkout that is not generated, in a stable order."""
    for folder, subfolders, names in os.walk(root):
        here = Path(folder)
        subfolders[:] = sorted(name for name in subfolders if _is_ours(name, is_top=here == root))
        yield from (here / name for name in sorted(names) if not (here / name).is_symlink())


def _is_ours(folder: str, is_top: bool) -> bool:
    if folder.startswith("."):
        return folder in HIDDEN_FOLDERS_THAT_COUNT
    if folder in GENERATED_FOLDERS or folder.endswith(".egg-info"):
        return False
    return not (is_top and folder in GENERATED_TOP_FOLDERS)


@cache
def first_line(path: Path) -> str:
    """The first line as text; empty for a binary file."""
    with path.open("rb") as stream:
        return stream.readline(200).decode("utf-8", errors="ignore").strip()


def is_cpp(path: Path) -> bool:
    """C and C++, sources and headers."""
    return path.suffix in CPP_SUFFIXES


def is_python(path: Path) -> bool:
    """By its name, or by the interpreter in its first line."""
    return path.suffix == ".py" or (path.suffix == "" and "python" in _interpreter(path))


def is_shell(path: Path) -> bool:
    """By its name, or by the interpreter in its first line."""
    return path.suffix == ".sh" or _interpreter(path).endswith(("bash", "/sh", " sh"))


def is_source(path: Path) -> bool:
    """Code that people write and read: programs, scripts and build descriptions."""
    if is_cpp(path) or is_python(path) or is_shell(path):
        return True
    return path.suffix == ".cmake" or path.name == "CMakeLists.txt"


def _interpreter(path: Path) -> str:
    line = first_line(path)
    return line if line.startswith("#!") else ""


def below(root: Path, *folders: str) -> Iterator[Path]:
    """The files of some folders of the checkout."""
    for path in files(root):
        if path.relative_to(root).parts[0] in folders:
            yield path


def text_of(path: Path) -> str:
    """The file as text; what is no UTF-8 is replaced."""
    return path.read_text(encoding="utf-8", errors="replace")
