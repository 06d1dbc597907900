# SPDX-License-Identifier: Apache-2.0
"""Families of cases: random clusters with random faults of one sort, or none; a seed gives the same case again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import networks
import numpy as np
from cluster import Cluster, Layout
from exchanges import ExchangePlan, MeasuredExchanges, measure_exchanges
from faults import Fault, Kind, Symptom
from measuring import Measured, Plan, measure
from networks import Network
from noise import BUSY, QUIET, Noise
from patterns import MeasuredPatterns, PatternPlan, measure_patterns
from result_file import Files, write

Draw = np.random.Generator
KIB, MIB = 1 << 10, 1 << 20
Given = Literal["", "slurm", "cables", "tables"]


@dataclass
class Case:
    """One cluster, what is wrong with it, how it is measured, and what the judge is told of the network."""

    network: Network
    layout: Layout = field(default_factory=Layout)
    faults: list[Fault] = field(default_factory=list)
    noise: Noise = QUIET
    plan: Plan | PatternPlan | ExchangePlan = field(default_factory=Plan)
    topology: Given = ""

    def measured(self) -> Measured | MeasuredPatterns | MeasuredExchanges:
        """Simulates the plan."""
        cluster = Cluster(self.network, self.layout)
        if isinstance(self.plan, PatternPlan):
            return measure_patterns(cluster, self.faults, self.noise, self.plan)
        if isinstance(self.plan, ExchangePlan):
            return measure_exchanges(cluster, self.faults, self.noise, self.plan)
        return measure(cluster, self.faults, self.noise, self.plan)


def case_of(family: str, seed: int) -> Case:
    """The same for the same seed."""
    draw = np.random.default_rng((seed, sum(map(ord, family))))
    case = FAMILIES[family](draw)
    case.plan = replace(case.plan, seed=seed)
    case.layout = replace(case.layout, seed=seed)
    return case


def is_of_patterns(family: str) -> bool:
    """Of a bisection test."""
    return "patterns" in family


def is_of_exchanges(family: str) -> bool:
    """Of a topology test."""
    return "exchanges" in family


def write_case(family: str, seed: int, folder: Path) -> Files:
    """Measured and written."""
    case = case_of(family, seed)
    return write(case.measured(), folder, case.topology)


def factor_of(draw: Draw, low: float = 1.25, high: float = 5.0) -> float:
    """Evenly in the logarithm."""
    return float(np.exp(draw.uniform(np.log(low), np.log(high))))


def one_of(draw: Draw, *choices: int) -> int:
    return int(choices[draw.integers(len(choices))])


def some(draw: Draw, num_of: int, num: int) -> list[int]:
    return sorted(int(x) for x in draw.choice(num_of, num, replace=False))


def given(draw: Draw, *choices: Given) -> Given:
    return choices[draw.integers(len(choices))]


def any_noise(draw: Draw) -> Noise:
    """One of the kinds of noise, or all at once."""
    kinds = (
        QUIET,
        replace(QUIET, tail_rank_share=0.15),
        replace(QUIET, drift=0.05),
        replace(QUIET, timer_step_ns=25),
        replace(QUIET, timer_step_ns=1000),
        replace(QUIET, spike_share=0.03, spike_exponent=1.0),
        replace(QUIET, launch_scatter=0.02),
        BUSY,
    )
    return kinds[draw.integers(len(kinds))]


def any_test(draw: Draw) -> Plan:
    """Of a sound cluster: LinkTest's own files have one batch, and no second measurement unless asked for."""
    return Plan(num_batches=one_of(draw, 1, 5, 20), num_retests=one_of(draw, 0, 10), num_controls=one_of(draw, 0, 10))


def any_network(draw: Draw, num_hosts: int) -> Network:
    """Star or fat tree with about so many hosts."""
    return networks.star(num_hosts) if num_hosts < 8 or draw.random() < 0.5 else tapered_tree(draw, num_hosts)


