# SPDX-License-Identifier: Apache-2.0
"""Made-up results of the topology test, written as docs/formats/hdf5.md says; times come from a simple network."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from made_up import make_room, nodes, write_head
from made_up_diagnosis import diagnosis, fault, joined

import leadline

NETTEST = ["star", "star2", "complete", "complete2", "ring", "ring2"]
LATENCY_NS, BYTES_PER_NS, BARRIER_NS = 2_000.0, 1.0, 3_000.0
LOAD_ROOM = 4096


@dataclass
class MadeUpTopologies:
    """What is to be in a file; the faults are factors on the times of messages."""

    hosts: list[str]
    topologies: list[str] = field(default_factory=lambda: list(NETTEST))
    sizes: list[int] = field(default_factory=lambda: [1024, 16384, 262144])
    num_repeats: int = 2
    num_iterations: int = 20
    slow_hosts: dict[str, float] = field(default_factory=dict)
    slow_channels: dict[tuple[int, int], float] = field(default_factory=dict)  # (from, to)
    num_cells: int | None = None  # measured before the run was interrupted; None = all
    lost_ranks: list[int] = field(default_factory=list)  # without rows in the last measured cell
    has_trace: bool = True
    complete: bool = True
    reason: str = "still running, or killed without a word"
    load: list[tuple[float, ...]] | None = None  # rows of /load, in the order of LOAD_COLUMNS
    findings: list[dict[str, str]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    command_line: list[str] = field(default_factory=lambda: ["leadline", "topology", "--output", "a b.h5"])


LOAD_COLUMNS = ("topology_index", "size_index", "repeat", "begin_s", "elapsed_s", "num_exchanges", "num_verified",
                "time_ns_median", "time_ns_max")  # fmt: skip


@dataclass
class Channels:
    """One topology: its facts and every rank's ends of channels, as the engine lists them."""

    shape: str
    mode: str
    partners: list[np.ndarray]
    starts: list[np.ndarray]
    extents: list[int] = field(default_factory=list)

    @property
    def row_start(self) -> np.ndarray:
        """Where each rank's channels begin, [N + 1]."""
        return np.concatenate([[0], np.cumsum([len(one) for one in self.partners])])

    @property
    def num_ways(self) -> int:
        """Messages that a channel carries in an exchange."""
        return 1 if self.mode == "one-way" else 2


def channels_of(name: str, num_ranks: int) -> Channels:
    """A topology by its name: star, star:3, complete, ring, halves, incast (one way) with or without a 2."""
    word, _, argument = name.partition(":")
    shape, is_both = word.rstrip("2"), word.endswith("2")
    rank = np.arange(num_ranks)
    if shape == "star":
        centre = int(argument or 0)
        partners = [rank[rank != centre] if one == centre else np.array([centre]) for one in rank]
        starts = [np.full(len(partners[one]), one == centre) for one in rank]
        mode = "both-ways" if is_both or argument else "answered"
    elif shape == "complete":
        partners = [rank[rank != one] for one in rank]
        starts = [partners[one] > one for one in rank]
        mode = "both-ways" if is_both else "answered"
    elif shape == "ring":
        partners = [np.array([(one + 1) % num_ranks, (one - 1) % num_ranks]) for one in rank]
        starts = [np.array([True, False])] * num_ranks
        mode = "both-ways" if is_both else "phased"
    elif shape == "halves":
        half = num_ranks // 2
        partners = [np.array([(one + half) % (2 * half)])[: int(one < 2 * half)] for one in rank]
        starts = [np.array([one < half])[: int(one < 2 * half)] for one in rank]
        mode = "both-ways"
    elif shape == "incast":
        partners = [rank[1:] if one == 0 else np.array([0]) for one in rank]
        starts = [np.full(len(partners[one]), one != 0) for one in rank]
        mode = "one-way"
    else:
        raise ValueError(name)
    return Channels(shape, mode, partners, starts)


