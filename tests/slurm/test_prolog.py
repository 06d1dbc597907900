# SPDX-License-Identifier: Apache-2.0
"""integrations/slurm/prolog in a real Slurm: which nodes it drains, and that a job starts where nothing was found."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import network
import program
import pytest
from one_machine import NotHereError, Slurm

NUM_NODES = 4
SPEED = {"latency_ns": 1400, "bandwidth_bytes_per_s": 24e9}
# What the prolog says and how it ends goes into files of its node, since Slurm keeps neither.
PROLOG = """\
#!/bin/sh
{variables}
{script} 2>{folder}/said-$SLURMD_NODENAME
status=$?
echo $status >{folder}/status-$SLURMD_NODENAME
exit $status
"""
SETTINGS = """\
Prolog={prolog}
PrologFlags=Alloc
PrologEpilogTimeout=60
"""
Start = Callable[..., Slurm]


@pytest.fixture
def with_prolog(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Starts four nodes on four hosts, whose prolog gets these variables; its simulated network has these faults."""
    with contextlib.ExitStack() as stack:

        def start(*faults: dict[str, object], before: str = "", **variables: str) -> Slurm:
            fabric = {"same_host": SPEED, "between_hosts": SPEED, "host_name": "node", "jitter": 0.02, "faults": faults}
            (tmp_path / "fabric.json").write_text(json.dumps(fabric))
            (tmp_path / "secret").write_text("the same on all nodes")
            given = {
                "PROGRAM": str(program.PROGRAM), "TRANSPORT": f"model:{tmp_path}/fabric.json", "BUDGET": "3",
                "OPTIONS": "--wait block", "SECRET": str(tmp_path / "secret"),
            } | variables  # fmt: skip
            prolog = tmp_path / "prolog"
            exports = [f"export LEADLINE_PROLOG_{name}='{value}'" for name, value in given.items()]
            script = program.ROOT / "integrations" / "slurm" / "prolog"
            prolog.write_text(
                PROLOG.format(variables="\n".join([*exports, before]), script=script, folder=tmp_path), encoding="utf-8"
            )
            prolog.chmod(0o755)
            try:
                hosts = stack.enter_context(network.Network(NUM_NODES, tmp_path_factory.mktemp("network")))
                slurm = Slurm(NUM_NODES, tmp_path_factory.mktemp("slurm"), hosts, SETTINGS.format(prolog=prolog))
                return stack.enter_context(slurm)
            except (network.NotHereError, NotHereError) as reason:
                pytest.skip(f"no Slurm over network namespaces here: {reason}")

        yield start


def run_job(slurm: Slurm, folder: Path, *words: str) -> program.Done:
    """A job on all nodes."""
    job = slurm.on(0, "srun", f"--nodes={NUM_NODES}", *words, "hostname")
    with program.Run(job, folder, slurm.environment, timeout=90) as run:
        return run.finish()


def drained(slurm: Slurm, folder: Path) -> list[str]:
    """The nodes that Slurm gives no more jobs."""
    asked = slurm.on(0, "sinfo", "--noheader", "--Node", "--format=%N", "--states=drain")
    return program.complete(asked, folder, env=slurm.environment, timeout=30).out.split()


def ends_of(folder: Path) -> list[tuple[int, str]]:
    """Status of the prolog on each node, and what it said there."""
    names = [f"node{index}" for index in range(NUM_NODES)]
    return [(int((folder / f"status-{name}").read_text()), (folder / f"said-{name}").read_text()) for name in names]


def test_a_job_on_sound_nodes_starts(with_prolog: Start, tmp_path: Path) -> None:
    slurm = with_prolog()
    done = run_job(slurm, tmp_path)
    assert sorted(done.out.split()) == slurm.nodes, done.err + slurm.logs()
    assert ends_of(tmp_path) == [(0, "")] * NUM_NODES
    assert drained(slurm, tmp_path) == []


