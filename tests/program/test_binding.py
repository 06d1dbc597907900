# SPDX-License-Identifier: Apache-2.0
"""--bind: on which cores ranks measure, and that result and --verbose say so."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import h5py
import program
import pytest
from program import Leadline

FEW = ["--message-size", "1KiB", "--messages", "20"]
CORES = sorted(os.sched_getaffinity(0))
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="needs two cores")


def on(*cores: int) -> dict[str, object]:
    return {"preexec_fn": lambda: os.sched_setaffinity(0, set(cores))}


def places(path: Path) -> tuple[str, list[set[int]]]:
    """What bound the ranks, and the cores of each."""
    with h5py.File(path) as file:
        binding = file["provenance"].attrs["binding"]
        texts = [text.decode() for text in file["ranks/cpus"][()]]
    ranges = [[part.split("-") for part in text.split(",")] for text in texts]
    return str(binding), [{core for ends in one for core in range(int(ends[0]), int(ends[-1]) + 1)} for one in ranges]


@two_cores
@pytest.mark.parametrize("words", [(), ("--bind", "core")])
def test_local_ranks_get_a_core_each(link: Leadline, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = link("--local", "2", *words, "--verbose", "--output", "r.h5", **on(*CORES[:2]))
    binding, cores = places(tmp_path / "r.h5")
    assert binding == "core"
    # Two hardware threads of one core are two "cores" here: each rank gets one of them.
    assert cores[0].isdisjoint(cores[1])
    assert cores[0] | cores[1] == set(CORES[:2])
    assert "each rank is bound to a core of its own" in done.err
    assert "not bound" not in done.out


@two_cores
def test_none_leaves_them_as_they_were_started(link: Leadline, tmp_path: Path) -> None:
    done = link("--local", "2", "--bind", "none", "--verbose", "--json", "r.json", **on(*CORES[:2]))
    document = json.loads((tmp_path / "r.json").read_text())
    assert document["provenance"]["binding"] == "none"
    assert document["options"]["bind"] == "none"
    assert "not_bound" in {finding["id"] for finding in document["findings"]}
    assert "ranks are not bound (--bind none)" in done.err


@two_cores
def test_a_numa_node_may_have_several_ranks(link: Leadline, tmp_path: Path) -> None:
    link("--local", "4", "--bind", "numa", "--output", "r.h5", **on(*CORES[:2]))
    binding, cores = places(tmp_path / "r.h5")
    assert binding == "numa"
    assert set.union(*cores) <= set(CORES[:2])


def test_more_ranks_than_cores_are_left_to_the_kernel(link: Leadline, tmp_path: Path) -> None:
    done = link("--local", "3", "--verbose", "--output", "r.h5", **on(CORES[0]))
    assert places(tmp_path / "r.h5") == ("none", [{CORES[0]}] * 3)
    assert "ranks are not bound (a host has more ranks than cores)" in done.err


def test_a_core_each_that_cannot_be_had_is_refused(link: Leadline) -> None:
    done = link("--local", "3", "--bind", "core", status=2, **on(CORES[0]))
    assert done.err.count("\n") == 1
    assert "--bind core cannot be had" in done.complaint
    assert f"3 ranks, and cores {CORES[0]}" in done.complaint


@two_cores
@pytest.mark.parametrize("bind", ["auto", "numa"])
def test_what_a_launcher_has_bound_stays(tmp_path: Path, bind: str) -> None:
    launcher = shutil.which("mpiexec.hydra")
    if launcher is None:
        pytest.skip("mpiexec.hydra is not installed")
    script = f'exec taskset -c $((PMI_RANK == 0 ? {CORES[1]} : {CORES[0]})) "$@"'
    words = ["link", "--transport", "tcp", "--bind", bind, "--verbose", "--output", "r.h5", *FEW]
    done = program.complete([launcher, "-n", "2", "sh", "-c", script, "sh", program.PROGRAM, *words], tmp_path)
    assert done.status == 0, done.err
    assert places(tmp_path / "r.h5") == ("launcher", [{CORES[1]}, {CORES[0]}])
    assert "the launcher has bound the ranks" in done.err


@two_cores
def test_ranks_of_a_launcher_that_binds_nothing(tmp_path: Path) -> None:
    launcher = shutil.which("mpiexec.hydra")
    if launcher is None:
        pytest.skip("mpiexec.hydra is not installed")
    words = ["link", "--output", "r.h5", *FEW]
    done = program.complete([launcher, "-n", "2", program.PROGRAM, *words], tmp_path, **on(*CORES[:2]))
    assert done.status == 0, done.err
    binding, cores = places(tmp_path / "r.h5")
    assert binding == "core"
    assert cores[0].isdisjoint(cores[1])


def test_a_rank_alone_on_its_host_is_bound_where_it_is_asked_for(link: Leadline, tmp_path: Path) -> None:
    words = ["--local", "1", "--verbose"]
    done = link(*words, "--output", "auto.h5")
    assert places(tmp_path / "auto.h5") == ("none", [set(CORES)])
    assert "ranks are not bound (each is alone on its host)" in done.err
    link(*words, "--bind", "core", "--output", "core.h5")
    binding, cores = places(tmp_path / "core.h5")
    assert binding == "core"
    assert CORES[0] in cores[0]


@two_cores
def test_each_part_of_a_check_is_bound_anew(leadline: Leadline) -> None:
    done = leadline("check", "--local", "2", "--budget", "3s", "--verbose", "--wait", "yield", **on(*CORES[:2]))
    told = [line for line in done.err.splitlines() if "bound" in line]
    assert len(told) > 1, done.err
    assert all("each rank is bound to a core of its own" in line for line in told)
