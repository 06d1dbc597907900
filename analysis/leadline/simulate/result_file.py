# SPDX-License-Identifier: Apache-2.0
"""A simulation as a JSON file (docs/formats/bisection-simulation.schema.json), written and read."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from leadline.error import ExitStatus, LeadlineError, from_os_error
from leadline.model import FloatArray
from leadline.model.simulation import SimulatedBisection, SimulatedPattern

BENCHMARK = "bisection-simulation"
FORMAT_VERSION = 1

_PER_PATTERN = ("pattern_index", "relative_mean", "relative_harmonic", "worst_congestion")


def simulation_text(simulated: SimulatedBisection) -> str:
    """The file's contents; numbers read back exactly, NaN is null."""
    values: dict[str, Any] = {"benchmark": BENCHMARK, "format_version": FORMAT_VERSION, "ebb": _number(simulated.ebb)}
    for field in dataclasses.fields(simulated):
        value = getattr(simulated, field.name)
        if isinstance(value, np.ndarray):
            value = [_number(one) for one in value.tolist()]
        elif field.name == "named":
            value = [{name: _number(one) for name, one in dataclasses.asdict(of).items()} for of in value]
        values[field.name] = _number(value)
    # A line for each member: the file can be read by people, and compared.
    lines = [f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


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
    hosts = tuple(str(host) for host in values["hosts"])
    columns = [np.array([_real(one) for one in values[name]], dtype=np.float64) for name in _PER_PATTERN]
    index, relative_mean, relative_harmonic, worst_congestion = columns
    if len({len(column) for column in columns}) > 1:
        raise ValueError("the columns of the patterns have different lengths")
    if len(hosts) != int(values["num_ranks"]):
        raise ValueError(f"{values['num_ranks']} ranks on the hosts of {len(hosts)}")
    for column in (relative_mean, relative_harmonic):
        _expect_shares(column)
    if not np.all((index >= 0) & (index < 2**53)) or np.any(np.diff(index) <= 0):
        raise ValueError("pattern_index does not rise")
    return SimulatedBisection(
        topology=str(values["topology"]),
        routing=str(values["routing"]),
        seed=int(values["seed"]),
        num_ranks=len(hosts),
        hosts=hosts,
        active_ranks_per_host=int(values["active_ranks_per_host"]),
        within_hosts=bool(values["within_hosts"]),
        num_participants=int(values["num_participants"]),
        pattern_index=index.astype(np.int64),
        relative_mean=relative_mean,
        relative_harmonic=relative_harmonic,
        worst_congestion=worst_congestion,
        half_width=_real(values["half_width"]),
        relative_median=_real(values["relative_median"]),
        relative_p05=_real(values["relative_p05"]),
        relative_p01=_real(values["relative_p01"]),
        relative_min=_real(values["relative_min"]),
        harmonic=_real(values["harmonic"]),
        named=tuple(_named(one) for one in values["named"]),
        measured_nonce=str(values["measured_nonce"]),
    )


def _named(values: Mapping[str, Any]) -> SimulatedPattern:
    shares = (_real(values[name]) for name in ("relative_mean", "relative_harmonic", "worst_congestion"))
    return SimulatedPattern(str(values["name"]), int(values["num_connections"]), *shares)


def _expect_shares(values: FloatArray) -> None:
    if not np.all((values > 0) & (values <= 1)):
        raise ValueError("a share is not above 0 and at most 1")


def _number(value: Any) -> Any:
    """As JSON has it."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _real(value: Any) -> float:
    if isinstance(value, bool) or not (value is None or isinstance(value, int | float)):
        raise ValueError(f"{value!r} is no number")
    return math.nan if value is None else float(value)


def _another_kind(path: str | os.PathLike[str], why: str, hint: str = "") -> LeadlineError:
    return LeadlineError(f"cannot read '{os.fspath(path)}'", why, hint, ExitStatus.BAD_COMMAND_LINE)