class Network:
    """How long messages take: latency and one port a rank, which they pass one after the other."""

    def __init__(self, made: MadeUpTopologies) -> None:
        """The network of a result to be made up."""
        self.made, self.random = made, np.random.default_rng(7)
        self.factors = np.array([made.slow_hosts.get(host, 1.0) for host in made.hosts])

    def arrivals(self, channels: Channels, size: int) -> np.ndarray:
        """Of every row; 0 where nothing arrives."""
        row_start = channels.row_start
        to_rank = np.repeat(np.arange(len(channels.partners)), np.diff(row_start))
        partner, starts = np.concatenate(channels.partners), np.concatenate(channels.starts)
        place = np.arange(len(partner)) - row_start[to_rank]
        # A message waits for those before it at the ports of both ranks, each of which has its own speed.
        back = {pair: at for at, pair in enumerate(zip(to_rank.tolist(), partner.tolist(), strict=True))}
        of_partner = np.array([place[back[pair]] for pair in zip(partner.tolist(), to_rank.tolist(), strict=True)])
        here, there = self.factors[to_rank], self.factors[partner]
        ports = np.maximum((place + 1) * here, (of_partner + 1) * there)
        times = LATENCY_NS * np.maximum(here, there) + ports * size / BYTES_PER_NS
        times = np.where(starts & (channels.mode in ("answered", "phased")), 2 * times, times)
        for (from_rank, to), factor in self.made.slow_channels.items():
            times[(partner == from_rank) & (to_rank == to)] *= factor
        times = times * self.random.gamma(900, 1 / 900, times.shape)
        return np.where(starts & (channels.mode == "one-way"), 0, times)

    def rank_times(self, channels: Channels, arrivals: np.ndarray) -> np.ndarray:
        """The last message that a rank takes part in."""
        row_start = channels.row_start
        own = np.zeros(len(channels.partners))
        to_rank = np.repeat(np.arange(len(own)), np.diff(row_start))
        np.maximum.at(own, to_rank, arrivals)
        np.maximum.at(own, np.concatenate(channels.partners), arrivals)
        return 1.02 * own


def write_topologies(path: Path, made: MadeUpTopologies) -> Path:
    """The file, complete or as a killed run leaves it."""
    num_ranks = len(made.hosts)
    with h5py.File(path, "w") as file:
        _write_head(file, made)
        summary: dict[str, Any] = {"benchmark": "topology", "findings": made.findings, "cells": []}
        network, num_left = Network(made), made.num_cells
        all_channels = [channels_of(name, num_ranks) for name in made.topologies]
        for index, (name, channels) in enumerate(zip(made.topologies, all_channels, strict=True)):
            _write_channels(file.create_group(f"topologies/{index:04d}"), name, channels)
        if made.load is not None:
            _write_load(file, made.load)
        else:
            for index, channels in enumerate(all_channels):
                _make_room(file[f"topologies/{index:04d}"], made, channels)
            for repeat in range(made.num_repeats):
                for size_index in range(len(made.sizes)):
                    for index, channels in enumerate(all_channels):
                        if num_left is not None:
                            num_left -= 1
                            if num_left < 0:
                                continue
                        lost = made.lost_ranks if num_left == 0 else []
                        _write_cell(file[f"topologies/{index:04d}"], made, network, channels, repeat, size_index, lost)
        if made.complete:
            judged = [one for one in _diagnoses(made) if not one["diagnosis"]["untested"]]
            faults = judged[0]["diagnosis"]["faults"] if judged else []
            of_all = [joined(0, index, len(judged), len(judged), "complete2") for index in range(len(faults))]
            file["summary"] = json.dumps(summary | {"diagnoses": _diagnoses(made), "faults": of_all})
    return path


def _diagnoses(made: MadeUpTopologies) -> list[dict[str, Any]]:
    """What the engine would say: of complete2 that the slow hosts are so, of the others nothing."""
    hosts = list(dict.fromkeys(made.hosts))
    entries = []
    for name in made.topologies if made.load is None else ():
        is_judged = name == "complete2" and made.has_trace
        for index, size in enumerate(made.sizes):
            faults = [fault("host", f"host {one}", hosts.index(one), ratio) for one, ratio in made.slow_hosts.items()]
            said = diagnosis(*faults if is_judged else (), untested=None if is_judged else "ranks have few partners")
            entries.append({"repeat": 0, "size_index": index, "message_size_bytes": size, "pattern": name,
                            "diagnosis": said})  # fmt: skip
    return entries


