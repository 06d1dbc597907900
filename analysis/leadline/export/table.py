# SPDX-License-Identifier: Apache-2.0
"""What an exported table is: columns with names, units and meanings, made some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from leadline.model import Column, Progress, RunResult

Of = TypeVar("Of", bound=RunResult)

# Of whatever goes from one rank to another.
ENDS = (
    Column("from", "1", "rank that sends"),
    Column("to", "1", "rank that receives"),
    Column("from_host", "", "host of the rank that sends"),
    Column("to_host", "", "host of the rank that receives"),
)
SIZE = Column("message_size_bytes", "bytes", "size of each message")
REPEAT = Column("repeat", "1", "number of the repeat, from 1")

# By the unit of a column; else it has real numbers.
_KINDS = {"1": "int64", "bytes": "uint64", "": "text"}


@dataclass(frozen=True)
class Words:
    """A column of texts of which there are few: of each row the number of its word."""

    number: NDArray[np.integer[Any]]
    words: Sequence[str]


# A column of some rows. NaN or None = not there; a column of whole numbers may be floats for the sake of NaN.
Values = NDArray[Any] | Words | Sequence[Any]
Block = Sequence[Values]


@dataclass(frozen=True)
class Table(Generic[Of]):
    """What becomes a file: its columns, and some rows at a time of some parts of a result, column by column."""

    columns: tuple[Column, ...]
    blocks: Callable[[Of, Sequence[Any], Progress | None], Iterator[Block]]
    kinds: Mapping[str, str] = field(default_factory=dict)  # of numbers, by name, where the unit does not tell

    def kind_of(self, column: Column) -> str:
        """`text`, or a type of numbers as numpy and Parquet call it."""
        return self.kinds.get(column.name) or _KINDS.get(column.unit, "float64")


def with_others(table: Table[Of], columns: Sequence[Column]) -> Table[Of]:
    """A table with columns that only the file knows: numbers, which may be no whole ones where they have no unit."""
    others = (replace(column, unit="number") if column.unit in ("", "1") else column for column in columns)
    return replace(table, columns=(*table.columns, *others))


def by_column(rows: Sequence[Sequence[Any]]) -> Block:
    """Rows as columns."""
    return list(zip(*rows, strict=True))


def num_rows_of(block: Block) -> int:
    """How many rows it has."""
    if not block:
        return 0
    first = block[0]
    return len(first.number if isinstance(first, Words) else first)


def plain_name(name: str) -> str:
    """A host's name for a table that a spreadsheet or a terminal may show: nothing in it is obeyed by either."""
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in name)
    return f"'{shown}" if shown[:1] in ("=", "+", "-", "@") else shown
