# SPDX-License-Identifier: Apache-2.0
"""A simulation as a JSON file (docs/formats/bisection-simulation.schema.json), written and read."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from leadline.bisection.simulate.model import SimulatedBisection, SimulatedPattern
from leadline.error import ExitStatus, LeadlineError, from_os_error
from leadline.model import FloatArray
from leadline.text_file import json_text

BENCHMARK = "bisection-simulation"
FORMAT_VERSION = 1

_PER_PATTERN = ("pattern_index", "relative_mean", "relative_harmonic", "worst_congestion")


def simulation_text(simulated: SimulatedBisection) -> str:
    """The file's contents; numbers read back exactly, NaN is null."""
    members = {one.name: getattr(simulated, one.name) for one in dataclasses.fields(simulated)}
    return json_text({"benchmark": BENCHMARK, "format_version": FORMAT_VERSION, "ebb": simulated.ebb} | members)


def is_own_simulation(ends: str) -> bool:
    """Whether an older file, by its beginning, is one of these."""
    return f'"benchmark": "{BENCHMARK}"' in ends[:200]


def load_simulation(path: str | os.PathLike[str]) -> SimulatedBisection:
    """What `leadline simulate bisection --output` has written. LeadlineError for whatever is not that."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise from_os_error(f"cannot read '{os.fspath(path)}'", error) from error
    except UnicodeDecodeError:
        raise _another_kind(path, "it is no text") from None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        raise _another_kind(path, "it is no JSON") from None
    if not isinstance(values, dict) or values.get("benchmark") != BENCHMARK:
        raise _another_kind(path, "it is no simulation", "Write one with leadline simulate bisection --json FILE")
    if values.get("format_version") != FORMAT_VERSION:
        why = f"format version {values.get('format_version')}; this program knows {FORMAT_VERSION}"
        raise LeadlineError(f"cannot read '{os.fspath(path)}'", why, "Use a newer leadline")
    try:
        return _simulation(values)
    except (LookupError, ValueError, TypeError, OverflowError) as error:
        raise LeadlineError(f"cannot read '{os.fspath(path)}'", f"damaged: {error or type(error).__name__}") from error


def _simulation(values: Mapping[str, Any]) -> SimulatedBisection:
    found = _members(SimulatedBisection, values)
    index, relative_mean, relative_harmonic, _ = columns = [found[name] for name in _PER_PATTERN]
    if len({len(column) for column in columns}) > 1:
        raise ValueError("the columns of the patterns have different lengths")
    if len(found["hosts"]) != found["num_ranks"]:
        raise ValueError(f"{found['num_ranks']} ranks on the hosts of {len(found['hosts'])}")
    for column in (relative_mean, relative_harmonic):
        _expect_shares(column)
    if not np.all((index >= 0) & (index < 2**53)) or np.any(np.diff(index) <= 0):
        raise ValueError("pattern_index does not rise")
    return SimulatedBisection(**found | {"pattern_index": index.astype(np.int64)})


def _members(kind_of: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Of a dataclass, from a JSON object."""
    return {one.name: _KINDS[str(one.type)](values[one.name]) for one in dataclasses.fields(kind_of)}


def _expect_shares(values: FloatArray) -> None:
    if not np.all((values > 0) & (values <= 1)):
        raise ValueError("a share is not above 0 and at most 1")


def _real(value: Any) -> float:
    if isinstance(value, bool) or not (value is None or isinstance(value, int | float)):
        raise ValueError(f"{value!r} is no number")
    return math.nan if value is None else float(value)


def _column(values: Any) -> FloatArray:
    return np.array([_real(one) for one in values], dtype=np.float64)


_KINDS: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "int": int,
    "bool": bool,
    "float": _real,
    "IntArray": _column,
    "FloatArray": _column,
    "tuple[str, ...]": lambda values: tuple(map(str, values)),
    "tuple[SimulatedPattern, ...]": lambda values: tuple(
        SimulatedPattern(**_members(SimulatedPattern, one)) for one in values
    ),
}


def _another_kind(path: str | os.PathLike[str], why: str, hint: str = "") -> LeadlineError:
    return LeadlineError(f"cannot read '{os.fspath(path)}'", why, hint, ExitStatus.BAD_COMMAND_LINE)
