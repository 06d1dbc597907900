# SPDX-License-Identifier: Apache-2.0
"""Made-up results of the parallel file test, written as docs/formats/hdf5.md says; times come from a simple disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from made_up import make_room, nodes, write_head
from made_up_diagnosis import joined

import leadline

TIMES = ("open", "preallocate", "call", "wait", "send", "receive", "barrier", "fill", "verify", "sync", "close")
COUNTS = ("num_objects", "bytes", "message_bytes", "num_calls", "num_continued", "bytes_at_stop", "num_mismatches")
CACHE = ("cache_pages", "cached_before", "dirty_before", "writeback_before", "cached_after", "dirty_after",
         "writeback_after")  # fmt: skip
NS_PER_BYTE = 1.0  # about 1 GB/s a rank


@dataclass
class MadeUpIo:
    """What is to be in a file; the faults are factors on the times of calls."""

    hosts: list[str]
    object_size: int = 1 << 20
    num_objects: int = 64
    repeats: int = 1
    movement: str = "N-N"
    slow_ranks: dict[int, float] = field(default_factory=dict)
    wrong: list[dict[str, Any]] = field(default_factory=list)  # of the last read
    states: list[int] | None = None  # of the phases; None = all complete
    interrupted: dict[int, int] = field(default_factory=dict)  # the last phase: objects of the ranks that are known
    is_from_cache: bool = True
    file_names: list[str] | None = None
    hints: list[dict[str, Any]] = field(default_factory=list)
    seed: int = 5
    complete: bool = True
    reason: str = "still running, or killed without a word"
    findings: list[dict[str, str]] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    command_line: list[str] = field(default_factory=lambda: ["leadline", "io", "--output", "a b.h5"])

    @property
    def sizes(self) -> list[int]:
        """Objects are the messages of a funnel."""
        return [self.object_size]

    @property
    def operations(self) -> list[int]:
        """Write and read in turn."""
        return [0, 1] * self.repeats

    def files(self) -> list[str]:
        """One for each rank, or one."""
        if self.file_names is not None:
            return self.file_names
        return [f"/scratch/t.{rank}" for rank in range(len(self.hosts))] if self.movement == "N-N" else ["/scratch/t"]


def rows_of(made: MadeUpIo, phase: int) -> dict[str, np.ndarray]:
    """What each rank did in a phase, by the names of the datasets."""
    num, random = len(made.hosts), np.random.default_rng([made.seed, phase])
    is_write = made.operations[phase] == 0
    call = made.num_objects * made.object_size * NS_PER_BYTE * random.gamma(400, 1 / 400, num)
    for rank, factor in made.slow_ranks.items():
        call[rank] *= factor
    rows = {f"{name}_ns": np.zeros(num) for name in TIMES}
    rows |= {"open_ns": random.gamma(4, 2e5, num), "call_ns": call, "close_ns": random.gamma(4, 1e5, num)}
    rows["fill_ns" if is_write else "verify_ns"] = 0.1 * call
    if is_write:
        rows["sync_ns"] = 0.3 * call
    rows["begin_ns"] = random.gamma(2, 1e4, num)
    rows["end_ns"] = rows["begin_ns"] + sum(rows[f"{name}_ns"] for name in TIMES) + 5000
    rows["io_ns"] = rows["end_ns"] - rows["begin_ns"] - rows["fill_ns"] - rows["verify_ns"]
    rows |= {name: np.zeros(num, dtype=np.uint64) for name in (*COUNTS, *CACHE)}
    rows["num_objects"][:] = rows["num_calls"][:] = made.num_objects
    rows["bytes"][:] = made.num_objects * made.object_size
    rows["cache_pages"][:] = rows["bytes"] // 4096
    if not is_write and made.is_from_cache:
        rows["cached_before"][:] = rows["cache_pages"]
    rows["cache_known"] = np.full(num, 3)
    rows["file"] = np.arange(num) if made.movement == "N-N" else np.zeros(num)
    of_call = call / made.num_objects
    rows["call_ns_min"], rows["call_ns_max"] = 0.8 * of_call, 1.7 * of_call
    rows["latencies"] = np.zeros((num, 128), dtype=np.uint64)
    buckets = np.clip((4 * (np.log2(of_call) - 10)).astype(int), 0, 127)
    rows["latencies"][np.arange(num), buckets] = made.num_objects - 1
    rows["latencies"][np.arange(num), buckets + 3] = 1
    # Of each rank as coarse as its own time asks for.
    power = np.ceil(np.log2(np.maximum(rows["end_ns"] / 128 / (1 << 20), 1))).astype(int)
    rows["series_bin_ns"] = (1 << 20) * 2**power
    rows["series_bytes"] = np.zeros((num, 128), dtype=np.uint64)
    for rank in range(num):
        used = int(rows["end_ns"][rank] // rows["series_bin_ns"][rank]) + 1
        share, rest = divmod(int(rows["bytes"][rank]), used)
        rows["series_bytes"][rank, :used] = share
        rows["series_bytes"][rank, 0] += rest
    return rows


def summary_of(made: MadeUpIo, phase: int, rows: dict[str, np.ndarray]) -> dict[str, Any]:
    """The phase as docs/formats/json.md says."""
    is_write, failed = made.operations[phase] == 0, made.states is not None and made.states[phase] == 2
    num, total = len(made.hosts), int(rows["bytes"].sum())
    rate = None if failed else 1e9 * total / float(rows["end_ns"].max())
    wrong = made.wrong if phase == len(made.operations) - 1 else []
    histogram = rows["latencies"].sum(axis=0)
    edges = np.exp2(10 + np.arange(129) / 4)
    cache = {when: {"is_known": True, "pages": int(rows["cache_pages"].sum()),
                    **{name: int(rows[f"{name}_{when}"].sum()) for name in ("cached", "dirty", "writeback")}}
             for when in ("before", "after")}  # fmt: skip
    slowest = int(np.argmax(rows["call_ns_max"]))
    return {
        "index": phase, "operation": "write" if is_write else "read", "repeat": phase // 2, "is_complete": not failed,
        "error": "rank 1 on node00: writing failed (No space left on device)" if failed else "",
        "bytes": total, "message_bytes": 0, "num_objects": num * made.num_objects, "num_calls": num * made.num_objects,
        "num_continued": 2 if made.slow_ranks and is_write else 0, "wall_ns": float(rows["end_ns"].max()),
        "bytes_per_s": rate, "bytes_per_s_first_done": None if is_write else rate and 1.125 * rate,
        "first_done_ns": float(rows["end_ns"].min()), "bytes_per_s_wall": rate,
        "bytes_per_s_io": rate and 1e9 * total / float(rows["io_ns"].max()),
        "bytes_per_s_mean": rate and 1e9 * total / float(rows["io_ns"].mean()),
        "bytes_per_s_transfer": rate and 1e9 * total / float(rows["call_ns"].max()),
        "fill_bytes_per_s": 1e10 if is_write else None, "verify_bytes_per_s": None if is_write else 1e10,
        "io": _spread(rows["io_ns"]), "times": {name: _spread(rows[f"{name}_ns"]) for name in TIMES},
        "has_stop": False, "stop_ns": None, "bytes_at_stop": None, "bytes_per_s_at_stop": None,
        **{f"call_ns_{name}": float(value) for name, value in zip(
            ("min", "p50", "p90", "p99", "p999", "max"),
            (rows["call_ns_min"].min(), *[float(np.median(rows["call_ns"])) / made.num_objects * factor
                                          for factor in (1, 1.1, 1.3, 1.5)], rows["call_ns_max"].max()), strict=True)},
        "latencies": [{"low_ns": float(edges[i]), "high_ns": float(edges[i + 1]), "num": int(histogram[i])}
                      for i in np.flatnonzero(histogram)],
        "series": {"bin_ns": int(rows["series_bin_ns"].max()), "bytes": []},
        "cache_before": cache["before"], "cache_after": cache["after"],
        "source": None if is_write else ("cache" if made.is_from_cache else "storage"),
        "is_durable": True if is_write else None,
        "num_mismatches": len(wrong), "wrong": wrong,
        "slow_calls": [{"rank": slowest, "host": made.hosts[slowest], "file": made.files()[0] if made.files() else "",
                        "offset_bytes": 3 * made.object_size, "size_bytes": made.object_size, "begin_ns": 1e6,
                        "time_ns": float(rows["call_ns_max"][slowest])}],
    }  # fmt: skip


def _spread(values: np.ndarray) -> dict[str, Any]:
    if not values.any():
        return {"num": 0, "min": None, "mean": None, "max": None, "min_rank": None, "max_rank": None}
    return {"num": len(values), "min": float(values.min()), "mean": float(values.mean()), "max": float(values.max()),
            "min_rank": int(values.argmin()), "max_rank": int(values.argmax())}  # fmt: skip


def diagnoses_of(made: MadeUpIo) -> list[dict[str, Any]]:
    """What a run says of writing and reading: each slow rank in each phase."""
    hosts = list(dict.fromkeys(made.hosts))
    faults = [
        {
            "kind": "rank", "name": f"rank {rank} on {made.hosts[rank]}", "symptom": "slow", "direction": "both",
            "component": {"level": None, "first": rank, "second": None, "socket": None, "hosts": [], "other_hosts": []},
            "host_names": [made.hosts[rank]], "ranks": [rank], "ratio": factor,
            "ratio_interval": [0.9 * factor, 1.1 * factor], "p_value": 1e-6, "time_share": 1 - 1 / factor,
            "num_pairs": made.repeats, "pairs": [], "ruled_out": [], "advice": "Look at what shares its core",
            "persistence": "not_retested", "ratio_alone": None, "list": "persistent", "is_note": False,
            "phases": {"operation": "", "num_phases": made.repeats, "num_slow": made.repeats,
                       "bytes_per_s": 1e9 / factor, "usual_bytes_per_s": 1e9, "where": ""},
        }
        for rank, factor in made.slow_ranks.items() if len(hosts) < len(made.hosts)
    ]  # fmt: skip
    states = made.states or [1] * len(made.operations)
    complete = {made.operations[phase] for phase, state in enumerate(states) if state == 1}
    return [
        {
            "repeat": 0, "size_index": 0, "message_size_bytes": made.object_size, "pattern": ("write", "read")[number],
            "diagnosis": {
                "threshold": 0.25, "false_discovery_rate": 0.01, "topology": None, "untested": None,
                "num_pairs": len(made.hosts), "num_measured": len(made.hosts), "num_phases": made.repeats,
                "classes": [], "notes": [],
                "faults": [
                    fault | {"phases": {**fault["phases"], "operation": ("write", "read")[number]}} for fault in faults
                ],
            },
        }
        for number in sorted(complete)
    ]  # fmt: skip


def faults_of(diagnoses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of both: they have the same, which cost as much."""
    num = len(diagnoses)
    first = diagnoses[0]["diagnosis"]["faults"] if diagnoses else []
    return [joined(0, index, num, num, diagnoses[0]["pattern"]) for index in range(len(first))]


