# SPDX-License-Identifier: Apache-2.0
"""Sentences and facts about a bisection test: the number with its interval, faults, what is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from leadline.bisection.analysis import JudgedConnection, SizeAnalysis
from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.model import PatternComparison, SimulatedBisection
from leadline.diagnosis import Diagnosed, told_faults
from leadline.model import Slice
from leadline.stats.interval import MeanInterval
from leadline.text import diagnosis as diagnosis_text
from leadline.text.run import facts_of_run, first_few, when, who_and_where
from leadline.units import Unit, bandwidth_text, bandwidth_unit, bytes_text, number, plain

_MOST_SIZES = 2  # in the headline
_MOST_NAMED = 3  # of a kind
_WORTH_TELLING = 0.95  # a pattern below this share of the effective bisection bandwidth is called bad
STOPPED_BY = {
    "precision": "the precision was reached",
    "rounds": "all rounds were done",
    "time_limit": "the time limit was reached",
}


def plus_minus(interval: MeanInterval, unit: Unit | None = None) -> str:
    """Mean and half-width with the same decimals, the half-width with two digits: `8.214 ± 0.083`."""
    scale = unit.scale if unit else 1.0
    mean, half_width = interval.mean / scale, interval.half_width / scale
    if not (math.isfinite(mean) and math.isfinite(half_width)) or half_width <= 0:
        return number(mean)
    decimals = 1 - math.floor(math.log10(half_width))
    if round(half_width, decimals) >= 10.0 ** (2 - decimals):  # 0.0996 has two digits as 0.10
        decimals -= 1
    decimals = max(decimals, 0)
    return f"{mean:.{decimals}f} ± {half_width:.{decimals}f}"


def bandwidth_interval(interval: MeanInterval) -> str:
    """With the unit that fits it: `8.214 ± 0.083 GiB/s`."""
    unit = bandwidth_unit(interval.mean)
    return f"{plus_minus(interval, unit)} {unit.name}" if math.isfinite(interval.mean) else "–"


def patterns_text(num: int) -> str:
    """`1 pattern`, `124 patterns`."""
    return f"{num:,} pattern{'s' if num != 1 else ''}"


def headline(
    result: BisectionResult, sizes: Sequence[SizeAnalysis], diagnosed: Diagnosed,
    comparison: PatternComparison | None = None,
) -> list[str]:  # fmt: skip
    """The sentences that an administrator reads first."""
    if not any(len(one.patterns) for one in sizes):
        return ["Nothing was measured."]
    sentences = numbers(sizes) or ["No random pattern was measured, so there is no effective bisection bandwidth."]
    sentences += [*verdict(result, sizes, diagnosed), *slow_connections(result, sizes), *bad_patterns(sizes)]
    return [*sentences, *([agreement(comparison)] if comparison else [])]


def numbers(sizes: Sequence[SizeAnalysis]) -> list[str]:
    """The effective bisection bandwidth of each message size, of the largest ones where there are many."""
    measured = sorted((one for one in sizes if one.ebb.num), key=lambda one: -one.message_size_bytes)
    sentences = [number_of(one) for one in measured[:_MOST_SIZES]]
    if len(measured) > _MOST_SIZES:
        num_more = len(measured) - _MOST_SIZES
        sentences.append(f"{num_more:,} more size{'s are' if num_more > 1 else ' is'} in the table.")
    return sentences


def number_of(size: SizeAnalysis) -> str:
    """`eBB with 1 MiB: 8.21 ± 0.08 GiB/s (95 %, 124 patterns), 0.78 ± 0.01 of pairs alone.`"""
    ebb, share = size.ebb, size.contention_share
    confidence = "95 %, " if math.isfinite(ebb.half_width) else ""
    text = f"eBB with {bytes_text(size.message_size_bytes)}: {bandwidth_interval(ebb)}"
    text += f" ({confidence}{patterns_text(ebb.num)})"
    return text + (f", {plus_minus(share)} of pairs alone." if math.isfinite(share.mean) else ".")


def verdict(result: BisectionResult, sizes: Sequence[SizeAnalysis], diagnosed: Diagnosed) -> list[str]:
    """What is at fault, in the words of the diagnosis; why there is none."""
    parts = parts_of(result, sizes)
    if not parts:
        return []
    if not diagnosed.found:
        return [f"Who is slow was not judged: {diagnosed.absent}."]
    return diagnosis_text.headline_of(diagnosed.found, told_faults(diagnosed, parts))


def parts_of(result: BisectionResult, sizes: Sequence[SizeAnalysis]) -> list[Slice]:
    """The message sizes that have random patterns, which the diagnosis is about."""
    return [result.slices[one.size_index] for one in sizes if len(one.random)]


def slow_connections(result: BisectionResult, sizes: Sequence[SizeAnalysis]) -> list[str]:
    """What came of measuring connections again alone."""
    slow = [one for size in sizes for one in size.slow if one.is_slow]
    again = [one for one in slow if math.isfinite(one.alone_time_ns)]
    alone = [one for one in again if one.is_slow_alone]
    if not again:
        return []
    what = f"{len(again):,} slow connection{'s' if len(again) > 1 else ''} measured again alone"
    if not alone:
        if len(again) == 1:
            return ["The slow connection that was measured again alone is slow only under load."]
        return [f"Of {what}, none is slow then: they are slow only under load."]
    names = tuple(dict.fromkeys(connection_name(result, one) for one in alone))
    return [f"Of {what}, {len(alone):,} {'is' if len(alone) == 1 else 'are'} slow alone, too: "
            f"{first_few(names, _MOST_NAMED)}."]  # fmt: skip


def connection_name(result: BisectionResult, one: JudgedConnection) -> str:
    """`3 → 40 (node00 → node10)`."""
    from_rank, to_rank = one.seen.from_rank, one.seen.to_rank
    return f"{from_rank} → {to_rank} ({result.ranks[from_rank].host} → {result.ranks[to_rank].host})"


def verdict_on(one: JudgedConnection) -> str:
    """What the second measurement says of a slow connection."""
    if not one.is_slow:
        return "not slow"
    if not math.isfinite(one.alone_time_ns):
        return "not measured alone"
    return "slow alone, too" if one.is_slow_alone else "slow only under load"


def bad_patterns(sizes: Sequence[SizeAnalysis]) -> list[str]:
    """The worst named pattern and what the search came to, of the largest size that has any."""
    sentences = []
    for size in sorted(sizes, key=lambda one: -one.message_size_bytes):
        with_value = [one for one in size.named if math.isfinite(one.relative)]
        worst = min(with_value, key=lambda one: one.relative, default=None)
        if worst and worst.relative < _WORTH_TELLING:
            sentences.append(
                f"Of the named patterns {worst.name} is the worst: {number(worst.relative, 2)} of the eBB."
            )
        steps = size.worst
        if len(steps) and size.ebb.num:
            least = float(min(steps.bytes_per_s_mean))
            sentences.append(
                f"The search for bad patterns came to {bandwidth_text(least, 3)}, {number(least / size.ebb.mean, 2)} "
                f"of the eBB, in {len(steps):,} steps."
            )
        if sentences:
            break
    return sentences


def agreement(comparison: PatternComparison) -> str:
    """Measured against simulated, in a sentence."""
    measured, simulated = (float(values.mean()) for values in (comparison.measured, comparison.simulated))
    unit = "of pairs alone" if comparison.has_baseline else "of the fastest connection"
    size = bytes_text(comparison.message_size_bytes)
    text = (
        f"Simulated: {number(simulated, 3)} of pairs alone over the same {patterns_text(comparison.num_patterns)}; "
        f"measured with {size}: {number(measured, 3)} {unit}"
    )
    return text + (f"; correlation {comparison.pearson:.2f}." if math.isfinite(comparison.pearson) else ".")


def what_was_simulated(simulated: SimulatedBisection) -> str:
    """The model of a simulation, in short."""
    expected = plus_minus(MeanInterval(simulated.num_patterns, simulated.ebb, simulated.half_width))
    return (
        f"{simulated.topology}, {simulated.routing} routing: expected {expected} of pairs alone over "
        f"{patterns_text(simulated.num_patterns)} of seed {simulated.seed}"
    )


def stopped_text(result: BisectionResult, size: SizeAnalysis) -> str:
    """Why there are no more random patterns of a size."""
    if not len(size.random):
        return "none was measured"
    reason = STOPPED_BY.get(size.stopped_by)
    precision = result.precision
    if size.stopped_by == "precision" and precision > 0:
        reason = f"the half-width came below {plain(100 * precision)} % of the mean"
    if reason is None:
        reason = "the run was interrupted" if not result.complete else "the file does not say why"
    return f"after {patterns_text(len(size.random))}: {reason}"


def ended_word(result: BisectionResult, size: SizeAnalysis) -> str:
    """The same in a word or two."""
    words = {"precision": "precision", "rounds": "rounds", "time_limit": "time limit"}
    return words.get(size.stopped_by, "–" if result.complete else "interrupted")


def missing(result: BisectionResult, sizes: Sequence[SizeAnalysis]) -> str:
    """How much is there and what is not, where not all of the test is; else empty."""
    facts = []
    not_begun = tuple(bytes_text(one.message_size_bytes) for one in sizes if not len(one.patterns))
    if not result.complete:
        facts.append(f"{patterns_text(sum(len(one.patterns) for one in sizes))} are there")
        if not_begun:
            facts.append(f"none of {first_few(not_begun)}")
    num_missing = sum(one.connections.num_missing for one in sizes)
    if num_missing:
        facts.append(f"{num_missing:,} connection{'s have' if num_missing > 1 else ' has'} no time")
    return "; ".join(facts)


def title(result: BisectionResult) -> str:
    """Who measured what, in one line."""
    return who_and_where(result, sorted(result.message_sizes_bytes))


def run_line(result: BisectionResult) -> str:
    """What was run, in one line below the title."""
    origin = result.provenance
    facts = [
        "leadline bisection",
        when(result),
        first_few(_asked_for(result), 6, 90),
        f"{result.num_exchanges:,} exchanges of each",
        f"started by {origin.launcher}" if origin.launcher else "",
    ]
    return " · ".join(fact for fact in facts if fact)


def _asked_for(result: BisectionResult) -> tuple[str, ...]:
    asked = result.options.get("pattern", "")
    random = ("random patterns",) if "random" in asked.split(",") or not result.pattern_names else ()
    return (*random, *result.pattern_names)


def run_facts(result: BisectionResult) -> list[tuple[str, str]]:
    """What was run, each fact with its name; what the file does not tell is left out."""
    facts, options = facts_of_run(result), result.options
    participants = "all ranks" if result.num_participants == result.num_ranks else f"{result.num_participants:,} ranks"
    if result.active_ranks_per_host:
        participants += f", {result.active_ranks_per_host} of each host"
    pairs = "on one host, too" if result.within_hosts else "between hosts only"
    warmup = options.get("warmup", "0")
    facts |= {
        "patterns": f"{first_few(_asked_for(result), 40, 600)}; seed {result.seed}",
        "who takes part": f"{participants}; random pairs {pairs}",
        "exchanges": f"{result.num_exchanges:,} of each pattern" + (f", {warmup} before them" if warmup != "0" else ""),
        "pairs alone": f"{options['baseline_pairs']} after each random pattern"
        if options.get("baseline_pairs", "0") != "0"
        else "none",
        "until": _until(result),
    }
    order = ("command", "ranks and hosts", "transport", "launcher", "patterns", "who takes part", "exchanges",
             "pairs alone", "until", "message size", "wait", "clock", "time (UTC)", "program",
             "result file")  # fmt: skip
    return [(name, facts[name]) for name in order if facts[name]]


def _until(result: BisectionResult) -> str:
    options, ends = result.options, []
    if result.precision > 0:
        ends.append(f"half-width below {plain(100 * result.precision)} % of the mean")
    if "rounds" in options:
        ends.append(f"{options['rounds']} random patterns of a size")
    if options.get("time_limit", "0") != "0":
        ends.append(f"{options['time_limit']} s")
    return ", or ".join(ends)