def _write_head(file: h5py.File, made: MadeUpTopologies) -> None:
    options = {
        "pattern": ",".join(made.topologies), "mode": "both-ways", "iterations": str(made.num_iterations),
        "warmup": "10", "traced": "10" if made.has_trace else "0", "repeat": str(made.num_repeats),
        "max_outstanding": "0", "shared_buffers": "false", "duration": "0", "verify_every": "1", "verify": "false",
        "print": "total", "edges": "",
    }  # fmt: skip
    write_head(file, made, "topology", options, {}, "eth0")


def _write_channels(group: h5py.Group, name: str, channels: Channels) -> None:
    row_start = channels.row_start
    group.attrs.update({
        "name": name, "shape": channels.shape, "mode": channels.mode, "num_channels": np.int64(row_start[-1] // 2),
        "max_channels_rank": np.int32(np.diff(row_start).max()), "num_ways": np.int32(channels.num_ways),
    })  # fmt: skip
    if channels.extents:
        group["extents"] = np.array(channels.extents, dtype=np.int32)
    group["row_start"] = row_start.astype(np.int64)
    group["partner"] = np.concatenate(channels.partners).astype(np.int32)
    group["starts"] = np.concatenate(channels.starts).astype(np.uint8)


def _make_room(group: h5py.Group, made: MadeUpTopologies, channels: Channels) -> None:
    widths = {"arrival_time_ns": int(channels.row_start[-1])}
    widths |= {f"rank_time_ns_{which}": len(made.hosts) for which in ("min", "median", "mean", "p99", "max")}
    widths |= dict.fromkeys(("exchange_time_ns", "exchange_with_barrier_time_ns"), made.num_iterations)
    room = {name: ((made.num_repeats, len(made.sizes), width), "<f8") for name, width in widths.items()}
    make_room(group, room | {"num_served": ((made.num_repeats, len(made.sizes), len(made.hosts)), "<i4")})


def _write_cell(
    group: h5py.Group, made: MadeUpTopologies, network: Network, channels: Channels, repeat: int, size_index: int,
    lost: list[int],
) -> None:  # fmt: skip
    arrivals = network.arrivals(channels, made.sizes[size_index])
    own = network.rank_times(channels, arrivals)
    to_rank = np.repeat(np.arange(len(own)), np.diff(channels.row_start))
    own[lost] = 0
    at = (repeat, size_index)
    is_served = ~np.isin(to_rank, lost) & ~np.isin(np.concatenate(channels.partners), lost)
    group["num_served"][at] = np.bincount(to_rank[is_served], minlength=len(own))
    group["arrival_time_ns"][at] = np.where(np.isin(to_rank, lost), 0, arrivals) if made.has_trace else 0.0
    for which, factor in {"min": 0.9, "median": 1.0, "mean": 1.05, "p99": 1.6, "max": 2.0}.items():
        group[f"rank_time_ns_{which}"][at] = own * factor
    exchange = own.max() * network.random.gamma(400, 1 / 400, made.num_iterations)
    group["exchange_time_ns"][at] = exchange
    group["exchange_with_barrier_time_ns"][at] = exchange + BARRIER_NS * np.log2(len(own))


def _write_load(file: h5py.File, rows: list[tuple[float, ...]]) -> None:
    columns = list(zip(*rows, strict=True)) or [()] * len(LOAD_COLUMNS)
    for name, column in zip(LOAD_COLUMNS, columns, strict=True):
        kind = "u8" if name.startswith("num") else "f8" if "_s" in name or "_ns" in name else "i4"
        room = np.zeros(LOAD_ROOM, dtype=kind)
        room[: len(column)] = column
        file[f"load/{name}"] = room


def even() -> MadeUpTopologies:
    """Eight ranks of two hosts, nothing wrong."""
    return MadeUpTopologies(nodes(2, 4))


def slow_host_of_eight() -> MadeUpTopologies:
    """64 ranks on eight hosts, of which one takes three times as long; a warning of the run itself."""
    findings = [
        {"id": "not_bound", "severity": "warning", "message": "Ranks are not bound.", "evidence": "8 ranks on node00",
         "advice": "Bind them."},
    ]  # fmt: skip
    sizes = [64, 1024, 16384, 262144, 1 << 20]
    return MadeUpTopologies(nodes(8, 8), sizes=sizes, slow_hosts={"node05": 3.0}, findings=findings)


def slow_message() -> MadeUpTopologies:
    """One direction of one channel is slow."""
    return MadeUpTopologies(nodes(8, 2), ["complete2", "ring2"], slow_channels={(3, 4): 6.0})


def killed() -> MadeUpTopologies:
    """Twenty of 36 cells are measured, and in the last one a rank wrote nothing."""
    return MadeUpTopologies(nodes(2, 4), num_cells=20, lost_ranks=[6], complete=False,
                            reason="rank 6 on node01 was lost in ring, 16 KiB")  # fmt: skip


def never_begun() -> MadeUpTopologies:
    """Killed before its first cell."""
    return MadeUpTopologies(nodes(2, 4), num_cells=0, complete=False)


def untraced() -> MadeUpTopologies:
    """Without a time to arrival, as --traced 0 leaves it."""
    return MadeUpTopologies(nodes(2, 4), has_trace=False)


def each_star() -> MadeUpTopologies:
    """A star around every rank, of which those of one host are slow."""
    names = [f"star:{centre}" for centre in range(16)]
    return MadeUpTopologies(nodes(4, 4), names, [1024, 65536], 1, slow_hosts={"node02": 5.0})


def one_way() -> MadeUpTopologies:
    """Five ranks that send to one, and pairs that meet nobody else."""
    return MadeUpTopologies(nodes(3, 2), ["incast", "halves2"], [4096], 1)


def under_load() -> MadeUpTopologies:
    """Two minutes of load, the last third of it slower."""
    rows, begin_s, random = [], 0.0, np.random.default_rng(3)
    for point in range(60):
        index, size_index = point % 2, point // 2 % 2
        time_ns = [40e3, 700e3][size_index] * (1.6 if point >= 40 else 1.0) * float(random.gamma(900, 1 / 900))
        num = int(2e9 / time_ns)
        rows.append((index, size_index, point // 4, begin_s, 2.0, num, num, time_ns, 3 * time_ns))
        begin_s += 2.01
    options = {"duration": "120", "verify_every": "1"}
    return MadeUpTopologies(nodes(2, 4), ["complete2", "ring2"], [4096, 65536], load=rows, options=options)


def corrupted() -> MadeUpTopologies:
    """A load that met a wrong byte."""
    made = under_load()
    made.load = made.load[:7] if made.load else None
    made.complete = False
    made.reason = "rank 3 on node00 received a wrong byte from rank 2 in exchange 812 of ring2, 64 KiB, byte 17"
    return made


def hostile_names() -> MadeUpTopologies:
    """Texts that would do something if they got out of their place."""
    names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "a&b\"c'd", "${7*7}{{7*7}}"]
    findings = [{"id": "<b>", "severity": "warning\" onclick=\"x", "message": "<script>alert(4)</script>",
                 "evidence": "]]>-->", "advice": "<!--"}]  # fmt: skip
    return MadeUpTopologies(names, ["ring2", "complete2"], [1024], 1, findings=findings,
                            command_line=["leadline", "topology", "</title><script>alert(3)</script>"],
                            provenance={"transport": "<u>tcp</u>"}, options={"output": "<i>x</i>"})  # fmt: skip


MADE_UP_TOPOLOGIES: dict[str, Callable[[], MadeUpTopologies]] = {
    made.__name__: made
    for made in (
        even, slow_host_of_eight, slow_message, killed, never_begun, untraced, each_star, one_way, under_load,
        corrupted, hostile_names,
    )
}  # fmt: skip


def loaded(made: MadeUpTopologies, folder: Path) -> leadline.TopologyResult:
    return leadline.load_topology(write_topologies(folder / "run.h5", made))
