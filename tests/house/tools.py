# SPDX-License-Identifier: Apache-2.0
"""The checks that are programs of their own: formatters, linters and the type checker."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import layers
import tree

# Words that codespell takes for misspelt ones: a kind of network, names of other projects, our names.
_SPELT_RIGHT = ("clos", "halfs", "indx", "nowns", "plantext", "reord")
_TEXT_SUFFIXES = (".md", ".txt", ".html", ".j2", ".js", ".css", ".json", ".toml", ".yml", ".yaml")
_PLACE = re.compile(r"(--> )?\S+:\d+")


def clang_format(root: Path) -> list[str]:
    """All C and C++ is formatted as .clang-format says."""
    program = _program(root, "clang-format-14", "clang-format")
    sources = [path for path in tree.files(root) if tree.is_cpp(path)]
    return _complaints(root, [program, "--dry-run", "-Werror", "--ferror-limit=1"], sources)


def ruff_format(root: Path) -> list[str]:
    """All Python is formatted as analysis/pyproject.toml says."""
    return _ruff(root, _python_files(root), "format", "--check", "--quiet")


def ruff_check(root: Path) -> list[str]:
    """Ruff finds nothing in any Python file; only the analysis package must have docstrings everywhere."""
    words = ("check", "--quiet", "--output-format=concise")
    package = [path for path in _python_files(root) if path.is_relative_to(root / "analysis")]
    others = [path for path in _python_files(root) if not path.is_relative_to(root / "analysis")]
    return _ruff(root, package, *words) + _ruff(root, others, *words, "--ignore=D1")


def _python_files(root: Path) -> list[Path]:
    return [path for path in tree.files(root) if tree.is_python(path)]


def _ruff(root: Path, sources: list[Path], *words: str) -> list[str]:
    return _complaints(root, [_program(root, "ruff"), *words, "--config", _settings(root)], sources)


def mypy(root: Path) -> list[str]:
    """The types of the analysis package fit together."""
    command = [_program(root, "mypy"), "--no-error-summary", "--config-file", _settings(root)]
    return _complaints(root, command, [layers.analysis_package(root)])


def shellcheck(root: Path) -> list[str]:
    """Shellcheck finds nothing in any shell script."""
    sources = [path for path in tree.files(root) if tree.is_shell(path)]
    return _complaints(root, [_program(root, "shellcheck"), "--format=gcc", "--external-sources"], sources)


def spelling(root: Path) -> list[str]:
    """Codespell finds no misspelt word in texts and sources; those of the old tools are as they are."""
    paths = [path for path in tree.files(root) if tree.is_source(path) or path.suffix in _TEXT_SUFFIXES]
    ours = [path for path in paths if not path.is_relative_to(root / "tests" / "golden")]
    return _complaints(root, [_program(root, "codespell"), "--ignore-words-list", ",".join(_SPELT_RIGHT)], ours)


def site(root: Path) -> list[str]:
    """The site of docs/ can be built: every link leads somewhere, and every page is in the navigation."""
    python = Path(_program(root, "zensical")).with_name("python3")
    with tempfile.TemporaryDirectory() as folder:
        command = [python, root / "packaging" / "build_site.py", "--folder", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    return (done.stdout + done.stderr).splitlines() if done.returncode else []


def _settings(root: Path) -> str:
    path = root / "analysis" / "pyproject.toml"
    if not path.is_file():
        raise tree.MissingError("there is no analysis/pyproject.toml with the settings")
    return str(path)


def _program(root: Path, *names: str) -> str:
    """The first of these programs, from the checkout's own environment or from the path."""
    for name in names:
        own = root / ".venv" / "bin" / name
        found = str(own) if own.is_file() else shutil.which(name)
        if found:
            return found
    raise tree.MissingError(f"{names[0]} is not installed")


def _complaints(root: Path, command: list[str], paths: list[Path]) -> list[str]:
    """What the program says about these files; nothing when it is content."""
    if not paths:
        return []
    names = [str(path.relative_to(root)) for path in paths]
    done = subprocess.run([*command, *names], cwd=root, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode == 0:
        return []
    said = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    with_place = [line for line in said if _PLACE.match(line)]
    return with_place or said or [f"{Path(command[0]).name} ended with status {done.returncode} and said nothing"]
