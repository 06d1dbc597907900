# SPDX-License-Identifier: Apache-2.0
"""Each tutorial can be followed: its commands run, and print what it shows, but for numbers and what is measured."""

from __future__ import annotations

import shlex
from pathlib import Path

import program
import pytest
import tutorial
from built_program import needs_analysis
from program import Leadline

FAKE_GPUS = program.PROGRAM.parents[1] / "tests" / "fake_gpu"
# Four GPUs, of which the third copies slowly.
ENVIRONMENT = {"gpu-node": {"LD_LIBRARY_PATH": str(FAKE_GPUS), "FAKE_CUDA_COPY_MS": "8,8,50,8"}}
NAMES = sorted(path.stem for path in tutorial.FOLDER.glob("*.md"))


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_followed(tmp_path: Path, name: str) -> None:
    needs_analysis()
    if name == "gpu-node" and not (FAKE_GPUS / "libcuda.so.1").exists():
        pytest.skip(f"no fake devices in {FAKE_GPUS}")
    commands = 0
    for step in tutorial.steps(name):
        if isinstance(step, tutorial.SavedFile):
            (tmp_path / step.name).write_text(step.text, encoding="utf-8")
            continue
        commands += 1
        done = program.complete(["bash", "-c", step.text], tmp_path, env=ENVIRONMENT.get(name), timeout=60)
        is_bad = step.shown[:1] and step.shown[0].startswith("BAD ")
        assert done.status == (1 if is_bad else 0), f"$ {step.text}\n{done.err}"
        if not step.is_measured:
            assert tutorial.is_as_shown(done.out, step.shown), f"$ {step.text}\n{done.out}"
    assert commands >= 3, "it has no commands that this test finds"


@pytest.mark.parametrize("name", NAMES)
def test_command_lines_for_a_cluster_are_right(leadline: Leadline, tmp_path: Path, name: str) -> None:
    tutorial.write(tmp_path, name)
    texts = [step.text for step in tutorial.steps(name) if isinstance(step, tutorial.SavedFile)]
    lines = [*tutorial.on_a_cluster(name), *(line for text in texts for line in text.splitlines())]
    for line in lines:
        if not line.startswith(("srun ", "mpirun ")):
            continue
        words = shlex.split(line)
        words = [word for word in words[words.index("leadline") + 1 :] if word != "$@"]
        if "--output" in words:  # a plan is no result
            del words[words.index("--output") : words.index("--output") + 2]
        done = leadline(*words, "--dry-run", "--ranks", "200", "--ranks-per-host", "2")
        assert done.status == 0, f"{line}\n{done.err}"


def test_a_change_of_the_output_is_seen() -> None:
    shown = ["verdict: 2 faults found", "...", "  1. host node5 is slow: 1.5 times (1.4 to 1.6)"]
    assert tutorial.is_as_shown("verdict: 3 faults found\nmore\n  1. host node17 is slow: 2 times (1.25 to 3)\n", shown)
    assert not tutorial.is_as_shown("verdict: 3 faults found\n  1. rank 5 is slow: 2 times (1.25 to 3)\n", shown)
    assert not tutorial.is_as_shown("verdict: 3 faults found\n", shown)
