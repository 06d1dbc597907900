# SPDX-License-Identifier: Apache-2.0
"""What a topology test of a cluster measures: all ranks exchange messages with all others at once.

A rank hands its messages over one after the other, each costs the software's time, and a receiver takes them one by
one; ranks leave the opening barrier at different moments. What is under way shares the network max-min fairly, and what
has arrived leaves its share to the others. Senders have all of their messages under way, or only some at once.

At the end some pairs send each other messages in turn while all others rest: of the latest rank three, then by turns
those that are latest beside their rows and columns in both directions and in one, with other ranks of the same two
hosts and both ends with the partner that they are least late with; and as many by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from cluster import Cluster
from elements import Floats, Ints, Table
from faults import Fault, prepare
from measuring import launched
from noise import Noise
from patterns import fair_rates, plant_bandwidth

ENDS_TOGETHER = 1.05  # messages that arrive so near to each other are taken to arrive at once
NUM_TRACED = 10  # exchanges of which the median is taken
NUM_ALONE, ATTEMPTS_ALONE = 20, 3  # pairs of either kind; of an attempt each the least time counts
LATENCY_BOUND_BYTES = 8 << 10  # faults of smaller messages are in the latency, since they do not fill anything


@dataclass(frozen=True)
class ExchangePlan:
    """How it is measured. `under_way`: messages of a sender at once, 0 = all of them."""

    sizes_bytes: tuple[int, ...] = (1 << 20,)
    num_repeats: int = 1
    under_way: int = 0
    barrier_skew_ns: float = 1000.0
    seed: int = 1


@dataclass(frozen=True)
class PairAlone:
    """Half of a round trip in ns; `is_suspected`: else it was chosen by chance."""

    size_index: int
    one: int
    other: int
    time_ns: float
    is_suspected: bool


@dataclass
class MeasuredExchanges:
    """Times to arrival in ns, [repeats, sizes, N, N], from the row's rank to the column's; NaN on the diagonal."""

    cluster: Cluster
    plan: ExchangePlan
    noise: Noise
    faults: list[Fault]
    arrival_ns: Floats
    alone: list[PairAlone] = field(default_factory=list)


def measure_exchanges(cluster: Cluster, faults: list[Fault], noise: Noise, plan: ExchangePlan) -> MeasuredExchanges:
    """All repeats and sizes of the complete graph."""
    prepare(cluster, faults)
    generator = np.random.default_rng(plan.seed)
    sound = launched(cluster, cluster.elements.table(), noise, generator)
    num = cluster.num_ranks
    sender, receiver = (side.ravel().astype(np.int32) for side in np.mgrid[0:num, 0:num])
    sender, receiver = sender[sender != receiver], receiver[sender != receiver]  # a rank's own in ascending order
    made = np.full((plan.num_repeats, len(plan.sizes_bytes), num, num), np.nan)
    skew = generator.exponential(plan.barrier_skew_ns, num)  # a rank's place in the barrier is always the same
    alone: list[PairAlone] = []
    for index, size in enumerate(plan.sizes_bytes):
        table = sound.copy()
        _plant(cluster, faults, table, size)
        base = arrivals(cluster, table, sender, receiver, size, plan.under_way)
        for repeat in range(plan.num_repeats):
            times = _median_of_traced(base, noise, generator)
            made[repeat, index, sender, receiver] = np.maximum(times + skew[sender] - skew[receiver], 100)
        by_chance = np.random.default_rng((plan.seed, index))
        seen = np.median(made[:, index], axis=0)
        for one, other, is_suspected in _chosen_pairs(cluster, seen, by_chance):
            ends = np.array([one, other], dtype=np.int32)
            ways = [arrivals(cluster, table, ends[[way]], ends[[1 - way]], size, 0) for way in (0, 1)]
            attempts = [_median_of_traced(np.concatenate(ways), noise, by_chance).mean() for _ in range(ATTEMPTS_ALONE)]
            alone.append(PairAlone(index, one, other, float(min(attempts)), is_suspected))
    return MeasuredExchanges(cluster, plan, noise, faults, made, alone)


def _chosen_pairs(cluster: Cluster, seen: Floats, by_chance: np.random.Generator) -> list[tuple[int, int, bool]]:
    """Pairs of different hosts, the lower rank first, and whether they are suspected."""
    whole = np.log(seen)
    late = whole
    for _ in range(3):
        late = late - np.nanmedian(late, axis=1, keepdims=True)
        late = late - np.nanmedian(late, axis=0, keepdims=True)
    one_way, late = np.maximum(late, late.T), np.minimum(late, late.T)
    host = cluster.host_of(np.arange(cluster.num_ranks, dtype=np.int32))
    late[host[:, None] == host[None, :]] = np.nan
    ends = np.argwhere(np.triu(np.isfinite(late)))
    suspected: dict[tuple[int, int], None] = {}

    def add_best(rank: int) -> None:
        best = int(np.nanargmin(late[rank]))
        suspected[min(rank, best), max(rank, best)] = None

    of_rank = np.nanmedian(whole, axis=0) + np.nanmedian(whole, axis=1)
    for rank in np.argsort(of_rank)[-1:]:  # the latest one, with three partners
        for other in np.argsort(np.where(np.isfinite(late[rank]), late[rank], np.inf))[:3]:
            suspected[int(min(rank, other)), int(max(rank, other))] = None
    orders = [ends[np.argsort(-of_pairs[ends[:, 0], ends[:, 1]], kind="stable")] for of_pairs in (late, one_way)]
    for one, other in np.stack(orders, axis=1).reshape(-1, 2):
        if len(suspected) + 4 > NUM_ALONE:
            break
        suspected[int(one), int(other)] = None
        for rank, partner in ends:  # the same link by other ranks, where there are some
            if host[rank] == host[one] and host[partner] == host[other] and rank != one and partner != other:
                suspected[int(rank), int(partner)] = None
                break
        add_best(int(one))
        add_best(int(other))
    chosen = [(one, other, True) for one, other in suspected]
    drawn = by_chance.choice(ends, size=min(NUM_ALONE, len(ends)), replace=False)
    return chosen + [(int(one), int(other), False) for one, other in drawn]


def _plant(cluster: Cluster, faults: list[Fault], table: Table, size: int) -> None:
    """Hosts and ranks have slow software, too; whatever else carries less."""
    if size < LATENCY_BOUND_BYTES:
        for fault in faults:
            ranks = list(cluster.ranks_of(fault.place)) if fault.kind == "host" else [fault.place]
            if fault.kind in ("host", "rank"):
                for elements in (cluster.rank_out[ranks], cluster.rank_in[ranks]):
                    table.latency_ns[elements] *= fault.factor
    plant_bandwidth(cluster, faults, table)


def arrivals(cluster: Cluster, table: Table, sender: Ints, receiver: Ints, size: int, under_way: int) -> Floats:
    """Of each message when it is there, ns since its sender began. `sender` is sorted."""
    paths = cluster.paths(sender, receiver, None)
    software_out, software_in = table.latency_ns[cluster.rank_out], table.latency_ns[cluster.rank_in]
    place = np.arange(sender.size) - np.searchsorted(sender, sender)  # among those of its sender
    handed_over = (place + 1) * software_out[sender]
    latency = table.latency_ns[paths].sum(axis=1) - software_out[sender] - software_in[receiver]
    there = handed_over + latency + _transfer_times(paths, table, sender, place, size, under_way)
    taken, free = np.zeros(sender.size), np.zeros(cluster.num_ranks)
    for one in np.argsort(there, kind="stable"):
        free[receiver[one]] = taken[one] = max(free[receiver[one]], there[one]) + software_in[receiver[one]]
    return taken


def _transfer_times(paths: Ints, table: Table, sender: Ints, place: Ints, size: int, under_way: int) -> Floats:
    """When the last byte of each message is through, ns since all began; a message begins when one of its sender ends,
    where only some are under way at once."""
    left, ends = np.full(sender.size, float(size)), np.zeros(sender.size)
    allowed = np.full(int(sender.max()) + 1, under_way or sender.size)
    is_done, now = np.zeros(sender.size, dtype=bool), 0.0
    while not is_done.all():
        running = np.flatnonzero(~is_done & (place < allowed[sender]))
        rate = fair_rates(paths[running], table)
        step = (left[running] / rate).min() * ENDS_TOGETHER
        over = running[left[running] <= rate * step * (1 + 1e-9)]
        ends[over] = now + (left[running] / rate)[np.isin(running, over)]
        left[running] -= rate * step
        is_done[over] = True
        np.add.at(allowed, sender[over], 1)
        now += step
    return ends


def _median_of_traced(base: Floats, noise: Noise, generator: np.random.Generator) -> Floats:
    shape = (NUM_TRACED, base.size)
    factor = np.exp(noise.jitter * generator.standard_normal(shape))
    spikes = generator.random(shape) < noise.spike_share
    factor = np.where(spikes, factor * (1 + 0.5 * generator.pareto(noise.spike_exponent, shape)), factor)
    scatter = np.exp(noise.pair_scatter * generator.standard_normal(base.size))
    return np.asarray(np.median(factor, axis=0) * scatter * base)
