# SPDX-License-Identifier: Apache-2.0
"""Made-up results for the tests, written as docs/formats/hdf5.md says."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import settings
from made_up import write_head

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import program

# Tests assert no speed, and share their cores.
settings.register_profile("leadline", deadline=None)
settings.load_profile("leadline")

# Imported by tests before they name it as a plugin.
pytest.register_assert_rewrite("browser")

STATISTICS = {"min": 0.9, "median": 1.0, "mean": 1.05, "p99": 1.6, "max": 2.0}


@dataclass
class MadeUp:
    """What is to be in a file; the times are medians in ns, [N, N] for every size of every repeat, 0 = a hole."""

    hosts: list[str]
    times: list[list[np.ndarray]]  # [repeat][size]
    sizes: list[int] = field(default_factory=lambda: [1024])
    direction: str = "semidirectional"
    complete: bool = True
    reason: str = "still running, or killed without a word"
    permutations: list[list[int]] | None = None
    retests: list[tuple[int, int, int, int, float, float]] = field(default_factory=list)
    findings: list[dict[str, str]] = field(default_factory=list)
    command_line: list[str] = field(default_factory=lambda: ["leadline", "link", "--local", "8", "--output", "a b.h5"])
    options: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    rounds: list[np.ndarray] | None = None  # [N, N] for every repeat, 0 = not in the schedule; None = an older file
    summary_slices: list[dict[str, Any]] = field(default_factory=list)
    summary_faults: list[dict[str, Any]] | None = None  # of all slices; None = an older file


def times_of(hosts: list[str], seed: int, same_ns: float = 900.0, between_ns: float = 4000.0) -> np.ndarray:
    """Two classes of pairs with some scatter, the diagonal a hole."""
    host = np.array(hosts)
    times = np.where(host[:, None] == host[None, :], same_ns, between_ns)
    times = times * np.random.default_rng(seed).gamma(400, 1 / 400, times.shape)
    np.fill_diagonal(times, 0 if len(hosts) > 1 else same_ns)
    return times


def write_result(path: Path, made: MadeUp) -> Path:
    num_ranks, num_sizes = len(made.hosts), len(made.sizes)
    with h5py.File(path, "w") as file:
        options = {"messages": "100", "warmup": "10", "batches": "20", "serial": "false", "interface": ""}
        provenance = {
            "wait": "yield", "control_plane_on_loopback": np.int32(1), "num_rounds": np.int32(max(num_ranks - 1, 1)),
            "direction": made.direction,
        }  # fmt: skip
        write_head(file, made, "link", options, provenance, "lo")
        if made.permutations:
            file["permutations"] = np.array(made.permutations, dtype=np.int32)
        for repeat, of_sizes in enumerate(made.times):
            group = file.create_group(f"repeats/{repeat:04d}")
            group.attrs["repeat"] = np.int32(repeat)
            group.attrs["permutation"] = np.int32(repeat if made.permutations else -1)
            medians = np.array(of_sizes, dtype=np.float64).reshape(num_sizes, num_ranks, num_ranks)
            group["count"] = np.where(medians > 0, 20, 0).astype(np.uint32)
            if made.rounds:
                group["round"] = made.rounds[repeat].astype(np.int32)
            for name, factor in STATISTICS.items():
                group[f"time_ns_{name}"] = medians * factor
        if made.complete:
            columns = list(zip(*made.retests, strict=True)) or [[]] * 6
            for name, column in zip(("repeat", "size_index", "from", "to"), columns, strict=False):
                file[f"retest/{name}"] = np.array(column, dtype=np.int32)
            for name, column in zip(("time_ns", "retest_time_ns"), columns[4:], strict=True):
                file[f"retest/{name}"] = np.array(column, dtype=np.float64)
            summary = {"format": "leadline-summary", "findings": made.findings, "slices": made.summary_slices}
            summary |= {} if made.summary_faults is None else {"faults": made.summary_faults}
            file["summary"] = json.dumps(summary)
    return path


def write_packed_result(path: Path, made: MadeUp) -> Path:
    """The same in packed chunks, as others than the engine write it: its rows come through the library."""
    write_result(path, made)
    with h5py.File(path, "r+") as file:
        group = file["repeats/0000"]
        for name in list(group):
            values = group[name][()]
            del group[name]
            group.create_dataset(name, data=values, chunks=True, compression="gzip")
    return path


NODES = ["node01.cluster"] * 4 + ["node02.cluster"] * 4


def two_hosts() -> MadeUp:
    times = times_of(NODES, 1)
    times[2, 6], times[6, 2] = 160_000.0, 31_000.0
    retests = [(0, 0, 2, 6, 160_000.0, 158_000.0), (0, 0, 6, 2, 31_000.0, 4_100.0), (0, 0, 1, 5, 4_400.0, 3_900.0)]
    findings = [
        {"id": "oversubscribed", "severity": "warning", "message": "8 ranks share 2 cores.",
         "evidence": "8 ranks on 2 cores of node01", "advice": "Start fewer ranks."},
        {"id": "not_bound", "severity": "note", "message": "Not bound.", "evidence": "", "advice": ""},
    ]  # fmt: skip
    return MadeUp(NODES, [[times]], retests=retests, findings=findings)


def slow_host() -> MadeUp:
    hosts = [f"node{index:02d}" for index in range(16) for _ in range(4)]
    times = times_of(hosts, 2)
    slow = np.array(hosts) == "node11"
    times[slow, :] *= 3
    times[:, slow] *= 3
    times[5, 60] = 170_000.0
    return MadeUp(hosts, [[times]], retests=[(0, 0, 5, 60, 170_000.0, 169_000.0)])


def sweep() -> MadeUp:
    sizes = [8, 1024, 65536, 1 << 20]
    pairs = times_of(NODES, 0) > 0
    times = [
        [times_of(NODES, 10 * repeat + index) + size / 5 * pairs for index, size in enumerate(sizes)]
        for repeat in range(2)
    ]
    permutations = [[0, 1, 2, 3, 4, 5, 6, 7], [3, 1, 0, 2, 7, 6, 5, 4]]
    retests = [(1, 2, 0, 7, 30_000.0, 18_000.0)]
    return MadeUp(NODES, times, sizes, direction="bidirectional", permutations=permutations, retests=retests)


def partial() -> MadeUp:
    sizes = [8, 1024]
    first = times_of(NODES, 3)
    first[3, :] = 0
    first[0, 5:] = 0
    return MadeUp(NODES, [[first, np.zeros_like(first)]], sizes, complete=False,
                  reason="rank 3 on node01.cluster was lost in round 5 (partner 6)")  # fmt: skip


def one_rank() -> MadeUp:
    return MadeUp(["laptop"], [[times_of(["laptop"], 4)]])


def three_ranks() -> MadeUp:
    return MadeUp(["laptop"] * 3, [[times_of(["laptop"] * 3, 5)]])


def rounds_of(cells: np.ndarray) -> np.ndarray:
    """A number for every pair to measure; which one it is means nothing here."""
    rank = np.arange(len(cells))
    return np.where(cells, 1 + (rank[:, None] + rank[None, :]) % len(cells), 0)


def bisection() -> MadeUp:
    hosts = [f"n{rank // 2}" for rank in range(16)]
    half = np.arange(16) < 8
    across = half[:, None] != half[None, :]
    bandwidth = {"num": 8, "bandwidth_bytes_per_s_min": 2.0 * 2**30, "bandwidth_bytes_per_s_mean": 2.5 * 2**30,
                 "bandwidth_bytes_per_s_max": 3.0 * 2**30}  # fmt: skip
    return MadeUp(
        hosts,
        [[times_of(hosts, 8) * across]],
        rounds=[rounds_of(across)],
        options={"bisection": "true"},
        provenance={"num_rounds": np.int64(8)},
        summary_slices=[{"repeat": 0, "size_index": 0, "bisection": bandwidth, "all_to_all": None}],
    )


def between_hosts() -> MadeUp:
    hosts = np.array(NODES)
    apart = hosts[:, None] != hosts[None, :]

    def spread(num: int, least_ns: float) -> dict[str, float]:
        return {"num": num, "time_ns_min": least_ns, "time_ns_mean": 1.5 * least_ns, "time_ns_max": 2 * least_ns}

    exchanges = {"message_size_bytes": 65536, "before": spread(8, 20e3), "after": spread(8, 40e3), "each_round": None}
    return MadeUp(
        NODES,
        [[times_of(NODES, 9) * apart]],
        rounds=[rounds_of(apart)],
        options={"between_hosts": "true", "serial": "true", "all_to_all": "around"},
        summary_slices=[{"repeat": 0, "size_index": 0, "bisection": None, "all_to_all": exchanges}],
    )


def one_per_host(num_hosts: int = 4) -> MadeUp:
    hosts = [f"n{rank // 2}" for rank in range(2 * num_hosts)]
    first = np.arange(2 * num_hosts) % 2 == 0
    cells = first[:, None] & first[None, :]
    # One rank that takes part alone sends to itself.
    times = times_of(hosts, 10) + (num_hosts == 1) * np.diag([900.0] * len(hosts))
    cells = cells if num_hosts == 1 else cells & ~np.eye(len(hosts), dtype=bool)
    return MadeUp(hosts, [[times * cells]], rounds=[rounds_of(cells)], options={"one_per_host": "true"})


def few_rounds() -> MadeUp:
    """Two of the seven rounds of eight ranks, in each repeat other pairs, as with permutations of the ranks."""
    permutations = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 2, 1, 3, 4, 6, 5, 7]]
    seat = np.arange(8)
    number = seat[:, None] ^ seat[None, :]
    number[(number != 1) & (number != 3)] = 0
    rounds = []
    for rank_on_seat in permutations:
        rounds.append(np.zeros((8, 8), dtype=int))
        rounds[-1][np.ix_(rank_on_seat, rank_on_seat)] = number
    hosts = ["laptop"] * 8
    times = [[times_of(hosts, 11) * (of_repeat > 0)] for of_repeat in rounds]
    return MadeUp(hosts, times, rounds=rounds, options={"only_rounds": "1,3"}, permutations=permutations)


def hostile() -> MadeUp:
    names = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "a&b\"c'd", "${7*7}{{7*7}}"]
    return MadeUp(names, [[times_of(names, 6)]], command_line=["leadline", "link", "</title><script>alert(3)</script>"],
                  retests=[(0, 0, 1, 2, 5000.0, 4000.0)],
                  findings=[{"id": "<b>", "severity": "warning\" onclick=\"x", "message": "<script>alert(4)</script>",
                             "evidence": "]]>-->", "advice": "<!--"}],
                  options={"output": "<i>x</i>"}, provenance={"transport": "<u>tcp</u>"})  # fmt: skip


def cyclic() -> MadeUp:
    hosts = [f"a-machine-with-a-rather-long-name-{rank % 12:03d}.cluster.example" for rank in range(48)]
    return MadeUp(hosts, [[times_of(hosts, 7)]])


MADE_UP = {
    made.__name__: made
    for made in (
        two_hosts, slow_host, sweep, partial, one_rank, three_ranks, hostile, cyclic,
        bisection, between_hosts, one_per_host, few_rounds,
    )
}  # fmt: skip


@pytest.fixture(params=sorted(MADE_UP))
def any_made(request: pytest.FixtureRequest) -> MadeUp:
    return MADE_UP[request.param]()


@pytest.fixture(autouse=True)
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports ask a program only where a test names one: what happens to be on the PATH must not change a page."""
    monkeypatch.setenv("LEADLINE_PROGRAM", "/nowhere/leadline")


@pytest.fixture
def real_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the engine, for tests that ask it."""
    if not program.PROGRAM.is_file():
        pytest.skip(f"{program.PROGRAM.name} is not built")
    monkeypatch.setenv("LEADLINE_PROGRAM", str(program.PROGRAM))


@pytest.fixture
def result_file(tmp_path: Path) -> Path:
    return write_result(tmp_path / "run.h5", two_hosts())


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "browser: opens a page in a real browser (seconds each)")
    config.addinivalue_line("markers", "real_page: makes the page of leadline view, which other tests do without")
