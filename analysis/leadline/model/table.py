# SPDX-License-Identifier: Apache-2.0
"""What the plain data of results have in common: a short text of each, and columns of one length as a table."""

from __future__ import annotations

import dataclasses
import importlib
import reprlib
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leadline.error import ExitStatus, LeadlineError, printable
from leadline.units import counted

if TYPE_CHECKING:
    import pandas

_LINE_LENGTH = 120
_MOST_LINES = 3


class Record:
    """A dataclass, declared with repr=False, whose repr has three lines at most, however much it holds."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __repr__(self) -> str:
        """Fields by their names; of what is long the beginning, of arrays their kind and shape."""
        values = (f"{one.name}={_SHORT.repr(getattr(self, one.name))}" for one in dataclasses.fields(self))
        return three_lines(f"{type(self).__name__}({', '.join(values)})")


class Table(Record):
    """A dataclass of columns: its arrays, a row each place."""

    def to_table(self) -> dict[str, NDArray[Any]]:
        """The columns by their names."""
        values = {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def to_pandas(self) -> pandas.DataFrame:
        """The same as a table of pandas. Needs pandas."""
        return frame_of(self.to_table())

    def __len__(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.to_table().values())))

    def __repr__(self) -> str:
        """How many rows there are of which columns."""
        return three_lines(f"{type(self).__name__}: {counted(len(self), 'row')} of {', '.join(self.to_table())}")


class _Short(reprlib.Repr):
    """Of every value as much as a line has room for."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxtuple, self.maxdict, self.maxstring, self.maxother = 2, 3, 3, 60, 60

    def repr_ndarray(self, array: NDArray[Any], level: int) -> str:  # noqa: ARG002 -- as reprlib calls it
        return f"{array.dtype} {list(array.shape)}"


_SHORT = _Short()


def first_of(words: Sequence[str]) -> str:
    """The first four, and how many more there are."""
    num_more = len(words) - 4
    return ", ".join(words[:4]) + (f" and {num_more:,} more" if num_more > 0 else "")


def of_lines(*lines: str) -> str:
    """A line each, the first one not indented, whatever stands in names that come from a file."""
    return printable("\n  ".join(" ".join(line.split()) for line in lines))


def three_lines(text: str) -> str:
    """Words in as few lines as they need, but no more than three."""
    return textwrap.fill(
        text, _LINE_LENGTH, max_lines=_MOST_LINES, subsequent_indent="  ", placeholder=" ...", break_on_hyphens=False
    )


def frame_of(columns: dict[str, NDArray[Any]]) -> pandas.DataFrame:
    """A table of pandas, for whoever has that library."""
    frame: pandas.DataFrame = imported("pandas").DataFrame(columns)
    return frame


def imported(name: str) -> Any:
    """A library that only one method needs."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        hint = f"Install it: pip install {package}"
        raise LeadlineError(f"this needs {package}", str(error), hint, ExitStatus.SOMETHING_MISSING) from error
