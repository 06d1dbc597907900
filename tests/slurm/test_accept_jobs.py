# SPDX-License-Identifier: Apache-2.0
"""`leadline accept` in one allocation of a real Slurm: a step for each part."""

from __future__ import annotations

import json
from pathlib import Path

import program
import pytest
from one_machine import Slurm

LIMIT = {"value": "slices.all.time_ns_median", "at most": "1 s"}


def test_each_part_is_a_step_of_the_allocation(slurm: Slurm, tmp_path: Path) -> None:
    if not (program.ANALYSIS_COMMANDS / "leadline-accept").exists():
        pytest.skip("the analysis package is not installed where this Python is")
    line = "link --transport tcp --wait yield --message-size 8 --messages 5"
    parts = {name: {"run": line, "limits": [LIMIT]} for name in ("first", "second")}
    endless = {"run": line.replace("--messages 5", "--messages 100000000"), "time": "3 s", "limits": [LIMIT]}
    (tmp_path / "spec.yaml").write_text(json.dumps({"parts": {"endless": endless} | parts}))
    command = [program.PROGRAM, "accept", "spec.yaml", "--output", "kept", "--launcher", "srun --ntasks=4 --mpi=pmix"]
    job = slurm.on(0, "salloc", "--nodes=2", "--ntasks=4", *command)
    with program.Run(job, tmp_path, slurm.environment, timeout=120) as run:
        done = run.finish()
    document = json.loads((tmp_path / "kept" / "accept.json").read_text("utf-8"))
    assert done.status == 3, done.err
    assert [part["limits"][0]["state"] for part in document["parts"]] == ["untested", "passed", "passed"]
    assert document["provenance"]["num_ranks"] == 4
    assert document["provenance"]["launcher"] == "Slurm (pmix)"
