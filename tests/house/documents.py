# SPDX-License-Identifier: Apache-2.0
"""Links from one document to another lead somewhere. The list of findings is complete. Pictures are drawn anew."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import tree

_LINK = re.compile(r"!?\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.MULTILINE)
_ANCHOR = re.compile(r"""<a\s+(?:id|name)=["']([^"']+)["']""")
# An id of a finding where the engine makes one.
_FINDING = re.compile(r'[{(]\s*"([a-z_]+)",\s*Severity::(\w+)|\bid = "([a-z_]+)"|\bid_of_\w+ = "([a-z_]+)"')
_FINDINGS_PAGE = "docs/findings.md"
_FINDINGS_HEADING = "## About the measurement"
_FIGURES = "packaging/make_figures.py"
_MOST_BYTES = 150_000  # of a picture
_ROW = re.compile(r"^\| `(\w+)` \| ([\w ]+) \|", re.MULTILINE)


def findings(root: Path) -> list[str]:
    """Every finding that the engine makes is in the list of findings, with its severities, and no other one."""
    page = root / _FINDINGS_PAGE
    if not page.is_file():
        raise tree.MissingError(f"there is no {_FINDINGS_PAGE}")
    made: dict[str, set[str]] = {}
    sources = [tree.text_of(path) for path in tree.below(root, "engine") if path.suffix == ".cpp"]
    for found in (one for text in sources for one in _FINDING.finditer(text)):
        name, severity, *assigned = found.groups()
        severities = made.setdefault(name or next(filter(None, assigned)), set())
        severities |= {severity} if severity else set()  # where the name is assigned, so is the severity
    rows = re.finditer(_ROW, tree.text_of(page).partition(_FINDINGS_HEADING)[2])
    told = {row[1]: set(row[2].split(" or ")) for row in rows}
    complaints = [f"the finding {name} is not in the list" for name in sorted(made.keys() - told)]
    complaints += [f"{name}: no such finding in the engine" for name in sorted(told.keys() - made)]
    complaints += [
        f"{name}: the engine makes it as {' or '.join(sorted(made[name]))}"
        for name in sorted(made.keys() & told)
        if made[name] and made[name] != told[name]
    ]
    return [f"{_FINDINGS_PAGE}: {complaint}" for complaint in complaints]


def pictures(root: Path) -> list[str]:
    """Every picture of the documents is one that the program for it draws, and is small."""
    program = root / _FIGURES
    if not program.is_file():
        raise tree.MissingError(f"there is no {_FIGURES}")
    drawn = {f"docs/{name}" for name in re.findall(r'"([\w/-]+\.png)"', tree.text_of(program))}
    there = {path.relative_to(root).as_posix(): path.stat().st_size for path in (root / "docs").rglob("*.png")}
    complaints = [f"{name}: {_FIGURES} does not draw it" for name in sorted(there.keys() - drawn)]
    complaints += [f"{_FIGURES}: there is no {name}" for name in sorted(drawn - there.keys())]
    return complaints + [
        f"{name}: {size} bytes, more than {_MOST_BYTES}" for name, size in sorted(there.items()) if size > _MOST_BYTES
    ]


def links(root: Path) -> list[str]:
    """Every relative link in a Markdown file leads somewhere inside the repository."""
    complaints = []
    for path in tree.files(root):
        if path.suffix != ".md":
            continue
        text = _without_code(tree.text_of(path))
        for match in _LINK.finditer(text):
            target = match[1] or match[2]
            why = _why_broken(root, path, target)
            if why:
                line = text.count("\n", 0, match.start()) + 1
                complaints.append(f"{path.relative_to(root)}:{line}: {target}: {why}")
    return complaints


def _without_code(text: str) -> str:
    """The text with what stands in code blanked out, so that positions stay."""
    return _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _why_broken(root: Path, document: Path, target: str) -> str:
    if re.match(r"[a-z][a-z0-9+.-]*:", target):
        return ""
    file_part, _, anchor = target.partition("#")
    goal = (document.parent / unquote(file_part)).resolve() if file_part else document
    if not goal.is_relative_to(root.resolve()):
        return "leads out of the repository"
    if not goal.exists():
        return "no such file"
    if anchor and goal.suffix == ".md" and anchor.lower() not in _anchors(goal):
        return "no such heading"
    return ""


def _anchors(path: Path) -> set[str]:
    """The names that a forge gives to the headings of a document."""
    text = re.sub(r"^(```|~~~).*?^\1", "", tree.text_of(path), flags=re.MULTILINE | re.DOTALL)
    found = set(_ANCHOR.findall(text))
    for heading in _HEADING.findall(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        repeats = sum(1 for name in found if re.fullmatch(re.escape(slug) + r"(-\d+)?", name))
        found.add(f"{slug}-{repeats}" if repeats else slug)
    return found
