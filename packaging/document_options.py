#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/options.md and the options of the schemas anew, from what the commands tell with --describe-options."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/options.md"
BENCHMARKS = ("link", "topology", "bisection", "io")
WIDTH = 150
DESCRIPTION = "Every option of the command line, whether given or not; the unit, if any, ends the name."

INTRODUCTION = """\
# Options of all commands

This page is made by `packaging/document_options.py` from the tables of options in the programs; do not edit it.
`leadline help COMMAND` prints the same with explanations and examples. [How to add an option](how-to/add-an-option.md).

"""


def main() -> int:
    """Status 1 where --check finds a file that is not as the tables say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; say which files are not current",
    )
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "bin" / "leadline")
    options = parser.parse_args()
    status = 0
    for name, text in documents(described(options.program)).items():
        path = ROOT / name
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            print(f"{name} is not as the tables of options say: run packaging/document_options.py")
            status = 1
        else:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return status


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


def documents(commands: list[dict[str, Any]]) -> dict[str, str]:
    """The text of each file by its name."""
    texts = {PAGE: INTRODUCTION + "\n".join(section(command) for command in commands)}
    for command in commands:
        if command["command"] in BENCHMARKS:
            name = f"docs/formats/{command['command']}-result.schema.json"
            texts[name] = with_options(ROOT.joinpath(name).read_text(encoding="utf-8"), command["options"])
    return texts


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


def with_options(schema: str, options: list[dict[str, Any]]) -> str:
    """The text of a schema whose definition of `options` is what the table records."""
    recorded = [option for option in options if option["recorded"]]
    names = ", ".join(json.dumps(option["recorded"]["name"]) for option in recorded)
    required = textwrap.wrap(names, WIDTH - 30, break_long_words=False, break_on_hyphens=False)
    members = [
        f"        {json.dumps(option['recorded']['name'])}: {json.dumps(member(option), ensure_ascii=False)}"
        for option in recorded
    ]
    lines = [
        '    "options": {',
        '      "type": "object",',
        f'      "description": "{DESCRIPTION}",',
        '      "required": [',
        *(f"        {line}" for line in required),
        "      ],",
        '      "properties": {',
        ",\n".join(members),
        "      }",
        "    }",
    ]
    old = re.compile(r'^    "options": \{$.*?^    \}', re.MULTILINE | re.DOTALL)
    text, num = old.subn(lambda _: "\n".join(lines), schema, count=1)
    assert num == 1
    return text


def member(option: dict[str, Any]) -> dict[str, Any]:
    """The schema of what a result records of one option."""
    recorded = option["recorded"]
    text = option["help"].partition("\n")[0].rstrip(":.")
    default = recorded["default"]
    unset = "0" if default in (0, 0.0) and not isinstance(default, bool) else "empty" if default in ("", []) else ""
    if unset and option["default"] and not re.match(r"0|-", option["default"]):
        text += f"; {unset} = {option['default']}"
    description = {"description": f"{text[0].upper()}{text[1:]}."}
    if option["choices"]:
        return {"enum": option["choices"]} | description
    count = {"$ref": "#/$defs/count"}
    if recorded["type"] == "integer":
        return count | description
    if recorded["type"] == "number":
        limits = {
            key: round(value) for key, value in recorded.items() if key.casefold().endswith(("minimum", "maximum"))
        }
        return {"type": "number"} | limits | description
    if recorded["type"] == "array":
        return {"type": "array", "items": count} | description
    return {"type": recorded["type"]} | description


if __name__ == "__main__":
    sys.exit(main())
