# SPDX-License-Identifier: Apache-2.0
"""The batch scripts of the tutorial about a new cluster, as jobs of a real Slurm."""

from __future__ import annotations

import subprocess
from pathlib import Path

import program
import tutorial
from one_machine import Slurm
from result import ResultFile


def test_the_scripts_run_as_they_are_shown(slurm: Slurm, tmp_path: Path) -> None:
    tutorial.write(tmp_path, "new-cluster")
    fewer = ["--transport", "tcp", "--wait", "yield"]
    submit = ["sbatch", "--wait", "--nodes=2"]
    for script, words in (
        ("check.sbatch", ["--no-files", "--budget", "4s"]),
        ("links.sbatch", ["--messages", "5", "--output", "november.h5"]),
    ):
        # A later option would be an error, so that of the script goes.
        text = (tmp_path / script).read_text().replace(" --budget 2m", "").replace(" --output check ", " ")
        (tmp_path / script).write_text(text)
        with program.Run(slurm.on(0, *submit, script, *fewer, *words), tmp_path, slurm.environment) as run:
            done = run.finish()
        said = (tmp_path / script.replace("sbatch", "txt")).read_text()
        assert done.status in (0, 1), done.err + said + (tmp_path / script.replace("sbatch", "log")).read_text()
        if script == "check.sbatch":
            assert "4 ranks on " in said.splitlines()[0]
        else:
            assert said.startswith("verdict: ")
    assert ResultFile(tmp_path / "november.h5").num_ranks == 4


def test_the_command_that_drains_is_right(slurm: Slurm) -> None:
    lines = [line for line in tutorial.on_a_cluster("new-cluster") if line.startswith("scontrol ")]
    assert len(lines) == 1
    environment = program.clean_environment(slurm.environment)
    try:
        subprocess.run(["bash", "-c", lines[0].replace("node017", "sn1")], env=environment, check=True, timeout=30)
        asked = subprocess.run(
            ["scontrol", "show", "node", "sn1"], env=environment, capture_output=True, text=True, check=True, timeout=30
        )
        assert "DRAIN" in asked.stdout
        assert "leadline: host sn1 x1.6" in asked.stdout
    finally:
        resume = ["scontrol", "update", "NodeName=sn1", "State=RESUME"]
        subprocess.run(resume, env=environment, check=False, timeout=30)
