# SPDX-License-Identifier: Apache-2.0
"""`leadline check` in jobs of a real Slurm: as a step, and as the job that drains bad nodes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import program
import pytest
from one_machine import Slurm

SPEED = {"latency_ns": 1400, "bandwidth_bytes_per_s": 24e9}
FEW = ["--budget", "4s", "--wait", "yield"]


def test_a_step_checks_its_nodes(slurm: Slurm, tmp_path: Path) -> None:
    command = [program.PROGRAM, "check", *FEW, "--transport", "tcp", "--no-files", "--json"]
    step = slurm.on(0, "srun", "--nodes=2", "--ntasks=4", "--mpi=pmix", *command)
    with program.Run(step, tmp_path, slurm.environment) as run:
        done = run.finish()
    document = json.loads(done.out)
    assert done.status == document["exit_status"], done.err
    assert document["provenance"]["num_ranks"] == 4, "and not 4 checks of 1 rank"
    assert document["provenance"]["launcher"] == "Slurm (pmix)"
    assert [part["why_not"] for part in document["parts"]] == [None, None, None]


def state_of(slurm: Slurm, node: str) -> str:
    """What Slurm says of a node."""
    asked = subprocess.run(
        ["scontrol", "show", "node", node], env=program.clean_environment(slurm.environment), capture_output=True,
        text=True, check=True, timeout=30,
    )  # fmt: skip
    return asked.stdout


@pytest.mark.parametrize("is_bad", [True, False])
def test_a_job_drains_bad_nodes(slurm: Slurm, tmp_path: Path, *, is_bad: bool) -> None:
    faults = [{"slow_host": 1, "factor": 3}] if is_bad else []
    # Simulated hosts that are called as the nodes are.
    fabric = {"same_host": SPEED, "between_hosts": SPEED, "host_name": "sn", "jitter": 0.02, "faults": faults}
    (tmp_path / "fabric.json").write_text(json.dumps(fabric))
    script = program.ROOT / "integrations" / "slurm" / "check-nodes.sbatch"
    options = [*FEW, "--transport", "model:fabric.json", "--no-files"]
    submit = ["sbatch", "--wait", "--nodes=2", "--ntasks=8", "--output=said", script, *options]
    try:
        with program.Run(slurm.on(0, *submit), tmp_path, slurm.environment) as run:
            done = run.finish()
        assert done.status == (1 if is_bad else 0), (tmp_path / "said").read_text() + done.err
        told = state_of(slurm, "sn1")
        assert ("DRAIN" in told) == is_bad
        assert ("leadline: host sn1 x" in told) == is_bad
        assert "DRAIN" not in state_of(slurm, "sn0")
    finally:
        resume = ["scontrol", "update", "NodeName=sn1", "State=RESUME"]
        subprocess.run(resume, env=program.clean_environment(slurm.environment), check=False, timeout=30)
