# SPDX-License-Identifier: Apache-2.0
"""Facts about the result of any benchmark, as plain text: who took part, where it comes from, how long it took."""

from __future__ import annotations

import dataclasses
import math
import shlex
from datetime import datetime

from leadline.model import RunResult
from leadline.units import bytes_text, number, time_text


def who_and_where(result: RunResult, sizes: list[int]) -> str:
    """Ranks, hosts, transport and message sizes, in one line."""
    span = bytes_text(sizes[0]) + (f" to {bytes_text(sizes[-1])}" if len(sizes) > 1 else "")
    num_hosts = len(result.hosts)
    ranks = "1 rank" if result.num_ranks == 1 else f"{result.num_ranks:,} ranks"
    where = f"on {result.hosts[0]}" if num_hosts == 1 else f"on {num_hosts:,} hosts"
    return f"{ranks} {where}, {result.provenance.transport}, {span}"


def when(result: RunResult) -> str:
    """The start, and how long the run took: `2026-01-31 23:59 UTC, 12.0 s`; empty where the file does not tell."""
    begin, length = moment(result.provenance.start_utc), took(result)
    return f"{begin:%Y-%m-%d %H:%M} UTC{f', {length}' if length else ''}" if begin else ""


def facts_of_run(result: RunResult) -> dict[str, str]:
    """What every run's list of facts has, by their names; what the file does not tell is empty."""
    origin = result.provenance
    length = took(result)
    simulated = ", simulated: times come from a model, not from hardware" if origin.simulated else ""
    names = (origin.transport, origin.transport_library, origin.transport_device)
    clock = (
        f"{origin.clock_source}, resolution {time_text(origin.clock_resolution_ns, 2)}, "
        f"cost {time_text(origin.clock_cost_ns, 2)}"
    )
    time = f"{origin.start_utc} to {origin.end_utc or 'no end'}{f' ({length})' if length else ''}"
    program = f"leadline {origin.version} ({origin.commit or 'no commit'}) on {origin.kernel}" if origin.version else ""
    return {
        "command": shlex.join(origin.command_line),
        "ranks and hosts": f"{result.num_ranks:,} on {len(result.hosts):,}: {first_few(result.hosts)}",
        "transport": " · ".join(name for name in names if name) + simulated,
        "launcher": origin.launcher,
        "message size": ", ".join(bytes_text(size) for size in result.message_sizes_bytes),
        "wait": origin.wait,
        "clock": clock if origin.clock_source else "",
        "time (UTC)": time if origin.start_utc else "",
        "program": program,
        "result file": file_text(result),
    }


def ranks_text(ranks: list[int], most: int = 12) -> str:
    """Ascending ranks as `0-3,8`; of more stretches than `most` the first ones."""
    stretches: list[list[int]] = []
    for rank in ranks:
        if stretches and stretches[-1][1] == rank - 1:
            stretches[-1][1] = rank
        else:
            stretches.append([rank, rank])
    shown = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in stretches[:most])
    num_more = sum(b - a + 1 for a, b in stretches[most:])
    return shown + (f" and {num_more:,} more" if num_more else "")


def file_text(result: RunResult) -> str:
    """The result's file, and the name of the run where the file has one."""
    return f"{result.path.name}, run {result.nonce}" if result.nonce else result.path.name


def file_and_start(result: RunResult) -> str:
    """The result's file, and when the run began where the file tells it."""
    return " · ".join(text for text in (result.path.name, result.provenance.start_utc) if text)


def provenance_facts(result: RunResult) -> list[tuple[str, str]]:
    """The members of /provenance by their names, as they are in the file."""
    facts = [("result_file", result.path.name), ("nonce", result.nonce), ("format_version", str(result.format_version))]
    for name, value in dataclasses.asdict(result.provenance).items():
        facts.append((name, shlex.join(value) if name == "command_line" else str(value)))
    return facts


def took(result: RunResult) -> str:
    """How long the run took: `12.0 s`; empty where the file does not tell."""
    begin, end = (moment(text) for text in (result.provenance.start_utc, result.provenance.end_utc))
    if not begin or not end or (begin.tzinfo is None) != (end.tzinfo is None):
        return ""
    seconds = (end - begin).total_seconds()
    return f"{number(seconds, 3) if seconds >= 1 else 'under 1'} s"


def moment(text: str) -> datetime | None:
    """A time as the engine writes it; None for what is none."""
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None


def no_findings(result: RunResult) -> str:
    """Why there are no findings of the run itself."""
    return "None." if result.summary is not None else "The file has no summary: the run did not finish."


def first_few(names: tuple[str, ...], most: int = 6, letters: int = 110) -> str:
    """So many names as fit, and how many more there are."""
    shown = list(names[:most])
    while len(shown) > 1 and len(", ".join(shown)) > letters:
        shown.pop()
    return ", ".join(shown) + (f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else "")


def ratio_text(ratio: float) -> str:
    """Times as long as usual: `2.5 ×`."""
    return f"{number(ratio, 2)} ×" if math.isfinite(ratio) else "–"
