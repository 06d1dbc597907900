#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the sentences of the documents are: for each page the mean, the share that is long, and the longest."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree

LONG = 25  # words; more are hard to follow
MOST = 60  # words that the check allows in a sentence
# Made by programs, or lists of what a tool had.
EXCEPT = ("docs/options.md",)

_FENCE = re.compile(r"^ *(```|~~~).*?^ *\1", re.MULTILINE | re.DOTALL)
_GENERATED = re.compile(r"<!-- described: .*?<!-- end -->", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BLOCK_START = re.compile(r"^\s*(?:[-*+]|\d+\.|#{1,6}|>)\s+")
_END = re.compile(r"(?<=[.!?])[*_)\"]*\s+(?=[\"(*_]*[A-Z0-9X])")
_WORD = re.compile(r"[^\W_][\w'’/.,×%-]*")


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the line where its paragraph begins."""

    line: int
    text: str

    @property
    def num_words(self) -> int:
        """Code counts as one word."""
        return len(_WORD.findall(self.text))


def main() -> int:
    """Prints a line for each page, the worst first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="the checkout")
    parser.add_argument("--longest", type=int, default=0, metavar="N", help="print the N longest sentences, too")
    parser.add_argument("pages", nargs="*", type=Path, metavar="PAGE", help="only these; default: all")
    options = parser.parse_args()
    root = options.root.resolve()
    pages = [page.resolve() for page in options.pages] or list(documents(root))
    found = {page: list(sentences(tree.text_of(page))) for page in pages}
    print(f"{'page':44} {'words':>6} {'sentences':>9} {'mean':>5} {f'> {LONG}':>6} {'longest':>7}")
    for page in sorted(found, key=lambda page: -share_long(found[page])):
        print(row(page.relative_to(root).as_posix(), found[page]))
    print(row("all", [one for ones in found.values() for one in ones]))
    every = [(one, page) for page, ones in found.items() for one in ones]
    for one, page in sorted(every, key=lambda found: -found[0].num_words)[: options.longest]:
        print(f"\n{page.relative_to(root)}:{one.line}: {one.num_words} words: {one.text}")
    return 0


def row(name: str, found: list[Sentence]) -> str:
    """Words, sentences, words a sentence, share of long ones, words of the longest."""
    lengths = [one.num_words for one in found] or [0]
    mean = sum(lengths) / len(lengths)
    return f"{name:44} {sum(lengths):6} {len(found):9} {mean:5.1f} {share_long(found):6.0%} {max(lengths):7}"


def share_long(found: list[Sentence]) -> float:
    """The share of sentences of more than LONG words."""
    return sum(one.num_words > LONG for one in found) / max(1, len(found))


def too_long(root: Path) -> list[str]:
    """No sentence of a document has more than MOST words."""
    return [
        f"{page.relative_to(root)}:{one.line}: a sentence of {one.num_words} words: {one.text[:60]} ..."
        for page in documents(root)
        for one in sentences(tree.text_of(page))
        if one.num_words > MOST
    ]


def documents(root: Path) -> Iterator[Path]:
    """All documents that people write."""
    for path in tree.files(root):
        if path.suffix == ".md" and path.relative_to(root).as_posix() not in EXCEPT:
            yield path


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a Markdown text; an item of a list and a cell of a table end one, too. Code has none."""
    for pattern in (_FENCE, _GENERATED, _COMMENT):
        text = pattern.sub(lambda found: "\n" * found[0].count("\n"), text)
    text = _CODE.sub("X", text)
    text = _LINK.sub(r"\1", text)
    for line, block in _blocks(text):
        for sentence in _END.split(block):
            one = Sentence(line, " ".join(sentence.split()))
            if one.num_words:
                yield one


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Paragraphs, headings, items and cells, each with its first line."""
    block: list[str] = []
    first = 1
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        is_row = line.lstrip().startswith("|")
        if block and (not line.strip() or is_row or _BLOCK_START.match(line)):
            yield first, " ".join(block)
            block = []
        if is_row:
            for cell in re.split(r"(?<!\\)\|", line.strip().strip("|")):
                yield number, cell
        elif line.strip():
            if not block:
                first = number
            block.append(_BLOCK_START.sub("", line))


if __name__ == "__main__":
    sys.exit(main())
