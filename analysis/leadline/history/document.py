# SPDX-License-Identifier: Apache-2.0
"""What a history says, as `leadline schema history` describes it: groups of comparable runs, their numbers over time,
when those changed, and what was found how often. Text and page are made of it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leadline import __version__
from leadline.history.store import Key, Run, Store
from leadline.stats.change_points import (
    FALSE_DISCOVERY_RATE,
    LEAST_CHANGE,
    fewest_values,
    largest_p_value,
    level_changes,
    strongest_change,
)

_RATES = ("bytes/s", "1/s")  # units of which more is better
_ORDER = {"run": 0, "part": 1, "link": 2}


@dataclass(frozen=True)
class Choice:
    """Which part of a history is asked for."""

    since: str = ""  # as 2026-01-31; empty = all of it
    host: str = ""  # only what is of this host, its links included
    link: tuple[str, str] | None = None

    def has(self, kind: str, part: str) -> bool:
        """Whether numbers of this are asked for."""
        if self.link:
            return kind == "link" and set(part.split(",")) == set(self.link)
        return not self.host or (kind != "run" and self.host in part.split(","))

    def has_finding(self, hosts: Sequence[str]) -> bool:
        """Whether a finding about these hosts is asked for."""
        return set(self.link) <= set(hosts) if self.link else not self.host or self.host in hosts


def document_of(store: Store, choice: Choice) -> dict[str, Any]:
    """All of it. Runs and values are in the order of time; of hosts and links all that is needed to say what changed is
    computed, and those of links are listed that changed, were found, or were asked for.
    """
    runs = store.runs(choice.since)
    numbers = store.numbers(runs)
    groups = []
    for key in dict.fromkeys(run.key for run in runs):
        members = [index for index, run in enumerate(runs) if run.key == key]
        groups.append(_group(runs, members, numbers, choice))
    groups.sort(key=lambda group: -len(group["runs"]))
    return {
        "document": "history", "format_version": 1, "version": __version__, "store": str(store.path),
        "since": choice.since or None, "host": choice.host or None, "link": list(choice.link) if choice.link else None,
        "false_discovery_rate": FALSE_DISCOVERY_RATE, "least_change": LEAST_CHANGE,
        "num_runs": len(runs), "first_utc": runs[0].start_utc if runs else None,
        "last_utc": runs[-1].start_utc if runs else None,
        "num_hosts": len({host for run in runs for host in run.hosts}),
        "groups": groups,
    }  # fmt: skip


def _group(
    runs: Sequence[Run], members: Sequence[int], numbers: Mapping[Key, Mapping[int, float]], choice: Choice
) -> dict[str, Any]:
    ours = [runs[index] for index in members]
    series = [
        _series(key, members, values, ours) for key, values in numbers.items() if not values.keys().isdisjoint(members)
    ]
    series.sort(key=lambda one: (_ORDER[one["kind"]], one["name"], one["message_size_bytes"], one["part"]))
    fewest = {}
    for kind in _ORDER:
        of_kind = [one for one in series if one["kind"] == kind]
        fewest[kind] = fewest_values(len(of_kind)) if of_kind else None
        _tell_changes(of_kind, ours)
    findings = [one for one in _findings(ours) if choice.has_finding(one["hosts"])]
    found = {",".join(sorted(one["hosts"])) for one in findings}
    is_wanted = bool(choice.host or choice.link)
    return {
        "benchmark": ours[0].benchmark,
        "conditions": ours[0].conditions,
        "runs": [
            {
                "start_utc": run.start_utc, "path": run.path, "version": run.version, "num_ranks": run.num_ranks,
                "num_hosts": len(run.hosts), "complete": run.complete, "incomplete_reason": run.incomplete_reason,
                "untested": run.untested,
                "num_faults": sum(one.listed_as == "persistent" for one in run.findings),
            }
            for run in ours
        ],
        "num_runs_needed": fewest,
        "num_series": len(series),
        "series": [
            one
            for one in series
            if choice.has(one["kind"], one["part"])
            and (one["kind"] != "link" or one["changes"] or one["part"] in found or is_wanted)
        ],
        "findings": findings,
    }  # fmt: skip


def _series(key: Key, members: Sequence[int], values: Mapping[int, float], runs: Sequence[Run]) -> dict[str, Any]:
    name, size_bytes, kind, part, unit = key
    listed = [values.get(index) for index in members]
    there = [(value, number) for number, value in enumerate(listed) if value is not None]
    best, worst = min(there), max(there)
    if unit in _RATES:
        best, worst = worst, best
    return {
        "name": name, "message_size_bytes": size_bytes, "kind": kind, "part": part or None, "unit": unit,
        "num_values": len(there), "values": listed,
        "best": {"value": best[0], "start_utc": runs[best[1]].start_utc},
        "worst": {"value": worst[0], "start_utc": runs[worst[1]].start_utc},
        "last": {"value": there[-1][0], "start_utc": runs[there[-1][1]].start_utc},
        "changes": [],
    }  # fmt: skip


def _tell_changes(series: Sequence[dict[str, Any]], runs: Sequence[Run]) -> None:
    """Of numbers of one kind together: the more there are, the stronger a change must be."""
    values = [np.array([value for value in one["values"] if value is not None]) for one in series]
    strongest = [strongest_change(of_one) for of_one in values]
    level = largest_p_value([stretch.p_value if stretch else 1.0 for stretch in strongest])
    for one, of_one, stretch in zip(series, values, strongest, strict=True):
        if stretch is None or stretch.p_value > level:
            continue
        places = [number for number, value in enumerate(one["values"]) if value is not None]
        for found in level_changes(of_one, level):
            ratio = found.ratio if one["unit"] not in _RATES else 1 / found.ratio
            one["changes"].append(
                {
                    "run_index": places[found.index], "start_utc": runs[places[found.index]].start_utc,
                    "before": found.before, "after": found.after, "time_ratio": ratio,
                    "change": "slower" if ratio > 1 else "faster", "p_value": found.p_value,
                }
            )  # fmt: skip


def _findings(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Components that need action in any run, those first that were found most often."""
    found: dict[str, dict[str, Any]] = {}
    for run in runs:
        names = set()
        for one in run.findings:
            if one.listed_as != "persistent" or one.name in names:
                continue
            names.add(one.name)
            entry = found.setdefault(
                one.name, {"name": one.name, "kind": one.kind, "hosts": list(one.hosts), "num_found": 0, "num_runs": 0}
            )
            entry["num_found"] += 1
            entry |= {"last_utc": run.start_utc, "last_ratio": one.ratio if math.isfinite(one.ratio) else None}
    for entry in found.values():
        entry["num_runs"] = sum(not run.untested and set(entry["hosts"]) <= set(run.hosts) for run in runs)
    return sorted(found.values(), key=lambda one: (-one["num_found"], one["name"]))


def text_of_document(document: Mapping[str, Any]) -> str:
    """JSON, indented."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