def test_only_the_bad_node_is_drained(with_prolog: Start, tmp_path: Path) -> None:
    slurm = with_prolog({"slow_host": 2, "factor": 3})
    done = run_job(slurm, tmp_path)
    assert done.out == "", "the job does not start"
    ends = ends_of(tmp_path)
    assert [status for status, _ in ends] == [0, 0, 1, 0], ends
    assert "node2 is to be drained (host node2 x" in ends[2][1]
    assert " drain: node2" in ends[0][1], "rank 0 says it for all"
    assert drained(slurm, tmp_path) == ["node2"]


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"PROGRAM": "/nowhere/leadline"}, "No such file"),
        ({"SECRET": "/nowhere/key"}, "/nowhere/key cannot be read"),
        ({"TRANSPORT": "model:/nowhere/fabric.json"}, "/nowhere/fabric.json"),
    ],
)
def test_what_cannot_be_checked_is_not_drained(
    with_prolog: Start, tmp_path: Path, variables: dict[str, str], why: str
) -> None:
    slurm = with_prolog({"slow_host": 2, "factor": 3}, **variables)
    done = run_job(slurm, tmp_path)
    assert sorted(done.out.split()) == slurm.nodes, done.err + slurm.logs()
    ends = ends_of(tmp_path)
    assert [status for status, _ in ends] == [0] * NUM_NODES, ends
    assert "not checked: " in ends[0][1]
    assert why in ends[0][1]
    assert drained(slurm, tmp_path) == []


def without_last_node(folder: Path) -> str:
    """What makes its prolog end at once, so that the others wait for it."""
    (folder / "said-node3").touch()
    return f'if [ "$SLURMD_NODENAME" = node3 ]; then echo 0 >{folder}/status-node3; exit 0; fi'


def test_it_ends_at_its_deadline(with_prolog: Start, tmp_path: Path) -> None:
    slurm = with_prolog(before=without_last_node(tmp_path), START="40", DEADLINE="2")
    done = run_job(slurm, tmp_path)
    assert sorted(done.out.split()) == slurm.nodes, done.err + slurm.logs()
    ends = ends_of(tmp_path)
    assert [status for status, _ in ends] == [0] * NUM_NODES, ends
    assert "not checked: it was not done after 2 s" in ends[0][1]
    assert drained(slurm, tmp_path) == []


def test_a_node_that_does_not_come_is_told_and_the_others_are_checked(with_prolog: Start, tmp_path: Path) -> None:
    words = "--wait block --fail 0.05 --bandwidth-size 64KiB"
    slurm = with_prolog(before=without_last_node(tmp_path), TRANSPORT="tcp", OPTIONS=words, START="3")
    done = run_job(slurm, tmp_path)
    assert sorted(done.out.split()) == slurm.nodes, done.err + slurm.logs()
    ends = ends_of(tmp_path)
    assert [status for status, _ in ends] == [0] * NUM_NODES, ends
    assert "not checked" not in ends[0][1]
    assert "rank 3" in ends[0][1], ends
    assert drained(slurm, tmp_path) == []


def test_a_part_of_the_nodes_is_checked(with_prolog: Start, tmp_path: Path) -> None:
    words = "--wait block --fail 0.05 --bandwidth-size 64KiB --sample 75% --json"
    slurm = with_prolog(PROGRAM="/bin/true")
    step = slurm.on(0, "srun", f"--nodes={NUM_NODES}", "--mpi=pmix", program.PROGRAM, "check", "--transport", "tcp",
                    "--no-files", "--budget", "3s", *words.split())  # fmt: skip
    with program.Run(step, tmp_path, slurm.environment, timeout=90) as run:
        done = run.finish()
    sample = json.loads(done.out)["sample"]
    assert sample["num_hosts_started"] == NUM_NODES
    assert len(sample["host_names"]) == 3
    assert sorted(sample["host_names"] + sample["not_tested"]) == slurm.nodes
