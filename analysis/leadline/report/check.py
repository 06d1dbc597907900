# SPDX-License-Identifier: Apache-2.0
"""The page of a check: the answer, what is wrong and what to do, the numbers behind it, and where its parts are."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leadline.report.frame import address_of_png, plain_page
from leadline.units import bandwidth_text, bytes_text, counted, factor_text, number, plain, time_text

_COLOURS = {"good": "fine", "bad": "alarming"}  # of the answer; others have none
_WORDS = {"good": "Good", "warning": "Warning", "bad": "Bad", "untested": "Could not be tested"}

Row = dict[str, Any]


def check_page(
    document: Mapping[str, Any], file_name: str, pages: Mapping[str, str], pictures: Mapping[str, bytes]
) -> str:
    """The page; `pages`: by the name of a part the address of its own page; `pictures`: PNG images likewise. KeyError
    or the like: a wrong document.
    """
    origin, options = document["provenance"], document["options"]
    problems = [_problem(one, pages) for one in document["problems"]]
    return plain_page(
        "check.html.j2",
        title=f"{counted(origin['num_ranks'], 'rank')} on {_hosts(document)}",
        run_line=" · ".join(
            text
            for text in (
                origin["transport"]["library"] or origin["transport"]["name"],
                origin["line_rate"]["adapter"],
                origin["start_utc"],
                f"{number(document['elapsed_s'], 3)} s of {plain(options['budget_s'])} s",
            )
            if text
        ),
        colour=_COLOURS.get(document["state"], ""),
        word=_WORDS[document["state"]],
        why=document["why"],
        drain=document["drain_list"],
        sample=document.get("sample"),
        is_simulated=origin["transport"]["simulated"],
        problems=[one for one in problems if one["grade"] != "note"],
        notes=[one for one in problems if one["grade"] == "note"],
        sizes=[bytes_text(options[f"{name}_size_bytes"]) for name in ("latency", "bandwidth")],
        numbers=[_number(one) for one in document["numbers"]],
        parts=[_part(one, pages) for one in document["parts"]],
        pictures=[
            {"part": part, "page": pages[part], "address": address_of_png(png)} for part, png in pictures.items()
        ],
        facts=_facts(document),
        file_name=file_name,
    )


def _hosts(document: Mapping[str, Any]) -> str:
    num, sample = document["provenance"]["num_hosts"], document.get("sample")
    return f"{num:,} of {counted(sample['num_hosts_started'], 'host')}" if sample else counted(num, "host")


def _problem(one: Mapping[str, Any], pages: Mapping[str, str]) -> Row:
    least, most = one["ratio"], one["ratio_most"]
    factor = ""
    if least is not None and most is not None and math.isfinite(least):
        low, high = factor_text(least), factor_text(most)
        factor = f"{low} ×" if low == high else f"{low} to {high} ×"
    return {
        "grade": one["grade"], "name": one["name"], "factor": factor, "seen": one["seen"], "advice": one["advice"],
        "hosts": one["host_list"], "part": one["part"], "page": pages.get(one["part"], ""),
    }  # fmt: skip


def _number(one: Mapping[str, Any]) -> Row:
    return {
        "name": one["name"],
        "time": _text(one["time_ns"], time_text),
        "rate": _text(one["bytes_per_s"], bandwidth_text),
        "yardstick": one["yardstick"] or "",
        "share": _impact(one.get("impact")) or _text(one["share"], lambda share: f"{plain(round(100 * share))}\u00a0%"),
    }


def _impact(factor: Mapping[str, Any] | None) -> str:
    """Of a load, with its interval; earlier versions have none."""
    if factor is None:
        return ""
    text = f"{factor_text(factor['estimate'])}\u00a0×"
    if factor["low"] is None or factor["high"] is None:
        return text
    return f"{text} ({factor_text(factor['low'])} to {factor_text(factor['high'])})"


def _text(value: float | None, text_of: Callable[[float], str]) -> str:
    return "" if value is None else text_of(value)


def _part(one: Mapping[str, Any], pages: Mapping[str, str]) -> Row:
    return {
        "name": one["name"], "command": f"leadline {one['benchmark']}",
        "page": pages.get(one["name"], ""), "why_not": one["why_not"] or "", "time": f"{number(one['elapsed_s'], 3)} s",
    }  # fmt: skip


def _facts(document: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    origin, options = document["provenance"], document["options"]
    hosts = ", ".join(one["host"] for one in document["hosts"][:16])
    if len(document["hosts"]) > 16:
        hosts += f" and {len(document['hosts']) - 16:,} more"
    facts = {
        "command": shlex.join(origin["command_line"]), "hosts": hosts, "launcher": origin["launcher"],
        "chosen by": f"--sample {options['sample']} --seed {options['seed']}" if document.get("sample") else "",
        "time (UTC)": f"{origin['start_utc']} to {origin['end_utc']}",
        "program": f"leadline {origin['version']} ({origin['commit']}) on {origin['kernel']}",
    }  # fmt: skip
    return [(name, fact) for name, fact in facts.items() if fact]
