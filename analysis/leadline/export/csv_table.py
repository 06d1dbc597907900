# SPDX-License-Identifier: Apache-2.0
"""Tables as CSV (RFC 4180, lines end in LF), made piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from leadline.export.table import Of, Table, Values, Words
from leadline.model import Column, FloatArray, Progress


def csv_pieces(result: Of, parts: Sequence[Any], table: Table[Of], progress: Progress | None = None) -> Iterator[str]:
    """The header, then the lines of some rows at a time. Numbers read back exactly; empty = not there."""
    yield header_of(table.columns)
    is_whole = ["int" in table.kind_of(column) for column in table.columns]
    for block in table.blocks(result, parts, progress):
        lines = "\n".join(map(",".join, zip(*map(_texts, block, is_whole), strict=True)))
        yield f"{lines}\n" if lines else ""


def header_of(columns: Sequence[Column]) -> str:
    """The first line of a table as CSV."""
    return row_text([column.name for column in columns])


def row_text(row: Sequence[object]) -> str:
    """A line of a table; None is empty."""
    return ",".join(map(_text, row)) + "\n"


def _texts(values: Values, is_whole: bool) -> Iterable[str]:
    if isinstance(values, Words):
        words = [_quoted(word) for word in values.words]
        return [words[number] for number in values.number.tolist()]
    if not isinstance(values, np.ndarray):
        return ["" if value != value else _text(value) for value in values]  # NaN is not itself
    if values.dtype.kind != "f":
        return map(str, values.tolist())
    return _whole(values) if is_whole else _real(values)


def _text(value: object) -> str:
    if value is None:
        return ""
    return _quoted(value) if isinstance(value, str) else repr(value)


def _whole(values: FloatArray) -> list[str]:
    missing = np.isnan(values)
    whole = np.where(missing, 0, values).astype(np.int64).tolist()
    return ["" if is_missing else str(value) for value, is_missing in zip(whole, missing.tolist(), strict=True)]


def _real(values: FloatArray) -> list[str]:
    # NaN is the one number that is not itself.
    return [repr(value) if value == value else "" for value in values.tolist()]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(letter in text for letter in ',"') else text
