#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/options.md anew, from what the commands tell with --describe-options."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/options.md"

INTRODUCTION = """\
# Options of all commands

`leadline help COMMAND` prints the same with explanations and examples.

This page is made by `packaging/document_options.py` from the tables of options in the programs; do not edit it.
[How to add an option](how-to/add-an-option.md).

"""

# What all commands have.
SHARED = ("--output", "--json", "--overwrite", "--quiet", "--verbose")
VOCABULARY = """\
## What all commands have

- `-o`, `--output FILE` says where the product of the command goes: a result, a page, a table, or its text. A file
  appears under its name when it is whole.
- `--json [FILE]` gives what the command says as one JSON document: on standard output instead of text, or in FILE. A
  command that writes another file says what it has written: path, size, rows, what was left out. `leadline schema`
  prints the schema of each document.
- `--overwrite` replaces an older file. Without it, an older file stays, and the command ends with status 2. The
  analysis commands replace what they have written themselves.
- `-q`, `--quiet` prints only what was asked for: no progress, no notes, no names of files that were written. A
  command that has none of these prints the same.
- `-v`, `--verbose` prints a line on standard error for each step: which file, which library, which decision, how
  long. Of `leadline link` it also prints all quantiles, each repeat and the slowest pairs. It excludes `--quiet`.

**On a terminal**, lines with verdicts and warnings have colours, unless `NO_COLOR` is set. The table of `leadline
link` has at most 80 columns. On a terminal it has as many as `COLUMNS` says, or else as the terminal has.

**A mistake** ends every command with status 2 and one line on standard error, before anything is measured or written.

**With `--dry-run`** a benchmark prints a plan, which has no file and no JSON.

**The historical front ends** keep the options of their tools.

All other commands have all of these options, but for these:

"""


def main() -> int:
    """Status 1 where --check finds that the page is not as the tables say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; say whether the page is not current",
    )
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "bin" / "leadline")
    options = parser.parse_args()
    commands = described(options.program)
    text = INTRODUCTION + vocabulary(commands) + "\n".join(section(command) for command in commands)
    page = ROOT / PAGE
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return 0
    if options.check:
        print(f"{PAGE} is not as the tables of options say: run packaging/document_options.py")
        return 1
    page.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


def described(program: Path) -> list[dict[str, Any]]:
    """What all commands tell of their options; those of the analysis are found beside this Python."""
    environment = dict(os.environ, PATH=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    done = subprocess.run(
        [program, "--describe-options"],
        capture_output=True,
        check=True,
        encoding="utf-8",
        env=environment,
        timeout=120,
    )
    commands = [command for command in json.loads(done.stdout)["commands"] if "options" in command]
    if not any(command["command"] == "report" for command in commands):
        sys.exit("document_options: the analysis package is not installed where this Python is")
    return commands


def vocabulary(commands: list[dict[str, Any]]) -> str:
    """The shared options, and which command does not have one. Exits where a command does not say why."""
    lines = []
    for command in commands:
        names = {option["long"] for option in command["options"]}
        reasons = {one["long"]: one["why"] for one in command.get("without", [])}
        for name in SHARED:
            if name not in names | set(reasons):
                sys.exit(f"document_options: leadline {command['command']} has no {name} and does not say why")
        lines += [f"- `leadline {command['command']}` has no `{name}`: {why}" for name, why in reasons.items()]
    return VOCABULARY + "\n".join(lines) + "\n\n"


def section(command: dict[str, Any]) -> str:
    """The part of the page about one command."""
    name = f"leadline {command['command']}"
    words = "".join(f" {argument['name']}" for argument in command["arguments"])
    lines = [f"## {name}", "", f"`{name}{words} [OPTIONS]`: {command['purpose']}.", ""]
    shown = [option for option in command["options"] if option["long"] not in ("--help", "--version")]
    if not shown:
        return "\n".join(lines)
    lines += ["| option | default | meaning |", "|---|---|---|"]
    group = ""
    for option in shown:
        if option["group"] != group and option["group"].lower() != "options":
            group = option["group"]
            lines.append(f"| **{group}** | | |")
        lines.append(f"| {cell(spelling(option))} | {cell(option['default'] or '')} | {cell(meaning(option))} |")
    return "\n".join(lines) + "\n"


def spelling(option: dict[str, Any]) -> str:
    """`-o`, `--output FILE`."""
    value = option["value"]
    behind = "" if value is None else f" [{value}]" if option["value_is_optional"] else f" {value}"
    names = [option["short"]] if option["short"] else []
    return ", ".join(f"`{name}`" for name in [*names, option["long"] + behind])


def meaning(option: dict[str, Any]) -> str:
    """Help, choices, and which other options it needs or excludes."""
    text = option["help"].replace("\n", "; ").replace(":;", ":")
    choices = option["choices"]
    meanings = option.get("meanings") or [""] * len(choices)
    if any(name not in text for name in choices) or any(meanings):
        names = [f"`{name}`" + (f" ({why})" if why else "") for name, why in zip(choices, meanings, strict=True)]
        text += f": {listed(names)}"
    for key, word in (("needs", "needs"), ("excludes", "not with")):
        if others := option.get(key):
            text += f"; {word} {listed([f'`{other}`' for other in others])}"
    return text


def listed(names: list[str]) -> str:
    """Names with commas, and "or" before the last."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def cell(text: str) -> str:
    """A text that does not end its cell."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
