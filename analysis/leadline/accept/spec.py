# SPDX-License-Identifier: Apache-2.0
"""The file of an acceptance test (docs/formats/acceptance.md): which runs there are, and the limits of each number."""

from __future__ import annotations

import difflib
import math
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import yaml

from leadline.benchmarks import BENCHMARKS
from leadline.error import LeadlineError, wrong
from leadline.text_file import read_text
from leadline.units import bandwidth_text, parse_bytes, plain, time_text

_MOST_BYTES = 1 << 20
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
# leadline accept itself says them, for all parts.
_NOT_IN_PARTS = ("--output", "-o", "--format", "--overwrite", "--dry-run", "--help", "-h", "--quiet", "-q")
_HEAD, _PART = ("title", "time", "parts"), ("run", "time", "limits")
_LIMIT = ("value", "count", "where", "at least", "at most", "title")

Schema = Mapping[str, Any]
# From the name of a benchmark to the schema of its document.
SchemaOf = Callable[[str], Schema]


class Quantity(Enum):
    """What a number is; its value is how schemas call the unit, at the end of a description."""

    TIME = "nanoseconds"
    SECONDS = "seconds"
    RATE = "bytes per second"
    BYTES = "bytes"
    NUMBER = ""

    def text(self, value: float) -> str:
        """With its unit."""
        if self is Quantity.TIME:
            return time_text(value)
        if self is Quantity.SECONDS:
            return time_text(1e9 * value)
        if self is Quantity.RATE:
            return bandwidth_text(value)
        return f"{plain(value)} B" if self is Quantity.BYTES else plain(value)


_TIMES = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_BYTES |= {f"{prefix}iB": 1024.0**power for power, prefix in enumerate("KMGT", 1)}
_UNITS = {
    Quantity.TIME: {name: 1e9 * scale for name, scale in _TIMES.items()},
    Quantity.SECONDS: _TIMES,
    Quantity.RATE: {f"{name}/s": scale for name, scale in _BYTES.items()},
    Quantity.BYTES: _BYTES,
    Quantity.NUMBER: {"": 1.0, "%": 0.01},
}


@dataclass(frozen=True)
class Limit:
    """What a number, or each of several, must not pass; in the unit of the document. NaN: no such bound."""

    title: str
    path: tuple[str, ...]  # keys of the result's document; lists are passed through
    where: Mapping[str, Any]  # by a key of elements of these lists the value that counts
    is_count: bool  # how many elements there are
    quantity: Quantity
    at_least: float
    at_most: float
    text: str  # both as the file says them: "at most 2 us"

    @property
    def key(self) -> str:
        """What is compared, as the file says it."""
        return _key(self.path, self.where, self.is_count)

    def is_kept_by(self, value: float) -> bool:
        """Whether a number passes neither bound."""
        return not (value < self.at_least or value > self.at_most)


@dataclass(frozen=True)
class PartSpec:
    """A run of one benchmark, and what is asked of its result."""

    name: str
    words: tuple[str, ...]  # behind "leadline"
    time_s: float  # infinite: no limit of its own
    limits: tuple[Limit, ...]

    @property
    def benchmark(self) -> str:
        """The command that it runs."""
        return self.words[0]


@dataclass(frozen=True)
class Spec:
    """All of the file."""

    path: Path
    text: str
    title: str
    time_s: float  # for all parts together; infinite: no limit
    parts: tuple[PartSpec, ...]


class _Loader(yaml.SafeLoader):
    """As YAML wants it, and as safe_load does not: a key that stands twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """As PyYAML calls it."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key, (at, _) in zip(keys, node.value, strict=True):
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"'{key}' stands twice", at.start_mark)
        return super().construct_mapping(node, deep)


