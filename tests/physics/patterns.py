# SPDX-License-Identifier: Apache-2.0
"""What a bisection test of a cluster measures: random pairs of all ranks at once, and some of them again, alone.

The flows of a pattern share the network max-min fairly: all rates grow alike until an element is full, whose flows keep
what they have (Bertsekas and Gallager 1992, progressive filling). A pair exchanges both ways, and each way waits for
the other. Pairs that are done leave their share to the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from cluster import Cluster
from elements import NOTHING, Floats, Ints, Table
from faults import Fault, elements_of, prepare
from measuring import launched
from noise import Noise

MIB = 1 << 20
ENDS_TOGETHER = 1.05  # pairs that end so near to each other are taken to end at once


@dataclass(frozen=True)
class PatternPlan:
    """How it is measured: so many random patterns, behind each so many of its pairs alone, at the end some suspected
    ones."""

    sizes_bytes: tuple[int, ...] = (MIB,)
    num_patterns: int = 50
    num_exchanges: int = 20
    num_baseline: int = 1
    num_retests: int = 10
    seed: int = 1


@dataclass
class MeasuredPatterns:
    """Of one size. `partner` and `time_ns`: [patterns, ranks], -1 and 0 of a rank that rests; of `alone` and `retests`
    from, to and time."""

    cluster: Cluster
    plan: PatternPlan
    noise: Noise
    faults: list[Fault]
    partner: Ints
    time_ns: Floats
    alone: list[tuple[int, int, float]] = field(default_factory=list)
    retests: list[tuple[int, int, float]] = field(default_factory=list)


def plant_bandwidth(cluster: Cluster, faults: list[Fault], table: Table) -> None:
    """`factor` divides what the elements of a fault can carry, of a host or link what each flow gets."""
    for fault in faults:
        elements = elements_of(cluster, fault)
        if fault.kind in ("rank", "host", "link", "pair"):
            usual = float(cluster.elements.table().flow_limit[cluster.rank_out[0]])
            table.flow_limit[elements] = usual / fault.factor
        else:
            table.capacity[elements] /= fault.factor


def fair_rates(paths: Ints, table: Table) -> Floats:
    """Of each flow, bytes/ns; it takes the same of all elements of its path."""
    num = table.capacity.size
    limit = table.flow_limit[paths].min(axis=1)
    rates, is_growing, left = np.zeros(len(paths)), np.ones(len(paths), dtype=bool), table.capacity.copy()
    left[NOTHING] = np.inf
    while is_growing.any():
        flows = np.bincount(paths[is_growing].ravel(), minlength=num).astype(float)
        flows[NOTHING] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(flows > 0, left / flows, np.inf)
        step = min(room.min(), (limit - rates)[is_growing].min())
        rates[is_growing] += step
        left = left - step * flows
        is_full = (flows > 0) & np.isfinite(left) & (left <= 1e-9 * table.capacity)
        is_growing &= ~(is_full[paths].any(axis=1) | (rates >= limit * (1 - 1e-9)))
    return rates


def exchange_times(first: Ints, second: Ints, cluster: Cluster, table: Table, size: int, draw: int | None) -> Floats:
    """Mean time of one of equally many exchanges of each pair, all beginning at once."""
    draws = None if draw is None else np.full(first.size, draw, dtype=np.int32)
    there, back = cluster.paths(first, second, draws), cluster.paths(second, first, draws)
    latency = np.maximum(table.latency_ns[there].sum(axis=1), table.latency_ns[back].sum(axis=1))
    left, elapsed, now = np.ones(first.size), np.zeros(first.size), 0.0
    running = np.arange(first.size)
    while running.size:
        rate = fair_rates(np.hstack([there[running], back[running]]), table)  # as fast as the slower way
        time = latency[running] + size / rate
        step = (left[running] * time).min() * ENDS_TOGETHER
        ends = left[running] * time <= step
        elapsed[running[ends]] = now + (left[running] * time)[ends]
        left[running] -= step / time
        running, now = running[~ends], now + step
    return elapsed


def matching(cluster: Cluster, generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Random pairs of ranks, between hosts where there are several; of an odd number one rests."""
    order = generator.permutation(cluster.num_ranks).astype(np.int32)
    half = cluster.num_ranks // 2
    first, second = order[:half].copy(), order[half : 2 * half].copy()
    for _ in range(1000):
        inside = np.flatnonzero(cluster.host_of(first) == cluster.host_of(second))
        if cluster.num_hosts == 1 or not inside.size:
            break
        for one in inside:
            other = int(generator.integers(half))
            second[one], second[other] = second[other], second[one]
    return first, second


