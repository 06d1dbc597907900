#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the site of docs/ with Zensical. A link that leads nowhere is an error, as is a page outside the navigation.

Documents lead to files outside of docs/, too (examples, SECURITY.md, sources), which a site generator refuses. So this
program copies all of them into one folder, where each is a page, and changes the links.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = ROOT / "docs"
LINK = re.compile(r"(?P<before>\]\()(?P<target>[^)\s]+)(?P<after>\))")
CODE = re.compile(r"(^(?:```|~~~).*?^(?:```|~~~)|`[^`\n]*`)", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r"(?:[-*+]|\d+\.) +")
FENCE = re.compile(r"(```|~~~)")
PICTURES = (".png", ".svg")
ELSEWHERE = re.compile(r"""<(?:script|img|iframe|link rel="?stylesheet"?)[^>]*(?:src|href)="?(https?:[^" >]+)""")
STATUS_MISSING = 3


def main() -> int:
    """Status 1 where the site has a mistake, 3 where Zensical is not installed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "build" / "site",
        help="what is made, replacing an older one (default: build/site); the pages are in FOLDER/html",
    )
    folder = parser.parse_args().folder.resolve()
    program = zensical()
    if program is None:
        print("build_site: Zensical is not installed: pip install './analysis[test]'", file=sys.stderr)
        return STATUS_MISSING
    shutil.rmtree(folder, ignore_errors=True)
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    Site(folder / "sources", pages_in(settings)).write()
    settings = settings.replace("docs_dir: docs\n", "docs_dir: sources\n")
    settings = settings.replace("site_dir: build/site/html\n", "site_dir: html\n")
    (folder / "mkdocs.yml").write_text(settings, encoding="utf-8")
    mistakes = left_out(settings, folder / "sources")
    done = subprocess.run(
        [program, "build", "--strict", "--clean"], cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        mistakes += warnings(done.stdout + done.stderr)
    mistakes += loaded_from_elsewhere(folder / "html")
    print("\n".join(mistakes) or f"{folder / 'html' / 'index.html'}")
    return 1 if mistakes else 0


def zensical() -> str | None:
    """The program of the Python that runs this, or of the path."""
    beside = Path(sys.executable).parent / "zensical"
    return str(beside) if beside.is_file() else shutil.which("zensical")


def warnings(text: str) -> list[str]:
    """What Zensical has drawn for a terminal, as a line for each warning; all of it where there is none."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    found = re.findall(r"^Warning: (.*)\n.*?\[ (\S+?):(\d+):\d+ \]", plain, re.MULTILINE)
    return [f"{place}:{line}: {what}" for what, place, line in found] or [plain]


class Site:
    """The folder from which the site is built: docs/, and all that its pages and the navigation lead to."""

    def __init__(self, folder: Path, pages: list[str]) -> None:
        """`folder` must not be there yet; `pages` are those of the navigation."""
        self.folder = folder
        outside = [ROOT / page for page in pages if not (DOCUMENTS / page).is_file() and (ROOT / page).is_file()]
        self._waiting = [*outside, *(path for path in DOCUMENTS.rglob("*") if path.is_file())]
        self._known = set(self._waiting)

    def write(self) -> None:
        """All files; those that are found meanwhile are written, too."""
        while self._waiting:
            path = self._waiting.pop()
            goal = self.folder / self._place(path)
            goal.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == ".md":
                goal.write_text(with_deeper_lists(self._with_links(path)), encoding="utf-8")
            elif goal.suffix == ".md":
                goal.write_text(as_page(path), encoding="utf-8")
            else:
                shutil.copyfile(path, goal)

    def _place(self, path: Path) -> Path:
        """Where a file of the repository is in the site. A source outside of docs/ becomes a page."""
        if path.is_relative_to(DOCUMENTS):
            return path.relative_to(DOCUMENTS)
        place = path.relative_to(ROOT)
        if place.parts == ("README.md",):  # the site has its own first page
            return Path("about.md")
        return place if path.suffix in (".md", *PICTURES) else place.with_name(place.name + ".md")

    def _with_links(self, path: Path) -> str:
        """The text of a document, whose links lead to the copies."""
        parts = CODE.split(path.read_text(encoding="utf-8"))
        parts[::2] = [LINK.sub(lambda found: self._link(path, found), part) for part in parts[::2]]
        return "".join(parts)

    def _link(self, path: Path, found: re.Match[str]) -> str:
        name, mark, heading = found["target"].partition("#")
        goal = (path.parent / unquote(name)).resolve()
        if not name or ":" in name or not goal.is_file() or not goal.is_relative_to(ROOT):
            return found[0]  # Zensical says what is wrong with it
        if goal not in self._known:
            self._known.add(goal)
            self._waiting.append(goal)
        place = os.path.relpath(self._place(goal), self._place(path).parent)
        return f"{found['before']}{place}{mark}{heading}{found['after']}"


