# SPDX-License-Identifier: Apache-2.0
"""No headline of `leadline io` is above what its storage can do."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import program
import pytest
from throttled_disk import NotHereError, ThrottledDisk

MIB = 1 << 20
RATE = 512 * MIB  # bytes a second: so fast that checking contents takes a good part of the time
DISK = 1280 * MIB


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ThrottledDisk]:
    try:
        with ThrottledDisk(tmp_path_factory.mktemp("disk") / "mounted", DISK, RATE) as made:
            yield made
    except NotHereError as reason:
        pytest.skip(f"no throttled device here: {reason}")


def run(disk: ThrottledDisk, folder: Path, ranks: int, size_bytes: int, *words: str, cores: str = "") -> dict[str, Any]:
    """What a run of so many bytes says, on these cores; all of it is synced, and read again."""
    objects = size_bytes // ranks // MIB
    place = ["taskset", "--cpu-list", cores] if cores else []
    command = [*place, program.PROGRAM, "io", "--local", str(ranks), "--objects", str(objects), "--quiet", "--delete",
               "--wait", "yield", "--target", disk.folder / "f.%r", "--output", "r.json", *words]  # fmt: skip
    done = program.complete(disk.inside(*command), folder, timeout=120)
    assert done.status == 0, done.err
    document: dict[str, Any] = json.loads((folder / "r.json").read_text())
    assert document["verified_bytes"] == size_bytes
    return document


def phase_of(document: dict[str, Any], operation: str) -> dict[str, Any]:
    (phase,) = (one for one in document["phases"] if one["operation"] == operation)
    assert isinstance(phase, dict)
    return phase


def is_possible(num_bytes: int, bytes_per_s: float) -> bool:
    """Whether the device lets so much through in the time that follows from a rate."""
    return RATE * (num_bytes / bytes_per_s + ThrottledDisk.SLACK_S) >= num_bytes


def expect_possible(document: dict[str, Any], operation: str) -> None:
    phase = phase_of(document, operation)
    (summed,) = (one for one in document["operations"] if one["operation"] == operation)
    for rate in (phase["bytes_per_s"], phase["bytes_per_s_wall"], summed["bytes_per_s_median"]):
        assert is_possible(phase["bytes"], rate), f"{rate / MIB:.1f} MiB/s"


@pytest.mark.parametrize("contents_by", ["rank", "helper"])
def test_no_read_is_faster_than_its_device(disk: ThrottledDisk, tmp_path: Path, contents_by: str) -> None:
    """The kernel reads ahead while contents are checked, by the rank or beside it."""
    cores = sorted(os.sched_getaffinity(0))
    if contents_by == "helper" and len(cores) < 2:
        pytest.skip("a helper needs a second core")
    few = {"rank": str(cores[0]), "helper": ""}[contents_by]
    document = run(disk, tmp_path, 1, 1024 * MIB, "--drop-cache", cores=few)
    assert document["contents_by"] == contents_by
    assert phase_of(document, "read")["source"] == "storage"
    expect_possible(document, "read")


def test_no_direct_write_is_faster_than_its_device(disk: ThrottledDisk, tmp_path: Path) -> None:
    document = run(disk, tmp_path, 2, 256 * MIB, "--direct")
    expect_possible(document, "write")
    expect_possible(document, "read")
    assert phase_of(document, "write")["bytes_per_s_first_done"] > 0
