# SPDX-License-Identifier: Apache-2.0
"""Sentences and facts about a result, as plain text: the headline, the title, what was run, what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Set
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from leadline.diagnosis import Diagnosed, ToldFault, told_faults
from leadline.link.analysis import MOST_STANDOUTS, SliceAnalysis, Verdict
from leadline.link.result import LinkResult
from leadline.model import Slice
from leadline.scan import FEWEST_PARTNERS, SLOW_FACTOR
from leadline.text import run as run_text
from leadline.text.diagnosis import as_in_profile, headline_of, slower_than_profile
from leadline.text.diagnosis import verdict as verdict_of_diagnosis
from leadline.text.run import facts_of_run, first_few, ranks_text, when, who_and_where
from leadline.units import bytes_text, number, time_text

_MOST_MISSING_RANKS = 6
_MOST_MISSING_PAIRS = 4
_MOST_NAMED = 3  # of a kind, in the headline
_REASONS_FOR_MISSING = ("ranks_absent", "ranks_lost", "pairs_not_measured")  # findings

Key = TypeVar("Key", bound=Hashable)
Pair = tuple[int, int]


def headline(result: LinkResult, analyses: list[SliceAnalysis], diagnosed: Diagnosed | None = None) -> list[str]:
    """The sentences that an administrator reads first: the faults, or that there is none; without a diagnosis what
    stands out by a factor, or that nothing does.
    """
    if not is_diagnosed(analyses, diagnosed):
        return _without_diagnosis(result, analyses)
    faults = faults_of(analyses, diagnosed)
    return [*headline_of(diagnosed.found, faults), *_slowest_pair(analyses, diagnosed)] if diagnosed else []


def verdict(result: LinkResult, analyses: list[SliceAnalysis], diagnosed: Diagnosed) -> list[str]:
    """The headline where a list of the faults follows, which says the rest."""
    if not is_diagnosed(analyses, diagnosed):
        return _without_diagnosis(result, analyses)
    faults = faults_of(analyses, diagnosed)
    return [
        verdict_of_diagnosis(diagnosed.found, faults),
        *as_in_profile(diagnosed.found),
        *slower_than_profile(diagnosed.found),
        *_slowest_pair(analyses, diagnosed),
    ]


def is_diagnosed(analyses: list[SliceAnalysis], diagnosed: Diagnosed | None) -> bool:
    """Whether the verdict is that of a diagnosis."""
    return bool(diagnosed and diagnosed.found) and not is_loop_to_itself(analyses)


def faults_of(analyses: list[SliceAnalysis], diagnosed: Diagnosed | None) -> list[ToldFault]:
    """The faults of all slices, alike ones as one."""
    return told_faults(diagnosed, [analysis.part for analysis in analyses]) if diagnosed else []


def is_alarming(result: LinkResult, analyses: list[SliceAnalysis], diagnosed: Diagnosed) -> bool:
    """Whether the headline reports a problem."""
    if not is_diagnosed(analyses, diagnosed):
        return bool(what_stands_out(result, analyses))
    return _has_fault(analyses, diagnosed)


def _has_fault(analyses: list[SliceAnalysis], diagnosed: Diagnosed) -> bool:
    """A component, or a class of pairs beside the site profile."""
    is_any = any(one.fault.counts for one in faults_of(analyses, diagnosed))
    return is_any or bool(slower_than_profile(diagnosed.found))


def without_diagnosis(analyses: list[SliceAnalysis], diagnosed: Diagnosed) -> str:
    """Why the verdict is not that of a diagnosis; empty where it is, and where there is nothing to diagnose."""
    if is_loop_to_itself(analyses) or not diagnosed.absent:
        return ""
    if diagnosed.found:
        return f"Some sizes and repeats have no diagnosis: {diagnosed.absent}."
    return (
        f"Without a diagnosis: {diagnosed.absent}. What is named takes {SLOW_FACTOR} times as long as usual; "
        "smaller faults and their causes cannot be found."
    )


def _without_diagnosis(result: LinkResult, analyses: list[SliceAnalysis]) -> list[str]:
    if is_loop_to_itself(analyses):
        loop = time_text(analyses[0].overall.median)
        return [f"One rank{' takes part' if result.num_ranks > 1 else ''}: the loop to itself takes {loop}."]
    return what_stands_out(result, analyses) or [_nothing_stands_out(result, analyses)]


def _slowest_pair(analyses: list[SliceAnalysis], diagnosed: Diagnosed) -> list[str]:
    """Where nothing is at fault: how far the slowest pair is from the others."""
    ratios = [a.overall.max / a.overall.median for a in analyses if a.overall.num_pairs]
    if not ratios or _has_fault(analyses, diagnosed):
        return []
    return [f"The slowest pair takes {number(max(ratios), 3)} times the median of all."]


def what_stands_out(result: LinkResult, analyses: list[SliceAnalysis]) -> list[str]:
    """A sentence for each kind of thing that does: hosts, ranks, links between hosts, single pairs."""
    hosts = result.hosts
    of_hosts = {a.part: {index: a.hosts[index].ratio for index in a.slow_hosts} for a in analyses}
    of_ranks = {a.part: {index: a.ranks[index].ratio for index in a.slow_ranks} for a in analyses}
    of_links = {a.part: _links(a) for a in analyses}
    of_pairs = {a.part: _single_pairs(a) for a in analyses}
    has_more = any(len(a.standouts) == MOST_STANDOUTS for a in analyses)

    def link_name(link: tuple[Pair, str]) -> str:
        (from_host, to_host), arrow = link
        return f"{hosts[from_host]} {arrow} {hosts[to_host]}"

    def pair_name(pair: Pair) -> str:
        from_host, to_host = (result.ranks[rank].host for rank in pair)
        where = f"inside {from_host}" if from_host == to_host else f"{from_host} → {to_host}"
        return f"{pair[0]} → {pair[1]} ({where})"

    alone_too = {
        (pair.retest.from_rank, pair.retest.to_rank)
        for a in analyses
        for pair in a.pairs
        if pair.verdict is Verdict.SLOW_ALONE_TOO
    }
    kinds = (
        _Kind("Host", "hosts", "its pairs take"),
        _Kind("Rank", "ranks", "its pairs take"),
        _Kind("The link", "links", "its pairs take"),
        _Kind("The single pair", "single pairs", "it takes", has_more),
    )
    sentences = [
        _sentence(kinds[0], of_hosts, lambda host: hosts[host]),
        _sentence(kinds[1], of_ranks, lambda rank: f"{rank} on {result.ranks[rank].host}"),
        _sentence(kinds[2], of_links, link_name),
        _sentence(kinds[3], of_pairs, pair_name, alone_too),
    ]
    return [sentence for sentence in sentences if sentence]


@dataclass(frozen=True)
class _Kind:
    """The words for what stands out."""

    one: str
    several: str
    takes: str
    is_cut: bool = False  # there are more than were looked for


def _links(analysis: SliceAnalysis) -> dict[tuple[Pair, str], float]:
    """Links that stand out; one that does both ways is one."""
    ratios = {(link.from_host, link.to_host): link.ratio for link in analysis.slow_links}
    found: dict[tuple[Pair, str], float] = {}
    for (from_host, to_host), ratio in ratios.items():
        if (to_host, from_host) not in ratios:
            found[(from_host, to_host), "→"] = ratio
        elif from_host < to_host:
            found[(from_host, to_host), "⇄"] = max(ratio, ratios[to_host, from_host])
    return found


def _single_pairs(analysis: SliceAnalysis) -> dict[Pair, float]:
    """Pairs to call out. Where some unusual ones proved fast alone, those not retested may be chance, too."""
    verdicts = {(pair.retest.from_rank, pair.retest.to_rank): pair.verdict for pair in analysis.pairs}
    found = {(one.cell.from_rank, one.cell.to_rank): one.ratio for one in analysis.standouts}
    is_chance = any(verdicts.get(pair) is Verdict.ONLY_UNDER_LOAD for pair in found)
    good = (Verdict.SLOW_ALONE_TOO,) if is_chance else (Verdict.SLOW_ALONE_TOO, Verdict.NOT_RETESTED)
    found = {pair: ratio for pair, ratio in found.items() if verdicts.get(pair, Verdict.NOT_RETESTED) in good}
    for pair in analysis.slow_pairs:
        found.setdefault((pair.retest.from_rank, pair.retest.to_rank), pair.retest.time_ns / pair.usual_ns)
    return found


def _sentence(
    kind: _Kind, found: Mapping[Slice, Mapping[Key, float]], name: Callable[[Key], str],
    alone_too: Set[Key] = frozenset(),
) -> str:  # fmt: skip
    """What stands out of one kind, by how often and by how much, those first that are slow alone too; empty where
    nothing does.
    """
    ratios: dict[Key, float] = {}
    for of_part in found.values():
        for key, ratio in of_part.items():
            ratios[key] = max(ratio, ratios.get(key, 0.0))
    times = _confirmed({part: set(of_part) for part, of_part in found.items()})
    keys = sorted(times, key=lambda key: (key not in alone_too, -times[key], -ratios[key]))
    num_alone = len(alone_too & set(keys))
    if not keys:
        return ""
    if len(keys) == 1:
        ends = f" (in {times[keys[0]]} of {len(found)} sizes and repeats)" if len(found) > 1 else ""
        ends += ", alone too" if num_alone else ""
        how_long = f"{number(ratios[keys[0]], 2)} times as long as usual"
        return f"{kind.one} {name(keys[0])} stands out: {kind.takes} {how_long}{ends}."
    first, *others = [(name(key), number(ratios[key], 2)) for key in keys[:_MOST_NAMED]]
    listed = [f"{first[0]} takes {first[1]} times as long as usual"] + [f"{who} {times}" for who, times in others]
    num_more = len(keys) - len(listed)
    if kind.is_cut:
        listed.append("more")
    elif num_more:
        listed.append(f"{num_more:,} more")
    who = "all are" if num_alone == len(keys) else f"{num_alone:,} {'is' if num_alone == 1 else 'are'}"
    alone = f"; {who} slow alone too" if num_alone else ""
    how_many = "Many" if kind.is_cut else f"{len(keys):,}"
    return f"{how_many} {kind.several} stand out: {', '.join(listed[:-1])} and {listed[-1]}{alone}."


def _confirmed(found: Mapping[Slice, set[Key]]) -> Counter[Key]:
    """In how many slices each was found, if in most repeats of a size: what comes once of many is chance."""
    num_repeats = Counter(part.size_index for part in found)
    times = Counter((key, part.size_index) for part, keys in found.items() for key in keys)
    counts: Counter[Key] = Counter()
    for (key, size_index), number_found in times.items():
        if 2 * number_found > num_repeats[size_index]:
            counts[key] += number_found
    return counts


def _nothing_stands_out(result: LinkResult, analyses: list[SliceAnalysis]) -> str:
    slowest = [a.overall.max / a.overall.median for a in analyses if a.overall.num_pairs]
    if not slowest:
        return "Nothing was measured."
    ratio = f"the slowest pair takes {number(max(slowest), 3)} times the median of all"
    if result.num_ranks <= FEWEST_PARTNERS:
        return f"Too few ranks to tell which one is slow; {ratio}."
    if not any(side.is_judged for analysis in analyses for side in analysis.ranks):
        return f"Every rank met too few others to tell which one is slow; {ratio}."
    if not result.retests:
        return f"No host or rank stands out; {ratio}. The slowest pairs were not measured again."
    under_load = sum(pair.verdict is Verdict.ONLY_UNDER_LOAD for a in analyses for pair in a.pairs)
    if under_load:
        verb = "is" if under_load == 1 else "are"
        return f"No host or rank stands out, and no pair when alone; {under_load} {verb} slow under load: {ratio}."
    return f"No host, rank or pair stands out: {ratio}."


def is_loop_to_itself(analyses: list[SliceAnalysis]) -> bool:
    """Whether one rank alone takes part; each pair of ranks has two cells."""
    return analyses[0].scan.num_to_measure == 1


def missing(result: LinkResult, analyses: list[SliceAnalysis]) -> str:
    """How much is there and what is not, where not all of the test is; else empty."""
    lost, wanted = (sum(getattr(a.scan, name) for a in analyses) for name in ("num_missing", "num_to_measure"))
    if not lost:
        return ""
    text = f"{wanted - lost:,} of {wanted:,} ordered pairs are measured"
    if lost == wanted:
        return text
    reasons = [finding.message.rstrip(".") for finding in result.findings if finding.id in _REASONS_FOR_MISSING]
    if reasons:
        return "; ".join([text, *reasons])
    gaps = [pair for analysis in analyses for pair in analysis.scan.missing]
    ranks = sorted({rank for analysis in analyses for rank in _ranks_without_rows(result, analysis)})
    if ranks:
        text += f"; nothing from {_ranks_and_hosts(result, ranks)}"
    silent = set(ranks)
    others = list(dict.fromkeys(pair for pair in gaps if pair[0] not in silent))
    if others:
        shown = ", ".join(f"{from_rank} → {to_rank}" for from_rank, to_rank in others[:_MOST_MISSING_PAIRS])
        more = len(others) > _MOST_MISSING_PAIRS or len(gaps) < lost
        text += f"; without {'others ' if ranks else ''}{shown}{' and more' if more else ''}"
    return text


def _ranks_without_rows(result: LinkResult, analysis: SliceAnalysis) -> list[int]:
    """Ranks of the test from which nothing is measured."""
    scan = analysis.scan
    empty = np.isnan(scan.rows_ns) & np.isnan(scan.inside_ns)
    in_test = np.full(result.num_ranks, not result.knows_schedule(analysis.part))
    in_test |= scan.num_partners > 0
    in_test[[from_rank for from_rank, _ in scan.missing]] = True
    return [int(rank) for rank in np.flatnonzero(empty & in_test)]


def _ranks_and_hosts(result: LinkResult, ranks: list[int]) -> str:
    hosts = tuple(dict.fromkeys(result.ranks[rank].host for rank in ranks))
    names = ranks_text(ranks, _MOST_MISSING_RANKS)
    return f"rank{'s' if len(ranks) > 1 else ''} {names} (on {first_few(hosts, 3, 80)})"


def title(result: LinkResult, analyses: list[SliceAnalysis]) -> str:
    """Who measured what, in one line."""
    return who_and_where(result, sorted({analysis.part.message_size_bytes for analysis in analyses}))


def repeat_name(result: LinkResult, part: Slice) -> str:
    """A repeat as people count them: `2 of 3, permutation 2 of the ranks`."""
    shuffled = f", permutation {part.permutation + 1} of the ranks" if part.permutation >= 0 else ""
    return f"{part.repeat + 1} of {max(other.repeat for other in result.slices) + 1}{shuffled}"


def part_name(result: LinkResult, part: Slice) -> str:
    """A size in a repeat: `1 KiB, repeat 2 of 3`."""
    return f"{bytes_text(part.message_size_bytes)}, repeat {repeat_name(result, part)}"


def pairs_text(options: Mapping[str, str]) -> str:
    """Which pairs meet, in the same words as the engine's summary, and which rounds where they were chosen."""
    across, between, alone = (options.get(name) == "true" for name in ("bisection", "between_hosts", "one_per_host"))
    halves = "pairs across the two halves of the"
    rounds = options.get("rounds", "0")
    is_sample = rounds != "0" or options.get("budget", "0") != "0"
    if across:
        text = f"{halves} hosts" if between else f"{halves} ranks"
    else:
        some = "pairs of ranks" if is_sample else "all pairs of ranks"
        if options.get("shift") == "true":
            some = "all ordered pairs of ranks, in shifts of a ring"
        text = "pairs on different hosts" if between else some
    text += ", one rank per host" if alone else ""
    text += ", one pair at a time" if options.get("serial") == "true" else ""
    if is_sample:
        text += f", in {rounds} randomly sampled rounds" if rounds != "0" else ", in randomly sampled rounds"
    return text + (f", only rounds {options['only_rounds']}" if options.get("only_rounds") else "")


