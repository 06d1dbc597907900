# SPDX-License-Identifier: Apache-2.0
"""The wheel for 64-bit ARM, run by an emulator, where that is, with a C library for it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import program
import pytest
from test_wheel import unpacked_program

from conftest import wheel_for

# As Debian's package libc6-arm64-cross installs it.
C_LIBRARY = Path(os.environ.get("LEADLINE_AARCH64_ROOT") or "/usr/aarch64-linux-gnu")
QUICK = ["--local", "2", "--messages", "5", "--wait", "yield", "--quiet"]


@pytest.fixture(scope="module")
def leadline(tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    """The words that run the program."""
    wheel = wheel_for("aarch64")
    emulator = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if emulator is None:
        pytest.skip("qemu-aarch64 is not installed (Debian: qemu-user-static)")
    if not (C_LIBRARY / "lib" / "ld-linux-aarch64.so.1").exists():
        pytest.skip(f"no C library for ARM in {C_LIBRARY} (Debian: libc6-arm64-cross, or LEADLINE_AARCH64_ROOT)")
    elf = unpacked_program(wheel, tmp_path_factory.mktemp("aarch64"))
    elf.chmod(0o755)
    return [emulator, "-L", C_LIBRARY, elf]


def run(leadline: list[str | Path], folder: Path, *words: str) -> program.Done:
    """Without what other tests preload, which is for this machine."""
    return program.complete([*leadline, *words], folder, env={"LD_PRELOAD": ""}, timeout=120)


def test_it_says_its_version(leadline: list[str | Path], tmp_path: Path) -> None:
    of_this_machine = program.complete([program.PROGRAM, "--version"], tmp_path)
    done = run(leadline, tmp_path, "--version")
    assert (done.status, done.err) == (0, "")
    assert done.out.split()[:2] == of_this_machine.out.split()[:2]


def test_two_ranks_measure_the_link_between_them(leadline: list[str | Path], tmp_path: Path) -> None:
    done = run(leadline, tmp_path, "link", *QUICK, "--message-size", "8,64KiB", "--verify", "--output", "a.h5")
    assert done.status == 0, done.err
    about = program.complete([program.PROGRAM, "info", "a.h5"], tmp_path)
    assert about.status == 0, about.err
    assert "aarch64" in about.out


def test_blocks_that_one_processor_has_written_the_other_reads(leadline: list[str | Path], tmp_path: Path) -> None:
    """Each block has a CRC32C, which both compute with an instruction of their own."""
    words = ["io", "--local", "2", "--objects", "4", "--object-size", "64KiB", "--wait", "yield", "--quiet"]
    assert run(leadline, tmp_path, *words, "--op", "write", "--format", "none").status == 0
    done = program.complete([program.PROGRAM, *words, "--op", "read", "--output", "read.json"], tmp_path)
    assert done.status == 0, done.err
    damaged = tmp_path / "leadline-io.0"
    with damaged.open("r+b") as file:
        file.seek(3 * 64 * 1024 + 2000)
        file.write(b"other")
    assert run(leadline, tmp_path, *words, "--op", "read", "--format", "none").status != 0
