#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Writes a made-up result of any number of ranks, built as docs/formats/hdf5.md says, with faults where they are wanted.
"""Needs numpy and h5py. The file is written block by block, in memory that does not grow with the pairs."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
from dataclasses import dataclass

import h5py
import numpy as np

STATISTICS = ("min", "median", "mean", "p99", "max")
NUM_BATCHES = 20
MESSAGE_SIZE_BYTES = 1 << 20
SAME_HOST_NS, SAME_LEAF_NS, BETWEEN_LEAVES_NS = 61_000.0, 86_000.0, 97_000.0
HOSTS_OF_LEAF = 16
# Of so many pairs one is disturbed, with a time whose tail falls with the third power.
PAIRS_OF_A_DISTURBED_ONE = 1000
BLOCK_BYTES = 32 << 20


@dataclass(frozen=True)
class Fault:
    """What a factor is laid on: a host (its row and column), the pairs between two hosts, or one cell."""

    first: int
    second: int
    factor: float


@dataclass(frozen=True)
class Plan:
    """What to write."""

    num_ranks: int
    ranks_per_host: int
    is_cyclic: bool
    slow_hosts: tuple[Fault, ...]
    slow_links: tuple[Fault, ...]
    slow_cells: tuple[Fault, ...]
    statistics: tuple[str, ...]
    seed: int

    @property
    def num_hosts(self) -> int:
        return -(-self.num_ranks // self.ranks_per_host)

    def host_of(self) -> np.ndarray:
        rank = np.arange(self.num_ranks)
        return rank % self.num_hosts if self.is_cyclic else rank // self.ranks_per_host


class Times:
    """Makes the medians of some rows, and the other statistics around them."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._host_of = plan, plan.host_of()
        self._factor_of_host = np.ones(plan.num_hosts)
        for fault in plan.slow_hosts:
            self._factor_of_host[fault.first] = fault.factor

    def block(self, first: int, end: int) -> dict[str, np.ndarray]:
        """Every statistic of the rows, [rows, N] in ns; the diagonal is 0."""
        # Seeded by the row, so that the size of a block changes nothing but the numbers of its own first row.
        generator = np.random.default_rng((self._plan.seed, first))
        median = self._medians(generator, first, end)
        spread = np.exp(generator.standard_normal(median.shape, dtype=np.float32) * 0.02)
        made = {
            "median": median,
            "min": median * 0.97 * np.minimum(spread, 1),
            "mean": median * 1.02 * np.maximum(spread, 1),
            "p99": median * 1.10 * np.maximum(spread, 1),
        }
        made["max"] = median * 1.15 * np.maximum(spread, 1) if "max" in self._plan.statistics else median
        if "max" in self._plan.statistics:
            disturb(made["max"], generator, 100)
        return {name: made[name] for name in self._plan.statistics}

    def _medians(self, generator: np.random.Generator, first: int, end: int) -> np.ndarray:
        host, here = self._host_of, self._host_of[first:end]
        leaf = host // HOSTS_OF_LEAF
        median = np.exp(generator.standard_normal((end - first, host.size), dtype=np.float32) * 0.03).astype(float)
        median *= np.where(leaf[None, :] == leaf[first:end, None], SAME_LEAF_NS, BETWEEN_LEAVES_NS)
        median[here[:, None] == host[None, :]] *= SAME_HOST_NS / SAME_LEAF_NS
        disturb(median, generator, PAIRS_OF_A_DISTURBED_ONE)
        if self._plan.slow_hosts:
            median *= np.maximum(self._factor_of_host[here][:, None], self._factor_of_host[host][None, :])
        for link in self._plan.slow_links:
            for a, b in ((link.first, link.second), (link.second, link.first)):
                median[np.ix_(here == a, host == b)] *= link.factor
        for cell in self._plan.slow_cells:
            if first <= cell.first < end:
                median[cell.first - first, cell.second] = cell.factor * BETWEEN_LEAVES_NS
        if host.size > 1:
            median[np.arange(end - first), np.arange(first, end)] = 0
        return median


