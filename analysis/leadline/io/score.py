# SPDX-License-Identifier: Apache-2.0
"""What IO500 makes of its phases, of results of the presets of `leadline io`: rates, their geometric means, a score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from leadline.error import LeadlineError, wrong
from leadline.io.result import IoPhase, IoResult, PhaseState
from leadline.model.table import Record
from leadline.units import bytes_text

GIB_PER_S, KIOPS = "GiB/s", "kIOPS"
# As io500 has them in src/phase-definitions.h, in its order: its name, the preset, our operation. Those with GiB/s are
# in the first mean, those with kIOPS in the second.
_PHASES = (
    ("ior-easy-write", "ior-easy", "write"),
    ("mdtest-easy-write", "mdtest-easy", "create"),
    ("ior-hard-write", "ior-hard", "write"),
    ("mdtest-hard-write", "mdtest-hard", "create"),
    ("find", "", ""),
    ("ior-easy-read", "ior-easy", "read"),
    ("mdtest-easy-stat", "mdtest-easy", "stat"),
    ("ior-hard-read", "ior-hard", "read"),
    ("mdtest-hard-stat", "mdtest-hard", "stat"),
    ("mdtest-easy-delete", "mdtest-easy", "unlink"),
    ("mdtest-hard-read", "mdtest-hard", "read_file"),
    ("mdtest-hard-delete", "mdtest-hard", "unlink"),
)
MISSING = tuple(name for name, preset, _ in _PHASES if not preset)
LEAST_TIME_S = 300.0  # of a phase that writes or creates

_IOR = {"time_limit": "300", "op": "both", "sync": "inside", "read_shift": "hosts:1", "random": "0", "rate_limit": "0",
        "time_based": "false"}  # fmt: skip
_MDTEST = {"time_limit": "300", "sync": "none", "read_shift": "ranks:1", "items": "files", "objects": "1000000"}
_EARLIER = {"time_based": "false"}  # of results of versions that did not have the option
# The options that IO500 sets, as a result has them whose preset was left as it is.
PRESETS: Mapping[str, Mapping[str, str]] = {
    "ior-easy": {"movement": "N-N", "object_size": "2097152", "objects": "4960000", **_IOR},
    "ior-hard": {"movement": "N-1", "strided": "true", "block_size": "0", "object_size": "47008",
                 "objects": "10000000", **_IOR},
    "mdtest-easy": {"movement": "N-N", "object_size": "0", **_MDTEST},
    "mdtest-hard": {"movement": "N-1", "object_size": "3901", **_MDTEST},
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class ScorePhase(Record):
    """A phase of IO500."""

    name: str  # "ior-easy-write"
    preset: str
    operation: str
    unit: str  # GIB_PER_S or KIOPS
    rate: float
    time_s: float


@dataclass(frozen=True, repr=False)
class Score(Record):
    """What there is of IO500's numbers. It is none of IO500's: `deviations` says why."""

    phases: tuple[ScorePhase, ...]  # in IO500's order
    bandwidth_gib_per_s: float  # geometric mean
    metadata_kiops: float  # likewise
    missing_phases: tuple[str, ...]
    deviations: tuple[str, ...]  # from the rules of IO500, in words
    files: Mapping[str, str]  # by preset

    @property
    def score(self) -> float:
        """The geometric mean of both."""
        return math.sqrt(self.bandwidth_gib_per_s * self.metadata_kiops)


def score_of(results: Sequence[IoResult]) -> Score:
    """Of one result of each preset, in any order. LeadlineError where one is missing, or there twice, or is of no
    preset, or has several repeats, or where a phase has no rate.
    """
    by_preset = _by_preset(results)
    phases = tuple(_phase(name, by_preset[preset], preset, operation) for name, preset, operation in _PHASES if preset)
    means = [geometric_mean([one.rate for one in phases if one.unit == unit]) for unit in (GIB_PER_S, KIOPS)]
    deviations = (*_always(), *_short(phases), *_changed(by_preset), *_of_reads(by_preset), *_unequal(by_preset))
    return Score(phases, means[0], means[1], MISSING, deviations, {name: str(by_preset[name].path) for name in PRESETS})


def _by_preset(results: Sequence[IoResult]) -> dict[str, IoResult]:
    found: dict[str, IoResult] = {}
    for result in results:
        preset = result.options.get("preset", "none")
        if preset not in PRESETS:
            raise wrong(f"'{result.path}' is no run with --preset", f"Name one run each of {', '.join(PRESETS)}")
        if preset in found:
            raise wrong(f"'{found[preset].path}' and '{result.path}' are both of --preset {preset}", "Name one of them")
        if result.options.get("repeat", "1") != "1":
            raise wrong(f"'{result.path}' has {result.options['repeat']} repeats, and a score is of one run",
                        "Measure without --repeat")  # fmt: skip
        found[preset] = result
    missing = [name for name in PRESETS if name not in found]
    if missing:
        raise wrong(
            f"there is no run of --preset {', '.join(missing)}",
            f"A score takes one each of {', '.join(PRESETS)}",
        )
    return found


def _phase(name: str, result: IoResult, preset: str, operation: str) -> ScorePhase:
    phase = next((one for one in result.phases if one.operation == operation), None)
    is_ior = preset.startswith("ior")
    rate = _rate(phase, is_ior) if phase and phase.state == PhaseState.COMPLETE else math.nan
    if phase is None or not rate > 0:
        why = "it was not measured" if phase is None or phase.state == PhaseState.NOT_MEASURED else "it failed"
        hint = f"Measure it again: leadline io --preset {preset}"
        raise LeadlineError(f"'{result.path}' has no rate of its {operation} phase", why, hint)
    if is_ior:
        return ScorePhase(name, preset, operation, GIB_PER_S, rate / 2**30, phase.value("wall_ns") / 1e9)
    return ScorePhase(name, preset, operation, KIOPS, rate / 1e3, phase.value("num_objects") / rate)


def _rate(phase: IoPhase, is_ior: bool) -> float:
    return phase.bytes_per_s if is_ior else phase.operations_per_s


def _always() -> list[str]:
    return [
        f"there is no {' and no '.join(MISSING)}, which IO500 has in its mean of metadata",
        "reading and removing followed writing at once; IO500 has its other phases between them",
    ]


def _short(phases: Sequence[ScorePhase]) -> list[str]:
    return [
        f"{one.name} took {one.time_s:.3g} s; IO500 asks for {LEAST_TIME_S:g} s at least"
        for one in phases
        if one.name.endswith("-write") and one.time_s < LEAST_TIME_S
    ]


def _changed(by_preset: Mapping[str, IoResult]) -> list[str]:
    return [
        f"{preset}: --{name.replace('_', '-')} {_shown(name, is_now)}; IO500 has {_shown(name, usual)}"
        for preset, options in PRESETS.items()
        for name, usual in options.items()
        if not _is_same(is_now := by_preset[preset].options.get(name, _EARLIER.get(name, "")), usual)
    ]


def _is_same(one: str, other: str) -> bool:
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def _shown(name: str, text: str) -> str:
    is_size = name in ("object_size", "block_size", "rate_limit") and text.isdigit()
    return bytes_text(int(text)) if is_size and text != "0" else text or "nothing"


def _of_reads(by_preset: Mapping[str, IoResult]) -> list[str]:
    found = []
    for preset in ("ior-easy", "ior-hard"):
        result = by_preset[preset]
        source = result.phase("read").summary.get("source")
        if source in ("cache", "mixed"):
            how = "from the page cache" if source == "cache" else "from the page cache in part"
            found.append(f"{preset}-read: what was read came {how}")
        if result.provenance.num_hosts == 1:
            found.append(f"{preset}: all ranks were on one host, which read what it had written")
    return found


def _unequal(by_preset: Mapping[str, IoResult]) -> list[str]:
    nums = {preset: result.num_ranks for preset, result in by_preset.items()}
    found = []
    if len(set(nums.values())) > 1:
        each = ", ".join(f"{nums[preset]} in {preset}" for preset in PRESETS)
        found.append(f"the runs had unequal numbers of ranks: {each}")
    systems = {result.file_system for result in by_preset.values()}
    if len(systems) > 1:
        found.append(f"the runs were on unequal file systems: {', '.join(sorted(systems))}")
    return found
