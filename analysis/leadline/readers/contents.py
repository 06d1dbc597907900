# SPDX-License-Identifier: Apache-2.0
"""What the formats have in common: the parts of a result from plain values, each checked before it is used."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from leadline.error import printable_name
from leadline.model import Finding, RankLocation, RunProvenance, Slice

Origin = TypeVar("Origin", bound=RunProvenance)

# 2: a link test in the compact form; 3: one that stores sampled rounds; all else is 1.
FORMAT_VERSION = 3

# What numpy, the HDF5 library and our own conversions raise for values that are none.
BAD_VALUES = (RuntimeError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError)


class DamagedError(ValueError):
    """Something in a file that cannot be; the reader that knows the file says so with its name."""


def text_of(value: Any) -> str:
    """A string of whatever kind a file has: fixed or variable, padded, in bytes that may not be UTF-8."""
    if isinstance(value, np.ndarray):
        value = value.reshape(-1)[0] if value.size else ""
    if isinstance(value, bytes):
        value = value.decode("utf-8", errors="replace")
    return str(value).rstrip("\0")


def reason_of(error: BaseException) -> str:
    """The first line of an error's text, or its kind."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def provenance_of(values: Mapping[str, Any], kind_of: type[Origin]) -> Origin:
    """From the attributes of /provenance, or what stands for them."""
    facts = facts_of({"end_utc": ""} | dict(values), kind_of)
    missing = [one.name for one in dataclasses.fields(kind_of) if one.name not in facts]
    if missing:
        raise DamagedError(f"/provenance has no {missing[0]}")
    return kind_of(**facts)


def facts_of(values: Mapping[str, Any], kind_of: type[Any]) -> dict[str, Any]:
    """Attributes of a group as the members of a dataclass that have their names."""
    kinds = {one.name: one.type for one in dataclasses.fields(kind_of) if one.type in _FACTS}
    return {name: _FACTS[kinds[name]](values[name]) for name in kinds.keys() & values.keys()}


def columns_of(kind_of: type[Any]) -> dict[str, str]:
    """The members of a dataclass that are columns or numbers, with the kinds that their datasets may have."""
    kinds = {one.name: _KINDS.get(str(one.type)) for one in dataclasses.fields(kind_of)}
    return {name: kind for name, kind in kinds.items() if kind}


def real_of(value: Any) -> float:
    """A number as JSON has it, which knows no NaN."""
    return math.nan if value is None else float(value)


_KINDS = {"FloatArray": "f", "float": "f", "IntArray": "iu", "BoolArray": "iu", "int": "iu"}
_FACTS: dict[Any, Callable[[Any], Any]] = {
    "str": text_of,
    "float": real_of,
    "bool": lambda value: text_of(value).lower() not in ("0", "false", ""),
    "int": int,
    "tuple[str, ...]": lambda value: tuple(str(word) for word in json.loads(text_of(value))),
}


def rank_placement(
    rank: int, host: str, device: str = "", cpus: str = "", pid: int = 0, num_cpus: int = 0, numa_node: int = -1,
    adapter: str = "",
) -> RankLocation:  # fmt: skip
    """Where a rank ran; hosts without a name get one, since a name is what people look for."""
    host, device, cpus = printable_name(host or "(unknown host)"), printable_name(device), printable_name(cpus)
    return RankLocation(rank, host, device, cpus, int(pid), int(num_cpus), int(numa_node), printable_name(adapter))


def summary_of(text: str) -> Mapping[str, object] | None:
    """The engine's own summary; None where it did not come to write one."""
    if not text:
        return None
    try:
        summary = json.loads(text)
    except ValueError as error:
        raise DamagedError(f"/summary is no JSON: {reason_of(error)}") from error
    if not isinstance(summary, dict):
        raise DamagedError("/summary is not a JSON object")
    return summary


def findings_of(summary: Mapping[str, object] | None) -> tuple[Finding, ...]:
    """The findings that the engine wrote down."""
    entries = summary.get("findings") if summary else None
    names = ("id", "severity", "message", "evidence", "advice")
    return tuple(
        Finding(*(str(entry.get(name, "")) for name in names))
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict)
    )


def of_slices(
    summary: Mapping[str, object] | None, slices: tuple[Slice, ...], name: str
) -> Iterator[tuple[Slice, Any]]:
    """What the summary says of slices under a name, where it says anything."""
    has_patterns = any(part.pattern for part in slices)  # of a bisection test all entries have the same
    known = {(part.repeat, part.size_index, part.pattern): part for part in slices}
    entries = summary.get("slices") if summary else None
    for entry in entries if isinstance(entries, list) else []:
        pattern = str(entry.get("pattern") or "") if has_patterns else ""
        part = known.get((entry["repeat"], entry["size_index"], pattern))
        if part and entry.get(name) is not None:
            yield part, entry[name]