def tapered_tree(draw: Draw, num_hosts: int) -> Network:
    """A leaf switch has as many uplinks as hosts, or half or a third of them, as sites build it."""
    leaves = one_of(draw, 2, 4, 8)
    hosts = max(num_hosts // leaves, 1)
    return networks.fat_tree([hosts] * leaves, max(hosts // one_of(draw, 1, 2, 3), 1))


def clean(draw: Draw, low: int, high: int) -> Case:
    """Without any fault; so many ranks."""
    ranks_per_host = one_of(draw, 1, 1, 2, 4, 8)
    num_ranks = factor_of(draw, low, high)
    num_hosts = max(2, round(num_ranks / ranks_per_host))
    sockets = 2 if ranks_per_host > 1 and draw.random() < 0.5 else 1
    routing: Literal["adaptive", "flow"] = "adaptive" if draw.random() < 0.3 else "flow"
    layout = Layout(ranks_per_host, sockets, bool(draw.random() < 0.5), routing)
    network = any_network(draw, num_hosts)
    case = Case(network, layout, [], any_noise(draw), any_test(draw), given(draw, "", "", "slurm", "cables"))
    return sometimes_round(draw, case)


def sometimes_round(draw: Draw, case: Case) -> Case:
    """Of five cases one has its ranks dealt to the hosts in turn."""
    case.layout = replace(case.layout, goes_round=bool(draw.random() < 0.2))
    return case


def clean_placement(draw: Draw) -> Case:
    """Many hosts on one leaf switch and few on others, and nobody says so."""
    leaves = ([16, 1], [16, 2, 1], [24, 1, 1], [8, 1])[draw.integers(4)]
    network = networks.fat_tree(leaves, one_of(draw, 1, 2, 4))
    return Case(network, Layout(one_of(draw, 1, 2, 4)), [], any_noise(draw), topology=given(draw, "", "slurm"))


def clean_networks(draw: Draw) -> Case:
    """No trees, told or not."""
    network = (
        networks.line(one_of(draw, 3, 4, 6), 8),
        networks.ring(one_of(draw, 4, 6), 4),
        networks.torus((4, 4, 2)),
        networks.dragonfly(5, 4, 2),
        networks.rails(16, 4, 2),
        networks.fat_tree([1] * 8, 2),
        networks.fat_tree_of_pods(4, 2, 3, 2, 2),
    )[draw.integers(7)]
    if network.kind == "rails":
        return Case(network, Layout(8, 2), [], any_noise(draw))
    return Case(network, Layout(one_of(draw, 1, 2, 4)), [], any_noise(draw), topology=given(draw, "", "cables"))


def clean_neighbour(draw: Draw) -> Case:
    """Another job uses the network of some hosts for a while; afterwards, when pairs are measured again, no more."""
    noise = replace(QUIET, neighbour_factor=factor_of(draw, 1.5, 4), neighbour_share=float(draw.uniform(0.02, 0.1)))
    return Case(networks.star(one_of(draw, 16, 32, 64)), Layout(one_of(draw, 1, 2)), [], noise)


def clean_weak(draw: Draw) -> Case:
    """Few ranks and so much noise that no interval leaves out 1."""
    noise = replace(QUIET, jitter=0.3, spike_share=0.05)
    return Case(networks.star(one_of(draw, 3, 4, 6)), Layout(one_of(draw, 1, 2)), [], noise, Plan(num_batches=1))


def slow_rack(draw: Draw) -> Case:
    """All hosts of one leaf switch have slower processors: neither the switch nor a host is at fault."""
    network = networks.fat_tree([8] * 4, 4)
    rack = one_of(draw, 0, 1, 2, 3)
    software = dict.fromkeys(network.hosts_of(rack), factor_of(draw, 1.3, 2))
    layout = Layout(one_of(draw, 1, 4), software_factors=software)
    return Case(network, layout, [], any_noise(draw), topology=given(draw, "", "slurm"))


def two_generations(draw: Draw) -> Case:
    """About half of the hosts have slower processors, wherever they stand."""
    num_hosts = one_of(draw, 16, 32)
    older = some(draw, num_hosts, num_hosts * one_of(draw, 4, 5, 6) // 10)
    layout = Layout(one_of(draw, 1, 4), software_factors=dict.fromkeys(older, factor_of(draw, 1.3, 2)))
    return Case(networks.star(num_hosts), layout, [], any_noise(draw))


def contention(draw: Draw, num_bad: int) -> Case:
    """Large messages share uplinks that hashing fills unevenly; with or without ports at a third of their rate."""
    network = tapered_tree(draw, one_of(draw, 16, 32, 64))
    routing: Literal["adaptive", "flow", "destination"] = ("adaptive", "flow", "destination")[draw.integers(3)]
    faults = [Fault("port", port, 3.0, "bandwidth") for port in some(draw, network.num_hosts, num_bad)]
    layout = Layout(one_of(draw, 1, 2, 4), routing=routing)
    return Case(network, layout, faults, plan=Plan((MIB,)), topology=given(draw, "", "slurm", "cables"))


def many_bad_hosts(draw: Draw) -> Case:
    """A third and more of the ports of a fat tree, or of its hosts."""
    bad, num_hosts = ((5, 16), (10, 32), (12, 32), (14, 32), (20, 64))[draw.integers(5)]
    network = networks.fat_tree([16] * (num_hosts // 16), one_of(draw, 4, 8))
    kind: Kind = "port" if draw.random() < 0.5 else "host"
    factor, spread = factor_of(draw, 1.25, 3), 1.0 if draw.random() < 0.5 else 1.3
    faults = [Fault(kind, place, factor_of(draw, factor, factor * spread)) for place in some(draw, num_hosts, bad)]
    return Case(network, Layout(one_of(draw, 1, 4)), faults, topology=given(draw, "", "slurm"))


def many_bad_ports(draw: Draw) -> Case:
    """Three of eight cables at a fifth of their rate, and more of the kind, with large messages."""
    bad, num_hosts = ((3, 8), (6, 16), (12, 32))[draw.integers(3)]
    faults = [Fault("port", place, factor_of(draw, 1.5, 5), "bandwidth") for place in some(draw, num_hosts, bad)]
    return Case(networks.star(num_hosts), Layout(one_of(draw, 1, 4)), faults, plan=Plan((MIB,)))


def few_bad(draw: Draw, kind: Kind, low: float = 1.25, high: float = 5.0) -> Case:
    """One to three hosts, ports or ranks of many."""
    num_hosts, layout = one_of(draw, 8, 16, 32, 64), Layout(one_of(draw, 2, 4, 8))
    is_large = kind == "port" and draw.random() < 0.5
    network = networks.star(num_hosts) if is_large else any_network(draw, num_hosts)
    num = network.num_hosts * (layout.ranks_per_host if kind == "rank" else 1)
    symptom: Symptom = "bandwidth" if is_large else "latency"
    places = some(draw, num, one_of(draw, 1, 2, 3))
    faults = [Fault(kind, place, factor_of(draw, low, high), symptom) for place in places]
    plan = Plan((MIB if is_large else KIB,))
    case = Case(network, layout, faults, any_noise_of_medians(draw), plan, given(draw, "", "slurm"))
    return sometimes_round(draw, case)


def any_noise_of_medians(draw: Draw) -> Noise:
    """All but steps of a timer, which hide small factors."""
    noise = any_noise(draw)
    return replace(noise, timer_step_ns=min(noise.timer_step_ns, 25))


def huge_factors(draw: Draw) -> Case:
    """A host that takes 5 to 20 times as long."""
    return few_bad(draw, "host", 5, 20)


def weak_factors(draw: Draw) -> Case:
    """A host between the threshold and what must be found."""
    return few_bad(draw, "host", 1.1, 1.25)


def many_bad_ranks(draw: Draw) -> Case:
    """A tenth to 45 % of the ranks of hosts with several."""
    layout, num_hosts = Layout(one_of(draw, 4, 8)), one_of(draw, 8, 16)
    num_ranks = num_hosts * layout.ranks_per_host
    num = round(num_ranks * draw.uniform(0.1, 0.45))
    faults = [Fault("rank", place, factor_of(draw, 1.25, 3)) for place in some(draw, num_ranks, num)]
    return Case(networks.star(num_hosts), layout, faults)


def bad_rank_of_few(draw: Draw) -> Case:
    """One bad rank of eight, a rank a host, in heavy noise; all its pairs are measured again."""
    noise = replace(QUIET, jitter=0.1, spike_share=0.05, tail_rank_share=0.0)
    fault = Fault("rank", one_of(draw, *range(8)), factor_of(draw, 2.5, 5))
    return Case(networks.star(8), Layout(), [fault], noise, Plan(num_batches=one_of(draw, 1, 5), num_retests=14))


def bad_rank_of_very_few(draw: Draw) -> Case:
    """One bad rank of four to six, a rank a host."""
    num = one_of(draw, 4, 5, 6)
    fault = Fault("rank", one_of(draw, *range(num)), factor_of(draw, 1.5, 4))
    return Case(networks.star(num), Layout(), [fault])


def bad_link_of_few(draw: Draw) -> Case:
    """One bad link between two of eight, a rank a host, in heavy noise."""
    noise = replace(QUIET, jitter=0.1, spike_share=0.05)
    first, second = some(draw, 8, 2)
    fault = Fault("link", first, factor_of(draw, 2.5, 5), other=second)
    return Case(networks.star(8), Layout(), [fault], noise, Plan(num_batches=one_of(draw, 1, 5), num_retests=8))


def bad_link(draw: Draw) -> Case:
    """One or two links between hosts with several ranks."""
    num_hosts = one_of(draw, 8, 16, 32)
    ends = some(draw, num_hosts, 2 * one_of(draw, 1, 2))
    faults = [Fault("link", a, factor_of(draw), other=b) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return Case(networks.star(num_hosts), Layout(one_of(draw, 2, 4)), faults, any_noise_of_medians(draw))


def bad_link_disturbed(draw: Draw) -> Case:
    """A link far slower than what other jobs do to a tenth to a third of the rounds; nothing is measured again."""
    first, second = some(draw, 8, 2)
    noise = replace(QUIET, neighbour_factor=factor_of(draw, 1.5, 4), neighbour_share=float(draw.uniform(0.1, 0.3)))
    fault = Fault("link", first, factor_of(draw, 15, 30), other=second)
    return Case(networks.star(8), Layout(one_of(draw, 2, 4)), [fault], noise, Plan(num_retests=0, num_controls=16))


def busy_sample(draw: Draw, kind: Kind | None) -> Case:
    """A few random rounds of a machine on which other programs run: pairs take up to ten times as long, but not alone.

    A port or host is as slow as a cable that is some hundred kilometres too long, or a link that has fallen back.
    """
    num_hosts = one_of(draw, 6, 8, 12, 16)
    layout = Layout(one_of(draw, 2, 4) if kind == "port" else one_of(draw, 1, 2, 4))
    noise = replace(QUIET, jitter=0.1, load_scatter=float(draw.uniform(0.5, 1.5)))
    plan = Plan((one_of(draw, KIB, MIB),), num_sampled_rounds=num_hosts * layout.ranks_per_host // 2)
    faults = [] if kind is None else [Fault(kind, one_of(draw, *range(num_hosts)), factor_of(draw, 10, 500))]
    return Case(networks.star(num_hosts), layout, faults, noise, plan)


def line_end(draw: Draw, topology: Given) -> Case:
    """The cable to the last of 3 to 6 switches in a row."""
    num = one_of(draw, 3, 4, 5, 6)
    symptom: Symptom = "latency" if draw.random() < 0.5 else "bandwidth"
    network = networks.line(num, 8)
    cable = one_of(draw, 0, num - 2)
    plan = Plan((KIB if symptom == "latency" else MIB,))
    faults = [Fault("cable", cable, factor_of(draw, 2, 4), symptom)]
    return Case(network, Layout(one_of(draw, 1, 2)), faults, plan=plan, topology=topology)


def uplinks(draw: Draw, num: int) -> Case:
    """All cables of so many of four leaf switches to the spines."""
    network = networks.fat_tree([8] * 4, one_of(draw, 2, 4))
    symptom: Symptom = "latency" if draw.random() < 0.5 else "bandwidth"
    faults = [Fault("uplink", leaf, factor_of(draw, 1.5, 4), symptom) for leaf in some(draw, 4, num)]
    plan = Plan((KIB if symptom == "latency" else MIB,))
    return Case(network, Layout(one_of(draw, 1, 4)), faults, plan=plan, topology=given(draw, "slurm", "cables"))


def cable_of_several(draw: Draw) -> Case:
    """One cable of those that leave a leaf switch, over which hashing or forwarding tables send some pairs."""
    is_bundle = draw.random() < 0.3
    num_spines = 1 if is_bundle else one_of(draw, 2, 4)
    network = networks.fat_tree([8] * one_of(draw, 4, 8), num_spines, 4 if is_bundle else 1)
    layout = Layout(one_of(draw, 1, 2, 4), routing="destination" if draw.random() < 0.5 else "flow")
    cable = one_of(draw, *range(len(network.cables)))
    return Case(network, layout, [Fault("cable", cable, factor_of(draw, 1.5, 4))], topology="cables")


def by_tables(case: Case) -> Case:
    """The same cluster routed by forwarding tables, which are told."""
    case.layout = replace(case.layout, routing="table")
    case.topology = "tables"
    return case


def clean_tables(draw: Draw) -> Case:
    """No fault, any noise, small or large messages."""
    network = networks.fat_tree([8] * one_of(draw, 2, 4), one_of(draw, 2, 4, 8))
    plan = Plan((one_of(draw, KIB, MIB),))
    return by_tables(Case(network, Layout(one_of(draw, 1, 2, 4)), [], any_noise(draw), plan))


def core_switch(draw: Draw) -> Case:
    """One switch without hosts, of a fat tree with two or three levels."""
    is_deep = draw.random() < 0.5
    network = networks.fat_tree_of_pods(4, 2, 4, 2, 4) if is_deep else networks.fat_tree([8] * 4, 4)
    cores = [number for number in range(len(network.switches)) if not network.hosts_of(number)]
    if is_deep:
        cores = cores[:4]
    fault = Fault("core", one_of(draw, *cores), factor_of(draw, 1.5, 4))
    return Case(network, Layout(one_of(draw, 1, 2, 4)), [fault], topology="cables")


def leaf_switch(draw: Draw) -> Case:
    """Whatever passes one of several leaf switches."""
    network = networks.fat_tree([8] * one_of(draw, 4, 8), 4)
    fault = Fault("switch", one_of(draw, 0, 1, 2, 3), factor_of(draw, 1.25, 3))
    return Case(network, Layout(one_of(draw, 1, 4)), [fault], any_noise_of_medians(draw), topology="slurm")


def cable_of_no_tree(draw: Draw) -> Case:
    """A cable of a ring, torus or dragonfly, whose network is told."""
    network = (networks.ring(6, 4), networks.torus((4, 4)), networks.dragonfly(5, 4, 2))[draw.integers(3)]
    cable = one_of(draw, *range(len(network.cables)))
    faults = [Fault("cable", cable, factor_of(draw, 2, 4))]
    return Case(network, Layout(one_of(draw, 2, 4)), faults, topology="cables")


def no_tree(draw: Draw) -> Network:
    """A line, ring, torus or dragonfly with few hosts a switch."""
    hosts_a_switch = one_of(draw, 2, 3, 4)
    return (
        networks.line(one_of(draw, 3, 4, 6), hosts_a_switch),
        networks.ring(one_of(draw, 4, 6), hosts_a_switch),
        networks.torus((4, 4), hosts_a_switch),
        networks.dragonfly(5, 4, hosts_a_switch),
    )[draw.integers(4)]


def some_hosts(draw: Draw, network: Network) -> list[int]:
    """One to three of them, and at most 45 %."""
    return some(draw, network.num_hosts, min(one_of(draw, 1, 2, 3), int(0.45 * network.num_hosts)))


def ends_of_no_tree(draw: Draw) -> Case:
    """One to three ports or hosts where the network is no tree and told."""
    network = no_tree(draw)
    kind: Kind = "port" if draw.random() < 0.5 else "host"
    faults = [Fault(kind, place, factor_of(draw, 1.25, 20)) for place in some_hosts(draw, network)]
    return Case(network, Layout(one_of(draw, 1, 2, 4)), faults, any_noise_of_medians(draw), topology="cables")


def contention_without_tree(draw: Draw, has_fault: bool) -> Case:
    """Large messages, most of which share cables; with or without one to three ports that have less bandwidth."""
    network = no_tree(draw)
    places = some_hosts(draw, network) if has_fault else []
    faults = [Fault("port", place, factor_of(draw, 1.5, 20), "bandwidth") for place in places]
    return Case(network, Layout(one_of(draw, 1, 2, 4)), faults, plan=Plan((MIB,)), topology="cables")


def port_one_way(draw: Draw) -> Case:
    """A port that only sends, or only receives, slowly; each way is measured by itself."""
    way: Literal["in", "out"] = "in" if draw.random() < 0.5 else "out"
    num_hosts = one_of(draw, 8, 16, 32)
    fault = Fault("port", one_of(draw, *range(num_hosts)), factor_of(draw, 1.5, 4), "bandwidth", way)
    plan = Plan((MIB,), direction="unidirectional")
    return Case(networks.star(num_hosts), Layout(one_of(draw, 2, 4)), [fault], plan=plan)


def rail(draw: Draw) -> Case:
    """One adapter of every host is slow, or the switch to which all of these are connected."""
    network, layout = networks.rails(one_of(draw, 8, 16), 4, 4), Layout(one_of(draw, 4, 8), one_of(draw, 1, 2))
    return Case(network, layout, [Fault("rail", one_of(draw, 0, 1, 2, 3), factor_of(draw, 1.5, 3))])


def lost_messages(draw: Draw) -> Case:
    """A port, or the cable between two hosts, loses one to three messages of a hundred; they arrive half a ms later."""
    num_hosts, lost = one_of(draw, 8, 16, 32), float(draw.uniform(0.01, 0.03))
    first, second = some(draw, num_hosts, 2)
    kind: Kind = "port" if draw.random() < 0.5 else "link"
    fault = Fault(kind, first, 1.0, "loss", other=second if kind == "link" else -1, lost=lost)
    return Case(networks.star(num_hosts), Layout(one_of(draw, 2, 4)), [fault])


def half_width(draw: Draw) -> Case:
    """A port at half of its width, which only large messages show; small and large ones are in the file."""
    num_hosts = one_of(draw, 8, 16, 32)
    fault = Fault("port", one_of(draw, *range(num_hosts)), 2.0, "bandwidth")
    return Case(networks.star(num_hosts), Layout(one_of(draw, 2, 4)), [fault], plan=Plan((KIB, MIB)))


def mixed(draw: Draw) -> Case:
    """A host, a port and a link of others, of unlike factors, in a busy cluster."""
    network = networks.fat_tree([8] * 4, 4)
    host, port, first, second = (int(x) for x in draw.permutation(32)[:4])
    faults = [
        Fault("host", host, factor_of(draw)),
        Fault("port", port, factor_of(draw)),
        Fault("link", first, factor_of(draw, 1.5), other=second),
    ]
    return Case(network, Layout(4), faults, BUSY, topology=given(draw, "", "slurm"))


def four_thousand(draw: Draw) -> Case:
    """4,096 ranks in the compact form: 5 to 30 % of the ports, hosts or ranks bad, or up to five uplinks of sixteen."""
    network = networks.fat_tree([32] * 16, 8)
    kinds: tuple[tuple[Kind, int], ...] = (("port", 512), ("host", 512), ("rank", 4096), ("uplink", 16))
    kind, num = kinds[draw.integers(4)]
    bad = some(draw, num, max(round(num * draw.uniform(0.05, 0.3)), 1))
    faults = [Fault(kind, place, factor_of(draw, 1.25, 3)) for place in bad]
    return Case(network, Layout(8, 2), faults, plan=Plan(num_batches=5), topology="slurm")


def of_patterns(draw: Draw, kind: Kind | None, num_bad: int = 1, topology: Given | None = None) -> Case:
    """A bisection test of 8 to 64 hosts on a star or a tree, with as many uplinks as hosts a leaf, or half of them."""
    num_leaves, hosts = one_of(draw, 2, 4, 8), one_of(draw, 4, 8)
    if kind == "uplink":
        num_leaves = one_of(draw, 4, 8)
    network = networks.fat_tree([hosts] * num_leaves, hosts // one_of(draw, 1, 2))
    if kind not in (None, "uplink") and draw.random() < 0.5:
        network = networks.star(hosts * num_leaves)
    routing: Literal["adaptive", "flow"] = "adaptive" if draw.random() < 0.5 else "flow"
    layout = Layout(1 if kind == "port" else one_of(draw, 1, 1, 2), routing=routing)  # pairs inside are not measured
    places = some(draw, num_leaves if kind == "uplink" else network.num_hosts, num_bad)
    faults = [Fault(kind, place, factor_of(draw, 3, 6), "bandwidth") for place in places] if kind else []
    plan = PatternPlan(num_patterns=one_of(draw, 30, 60, 120))
    known = topology if topology is not None else given(draw, "", "slurm", "cables")
    return Case(network, layout, faults, any_noise_of_patterns(draw), plan, known)


def of_exchanges(
    draw: Draw,
    kind: Kind | None,
    sizes: tuple[int, ...],
    under_way: tuple[int, ...] = (0,),
) -> Case:
    """A topology test, complete2, of 6 to 24 hosts on a star or a tree, with as many uplinks as hosts a leaf or half of
    them; all messages under way at once, or so many of each rank."""
    leaves, hosts = one_of(draw, 2, 3, 4), one_of(draw, 3, 4, 6)
    network = networks.fat_tree([hosts] * leaves, max(hosts // one_of(draw, 1, 2), 1))
    if kind not in ("uplink", "cable") and draw.random() < 0.5:
        network = networks.star(hosts * leaves)
    layout = Layout(one_of(draw, 1, 1, 2))
    plan = ExchangePlan((one_of(draw, *sizes),), one_of(draw, 1, 3), one_of(draw, *under_way))
    faults: list[Fault] = []
    if kind:
        num = {"uplink": leaves, "cable": len(network.cables)}.get(kind, network.num_hosts)
        first, other = some(draw, num, 2)
        factor = factor_of(draw, 3, 6)
        if plan.sizes_bytes[0] > KIB and kind in (
            "host",
            "link",
        ):  # what a flow gets of a port that all flows share
            factor *= network.num_hosts * layout.ranks_per_host
        faults = [Fault(kind, first, factor, "bandwidth", other=other if kind == "link" else -1)]
    return Case(
        network,
        layout,
        faults,
        any_noise_of_patterns(draw),
        plan,
        given(draw, "", "slurm"),
    )


def any_noise_of_patterns(draw: Draw) -> Noise:
    kinds = (QUIET, replace(QUIET, jitter=0.01, spike_share=0.002), replace(QUIET, launch_scatter=0.02))
    return kinds[draw.integers(len(kinds))]


# Below the threshold, or nobody says which network it is: only what is false counts.
# Which core switch a pair passes only forwarding tables tell: without them a note says that one of several is slow.
# Of exchanges few pairs are measured alone, so that not all links are named, and little that lies between switches.
NEED_NOT_BE_NAMED = (
    "hosts x1.1 to x1.25", "core switch", "end of a line, not told", "patterns, uplink, not told",
    "exchanges, small messages", "exchanges, four at once", "exchanges, bad link", "exchanges, cable",
    "exchanges, uplink",
)  # fmt: skip
SLOW = ("4,096 ranks",)  # half a minute of processor time or more for each case

FAMILIES: dict[str, Callable[[Draw], Case]] = {
    "clean, 4 to 16 ranks": lambda draw: clean(draw, 4, 16),
    "clean, 17 to 128 ranks": lambda draw: clean(draw, 17, 128),
    "clean, 129 to 512 ranks": lambda draw: clean(draw, 129, 512),
    "clean, placement": clean_placement,
    "clean, networks": clean_networks,
    "clean, neighbour for a while": clean_neighbour,
    "clean, weak": clean_weak,
    "clean, contention": lambda draw: contention(draw, 0),
    "clean, slow rack": slow_rack,
    "clean, two generations": two_generations,
    "many bad hosts": many_bad_hosts,
    "many bad ports": many_bad_ports,
    "many bad ranks": many_bad_ranks,
    "few bad hosts": lambda draw: few_bad(draw, "host"),
    "few bad ports": lambda draw: few_bad(draw, "port"),
    "ports beside contention": lambda draw: contention(draw, 2),
    "few bad ranks": lambda draw: few_bad(draw, "rank"),
    "hosts x5 to x20": huge_factors,
    "hosts x1.1 to x1.25": weak_factors,
    "bad rank of 4 to 6": bad_rank_of_very_few,
    "bad rank of 8": bad_rank_of_few,
    "bad link of 8": bad_link_of_few,
    "bad link": bad_link,
    "bad link, disturbed": bad_link_disturbed,
    "clean, busy sample": lambda draw: busy_sample(draw, None),
    "busy sample, bad port": lambda draw: busy_sample(draw, "port"),
    "busy sample, bad host": lambda draw: busy_sample(draw, "host"),
    "end of a line": lambda draw: line_end(draw, "cables"),
    "end of a line, not told": lambda draw: line_end(draw, ""),
    "one uplink of 4": lambda draw: uplinks(draw, 1),
    "two uplinks of 4": lambda draw: uplinks(draw, 2),
    "cable of several": cable_of_several,
    "core switch": core_switch,
    "clean, tables": clean_tables,
    "cable of several, tables": lambda draw: by_tables(cable_of_several(draw)),
    "core switch, tables": lambda draw: by_tables(core_switch(draw)),
    "few bad hosts, tables": lambda draw: by_tables(few_bad(draw, "host", 1.25)),
    "leaf switch": leaf_switch,
    "cable of no tree": cable_of_no_tree,
    "ends of no tree": ends_of_no_tree,
    "clean, contention, no tree": lambda draw: contention_without_tree(draw, has_fault=False),
    "ports, contention, no tree": lambda draw: contention_without_tree(draw, has_fault=True),
    "port one way": port_one_way,
    "rail": rail,
    "lost messages": lost_messages,
    "port at half its width": half_width,
    "host, port and link": mixed,
    "4,096 ranks": four_thousand,
    "clean, patterns": lambda draw: of_patterns(draw, None),
    "patterns, bad host": lambda draw: of_patterns(draw, "host"),
    "patterns, bad port": lambda draw: of_patterns(draw, "port"),
    "patterns, three bad ports": lambda draw: of_patterns(draw, "port", 3),
    "patterns, uplink": lambda draw: of_patterns(draw, "uplink", 1, "slurm"),
    "patterns, two uplinks": lambda draw: of_patterns(draw, "uplink", 2, "slurm"),
    "patterns, uplink, not told": lambda draw: of_patterns(draw, "uplink", 1, ""),
    "clean, exchanges": lambda draw: of_exchanges(draw, None, (KIB, 64 * KIB, MIB), (0, 0, 4)),
    "exchanges, bad host": lambda draw: of_exchanges(draw, "host", (64 * KIB, MIB)),
    "exchanges, bad port": lambda draw: of_exchanges(draw, "port", (64 * KIB, MIB)),
    "exchanges, small messages": lambda draw: of_exchanges(draw, "host", (KIB,)),
    "exchanges, four at once": lambda draw: of_exchanges(draw, "port", (64 * KIB, MIB), (4,)),
    "exchanges, bad link": lambda draw: of_exchanges(draw, "link", (64 * KIB, MIB), (0, 4)),
    "exchanges, cable": lambda draw: of_exchanges(draw, "cable", (64 * KIB, MIB), (0, 4)),
    "exchanges, uplink": lambda draw: of_exchanges(draw, "uplink", (64 * KIB, MIB), (0, 4)),
}
