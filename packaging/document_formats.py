#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tables of docs/ anew from what `leadline schema` tells: of the file formats, findings and exit statuses."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TABLE = re.compile(r"(<!-- described: ([\w/]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
CODE = re.compile(r"--[a-z-]+|\bleadline [a-z]+|\b[a-z]+_[a-z_]+\b")
BENCHMARKS = ("link", "topology", "bisection", "congestion", "collective", "io")


def main() -> int:
    """Status 1 where --check finds that a page is not as the program says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say whether a page is not current")
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "release" / "bin" / "leadline")
    options = parser.parse_args()
    pages = {
        "formats/hdf5.md": tables_of_groups(options.program),
        "formats/json.md": tables_of_documents(options.program),
        "findings.md": tables_of_findings(options.program),
        "exit-status.md": tables_of_statuses(options.program),
    }
    return max(written(ROOT / "docs" / name, tables, options.check) for name, tables in pages.items())


def written(page: Path, tables: Mapping[str, str], is_check: bool) -> int:
    """Puts the tables into their places; the status."""
    name, old = page.relative_to(ROOT), page.read_text(encoding="utf-8")
    missing = tables.keys() - {found[1] for found in TABLE.findall(old)}
    if missing:
        print(f"{name} has no place for {', '.join(sorted(missing))}")
        return 1
    text = TABLE.sub(lambda found: found[1] + tables[found[2]] + found[3], old)
    if text == old:
        return 0
    if is_check:
        print(f"{name} is not as the program says: run packaging/document_formats.py")
        return 1
    page.write_text(text, encoding="utf-8")
    print(f"wrote {name}")
    return 0


def schema(program: Path, document: str) -> Any:
    """What the program says of a document."""
    done = subprocess.run([program, "schema", document], capture_output=True, check=True, encoding="utf-8", timeout=60)
    return json.loads(done.stdout)


def tables_of_groups(program: Path) -> dict[str, str]:
    """Of each group of an HDF5 file a row for each attribute and dataset."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for group in schema(program, "hdf5"):
        groups.setdefault(group["group"], []).extend(group["members"])
    tables = {}
    for group, members in groups.items():
        lines = ["| object | type | unit | meaning |", "|---|---|---|---|"]
        for member in members:
            name, is_attribute = member["name"], member["kind"] == "attribute"
            path = f"`/{group}` attribute `{name}`" if is_attribute else f"`/{group}/{name}`"
            meaning = in_cell(member["meaning"])
            if not member["in_all_files"]:
                meaning += ". Older files do not have it"
            lines.append(f"| {path} | {member['type']} | {member['unit']} | {meaning} |")
        tables[group] = "\n".join(lines) + "\n"
    return tables


def tables_of_documents(program: Path) -> dict[str, str]:
    """Of each JSON document a row for each key; what all results have stands in a table of its own."""
    of_diagnosis: dict[str, str] = {}
    rows = {"diagnosis": list(rows_of(schema(program, "diagnosis"), "", of_diagnosis))}
    elsewhere = {parts: f"{key} of [a diagnosis](#a-diagnosis)" for parts, key in of_diagnosis.items()}
    rows |= {
        name: list(rows_of(schema(program, name), "", dict(elsewhere)))
        for name in (*BENCHMARKS, "comparison", "profile", "check")
    }
    common = [row for row in rows["link"] if all(row in rows[name] for name in BENCHMARKS)]
    tables = {"result": common}
    tables |= {name: [row for row in rows[name] if row not in common] for name in BENCHMARKS}
    tables |= {name: rows[name] for name in ("diagnosis", "comparison", "profile")}
    tables["check"] = [row for row in rows["check"] if row not in common]
    return {
        name: "\n".join(["| key | type | meaning |", "|---|---|---|", *found]) + "\n" for name, found in tables.items()
    }


def rows_of(part: Mapping[str, Any], prefix: str, known: dict[str, str]) -> Iterator[str]:
    """A row for each key below; those of an object that is there already are told once. `known` has where."""
    for name, value in part.get("properties", {}).items():
        key = prefix + name
        inner, below = (value["items"], f"{key}[].") if "items" in value else (value, f"{key}.")
        parts = json.dumps(inner.get("properties"), sort_keys=True)
        meaning = in_cell(value.get("description", "").removesuffix("."))
        if name not in part.get("required", ()):
            meaning += ". Some documents lack it"
        is_told_elsewhere = "properties" in inner and (parts in known or name == "options")
        if is_told_elsewhere:
            meaning += ". See [options](../options.md)" if name == "options" else f". Keys as in {known[parts]}"
        yield f"| `{key}` | {type_of(value)} | {meaning} |"
        if "properties" in inner and not is_told_elsewhere:
            known[parts] = f"`{key}`"
            yield from rows_of(inner, below, known)


def type_of(value: Mapping[str, Any]) -> str:
    """In words: `number or null`, `list of object`, the words that there are."""
    if "const" in value:
        return f"`{value['const']}`"
    if "enum" in value:
        return ", ".join("null" if word is None else f"`{word}`" for word in value["enum"])
    kinds = value.get("type", "any")
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    if "array" in kinds and "items" in value:
        kinds[kinds.index("array")] = f"list of {type_of(value['items'])}"
    return " or ".join(kinds)


def tables_of_findings(program: Path) -> dict[str, str]:
    """Components that can be at fault, the lists that findings are told in, and findings about the measurement."""
    said = schema(program, "findings")
    components = [(f"`{one['kind']}`", one["meaning"], advice(one["advice"])) for one in said["components"]]
    lists = [(f"`{one['list']}`", one["meaning"]) for one in said["lists"]]
    measurement = [
        (f"`{one['id']}`", " or ".join(one["severities"]), with_code(one["where"]), with_code(one["rule"]))
        for one in said["measurement"]
    ]
    return {
        "components": table(("kind", "what is slow", "what to do"), components),
        "lists": table(("list", "meaning"), lists),
        "measurement": table(("finding", "severity", "runs", "rule"), measurement),
    }


def advice(of_symptoms: Mapping[str, str]) -> str:
    """What to do; of an unsteady component only where it is something else."""
    slow, unsteady = of_symptoms["slow"], of_symptoms["unsteady"]
    return slow if slow == unsteady else f"{slow}. Where it is unsteady: {unsteady[0].lower()}{unsteady[1:]}"


def tables_of_statuses(program: Path) -> dict[str, str]:
    """The exit statuses."""
    statuses = [(str(one["status"]), with_code(one["meaning"])) for one in schema(program, "exit-status")]
    return {"exit_statuses": table(("status", "meaning"), statuses)}


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of Markdown."""
    lines = [f"| {' | '.join(map(in_cell, row))} |" for row in (heads, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(heads), *lines[1:]]) + "\n"


def with_code(text: str) -> str:
    """Options, commands and names of findings as code."""
    return CODE.sub(r"`\g<0>`", text)


def in_cell(text: str) -> str:
    """A text as a cell of a table has it."""
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(main())
