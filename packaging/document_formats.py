#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of docs/formats/hdf5.md anew, from what `leadline schema hdf5` tells of the described structs."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = "docs/formats/hdf5.md"
TABLE = re.compile(r"(<!-- described: ([\w/]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)


def main() -> int:
    """Status 1 where --check finds that the page is not as the fields say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say whether the page is not current")
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "bin" / "leadline")
    options = parser.parse_args()
    groups = described(options.program)
    page = ROOT / PAGE
    old = page.read_text(encoding="utf-8")
    missing = groups.keys() - {found[1] for found in TABLE.findall(old)}
    if missing:
        print(f"{PAGE} has no place for {', '.join(sorted(missing))}")
        return 1
    text = TABLE.sub(lambda found: found[1] + table(found[2], groups[found[2]]) + found[3], old)
    if text == old:
        return 0
    if options.check:
        print(f"{PAGE} is not as the fields say: run packaging/document_formats.py")
        return 1
    page.write_text(text, encoding="utf-8")
    print(f"wrote {PAGE}")
    return 0


def described(program: Path) -> dict[str, list[dict[str, Any]]]:
    """What each group has."""
    done = subprocess.run([program, "schema", "hdf5"], capture_output=True, check=True, encoding="utf-8", timeout=60)
    groups: dict[str, list[dict[str, Any]]] = {}
    for group in json.loads(done.stdout):
        groups.setdefault(group["group"], []).extend(group["members"])
    return groups


def table(group: str, members: list[dict[str, Any]]) -> str:
    """A row each attribute and dataset."""
    lines = ["| object | type | unit | meaning |", "|---|---|---|---|"]
    for member in members:
        name, is_attribute = member["name"], member["kind"] == "attribute"
        path = f"`/{group}` attribute `{name}`" if is_attribute else f"`/{group}/{name}`"
        meaning = member["meaning"].replace("|", "\\|")
        if not member["in_all_files"]:
            meaning += ". Older files do not have it"
        lines.append(f"| {path} | {member['type']} | {member['unit']} | {meaning} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
