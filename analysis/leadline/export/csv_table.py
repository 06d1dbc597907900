# SPDX-License-Identifier: Apache-2.0
"""What a table of a result is, and tables as CSV (RFC 4180, lines end in LF), made piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from leadline.export.pairs import PairBlock, Progress, columns_of, pair_blocks, plain_name
from leadline.model import Column, FloatArray, LinkResult, RunResult, Slice

Of = TypeVar("Of", bound=RunResult)

# As text a cell takes about 700 bytes of memory.
_BLOCK_CELLS = 1 << 16


@dataclass(frozen=True)
class Table(Generic[Of]):
    """What becomes a file: its columns, and its rows, some at a time, each a list with None for what is not there."""

    columns: tuple[Column, ...]
    rows: Callable[[Of, Sequence[int], Progress | None], Iterator[list[list[Any]]]]


def with_others(table: Table[Of], columns: Sequence[Column]) -> Table[Of]:
    """A table with columns that only the file knows: numbers, which may be no whole ones where they have no unit."""
    others = (replace(column, unit="number") if column.unit in ("", "1") else column for column in columns)
    return Table((*table.columns, *others), table.rows)


def header_of(columns: Sequence[Column]) -> str:
    """The first line of a table as CSV."""
    return row_text([column.name for column in columns])


def csv_pieces(result: LinkResult, parts: Sequence[Slice], progress: Progress | None = None) -> Iterator[str]:
    """The header, then the lines of some pairs at a time. Numbers read back exactly; empty = not measured."""
    hosts = [_quoted(plain_name(place.host)) for place in result.ranks]
    yield header_of(columns_of(result))
    for block in pair_blocks(result, parts, _BLOCK_CELLS, progress):
        yield _lines(block, hosts)


def table_csv_pieces(
    result: Of, sizes: Sequence[int], table: Table[Of], progress: Progress | None = None
) -> Iterator[str]:
    """The same of a table of rows: the header, then some rows of some message sizes at a time."""
    yield header_of(table.columns)
    for rows in table.rows(result, sizes, progress):
        yield "".join(map(row_text, rows))


def row_text(row: Sequence[object]) -> str:
    """A line of a table; None is empty."""
    return ",".join(map(_text, row)) + "\n"


def _text(value: object) -> str:
    if value is None:
        return ""
    return _quoted(value) if isinstance(value, str) else repr(value)


def _lines(block: PairBlock, hosts: list[str]) -> str:
    from_rank, to_rank = block.from_rank.tolist(), block.to_rank.tolist()
    of_slice = f"{block.part.message_size_bytes},{block.part.repeat + 1}"
    columns = (
        map(str, from_rank),
        map(str, to_rank),
        [hosts[rank] for rank in from_rank],
        [hosts[rank] for rank in to_rank],
        [of_slice] * len(from_rank),
        _whole(block.values["round"]),
        *(_text_of(name, block.values[name]) for name in block.values if name != "round"),
    )
    lines = "\n".join(map(",".join, zip(*columns, strict=True)))
    return f"{lines}\n" if lines else ""


def _text_of(name: str, values: FloatArray) -> list[str]:
    return _whole(values) if name == "count" else _real(values)


def _whole(values: FloatArray) -> list[str]:
    missing = np.isnan(values)
    whole = np.where(missing, 0, values).astype(np.int64).tolist()
    return ["" if is_missing else str(value) for value, is_missing in zip(whole, missing.tolist(), strict=True)]


def _real(values: FloatArray) -> list[str]:
    # NaN is the one number that is not itself.
    return [repr(value) if value == value else "" for value in values.tolist()]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(letter in text for letter in ',"') else text
