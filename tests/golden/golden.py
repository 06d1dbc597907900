# SPDX-License-Identifier: Apache-2.0
"""Golden files: a command line, what it prints and writes, with placeholders for what differs from run to run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

# What stands in braces in a golden file, and what it matches.
PLACEHOLDERS = {
    "time": r" *\d+\.\d+ (?:ns|us|ms|s)",
    "bw": r" *\d+\.\d+ (?:B|KiB|MiB|GiB)/s",
    "us": r" *\d+\.\d+us",
    "s": r" *\d+\.\d+s",
    "MB/s": r"\( *\d+\.\d+ MB/s\)",
    "number": r" *\d+\.\d+",
    "rate": r"\d+\.\d\d",
    "six": r"\d+\.\d{6}",
    "e": r"\d\.\d{6}e[+-]\d\d",
    "n": r" *-?\d+",
    "host": r"\S+",
    "words": r".+",
}
KEYS = {"command", "launchers", "ranks", "status", "environment", "without", "prints_the_same_as"}
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")


@dataclass
class Golden:
    """One file. Its head has lines `key: value`; then come the parts `--- stdout`, `--- stderr` and, for each file that
    the command writes and that is compared, `--- file NAME`.
    """

    name: str
    head: dict[str, str] = field(default_factory=dict)
    stdout: list[str] = field(default_factory=list)
    stderr: list[str] = field(default_factory=list)
    files: dict[str, list[str]] = field(default_factory=dict)

    def part(self, title: str) -> list[str]:
        """The lines of a part by its title; unknown titles are mistakes."""
        if title.startswith("file "):
            return self.files.setdefault(title.removeprefix("file "), [])
        return {"stdout": self.stdout, "stderr": self.stderr}[title]

    @property
    def status(self) -> int:
        """The exit status that is expected."""
        return int(self.head.get("status", "0"))

    @property
    def environment(self) -> dict[str, str]:
        """Variables that are set for all ranks, written NAME=VALUE with blanks between."""
        return dict(word.split("=", 1) for word in self.head.get("environment", "").split())


def read(path: Path) -> Golden:
    """A golden file; unknown keys are mistakes."""
    golden = Golden(path.stem)
    part: list[str] | None = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("--- "):
            part = golden.part(line[4:])
        elif part is not None:
            part.append(line)
        elif line and not line.startswith("#"):
            key, value = line.split(": ", 1)
            assert key in KEYS, f"{path}: {key}"
            golden.head[key] = value
    return golden


def read_refused(path: Path) -> dict[str, Golden]:
    """Many in one file, of command lines that only say on standard error why they do nothing: `== NAME: what it is
    about`, the head, and the lines of standard error. What stands before the first one holds for all.
    """
    first, *blocks = path.read_text(encoding="utf-8").split("\n== ")
    usual = dict(line.split(": ", 1) for line in first.splitlines() if not line.startswith("#") and line)
    cases = {}
    for block in blocks:
        title, *lines = block.strip().splitlines()
        name = title.split(":")[0]
        cases[name] = Golden(name, dict(usual))
        for line in lines:
            key, _, value = line.partition(": ")
            if key in KEYS:
                cases[name].head[key] = value
            else:
                cases[name].stderr.append(line)
    return cases


def read_all(folder: Path) -> dict[str, Golden]:
    """All of a program, by name."""
    refused = folder / "refused.txt"
    cases = read_refused(refused) | {path.stem: read(path) for path in sorted(folder.glob("*.txt")) if path != refused}
    for case in cases.values():
        if other := case.head.get("prints_the_same_as"):
            case.stdout, case.stderr, case.files = cases[other].stdout, cases[other].stderr, cases[other].files
    return cases


def pattern(line: str) -> re.Pattern[str]:
    """The regular expression that a golden line stands for."""
    text = ""
    end = 0
    for match in _PLACEHOLDER.finditer(line):
        text += re.escape(line[end : match.start()]) + PLACEHOLDERS[match[1]]
        end = match.end()
    return re.compile(text + re.escape(line[end:]))


def first_difference(expected: list[str], found: list[str]) -> str:
    """The first line that differs, in words; empty if none does."""
    for number, (golden, line) in enumerate(zip(expected, found, strict=False), start=1):
        if not pattern(golden).fullmatch(line):
            return f"line {number}:\n  expected {golden}\n  found    {line}"
    if len(expected) > len(found):
        return f"missing from line {len(found) + 1} on: {expected[len(found)]}"
    if len(found) > len(expected):
        return f"too much from line {len(expected) + 1} on: {found[len(expected)]}"
    return ""


def difference_in_any_order(expected: list[str], found: list[str]) -> str:
    """The same for lines of several ranks, which come as they like."""
    left = list(found)
    for golden in expected:
        match = next((line for line in left if pattern(golden).fullmatch(line)), None)
        if match is None:
            return f"missing: {golden}\namong {left}"
        left.remove(match)
    return f"too much: {left[0]}" if left else ""
