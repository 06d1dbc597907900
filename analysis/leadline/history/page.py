# SPDX-License-Identifier: Apache-2.0
"""The page of a history: what changed, what was found, and the course of each number as a small figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leadline.draw.sparkline import sparkline
from leadline.history.text import change_text, is_enough, names_of, series_name, value_text, verdict_of
from leadline.report.frame import plain_page
from leadline.text.run import moment
from leadline.units import counted, factor_text

_COLOURS = {"CHANGED": "alarming", "NOTHING CHANGED": "fine", "TOO FEW RUNS": ""}
_TABLES = (
    ("run", "Numbers of the runs", "number"),
    ("part", "Hosts and targets that stood out", "host or target"),
    ("link", "Links that stood out", "link"),
)

Part = Mapping[str, Any]


def history_page(document: Part, folder: str) -> str:
    """The page of a history that has runs."""
    word, why = verdict_of(document)
    return plain_page(
        "history.html.j2",
        title=folder,
        run_line=f"{counted(document['num_runs'], 'run')} on {counted(document['num_hosts'], 'host')} · "
        f"{document['first_utc']} to {document['last_utc']}",
        is_simulated=any(group["conditions"]["simulated"] for group in document["groups"]),
        colour=_COLOURS[word],
        word=word.capitalize(),
        why=why,
        groups=[
            _group(group, name, bool(document["host"] or document["link"]))
            for group, name in zip(document["groups"], names_of(document), strict=True)
        ],
        store=document["store"],
    )


def _group(group: Part, name: str, is_all_shown: bool) -> Part:
    pairs = [(change, one) for one in group["series"] for change in one["changes"]]
    pairs.sort(key=lambda pair: pair[0]["start_utc"], reverse=True)
    found = {one["hosts"][0] for one in group["findings"] if len(one["hosts"]) == 1}
    shown = [
        one
        for one in group["series"]
        if is_all_shown or one["kind"] != "part" or one["changes"] or one["part"] in found
    ]
    few = {group["num_runs_needed"][one["kind"]] for one in group["series"] if not is_enough(group, one)}
    incomplete = sum(not run["complete"] for run in group["runs"])
    return {
        "name": name,
        "runs": counted(len(group["runs"]), "run") + (f", {incomplete} of them not complete" if incomplete else ""),
        "note": f"too few runs to tell every change: {max(few)} are enough" if few else "",
        "changes": [
            {"day": change["start_utc"][:10], "name": series_name(one), "text": change_text(one, change),
             "change": change["change"]}
            for change, one in pairs
        ],
        "findings": [
            {"name": one["name"], "num_found": one["num_found"], "runs": counted(one["num_runs"], "run"),
             "last": one["last_utc"][:10], "ratio": f"{factor_text(one['last_ratio'])} ×" if one["last_ratio"] else ""}
            for one in group["findings"]
        ],
        "tables": [
            {"title": title, "column": column, "rows": rows}
            for kind, title, column in _TABLES
            if (rows := [_row(group, one) for one in shown if one["kind"] == kind])
        ],
    }  # fmt: skip


def _row(group: Part, one: Part) -> Part:
    there = [
        (index, run["start_utc"], value)
        for index, (run, value) in enumerate(zip(group["runs"], one["values"], strict=True))
        if value is not None
    ]
    place = {index: number for number, (index, _, _) in enumerate(there)}
    changes = one["changes"]
    levels = (
        [(0, changes[0]["before"]), *((place[change["run_index"]], change["after"]) for change in changes)]
        if changes
        else []
    )
    texts = [value_text(value, one["unit"]) for _, _, value in there]
    last = changes[-1] if changes else None
    return {
        "name": series_name(one),
        "label": f"{series_name(one)}: {counted(len(there), 'value')}, from {texts[0]} to {texts[-1]}",
        "figure": sparkline(
            [_seconds(utc) for _, utc, _ in there], [value for _, _, value in there],
            [f"{utc}: {text}" for (_, utc, _), text in zip(there, texts, strict=True)], levels,
        ),
        "last": texts[-1],
        "best": value_text(one["best"]["value"], one["unit"]), "best_day": one["best"]["start_utc"],
        "worst": value_text(one["worst"]["value"], one["unit"]), "worst_day": one["worst"]["start_utc"],
        "change": last["change"] if last else "",
        "changed": f"{last['start_utc'][:10]}, {change_text(one, last).rpartition(', ')[2]}" if last else "",
    }  # fmt: skip


def _seconds(utc: str) -> float:
    begin = moment(utc)
    assert begin is not None, "the store has times"
    return begin.timestamp()
