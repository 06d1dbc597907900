# SPDX-License-Identifier: Apache-2.0
"""What an acceptance test leaves behind: its document, and its text."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leadline import __version__
from leadline.accept.judge import Judged, MeasuredPart, State, state_of
from leadline.accept.spec import Spec
from leadline.units import counted, plain

DOCUMENT = "accept.json"
VERDICTS = {State.PASSED: "ACCEPTED", State.FAILED: "NOT ACCEPTED", State.UNTESTED: "COULD NOT BE TESTED"}


@dataclass(frozen=True)
class Acceptance:
    """All of one test."""

    spec: Spec
    parts: Sequence[MeasuredPart]
    elapsed_s: float | None  # None: judged again, nothing was measured
    begin_utc: str  # as 2026-01-31T12:00:00Z
    facts: Mapping[str, Any] | None  # where the first whole result comes from

    @property
    def state(self) -> State:
        """Of all limits."""
        return state_of(self.parts)

    @property
    def why(self) -> str:
        """The state in a sentence, without its end."""
        states = [one.state for part in self.parts for one in part.judged]
        failed, untested = states.count(State.FAILED), states.count(State.UNTESTED)
        told = []
        if failed:
            told += [f"{failed} of {counted(len(states), 'limit')} {'is' if failed == 1 else 'are'} not kept"]
        told += [f"{untested} could not be tested"] if untested else []
        return ", ".join(told) or f"{'all ' if len(states) > 1 else ''}{counted(len(states), 'limit')} kept"


def document_of(test: Acceptance) -> dict[str, Any]:
    """As `leadline schema acceptance` describes it. Numbers in the units of the results' documents."""
    return {
        "document": "acceptance", "format_version": 1, "version": __version__,
        "state": test.state.value, "why": test.why, "title": test.spec.title,
        "begin_utc": test.begin_utc, "elapsed_s": test.elapsed_s, "time_s": _finite(test.spec.time_s),
        "spec": {
            "path": str(test.spec.path), "sha256": hashlib.sha256(test.spec.text.encode()).hexdigest(),
            "text": test.spec.text,
        },
        "provenance": test.facts,
        "parts": [_part(one) for one in test.parts],
    }  # fmt: skip


def _part(part: MeasuredPart) -> dict[str, Any]:
    return {
        "name": part.spec.name, "benchmark": part.spec.benchmark, "command": list(part.command),
        "elapsed_s": part.elapsed_s, "why_not": part.why_not, "limits": [_limit(one) for one in part.judged],
    }  # fmt: skip


def _limit(one: Judged) -> dict[str, Any]:
    limit = one.limit
    return {
        "title": limit.title, "key": limit.key, "state": one.state.value,
        "path": ".".join(limit.path), "where": dict(limit.where), "is_count": limit.is_count,
        "unit": limit.quantity.value or "1", "value": _finite(one.value),
        "at_least": _finite(limit.at_least), "at_most": _finite(limit.at_most), "limit_text": limit.text,
        "value_text": "" if math.isnan(one.value) else limit.quantity.text(one.value), "place": one.place,
        "num_values": one.num_values, "why_untested": one.why_untested,
    }  # fmt: skip


def text_of(test: Acceptance, folder: Path | None) -> str:
    """The verdict first, then a line for each limit; at most 80 columns where titles are short."""
    limit = f" of {plain(test.spec.time_s)} s" if math.isfinite(test.spec.time_s) else ""
    how = "judged by earlier results" if test.elapsed_s is None else f"{test.elapsed_s:.0f} s{limit}"
    lines = [f"{VERDICTS[test.state]}  {test.spec.title}", f"  {test.why}; {how}"]
    for part in test.parts:
        took = "" if part.elapsed_s is None else f", {part.elapsed_s:.1f} s"
        lines.append(f"{part.spec.name}: leadline {part.spec.benchmark}{took}")
        if part.why_not:
            lines.append(f"  not measured: {part.why_not}")
        rows = [_row(one) for one in part.judged]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            lines.append(("  " + "  ".join([*cells, row[4]])).rstrip())
    if folder is not None:
        lines.append(f"report: leadline report {folder}")
    return "\n".join(lines) + "\n"


def _row(one: Judged) -> tuple[str, str, str, str, str]:
    mark = {State.PASSED: "pass", State.FAILED: "FAIL", State.UNTESTED: "?"}[one.state]
    value = "" if math.isnan(one.value) else one.limit.quantity.text(one.value)
    behind = one.why_untested if one.state is State.UNTESTED else one.place
    return mark, one.limit.title, value, one.limit.text, f"({behind})" if behind else ""


def text_of_document(document: Mapping[str, Any]) -> str:
    """JSON, indented."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
