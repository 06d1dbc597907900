# SPDX-License-Identifier: Apache-2.0
"""What a topology test of a cluster measures: all ranks exchange messages with all others at once.

A rank hands its messages over one after the other, each costs the software's time, and a receiver takes them one by
one; ranks leave the opening barrier at different moments. What is under way shares the network max-min fairly, and what
has arrived leaves its share to the others. Senders have all of their messages under way, or only some at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from cluster import Cluster
from elements import Floats, Ints, Table
from faults import Fault, prepare
from measuring import launched
from noise import Noise
from patterns import fair_rates, plant_bandwidth

ENDS_TOGETHER = 1.05  # messages that arrive so near to each other are taken to arrive at once
NUM_TRACED = 10  # exchanges of which the median is taken
LATENCY_BOUND_BYTES = 8 << 10  # faults of smaller messages are in the latency, since they do not fill anything


@dataclass(frozen=True)
class ExchangePlan:
    """How it is measured. `under_way`: messages of a sender at once, 0 = all of them."""

    sizes_bytes: tuple[int, ...] = (1 << 20,)
    num_repeats: int = 1
    under_way: int = 0
    barrier_skew_ns: float = 1000.0
    seed: int = 1


@dataclass
class MeasuredExchanges:
    """Times to arrival in ns, [repeats, sizes, N, N], from the row's rank to the column's; NaN on the diagonal."""

    cluster: Cluster
    plan: ExchangePlan
    noise: Noise
    faults: list[Fault]
    arrival_ns: Floats


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
    for index, size in enumerate(plan.sizes_bytes):
        table = sound.copy()
        _plant(cluster, faults, table, size)
        base = arrivals(cluster, table, sender, receiver, size, plan.under_way)
        for repeat in range(plan.num_repeats):
            times = _median_of_traced(base, noise, generator)
            made[repeat, index, sender, receiver] = np.maximum(times + skew[sender] - skew[receiver], 100)
    return MeasuredExchanges(cluster, plan, noise, faults, made)


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
