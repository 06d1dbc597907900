# SPDX-License-Identifier: Apache-2.0
"""What a link test of a cluster measures: all pairs in rounds, then some of them again, alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from cluster import Cluster
from elements import Floats, Ints, Table
from faults import Fault, Usual, plant, prepare
from noise import Noise, Singles, batches, drift_of_rounds

STATISTICS = ("min", "median", "mean", "p99", "max")
COMPACT_FROM_RANKS = 2049  # the real program writes four bytes a pair once the full form would have 256 MB
PAIRS_OF_A_BLOCK = 1 << 18
ROUTES_BY_TURNS = 4  # under adaptive routing the batches of a pair take so many choices by turns


@dataclass(frozen=True)
class Plan:
    """How it is measured."""

    sizes_bytes: tuple[int, ...] = (1024,)
    num_batches: int = 20
    num_retests: int = 10
    num_controls: int = 10
    num_sampled_rounds: int = 0  # between hosts, chosen by chance; 0 = all
    direction: Literal["semidirectional", "unidirectional"] = "semidirectional"
    seed: int = 1


@dataclass
class Slice:
    """One message size: times in ns, [N, N], in the compact form only median and p99.

    0 on the diagonal, and where two do not meet in a round that was chosen.
    """

    size_bytes: int
    times_ns: dict[str, Singles]
    retests: list[Retest]


@dataclass(frozen=True)
class Retest:
    """One ordered pair measured again, alone; `is_control`: it was chosen by chance."""

    sender: int
    receiver: int
    time_ns: float
    alone_ns: float
    is_control: bool


@dataclass
class Measured:
    """A whole plan."""

    cluster: Cluster
    plan: Plan
    noise: Noise
    faults: list[Fault]
    slices: list[Slice] = field(default_factory=list)


def num_rounds(num_ranks: int) -> int:
    return num_ranks - 1 if num_ranks % 2 == 0 else num_ranks


def pairs_of_round(num_ranks: int, number: int) -> tuple[Ints, Ints]:
    """Seats i and j meet where i + j = round, modulo the rounds; the last seat takes who is left, or one rests."""
    rounds = num_rounds(num_ranks)
    first = np.arange(rounds, dtype=np.int32)
    second = ((number - first) % rounds).astype(np.int32)
    alone = first[first == second]
    is_pair = first < second
    first, second = first[is_pair], second[is_pair]
    if num_ranks % 2 == 0:
        first = np.append(first, alone).astype(np.int32)
        second = np.append(second, np.full(alone.size, num_ranks - 1)).astype(np.int32)
    return first, second


def blocks_of_rounds(num_ranks: int, numbers: Ints | range) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Lower ranks, their partners, and the round of each pair, for some rounds at a time."""
    at_once = max(1, PAIRS_OF_A_BLOCK // max(num_ranks // 2, 1))
    for begin in range(0, len(numbers), at_once):
        chosen = numbers[begin : begin + at_once]
        pairs = [pairs_of_round(num_ranks, int(number)) for number in chosen]
        group = np.repeat(np.asarray(chosen, dtype=np.int32), [first.size for first, _ in pairs])
        yield np.concatenate([first for first, _ in pairs]), np.concatenate([second for _, second in pairs]), group


def measure(cluster: Cluster, faults: list[Fault], noise: Noise, plan: Plan) -> Measured:
    """All sizes."""
    prepare(cluster, faults)
    generator = np.random.default_rng(plan.seed)
    clean = launched(cluster, cluster.elements.table(), noise, generator)
    measured = Measured(cluster, plan, noise, faults)
    table = clean.copy()
    if faults:
        small, large = (usual(cluster, clean, choose(plan.sizes_bytes)) for choose in (min, max))
        plant(cluster, faults, table, small, large)
    for size_bytes in plan.sizes_bytes:
        measured.slices.append(_slice(measured, table, size_bytes, generator))
    return measured


def launched(cluster: Cluster, table: Table, noise: Noise, generator: np.random.Generator) -> Table:
    """With the scatter of hosts that lasts as long as a launch."""
    if noise.launch_scatter == 0:
        return table
    factor = np.exp(generator.standard_normal(cluster.num_hosts) * noise.launch_scatter)
    of_rank = factor[cluster.host_of(np.arange(cluster.num_ranks, dtype=np.int32))]
    of_adapter = np.repeat(factor, cluster.num_rails)
    for elements, factors in (
        (cluster.rank_out, of_rank),
        (cluster.rank_in, of_rank),
        (cluster.port_out, of_adapter),
        (cluster.port_in, of_adapter),
        (cluster.inside, factor),
    ):
        table.latency_ns[elements] *= factors
        table.flow_limit[elements] /= factors
        table.capacity[elements] /= factors
    return table


def usual(cluster: Cluster, table: Table, size_bytes: int) -> Usual:
    """By up to 64 rounds of the sound cluster."""
    rounds = num_rounds(cluster.num_ranks)
    numbers = np.unique(np.linspace(0, rounds - 1, min(rounds, 64)).astype(np.int32))
    times, latencies = [], []
    shares_of_element, times_used = np.zeros(table.latency_ns.size), np.zeros(table.latency_ns.size)
    for first, second, group in blocks_of_rounds(cluster.num_ranks, numbers):
        paths, shares = _both_ways(cluster, table, size_bytes, first, second, group, None)
        shares_of_element += np.bincount(paths.ravel(), shares.ravel(), minlength=times_used.size)
        times_used += np.bincount(paths.ravel(), minlength=times_used.size)
        between = np.tile(cluster.host_of(first) != cluster.host_of(second), 2)
        chosen = between if between.any() else ~between
        times.append(table.times_ns(paths, size_bytes, shares)[chosen])
        latencies.append(table.latency_ns[paths].sum(axis=1)[chosen])
    shares_of_element = np.where(times_used > 0, shares_of_element / np.maximum(times_used, 1), 1)
    time_ns, latency_ns = (float(np.median(np.concatenate(values))) for values in (times, latencies))
    return Usual(size_bytes, time_ns, latency_ns, shares_of_element)


def _both_ways(
    cluster: Cluster, table: Table, size_bytes: int, first: Ints, second: Ints, group: Ints, draw: int | None
) -> tuple[Ints, Floats]:
    """Paths there, then back, and how their elements are shared in their rounds."""
    sender, receiver = np.concatenate([first, second]), np.concatenate([second, first])
    draws = None if draw is None else np.full(sender.size, draw, dtype=np.int32)
    paths = cluster.paths(sender, receiver, draws)
    groups = np.tile(group - group.min(), 2).astype(np.int32)
    return paths, table.shares(paths, groups, int(groups.max()) + 1, size_bytes)


def _slice(measured: Measured, table: Table, size_bytes: int, generator: np.random.Generator) -> Slice:
    cluster, plan = measured.cluster, measured.plan
    num = cluster.num_ranks
    draws: list[int | None] = list(range(ROUTES_BY_TURNS)) if cluster.layout.routing == "adaptive" else [None]
    base = np.zeros((len(draws), num, num), dtype=np.float32)
    lost = np.zeros((num, num), dtype=np.float32) if table.loss.any() else None
    factors = _factors_of_rounds(measured, generator)
    is_chosen = _chosen_rounds(plan, num, generator)
    for first, second, group in blocks_of_rounds(num, range(num_rounds(num))):
        if not is_chosen.all():  # pairs inside hosts meet whatever is chosen
            met = is_chosen[group] | (cluster.host_of(first) == cluster.host_of(second))
            if not met.any():
                continue
            first, second, group = first[met], second[met], group[met]
        factor = factors.of(cluster, first, second, group)
        for turn, draw in enumerate(draws):
            paths, shares = _both_ways(cluster, table, size_bytes, first, second, group, draw)
            there, back = np.split(table.times_ns(paths, size_bytes, shares), 2)
            if plan.direction == "semidirectional":
                there = back = (there + back) / 2
            base[turn, first, second], base[turn, second, first] = there * factor, back * factor
            if lost is not None:
                lost[first, second] = lost[second, first] = table.loss_share(np.hstack(np.split(paths, 2)))
    times = _statistics(measured, base, lost, generator)
    return Slice(size_bytes, times, _retests(measured, table, size_bytes, times["median"], generator))


def _chosen_rounds(plan: Plan, num_ranks: int, generator: np.random.Generator) -> npt.NDArray[np.bool_]:
    num = num_rounds(num_ranks)
    chosen = np.full(num, plan.num_sampled_rounds == 0)
    if plan.num_sampled_rounds > 0:
        chosen[generator.choice(num, min(plan.num_sampled_rounds, num), replace=False)] = True
    return chosen


@dataclass
class _Factors:
    """Of each round, and beside it of pairs with some hosts while somebody else uses their network."""

    drift: Singles
    busy_hosts: npt.NDArray[np.bool_]
    busy_rounds: range
    busy_factor: float

    def of(self, cluster: Cluster, first: Ints, second: Ints, group: Ints) -> Singles:
        factor = self.drift[group].copy()
        if self.busy_factor != 1:
            from_host, to_host = cluster.host_of(first), cluster.host_of(second)
            is_busy = (self.busy_hosts[from_host] | self.busy_hosts[to_host]) & (from_host != to_host)
            is_busy &= (group >= self.busy_rounds.start) & (group < self.busy_rounds.stop)
            factor[is_busy] *= np.float32(self.busy_factor)
        return factor


def _factors_of_rounds(measured: Measured, generator: np.random.Generator) -> _Factors:
    noise, hosts = measured.noise, measured.cluster.num_hosts
    rounds = num_rounds(measured.cluster.num_ranks)
    busy = np.zeros(hosts, dtype=bool)
    busy[generator.choice(hosts, max(1, hosts // 8), replace=False)] = True
    begin = int(generator.integers(0, rounds))
    window = range(begin, begin + max(1, int(rounds * noise.neighbour_share)))
    return _Factors(drift_of_rounds(noise, rounds, generator), busy, window, noise.neighbour_factor)


def _has_tail(cluster: Cluster, ranks: Ints) -> npt.NDArray[np.bool_]:
    return np.asarray(cluster.place_of(ranks) == 0)


def _statistics(
    measured: Measured, base: Singles, lost: Singles | None, generator: np.random.Generator
) -> dict[str, Singles]:
    """Of the batches of each pair, some rows at a time."""
    num, plan = base.shape[1], measured.plan
    wanted = ("median", "p99") if num >= COMPACT_FROM_RANKS else STATISTICS
    made = {name: np.zeros((num, num), dtype=np.float32) for name in wanted}
    tail = _has_tail(measured.cluster, np.arange(num, dtype=np.int32))
    rows = max(1, (1 << 20) // num)
    for begin in range(0, num, rows):
        end = min(begin + rows, num)
        has_tail = tail[begin:end, None] | tail[None, :]
        lost_here = None if lost is None else lost[begin:end]
        parts = [
            batches(base[turn, begin:end], has_tail, lost_here, measured.noise, share, generator)
            for turn, share in enumerate(_shares(plan.num_batches, base.shape[0]))
        ]
        times = np.sort(np.concatenate(parts), axis=0)
        for name in wanted:
            made[name][begin:end] = _of_sorted(times, name)
    for matrix in made.values():
        np.fill_diagonal(matrix, 0)
    return made


def _shares(num: int, parts: int) -> list[int]:
    """As even as can be."""
    return [num // parts + (1 if part < num % parts else 0) for part in range(parts)]


def _of_sorted(times: Singles, name: str) -> Singles:
    num = times.shape[0]
    if name in ("min", "max"):
        return np.asarray(times[0 if name == "min" else -1])
    if name == "mean":
        return np.asarray(times.mean(axis=0))
    place = (num - 1) * (0.5 if name == "median" else 0.99)
    below = int(place)
    above = min(below + 1, num - 1)
    return np.asarray(times[below] + (times[above] - times[below]) * np.float32(place - below))


def _retests(
    measured: Measured, table: Table, size_bytes: int, median: Singles, generator: np.random.Generator
) -> list[Retest]:
    """The slowest pairs, and others by chance; slowest first."""
    num, plan = measured.cluster.num_ranks, measured.plan
    flat = median.ravel()
    num_slowest = min(plan.num_retests, int(np.count_nonzero(flat)))
    slowest = np.argpartition(flat, flat.size - num_slowest - 1)[flat.size - num_slowest :]
    chosen = {int(place): False for place in slowest}
    drawn = generator.integers(0, flat.size, 4 * plan.num_controls)
    others = [int(place) for place in drawn if flat[place] > 0 and int(place) not in chosen]
    chosen |= dict.fromkeys(others[: plan.num_controls], True)
    places = np.array(sorted(chosen, key=lambda place: -flat[place]), dtype=np.int64)
    if not places.size:
        return []
    sender, receiver = (places // num).astype(np.int32), (places % num).astype(np.int32)
    alone = times_alone(measured, table, size_bytes, sender, receiver, generator)
    return [
        Retest(int(a), int(b), float(flat[place]), float(time), chosen[int(place)])
        for a, b, place, time in zip(sender, receiver, places, alone, strict=True)
    ]


def times_alone(
    measured: Measured, table: Table, size_bytes: int, sender: Ints, receiver: Ints, generator: np.random.Generator
) -> Singles:
    """Medians of pairs that are measured while all others wait: no flow beside theirs, no drift of rounds."""
    cluster, plan = measured.cluster, measured.plan
    draw = np.zeros(sender.size, dtype=np.int32) if cluster.layout.routing == "adaptive" else None
    paths = [cluster.paths(*ends, draw) for ends in ((sender, receiver), (receiver, sender))]
    there, back = (table.times_ns(way, size_bytes, 1.0) for way in paths)
    lost = table.loss_share(np.hstack(paths)).astype(np.float32) if table.loss.any() else None
    base = (there + back) / 2 if plan.direction == "semidirectional" else there
    has_tail = _has_tail(cluster, sender) | _has_tail(cluster, receiver)
    noise = replace(measured.noise, pair_scatter=0.0, load_scatter=0.0)
    times = batches(base.astype(np.float32), has_tail, lost, noise, plan.num_batches, generator)
    return _of_sorted(np.sort(times, axis=0), "median")
