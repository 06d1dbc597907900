# SPDX-License-Identifier: Apache-2.0
"""What a history says, for people: the verdict, what changed, what was found most often, best and worst. At most 30
lines of 80 columns where names are short.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from leadline.units import bandwidth_text, bytes_text, counted, factor_text, number, time_text

_MOST_LINES = 30
_MOST_CHANGES, _MOST_FINDINGS, _MOST_NUMBERS = 8, 5, 6  # of the first group; others have half as many
_MOST_GROUPS = 2

Part = Mapping[str, Any]


def text_of(document: Part) -> str:
    """All of it, with the end of the last line."""
    if not document["num_runs"]:
        since = f" since {document['since']}" if document["since"] else ""
        return f"NO RUNS{since}\n"
    lines = list(_head(document))
    wanted = document["host"] or (" and ".join(document["link"]) if document["link"] else "")
    groups = [group for group in document["groups"] if not wanted or group["series"] or group["findings"]]
    names = dict(zip(map(id, document["groups"]), names_of(document), strict=True))
    for index, group in enumerate(groups[:_MOST_GROUPS]):
        name = names[id(group)]
        lines += _rows(group, name, wanted) if wanted else _of_group(group, name, 1 if index == 0 else 2)
    num_more = len(groups) - _MOST_GROUPS
    if num_more > 0:
        lines.append(f"and {counted(num_more, 'group')} more of runs that are not comparable with these: see --json")
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], f"and {len(lines) - _MOST_LINES + 1} more lines: see --json"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def verdict_of(document: Part) -> tuple[str, str]:
    """CHANGED, NOTHING CHANGED or TOO FEW RUNS, and why; of what was asked for."""
    series = [(group, one) for group in document["groups"] for one in group["series"]]
    changed = [one for _, one in series if one["changes"]]
    if changed:
        last = max(change["start_utc"] for one in changed for change in one["changes"])
        return "CHANGED", f"{_what(changed)}, last on {_day(last)}"
    if not any(is_enough(group, one) for group, one in series):
        needed = [group["num_runs_needed"][one["kind"]] for group, one in series]
        why = f"a change can be told from {min(needed)} comparable runs on" if needed else "no run has numbers"
        return "TOO FEW RUNS", why
    return "NOTHING CHANGED", f"by {100 * document['least_change']:.0f} % or more, beyond chance"


def is_enough(group: Part, one: Part) -> bool:
    """Whether a change of this series could be told."""
    return bool(one["num_values"] >= group["num_runs_needed"][one["kind"]])


def names_of(document: Part) -> list[str]:
    """Of each group its conditions in a line, with all in which groups of one benchmark differ."""
    groups = document["groups"]
    names = []
    for group in groups:
        others = [other["conditions"] for other in groups if other["benchmark"] == group["benchmark"]]
        differing = {name for name, value in group["conditions"].items() if any(one[name] != value for one in others)}
        names.append(conditions_of(group["benchmark"], group["conditions"], differing))
    return names


def conditions_of(benchmark: str, conditions: Mapping[str, str], shown: Collection[str] = ()) -> str:
    """In a line: link · tcp · 4 a host · unidirectional; also those that are named."""
    usual = {"ranks a host": "{} a host", "transport": "{}", "direction": "{}", "simulated": "simulated",
             "mode": "{}", "movement": "{}"}  # fmt: skip
    told = []
    for name, value in conditions.items():
        if name in ("ranks", "hosts") and value:
            told.append(counted(int(value), name.removesuffix("s")))
        elif name in usual and value:
            told.append(usual[name].format(value))
        elif name in shown:
            told.append(f"{name} {value or 'not set'}")
    return " · ".join([benchmark, *told])


def series_name(one: Part) -> str:
    """`node3: its pairs, 64 KiB`."""
    size = f", {bytes_text(one['message_size_bytes'])}" if one["message_size_bytes"] else ""
    part = (one["part"] or "").replace(",", " - ")
    name = "" if part and one["name"] == "its pairs" else one["name"]
    return ", ".join(text for text in (part, name) if text) + size


def value_text(value: float, unit: str) -> str:
    """With its unit; a ratio as times what is usual."""
    texts: dict[str, Callable[[float], str]] = {
        "ns": time_text, "bytes/s": bandwidth_text, "1/s": lambda rate: f"{number(rate, 4)} a second",
        "1": lambda ratio: f"{factor_text(ratio)} x usual",
    }  # fmt: skip
    return texts[unit](value)


def change_text(one: Part, change: Part) -> str:
    """`1.02 to 1.61 x usual, 1.58 times slower`."""
    factor = change["time_ratio"] if change["change"] == "slower" else 1 / change["time_ratio"]
    before, after = (value_text(change[name], one["unit"]) for name in ("before", "after"))
    return f"{before.removesuffix(' x usual')} to {after}, {factor_text(factor)} times {change['change']}"


def _head(document: Part) -> Iterator[str]:
    word, why = verdict_of(document)
    first, last = _day(document["first_utc"]), _day(document["last_utc"])
    runs = f"{counted(document['num_runs'], 'run')} on {counted(document['num_hosts'], 'host')}, {first} to {last}"
    yield f"{word}  {why}"
    incomplete = sum(not run["complete"] for group in document["groups"] for run in group["runs"])
    yield f"  {runs}{f'; {incomplete} of them not complete' if incomplete else ''}"


def _what(changed: Sequence[Part]) -> str:
    kinds = {"run": "number", "part": "host or target", "link": "link"}
    names = {kind: {(one["name"], one["part"]) if kind == "run" else one["part"] for one in changed
                    if one["kind"] == kind} for kind in kinds}  # fmt: skip
    told = []
    for kind, of_kind in names.items():
        if of_kind:
            plural = {"host or target": "hosts or targets"}.get(kinds[kind], f"{kinds[kind]}s")
            told.append(f"{len(of_kind)} {kinds[kind] if len(of_kind) == 1 else plural}")
    return ", ".join(told)


def _of_group(group: Part, name: str, divisor: int) -> Iterator[str]:
    yield f"{name}: {counted(len(group['runs']), 'run')}"
    changes = sorted(
        ((change, one) for one in group["series"] for change in one["changes"]),
        key=lambda pair: (pair[0]["start_utc"], abs(pair[0]["time_ratio"] - 1)), reverse=True,
    )  # fmt: skip
    few = sorted({one["kind"] for one in group["series"] if not is_enough(group, one)})
    most = _MOST_CHANGES // divisor
    for change, one in changes[:most]:
        yield f"  {_day(change['start_utc'])}  {series_name(one)}: {change_text(one, change)}"
    if len(changes) > most:
        yield f"  and {len(changes) - most} earlier changes: see --json, or a page with --output"
    if few and not changes:
        needed = max(group["num_runs_needed"][kind] for kind in few)
        yield f"  too few runs to tell every change: {needed} are enough"
    yield from map(_finding, group["findings"][: _MOST_FINDINGS // divisor])
    rows = [one for one in group["series"] if one["kind"] == "run"][: _MOST_NUMBERS // divisor]
    width = max((len(series_name(one)) for one in rows), default=0)
    for one in rows:
        best, worst, last = (value_text(one[name]["value"], one["unit"]) for name in ("best", "worst", "last"))
        days = [_day(one[name]["start_utc"])[5:] for name in ("best", "worst")]
        yield f"  {series_name(one):{width}}  last {last}, best {best} ({days[0]}), worst {worst} ({days[1]})"


def _rows(group: Part, name: str, wanted: str) -> Iterator[str]:
    """What became of a host or a link: its changes, what was found, and its last values."""
    yield f"{wanted}, {name}"
    for one in group["series"]:
        for change in one["changes"]:
            yield f"  {_day(change['start_utc'])}  {series_name(one)}: {change_text(one, change)}"
    yield from map(_finding, group["findings"])
    of_links = [one for one in group["series"] if one["kind"] == "link"]
    for one in ([one for one in group["series"] if one["kind"] != "link"] or of_links)[:3]:
        yield f"  {series_name(one)}, the last of {counted(one['num_values'], 'value')}:"
        there = [(run, value) for run, value in zip(group["runs"], one["values"], strict=True) if value is not None]
        for run, value in there[-6:]:
            yield f"    {_day(run['start_utc'])}  {value_text(value, one['unit'])}"


def _finding(one: Part) -> str:
    ratio = f", {factor_text(one['last_ratio'])} x" if one["last_ratio"] else ""
    found = f"found in {one['num_found']} of {counted(one['num_runs'], 'run')}"
    return f"  {one['name']}: {found}, last on {_day(one['last_utc'])}{ratio}"


def _day(utc: str) -> str:
    return utc[:10]