def write_io(path: Path, made: MadeUpIo) -> Path:
    """The file, complete or as a killed run leaves it."""
    options = {"movement": made.movement, "objects": str(made.num_objects), "sync": "inside", "threshold": "0.1"}
    num_phases, num_ranks = len(made.operations), len(made.hosts)
    with h5py.File(path, "w") as file:
        write_head(file, made, "io", options, {}, "eth0")
        group = file.create_group("io")
        group.attrs.update({
            "movement": made.movement, "order": "segmented", "num_objects": np.uint64(made.num_objects),
            "object_size_bytes": np.uint64(made.object_size), "run": np.uint64(77), "backend_library": "POSIX",
            "file_system": "ext4",
        })  # fmt: skip
        if made.files():
            group["io_ranks"] = np.arange(num_ranks, dtype="<i4")
            group["files"] = np.array([name.encode() for name in made.files()], dtype="S512")
        each, table = (num_phases,), (num_phases, num_ranks)
        make_room(group.create_group("phases"), {"operation": (each, "u1"), "repeat": (each, "<i4"),
                                                 "state": (each, "u1"), "summary": (each, "S32768")})  # fmt: skip
        spans = ("begin_ns", "end_ns", "io_ns", "call_ns_min", "call_ns_max")
        kinds: dict[str, Any] = dict.fromkeys(spans, (table, "<f8"))
        kinds |= {f"{name}_ns": (table, "<f8") for name in TIMES}
        kinds |= dict.fromkeys((*COUNTS, *CACHE, "series_bin_ns"), (table, "<u8"))
        kinds |= {"file": (table, "<i4"), "cache_known": (table, "u1")}
        kinds |= dict.fromkeys(("latencies", "series_bytes"), ((*table, 128), "<u8"))
        make_room(group.create_group("ranks"), kinds)
        group["phases/operation"][:] = made.operations
        group["phases/repeat"][:] = np.arange(num_phases) // 2
        phases = [_write_phase(group, made, phase) for phase in range(num_phases)]
        if made.complete:
            document = {"benchmark": "io", "findings": made.findings, "hints": made.hints, "phases": phases,
                        "diagnoses": diagnoses_of(made), "faults": faults_of(diagnoses_of(made))}  # fmt: skip
            file["summary"] = json.dumps(document)
    return path


