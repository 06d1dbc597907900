# SPDX-License-Identifier: Apache-2.0
"""The part of an address behind the question mark: numbers within bounds and names that are known, nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import TypeVar
from urllib.parse import parse_qsl

_MOST_PARAMETERS = 16
_INTEGER = re.compile(r"[0-9]{1,9}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?", re.ASCII)

Name = TypeVar("Name", bound=Enum)


class WrongParameterError(Exception):
    """A parameter is missing, wrong or not known; the text names it."""


class Query:
    """The parameters of one request; each is to be asked for, and done() tells whether there were others."""

    def __init__(self, text: str) -> None:
        """WrongParameterError where it is no list of parameters, or one is given twice."""
        try:
            pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), max_num_fields=_MOST_PARAMETERS)
        except ValueError:
            raise WrongParameterError("the parameters cannot be read") from None
        self._values = dict(pairs)
        if len(self._values) != len(pairs):
            raise WrongParameterError("a parameter is given twice")
        self._left = set(self._values)

    def text(self, name: str) -> str:
        """As it is; empty where it is missing."""
        self._left.discard(name)
        return self._values.get(name, "")

    def integer(self, name: str, low: int, high: int) -> int:
        """From low to high, both included."""
        value = self._there(name)
        if not _INTEGER.fullmatch(value) or not low <= int(value) <= high:
            raise WrongParameterError(f"{name} must be a whole number from {low} to {high}")
        return int(value)

    def time_ns(self, name: str) -> float:
        """A finite number that is not negative."""
        value = self._there(name)
        if not _NUMBER.fullmatch(value) or float(value) == float("inf"):
            raise WrongParameterError(f"{name} must be a number of nanoseconds")
        return float(value)

    def choice(self, name: str, names: Iterable[Name]) -> Name:
        """One of some values of an enum, or of all."""
        names = tuple(names)
        value = self._there(name)
        for one in names:
            if one.value == value:
                return one
        raise WrongParameterError(f"{name} must be one of: {', '.join(str(one.value) for one in names)}")

    def done(self) -> None:
        """WrongParameterError where there is an unknown parameter."""
        if self._left:
            raise WrongParameterError("there is a parameter that this address does not have")

    def _there(self, name: str) -> str:
        if name not in self._values:
            raise WrongParameterError(f"{name} is missing")
        return self.text(name)
