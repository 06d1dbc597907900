# SPDX-License-Identifier: Apache-2.0
"""`leadline io --time-based`: the same objects again and again, rates without a ramp, and what is in the files then."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import program
import pytest
from io_runs import POSIX, SIZE, small

OBJECTS = 4
PASS_BIT = 1 << 31
AGAIN = ("--objects", str(OBJECTS), "--time-based", "--time-limit", "300ms", "--sync", "none")

WAYS: dict[str, list[str]] = {
    "plain": [],
    "random": ["--random"],
    "several under way": ["--queue-depth", "3"],
    "more than there are objects": ["--queue-depth", "16"],
    "non-blocking": ["--calls", "non-blocking", "--ahead", "2"],
    "a mix": ["--mix", "50:50", "--random"],
    "a mix under way": ["--mix", "50:50", "--queue-depth", "3"],
    "one file": ["--movement", "N-1", "--strided", "--target", "files/f"],
    "in step": ["--movement", "N-1", "--barrier", "--target", "files/f"],
    "a funnel": ["--movement", "N-M-1", "--io-ranks", "1", "--buffer-size", "192KiB", "--target", "files/f"],
    "others' objects": ["--read-shift", "ranks:1", "--repeat", "2"],
    "never new": ["--touch", "never"],
}


def run(tmp_path: Path, files: Path, *words: str | Path, status: int = 0) -> program.Done:
    done = program.complete(small(POSIX, files, *words), tmp_path)
    if done.status == 3 and "io_uring" in done.err:
        pytest.skip(done.complaint)
    assert done.status == status, done.err
    return done


def document(tmp_path: Path) -> dict[str, Any]:
    return dict(json.loads((tmp_path / "r.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize("way", WAYS)
def test_every_read_gives_what_was_written_last(way: str, tmp_path: Path, files: Path) -> None:
    run(tmp_path, files, *AGAIN, *WAYS[way])
    result = document(tmp_path)
    assert result["num_objects"] == OBJECTS
    num_read = 0
    for phase in result["phases"]:
        assert phase["has_stop"]
        assert phase["num_objects"] > 2 * OBJECTS
        assert phase["bytes"] == sum(phase["series"]["bytes"]) == phase["num_objects"] * SIZE
        num_read += phase["reads"]["bytes"] if phase["operation"] == "mix" else 0
        num_read += phase["bytes"] if phase["operation"] == "read" else 0
    assert result["verified_bytes"] == num_read


def test_rates_do_not_count_the_ramp(tmp_path: Path, files: Path) -> None:
    """Each rank moves 2 MiB a second, and an object takes a 32nd of it."""
    rate = 2 << 20
    words = ["--rate-limit", "2MiB", "--objects", "8", "--time-based", "--ramp-time", "500ms", "--time-limit", "1s"]
    done = run(tmp_path, files, *words, "--sync", "none")
    assert "behind a ramp of 5" in done.out
    assert "| is the end of the ramp" in done.out
    for phase in document(tmp_path)["phases"]:
        assert phase["ramp_ns"] >= 0.5e9
        assert phase["bytes"] == phase["num_calls"] * SIZE == phase["num_objects"] * SIZE
        assert sum(bucket["num"] for bucket in phase["latencies"]) == phase["num_calls"]
        assert sum(phase["series"]["bytes"]) == phase["bytes"] + phase["ramp_bytes"]
        assert phase["ramp_bytes"] <= 2 * (rate * phase["ramp_ns"] / 1e9 + SIZE)
        assert phase["bytes"] <= 2 * (rate * phase["wall_ns"] / 1e9 + SIZE)
        assert phase["bytes_per_s"] == pytest.approx(2 * rate, rel=0.25)
        assert phase["bytes_per_s_at_stop"] == pytest.approx(2 * rate, rel=0.25)
        assert phase["operations_per_s"] == pytest.approx(phase["bytes_per_s"] / SIZE)
        assert all(call["begin_ns"] >= 0.5e9 for call in phase["slow_calls"])


def test_passes_through_the_page_cache_are_not_from_storage(tmp_path: Path, files: Path) -> None:
    """Whatever was there before the first one."""
    run(tmp_path, files, *AGAIN, "--drop-cache")
    assert document(tmp_path)["phases"][1]["source"] in ("mixed", "cache")


def generations(path: Path) -> list[int]:
    """Of the first block of each object, as docs/formats/blocks.md says."""
    data = path.read_bytes()
    return [struct.unpack_from("<I", data, at + 44)[0] for at in range(0, len(data), SIZE)]


def test_blocks_say_which_pass_wrote_them(tmp_path: Path, files: Path) -> None:
    run(tmp_path, files, *AGAIN, "--op", "write", "--output", "r.h5")
    with h5py.File(tmp_path / "r.h5") as file:
        num_written = np.asarray(file["io/ranks/num_objects"])[0].tolist()
    for rank, num in enumerate(num_written):
        last = [(num - 1 - number) // OBJECTS for number in range(OBJECTS)]
        assert generations(files / f"f.{rank}") == [PASS_BIT + number for number in last]


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def of_another_pass(block: bytes) -> bytes:
    (generation,) = struct.unpack_from("<I", block, 44)
    changed = block[:44] + struct.pack("<II", generation + 1, 0) + block[52:]
    return changed[:48] + struct.pack("<I", crc32c(changed)) + changed[52:]


def test_a_later_run_reads_them(tmp_path: Path, files: Path) -> None:
    """An object may be of any pass, but all of it of one."""
    run(tmp_path, files, *AGAIN, "--op", "write")
    read = ("--op", "read", "--objects", str(OBJECTS), "--overwrite")
    for words in ([], ["--time-based", "--time-limit", "100ms"]):
        run(tmp_path, files, *read, *words)
        result = document(tmp_path)
        assert result["verified_bytes"] == result["phases"][0]["bytes"] > 0
    data = bytearray((files / "f.1").read_bytes())
    data[SIZE + 4096 : SIZE + 8192] = of_another_pass(data[SIZE + 4096 : SIZE + 8192])
    (files / "f.1").write_bytes(data)
    done = run(tmp_path, files, *read, status=4)
    assert "object 1 of rank 1 (at byte 65536, wrong from byte 69676) is another pass's" in done.err


def test_a_plan_says_what_is_repeated(tmp_path: Path, files: Path) -> None:
    words = ["--dry-run", "--ranks", "2", *AGAIN, "--ramp-time", "10s", "--target", files / "f.%r"]
    done = program.complete([program.PROGRAM, "io", *words], tmp_path)
    assert done.status == 0, done.err
    assert "Data: 4 objects of 1 MiB a rank, again and again" in done.out
    assert "each, behind 10" in done.out