def _write_phase(group: h5py.Group, made: MadeUpIo, phase: int) -> dict[str, Any]:
    state = 1 if made.states is None else made.states[phase]
    if state == 0:
        return {}
    rows = rows_of(made, phase)
    is_interrupted = bool(made.interrupted) and phase == len(made.operations) - 1
    if is_interrupted:
        _interrupt(made, rows)
    for name, column in rows.items():
        group["ranks"][name][phase] = column
    summary = summary_of(made, phase, rows)
    if is_interrupted:
        summary |= {
            "is_interrupted": True,
            "error": f"interrupted: {made.reason}",
            "at_interruption": [
                {"rank": rank, "time_ns": rows["end_ns"][rank], "bytes": int(rows["bytes"][rank]), "message_bytes": 0,
                 "num_objects": num} for rank, num in made.interrupted.items()
            ],
        }  # fmt: skip
    group["phases/summary"][phase] = json.dumps(summary).encode()
    group["phases/state"][phase] = state
    return summary


def _interrupt(made: MadeUpIo, rows: dict[str, np.ndarray]) -> None:
    """Leaves what is known then."""
    for column in rows.values():
        column[...] = 0
    for rank, num in made.interrupted.items():
        rows["end_ns"][rank] = 3e9
        rows["num_objects"][rank] = num
        rows["bytes"][rank] = num * made.object_size


