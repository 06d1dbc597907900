# SPDX-License-Identifier: Apache-2.0
"""What the formats have in common: the parts of a result from plain values, each checked before it is used."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from leadline.error import printable_name
from leadline.model import (
    AllToAll,
    Finding,
    FloatArray,
    IntArray,
    LinkTestRecord,
    RankLocation,
    ReadRows,
    Retest,
    RunProvenance,
    Slice,
    Spread,
)

Origin = TypeVar("Origin", bound=RunProvenance)

# 2: a link test in the compact form; 3: one that stores sampled rounds; all else is 1.
FORMAT_VERSION = 3
# Of the pairs, in every file of a link test.
MATRICES = ("count", "time_ns_min", "time_ns_median", "time_ns_mean", "time_ns_p99", "time_ns_max")

# What numpy, the HDF5 library and our own conversions raise for values that are none.
BAD_VALUES = (RuntimeError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError)

_BLOCK_CELLS = 1 << 19


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
    rank: int, host: str, device: str = "", cpus: str = "", pid: int = 0, num_cpus: int = 0, numa_node: int = -1
) -> RankLocation:
    """Where a rank ran; hosts without a name get one, since a name is what people look for."""
    host, device, cpus = printable_name(host or "(unknown host)"), printable_name(device), printable_name(cpus)
    return RankLocation(rank, host, device, cpus, int(pid), int(num_cpus), int(numa_node))


def linktest_of(values: Mapping[str, Any], location: Any, num_ranks: int) -> LinkTestRecord:
    """From the attributes of /linktest and the locations, [N, 4]."""
    places = np.asarray(location)
    if places.shape != (num_ranks, 4) or places.dtype.kind not in "ui":
        raise DamagedError(f"/linktest/location is {places.dtype} of the shape {places.shape}")

    times: dict[str, Any] = {
        name: tuple(real_of(values[f"{name}_{which}"]) for which in ("min", "max", "mean"))
        for name in ("time_s", "all_to_all_time_s")
    }
    return LinkTestRecord(**facts_of(values, LinkTestRecord), **times, location=places.astype(np.int64))


def retests_of(columns: Sequence[Sequence[Any]], num_sizes: int, num_ranks: int) -> tuple[Retest, ...]:
    """From the columns of /retest in the order of its documentation."""
    retests = []
    for repeat, size_index, from_rank, to_rank, time, again in zip(*columns, strict=True):
        if not (0 <= from_rank < num_ranks and 0 <= to_rank < num_ranks and 0 <= size_index < num_sizes):
            raise DamagedError(f"/retest has the pair {from_rank} to {to_rank} of size {size_index}")
        time_ns, retest_time_ns = (
            float(value) if value is not None and 0 < value < math.inf else math.nan for value in (time, again)
        )
        retests.append(Retest(int(repeat), int(size_index), int(from_rank), int(to_rank), time_ns, retest_time_ns))
    return tuple(retests)


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
    known = {(part.repeat, part.size_index): part for part in slices}
    entries = summary.get("slices") if summary else None
    for entry in entries if isinstance(entries, list) else []:
        part = known.get((entry["repeat"], entry["size_index"]))
        if part and entry.get(name) is not None:
            yield part, entry[name]


def _spread(entry: Mapping[str, Any], quantity: str) -> Spread:
    values = [entry[f"{quantity}_{which}"] for which in ("min", "mean", "max")]
    return Spread(int(entry["num"]), *(real_of(value) for value in values))


def all_to_all_of(
    summary: Mapping[str, object] | None, slices: tuple[Slice, ...], linktest: LinkTestRecord | None
) -> dict[Slice, AllToAll]:
    """Exchanges of all ranks with all others, of slices that have them."""
    if linktest and linktest.has_all_to_all:
        # Of one byte before each round, whatever the size of the other messages (LinkTest 1.2).
        num_ranks = len(linktest.location)
        least, most, mean = (1e9 * time_s for time_s in linktest.all_to_all_time_s)
        return {slices[0]: AllToAll(1, None, None, Spread(num_ranks * (num_ranks - 1), least, mean, most))}
    return {
        part: AllToAll(
            int(entry["message_size_bytes"]),
            *(_spread(entry[when], "time_ns") if entry[when] else None for when in ("before", "after", "each_round")),
        )
        for part, entry in of_slices(summary, slices, "all_to_all")
    }


def bisection_of(summary: Mapping[str, object] | None, slices: tuple[Slice, ...]) -> dict[Slice, Spread]:
    """Bandwidths across the cut, of slices that have one."""
    return {part: _spread(entry, "bandwidth_bytes_per_s") for part, entry in of_slices(summary, slices, "bisection")}


def block_of_rows(read_rows: ReadRows, part: Slice, dataset: str, rows: IntArray, columns: IntArray) -> FloatArray:
    """See leadline.model.ReadBlock; from whole rows, one at a time."""
    found = [read_rows(part, dataset, rank, rank + 1)[0, columns] for rank in rows.tolist()]
    return np.array(found, dtype=np.float64).reshape(len(rows), len(columns))


def has_rounds(read_rows: ReadRows, part: Slice, num_ranks: int) -> bool:
    """Whether the schedule of a slice's repeat was written. None is empty: where all is 0, the run was killed before
    that, or one rank was alone, which all but tells its schedule.
    """
    step = max(1, _BLOCK_CELLS // num_ranks)
    blocks = (read_rows(part, "round", first, min(first + step, num_ranks)) for first in range(0, num_ranks, step))
    return any(bool(np.isfinite(block).any()) for block in blocks)
