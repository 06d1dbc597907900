# SPDX-License-Identifier: Apache-2.0
"""Several calls of a rank under way at once: `leadline io --queue-depth`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import hanging_files as hanging
import program
import pytest
from io_runs import OMPIO, POSIX, SIZE, small
from test_io_faults import in_small_memory

pytestmark = pytest.mark.slow

DEPTH = ("--queue-depth", "4")


def document(tmp_path: Path) -> dict[str, Any]:
    return dict(json.loads((tmp_path / "r.json").read_text(encoding="utf-8")))


def run(tmp_path: Path, files: Path, *words: str | Path) -> program.Done:
    """Skips the test where the kernel has no such calls, or the file system no direct ones."""
    done = program.complete(small(POSIX, files, *DEPTH, *words), tmp_path)
    if done.status == 3:
        pytest.skip(done.complaint)
    return done


WAYS: dict[str, list[str]] = {
    "plain": [],
    "random": ["--random"],
    "direct": ["--direct"],
    "uncached": ["--uncached"],
    "held back": ["--rate-limit", "4MiB"],
    "in blocks": ["--movement", "N-1", "--strided", "--block-size", "128KiB", "--target", "files/f"],
    "others' objects": ["--read-shift", "ranks:1", "--drop-cache"],
    "deeper than there are objects": ["--objects", "3"],
    "without contents": ["--check", "none", "--touch", "never"],
}


@pytest.mark.parametrize("way", WAYS)
def test_what_comes_back_is_what_was_written(way: str, tmp_path: Path, files: Path) -> None:
    done = run(tmp_path, files, *WAYS[way])
    assert done.status == 0, done.err
    assert "POSIX: 4 calls under way at once (io_uring)" in done.out
    result = document(tmp_path)
    assert result["options"]["queue_depth"] == 4
    size = 2 * (3 if "--objects" in WAYS[way] else 8) * SIZE
    assert [phase["bytes"] for phase in result["phases"]] == [size, size]
    assert result["verified_bytes"] == (0 if "none" in WAYS[way] else size)


def test_a_mix(tmp_path: Path, files: Path) -> None:
    done = run(tmp_path, files, "--mix", "50:50", "--random", "--objects", "200")
    assert done.status == 0, done.err
    _, mix, read = document(tmp_path)["phases"]
    assert mix["reads"]["num_calls"] + mix["writes"]["num_calls"] == 400
    assert document(tmp_path)["verified_bytes"] == mix["reads"]["bytes"] + read["bytes"]


def test_the_same_until_the_clock_says_stop(tmp_path: Path, files: Path) -> None:
    done = run(tmp_path, files, "--objects", "1000000", "--object-size", "4KiB", "--time-limit", "0.1", "--delete")
    assert done.status == 0, done.err
    result = document(tmp_path)
    assert 0 < result["num_objects"] < 1000000
    write, read = result["phases"]
    assert 0 < read["bytes"] <= write["bytes"]
    assert result["verified_bytes"] == read["bytes"]


# Files that do not answer at once


def test_a_latency_is_from_the_beginning_of_a_call_to_its_end(
    frozen: hanging.HangingFiles, tmp_path: Path, files: Path
) -> None:
    """Four reads of rank 1 are under way and wait together, the other four and those of rank 0 do not."""
    frozen.freeze(hanging.READ, "f.1")
    with program.Run(small(POSIX, files, *DEPTH, "--slow-calls", "16"), tmp_path) as run:
        program.await_that(lambda: frozen.num_frozen == 4)
        frozen.answer()
        done = run.finish()
    assert done.status == 0, done.err
    assert frozen.num_frozen == 4
    slow = document(tmp_path)["phases"][1]["slow_calls"]
    first = sorted((call for call in slow if call["rank"] == 1), key=lambda call: call["begin_ns"])[:4]
    assert sorted(call["offset_bytes"] for call in first) == [0, SIZE, 2 * SIZE, 3 * SIZE]
    ends = [call["begin_ns"] + call["time_ns"] for call in first]
    assert max(call["begin_ns"] for call in first) < min(ends), "all of them began before one was done"


@pytest.mark.parametrize(("operation", "phase"), [(hanging.WRITE, "writing"), (hanging.READ, "reading")])
def test_an_error_of_the_device(
    operation: int, phase: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path
) -> None:
    frozen.fail(operation, "f.1", after=5)
    done = run(tmp_path, files)
    assert done.status == 4, done.err
    assert re.search(
        rf"leadline: rank 1 on \S+: {phase} 64 KiB at \d+ of {files}/f.1 failed \(Input/output error\)", done.err
    )
    failed = [one["bytes_per_s"] is None for one in document(tmp_path)["phases"]]
    assert failed == ([True] if phase == "writing" else [False, True])


def test_no_space_in_the_middle(tmp_path: Path, files: Path) -> None:
    words = [*DEPTH, "--movement", "N-1", "--target", files / "f", "--objects", "1000", "--time-limit", "50"]
    done = program.complete(in_small_memory(files, small(POSIX, files, *words)), tmp_path, timeout=100)
    if done.status == 3:
        pytest.skip(done.complaint)
    assert done.status == 4, done.err
    assert "No space left" in done.complaint
    assert str(files / "f") in done.complaint
    assert document(tmp_path)["phases"][0]["bytes_per_s"] is None


# Where there is no queue

# Forbids io_uring_setup(2), whose number is 425 everywhere, and becomes the program.
FORBID = """
import ctypes, os, struct, sys
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050000 | int(sys.argv[1])), (0x06, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = struct.pack("H6xP", len(steps), ctypes.addressof(code))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, program, 0, 0) != 0:
    sys.exit("no seccomp")
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.mark.parametrize(("number", "text"), [(1, "Operation not permitted"), (38, "Function not implemented")])
def test_a_kernel_that_forbids_it(number: int, text: str, tmp_path: Path, files: Path) -> None:
    command = [sys.executable, "-c", FORBID, str(number), *small(POSIX, files, *DEPTH)]
    done = program.complete(command, tmp_path)
    if "no seccomp" in done.err:
        pytest.skip("seccomp: not for this user")
    assert done.status == 3, done.err
    assert re.search(rf"no queue of calls \(io_uring\) for {files}/f\.\d \({text}: .*--queue-depth", done.complaint)


def test_a_library_of_mpi_has_none(tmp_path: Path, files: Path) -> None:
    done = program.complete(small(OMPIO, files, *DEPTH), tmp_path)
    assert done.status == 2
    assert "--queue-depth 4 cannot be had with --backend mpi-io" in done.complaint
    assert list(files.iterdir()) == []