def disturb(times: np.ndarray, generator: np.random.Generator, one_of: int) -> None:
    """Lengthens one of so many times by a factor with a heavy tail."""
    at = generator.integers(0, times.size, times.size // one_of)
    times.reshape(-1)[at] *= 1 + 0.3 * (1 - generator.random(at.size)) ** (-1 / 3)


def rounds(num_ranks: int, first: int, end: int) -> np.ndarray:
    """The round in which each pair of these rows meets, by the circle method; 0 on the diagonal. int32 [rows, N]."""
    num_seats = num_ranks + num_ranks % 2
    row, column = np.arange(first, end)[:, None], np.arange(num_ranks)[None, :]
    met = (row + column) % max(num_seats - 1, 1) + 1
    last = num_seats - 1  # this seat stays where it is
    met = np.where(row == last, 2 * column % max(last, 1) + 1, met)
    met = np.where(column == last, 2 * row % max(last, 1) + 1, met)
    return np.where(row == column, 0, met).astype(np.int32)


def dataset_with_hole(file: h5py.File, name: str, shape: tuple[int, ...], kind: str) -> int:
    """A contiguous dataset with space and nothing in it; the place of its first byte."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_layout(h5py.h5d.CONTIGUOUS)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    properties.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    kind_of_file = h5py.h5t.py_create(np.dtype(kind), logical=True)
    space = h5py.h5s.create_simple(shape)
    return h5py.h5d.create(file.id, name.encode(), kind_of_file, space, properties).get_offset()


def write_head(file: h5py.File, plan: Plan) -> dict[str, int]:
    """All but the matrices; the places of these."""
    num_ranks = plan.num_ranks
    file.attrs.update({"format": "leadline", "format_version": np.int32(1), "benchmark": "link", "nonce": "made-up"})
    file["status/complete"], file["status/reason"] = np.uint8(1), np.bytes_(b"".ljust(1024, b"\0"))
    options = {"messages": "100", "warmup": "10", "batches": str(NUM_BATCHES), "direction": "semidirectional",
               "message_size": "1MiB", "output": "made-up.h5"}  # fmt: skip
    file.create_group("provenance").attrs.update({
        "version": "0.1.0", "commit": "made up", "start_utc": "2026-01-31T12:00:00Z", "end_utc": "2026-01-31T13:00:00Z",
        "command_line": json.dumps(["leadline", "link", "--message-size", "1MiB", "--output", "made-up.h5"]),
        "launcher": "slurm", "kernel": "Linux 6.1.0 x86_64", "transport": "mpi", "transport_library": "made up",
        "transport_device": "", "simulated": np.int32(1), "clock_source": "CLOCK_MONOTONIC (tsc)",
        "clock_resolution_ns": 1.0, "clock_cost_ns": 21.5, "wait": "spin", "control_plane_on_loopback": np.int32(0),
        "num_ranks": np.int32(num_ranks), "num_hosts": np.int32(plan.num_hosts),
        "num_rounds": np.int64(max(num_ranks + num_ranks % 2 - 1, 1)), "direction": "semidirectional",
    })  # fmt: skip
    file.create_group("options").attrs.update(options)
    file["message_size_bytes"] = np.array([MESSAGE_SIZE_BYTES], dtype=np.uint64)
    host_of, place = plan.host_of(), np.arange(num_ranks) % plan.ranks_per_host
    file["ranks/host"] = np.char.add("node", np.char.zfill((host_of + 1).astype(str), 4)).astype("S64")
    file["ranks/device"] = np.full(num_ranks, b"", dtype="S64")
    file["ranks/cpus"] = place.astype("S128")
    file["ranks/pid"] = (4000 + place).astype(np.int32)
    file["ranks/num_cpus"] = np.ones(num_ranks, dtype=np.int32)
    file["ranks/numa_node"] = (place * 8 // plan.ranks_per_host).astype(np.int32)
    group = file.create_group("repeats/0000")
    group.attrs.update({"repeat": np.int32(0), "permutation": np.int32(-1)})
    square = (num_ranks, num_ranks)
    places = {"round": dataset_with_hole(file, "repeats/0000/round", square, "<i4")}
    places["count"] = dataset_with_hole(file, "repeats/0000/count", (1, *square), "<u4")
    for name in STATISTICS:
        places[name] = dataset_with_hole(file, f"repeats/0000/time_ns_{name}", (1, *square), "<f8")
    write_retest(file, plan)
    finding = {"id": "simulated", "severity": "warning", "message": "These numbers are made up.",
               "evidence": "the transport is a random generator", "advice": "Measure on a real machine."}  # fmt: skip
    file["summary"] = json.dumps({"format": "leadline-summary", "findings": [finding], "slices": []})
    return places


def write_retest(file: h5py.File, plan: Plan) -> None:
    """The slow cells, slow alone too."""
    cells = sorted(plan.slow_cells, key=lambda cell: -cell.factor)
    for name, values in (
        ("repeat", [0] * len(cells)),
        ("size_index", [0] * len(cells)),
        ("from", [cell.first for cell in cells]),
        ("to", [cell.second for cell in cells]),
    ):
        file[f"retest/{name}"] = np.array(values, dtype=np.int32)
    time_ns = np.array([cell.factor * BETWEEN_LEAVES_NS for cell in cells], dtype=float)
    file["retest/time_ns"], file["retest/retest_time_ns"] = time_ns, time_ns * 0.98


def write(path: pathlib.Path, plan: Plan) -> None:
    """The whole file."""
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        places = write_head(file, plan)
    times, num_ranks = Times(plan), plan.num_ranks
    with path.open("r+b") as stream:
        # A file whose end is a hole has to be as long as its head says.
        os.ftruncate(stream.fileno(), max(os.fstat(stream.fileno()).st_size, places["max"] + 8 * num_ranks**2))
        num_rows = max(BLOCK_BYTES // (8 * num_ranks), 1)
        for first in range(0, num_ranks, num_rows):
            end = min(first + num_rows, num_ranks)
            met = rounds(num_ranks, first, end)
            blocks = {"round": met, "count": (met > 0) * np.uint32(NUM_BATCHES), **times.block(first, end)}
            if num_ranks == 1:
                blocks["count"][:] = NUM_BATCHES
            for name, block in blocks.items():
                stream.seek(places[name] + first * num_ranks * block.itemsize)
                stream.write(np.ascontiguousarray(block).data)


def fault(text: str) -> Fault:
    """`17=3`, `17:18=4`."""
    places, _, factor = text.partition("=")
    first, _, second = places.partition(":")
    return Fault(int(first), int(second or first), float(factor))


def parse(words: list[str]) -> tuple[pathlib.Path, Plan]:
    parser = argparse.ArgumentParser(description="Writes a made-up result with one message size and one repeat.")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=4096, metavar="N")
    parser.add_argument("--ranks-per-host", type=int, default=64, metavar="N")
    parser.add_argument("--cyclic", action="store_true", help="neighbouring ranks are on different hosts")
    parser.add_argument("--slow-host", type=fault, action="append", default=[], metavar="HOST=FACTOR")
    parser.add_argument("--slow-link", type=fault, action="append", default=[], metavar="HOST:HOST=FACTOR",
                        help="the pairs of two hosts, both ways")  # fmt: skip
    parser.add_argument("--slow-cell", type=fault, action="append", default=[], metavar="FROM:TO=FACTOR",
                        help="one ordered pair; the factor is on the usual time")  # fmt: skip
    parser.add_argument("--statistics", default=",".join(STATISTICS), metavar="NAME,NAME", help="the others stay holes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(words)
    statistics = tuple(options.statistics.split(","))
    if not set(statistics) <= set(STATISTICS) or "median" not in statistics:
        parser.error(f"--statistics wants some of {','.join(STATISTICS)}, and the median among them")
    if options.ranks < 1 or options.ranks_per_host < 1:
        parser.error("--ranks and --ranks-per-host begin at 1")
    plan = Plan(options.ranks, options.ranks_per_host, options.cyclic, tuple(options.slow_host),
                tuple(options.slow_link), tuple(options.slow_cell), statistics, options.seed)  # fmt: skip
    places = [(one, plan.num_hosts) for one in plan.slow_hosts + plan.slow_links]
    places += [(one, plan.num_ranks) for one in plan.slow_cells]
    if any(not (0 <= one.first < limit and 0 <= one.second < limit) for one, limit in places):
        parser.error("a fault lies outside the matrix")
    return options.output, plan


def main(words: list[str]) -> int:
    path, plan = parse(words)
    write(path, plan)
    left_out = [name for name in STATISTICS if name not in plan.statistics]
    print(f"{path}: {plan.num_ranks} ranks on {plan.num_hosts} hosts, {path.stat().st_size / 1e9:.1f} GB long" +
          (f"; holes: {', '.join(left_out)}" if left_out else ""))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