def read_spec(path: Path, schema_of: SchemaOf) -> Spec:
    """The file, each word of it checked. LeadlineError that says where something is wrong, and what may stand there."""

    def refusal(why: str, hint: str) -> LeadlineError:
        return wrong(f"'{path}' is no acceptance test ({why})", hint)

    text = read_text(path, _MOST_BYTES, refusal, "See docs/formats/acceptance.md")
    try:
        document = yaml.load(text, _Loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise wrong(f"'{path}' is no YAML ({' '.join(str(error).split())})") from error
    return _Reader(path, schema_of).spec(text, document)


class _Reader:
    def __init__(self, path: Path, schema_of: SchemaOf) -> None:
        self._path, self._schema_of = path, schema_of

    def _wrong(self, where: str, what: str, hint: str = "See docs/formats/acceptance.md") -> LeadlineError:
        return wrong(f"'{self._path}'{f', {where}' if where else ''}: {what}", hint)

    def _keys(self, where: str, value: Any, known: tuple[str, ...], needed: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong(where, f"here must be {', '.join(known)}")
        for key in value:
            if key not in known:
                meant = next(iter(difflib.get_close_matches(str(key), known, n=1)), "")
                raise self._wrong(where, f"unknown '{key}'", f"Did you mean {meant}?" if meant else
                                  f"There are {', '.join(known)}")  # fmt: skip
        for key in needed:
            if key not in value:
                raise self._wrong(where, f"'{key}' is missing")
        return value

    def spec(self, text: str, document: Any) -> Spec:
        head = self._keys("", document, _HEAD, ("parts",))
        parts = head["parts"]
        if not isinstance(parts, dict) or not parts:
            raise self._wrong("", "'parts' must name at least one run")
        return Spec(
            self._path, text, " ".join(str(head.get("title", self._path.stem)).split()),
            self._time("time", head.get("time")), tuple(self._part(name, one) for name, one in parts.items()),
        )  # fmt: skip

    def _time(self, where: str, value: Any) -> float:
        return math.inf if value is None else self._number(where, value, Quantity.SECONDS)

    def _part(self, name: Any, value: Any) -> PartSpec:
        where = f"part {name}"
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise self._wrong("", f"'{name}' cannot be the name of a part", "Use small letters, digits, - and _")
        part = self._keys(where, value, _PART, ("run", "limits"))
        words = self._words(where, part["run"])
        if not isinstance(part["limits"], list) or not part["limits"]:
            raise self._wrong(where, "'limits' must be a list of at least one")
        schema = self._schema_of(words[0])
        limits = [self._limit(f"{where}, limit {index}", one, schema) for index, one in enumerate(part["limits"], 1)]
        return PartSpec(name, words, self._time(f"{where}, time", part.get("time")), tuple(limits))

    def _words(self, where: str, value: Any) -> tuple[str, ...]:
        try:
            words = tuple(shlex.split(value)) if isinstance(value, str) else ()
        except ValueError as error:
            raise self._wrong(f"{where}, run", str(error)) from error
        if not words or words[0] not in BENCHMARKS:
            raise self._wrong(f"{where}, run", "the first word must be a benchmark", f"Take {', '.join(BENCHMARKS)}")
        for word in words:
            if word.partition("=")[0] in _NOT_IN_PARTS:
                raise self._wrong(f"{where}, run", f"{word} cannot stand here", "leadline accept says it itself")
        return words

    def _limit(self, where: str, value: Any, schema: Schema) -> Limit:
        limit = self._keys(where, value, _LIMIT, ())
        if ("value" in limit) == ("count" in limit):
            raise self._wrong(where, "either 'value' or 'count' must stand here")
        is_count = "count" in limit
        name = limit["count" if is_count else "value"]
        path = tuple(str(name).split("."))
        quantity, keys = self._looked_up(where, path, schema, is_count)
        bounds = {word: self._number(f"{where}, {word}", limit[word], quantity)
                  for word in ("at least", "at most") if word in limit}  # fmt: skip
        if not bounds:
            raise self._wrong(where, "'at least' or 'at most' is missing")
        selected = limit.get("where") or {}
        if not isinstance(selected, dict):
            raise self._wrong(where, "'where' must be keys with values")
        for key in selected:
            if key not in keys:
                raise self._wrong(f"{where}, where", f"no list on this way has '{key}'", f"There are {_some(keys)}")
        chosen = {key: self._selector(f"{where}, where", key, one) for key, one in selected.items()}
        for key, one in chosen.items():
            if one not in keys[key].get("enum", [one]):
                raise self._wrong(f"{where}, where", f"{key} is never '{one}'", f"It is {', '.join(keys[key]['enum'])}")
        title = limit.get("title", _key(path, selected, is_count))
        return Limit(
            " ".join(str(title).split()), path, chosen, is_count, quantity,
            bounds.get("at least", math.nan), bounds.get("at most", math.nan),
            ", ".join(f"{word} {limit[word]}" for word in bounds),
        )  # fmt: skip

    def _looked_up(
        self, where: str, path: tuple[str, ...], schema: Schema, is_count: bool
    ) -> tuple[Quantity, dict[str, Schema]]:
        """What the path leads to, and the keys of elements of lists on the way."""
        node, keys = schema, dict[str, Schema]()
        for index, key in enumerate(path):
            node = _element(node, keys)
            known = node.get("properties", {})
            if key not in known:
                before = ".".join(path[:index])
                there = f"There are {_some(known)}" if known else "It is a number already"
                raise self._wrong(where, f"no '{key}' in {before or 'the result'}", there)
            node = known[key]
        if is_count:
            if "array" not in _types(node):
                raise self._wrong(where, f"{'.'.join(path)} is no list, so nothing can be counted", "Take 'value'")
            _element(node, keys)
            return Quantity.NUMBER, keys
        node = _element(node, keys) if _types(node.get("items", {})) & {"number", "integer"} else node
        if not _types(node) & {"number", "integer"}:
            known = _element(node, {}).get("properties", {})
            hint = f"There are {_some(known)}" if known else "Take another one"
            raise self._wrong(where, f"{'.'.join(path)} is no number", hint)
        return _quantity(node, path[-1]), keys

    def _number(self, where: str, value: Any, quantity: Quantity) -> float:
        units = _UNITS[quantity]
        match = re.fullmatch(r"([-+]?[0-9.]+(?:e[-+]?[0-9]+)?)\s*(\D*)", str(value).strip(), re.IGNORECASE)
        scale = units.get(match[2].strip()) if match and not isinstance(value, bool) else None
        number = math.nan
        if match and scale is not None:
            try:
                number = float(match[1]) * scale
            except ValueError:
                number = math.nan
        if not math.isfinite(number):
            example = {"": "0.8 or 80 %"}.get(quantity.value) or f"a number with one of {', '.join(units)}"
            raise self._wrong(where, f"'{value}' is no such limit", f"Write {example}")
        return number

    def _selector(self, where: str, key: str, value: Any) -> Any:
        if key.endswith("_bytes") and isinstance(value, str):
            try:
                return parse_bytes(value)
            except ValueError:
                raise self._wrong(where, f"{key} cannot be '{value}'", "Write it as 512, 1KiB or 16MiB") from None
        if key.endswith("_percent") and isinstance(value, str):
            if not re.fullmatch(r"[0-9]+\s*%?", value, re.ASCII):
                raise self._wrong(where, f"{key} cannot be '{value}'", "Write it as 100 or 100 %")
            return int(value.rstrip("% "))
        return value


def _types(node: Schema) -> set[str]:
    types = node.get("type", ())
    return {types} if isinstance(types, str) else set(types)


def _element(node: Schema, keys: dict[str, Schema]) -> Schema:
    """The element of a list, however deep; what its keys are is noted."""
    while "items" in node:
        node = node["items"]
        keys.update(node.get("properties", {}))
    return node


def _quantity(node: Schema, key: str) -> Quantity:
    said = re.search(r"\(([a-z ]+)\)\.?$", node.get("description", ""))
    for one in Quantity:
        if said and one.value == said[1]:
            return one
    return Quantity.RATE if "bytes_per_s" in key else Quantity.TIME if re.search(r"_ns(_|$)", key) else Quantity.NUMBER


def _key(path: tuple[str, ...], where: Mapping[str, Any], is_count: bool) -> str:
    selected = ", ".join(f"{key} {value}" for key, value in where.items())
    return f"{'number of ' if is_count else ''}{'.'.join(path)}{f' where {selected}' if selected else ''}"


def _some(names: Mapping[str, Any]) -> str:
    return ", ".join(names) or "none"
