# SPDX-License-Identifier: Apache-2.0
"""Writes what was measured as the program writes it (docs/formats/hdf5.md), and the truth beside it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt
from cluster import Cluster
from elements import Ints
from exchanges import MeasuredExchanges
from faults import truth
from forwarding import fabric_text, tables_text
from measuring import COMPACT_FROM_RANKS, Measured, num_rounds
from noise import Singles
from patterns import MeasuredPatterns


@dataclass(frozen=True)
class Files:
    """One simulated run on the disk; `topology` is None where nothing is known of the network."""

    result: Path
    truth: Path
    topology: Path | None
    routes: Path | None = None


AnyMeasured = Measured | MeasuredPatterns | MeasuredExchanges


def write(measured: AnyMeasured, folder: Path, topology: str = "") -> Files:
    """Result and truth; with `topology` "slurm", "cables" or "tables" (the fabric, and forwarding tables) that, too."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = (folder / "topology" if topology else None, folder / "tables" if topology == "tables" else None)
    files = Files(folder / "result.h5", folder / "truth.json", *paths)
    with h5py.File(files.result, "w", libver=("earliest", "v110")) as file:
        if isinstance(measured, MeasuredPatterns):
            _write_patterns(file, measured)
        elif isinstance(measured, MeasuredExchanges):
            _write_exchanges(file, measured)
        else:
            _write_link(file, measured)
    cluster = measured.cluster
    told = {
        "network": cluster.network.kind,
        "num_ranks": cluster.num_ranks,
        "ranks_per_host": cluster.layout.ranks_per_host,
        "hosts": [cluster.host_name(host) for host in range(cluster.num_hosts)],
        "host_of_rank": cluster.host_of(np.arange(cluster.num_ranks, dtype=np.int32)).tolist(),
        "noise": asdict(measured.noise),
        "planted": truth(cluster, measured.faults),
    }
    files.truth.write_text(json.dumps(told, indent=1) + "\n")
    if files.routes and files.topology:
        files.topology.write_text(fabric_text(cluster))
        files.routes.write_text(tables_text(cluster))
    elif files.topology:
        files.topology.write_text(cluster.topology_text(topology == "cables"))
    return files


def _write_link(file: h5py.File, measured: Measured) -> None:
    plan, num = measured.plan, measured.cluster.num_ranks
    is_compact = num >= COMPACT_FROM_RANKS
    options = {
        "messages": str(plan.num_batches * measured.noise.messages_per_batch), "warmup": "10",
        "batches": str(plan.num_batches), "direction": plan.direction,
        "statistics": "compact" if is_compact else "full", "retest": str(plan.num_retests),
    }  # fmt: skip
    _write_head(file, measured, "link", 2 if is_compact else 1, options)
    file["provenance"].attrs.update({"num_rounds": np.int64(num_rounds(num)), "direction": plan.direction})
    file["summary"] = json.dumps({"format": "leadline-summary", "findings": [], "slices": []})
    _write_matrices(file, measured)
    _write_retests(file, measured)


def _write_patterns(file: h5py.File, measured: MeasuredPatterns) -> None:
    plan, num = measured.plan, measured.cluster.num_ranks
    _write_head(file, measured, "bisection", 1, {"rounds": str(plan.num_patterns)})
    group = file.create_group("bisection")
    group.attrs.update({
        "num_participants": np.int64(num), "num_exchanges": np.int64(plan.num_exchanges), "seed": np.uint64(plan.seed),
        "within_hosts": np.int32(measured.cluster.num_hosts == 1), "max_patterns": np.uint64(plan.num_patterns),
    })  # fmt: skip
    group["patterns/measuring_s"] = np.full((1, plan.num_patterns), 0.1)
    group["patterns/kind"] = np.zeros((1, plan.num_patterns), dtype=np.int32)
    for name in ("receive_from", "send_to"):
        group[name] = measured.partner.T[None].astype(np.int32)
    group["time_ns"] = measured.time_ns.T[None]
    if measured.alone:
        for name, column, kind in (("from", 0, np.int32), ("to", 1, np.int32), ("time_ns", 2, float)):
            group[f"baseline/{name}"] = np.array([[one[column] for one in measured.alone]], dtype=kind)
    slow = [
        {"size_index": 0, "from": one, "to": other, "alone_time_ns": time_ns}
        for one, other, time_ns in measured.retests
    ]
    file["summary"] = json.dumps({"findings": [], "slow_connections": slow})


