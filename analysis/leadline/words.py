# SPDX-License-Identifier: Apache-2.0
"""Sentences and facts about a result, as plain text: the headline, the title, what was run."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections import Counter
from collections.abc import Hashable, Mapping
from datetime import datetime
from typing import TypeVar

import numpy as np

from leadline.analyse import FEWEST_PARTNERS, SliceAnalysis, Verdict
from leadline.model import Result, Slice
from leadline.stats import describe, measured
from leadline.units import bytes_text, number, time_text


def headline(result: Result, analyses: list[SliceAnalysis]) -> list[str]:
    """The sentences that an administrator reads first."""
    hosts = result.hosts()
    if is_loop_to_itself(analyses):
        loop = time_text(describe(measured(analyses[0].median_ns)).median)
        return [f"One rank{' takes part' if result.num_ranks > 1 else ''}: the loop to itself takes {loop}."]
    found_hosts = _confirmed({analysis.part: set(analysis.slow_hosts) for analysis in analyses})
    found_ranks = _confirmed({analysis.part: set(analysis.slow_ranks) for analysis in analyses})
    found_pairs = _confirmed(
        {one.part: {(pair.retest.from_rank, pair.retest.to_rank) for pair in one.slow_pairs} for one in analyses}
    )
    sentences = []
    for host, times in found_hosts.most_common(3):
        ratio = max(analysis.hosts[host].ratio for analysis in analyses if host in analysis.slow_hosts)
        sentences.append(f"Host {hosts[host]} stands out: its pairs take {number(ratio, 2)} times as long as usual"
                         f"{_in_parts(times, analyses)}.")  # fmt: skip
    for rank, times in found_ranks.most_common(3):
        ratio = max(analysis.ranks[rank].ratio for analysis in analyses if rank in analysis.slow_ranks)
        sentences.append(f"Rank {rank} on {result.ranks[rank].host} stands out: its pairs take {number(ratio, 2)} "
                         f"times as long as usual{_in_parts(times, analyses)}.")  # fmt: skip
    for (from_rank, to_rank), times in found_pairs.most_common(3):
        places = f"{result.ranks[from_rank].host} → {result.ranks[to_rank].host}"
        sentences.append(f"Pair {from_rank} → {to_rank} ({places}) is slow alone too{_in_parts(times, analyses)}.")
    num_more = sum(max(len(found) - 3, 0) for found in (found_hosts, found_ranks, found_pairs))
    if num_more:
        sentences.append(f"{num_more} more stand out; see the tables.")
    return sentences or [_nothing_stands_out(result, analyses)]


Key = TypeVar("Key", bound=Hashable)


def _confirmed(found: Mapping[Slice, set[Key]]) -> Counter[Key]:
    """In how many slices each was found, if in most repeats of a size: what comes once of many is chance."""
    num_repeats = Counter(part.size_index for part in found)
    times = Counter((key, part.size_index) for part, keys in found.items() for key in keys)
    counts: Counter[Key] = Counter()
    for (key, size_index), number_found in times.items():
        if 2 * number_found > num_repeats[size_index]:
            counts[key] += number_found
    return counts


def _in_parts(times: int, analyses: list[SliceAnalysis]) -> str:
    return f" (in {times} of {len(analyses)} sizes and repeats)" if len(analyses) > 1 else ""


def _nothing_stands_out(result: Result, analyses: list[SliceAnalysis]) -> str:
    there = [values for values in (measured(analysis.median_ns) for analysis in analyses) if values.size]
    slowest = [float(values.max() / np.median(values)) for values in there]
    if not slowest:
        return "Nothing was measured."
    ratio = f"the slowest pair takes {number(max(slowest), 3)} times the median of all"
    if result.num_ranks <= FEWEST_PARTNERS:
        return f"Too few ranks to tell which one is slow; {ratio}."
    if not any(side.is_judged for analysis in analyses for side in analysis.ranks):
        return f"Every rank met too few others to tell which one is slow; {ratio}."
    if not result.retests:
        return f"No host or rank stands out; {ratio}. The slowest pairs were not measured again."
    in_company = sum(pair.verdict is Verdict.ONLY_IN_COMPANY for a in analyses for pair in a.pairs)
    if in_company:
        verb = "is" if in_company == 1 else "are"
        return f"No host or rank stands out, and no pair when alone; {in_company} {verb} slow in company: {ratio}."
    return f"No host, rank or pair stands out: {ratio}."


def is_loop_to_itself(analyses: list[SliceAnalysis]) -> bool:
    """Whether one rank alone takes part; each pair of ranks has two cells."""
    return analyses[0].num_to_measure == 1


def missing(analyses: list[SliceAnalysis]) -> str:
    """How much is there, where not all of the test is; else empty."""
    missing, wanted = sum(a.num_missing for a in analyses), sum(a.num_to_measure for a in analyses)
    return f"{wanted - missing:,} of {wanted:,} ordered pairs are measured" if missing else ""


def title(result: Result, analyses: list[SliceAnalysis]) -> str:
    """Who measured what, in one line."""
    sizes = sorted({analysis.part.message_size_bytes for analysis in analyses})
    span = bytes_text(sizes[0]) + (f" to {bytes_text(sizes[-1])}" if len(sizes) > 1 else "")
    num_hosts = len(result.hosts())
    ranks = "1 rank" if result.num_ranks == 1 else f"{result.num_ranks} ranks"
    where = f"on {result.hosts()[0]}" if num_hosts == 1 else f"on {num_hosts} hosts"
    return f"{ranks} {where}, {result.provenance.transport}, {span}"


def repeat_name(result: Result, part: Slice) -> str:
    """A repeat as people count them: `2 of 3, permutation 2 of the ranks`."""
    shuffled = f", permutation {part.permutation + 1} of the ranks" if part.permutation >= 0 else ""
    return f"{part.repeat + 1} of {max(other.repeat for other in result.slices) + 1}{shuffled}"


def ranks_text(ranks: list[int]) -> str:
    """Ascending ranks as `0-3,8`."""
    stretches: list[list[int]] = []
    for rank in ranks:
        if stretches and stretches[-1][1] == rank - 1:
            stretches[-1][1] = rank
        else:
            stretches.append([rank, rank])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in stretches)


def pairs_text(options: Mapping[str, str]) -> str:
    """Which pairs meet, in the same words as the engine's summary, and which rounds where they were chosen."""
    across, between, alone = (options.get(name) == "true" for name in ("bisection", "between_hosts", "one_per_host"))
    halves = "pairs across the two halves of the"
    if across:
        text = f"{halves} hosts" if between else f"{halves} ranks"
    else:
        text = "pairs on different hosts" if between else "all pairs of ranks"
    text += ", one rank per host" if alone else ""
    text += ", one pair at a time" if options.get("serial") == "true" else ""
    return text + (f", only rounds {options['rounds']}" if options.get("rounds") else "")


