# SPDX-License-Identifier: Apache-2.0
"""Reads a tutorial (docs/tutorials/): files that the reader saves, commands that he types, and what they print."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import program

FOLDER = program.ROOT / "docs" / "tutorials"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r"[Ss]ave this as `([\w.-]+)`[^\n]*\n\n$")
_MEASURED = "<!-- measured -->\n\n"  # before a block whose output another machine need not print
_NUMBER = re.compile(r"\d[\d.,:]*(?: ?(?:ns|us|µs|ms|s|min|KiB|MiB|GiB|B|%)\b)?(?:/s)?")


@dataclass
class Command:
    """What is typed, and the lines that are shown below it; whether every machine prints them."""

    text: str
    is_measured: bool
    shown: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SavedFile:
    """A file that the reader makes."""

    name: str
    text: str


def steps(name: str) -> list[SavedFile | Command]:
    """All of a tutorial in its order: files, and commands that work on any machine (blocks of the kind console)."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    found: list[SavedFile | Command] = []
    for block in _BLOCK.finditer(text):
        saved = _SAVED.search(text, 0, block.start())
        if block[1] == "console":
            found += _commands(block[2], text[: block.start()].endswith(_MEASURED))
        elif saved:
            found.append(SavedFile(saved[1], block[2]))
    return found


def on_a_cluster(name: str) -> list[str]:
    """The command lines that need a cluster: in blocks of the kind bash that are no file to save."""
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    blocks = [block for block in _BLOCK.finditer(text) if block[1] == "bash"]
    return [line for block in blocks if not _SAVED.search(text, 0, block.start()) for line in block[2].splitlines()]


def _commands(block: str, is_measured: bool) -> list[Command]:
    commands: list[Command] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append(Command(line[2:], is_measured))
        else:
            commands[-1].shown.append(line)
    return commands


def is_as_shown(printed: str, shown: list[str]) -> bool:
    """Whether the lines are those of the tutorial, but for numbers; `...` stands for any lines."""
    parts = [".*" if line == "..." else re.escape(without_numbers(line)) + r"\n" for line in shown]
    return re.fullmatch("".join(parts), without_numbers(printed), re.DOTALL) is not None


def without_numbers(text: str) -> str:
    """Numbers with their units as #, and blanks as one, since columns are as wide as their numbers."""
    return re.sub(r"[ -]+", " ", _NUMBER.sub("#", text))


def write(folder: Path, name: str) -> None:
    """All files that the reader of this tutorial saves."""
    for step in steps(name):
        if isinstance(step, SavedFile):
            (folder / step.name).write_text(step.text, encoding="utf-8")
