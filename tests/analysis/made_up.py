# SPDX-License-Identifier: Apache-2.0
"""What made-up results of all benchmarks have in common: the head of the file, and hosts with ranks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import h5py
import numpy as np


class MadeUpRun(Protocol):
    """What there is to say about a run of any benchmark."""

    hosts: list[str]
    sizes: list[int]
    complete: bool
    reason: str
    command_line: list[str]
    options: dict[str, str]
    provenance: dict[str, Any]


def write_head(
    file: h5py.File, made: MadeUpRun, benchmark: str, options: Mapping[str, str], provenance: Mapping[str, Any],
    device: str,
) -> None:  # fmt: skip
    """Of docs/formats/hdf5.md all that stands under "Of every run", but the summary. `options` and `provenance` are
    what its benchmark adds to it; the result's own win.
    """
    num_ranks = len(made.hosts)
    file.attrs.update({"format": "leadline", "format_version": np.int32(1), "benchmark": benchmark, "nonce": "a1b2c3"})
    file["status/complete"] = np.uint8(made.complete)
    file["status/reason"] = np.bytes_(made.reason.encode()[:1024].ljust(1024, b"\0"))
    origin = {
        "version": "0.1.0", "commit": "0123abc", "command_line": json.dumps(made.command_line),
        "start_utc": "2026-01-31T23:59:00Z", "launcher": "local", "kernel": "Linux 6.1.0 x86_64",
        "transport": "tcp", "transport_library": "sockets", "transport_device": device, "simulated": np.int32(0),
        "clock_source": "CLOCK_MONOTONIC (tsc)", "clock_resolution_ns": 1.0, "clock_cost_ns": 21.5, "wait": "spin",
        "control_plane_on_loopback": np.int32(0), "num_ranks": np.int32(num_ranks),
        "num_hosts": np.int32(len(set(made.hosts))),
    }  # fmt: skip
    if made.complete:
        origin["end_utc"] = "2026-01-31T23:59:12Z"
    file.create_group("provenance").attrs.update({**origin, **provenance, **made.provenance})
    file.create_group("options").attrs.update({**options, **made.options})
    file["message_size_bytes"] = np.array(made.sizes, dtype=np.uint64)
    file["ranks/host"] = np.array([host.encode() for host in made.hosts], dtype="S64")
    file["ranks/device"] = np.array([device.encode()] * num_ranks, dtype="S64")
    file["ranks/cpus"] = np.array([f"{rank}".encode() for rank in range(num_ranks)], dtype="S128")
    file["ranks/pid"] = np.arange(1000, 1000 + num_ranks, dtype=np.int32)
    file["ranks/num_cpus"] = np.ones(num_ranks, dtype=np.int32)
    file["ranks/numa_node"] = np.full(num_ranks, -1, dtype=np.int32)


def make_room(group: h5py.Group, shapes: Mapping[str, tuple[Sequence[int], Any]]) -> None:
    """Datasets as the engine makes them, early and never filled: of each name its shape and type."""
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    early.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    for name, (shape, kind) in shapes.items():
        space = h5py.h5s.create_simple(tuple(shape))
        h5py.h5d.create(group.id, name.encode(), h5py.h5t.py_create(np.dtype(kind)), space, early)


def nodes(num_hosts: int, ranks_per_host: int) -> list[str]:
    """Host names of ranks that are dealt out host after host."""
    return [f"node{index:02d}" for index in range(num_hosts) for _ in range(ranks_per_host)]
