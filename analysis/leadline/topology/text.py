# SPDX-License-Identifier: Apache-2.0
"""Sentences and facts about a topology test: what the network sustains, who is slow, what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from leadline.diagnosis import Diagnosed, told_faults
from leadline.model import Slice
from leadline.text import diagnosis as diagnosis_text
from leadline.text.run import facts_of_run, first_few, ranks_text, when, who_and_where
from leadline.topology.analysis import GroupAnalysis
from leadline.topology.load import LoadSeries, sums_of
from leadline.topology.result import Definition, Rates, TopologyResult
from leadline.units import amount_text, bandwidth_text, bytes_text, moment_text, number

_MOST_NAMED = 3  # of a kind, in the headline
_MOST_SILENT = 6


def headline(
    result: TopologyResult, analyses: Sequence[GroupAnalysis], load: Sequence[LoadSeries], diagnosed: Diagnosed
) -> list[str]:
    """The sentences that an administrator reads first."""
    if result.is_load:
        return load_sentences(result, load)
    if not any(analysis.num_measured for analysis in analyses):
        return ["Nothing was measured."]
    return [most_bytes(analyses), *verdict(result, analyses, diagnosed)]


def verdict(result: TopologyResult, analyses: Sequence[GroupAnalysis], diagnosed: Diagnosed) -> list[str]:
    """Who is slow, in the words of the diagnosis; why that is not known."""
    parts = parts_of(result, analyses)
    found = {part: one for part, one in diagnosed.found.items() if part in parts}
    if not found:
        return [f"Who is slow was not judged: {diagnosed.absent or 'nothing is known of these sizes'}."]
    return diagnosis_text.headline_of(found, told_faults(diagnosed, parts))


def parts_of(result: TopologyResult, analyses: Sequence[GroupAnalysis]) -> list[Slice]:
    """The topologies with the sizes that were measured, which the diagnosis is about."""
    measured = {
        (topology.index, one.size_index) for one in analyses if one.num_measured for topology in one.group.topologies
    }
    num_sizes = len(result.message_sizes_bytes)
    return [part for at, part in enumerate(result.slices) if divmod(at, num_sizes) in measured]


def median_rates(analysis: GroupAnalysis) -> Rates:
    """At the median time of an exchange's slowest rank."""
    return analysis.rates(analysis.timings[Definition.EXCHANGE].times.median)


def best_of(analyses: Sequence[GroupAnalysis]) -> GroupAnalysis | None:
    """Where most bytes pass in total; None where nothing was measured."""
    measured = [one for one in analyses if one.num_measured]
    return max(measured, key=lambda one: median_rates(one).total, default=None)


def most_bytes(analyses: Sequence[GroupAnalysis]) -> str:
    """What the network sustains at best."""
    best = best_of(analyses)
    if best is None:
        return ""
    rates = median_rates(best)
    where = f"the median one of {best.group.name}" if best.group.is_family else best.group.name
    return (
        f"The highest total rate is that of {where} with messages of {bytes_text(best.message_size_bytes)}: "
        f"{bandwidth_text(rates.total, 3)} in total, {bandwidth_text(rates.local, 3)} through the busiest rank, "
        f"{bandwidth_text(rates.average, 3)} through a channel."
    )


def is_traced(analyses: Sequence[GroupAnalysis]) -> bool:
    """Whether any message has a time to arrival."""
    return any(analysis.num_messages for analysis in analyses)


def load_sentences(result: TopologyResult, load: Sequence[LoadSeries]) -> list[str]:
    """How much passed under load, what of it was compared, and where the load did not keep its pace."""
    if not load:
        return ["Nothing was measured."]
    sums = sums_of(load)
    sentences = [
        f"Load of {number(sums.elapsed_s, 3)} s: {sums.num_exchanges:,} exchanges, {amount_text(sums.num_bytes)} sent.",
        _verified(result, sums.num_exchanges, sums.num_verified, sums.num_verified_bytes),
    ]
    return [*sentences, *(unevenness(load) or ["All points of a topology and size are about equally fast."])]


