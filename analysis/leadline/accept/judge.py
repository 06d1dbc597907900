# SPDX-License-Identifier: Apache-2.0
"""Whether what was measured keeps the limits of an acceptance test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from leadline.accept.spec import Limit, PartSpec
from leadline.units import bytes_text

# What tells an element of a list from the others, in the order in which it is said.
_TELLS = (
    "topology", "pattern", "name", "operation", "load", "intensity_percent", "test", "shared", "host", "rank",
    "message_size_bytes", "repeat",
)  # fmt: skip


class State(Enum):
    """Of a limit, and of the whole."""

    PASSED = "passed"
    FAILED = "failed"
    UNTESTED = "untested"


@dataclass(frozen=True)
class Judged:
    """A limit, and the number that comes closest to it or passes it by most."""

    limit: Limit
    state: State
    value: float = math.nan  # in the unit of the document
    place: str = ""  # of the element that it was found in
    num_values: int = 0  # that were compared
    why_untested: str = ""


@dataclass
class MeasuredPart:
    """What became of a part."""

    spec: PartSpec
    command: Sequence[str]  # as it was run
    elapsed_s: float | None = None  # None: it was measured before
    why_not: str = ""  # why there is no whole result
    judged: list[Judged] = field(default_factory=list)


def judged(spec: PartSpec, summary: Mapping[str, Any] | None, why_not: str) -> list[Judged]:
    """Each limit of a part by the document of its result; nothing is tested by a result that is not whole."""
    if summary is None or why_not:
        return [Judged(limit, State.UNTESTED, why_untested=why_not or "there is no result") for limit in spec.limits]
    return [_judged(limit, summary) for limit in spec.limits]


def state_of(parts: Sequence[MeasuredPart]) -> State:
    """Failed where one limit is, untested where one could not be tested."""
    states = {one.state for part in parts for one in part.judged}
    return next((one for one in (State.FAILED, State.UNTESTED) if one in states), State.PASSED)


def _judged(limit: Limit, summary: Mapping[str, Any]) -> Judged:
    path = (*limit.path, "") if limit.is_count else limit.path
    found = list(_found(summary, path, limit, ()))
    values = [(value, place) for value, place in found if math.isfinite(value)]
    if not values:
        said = ", ".join(f"{key} {value}" for key, value in limit.where.items())
        why = "it has no value" if found else f"there is nothing{f' where {said}' if said else ''}"
        return Judged(limit, State.UNTESTED, why_untested=why)
    value, place = max(values, key=lambda one: _excess(limit, one[0]))
    if not limit.is_kept_by(value):
        return Judged(limit, State.FAILED, value, place, len(values))
    num_absent = len(found) - len(values)
    if num_absent:
        why = f"{num_absent} of {len(found)} have no value"
        return Judged(limit, State.UNTESTED, value, place, len(values), why)
    return Judged(limit, State.PASSED, value, place, len(values))


def _excess(limit: Limit, value: float) -> float:
    """The greater, the worse; above 0 where a bound is passed."""
    over = [value - limit.at_most] if not math.isnan(limit.at_most) else []
    under = [limit.at_least - value] if not math.isnan(limit.at_least) else []
    return max(over + under)


def _found(node: Any, path: Sequence[str], limit: Limit, place: tuple[str, ...]) -> Iterator[tuple[float, str]]:
    """The numbers at a path, NaN where there is none; an empty key counts the elements of the list it stands for."""
    if isinstance(node, list):
        chosen = [one for one in node if _is_chosen(one, limit.where)]
        if path and path[0] == "":
            yield float(len(chosen)), ", ".join(place)
            return
        for one in chosen:
            yield from _found(one, path, limit, (*place, *_told(one, limit.where)))
        return
    if not path:
        is_number = isinstance(node, int | float) and not isinstance(node, bool)
        yield (float(node) if is_number else math.nan), ", ".join(place)
        return
    if not isinstance(node, dict) or path[0] not in node:
        yield math.nan, ", ".join(place)
        return
    yield from _found(node[path[0]], path[1:], limit, place)


def _is_chosen(element: Any, where: Mapping[str, Any]) -> bool:
    return not isinstance(element, dict) or all(element[key] == value for key, value in where.items() if key in element)


def _told(element: Any, where: Mapping[str, Any]) -> list[str]:
    if not isinstance(element, dict):
        return []
    told = []
    for key in _TELLS:
        value = element.get(key)
        if key in where or value is None or isinstance(value, list | dict):
            continue
        if key == "message_size_bytes":
            told.append(bytes_text(value))
        elif key == "repeat":
            told += [f"repeat {value + 1}"] if value > 0 else []
        elif key == "intensity_percent":
            told.append(f"{value} %")
        elif key == "shared":
            told += [f"shares {value}"] if value != "all" else []
        elif key == "rank":
            told.append(f"rank {value}")
        else:
            told.append(str(value))
    return told