def run_facts(result: Result) -> list[tuple[str, str]]:
    """What was run, each fact with its name."""
    origin, option = result.provenance, result.options.get
    begin, end = (_moment(text) for text in (origin.start_utc, origin.end_utc))
    seconds = (end - begin).total_seconds() if begin and end else math.nan
    took = f" ({number(seconds, 3) if seconds >= 1 else 'under 1'} s)" if begin and end else ""
    simulated = ", simulated: times come from a model, not from hardware" if origin.simulated else ""
    names = (origin.transport, origin.transport_library, origin.transport_device)
    transport = " · ".join(name for name in names if name)
    clock = (
        f"{origin.clock_source}, resolution {time_text(origin.clock_resolution_ns, 2)}, "
        f"cost {time_text(origin.clock_cost_ns, 2)}"
    )
    messages, batches, warmup = (option(name, "?") for name in ("messages", "batches", "warmup"))
    return [
        ("command", shlex.join(origin.command_line)),
        ("ranks and hosts", f"{result.num_ranks} on {len(result.hosts())}: {_first_few(result.hosts())}"),
        ("transport", transport + simulated),
        ("launcher", origin.launcher),
        ("pairs", pairs_text(result.options)),
        ("direction", f"{origin.direction}, {origin.num_rounds} round{'s' if origin.num_rounds != 1 else ''}"),
        ("message size", ", ".join(bytes_text(size) for size in result.message_sizes_bytes)),
        ("messages", f"{messages} in {batches} batches, after {warmup} to warm up"),
        ("wait", origin.wait),
        ("clock", clock),
        ("time (UTC)", f"{origin.start_utc} to {origin.end_utc or 'no end'}{took}"),
        ("program", f"leadline {origin.version} ({origin.commit or 'no commit'}) on {origin.kernel}"),
        ("result file", f"{result.path.name}, run {result.nonce}"),
    ]


def provenance_facts(result: Result) -> list[tuple[str, str]]:
    """The members of /provenance by their names, as they are in the file."""
    facts = [("result_file", result.path.name), ("nonce", result.nonce), ("format_version", str(result.format_version))]
    for name, value in dataclasses.asdict(result.provenance).items():
        facts.append((name, shlex.join(value) if name == "command_line" else str(value)))
    return facts


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None


def _first_few(names: tuple[str, ...], most: int = 6, letters: int = 110) -> str:
    shown = list(names[:most])
    while len(shown) > 1 and len(", ".join(shown)) > letters:
        shown.pop()
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "")
