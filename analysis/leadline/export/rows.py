# SPDX-License-Identifier: Apache-2.0
"""What a table of rows is, of whatever benchmark: its columns, and where its rows come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from leadline.export.pairs import Column, Progress
from leadline.model import RunResult

Of = TypeVar("Of", bound=RunResult)


@dataclass(frozen=True)
class Table(Generic[Of]):
    """What becomes a file: its columns, and its rows, some at a time, each a list with None for what is not there."""

    columns: tuple[Column, ...]
    rows: Callable[[Of, Sequence[int], Progress | None], Iterator[list[list[Any]]]]

    @property
    def header(self) -> str:
        """The first line of the table as CSV."""
        return ",".join(column.name for column in self.columns) + "\n"
