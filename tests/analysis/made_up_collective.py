# SPDX-License-Identifier: Apache-2.0
"""Made-up results of the collective test, written as docs/formats/hdf5.md says; larger messages take longer."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from made_up import make_room, nodes, write_head

import leadline

STATISTICS = ("min", "median", "mean", "p99", "max")


@dataclass
class MadeUpCollective:
    """What is to be in a file."""

    hosts: list[str]
    operations: list[str] = field(default_factory=lambda: ["allreduce", "alltoall"])
    algorithm: str = "library"
    num_rounds: int = 3
    num_measured: int = 3
    num_batches: int = 4
    group_hosts: int = 0
    sizes: list[int] = field(default_factory=lambda: [1024, 4 << 20])
    complete: bool = True
    reason: str = "still running, or killed without a word"
    findings: list[dict[str, str]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    command_line: list[str] = field(default_factory=lambda: ["leadline", "collective"])

    @property
    def num_groups(self) -> int:
        """Of a round."""
        return len(set(self.hosts)) // self.group_hosts if self.group_hosts else 1

    def time_ns(self, operation: int, size: int) -> float:
        """The same in all batches."""
        return 20e3 * (operation + 1) + float(self.sizes[size])

    def cell(self, operation: int, size: int) -> dict[str, Any]:
        """As docs/formats/json.md says."""
        time_ns = self.time_ns(operation, size)
        rate = 1e9 * self.sizes[size] / time_ns
        return {
            "operation": self.operations[operation], "message_size_bytes": self.sizes[size],
            "num": self.num_measured * self.num_groups * self.num_batches,
            **{f"time_ns_{name}": time_ns for name in STATISTICS},
            "algorithm_bytes_per_s": rate, "bus_bytes_per_s": 1.5 * rate,
        }  # fmt: skip


def write_collective(path: Path, made: MadeUpCollective) -> Path:
    """The file, complete or as a killed run leaves it."""
    cells = (made.num_rounds, len(made.operations), len(made.sizes))
    num_ranks = len(made.hosts)
    with h5py.File(path, "w") as file:
        write_head(file, made, "collective", {"operation": ",".join(made.operations)}, {}, "eth0")
        group = file.create_group("collective")
        group.attrs.update({
            "algorithm": made.algorithm, "num_rounds": np.int32(made.num_rounds),
            "num_batches": np.int32(made.num_batches), "num_groups": np.int32(made.num_groups),
            "num_iterations": np.int64(20), "group_hosts": np.int32(made.group_hosts), "seed": np.uint64(1),
        })  # fmt: skip
        group["operations"] = np.array([name.encode() for name in made.operations], dtype="S32")
        make_room(group.create_group("groups"), {"time_ns": ((*cells, made.num_groups, made.num_batches), "<f8")})
        kinds = {f"time_ns_{name}": ((*cells, num_ranks), "<f8") for name in ("min", "median", "max")}
        make_room(group.create_group("ranks"), kinds)
        make_room(group.create_group("membership"), {"group": ((made.num_rounds, num_ranks), "<i4")})
        for one in range(made.num_measured):
            hosts = sorted(set(made.hosts))
            num = made.group_hosts or len(hosts)
            groups = [hosts.index(host) // num + 1 for host in made.hosts]
            group["membership/group"][one] = [index if index <= made.num_groups else 0 for index in groups]
            for operation in range(len(made.operations)):
                for size in range(len(made.sizes)):
                    time_ns = made.time_ns(operation, size)
                    group["groups/time_ns"][one, operation, size] = time_ns
                    for name in ("min", "median", "max"):
                        group[f"ranks/time_ns_{name}"][one, operation, size] = time_ns
        if made.complete:
            document = {
                "benchmark": "collective", "findings": made.findings, "algorithm": made.algorithm,
                "cells": [made.cell(operation, size) for operation in range(len(made.operations))
                          for size in range(len(made.sizes))],
            }  # fmt: skip
            file["summary"] = json.dumps(document)
    return path


def even() -> MadeUpCollective:
    """Two operations, two sizes."""
    return MadeUpCollective(nodes(4, 2))


def in_groups() -> MadeUpCollective:
    """A host is left over."""
    return MadeUpCollective(nodes(5, 2), group_hosts=2, algorithm="ring")


def killed() -> MadeUpCollective:
    """In its third round."""
    return MadeUpCollective(nodes(4, 1), num_measured=2, complete=False, reason="rank 1 on node01 died in round 3 of 3")


def never_begun() -> MadeUpCollective:
    """Before its first round."""
    return MadeUpCollective(nodes(4, 1), num_measured=0, complete=False)


def hostile_names() -> MadeUpCollective:
    """Names that would be markup, formulas or commands."""
    hosts = ["<b>host</b>", "=cmd", "a,b", "x"]
    return MadeUpCollective(hosts, operations=["<script>alert(1)</script>", "=sum"], algorithm="<i>mine</i>")


MADE_UP_COLLECTIVES: dict[str, Callable[[], MadeUpCollective]] = {
    made.__name__: made for made in (even, in_groups, killed, never_begun, hostile_names)
}


def loaded(made: MadeUpCollective, folder: Path) -> leadline.CollectiveResult:
    """What is read of it."""
    return leadline.load_collective(write_collective(folder / "run.h5", made))
