# SPDX-License-Identifier: Apache-2.0
"""Standard output that is full, closed or a pipe without a reader, and disks that fill up while rows are written."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from pathlib import Path

import numpy as np
import program
import pytest
from program import Leadline
from result import ResultFile

FEW = ["--local", "2", "--messages", "5", "--wait", "yield"]
SHELL = 'exec "$@"'


@pytest.mark.parametrize("words", [["--format", "none"], ["--output", "r.h5"], ["--output", "-"]])
def test_stdout_is_full(leadline: Leadline, tmp_path: Path, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = leadline("link", *FEW, *words, "--quiet", stdout=full)
    assert done.status == 4
    assert "standard output" in done.complaint
    assert "No space left" in done.complaint
    if "r.h5" in words:
        assert ResultFile(tmp_path / "r.h5").complete, "the file is whole, whoever could not be told"


@pytest.mark.parametrize(
    "words", [["--help"], ["link", "--help"], ["transports"], ["link", "--dry-run"], ["--version"]]
)
def test_stdout_is_full_for_a_text(leadline: Leadline, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = leadline(*words, stdout=full)
    assert done.status == 4
    assert "standard output (No space left on device)" in done.complaint
    assert done.err == done.complaint + "\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_disturb_nothing(tmp_path: Path, closed: str) -> None:
    """Whatever is opened next must not take their place: text would go into a file or a connection."""
    words = ["sh", "-c", f"{SHELL} {closed}", "sh", program.PROGRAM, "link", *FEW, "--output", "r.h5"]
    done = program.complete(words, tmp_path)
    result = ResultFile(tmp_path / "r.h5")
    assert result.complete
    assert np.array_equal(result.measured(), result.every_pair())
    nobody_was_told = ">&-" in closed.split()
    assert done.status == (4 if nobody_was_told else 0)
    if nobody_was_told and "2>&-" not in closed:
        assert "standard output" in done.complaint


@pytest.mark.parametrize("words", [["--output", "r.h5"], ["--output", "-"]])
def test_nobody_reads_stdout(tmp_path: Path, words: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = program.complete([program.PROGRAM, "link", *FEW, *words, "--quiet"], tmp_path, stdout=write)
    finally:
        os.close(write)
    assert done.status in (4, -13, 141)
    assert len(done.complaints) <= 1
    if "r.h5" in words:
        assert ResultFile(tmp_path / "r.h5").complete


def test_nobody_reads_stderr(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        words = [program.PROGRAM, "link", *FEW, "--output", "r.h5"]
        done = program.complete(words, tmp_path, stderr=write)
    finally:
        os.close(write)
    result = ResultFile(tmp_path / "r.h5")
    assert done.status != 0 or result.complete


def on_a_small_disk(tmp_path: Path, size: str, prepare: str, words: list[str]) -> program.Done:
    """Runs in a mount namespace of its own, where `disk` is so small, and copies what is on it to `saved`."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    (tmp_path / "disk").mkdir()
    (tmp_path / "saved").mkdir()
    mount = f"mount -t tmpfs -o size={size} none disk"
    may = subprocess.run(["unshare", "-m", "sh", "-c", mount], cwd=tmp_path, capture_output=True, text=True, timeout=20)
    if may.returncode != 0:
        pytest.skip(f"no mount namespaces here: {may.stderr.strip()}")
    script = f'{mount} && {prepare}; "$@"; status=$?; cp disk/* saved/; exit $status'
    return program.complete(["unshare", "-m", "sh", "-c", script, "sh", program.PROGRAM, *words], tmp_path)


def test_the_disk_is_full_at_the_start(tmp_path: Path) -> None:
    for ending in ("h5", "json"):
        folder = tmp_path / ending
        folder.mkdir()
        done = on_a_small_disk(
            folder, "64k", "head -c 64k /dev/zero > disk/other", ["link", *FEW, "--output", f"disk/r.{ending}"]
        )
        assert done.status == 4
        assert done.err == done.complaint + "\n", "it must be noticed before measuring"
        assert "No space left on device" in done.complaint
        assert not (folder / "saved" / f"r.{ending}").exists()


def test_the_disk_fills_up_while_rows_are_written(tmp_path: Path) -> None:
    sizes = ",".join(str(size) for size in range(1, 61))  # rows: 60 sizes * 12 * 12 pairs * 44 B = 380 KB
    words = ["link", "--local", "12", "--messages", "2", "--warmup", "0", "--retest", "0", "--quiet"]
    done = on_a_small_disk(tmp_path, "256k", "true", [*words, "--message-size", sizes, "--output", "disk/r.h5"])
    assert done.status == 4
    assert "disk/r.h5" in done.complaint
    assert "No space left on device" in done.complaint
    assert done.out == ""
    result = ResultFile(tmp_path / "saved" / "r.h5")
    assert not result.complete
    assert result.reason == done.complaint.removeprefix("leadline: ")
    assert np.array_equal(result.measured(size=0), result.every_pair()), "what was measured before is there"
    assert not result.measured(size=59).any()


def test_the_disk_is_too_small_for_the_summary(tmp_path: Path) -> None:
    words = ["link", "--local", "2", "--messages", "2", "--repeat", "8", "--quiet"]
    done = on_a_small_disk(tmp_path, "160k", "true", [*words, "--output", "disk/r.h5"])
    assert done.status == 4
    assert "No space left on device" in done.complaint
    result = ResultFile(tmp_path / "saved" / "r.h5")
    assert not result.complete
    assert np.array_equal(result.measured(7), result.every_pair())


def test_files_may_not_grow(leadline: Leadline) -> None:
    done = leadline(
        "link", *FEW, "--output", "r.h5", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    )
    assert done.status == 4
    assert "r.h5" in done.complaint
