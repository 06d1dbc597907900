# SPDX-License-Identifier: Apache-2.0
"""A simulated bisection test as plain text: what to expect, and how far the measurement is from it."""

from __future__ import annotations

import math

from leadline.bisection.result import BisectionResult, PatternKind
from leadline.bisection.simulate.model import PatternComparison, SimulatedBisection
from leadline.units import bandwidth_text, bytes_text, number


def expectation_lines(simulated: SimulatedBisection) -> list[str]:
    """What the model says of random patterns and of named ones."""
    num_hosts = len(set(simulated.hosts))
    ranks = f"{simulated.num_ranks:,} ranks on {num_hosts:,} {'host' if num_hosts == 1 else 'hosts'}"
    active = (
        ""
        if simulated.num_participants == simulated.num_ranks
        else f", {simulated.num_participants:,} of them take part"
    )
    lines = [f"{simulated.topology}, routed {simulated.routing}: {ranks}{active}, seed {simulated.seed}"]
    if simulated.num_patterns:
        lines += _random_lines(simulated)
    if simulated.named:
        width = max(len(pattern.name) for pattern in simulated.named)
        lines += ["named patterns, relative to a pair alone:"]
        lines += [
            f"  {pattern.name:<{width}}  {number(pattern.relative_mean)}  (harmonic "
            f"{number(pattern.relative_harmonic)}, at most {number(pattern.worst_congestion)} share a link)"
            for pattern in simulated.named
        ]
    return lines


def _random_lines(simulated: SimulatedBisection) -> list[str]:
    num_patterns = simulated.num_patterns
    patterns = "1 random pattern" if num_patterns == 1 else f"{num_patterns:,} random patterns"
    interval = f" ± {number(simulated.half_width, 2)} (95 %)" if math.isfinite(simulated.half_width) else ""
    return [
        f"expected relative eBB: {number(simulated.ebb)}{interval}, {patterns}",
        f"all connections: median {number(simulated.relative_median)}, "
        f"5th percentile {number(simulated.relative_p05)}, 1st {number(simulated.relative_p01)}, "
        f"min {number(simulated.relative_min)}, harmonic mean {number(simulated.harmonic)}",
    ]


def comparison_lines(comparison: PatternComparison) -> list[str]:
    """How far the measurement is from the model, for one message size."""
    size = bytes_text(comparison.message_size_bytes)
    unit = f"baseline, {bandwidth_text(comparison.unit_bytes_per_s)}"
    if not comparison.has_baseline:
        unit = "fastest connection, since no baseline was measured"
    measured, simulated = float(comparison.measured.mean()), float(comparison.simulated.mean())
    lines = [
        f"measured with {size}: {number(measured)} of the {unit}; simulated {number(simulated)}; "
        f"measured / simulated {number(comparison.ratio, 3)} ({comparison.num_patterns:,} patterns)",
        _correlations(comparison),
        "largest deviations from the model, by measured / simulated relative to all patterns:",
    ]
    return lines + [
        f"  random {one.pattern_index}: {number(one.deviation, 3)} "
        f"(measured {number(one.measured)}, simulated {number(one.simulated)})"
        for one in comparison.deviating
    ]


def named_lines(result: BisectionResult, comparison: PatternComparison, simulated: SimulatedBisection) -> list[str]:
    """Named patterns, measured and simulated, with the message size of the comparison; empty if there are none."""
    expected = {pattern.name: pattern.relative_mean for pattern in simulated.named}
    patterns = result.reader.patterns(comparison.size_index).of_kind(PatternKind.NAMED)
    speeds: dict[str, list[float]] = {}
    for index, speed in zip(patterns.index.tolist(), patterns.bytes_per_s_mean.tolist(), strict=True):
        if math.isfinite(speed) and result.pattern_names[index] in expected:
            speeds.setdefault(result.pattern_names[index], []).append(speed)
    unit = comparison.unit_bytes_per_s
    width = max((len(name) for name in speeds), default=0)
    lines = [
        f"  {name:<{width}}  measured {number(_mean(of_name) / unit)}, simulated {number(expected[name])}"
        for name, of_name in speeds.items()
    ]
    return ["named patterns:", *lines] if lines else []


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _correlations(comparison: PatternComparison) -> str:
    if not math.isfinite(comparison.pearson):
        return "correlation over patterns: none, there are too few patterns, or all are equal"
    return (
        f"correlation over patterns: {comparison.pearson:.2f} (Pearson), {comparison.spearman:.2f} "
        "(of their order, Spearman)"
    )
