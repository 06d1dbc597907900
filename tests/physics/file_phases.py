# SPDX-License-Identifier: Apache-2.0
"""A file test as its physics have it. Ranks move bytes through their own call path, the adapter of their host and a
storage target, each of which shares its rate fairly among those that use it at a time. Elements scatter from phase to
phase, and calls now and then take very long. One host, rank or target is slow, or nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BYTES_OF_RANK = 64 << 20
RANK_RATE, HOST_RATE = 2e9, 12e9  # bytes/s


@dataclass(frozen=True)
class Storage:
    """Which rank is on which host, and which target its file lies on. `can_tell`: hosts, ranks and targets that could
    be named at all.
    """

    host_of: Ints
    target_of: Ints
    num_targets: int
    target_rate: float  # bytes/s
    can_tell: tuple[str, ...]
    are_targets_told: bool = True  # by their folders
    is_double: npt.NDArray[np.bool_] | None = None  # ranks that move twice the bytes

    @property
    def num_ranks(self) -> int:
        return self.host_of.size

    @property
    def bytes_of(self) -> Doubles:
        """By rank."""
        double = np.zeros(self.num_ranks) if self.is_double is None else self.is_double
        return np.asarray(BYTES_OF_RANK * (1.0 + double))


@dataclass(frozen=True)
class Planted:
    """What is slow, by which factor, and in which share of the phases."""

    kind: str  # "host", "rank", "target"
    number: int
    factor: float
    share_of_phases: float = 1.0


@dataclass(frozen=True)
class Scatter:
    """Of logarithms, but for the stalls."""

    of_elements: float = 0.02  # how equal ones differ, for the whole run
    of_phases: float = 0.06  # of an element from phase to phase
    of_ranks: float = 0.04
    stall_share: float = 0.02  # of ranks in a phase
    first_write: float = 1.6  # the first phase takes so many times as long: files are made


def fair_times(storage: Storage, rank_rate: Doubles, host_rate: Doubles, target_rate: Doubles) -> Doubles:
    """When each rank has moved its bytes: at any time all that are not done share by max-min fairness."""
    left = storage.bytes_of
    times, now = np.zeros(storage.num_ranks), 0.0
    active = np.ones(storage.num_ranks, dtype=bool)
    while active.any():
        rates = fair_rates(storage, active, rank_rate, host_rate, target_rate)
        step = float(np.min(left[active] / rates[active]))
        now += step
        left[active] -= rates[active] * step
        done = active & (left < 1e-6 * BYTES_OF_RANK)
        times[done] = now
        active &= ~done
    return times


def fair_rates(
    storage: Storage,
    active: npt.NDArray[np.bool_],
    rank_rate: Doubles,
    host_rate: Doubles,
    target_rate: Doubles,
) -> Doubles:
    """Progressive filling: all grow alike until something is full."""
    rates, growing = np.zeros(storage.num_ranks), active.copy()
    ends = ((storage.host_of, host_rate), (storage.target_of, target_rate))
    while growing.any():
        room = float(np.min(rank_rate[growing] - rates[growing]))
        for end_of, limit in ends:
            used = np.bincount(end_of[active], rates[active], limit.size)
            users = np.bincount(end_of[growing], minlength=limit.size)
            room = min(room, float(np.min((limit - used)[users > 0] / users[users > 0])))
        rates[growing] += room
        full = rates >= rank_rate * (1 - 1e-9)
        for end_of, limit in ends:
            used = np.bincount(end_of[active], rates[active], limit.size)
            full |= (used >= limit * (1 - 1e-9))[end_of]
        growing &= ~full
    return rates


def phase_times(
    storage: Storage,
    planted: Planted | None,
    scatter: Scatter,
    num_phases: int,
    seed: int,
) -> Doubles:
    """[phase, rank], in seconds."""
    draw = np.random.default_rng(seed)
    num_hosts = int(storage.host_of.max()) + 1

    def around_one(num: int, spread: float) -> Doubles:
        return np.asarray(np.exp(spread * draw.standard_normal(num)))

    usual = {
        "rank": RANK_RATE * around_one(storage.num_ranks, scatter.of_elements),
        "host": HOST_RATE * around_one(num_hosts, scatter.of_elements),
        "target": storage.target_rate * around_one(storage.num_targets, scatter.of_elements),
    }
    carried = storage.bytes_of / fair_times(storage, usual["rank"], usual["host"], usual["target"])
    slow_phases = np.arange(num_phases) < round(planted.share_of_phases * num_phases) if planted else None
    all_times = []
    for phase in range(num_phases):
        rates = {kind: rate * around_one(rate.size, scatter.of_phases) for kind, rate in usual.items()}
        if planted and slow_phases is not None and slow_phases[phase]:
            is_of = {
                "rank": np.arange(storage.num_ranks),
                "host": storage.host_of,
                "target": storage.target_of,
            }
            through = carried[is_of[planted.kind] == planted.number].sum()
            rates[planted.kind][planted.number] = through / planted.factor
        times = fair_times(storage, rates["rank"], rates["host"], rates["target"])
        times *= around_one(storage.num_ranks, scatter.of_ranks)
        stalls = draw.random(storage.num_ranks) < scatter.stall_share
        times[stalls] *= 1 + draw.pareto(1.5, int(stalls.sum()))
        if phase == 0:
            times *= scatter.first_write * around_one(storage.num_ranks, 0.2)
        all_times.append(times)
    return np.array(all_times)


def write(storage: Storage, times_s: Doubles, path: Path) -> None:
    """As the program writes it (docs/formats/hdf5.md): writes alone, each rank a file of its own."""
    num = times_s.shape[1]
    with h5py.File(path, "w", libver=("earliest", "v110")) as file:
        file.attrs.update(
            {
                "format": "leadline",
                "format_version": np.int32(1),
                "benchmark": "io",
                "nonce": "simulated",
            }
        )
        file["status/complete"], file["status/reason"] = (
            np.uint8(1),
            np.bytes_(b"".ljust(1024, b"\0")),
        )
        file.create_group("provenance").attrs.update({
            "version": "0.1.0", "commit": "", "command_line": json.dumps(["leadline", "io"]), "launcher": "slurm",
            "start_utc": "2026-01-31T12:00:00Z", "end_utc": "2026-01-31T12:10:00Z", "kernel": "Linux 6.1.0 x86_64",
            "transport": "mpi", "transport_library": "none: computed", "transport_device": "", "simulated": np.int32(1),
            "clock_source": "CLOCK_MONOTONIC (tsc)", "clock_resolution_ns": 1.0, "clock_cost_ns": 20.0, "wait": "spin",
            "control_plane_on_loopback": np.int32(0), "num_ranks": np.int32(num),
            "num_hosts": np.int32(storage.host_of.max() + 1),
        })  # fmt: skip
        file.create_group("options").attrs.update({"backend": "posix", "sync": "inside", "collective": "false"})
        file["message_size_bytes"] = np.array([1 << 20], dtype=np.uint64)
        file["ranks/host"] = np.array([f"node{host}" for host in storage.host_of], dtype="S64")
        file["ranks/device"] = np.full(num, b"", dtype="S64")
        file["ranks/cpus"] = np.full(num, b"0", dtype="S128")
        file["ranks/pid"] = np.arange(4000, 4000 + num, dtype=np.int32)
        file["ranks/num_cpus"] = np.ones(num, dtype=np.int32)
        file["ranks/numa_node"] = np.full(num, -1, dtype=np.int32)
        _write_phases(file, storage, times_s)


def _write_phases(file: h5py.File, storage: Storage, times_s: Doubles) -> None:
    num_phases, num = times_s.shape
    io = file.create_group("io")
    io.attrs.update({
        "movement": "N-N", "order": "segmented", "backend_library": "POSIX", "file_system": "lustre",
        "num_objects": np.uint64(64), "object_size_bytes": np.uint64(1 << 20), "run": np.uint64(1),
    })  # fmt: skip
    folders = [f"/t{target}" if storage.are_targets_told else "/scratch" for target in storage.target_of]
    io["files"] = np.array([f"{folder}/f.{rank}" for rank, folder in enumerate(folders)], dtype="S512")
    io["io_ranks"] = np.arange(num, dtype=np.int32)
    io["phases/operation"] = np.zeros(num_phases, dtype=np.uint8)
    io["phases/repeat"] = np.arange(num_phases, dtype=np.int32)
    io["phases/state"] = np.ones(num_phases, dtype=np.uint8)
    told = {"error": "", "bytes": int(storage.bytes_of.sum()), "wall_ns": None, "bytes_per_s": None,
            "bytes_per_s_wall": None, "num_objects": 64 * num, "source": None, "is_durable": True,
            "num_mismatches": 0}  # fmt: skip
    io["phases/summary"] = np.array([json.dumps(told)] * num_phases, dtype="S32768")
    columns = {
        "call_ns": 1e9 * times_s,
        "io_ns": 1e9 * times_s,
        "end_ns": 1e9 * times_s,
    }
    for name in ("wait_ns", "sync_ns", "open_ns", "close_ns", "begin_ns"):
        columns[name] = np.zeros(times_s.shape)
    for name, values in columns.items():
        io[f"ranks/{name}"] = values
    io["ranks/bytes"] = np.tile(storage.bytes_of.astype(np.uint64), (num_phases, 1))
    io["ranks/num_objects"] = np.full(times_s.shape, 64, dtype=np.uint64)
    io["ranks/file"] = np.tile(np.arange(num, dtype=np.int32), (num_phases, 1))
    file["summary"] = json.dumps({"findings": []})


def _ranks(num_hosts: int, ranks_per_host: int) -> Ints:
    return np.repeat(np.arange(num_hosts), ranks_per_host)


def one_folder(draw: np.random.Generator) -> Storage:
    """A striped file system: all share all of it."""
    hosts, per_host = int(draw.integers(4, 33)), int(draw.choice([1, 2, 4, 8]))
    num = hosts * per_host
    rate = num * RANK_RATE * float(draw.choice([0.3, 0.7, 3.0]))
    tell = ("host", "rank") if per_host > 1 else ("host",)
    return Storage(_ranks(hosts, per_host), np.zeros(num, dtype=np.int64), 1, rate, tell, False)


def crossed(draw: np.random.Generator) -> Storage:
    """The ranks of each host use several targets, and each target has ranks of several hosts."""
    targets, per_host = int(draw.choice([4, 6, 8])), int(draw.choice([2, 4]))
    hosts = targets * int(draw.integers(1, 4))
    num = hosts * per_host
    target_of = (np.arange(num) + np.arange(num) // targets) % targets
    rate = num / targets * RANK_RATE * float(draw.choice([0.4, 0.8, 2.0]))
    return Storage(_ranks(hosts, per_host), target_of, targets, rate, ("host", "rank", "target"))


def nested(draw: np.random.Generator) -> Storage:
    """Each host uses one target, each target has four hosts."""
    targets, per_host = int(draw.choice([4, 6])), int(draw.choice([1, 2, 4]))
    hosts = 4 * targets
    rate = 4 * per_host * RANK_RATE * float(draw.choice([0.4, 0.8, 2.0]))
    host_of = _ranks(hosts, per_host)
    return Storage(host_of, host_of % targets, targets, rate, ("host", "target"))


def confounded(draw: np.random.Generator) -> Storage:
    """Each host has a target of its own: which of the two is slow cannot be told."""
    hosts, per_host = int(draw.integers(4, 17)), int(draw.choice([1, 2, 4]))
    host_of = _ranks(hosts, per_host)
    return Storage(host_of, host_of.copy(), hosts, per_host * RANK_RATE * 0.7, ())


def unequal(draw: np.random.Generator) -> Storage:
    """Ranks cannot be shared out evenly: some targets have one rank more."""
    targets, per_host = int(draw.choice([3, 5, 7])), int(draw.choice([2, 4]))
    hosts = int(draw.choice([4, 8, 11]))
    num = hosts * per_host
    rate = num / targets * RANK_RATE * 0.5
    return Storage(_ranks(hosts, per_host), np.arange(num) % targets, targets, rate, ("host", "rank", "target"))


def twice_the_writers(draw: np.random.Generator) -> Storage:
    """A third of the targets have twice as many ranks as the others."""
    shares = np.repeat([1, 2], [4, 2]) if draw.random() < 0.5 else np.repeat([1, 2], [2, 1])
    target_of_slot = np.repeat(np.arange(shares.size), shares)
    hosts, per_host = target_of_slot.size * int(draw.integers(1, 4)), int(draw.choice([2, 4]))
    num = hosts * per_host
    target_of = target_of_slot[(np.arange(num) + np.arange(num) // target_of_slot.size) % target_of_slot.size]
    rate = num / shares.size * RANK_RATE * float(draw.choice([0.4, 0.8, 2.0]))
    return Storage(_ranks(hosts, per_host), target_of, shares.size, rate, ("host", "rank", "target"))


def twice_the_bytes(draw: np.random.Generator) -> Storage:
    """Stripes as chance has it: some targets have more ranks, and a third of the ranks moves twice the bytes."""
    targets, per_host = int(draw.choice([4, 6, 8])), int(draw.choice([2, 4]))
    hosts = targets * int(draw.integers(2, 4))
    num = hosts * per_host
    target_of = np.concatenate([np.arange(targets), draw.integers(targets, size=num - targets)])
    rate = num / targets * RANK_RATE * float(draw.choice([0.4, 0.8, 2.0]))
    double = draw.random(num) < 1 / 3
    return Storage(_ranks(hosts, per_host), target_of, targets, rate, ("host", "rank", "target"), is_double=double)


LAYOUTS: dict[str, Callable[[np.random.Generator], Storage]] = {
    "one folder": one_folder,
    "crossed": crossed,
    "nested": nested,
    "confounded": confounded,
    "unequal loads": unequal,
    "twice the writers": twice_the_writers,
    "twice the bytes": twice_the_bytes,
}
KINDS = ("nothing", "host", "rank", "target")


def plant(kind: str, storage: Storage, draw: np.random.Generator, share_of_phases: float = 1.0) -> Planted | None:
    """Something of the kind, by a factor of 1.5 to 6."""
    if kind == "nothing":
        return None
    num = {
        "host": int(storage.host_of.max()) + 1,
        "rank": storage.num_ranks,
        "target": storage.num_targets,
    }[kind]
    return Planted(kind, int(draw.integers(num)), float(draw.uniform(1.5, 6)), share_of_phases)


def median_rule(storage: Storage, times_s: Doubles) -> set[tuple[str, int]]:
    """The plain baseline: medians of the rows and columns over all phases, each beside the median and the MAD of its
    kind; slow is what is 25 % and 3.5 robust standard deviations above. A rank of a slow host or target is not told
    again.
    """
    level = np.median(np.log(times_s / storage.bytes_of), axis=0)
    kinds = {"host": storage.host_of, "rank": np.arange(storage.num_ranks)}
    if storage.are_targets_told:
        kinds = {"target": storage.target_of} | kinds
    found: set[tuple[str, int]] = set()
    explained = np.zeros(storage.num_ranks, dtype=bool)
    for kind, member_of in kinds.items():
        values = np.array([np.median(level[member_of == one]) for one in range(int(member_of.max()) + 1)])
        above = values - np.median(values)
        mad = 1.4826 * np.median(np.abs(above))
        for one in np.flatnonzero((above > np.log(1.25)) & (above > 3.5 * mad)).tolist():
            if kind == "rank" and explained[one]:
                continue
            found.add((kind, one))
            explained |= member_of == one
    return found
