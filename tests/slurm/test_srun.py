# SPDX-License-Identifier: Apache-2.0
"""Ranks that srun starts: by PMIx, by PMI-1, over both MPIs, without any PMI, and with a rank that is killed."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import numpy as np
import program
import pytest
from one_machine import Slurm
from result import ResultFile

LINK = [program.PROGRAM, "link", "--wait", "yield", "--output", "r.h5"]


def started(slurm: Slurm, folder: Path, mpi: str, *words: str | Path, ranks: int = 4) -> program.Run:
    """`leadline link` on both nodes."""
    command = slurm.on(0, "srun", "--nodes=2", f"--ntasks={ranks}", f"--mpi={mpi}", *LINK, *words)
    return program.Run(command, folder, slurm.environment)


@pytest.mark.parametrize(
    ("mpi", "transport", "library"),
    [("pmix", "tcp", ""), ("pmi2", "tcp", ""), ("pmix", "mpi", "Open MPI"), ("pmi2", "mpi", "MPICH")],
)
def test_ranks_find_each_other(slurm: Slurm, tmp_path: Path, mpi: str, transport: str, library: str) -> None:
    with started(slurm, tmp_path, mpi, "--transport", transport, "--messages", "10") as run:
        done = run.finish()
    assert done.status == 0, done.err
    assert done.complaints == []
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert result.num_ranks == 4, "and not 4 runs of 1 rank"
    assert np.array_equal(result.measured(), result.every_pair())
    assert result.provenance["launcher"] == f"Slurm ({mpi})"
    assert result.provenance["transport"] == transport
    assert library in result.provenance["transport_library"]


@pytest.mark.parametrize("mpi", ["pmix", "pmi2"])
def test_many_ranks(slurm: Slurm, tmp_path: Path, mpi: str) -> None:
    with started(slurm, tmp_path, mpi, "--transport", "tcp", "--messages", "2", ranks=8) as run:
        done = run.finish()
    assert done.status == 0, done.err
    assert ResultFile(tmp_path / "r.h5").num_ranks == 8


@pytest.mark.parametrize("mpi", ["pmix", "pmi2", "none"])
def test_ranks_on_two_hosts(slurm_over_hosts: Slurm, tmp_path: Path, mpi: str) -> None:
    with started(slurm_over_hosts, tmp_path, mpi, "--transport", "tcp", "--messages", "10") as run:
        done = run.finish()
    assert done.status == 0, done.err
    result = ResultFile(tmp_path / "r.h5")
    assert result.hosts == ["node0", "node0", "node0", "node1"], "Slurm fills the first node up"
    assert result.provenance["control_plane_on_loopback"] == 0
    assert np.array_equal(result.measured(), result.every_pair())


def test_mpi_is_the_usual_transport(slurm: Slurm, tmp_path: Path) -> None:
    with started(slurm, tmp_path, "pmix", "--messages", "10", ranks=2) as run:
        done = run.finish()
    assert done.status == 0, done.err
    assert ResultFile(tmp_path / "r.h5").provenance["transport"] == "mpi"


def test_without_pmi_on_one_node(slurm: Slurm, tmp_path: Path) -> None:
    command = slurm.on(0, "srun", "--nodes=1", "--ntasks=3", "--mpi=none", *LINK, "--messages", "10")
    with program.Run(command, tmp_path, slurm.environment) as run:
        done = run.finish()
    assert done.status == 0, done.err
    result = ResultFile(tmp_path / "r.h5")
    assert result.num_ranks == 3, "and not 3 runs of 1 rank"
    assert (result.provenance["launcher"], result.provenance["transport"]) == ("Slurm", "tcp")


def test_without_pmi_the_names_of_nodes_must_be_known(slurm: Slurm, tmp_path: Path) -> None:
    with started(slurm, tmp_path, "none") as run:
        done = run.finish()
    assert done.status == 2
    assert "SLURM_STEP_NODELIST cannot be used (the name service says of 'sn0'" in done.complaints[0]
    assert "--mpi=pmix" in done.complaints[0]
    assert list(tmp_path.iterdir()) == []


def test_without_pmi_mpi_is_refused(slurm: Slurm, tmp_path: Path) -> None:
    with started(slurm, tmp_path, "none", "--transport", "mpi") as run:
        done = run.finish()
    assert done.status == 3
    assert "the transport mpi needs a launcher of its own (what started this process is: Slurm)" in done.complaint
    assert "Try: srun --mpi=pmix" in done.complaint
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mpi", ["pmix", "pmi2"])
def test_a_mistake_is_told_once(slurm: Slurm, tmp_path: Path, mpi: str) -> None:
    with started(slurm, tmp_path, mpi, "--transport", "tcp", "--only-rounds", "9") as run:
        done = run.finish()
    assert done.status == 2
    assert "9" in done.complaint


@pytest.mark.slow
@pytest.mark.parametrize("mpi", ["pmix", "pmi2"])
@pytest.mark.parametrize("victim", [0, 3])
def test_a_rank_is_killed(slurm: Slurm, tmp_path: Path, mpi: str, victim: int) -> None:
    sizes = ",".join(["1", *map(str, range(1000, 1060))])
    words = ["--messages", "2000", "--batches", "100", "--warmup", "0", "--retest", "0", "--strict-ranks",
             "--verbose"]  # fmt: skip
    with started(slurm, tmp_path, mpi, "--transport", "tcp", "--message-size", sizes, *words) as run:
        run.await_err(r"\(2 of 61\)[^!]* 1/3 ")
        os.kill(ResultFile(tmp_path / "r.h5").pids[victim], signal.SIGKILL)
        done = run.finish()
    assert done.status != 0
    result = ResultFile(tmp_path / "r.h5")
    assert not result.complete
    assert np.array_equal(result.measured(), result.every_pair()), "rows of the first size were written"
    assert re.search(rf"rank {victim} on \S+ died", done.complaint), done.err
    assert result.reason == done.complaint.removeprefix("leadline: ")


@pytest.mark.slow
@pytest.mark.parametrize("mpi", ["pmix", "pmi2"])
def test_the_run_goes_on_without_a_rank(slurm: Slurm, tmp_path: Path, mpi: str) -> None:
    words = ["--messages", "1000", "--message-size", "1000", "--min-time", "3s", "--retest", "0"]
    with started(slurm, tmp_path, mpi, "--transport", "tcp", *words) as run:
        run.await_err(r" 1/3 ")
        os.kill(ResultFile(tmp_path / "r.h5").pids[3], signal.SIGKILL)
        done = run.finish()
    assert done.status != 0
    assert ResultFile(tmp_path / "r.h5").complete
    assert re.match(r"leadline: rank 3 on \S+ died .* The run goes on without rank 3$", done.complaints[0]), done.err
    assert "1 rank was lost during the run: " in done.out
