# SPDX-License-Identifier: Apache-2.0
"""Made-up results of the bisection test, written as docs/formats/hdf5.md says; times come from a simple network."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from made_up import make_room, nodes, write_head

from leadline.bisection.result import BisectionResult
from leadline.bisection.simulate.patterns import Participants

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program

import leadline

LATENCY_NS, BYTES_PER_NS = 2_000.0, 9.0
NAMED = ["halves", "reversal", "shift:1", "tornado:8"]
RANDOM, OF_NAME, WORST = 0, 1, 2
_FIRST_WORST = 1000  # index of the pattern that stands for the first step of the search
SPEEDS = ("mean", "harmonic", "min", "max", "full_load")


@dataclass
class MadeUpBisection:
    """What is to be in a file; the faults are factors on the times of connections."""

    hosts: list[str]
    sizes: list[int] = field(default_factory=lambda: [1 << 20])
    num_random: list[int] = field(default_factory=lambda: [60])  # measured, of each size
    rounds: int = 100  # for which there is room
    named: list[str] = field(default_factory=list)
    num_repeats: int = 1
    num_worst: int = 0
    num_baseline: int = 1  # pairs alone after each random pattern
    leaf: int = 8  # ranks on a switch; as many ways lead from it to the others
    slow_hosts: dict[str, float] = field(default_factory=dict)
    slow_ranks: dict[int, float] = field(default_factory=dict)
    slow_together: dict[tuple[int, int], float] = field(default_factory=dict)  # (from, to), but for pairs alone
    lost_ranks: list[int] = field(default_factory=list)  # without numbers in the last measured pattern
    stopped_by: list[str] = field(default_factory=lambda: ["precision"])
    seed: int = 7
    within_hosts: bool = False
    is_replayable: bool = True  # patterns are the engine's own; else others, which are made at once
    complete: bool = True
    reason: str = "still running, or killed without a word"
    findings: list[dict[str, str]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    command_line: list[str] = field(default_factory=lambda: ["leadline", "bisection", "--output", "a b.h5"])

    @property
    def num_patterns(self) -> int:
        """M."""
        return self.rounds + len(self.named) * self.num_repeats + self.num_worst


@dataclass
class Columns:
    """The patterns of one size, one after the other."""

    send_to: list[np.ndarray] = field(default_factory=list)
    time_ns: list[np.ndarray] = field(default_factory=list)  # by the rank that sends
    facts: list[tuple[int, int, int, int]] = field(default_factory=list)  # kind, index, repeat, accepted
    baseline: list[tuple[int, int, int, float]] = field(default_factory=list)


class Network:
    """How long exchanges take: two stages of switches, the way up by the number of the receiver."""

    def __init__(self, made: MadeUpBisection) -> None:
        """The network of a result to be made up."""
        self.made, self.random = made, np.random.default_rng(made.seed)
        factors = np.array([made.slow_hosts.get(host, 1.0) for host in made.hosts])
        for rank, factor in made.slow_ranks.items():
            factors[rank] *= factor
        self.factors = factors
        hosts = list(dict.fromkeys(made.hosts))
        self.participants = Participants(
            tuple(hosts.index(host) for host in made.hosts), 0, made.within_hosts or len(hosts) == 1
        )

    @cached_property
    def drawn(self) -> np.ndarray:
        """All random patterns, as the program draws them."""
        if not program.PROGRAM.is_file():
            pytest.skip(f"{program.PROGRAM.name} is not built")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))
            num = _FIRST_WORST + self.made.num_worst
            return self.participants.drawn("random", self.made.seed, rounds=num).send_to

    def matching(self, index: int) -> np.ndarray:
        """A random pattern."""
        num = len(self.made.hosts)
        if self.made.is_replayable:
            return self.drawn[index]
        seats, send_to = self.random.permutation(num), np.full(num, -1)
        first, second = seats[: num // 2], seats[num // 2 : 2 * (num // 2)]
        send_to[first], send_to[second] = second, first
        return send_to

    def named(self, name: str) -> np.ndarray:
        """A pattern by its name."""
        num, (word, _, argument) = len(self.made.hosts), name.partition(":")
        rank, half = np.arange(num), num // 2
        if word == "halves":
            return np.where(rank < 2 * half, (rank + half) % (2 * half), -1)
        if word == "reversal":
            return np.where(rank == num - 1 - rank, -1, num - 1 - rank)
        if word == "shift":
            return (rank + int(argument)) % num
        groups = num // int(argument)
        return (rank + int(argument) * max((groups + 1) // 2 - 1, 1)) % num

    def times(self, send_to: np.ndarray, size: int) -> np.ndarray:
        """Of the connection of every rank that sends, 0 where it rests."""
        leaf, sends = self.made.leaf, send_to >= 0
        rank = np.arange(len(send_to))
        way = send_to % leaf
        crosses = sends & (rank // leaf != send_to // leaf)
        up, down = rank // leaf * leaf + way, send_to // leaf * leaf + way
        flows_up, flows_down = (np.bincount(link[crosses], minlength=len(rank) + leaf) for link in (up, down))
        flows = np.where(crosses, np.maximum(flows_up[up], flows_down[np.maximum(down, 0)]), 1)
        times = (LATENCY_NS + size / BYTES_PER_NS * flows) * np.maximum(self.factors, self.factors[send_to])
        for (from_rank, to), factor in self.made.slow_together.items():
            times[from_rank] *= factor if send_to[from_rank] == to else 1
        return np.where(sends, times * self.random.gamma(2500, 1 / 2500, len(rank)), 0)

    def alone(self, from_rank: int, to: int, size: int) -> float:
        """Of a pair while all others are idle."""
        factor = max(self.factors[from_rank], self.factors[to])
        return float((LATENCY_NS + size / BYTES_PER_NS) * factor * self.random.gamma(2500, 1 / 2500))


def _columns_of(made: MadeUpBisection, network: Network, size_index: int) -> Columns:
    measured, size = Columns(), made.sizes[size_index]

    def add(send_to: np.ndarray, *facts: int) -> float:
        measured.send_to.append(send_to)
        measured.time_ns.append(network.times(send_to, size))
        measured.facts.append(facts)  # type: ignore[arg-type]
        return float(measured.time_ns[-1].sum())

    for index in range(made.num_random[size_index]):
        send_to = network.matching(index)
        add(send_to, RANDOM, index, 0, 0)
        for pair in range(made.num_baseline):
            from_rank = int(np.flatnonzero(send_to >= 0)[(3 * index + pair) % int((send_to >= 0).sum())])
            to = int(send_to[from_rank])
            measured.baseline.append((index, from_rank, to, network.alone(from_rank, to, size)))
    if made.num_random[size_index] < made.rounds and not made.complete:
        return measured
    for repeat in range(made.num_repeats):
        for index, name in enumerate(made.named):
            add(network.named(name), OF_NAME, index, repeat, 0)
    worst = max((float(times.sum()) for times in measured.time_ns), default=0)
    for step in range(made.num_worst):
        taken = add(network.matching(_FIRST_WORST + step), WORST, step, 0, 0) * (1 + 0.05 * step)
        if taken > worst:
            measured.time_ns[-1], worst = measured.time_ns[-1] * (1 + 0.05 * step), taken
            measured.facts[-1] = (WORST, step, 0, 1)
    return measured


def write_bisection(path: Path, made: MadeUpBisection) -> Path:
    """The file, complete or as a killed run leaves it."""
    network = Network(made)
    with h5py.File(path, "w") as file:
        _write_head(file, made)
        _make_room(file, made)
        summary: dict[str, Any] = {"benchmark": "bisection", "findings": made.findings, "sizes": [],
                                   "slow_connections": []}  # fmt: skip
        for size_index, size in enumerate(made.sizes):
            columns = _columns_of(made, network, size_index)
            if made.lost_ranks and columns.time_ns and not any(made.num_random[size_index + 1 :]):
                columns.time_ns[-1][np.isin(columns.send_to[-1], made.lost_ranks)] = 0
            _write_columns(file, size_index, size, columns)
            summary["sizes"].append({"size_index": size_index, "stopped_by": made.stopped_by[size_index]})
            summary["slow_connections"] += _slow_connections(network, size_index, size, columns)
        if made.complete:
            file["summary"] = json.dumps(summary)
    return path


def _write_head(file: h5py.File, made: MadeUpBisection) -> None:
    options = {
        "pattern": ",".join(["random", *made.named]), "seed": str(made.seed), "within_hosts": "false",
        "active_ranks_per_host": "0",
        "exchanges": "20", "warmup": "2", "rounds": str(made.rounds), "repeat": str(made.num_repeats),
        "precision": "0.01", "time_limit": "120", "baseline_pairs": str(made.num_baseline),
        "worst": str(made.num_worst), "retest": "3", "threshold": "0.2", "buckets": "10",
    }  # fmt: skip
    write_head(file, made, "bisection", options, {}, "eth0")
    facts = {"num_participants": np.int64(len(made.hosts)), "num_exchanges": np.int64(20), "seed": np.uint64(made.seed),
             "within_hosts": np.int32(made.within_hosts or len(set(made.hosts)) == 1)}  # fmt: skip
    file.create_group("bisection").attrs.update(facts)
    if made.named:
        file["bisection/pattern_names"] = np.array([name.encode() for name in made.named], dtype="S64")


def _make_room(file: h5py.File, made: MadeUpBisection) -> None:
    table = (len(made.sizes), made.num_patterns)
    matrix = (len(made.sizes), len(made.hosts), made.num_patterns)
    kinds = {"kind": "<i4", "index": "<u8", "repeat": "<i4", "accepted": "u1", "num_connections": "<u8",
             "slowest_from": "<i4", "slowest_to": "<i4", "begin_s": "<f8", "measuring_s": "<f8"}  # fmt: skip
    kinds |= {f"bytes_per_s_{which}": "<f8" for which in SPEEDS}
    make_room(file.create_group("bisection/patterns"), {name: (table, kind) for name, kind in kinds.items()})
    if made.num_baseline:
        room = (len(made.sizes), made.rounds * made.num_baseline)
        kinds = {"number": "<u8", "from": "<i4", "to": "<i4", "time_ns": "<f8"}
        make_room(file.create_group("bisection/baseline"), {name: (room, kind) for name, kind in kinds.items()})
    kinds = {"send_to": "<i4", "receive_from": "<i4", "time_ns": "<f8", "full_load_time_ns": "<f8"}
    make_room(file["bisection"], {name: (matrix, kind) for name, kind in kinds.items()})


def _write_columns(file: h5py.File, size_index: int, size: int, columns: Columns) -> None:
    num = len(columns.send_to)
    if not num:
        return
    send_to, times = np.array(columns.send_to), np.array(columns.time_ns)
    receive_from, received = np.full(send_to.shape, -1), np.zeros(times.shape)
    for row, of_pattern in enumerate(send_to):
        sends = np.flatnonzero(of_pattern >= 0)
        receive_from[row, of_pattern[sends]] = sends
        received[row, of_pattern[sends]] = times[row, sends]
    group = file["bisection"]
    group["send_to"][size_index, :, :num] = send_to.T
    group["receive_from"][size_index, :, :num] = receive_from.T
    group["time_ns"][size_index, :, :num] = received.T
    group["full_load_time_ns"][size_index, :, :num] = 1.04 * received.T
    table = group["patterns"]
    for name, column in zip(("kind", "index", "repeat", "accepted"), zip(*columns.facts, strict=True), strict=True):
        table[name][size_index, :num] = column
    rows = [_numbers_of(of_pattern, of_times, size, row)
            for row, (of_pattern, of_times) in enumerate(zip(send_to, times, strict=True))]  # fmt: skip
    for name in rows[0]:
        table[name][size_index, :num] = [row[name] for row in rows]
    if columns.baseline:
        for name, column in zip(("number", "from", "to", "time_ns"), zip(*columns.baseline, strict=True), strict=True):
            group[f"baseline/{name}"][size_index, : len(column)] = column


def _numbers_of(send_to: np.ndarray, times: np.ndarray, size: int, row: int) -> dict[str, float]:
    there = times > 0
    speeds = 1e9 * size / times[there]
    slowest = int(np.flatnonzero(there)[np.argmin(speeds)])
    return {
        "num_connections": int((send_to >= 0).sum()), "slowest_from": slowest, "slowest_to": int(send_to[slowest]),
        "bytes_per_s_mean": speeds.mean(), "bytes_per_s_harmonic": 1e9 * size / times[there].mean(),
        "bytes_per_s_min": speeds.min(), "bytes_per_s_max": speeds.max(), "bytes_per_s_full_load": speeds.mean() / 1.04,
        "begin_s": 0.02 * row, "measuring_s": 0.015,
    }  # fmt: skip


def _slow_connections(network: Network, size_index: int, size: int, columns: Columns) -> list[dict[str, Any]]:
    """The three slowest connections of random patterns, and alone."""
    found = []
    for number, (send_to, times) in enumerate(zip(columns.send_to, columns.time_ns, strict=True)):
        if columns.facts[number][0] == RANDOM:
            slowest = int(np.argmax(times))
            found.append((float(times[slowest]), number, slowest, int(send_to[slowest])))
    alone = np.median([time_ns for *_, time_ns in columns.baseline]) if columns.baseline else np.nan
    entries = []
    for time_ns, number, from_rank, to in sorted(found, reverse=True)[:3]:
        again = network.alone(from_rank, to, size)
        entries.append({"size_index": size_index, "number": number, "from": from_rank, "to": to, "time_ns": time_ns,
                        "alone_time_ns": again, "slow_alone": bool(alone / again < 0.8)})  # fmt: skip
    return entries


def even() -> MadeUpBisection:
    """Sixteen ranks of sixteen hosts, nothing wrong but what crosses."""
    return MadeUpBisection(nodes(16, 1), leaf=4)


def slow_host() -> MadeUpBisection:
    """64 ranks on 16 hosts, of which one is slow; two sizes, named patterns, a search; a warning of the run itself."""
    findings = [
        {"id": "not_bound", "severity": "warning", "message": "Ranks are not bound.", "evidence": "8 ranks on node00",
         "advice": "Bind them."},
    ]  # fmt: skip
    return MadeUpBisection(
        nodes(16, 4), [65536, 1 << 20], [124, 85], 200, list(NAMED), 2, 12, 2, slow_hosts={"node05": 3.0},
        slow_together={(3, 40): 9.0}, stopped_by=["precision", "time_limit"], findings=findings,
    )  # fmt: skip


def slow_rank() -> MadeUpBisection:
    """One rank of 32 is slow, and one connection only under load."""
    return MadeUpBisection(nodes(8, 4), slow_ranks={9: 4.0}, stopped_by=["rounds"], num_random=[100])


def killed() -> MadeUpBisection:
    """Killed with 31 patterns of the second of three sizes, and a rank wrote nothing in the last one."""
    return MadeUpBisection(
        nodes(8, 2), [1024, 65536, 1 << 20], [40, 31, 0], 100, ["halves"], stopped_by=["", "", ""], lost_ranks=[5],
        complete=False, reason="rank 5 on node02 was lost in pattern random 30, 64 KiB",
    )  # fmt: skip


def never_begun() -> MadeUpBisection:
    """Killed before its first pattern."""
    return MadeUpBisection(nodes(4, 2), num_random=[0], complete=False, stopped_by=[""])


def only_named() -> MadeUpBisection:
    """Without a random pattern, without a baseline; ranks of one host."""
    return MadeUpBisection(nodes(1, 8), num_random=[0], rounds=0, named=["halves", "shift:1", "shift:2"],
                           num_baseline=0, stopped_by=["not_stopped"])  # fmt: skip


def two_ranks() -> MadeUpBisection:
    """One pair, which is its own baseline."""
    return MadeUpBisection(["laptop"] * 2, num_random=[20], leaf=2, rounds=20)


def odd() -> MadeUpBisection:
    """Seven ranks on one host: one rests in each pattern."""
    return MadeUpBisection(["laptop"] * 7, num_random=[30], leaf=8)


def like_a_fat_tree() -> MadeUpBisection:
    """64 hosts with one rank each: what leadline simulate has as fat-tree:8x8, d-mod-k."""
    return MadeUpBisection(nodes(64, 1), num_random=[90], named=["halves", "shift:3"])


def many_sizes() -> MadeUpBisection:
    """A sweep of sizes."""
    sizes = [1 << power for power in range(6, 23, 2)]
    return MadeUpBisection(nodes(32, 1), sizes, [24 + 3 * index for index in range(len(sizes))],
                           stopped_by=["precision"] * len(sizes))  # fmt: skip


def hostile_names() -> MadeUpBisection:
    """Texts that would do something if they got out of their place."""
    names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "a&b\"c'd", "${7*7}{{7*7}}"]
    findings = [{"id": "<b>", "severity": "warning\" onclick=\"x", "message": "<script>alert(4)</script>",
                 "evidence": "]]>-->", "advice": "<!--"}]  # fmt: skip
    return MadeUpBisection(names, num_random=[20], leaf=2, findings=findings, named=["halves", "<b>x</b>:1"],
                           slow_hosts={names[1]: 5.0},
                           command_line=["leadline", "bisection", "</title><script>alert(3)</script>"],
                           provenance={"transport": "<u>tcp</u>"}, options={"output": "<i>x</i>"})  # fmt: skip


MADE_UP_BISECTIONS: dict[str, Callable[[], MadeUpBisection]] = {
    made.__name__: made
    for made in (
        even, slow_host, slow_rank, killed, never_begun, only_named, two_ranks, odd, like_a_fat_tree, many_sizes,
        hostile_names,
    )
}  # fmt: skip


def read_all(result: BisectionResult) -> None:
    """Whatever is read only when it is asked for."""
    for size_index, size in enumerate(result.message_sizes_bytes):
        patterns = result.patterns(size)
        result.baseline(size)
        for first, end in result.rank_blocks(len(patterns)):
            numbers = (0, len(patterns))
            result.reader.partners(size_index, "send_to", (first, end), numbers)
            result.reader.partners(size_index, "receive_from", (first, end), numbers)
            result.reader.times(size_index, "time_ns", (first, end), numbers)


def loaded(made: MadeUpBisection, folder: Path) -> leadline.BisectionResult:
    return leadline.load_bisection(write_bisection(folder / "run.h5", made))