def run_line(result: LinkResult) -> str:
    """What was run, in one line below the title."""
    origin = result.provenance
    facts = [
        "LinkTest 1.2" if result.linktest else "leadline link",
        when(result),
        pairs_text(result.options),
        origin.direction,
        _messages(result, " messages"),
        f"started by {origin.launcher}" if origin.launcher and not origin.launcher.startswith("none") else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def run_facts(result: LinkResult) -> list[tuple[str, str]]:
    """What was run, each fact with its name; what the file does not tell is left out."""
    origin, facts = result.provenance, facts_of_run(result)
    warmup = result.options.get("warmup")
    facts |= {
        "pairs": pairs_text(result.options),
        "direction": f"{origin.direction}, {origin.num_rounds} round{'s' if origin.num_rounds != 1 else ''}",
        "messages": _messages(result) + (f", after {warmup} to warm up" if warmup else ""),
    }
    if result.linktest:
        facts["program"] = "LinkTest 1.2"
    order = ("command", "ranks and hosts", "transport", "launcher", "pairs", "direction", "message size", "messages",
             "wait", "clock", "time (UTC)", "program", "result file")  # fmt: skip
    return [(name, facts[name]) for name in order if facts[name]]


def no_findings(result: LinkResult) -> str:
    """Why there are no findings of the run itself."""
    if result.linktest:
        return "LinkTest looks for none."
    return run_text.no_findings(result)


def _messages(result: LinkResult, noun: str = "") -> str:
    messages, batches = (result.options.get(name) for name in ("messages", "batches"))
    return f"{messages}{noun}" + (f" in {batches} batches" if batches else "") if messages else ""
