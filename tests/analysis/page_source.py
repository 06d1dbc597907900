# SPDX-License-Identifier: Apache-2.0
"""A page as a reader of its source finds it, for the tests: elements, text, rows of tables, data of the scripts."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

from leadline.report.frame import is_own_report


class Page(HTMLParser):
    """Elements with their attributes, the text outside scripts and styles, rows of tables, heads of columns, and the
    data inside.
    """

    def __init__(self, source: str) -> None:
        """Reads it all."""
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.rows: list[list[str]] = []
        self.number_heads: dict[str, bool] = {}  # text -> whether it links to a definition
        self._raw, self._is_cell = "", False
        self._head: str | None = None
        self._is_linked = False
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """As the parser calls it."""
        attributes = dict(attrs)
        self.elements.append((tag, attributes))
        if tag in ("script", "style"):
            self._raw = tag
            self.scripts.append("")
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self._is_cell = True
            self.rows[-1].append("")
        if tag == "th" and "number" in str(attributes.get("class")).split():
            self._head, self._is_linked = "", False
        if tag == "a" and str(attributes.get("href", "")).startswith("#def-"):
            self._is_linked = True

    def handle_endtag(self, tag: str) -> None:
        """As the parser calls it."""
        if tag == self._raw:
            self._raw = ""
        if tag in ("td", "th"):
            self._is_cell = False
        if tag == "th" and self._head is not None:
            self.number_heads[self._head.partition(",")[0]] = self._is_linked
            self._head = None

    def handle_data(self, data: str) -> None:
        """As the parser calls it."""
        if self._raw:
            self.scripts[-1] += data
            return
        self.text += data.replace("\u00a0", " ")
        if self._is_cell:
            self.rows[-1][-1] += data
        if self._head is not None:
            self._head += data

    def ids(self) -> list[str]:
        """Of all elements that have one."""
        return [str(attributes["id"]) for _, attributes in self.elements if "id" in attributes]

    def data(self, name: str = "data") -> dict[str, Any]:
        """What the script draws from, by the id of its element."""
        names = [attributes.get("id") for tag, attributes in self.elements if tag in ("script", "style")]
        found: dict[str, Any] = json.loads(self.scripts[names.index(name)])
        return found

    def between(self, begin: str, end: str) -> str:
        """The text between two others."""
        return self.text.partition(begin)[2].partition(end)[0]


def expect_whole_and_alone(source: str) -> Page:
    """Fails where a page is not complete, fetches something, or leads to what is not there; returns it read."""
    page = Page(source)
    assert source.startswith("<!DOCTYPE html>")
    assert source.rstrip().endswith("</html>")
    assert is_own_report(source[:4096])
    assert "https:" not in source
    assert "http:" not in source.replace("http://www.w3.org/2000/svg", "")
    fetching = {"src", "srcset", "action", "data", "poster", "background", "formaction", "ping"}
    for tag, attributes in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "base", "img")
        assert not fetching & set(attributes)
        assert not any(attribute.startswith("on") for attribute in attributes)
        assert str(attributes.get("href", "#")).startswith("#")
    ids = page.ids()
    assert len(ids) == len(set(ids))
    for _, attributes in page.elements:
        if "href" in attributes:
            assert str(attributes["href"])[1:] in ids, "every dotted word has its definition"
    assert {"verdict", "findings", "run", "provenance", "definitions"} <= set(ids)
    assert "nan" not in re.findall(r"[a-z]+", page.text)
    return page
