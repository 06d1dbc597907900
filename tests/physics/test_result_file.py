# SPDX-License-Identifier: Apache-2.0
"""Simulated results are files as the program writes them: its own commands read them."""

from __future__ import annotations

import json
from pathlib import Path

import baselines
import h5py
import networks
import numpy as np
import program
import pytest
import result_file
from cluster import Cluster, Layout
from faults import Fault
from findings import judged
from measuring import COMPACT_FROM_RANKS, Measured, Plan, measure, num_rounds, pairs_of_round
from networks import Network
from noise import QUIET
from result_file import write
from score import score

SHAPES: dict[str, tuple[Network, Layout, str]] = {
    "two hosts": (networks.star(2), Layout(), ""),
    "star": (networks.star(5), Layout(2), "slurm"),
    "round all hosts": (networks.star(5), Layout(2, goes_round=True), "slurm"),
    "fat tree": (networks.fat_tree([3, 2, 1], 2), Layout(2), "slurm"),
    "pods": (networks.fat_tree_of_pods(2, 2, 2, 2, 2), Layout(2), "cables"),
    "line": (networks.line(3, 2), Layout(), "cables"),
    "torus": (networks.torus((3, 3)), Layout(2), "cables"),
    "dragonfly": (networks.dragonfly(3, 2, 2), Layout(2, 2), "cables"),
    "rails": (networks.rails(4, 4, 2), Layout(8, 2, is_placement_told=False), ""),
}


def measured(network: Network, layout: Layout) -> Measured:
    """With a slow host and two sizes."""
    return measure(Cluster(network, layout), [Fault("host", 0, 2.0)], QUIET, Plan((1024, 1 << 20)))


@pytest.mark.parametrize(("network", "layout", "topology"), SHAPES.values(), ids=SHAPES)
def test_the_program_reads_it(network: Network, layout: Layout, topology: str, tmp_path: Path) -> None:
    files = write(measured(network, layout), tmp_path, topology)
    told = [] if files.topology is None else ["--topology", files.topology]
    info = program.complete([program.PROGRAM, "info", files.result], tmp_path)
    diagnosis = program.complete([program.PROGRAM, "diagnose", files.result, "--json", *told], tmp_path)
    assert (info.status, info.err, diagnosis.status) == (0, "", 0), diagnosis.err
    num = network.num_hosts * layout.ranks_per_host
    slices = json.loads(diagnosis.out)["slices"]
    assert [one["message_size_bytes"] for one in slices] == [1024, 1 << 20]
    assert all(one["diagnosis"]["num_measured"] == num * (num - 1) for one in slices)


def test_a_report_is_made_of_it(tmp_path: Path) -> None:
    network, layout, _ = SHAPES["fat tree"]
    files = write(measured(network, layout), tmp_path)
    page = tmp_path / "page.html"
    done = program.complete([program.PROGRAM, "report", files.result, "--output", page], tmp_path)
    assert done.status == 0, done.err
    assert "n0001" in page.read_text()


def test_truth_stands_beside_it(tmp_path: Path) -> None:
    network, layout, _ = SHAPES["star"]
    told = json.loads(write(measured(network, layout), tmp_path).truth.read_text())
    assert told["hosts"] == ["n0001", "n0002", "n0003", "n0004", "n0005"]
    planted = told["planted"][0]
    assert (planted["kind"], planted["name"], planted["ranks"], planted["factor"]) == ("host", "n0001", [0, 1], 2.0)


def test_what_is_read_back_is_what_was_measured(tmp_path: Path) -> None:
    network, layout, _ = SHAPES["rails"]
    was = measured(network, layout)
    with h5py.File(write(was, tmp_path).result) as file:
        for index, one in enumerate(was.slices):
            for name, times in one.times_ns.items():
                assert np.array_equal(file[f"repeats/0000/time_ns_{name}"][index].astype(np.float32), times)
            assert np.array_equal(baselines.medians_of(file, index).astype(np.float32), one.times_ns["median"])
        assert (file["ranks/numa_node"][:] == -1).all()
        retests = file["retest"]
        for index, one in enumerate(was.slices):
            chosen = retests["size_index"][:] == index
            assert retests["from"][chosen].tolist() == [retest.sender for retest in one.retests]
            assert retests["retest_time_ns"][chosen].tolist() == [retest.alone_ns for retest in one.retests]


def test_ranks_that_go_round_all_hosts_are_found_on_them(tmp_path: Path) -> None:
    network, layout, _ = SHAPES["round all hosts"]
    rank = Fault("rank", 7, 3.0)
    files = write(measure(Cluster(network, layout), [rank], QUIET, Plan()), tmp_path)
    truth = json.loads(files.truth.read_text())
    assert truth["planted"][0]["hosts"] == ["n0003"]
    for found in (judged(program.PROGRAM, files), baselines.judged("medians", files.result)):
        got = score(found.findings, truth)
        assert (got.num_named, got.false) == (1, ())


@pytest.mark.parametrize("num_hosts", [2, 5, 8])
def test_the_file_says_in_which_round_a_pair_met(num_hosts: int, tmp_path: Path) -> None:
    was = measured(networks.star(num_hosts), Layout())
    with h5py.File(write(was, tmp_path).result) as file:
        stored = file["repeats/0000/round"][:]
    for number in range(num_rounds(num_hosts)):
        first, second = pairs_of_round(num_hosts, number)
        assert (stored[first, second] == number + 1).all() and (stored[second, first] == number + 1).all()
    assert (stored.diagonal() == 0).all()


def test_many_ranks_are_written_in_the_compact_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a lower limit, since thousands of ranks take long; the program must read both forms alike."""
    was = measured(*SHAPES["star"][:2])
    full = write(was, tmp_path / "full")
    monkeypatch.setattr(result_file, "COMPACT_FROM_RANKS", 4)
    compact = write(was, tmp_path / "compact")
    with h5py.File(full.result) as one, h5py.File(compact.result) as other:
        assert other.attrs["format_version"] == 2
        assert baselines.medians_of(other, 0) == pytest.approx(baselines.medians_of(one, 0), rel=0.00035)
    told = [
        json.loads(program.complete([program.PROGRAM, "diagnose", files.result, "--json"], tmp_path).out)
        for files in (full, compact)
    ]
    medians = [[kind["time_ns_median"] for kind in one["slices"][0]["diagnosis"]["classes"]] for one in told]
    assert medians[0] == pytest.approx(medians[1], rel=0.00035)
    assert COMPACT_FROM_RANKS == 2049
