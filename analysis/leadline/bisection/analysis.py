# SPDX-License-Identifier: Apache-2.0
"""What a bisection test says: the effective bisection bandwidth with its interval, and slow connections."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from leadline.bisection.connections import (
    ConnectionScan,
    SeenConnection,
    SlowCounts,
    count_slow,
    no_slow_counts,
    pairs_by_pattern,
    scan_connections,
)
from leadline.bisection.hosts import HostMatrix, host_matrix
from leadline.bisection.result import BisectionResult, PatternKind, Patterns
from leadline.model import Progress, Record
from leadline.stats.distribution import Distribution
from leadline.stats.interval import Convergence, MeanInterval, convergence, mean_interval, paired_ratio_interval

MOST_SLOWEST = 10
_DEFAULT_BUCKETS = 10


@dataclass(frozen=True)
class Bucket:
    """Connections that took low_ns to high_ns; the last one holds high_ns, too."""

    low_ns: float
    high_ns: float
    num: int


@dataclass(frozen=True)
class NamedPattern:
    """A named pattern over its repeats: the mean of their means, bytes/s."""

    name: str
    num_connections: int
    num_repeats: int
    bytes_per_s_mean: float
    bytes_per_s_least: float  # the lowest repeat
    bytes_per_s_most: float
    bytes_per_s_slowest: float  # its slowest connection
    relative: float  # to the effective bisection bandwidth; NaN = there is none


@dataclass(frozen=True)
class JudgedConnection:
    """A connection of random patterns, and what came of measuring it alone."""

    seen: SeenConnection
    relative: float  # its bandwidth by that of the median connection
    alone_time_ns: float  # NaN = not measured alone
    is_slow: bool  # beside the median connection
    is_slow_alone: bool  # beside the median of all pairs alone, or the median connection, too


@dataclass(frozen=True, repr=False)
class SizeAnalysis(Record):
    """All that the report says about one message size. Bytes a second."""

    size_index: int
    message_size_bytes: int
    patterns: Patterns  # all
    random: Patterns  # those that have a mean
    ebb: MeanInterval
    full_load: MeanInterval
    baseline: MeanInterval
    static_share: MeanInterval  # of pairs alone over the fastest one
    contention_share: MeanInterval  # of pairs, in the pattern over alone
    tail: float  # median over 1 % quantile
    harmonic: float  # message size / mean time of all connections
    connections: ConnectionScan  # of random patterns
    speeds: Distribution  # of those
    buckets: tuple[Bucket, ...]
    stopped_by: str
    converged: Convergence  # of ebb
    named: tuple[NamedPattern, ...]
    slow: tuple[JudgedConnection, ...]  # slowest first
    limit_ns: float  # a connection that takes longer is slow; NaN = not known
    hosts: HostMatrix | None  # None: there are no two hosts, or no connections

    @property
    def worst(self) -> Patterns:
        """The steps of the search for bad patterns."""
        return self.patterns.of_kind(PatternKind.WORST)


@dataclass(frozen=True, repr=False)
class ComponentsAnalysis(Record):
    """Connections of hosts and ranks, and how many were slow, over the random patterns of all sizes analysed."""

    of_ranks: SlowCounts  # [N]
    of_hosts: SlowCounts  # [hosts], the sums of their ranks


def analyse_size(
    result: BisectionResult, size_index: int, most_slowest: int = MOST_SLOWEST, progress: Progress | None = None
) -> SizeAnalysis:
    """One pass over the times of all random patterns with the size."""
    patterns, size = result.reader.patterns(size_index), result.message_sizes_bytes[size_index]
    random = patterns.of_kind(PatternKind.RANDOM)
    random = random.where(np.isfinite(random.bytes_per_s_mean))
    samples = result.reader.baseline(size_index)
    alone = samples.bytes_per_s
    found = scan_connections(result, random, samples, most_slowest, progress)
    speeds, times = found.speeds.distribution(), found.times.distribution()
    by_pattern = pairs_by_pattern(random, samples, found.pairs)
    ebb = mean_interval(random.bytes_per_s_mean)
    limit_ns = 1e9 * size / (result.slow_limit * speeds.median) if speeds.median > 0 else math.nan
    return SizeAnalysis(
        size_index=size_index,
        message_size_bytes=size,
        patterns=patterns,
        random=random,
        ebb=ebb,
        full_load=mean_interval(random.bytes_per_s_full_load[np.isfinite(random.bytes_per_s_full_load)]),
        baseline=mean_interval(alone),
        static_share=mean_interval(by_pattern[1] / alone.max(initial=-math.inf)),
        contention_share=paired_ratio_interval(*by_pattern),
        tail=speeds.median / speeds.p01,
        harmonic=1e9 * size / times.mean if times.mean > 0 else math.nan,
        connections=found,
        speeds=speeds,
        buckets=_buckets(result, found),
        stopped_by=result.stopped_by[size_index],
        converged=convergence(random.bytes_per_s_mean),
        named=_named(result, patterns, ebb.mean),
        slow=_judged(result, size_index, found, speeds.median),
        limit_ns=limit_ns,
        hosts=host_matrix(result, random, speeds.median),
    )


def _buckets(result: BisectionResult, found: ConnectionScan) -> tuple[Bucket, ...]:
    """Equally wide from the shortest to the longest time."""
    if not found.times.num_values:
        return ()
    text = result.options.get("buckets", "")
    num = int(text) if text.isdecimal() and int(text) > 0 else _DEFAULT_BUCKETS
    spread = found.times.distribution()
    if spread.min == spread.max:
        return (Bucket(spread.min, spread.max, found.times.num_values),)
    edges = np.linspace(spread.min, spread.max, num + 1)
    edges[-1] = spread.max
    return tuple(
        Bucket(*row) for row in zip(edges[:-1].tolist(), edges[1:].tolist(), found.times.counts(edges).tolist(),
                                    strict=True)
    )  # fmt: skip


def _named(result: BisectionResult, patterns: Patterns, ebb: float) -> tuple[NamedPattern, ...]:
    named, found = patterns.of_kind(PatternKind.NAMED), []
    for index, name in enumerate(result.pattern_names):
        those = named.where((named.index == index) & np.isfinite(named.bytes_per_s_mean))
        if not len(those):
            continue
        means = those.bytes_per_s_mean
        mean = float(means.mean())
        found.append(
            NamedPattern(name, int(those.num_connections[0]), len(those), mean, float(means.min()), float(means.max()),
                         float(those.bytes_per_s_min.min()), mean / ebb)
        )  # fmt: skip
    return tuple(found)


def _judged(
    result: BisectionResult, size_index: int, found: ConnectionScan, median: float
) -> tuple[JudgedConnection, ...]:
    """Those that the run itself measured again; where it did not come so far, the slowest that the file has."""
    size = result.message_sizes_bytes[size_index]
    again = [one for one in result.slow_connections if one.size_index == size_index]
    seen = [(SeenConnection(one.number, one.from_rank, one.to_rank, one.time_ns), one.alone_time_ns, one.slow_alone)
            for one in again] or [(one, math.nan, False) for one in found.slowest]  # fmt: skip
    judged = []
    for one, alone_ns, is_slow_alone in seen:
        relative, alone = (1e9 * size / time_ns / median if time_ns > 0 and median > 0 else math.nan
                           for time_ns in (one.time_ns, alone_ns))  # fmt: skip
        is_slow = relative < result.slow_limit
        # Where half of the pairs are slow, so is their median: compare with the median under load, too.
        is_slow_alone = is_slow and (is_slow_alone or alone < result.slow_limit)
        judged.append(JudgedConnection(one, relative, alone_ns, is_slow, is_slow_alone))
    return tuple(judged)


def analyse_components(result: BisectionResult, sizes: Sequence[SizeAnalysis]) -> ComponentsAnalysis:
    """A second pass over the random patterns of these sizes."""
    judged = [one for one in sizes if len(one.random) and math.isfinite(one.limit_ns)]
    found = (count_slow(result, one.random, one.limit_ns) for one in judged)
    of_ranks = reduce(SlowCounts.__add__, found, no_slow_counts(result))
    host_of, names = result.host_index, result.hosts
    of_hosts = SlowCounts(*(
        np.bincount(host_of, weights=counts, minlength=len(names)).astype(np.int64)
        for counts in (of_ranks.num, of_ranks.num_slow)
    ))  # fmt: skip
    return ComponentsAnalysis(of_ranks, of_hosts)
