# SPDX-License-Identifier: Apache-2.0
"""Folders with a document and the results of several runs: of a check, of an acceptance test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline.error import LeadlineError
from leadline.readers.input_file import another_kind, unreadable
from leadline.report.accept import acceptance_page
from leadline.report.check import check_page
from leadline.text_file import read_text

_MOST_BYTES = 256 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_LINK_TESTS = ("latency", "bandwidth", "gpu")  # of a check
_BAD_VALUES = (KeyError, TypeError, ValueError, AttributeError)

Document = Mapping[str, Any]
# Its page, from the document, its name, by the name of a part the address of its own page, and pictures likewise.
PageOf = Callable[[Document, str, Mapping[str, str], Mapping[str, bytes]], str]


@dataclass(frozen=True)
class FolderKind:
    """What writes such a folder, and what tells its document."""

    name: str  # "check"
    document: str  # its file
    told_by: tuple[str, str]  # a key of the document and its value
    page: PageOf


_KINDS = (
    FolderKind("check", "check.json", ("benchmark", "check"), check_page),
    FolderKind(
        "accept",
        "accept.json",
        ("document", "acceptance"),
        lambda document, name, pages, _: acceptance_page(document, name, pages),
    ),
)


def kind_of(path: Path) -> FolderKind | None:
    """Of such a folder, or of its document; None of anything else."""
    for one in _KINDS:
        if path.name == one.document or (path.is_dir() and (path / one.document).is_file()):
            return one
    return None


def read_document(path: Path, kind: FolderKind) -> Document:
    """Its document. LeadlineError where it is none."""
    hint = f"leadline {kind.name} writes it"

    def refusal(why: str, hint: str) -> LeadlineError:
        return another_kind(path, why, hint)

    text = read_text(path, _MOST_BYTES, refusal, hint)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise unreadable(path, f"it is no JSON: {error}", "Copy the file again") from error
    key, value = kind.told_by
    if not isinstance(document, dict) or document.get(key) != value:
        raise another_kind(path, f"not the document of leadline {kind.name}", hint)
    return document


def parts_of(document: Document, folder: Path) -> dict[str, Path]:
    """The results of its parts that lie in the folder, by their names; nothing outside of it."""
    names = [str(part.get("name")) for part in document.get("parts", ()) if isinstance(part, dict)]
    files = {name: folder / f"{name}.h5" for name in names if _NAME.fullmatch(name)}
    return {name: file for name, file in files.items() if file.is_file()}


def part_to_draw(document: Document, kind: FolderKind, parts: Mapping[str, Path]) -> str | None:
    """The link test whose matrix shows best what is wrong: that of the gravest finding, else the first."""
    problems = document.get("problems")
    if kind.name != "check" or not isinstance(problems, list):
        return None
    names = [str(one.get("part")) for one in problems if isinstance(one, dict)]
    return next((name for name in (*names, *_LINK_TESTS) if name in parts and name in _LINK_TESTS), None)


def page_of(
    path: Path, kind: FolderKind, document: Document, pages: Mapping[str, str], pictures: Mapping[str, bytes]
) -> str:
    """The page; `pages`: by the name of a part the address of its own page; `pictures`: PNG images likewise.
    LeadlineError where keys are missing.
    """
    try:
        return kind.page(document, path.name, pages, pictures)
    except _BAD_VALUES as error:
        why = f"it is not as leadline {kind.name} writes it: {error!r}"
        raise unreadable(path, why, f"Run leadline {kind.name} again") from error