def interrupted() -> MadeUpIo:
    """Told to stop in the read; rank 3 could not say any more how far it was."""
    return MadeUpIo(
        nodes(2, 2), states=[1, 2], interrupted={0: 5, 1: 7, 2: 9}, complete=False, reason="told to stop in read"
    )


def even() -> MadeUpIo:
    """Eight ranks on two hosts, a file each."""
    return MadeUpIo(nodes(2, 4))


def straggling() -> MadeUpIo:
    """32 ranks, one of which is slow; three repetitions; hints, and findings of the run itself."""
    findings = [
        {"id": "read_from_cache", "severity": "warning", "message": "Reads came from cache.",
         "evidence": "100 % of the pages", "advice": "Drop it."},
    ]  # fmt: skip
    hints = [
        {"key": "cb_nodes", "asked": "4", "granted": "4", "is_confirmed": True},
        {"key": "bogus", "asked": "7", "granted": None, "is_confirmed": False},
    ]
    return MadeUpIo(nodes(4, 8), repeats=3, slow_ranks={13: 2.5}, findings=findings, hints=hints)


def wrong_data() -> MadeUpIo:
    """A block of another rank, and one with flipped bits."""
    key = {"run": 77, "rank": 3, "file": 3, "object": 17, "offset_bytes": 17 << 20, "generation": 0}
    other = {**key, "rank": 5, "object": 2}
    wrong = [
        {"kind": "other_rank", "expected": key, "found": other, "first_byte": 0, "num_bytes": 4096, "xor_mask": 0,
         "read_by": 3, "host": "node00", "file": "/scratch/t.3"},
        {"kind": "bit_flips", "expected": {**key, "object": 18}, "found": None, "first_byte": 5000, "num_bytes": 1,
         "xor_mask": 4, "read_by": 3, "host": "node00", "file": "/scratch/t.3"},
    ]  # fmt: skip
    return MadeUpIo(nodes(2, 4), wrong=wrong, states=[1, 2], complete=False, reason="data are wrong")


def killed() -> MadeUpIo:
    """Killed in its second phase."""
    return MadeUpIo(nodes(2, 2), states=[1, 0], complete=False, reason="rank 1 on node00 was lost in write 1 of 2")


def never_begun() -> MadeUpIo:
    """Killed before its first phase."""
    return MadeUpIo(nodes(2, 2), states=[0, 0], complete=False)


def no_space() -> MadeUpIo:
    """An error in the first phase."""
    return MadeUpIo(nodes(1, 4), movement="N-1", states=[2, 0], complete=False, reason="no space")


def many_ranks() -> MadeUpIo:
    """More than a timeline has rows for."""
    return MadeUpIo(nodes(50, 4), num_objects=16, slow_ranks={17: 3.0, 150: 2.0}, is_from_cache=False)


def without_files() -> MadeUpIo:
    """The pure funnel."""
    return MadeUpIo(nodes(1, 4), movement="N-M-1", file_names=[])


def hostile_names() -> MadeUpIo:
    """Names that would be markup, formulas or commands."""
    names = ["<script>alert(1)</script>", "=1+1", 'a,b"c', "</table>"]
    return MadeUpIo(["<b>host</b>", "=cmd", "a,b", "x"], file_names=names, slow_ranks={0: 3.0})


MADE_UP_IOS: dict[str, Callable[[], MadeUpIo]] = {
    made.__name__: made
    for made in (even, straggling, wrong_data, killed, never_begun, no_space, many_ranks, without_files, hostile_names)
}


def loaded(made: MadeUpIo, folder: Path) -> leadline.IoResult:
    return leadline.load_io(write_io(folder / "run.h5", made))
