# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: one unit a column, 1024-based names for bytes; and sizes as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A unit for display: shown = value in the base unit (ns, bytes, bytes/s) / scale."""

    name: str
    scale: float


_TIME_UNITS = (Unit("ns", 1), Unit("µs", 1e3), Unit("ms", 1e6), Unit("s", 1e9))
_BYTE_UNITS = tuple(Unit(name, 1024.0**power) for power, name in enumerate(("B", "KiB", "MiB", "GiB", "TiB")))
_BANDWIDTH_UNITS = tuple(Unit(unit.name + "/s", unit.scale) for unit in _BYTE_UNITS)


def _unit_for(value: float, units: tuple[Unit, ...]) -> Unit:
    fitting = [unit for unit in units if math.isfinite(value) and abs(value) >= unit.scale]
    return fitting[-1] if fitting else units[0]


def time_unit(typical_ns: float) -> Unit:
    """The unit for a column of times around `typical_ns`."""
    return _unit_for(typical_ns, _TIME_UNITS)


def bandwidth_unit(typical_bytes_per_s: float) -> Unit:
    """The unit for a column of bandwidths around `typical_bytes_per_s`."""
    return _unit_for(typical_bytes_per_s, _BANDWIDTH_UNITS)


def middle(values: Iterable[float]) -> float:
    """The middle of the logarithms of those above 0, for the choice of a unit; NaN where there is none."""
    there = [value for value in values if math.isfinite(value) and value > 0]
    return math.sqrt(min(there) * max(there)) if there else math.nan


def number(value: float, digits: int = 4) -> str:
    """`digits` significant digits without an exponent; a dash for what is not there."""
    if not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    # The exponent after rounding: 9.9996 has four digits as 10.00.
    decimals = digits - 1 - int(f"{value:.{digits - 1}e}".partition("e")[2])
    return f"{round(value, decimals):.{max(decimals, 0)}f}"


def plain(value: float, digits: int = 6) -> str:
    """At most so many digits, without zeros at the end: for ticks."""
    text = number(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def factor_text(ratio: float) -> str:
    """How many times as long: as the program writes it, `1.8` and not `1.80`; it is not known to more digits."""
    return plain(ratio, 3)


def in_unit(value: float, unit: Unit, digits: int = 4) -> str:
    """The bare number of a value in a unit."""
    return number(value / unit.scale, digits)


def time_text(time_ns: float, digits: int = 4) -> str:
    """A time with the unit that fits it: `12.5 µs`."""
    unit = time_unit(time_ns)
    if not math.isfinite(time_ns):
        return "–"
    return f"{in_unit(time_ns, unit, digits)} {unit.name}"


def moment_text(seconds: float) -> str:
    """A moment of a run, to the millisecond: `118.59 s`."""
    return f"{plain(round(seconds, 3))} s" if math.isfinite(seconds) else "–"


def bandwidth_text(bytes_per_s: float, digits: int = 4) -> str:
    """A bandwidth with the unit that fits it: `1.25 GiB/s`."""
    unit = bandwidth_unit(bytes_per_s)
    if not math.isfinite(bytes_per_s):
        return "–"
    return f"{in_unit(bytes_per_s, unit, digits)} {unit.name}"


def interval_text(low: float, high: float, unit: Unit) -> str:
    """Both ends in a unit, without its name: `3.9 – 4.1`."""
    return f"{in_unit(low, unit)} – {in_unit(high, unit)}" if math.isfinite(low) else "–"


def bytes_text(num_bytes: int) -> str:
    """An exact size where a unit divides it (`16 MiB`), else the bytes."""
    if num_bytes <= 0:
        return f"{num_bytes} B"
    unit = [unit for unit in _BYTE_UNITS if num_bytes % int(unit.scale) == 0][-1]
    return f"{num_bytes // int(unit.scale)} {unit.name}"


def counted(num: int, thing: str) -> str:
    """`1 host`, `1,024 hosts`."""
    return f"{num:,} {thing}{'' if num == 1 else 's'}"


def parse_bytes(text: str) -> int:
    """`16MiB`, `1 KiB`, `512B` or `512` in bytes; ValueError for anything else."""
    match = re.fullmatch(r"([0-9]{1,18}) ?(|B|KiB|MiB|GiB|TiB)", text.strip())
    if not match:
        raise ValueError(text)
    scales = {"": 1, **{unit.name: int(unit.scale) for unit in _BYTE_UNITS}}
    return int(match[1]) * scales[match[2]]


def amount_text(num_bytes: float) -> str:
    """About how many bytes: `12.3 GiB`."""
    unit = _unit_for(num_bytes, _BYTE_UNITS)
    return f"{in_unit(num_bytes, unit, 3)} {unit.name}" if unit.scale > 1 else f"{num_bytes:.0f} B"