def _verified(result: TopologyResult, num_exchanges: int, num_verified: int, num_bytes: int) -> str:
    if not num_verified:
        return "Nothing of it was compared with what was sent."
    what = "Every byte" if num_verified == num_exchanges else f"{amount_text(num_bytes)} of it"
    share = "" if num_verified == num_exchanges else f" ({num_verified:,} exchanges)"
    end = "and none was wrong" if result.complete else "before the run ended"
    return f"{what}{share} was compared with what was sent, {end}."


def unevenness(load: Sequence[LoadSeries]) -> list[str]:
    """Topologies and sizes whose slowest point is far below the usual one, at most the worst three."""
    uneven = sorted((one for one in load if one.is_uneven), key=lambda one: -one.slowdown)
    sentences = []
    for one in uneven[:_MOST_NAMED]:
        low, at = float(one.total_bytes_per_s[one.slowest]), one.points[one.slowest].begin_s
        sentences.append(
            f"{one.topology.name} with {bytes_text(one.message_size_bytes)} fell from usually "
            f"{bandwidth_text(one.usual_bytes_per_s, 3)} to {bandwidth_text(low, 3)} at {moment_text(at)}."
        )
    return sentences


def missing(result: TopologyResult, analyses: Sequence[GroupAnalysis]) -> str:
    """How much is there and what is not, where not all of the test is; else empty."""
    num_cells, num_measured = (sum(getattr(a, name) for a in analyses) for name in ("num_cells", "num_measured"))
    facts = []
    if num_measured < num_cells:
        facts.append(f"{num_measured:,} of {num_cells:,} measurements (topology, size, repeat) are there")
    silent = sorted({rank for analysis in analyses for rank in analysis.silent_ranks})
    if silent:
        hosts = tuple(dict.fromkeys(result.ranks[rank].host for rank in silent))
        names = f"rank{'s' if len(silent) > 1 else ''} {ranks_text(silent, _MOST_SILENT)}"
        facts.append(f"not all is there from {names} (on {first_few(hosts, 3, 80)})")
    num_messages = sum(a.num_missing for a in analyses)
    if num_messages:
        facts.append(f"{num_messages:,} messages have no time to arrival")
    return "; ".join(facts)


def title(result: TopologyResult) -> str:
    """Who measured what, in one line."""
    return who_and_where(result, sorted(result.message_sizes_bytes))


def run_line(result: TopologyResult, groups: tuple[str, ...]) -> str:
    """What was run, in one line below the title; `groups` are the names of what is shown as one."""
    origin = result.provenance
    facts = [
        "leadline topology",
        when(result),
        first_few(groups, 12, 90),
        _exchanges(result),
        f"started by {origin.launcher}" if origin.launcher else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def _exchanges(result: TopologyResult) -> str:
    if result.is_load:
        return f"load for {result.options.get('duration', '?')} s"
    repeats = f", {result.num_repeats} repeats" if result.num_repeats > 1 else ""
    return f"{result.num_iterations:,} exchanges of each size{repeats}"


def run_facts(result: TopologyResult) -> list[tuple[str, str]]:
    """What was run, each fact with its name; what the file does not tell is left out."""
    facts, options = facts_of_run(result), result.options
    around = [f"{options[name]} {what}" for name, what in (("warmup", "before them"), ("traced", "traced after them"))
              if options.get(name, "0") != "0" and not result.is_load]  # fmt: skip
    outstanding = options.get("max_outstanding", "0")
    facts |= {
        "topologies": first_few(tuple(topology.name for topology in result.topologies), 40, 600),
        "exchanges": ", ".join([_exchanges(result), *around]),
        "at once": "all channels of a rank" if outstanding == "0" else f"at most {outstanding} channels of a rank",
        "buffers": "one for all channels of a rank" if options.get("shared_buffers") == "true" else "one a channel",
    }
    order = ("command", "ranks and hosts", "transport", "launcher", "topologies", "exchanges", "at once", "buffers",
             "message size", "wait", "clock", "time (UTC)", "program", "result file")  # fmt: skip
    return [(name, facts[name]) for name in order if facts[name]]
