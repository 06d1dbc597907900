# SPDX-License-Identifier: Apache-2.0
"""The command line of `leadline io`: what it refuses, what it plans, what it explains, what it writes over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from program import Leadline

SIZE = 12288
FEW = ["--objects", "2", "--object-size", str(SIZE), "--wait", "yield", "--quiet"]

# Words after `leadline io`, the status, and what the line must name.
REFUSED: dict[str, tuple[list[str], int, list[str]]] = {
    "unknown option": (["--messages", "5"], 2, ["--messages"]),
    "unknown movement": (["--movement", "N-X"], 2, ["--movement", "N-X", "N-M-1"]),
    "half a word": (["--object-size", "1001"], 2, ["--object-size", "multiple of 8"]),
    "no object": (["--objects", "0"], 2, ["--objects"]),
    "many I/O ranks": (["--local", "2", "--movement", "N-M-M", "--io-ranks", "3"], 2, ["--io-ranks", "3"]),
    "an unknown host": (["--local", "2", "--movement", "N-M-M", "--io-hosts", "nowhere"], 2, ["--io-hosts", "nowhere"]),
    "part of an object": (["--local", "2", "--movement", "N-M-1", "--buffer-size", "20000"], 2,
                          ["--buffer-size", "12"]),
    "no number of files": (["--movement", "N-M"], 2, ["--files"]),
    "more files than ranks": (["--local", "2", "--movement", "N-M", "--files", "3"], 2, ["--files"]),
    "one name for all": (["--local", "2", "--target", "t"], 2, ["--target", "%r"]),
    "a name for each of one file": (["--local", "2", "--movement", "N-1", "--target", "t.%r"], 2, ["--target", "%r"]),
    "an unknown part of a name": (["--local", "2", "--target", "t.%x"], 2, ["%x"]),
    "no directory": (["--local", "2", "--target", "none/t.%r"], 2, ["none/t.0", "No such"]),
    "no list": (["--local", "2", "--targets", "none"], 2, ["--targets none", "No such file"]),
    "a backend without its launcher": (["--local", "2", "--backend", "mpi-io"], 3, ["mpi-io", "launcher"]),
    "an unknown backend": (["--backend", "hdf"], 2, ["--backend", "hdf", "posix"]),
    "hints for nobody": (["--local", "2", "--hints", "a=b"], 2, ["--hints", "posix"]),
    "nothing to read": (["--local", "2", "--op", "read", "--target", "t.%r"], 3, ["t.0", "--op read"]),
    "a shift round": (["--local", "2", "--read-shift", "ranks:2"], 2, ["--read-shift"]),
    "both ways past the cache": (["--direct", "--uncached"], 2, ["--direct", "--uncached"]),
    "more than the memory": (["--local", "2", "--objects", "1", "--object-size", "1TiB"], 3,
                             ["memory", "--object-size"]),
    "a queue of messages": (["--movement", "N-M-M", "--queue-depth", "8"], 2, ["--queue-depth", "N-M-M", "--ahead"]),
    "a queue of calls that wait": (["--barrier", "--queue-depth", "8"], 2, ["--queue-depth", "--barrier"]),
    "a queue of metadata": (["--metadata", "--queue-depth", "8"], 2, ["--queue-depth", "--metadata"]),
    "no queue": (["--queue-depth", "0"], 2, ["--queue-depth", "1 to 4096"]),
    "SION": (["--output", "r.sion"], 2, ["r.sion", ".h5"]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(leadline: Leadline, tmp_path: Path, case: str) -> None:
    words, status, named = REFUSED[case]
    usual = [] if "--objects" in words else ["--objects", "2"]
    usual += [] if "--object-size" in words else ["--object-size", str(SIZE)]
    leadline("io", *words, *usual).assert_refused(status, *named)
    assert list(tmp_path.iterdir()) == [], "a refused command line left a file"


def test_a_file_of_others_is_not_written_over(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "t.1").write_text("precious")
    words = ["io", "--local", "2", "--target", "t.%r", "--format", "none", *FEW]
    done = leadline(*words)
    assert done.status == 2
    assert all(word in done.complaint for word in ("t.1", "--overwrite-targets"))
    assert (tmp_path / "t.1").read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["t.1"]
    assert leadline(*words, "--overwrite-targets").status == 0
    assert (tmp_path / "t.1").stat().st_size == 2 * SIZE
    assert leadline(*words).status == 0, "files of an earlier run are ours"


def test_names_from_a_list(leadline: Leadline, tmp_path: Path) -> None:
    (tmp_path / "list").write_text("# where to\none file\n\nother\r\nthird\n")
    words = ["io", "--local", "4", "--movement", "N-M", "--targets", "list", "--format", "none", *FEW]
    assert leadline(*words, "--files", "2").status == 0
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir() if path.name != "list"}
    assert sizes == {"one file": 4 * SIZE, "other": 4 * SIZE}
    assert leadline(*words, "--delete").status == 0
    assert [path.name for path in tmp_path.iterdir()] == ["list"]


def test_plan(leadline: Leadline, tmp_path: Path) -> None:
    words = ["--dry-run", "--ranks", "6", "--ranks-per-host", "2", "--movement", "N-M-1", "--io-ranks", "2"]
    done = leadline("io", *words, "--objects", "4")
    assert (done.status, done.err) == (0, "")
    assert "Parallel file test of 6 ranks on 3 hosts: N-M-1\n" in done.out
    assert "I/O ranks: 2 (0, 3)" in done.out
    assert re.search(r"\n +4 +3 +0 +leadline-io +16 MiB to 20 MiB\n", done.out)
    assert list(tmp_path.iterdir()) == []


def test_plan_of_very_many(leadline: Leadline) -> None:
    done = leadline("io", "--dry-run", "--ranks", "1048576", "--ranks-per-host", "64", "--movement", "N-M-M",
                    "--io-ranks", "16384")  # fmt: skip
    assert (done.status, done.err) == (0, "")
    assert "1048576 ranks on 16384 hosts" in done.out
    assert done.out.count("\n") < 60