def _write_exchanges(file: h5py.File, measured: MeasuredExchanges) -> None:
    num = measured.cluster.num_ranks
    _write_head(file, measured, "topology", 1, {"max_outstanding": "0", "traced": "10"})
    group = file.create_group("topologies/0000")
    group.attrs.update({
        "name": "complete2", "shape": "complete", "mode": "both-ways", "num_channels": np.int64(num * (num - 1) // 2),
        "max_channels_rank": np.int32(num - 1), "num_ways": np.int32(2),
    })  # fmt: skip
    partner = np.array([[other for other in range(num) if other != rank] for rank in range(num)])
    group["row_start"] = np.arange(num + 1, dtype=np.int64) * (num - 1)
    group["partner"] = partner.ravel().astype(np.int32)
    group["starts"] = (partner > np.arange(num)[:, None]).ravel().astype(np.uint8)
    received = np.stack([measured.arrival_ns[:, :, partner[rank], rank] for rank in range(num)], axis=2)
    group["arrival_time_ns"] = received.reshape(*received.shape[:2], -1)
    group["exchange_time_ns"] = np.ones((*received.shape[:2], 10))
    alone = [
        {"topology_index": 0, "size_index": one.size_index, "from": one.one, "to": one.other, "time_ns": one.time_ns,
         "is_suspected": one.is_suspected}
        for one in measured.alone
    ]  # fmt: skip
    file["summary"] = json.dumps({"findings": [], "cells": [], "load": [], "pairs_alone": alone})


def _write_head(file: h5py.File, measured: AnyMeasured, benchmark: str, version: int, options: dict[str, str]) -> None:
    cluster, plan = measured.cluster, measured.plan
    file.attrs.update({"format": "leadline", "format_version": np.int32(version), "benchmark": benchmark})
    file.attrs["nonce"] = "simulated"
    file["status/complete"], file["status/reason"] = np.uint8(1), np.bytes_(b"".ljust(1024, b"\0"))
    sizes = ",".join(map(str, plan.sizes_bytes))
    words = ["leadline", benchmark, "--message-size", sizes, "--output", "result.h5"]
    file.create_group("provenance").attrs.update({
        "version": "0.1.0", "commit": "", "command_line": json.dumps(words), "launcher": "slurm",
        "start_utc": "2026-01-31T12:00:00Z", "end_utc": "2026-01-31T12:10:00Z", "kernel": "Linux 6.1.0 x86_64",
        "transport": "mpi", "transport_library": "none: computed", "transport_device": "", "simulated": np.int32(1),
        "clock_source": "CLOCK_MONOTONIC (tsc)", "clock_resolution_ns": max(measured.noise.timer_step_ns, 1.0),
        "clock_cost_ns": 20.0, "wait": "spin", "control_plane_on_loopback": np.int32(0),
        "num_ranks": np.int32(cluster.num_ranks), "num_hosts": np.int32(cluster.num_hosts),
    })  # fmt: skip
    file.create_group("options").attrs.update({**options, "message_size": sizes, "output": "result.h5"})
    file["message_size_bytes"] = np.array(plan.sizes_bytes, dtype=np.uint64)
    _write_ranks(file, cluster)


def _write_ranks(file: h5py.File, cluster: Cluster) -> None:
    ranks = np.arange(cluster.num_ranks, dtype=np.int32)
    place = cluster.place_of(ranks)
    file["ranks/host"] = np.array([cluster.host_name(int(host)) for host in cluster.host_of(ranks)], dtype="S64")
    file["ranks/device"] = np.full(ranks.size, b"", dtype="S64")
    file["ranks/cpus"] = place.astype("S128")
    file["ranks/pid"] = (4000 + place).astype(np.int32)
    file["ranks/num_cpus"] = np.ones(ranks.size, dtype=np.int32)
    is_told = cluster.layout.is_placement_told
    file["ranks/numa_node"] = cluster.socket_of(ranks) if is_told else np.full(ranks.size, -1, dtype=np.int32)


def _write_matrices(file: h5py.File, measured: Measured) -> None:
    num = measured.cluster.num_ranks
    group = file.create_group("repeats/0000")
    group.attrs.update({"repeat": np.int32(0), "permutation": np.int32(-1)})
    shape = (len(measured.slices), num, num)
    if num >= COMPACT_FROM_RANKS:
        pairs = group.create_dataset("pair", shape, "<u4")
        for index, one in enumerate(measured.slices):
            pairs[index] = compact(one.times_ns["median"], one.times_ns["p99"], measured.plan.num_batches)
        return
    group["round"] = _round_of_pairs(num)
    medians = np.stack([one.times_ns["median"] for one in measured.slices])
    group["count"] = np.where(medians > 0, measured.plan.num_batches, 0).astype(np.uint32)
    for name in measured.slices[0].times_ns:
        group[f"time_ns_{name}"] = np.stack([one.times_ns[name] for one in measured.slices]).astype(float)


def _round_of_pairs(num: int) -> Ints:
    """Numbered from 1; 0 on the diagonal. The same rounds as in pairs_of_round, for all pairs at once."""
    rounds = num_rounds(num)
    seat = np.arange(num)
    met = (seat[:, None] + seat[None, :]) % rounds + 1
    if num % 2 == 0:
        met[num - 1, :] = met[:, num - 1] = 2 * seat % rounds + 1
    np.fill_diagonal(met, 0)
    return met.astype(np.int32)


def compact(median_ns: Singles, p99_ns: Singles, count: int) -> npt.NDArray[np.uint32]:
    """Four bytes a pair, as docs/metrics.md defines them; counts up to 31."""
    if count > 31:
        raise ValueError("counts above 31 have a code of their own")
    num, made = median_ns.shape[0], np.zeros(median_ns.shape, dtype=np.uint32)
    for row in range(num):
        with np.errstate(divide="ignore"):
            code = np.clip(np.rint(1024 * (np.log2(median_ns[row].astype(float)) + 10)), 0, 65535).astype(np.uint32)
        ratio = np.maximum(p99_ns[row] / np.maximum(median_ns[row], 1e-3), 1)
        tail = np.clip(np.rint(16 * np.log2(ratio)), 0, 255).astype(np.uint32)
        made[row] = code << np.uint32(16) | tail << np.uint32(8) | np.uint32(count)
        made[row, row] = 1  # the schedule does not have it
    return made


def _write_retests(file: h5py.File, measured: Measured) -> None:
    told = [(index, one) for index, slice_ in enumerate(measured.slices) for one in slice_.retests]
    file["retest/repeat"] = np.zeros(len(told), dtype=np.int32)
    file["retest/size_index"] = np.array([index for index, _ in told], dtype=np.int32)
    file["retest/from"] = np.array([one.sender for _, one in told], dtype=np.int32)
    file["retest/to"] = np.array([one.receiver for _, one in told], dtype=np.int32)
    file["retest/time_ns"] = np.array([one.time_ns for _, one in told], dtype=float)
    file["retest/retest_time_ns"] = np.array([one.alone_ns for _, one in told], dtype=float)