def measure_patterns(cluster: Cluster, faults: list[Fault], noise: Noise, plan: PatternPlan) -> MeasuredPatterns:
    """All patterns, then what is measured alone."""
    prepare(cluster, faults)
    generator = np.random.default_rng(plan.seed)
    table = launched(cluster, cluster.elements.table(), noise, generator)
    plant_bandwidth(cluster, faults, table)
    (size,) = plan.sizes_bytes
    is_adaptive = cluster.layout.routing == "adaptive"
    shape = (plan.num_patterns, cluster.num_ranks)
    made = MeasuredPatterns(cluster, plan, noise, faults, np.full(shape, -1, dtype=np.int32), np.zeros(shape))
    for number in range(plan.num_patterns):
        first, second = matching(cluster, generator)
        time = exchange_times(first, second, cluster, table, size, number if is_adaptive else None)
        time = time * _scatter(noise, time.size, generator)
        made.partner[number, first], made.partner[number, second] = second, first
        made.time_ns[number, first] = time * (1 + 0.001 * generator.standard_normal(time.size))
        made.time_ns[number, second] = time * (1 + 0.001 * generator.standard_normal(time.size))
        for place in generator.choice(first.size, min(plan.num_baseline, first.size), replace=False):
            made.alone.append(_alone(made, table, int(first[place]), int(second[place]), generator))
    for one, other in _suspected(made):  # the program measures what is slow up to three times
        times = [_alone(made, table, one, other, generator) for _ in range(3)]
        made.retests.append(min(times, key=lambda measured: measured[2]))
    return made


def _scatter(noise: Noise, num: int, generator: np.random.Generator) -> Floats:
    """Of a loop of exchanges: jitter, and now and then a spike."""
    factor = np.exp(noise.jitter * generator.standard_normal(num))
    spikes = generator.random(num) < noise.spike_share
    return np.where(spikes, factor * (1 + 0.5 * generator.pareto(noise.spike_exponent, num)), factor)


def _alone(
    made: MeasuredPatterns, table: Table, one: int, other: int, generator: np.random.Generator
) -> tuple[int, int, float]:
    ends = np.array([one], dtype=np.int32), np.array([other], dtype=np.int32)
    time = exchange_times(*ends, made.cluster, table, made.plan.sizes_bytes[0], 0)
    return one, other, float(time[0] * _scatter(made.noise, 1, generator)[0])


def _suspected(made: MeasuredPatterns) -> list[tuple[int, int]]:
    """As the program chooses: half of them connections of the ranks whose fastest one takes longest, the rest the
    slowest of all; each two ranks once."""
    found: dict[tuple[int, int], None] = {}
    is_there = made.partner >= 0
    times = np.where(is_there, made.time_ns, np.inf)
    fastest = times.argmin(axis=0)
    least = times[fastest, np.arange(times.shape[1])]
    slow_ranks = [rank for rank in np.argsort(-least, kind="stable") if np.isfinite(least[rank])]
    of_slow_ranks = [(int(fastest[rank]), int(rank)) for rank in slow_ranks]
    order = np.argsort(-np.where(is_there, made.time_ns, 0), axis=None)
    slowest = zip(*np.unravel_index(order, made.time_ns.shape), strict=True)

    def add(places: Iterable[tuple[int, int]], most: int) -> None:
        for pattern, rank in places:
            partner = int(made.partner[pattern, rank])
            if partner >= 0 and len(found) < most:
                found.setdefault((min(int(rank), partner), max(int(rank), partner)))

    add(of_slow_ranks, made.plan.num_retests // 2)
    add(slowest, made.plan.num_retests)
    return list(found)


def slow_by_median(made_times: Floats, partner: Ints, hosts: list[str]) -> list[str]:
    """The plain rule beside which a judge must not lose: hosts of which nine tenths of the connections reach less than
    0.8 of the median connection's bandwidth."""
    is_there = partner >= 0
    limit = np.median(made_times[is_there]) / 0.8
    names = dict.fromkeys(hosts)
    of_host = np.array(hosts)
    return [
        name
        for name in names
        if (is_there[:, of_host == name]).sum() >= 5
        and (made_times[:, of_host == name] > limit)[is_there[:, of_host == name]].mean() >= 0.9
    ]