def with_deeper_lists(text: str) -> str:
    """The text with what is in items of lists indented by four blanks a level, as Zensical wants it.

    Forges take as many blanks as the item's mark is wide.
    """
    lines: list[str] = []
    starts: list[int] = []  # where the text of each item around a line begins
    fence = ""
    before = ""
    for line in text.splitlines():
        words = line.lstrip()
        indent = len(line) - len(words)
        item = None if fence else ITEM.match(words)
        is_lazy = (
            not item and not fence and before != "" and indent == 0 and not words.startswith(("#", "|", "```", "~~~"))
        )
        is_in_list = bool(starts)
        if words and not fence and not is_lazy:
            while starts and indent < starts[-1]:
                starts.pop()
        if item and not is_in_list and before:
            lines.append("")  # a list behind a paragraph
        inner = max(0, indent - (starts[-1] if starts else 0))
        lines.append(" " * (4 * len(starts) + inner) + words if words else "")
        if item:
            starts.append(indent + len(item[0]))
        elif found := FENCE.match(words):
            fence = "" if fence and words.startswith(fence) else fence or found[1]
        before = words
    return "\n".join(lines) + "\n"


def as_page(path: Path) -> str:
    """A page that shows a source."""
    language = {".py": "python", ".json": "json", ".yaml": "yaml", ".yml": "yaml", ".hpp": "cpp", ".cpp": "cpp"}
    text = path.read_text(encoding="utf-8")
    kind = language.get(path.suffix, "bash" if text.startswith("#!") else "text")
    fence = "~~~~~~"
    return f"# {path.relative_to(ROOT).as_posix()}\n\n{fence}{kind}\n{text}{fence}\n"


def loaded_from_elsewhere(folder: Path) -> list[str]:
    """What pages load from other servers: nothing, so that readers need no network and nobody learns what they read."""
    found = {url for page in folder.rglob("*.html") for url in ELSEWHERE.findall(page.read_text(encoding="utf-8"))}
    return [f"mkdocs.yml: pages load {url}" for url in sorted(found)]


def left_out(settings: str, folder: Path) -> list[str]:
    """Pages of docs/ that are not in the navigation, and entries of it that are no page."""
    listed = set(pages_in(settings))
    pages = {path.relative_to(DOCUMENTS).as_posix() for path in DOCUMENTS.rglob("*.md")}
    complaints = [f"mkdocs.yml: nav has no entry for docs/{page}" for page in sorted(pages - listed)]
    return complaints + [
        f"mkdocs.yml: {page}: no such page" for page in sorted(listed) if not (folder / page).is_file()
    ]


def pages_in(settings: str) -> list[str]:
    """The pages that the navigation names. The one tag in the settings says nothing about them."""
    navigation = yaml.safe_load(settings[settings.index("\nnav:") :])["nav"]

    def pages(entry: object) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        parts = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else []
        return [page for part in parts for page in pages(part)]

    return pages(navigation)


if __name__ == "__main__":
    sys.exit(main())
