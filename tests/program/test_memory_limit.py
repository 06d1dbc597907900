# SPDX-License-Identifier: Apache-2.0
"""A job whose control group limits its memory, as Slurm and containers do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import program
import pytest

MIB = 1 << 20
GROUPS = Path("/sys/fs/cgroup")


def group_with_limit(size_bytes: int) -> Path:
    """A new group below the root one, of whichever version has the memory controller."""
    first_version = GROUPS / "memory"
    is_first = (first_version / "memory.limit_in_bytes").exists()
    group = (first_version if is_first else GROUPS) / f"leadline-test-{os.getpid()}"
    try:
        group.mkdir()
        limit = "memory.limit_in_bytes" if is_first else "memory.max"
        (group / limit).write_text(str(size_bytes))
        swap = group / ("memory.memsw.limit_in_bytes" if is_first else "memory.swap.max")
        if swap.exists():
            swap.write_text(str(size_bytes) if is_first else "0")
    except OSError as error:
        if group.exists():
            group.rmdir()
        pytest.skip(f"needs a control group of its own for memory: {error}")
    return group


@pytest.fixture(params=[30])
def group(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Of so many MiB: 30 are enough for four ranks and their libraries, not for what they are asked to do."""
    group = group_with_limit(request.param * MIB)
    yield group
    program.await_that(lambda: (group / "cgroup.procs").read_text() == "")
    group.rmdir()


def complete_in(group: Path, folder: Path, *words: str) -> program.Done:
    inside = ["bash", "-c", 'echo $$ > "$0" && exec "$@"', group / "cgroup.procs"]
    return program.complete([*inside, program.PROGRAM, *words], folder)


def test_buffers_that_do_not_fit_are_refused(group: Path, tmp_path: Path) -> None:
    done = complete_in(group, tmp_path, "link", "--local", "4", "--message-size", "8MiB", "--output", "r.h5")
    assert done.status == 3
    assert "the message buffers do not fit into memory (4 ranks on a host need 64.0 MiB, " in done.complaint
    assert not (tmp_path / "r.h5").exists()


@pytest.mark.parametrize("group", [8], indirect=True)
def test_a_rank_that_the_kernel_ends_for_want_of_memory(group: Path, tmp_path: Path) -> None:
    words = ["link", "--local", "16", "--message-size", "1", "--messages", "10", "--output", "r.h5"]
    done = complete_in(group, tmp_path, *words)
    assert done.status in (1, 4), "without some ranks, or with none where it is the first"
    assert "(killed by signal 9, Killed). The memory that this job may use (its control group) ran out" in done.err
