# SPDX-License-Identifier: Apache-2.0
"""Full disks, short writes, errors, damaged files, lost ranks: the parallel file test says what happened, ends in time,
keeps what it measured, and reports nothing as done that was not."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import h5py
import program
import pytest
from io_runs import OMPIO, POSIX, SIZE, STACKS, Stack, small
from program import Leadline
from result import status_of, text_of

pytestmark = pytest.mark.slow


@pytest.fixture(params=STACKS, ids=lambda stack: stack.name)
def stack(request: pytest.FixtureRequest) -> Stack:
    return request.param


def document(tmp_path: Path) -> dict[str, Any]:
    return dict(json.loads((tmp_path / "r.json").read_text(encoding="utf-8")))


def rates(tmp_path: Path) -> list[float | None]:
    return [phase["bytes_per_s"] for phase in document(tmp_path)["phases"]]


# Full disks


def in_small_memory(folder: Path, command: list[str | Path]) -> list[str | Path]:
    """The command where `folder` is a file system of 4 MiB that nobody else sees, and that goes with it."""
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        pytest.skip("no namespace of mounts may be made here")
    mount = 'mount -t tmpfs -o size=4m tmpfs "$0" && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", mount, folder, *command]


@pytest.mark.parametrize("calls", ["independent", "collective"])
def test_no_space_in_the_middle(stack: Stack, calls: str, tmp_path: Path, files: Path) -> None:
    if calls == "collective" and stack is POSIX:
        pytest.skip("POSIX has no collective calls")
    words = ["--movement", "N-1", "--target", files / "f", "--objects", "1000", "--time-limit", "50"]
    words += ["--collective", "--allow-fragile"] if calls == "collective" else []
    done = program.complete(in_small_memory(files, small(stack, files, *words)), tmp_path, timeout=100)
    assert done.status == 4, done.err
    assert "No space left" in done.complaint or "no byte was written" in done.complaint or "space" in done.complaint
    assert re.search(r"rank \d", done.complaint)
    assert str(files / "f") in done.complaint
    result = document(tmp_path)
    assert result["complete"] is False
    assert result["incomplete_reason"] == done.complaint.removeprefix("leadline: ")
    assert rates(tmp_path) == [None]
    assert done.out.startswith("INCOMPLETE: ")
    assert not re.search(r"^write: ", done.out, re.MULTILINE), "a rate of what did not happen"


def test_space_that_is_missing_from_the_start(stack: Stack, tmp_path: Path, files: Path) -> None:
    done = program.complete(in_small_memory(files, small(stack, files, "--objects", "1000")), tmp_path)
    assert done.status == 3, done.err
    assert str(files) in done.complaint


# Calls that misbehave


@pytest.fixture(scope="session")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes calls misbehave."""
    library = tmp_path_factory.mktemp("faulty") / "faulty_files.so"
    source = program.ROOT / "tests" / "support" / "faulty_files.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


def with_fault(library: Path, kind: str, call: int, file: str = "/files/f") -> dict[str, str]:
    variables = {"FAULTY_FILE": file, "FAULTY_KIND": kind, "FAULTY_CALL": str(call)}
    return variables | {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}


def test_short_writes_are_continued(stack: Stack, faulty: Path, tmp_path: Path, files: Path) -> None:
    """By us, which is counted, or by the library itself; what is read back is right either way."""
    done = program.complete(small(stack, files), tmp_path, env=with_fault(faulty, "short", 3))
    assert done.status == 0, done.err
    write, read = document(tmp_path)["phases"]
    assert read["num_mismatches"] == 0
    if stack in (POSIX, OMPIO):
        assert write["num_continued"] > 0
        assert any(finding["id"] == "continued_calls" for finding in document(tmp_path)["findings"])


def test_an_error_of_the_device(stack: Stack, faulty: Path, tmp_path: Path, files: Path) -> None:
    """OMPIO tells it as a success that moved nothing."""
    done = program.complete(small(stack, files), tmp_path, env=with_fault(faulty, "eio", 3))
    if done.status == 0:
        # OMPIO moved less than asked and said success: the rest was written again, and counted.
        assert stack is OMPIO
        assert document(tmp_path)["phases"][0]["num_continued"] > 0
        return
    assert done.status == 4, done.err
    assert re.search(r"rank \d", done.complaint)
    assert "/files/f." in done.complaint
    assert rates(tmp_path)[0] is None


def test_a_call_that_writes_nothing(faulty: Path, tmp_path: Path, files: Path) -> None:
    done = program.complete(small(POSIX, files), tmp_path, env=with_fault(faulty, "zero", 3))
    assert done.status == 4
    assert "131072" in done.complaint, "the offset of the third object"
    assert rates(tmp_path) == [None]


def test_an_error_while_reading(stack: Stack, faulty: Path, tmp_path: Path, files: Path) -> None:
    """OMPIO tells it as a success that moved nothing, as at the end of the file."""
    done = program.complete(small(stack, files), tmp_path, env=with_fault(faulty, "eio-read", 4, "/files/f.1"))
    assert done.status == 4, done.err
    assert "truncated" not in done.err
    assert re.search(rf"rank 1 on \S+: reading 64 KiB at \d+ of {files}/f.1 failed", done.complaint)
    if stack is POSIX:
        assert "reading 64 KiB at 196608 of" in done.complaint
        assert "Input/output error" in done.complaint
    write, read = rates(tmp_path)
    assert write is not None, "what was measured before stays"
    assert read is None


def test_a_quota_that_is_told_when_the_file_is_closed(stack: Stack, faulty: Path, tmp_path: Path, files: Path) -> None:
    """Open MPI keeps it to itself. ROMIO closes a file that it has created and opens it again."""
    env = with_fault(faulty, "edquot-close", 1 if stack in (POSIX, OMPIO) else 2, "/files/f.1")
    done = program.complete(small(stack, files), tmp_path, env=env)
    assert done.status == 4, done.err
    assert re.search(rf"rank 1 on \S+: closing {files}/f.1 failed", done.complaint)
    assert "Disk quota exceeded" in done.complaint
    assert "Make room there, or write less" in done.complaint
    assert rates(tmp_path) == [None]
    assert "verified" not in done.out


def test_files_that_may_not_grow(tmp_path: Path, files: Path) -> None:
    """Beyond 64 KiB, one object. Launchers of MPI make longer files themselves."""
    limited: list[str | Path] = ["sh", "-c", 'ulimit -f 128 && exec "$@"', "sh", *small(POSIX, files)]
    done = program.complete(limited, tmp_path)
    assert done.status == 4, done.err
    assert re.search(rf"rank \d on \S+: writing 64 KiB at 65536 of {files}/f.\d failed", done.complaint)
    assert "File too large" in done.complaint
    assert "ulimit -f" in done.complaint


def test_a_call_that_never_returns(stack: Stack, faulty: Path, tmp_path: Path, files: Path) -> None:
    env = with_fault(faulty, "hang", 3, "/files/f.1")
    done = program.complete(small(stack, files, "--timeout", "2s"), tmp_path, env=env)
    assert done.status == 4, done.err
    assert re.search(
        rf"leadline: rank 1 on \S+ has waited for a file system for [\d.]+ s in write phase 1 of 2, object \d of 8, "
        rf"writing 64 KiB at \d+ of {files}/f.1 since [\d:]{{8}} UTC \(it does not answer\)",
        done.err,
    )
    if stack is POSIX:
        assert "object 2 of 8, writing 64 KiB at 131072 of" in done.err
    (phase,) = document(tmp_path)["phases"]
    assert phase["is_interrupted"]
    assert [one["rank"] for one in phase["at_interruption"]] == [0, 1]
    assert "writing 64 KiB at" in phase["at_interruption"][1]["call"]
    assert "write 0 was interrupted: what 2 of 2 ranks had moved until then" in done.out


INSIDE = {
    "hang": "write phase 1 of 2, object 2 of 8, writing 64 KiB at 131072 of",
    "hang-read": "read phase 2 of 2, object 2 of 8, reading 64 KiB at 131072 of",
    "hang-close": "write phase 1 of 2, behind its last object, closing",
}


@pytest.mark.parametrize(
    ("kind", "blow"), [*((kind, signal.SIGKILL) for kind in INSIDE), ("hang-read", signal.SIGSTOP)]
)
def test_a_rank_that_is_lost_inside_a_call_is_told_there(
    kind: str, blow: signal.Signals, faulty: Path, tmp_path: Path, files: Path
) -> None:
    """Its own place, not that of whoever tells of it."""
    call = 1 if kind == "hang-close" else 3
    command = small(POSIX, files, "--timeout", "8s", "--strict-ranks", "--output", "r.h5", ranks=3)
    with program.Run(command, tmp_path, with_fault(faulty, kind, call, "/files/f.2")) as run:
        run.await_err(rf"rank 2 on \S+ has waited for a file system .* in {INSIDE[kind]} {files}/f.2 since")
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            os.kill(int(file["ranks/pid"][2]), blow)
        done = run.finish()
    assert done.status == 4, done.err
    how = "died" if blow == signal.SIGKILL else "has been silent for 8 s"
    assert re.search(rf"leadline: rank 2 on \S+ {how} in {INSIDE[kind]} {files}/f.2 since", done.err)
    complete, reason = status_of(tmp_path / "r.h5")
    assert not complete
    assert INSIDE[kind] in reason


# Damage between writing and reading


def written(stack: Stack, tmp_path: Path, files: Path) -> None:
    done = program.complete(small(stack, files, "--op", "write"), tmp_path)
    assert done.status == 0, done.err


def read_again(stack: Stack, tmp_path: Path, files: Path) -> program.Done:
    return program.complete(small(stack, files, "--op", "read", "--overwrite"), tmp_path)


def assert_wrong(done: program.Done, tmp_path: Path, kind: str, rank: int, file: Path, offset: int) -> None:
    assert done.status == 4, done.err
    assert str(file) in done.complaint
    assert f"rank {rank}" in done.complaint
    assert str(offset) in done.complaint
    wrong = document(tmp_path)["phases"][0]["wrong"]
    assert [one["kind"] for one in wrong][:1] == [kind]
    assert rates(tmp_path) == [None], "wrong data have no rate"


def test_a_flipped_bit(stack: Stack, tmp_path: Path, files: Path) -> None:
    written(stack, tmp_path, files)
    with (files / "f.1").open("r+b") as file:
        file.seek(3 * SIZE + 5000)
        byte = file.read(1)[0]
        file.seek(3 * SIZE + 5000)
        file.write(bytes([byte ^ 4]))
    assert_wrong(read_again(stack, tmp_path, files), tmp_path, "bit_flips", 1, files / "f.1", 3 * SIZE + 5000)


def test_a_file_cut_short(stack: Stack, tmp_path: Path, files: Path) -> None:
    """Between the two phases, while the run goes on: the file is there and long enough when it is looked at first."""
    written(stack, tmp_path, files)
    os.truncate(files / "f.0", 7 * SIZE)
    done = read_again(stack, tmp_path, files)
    assert done.status in (2, 3, 4)
    assert str(files / "f.0") in done.complaint


def test_a_file_cut_short_while_the_run_goes_on(stack: Stack, tmp_path: Path, files: Path) -> None:
    command = small(stack, files, "--sleep", "3", "--output", "r.json")
    with program.Run(command, tmp_path) as run:
        program.await_that(lambda: len(list(files.glob("f.*"))) == 2 and "sleep" in run.err.lower())
        os.truncate(files / "f.0", 7 * SIZE)
        done = run.finish()
    assert done.status == 4, done.err
    assert str(files / "f.0") in done.complaint
    phases = document(tmp_path)["phases"]
    assert phases[0]["bytes_per_s"] is not None
    assert phases[1]["bytes_per_s"] is None
    assert phases[1]["wrong"][0]["kind"] == "truncated"


def test_a_hole(tmp_path: Path, files: Path) -> None:
    written(POSIX, tmp_path, files)
    with (files / "f.0").open("r+b") as file:
        file.seek(2 * SIZE)
        file.write(bytes(SIZE))
    assert_wrong(read_again(POSIX, tmp_path, files), tmp_path, "zeros", 0, files / "f.0", 2 * SIZE)


def test_a_torn_block(tmp_path: Path, files: Path) -> None:
    """Its header and its first half are as they should be."""
    written(POSIX, tmp_path, files)
    with (files / "f.0").open("r+b") as file:
        file.seek(5 * SIZE + 2048)
        other = file.read(2048)
        file.seek(2 * SIZE + 2048)
        file.write(other)
    assert_wrong(read_again(POSIX, tmp_path, files), tmp_path, "torn", 0, files / "f.0", 2 * SIZE + 2048)


@pytest.mark.parametrize("words", [("--object-size", "32KiB"), ("--object-size", "128KiB", "--objects", "4")])
def test_objects_of_another_size_are_no_damage(words: tuple[str, ...], tmp_path: Path, files: Path) -> None:
    written(POSIX, tmp_path, files)
    done = program.complete(small(POSIX, files, "--op", "read", "--overwrite", *words), tmp_path)
    assert done.status == 2, done.err
    said = rf"{files}/f.[01] was written with other objects \(byte \d+ belongs to object \d of rank"
    assert re.search(said, done.complaint)
    assert "--object-size" in done.complaint
    assert "trust" not in done.err


def test_swapped_objects(tmp_path: Path, files: Path) -> None:
    written(POSIX, tmp_path, files)
    content = bytearray((files / "f.1").read_bytes())
    content[:SIZE], content[SIZE : 2 * SIZE] = content[SIZE : 2 * SIZE], content[:SIZE]
    (files / "f.1").write_bytes(content)
    assert_wrong(read_again(POSIX, tmp_path, files), tmp_path, "shifted", 1, files / "f.1", 0)


def test_swapped_files(tmp_path: Path, files: Path) -> None:
    written(POSIX, tmp_path, files)
    (files / "f.0").rename(files / "x")
    (files / "f.1").rename(files / "f.0")
    (files / "x").rename(files / "f.1")
    done = read_again(POSIX, tmp_path, files)
    assert done.status == 4
    assert document(tmp_path)["phases"][0]["wrong"][0]["kind"] in ("other_rank", "other_file")


def test_files_of_two_runs(tmp_path: Path, files: Path) -> None:
    written(POSIX, tmp_path, files)
    shutil.copy(files / "f.1", tmp_path / "old")
    again = program.complete(small(POSIX, files, "--op", "write", "--overwrite"), tmp_path)
    assert again.status == 0, again.err
    shutil.copy(tmp_path / "old", files / "f.1")
    done = read_again(POSIX, tmp_path, files)
    assert done.status == 4
    assert document(tmp_path)["phases"][0]["wrong"][0]["kind"] == "other_run"


def test_a_vanished_directory(stack: Stack, tmp_path: Path, files: Path) -> None:
    with program.Run(small(stack, files, "--sleep", "3"), tmp_path) as run:
        program.await_that(lambda: "sleep" in run.err.lower())
        files.rename(tmp_path / "elsewhere")
        done = run.finish()
    assert done.status == 4, done.err
    assert str(files) in done.complaint
    assert "No such file" in done.complaint or "not exist" in done.complaint.lower()
    write, read = rates(tmp_path)
    assert write is not None
    assert read is None


# Lost ranks


def long(stack: Stack, files: Path, *words: str | Path, ranks: int = 4) -> list[str | Path]:
    endless = (
        "--objects",
        "1000000",
        "--time-limit",
        "50",
        "--output",
        "r.h5",
        "--object-size",
        "4KiB",
        "--timeout",
        "2s",
    )
    return stack.command(ranks, "--wait", "yield", *endless, "--target", files / "f.%r", *words)


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("movement", ["N-N", "N-M-M"])
def test_a_rank_is_lost(movement: str, blow: signal.Signals, tmp_path: Path, files: Path) -> None:
    more = ["--io-ranks", "2"] if movement == "N-M-M" else []
    command = long(POSIX, files, "--movement", movement, "--strict-ranks", *more)
    with program.Run(command, tmp_path, timeout=90) as run:
        program.await_that(lambda: any(file.stat().st_size > SIZE for file in files.glob("f.*")))
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            victim = int(file["ranks/pid"][1])
        time.sleep(1.5)  # a heartbeat has said where the rank is
        os.kill(victim, blow)
        done = run.finish()
    assert done.status == 4
    assert "rank 1" in done.complaint
    assert "write" in done.complaint, "where it was"
    complete, reason = status_of(tmp_path / "r.h5")
    assert not complete
    assert reason == done.complaint.removeprefix("leadline: ")
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["io/phases/state"][0] != 1
        phase = json.loads(text_of(file["io/phases/summary"][0]))
        assert (file["io/ranks/end_ns"][0] > 0).tolist() == [True, False, True, True], "how far the others were"
        assert file["io/ranks/bytes"][0, 0] > 0
    assert phase["is_interrupted"]
    assert phase["bytes_per_s"] is None
    assert [one["rank"] for one in phase["at_interruption"]] == [0, 2, 3]


@pytest.mark.parametrize("movement", ["N-N", "N-1"])
@pytest.mark.parametrize(("victim", "blow"), [(1, signal.SIGKILL), (1, signal.SIGSTOP), (0, signal.SIGKILL)])
def test_the_run_goes_on_without_a_rank(
    leadline: Leadline, movement: str, victim: int, blow: signal.Signals, tmp_path: Path, files: Path
) -> None:
    """The phase in which it is lost has no rate; what it may not have written is read by nobody."""
    target = files / ("f.%r" if movement == "N-N" else "f")
    words = ["--movement", movement, "--object-size", "512", "--objects", "2000000", "--time-limit", "2600ms",
             "--delete", "--repeat", "2", "--read-shift", "ranks:1", "--timeout", "2s", "--output", "r.h5"]  # fmt: skip
    command = POSIX.command(4, "--wait", "yield", "--target", target, *words)
    with program.Run(command, tmp_path, program.SLOW_FILES, timeout=90) as run:
        program.await_that(lambda: any(file.stat().st_size > SIZE for file in files.glob("f*")))
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            pid = int(file["ranks/pid"][victim])
        time.sleep(0.6)  # three heartbeats: the others have heard where it is
        os.kill(pid, blow)
        done = run.finish()
    assert done.status == 1, done.err
    of_victim = rf"leadline: rank {victim} on .* in write .* The run goes on without rank {victim}$"
    assert re.match(of_victim, done.complaints[0]), done.complaints
    assert done.complaints[1] == "leadline: ranks were lost during the run: see the findings"
    assert f"1 rank was lost during the run: rank {victim} on " in done.out
    assert status_of(tmp_path / "r.h5") == (True, "")
    with h5py.File(tmp_path / "r.h5") as file:
        summary = json.loads(text_of(file["summary"][()]))
        assert file["io/phases/state"][:].tolist() == [2, 1, 1, 1]
        objects = file["io/ranks/num_objects"][:]
    phases = summary["phases"]
    assert len(summary["files"]) == (4 if movement == "N-N" else 1)
    assert (objects[1:, victim] == 0).all()
    assert (objects[2] > 0).tolist() == [rank != victim for rank in range(4)]
    read_by_others = [rank not in (victim, (victim - 1) % 4) for rank in range(4)]
    assert (objects[3] > 0).tolist() == read_by_others, "the rank before it would read what it wrote"
    first, *others = phases
    assert not first["is_complete"]
    assert first["error"].startswith(f"rank {victim} on "), first
    assert first["bytes_per_s"] is None
    assert all(one["is_complete"] and one["bytes_per_s"] > 0 and one["num_mismatches"] == 0 for one in others), others
    assert list(files.glob("f*")) == [], "files of the lost rank are deleted, too"
    report = leadline("report", "r.h5")
    assert (report.status, report.err) == (0, "")


def test_of_a_lost_rank_the_run_and_diagnose_say_the_same(leadline: Leadline, tmp_path: Path, files: Path) -> None:
    """The root has no rows of it, the file has those of the phases before."""
    words = ["--object-size", "512", "--objects", "1000", "--op", "write", "--repeat", "5", "--timeout", "2s"]
    target = ["--target", files / "f.%r", "--output", "r.h5"]
    with program.Run(POSIX.command(4, "--wait", "yield", *target, *words), tmp_path, program.SLOW_FILES) as run:

        def is_in_fifth_phase() -> bool:
            with contextlib.suppress(OSError, KeyError), h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
                return bool(file["io/phases/state"][:].tolist() == [1, 1, 1, 1, 0])
            return False

        program.await_that(is_in_fifth_phase)
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            pid = int(file["ranks/pid"][2])
        os.kill(pid, signal.SIGKILL)
        done = run.finish()
    assert done.status == 1, done.err
    with h5py.File(tmp_path / "r.h5") as file:
        summary = json.loads(text_of(file["summary"][()]))
        assert file["io/phases/state"][:].tolist() == [1, 1, 1, 1, 2]
        assert (file["io/ranks/num_objects"][:4, 2] > 0).all()
    assert summary["diagnoses"] == json.loads(leadline("diagnose", "r.h5", "--json").out)["slices"]
    (judged,) = summary["diagnoses"]
    assert judged["diagnosis"]["num_measured"] == 3 * 4
    assert "rank 2 was lost during the run, and is not judged" in judged["diagnosis"]["notes"]
    said = leadline("diagnose", "r.h5").out
    assert said
    assert said in done.out


@pytest.mark.parametrize(
    ("movement", "victim", "left_out", "blow"),
    [
        ("N-M-M", 1, [1], signal.SIGKILL),
        ("N-M-1", 1, [1], signal.SIGSTOP),
        ("N-M-M", 2, [2, 3], signal.SIGKILL),
        ("N-M-1", 2, [2, 3], signal.SIGKILL),
        ("N-M-M", 0, [0, 1], signal.SIGKILL),
        ("N-M-1", 0, [0, 1], signal.SIGSTOP),
    ],
)
def test_a_funnel_goes_on_without_a_rank(
    movement: str, victim: int, left_out: list[int], blow: signal.Signals, tmp_path: Path, files: Path
) -> None:
    """A lost sender is left out by its I/O rank; a lost I/O rank takes its senders with it."""
    words = ["--movement", movement, "--io-ranks", "2", "--object-size", "512", "--objects", "2000000",
             "--buffer-size", "64KiB", "--time-limit", "2s", "--repeat", "2", "--timeout", "2s", "--delete",
             "--output", "r.h5"]  # fmt: skip
    target = files / ("f.%r" if movement == "N-M-M" else "f")
    command = POSIX.command(4, "--wait", "yield", "--target", target, *words)
    with program.Run(command, tmp_path, program.SLOW_FILES, timeout=90) as run:
        program.await_that(lambda: any(file.stat().st_size > SIZE for file in files.glob("f*")))
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            assert file["io/io_ranks"][:].tolist() == [0, 2]
            pid = int(file["ranks/pid"][victim])
        os.kill(pid, blow)
        done = run.finish()
    assert done.status == 1, done.err
    assert done.complaints[0].endswith(f". The run goes on without rank {victim}"), done.complaints
    assert f"1 rank was lost during the run: rank {victim} on " in done.out
    assert ("The rank that did the I/O of rank 3 was lost" in done.out) == (victim == 2), done.out
    assert ("The rank that did the I/O of rank 1 was lost" in done.out) == (victim == 0), done.out
    assert status_of(tmp_path / "r.h5") == (True, "")
    with h5py.File(tmp_path / "r.h5") as file:
        phases = json.loads(text_of(file["summary"][()]))["phases"]
        objects = file["io/ranks/num_objects"][:]
    first, *others = phases
    assert not first["is_complete"]
    assert first["error"].startswith(f"rank {victim} on "), first
    assert all(one["is_complete"] and one["bytes_per_s"] > 0 and one["num_mismatches"] == 0 for one in others), others
    for phase in objects[1:]:
        assert (phase > 0).tolist() == [rank not in left_out for rank in range(4)]
    assert list(files.glob("f*")) == []


@pytest.mark.parametrize(
    ("movement", "victim", "left_out", "blow"),
    [
        ("N-M-M", 1, [1], signal.SIGKILL),
        ("N-M-1", 3, [3], signal.SIGKILL),
        ("N-M-1", 5, [5], signal.SIGSTOP),
        ("N-M-M", 0, [0, 1], signal.SIGKILL),
    ],
)
def test_io_ranks_that_meet_in_barriers_go_on_without_a_rank(
    movement: str, victim: int, left_out: list[int], blow: signal.Signals, tmp_path: Path, files: Path
) -> None:
    """Five of six I/O ranks have other partners in their barriers."""
    words = ["--movement", movement, "--io-ranks", "6", "--object-size", "512", "--objects", "2000000", "--barrier",
             "--buffer-size", "16KiB", "--time-limit", "2s", "--repeat", "2", "--timeout", "2s", "--delete",
             "--output", "r.h5"]  # fmt: skip
    target = files / ("f.%r" if movement == "N-M-M" else "f")
    command = POSIX.command(7, "--wait", "yield", "--target", target, *words)
    with program.Run(command, tmp_path, program.SLOW_FILES, timeout=90) as run:
        program.await_that(lambda: any(file.stat().st_size > SIZE for file in files.glob("f*")))
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            assert file["io/io_ranks"][:].tolist() == [0, 2, 3, 4, 5, 6]
            pid = int(file["ranks/pid"][victim])
        os.kill(pid, blow)
        done = run.finish()
    assert done.status == 1, done.err
    assert done.complaints[0].endswith(f". The run goes on without rank {victim}"), done.complaints
    assert status_of(tmp_path / "r.h5") == (True, "")
    with h5py.File(tmp_path / "r.h5") as file:
        first, *others = json.loads(text_of(file["summary"][()]))["phases"]
        objects, barrier_ns = file["io/ranks/num_objects"][:], file["io/ranks/barrier_ns"][:]
    assert not first["is_complete"]
    assert all(one["is_complete"] and one["num_mismatches"] == 0 for one in others), others
    for phase in objects[1:]:
        assert (phase > 0).tolist() == [rank not in left_out for rank in range(7)]
    assert (barrier_ns[2] > 0).tolist() == [rank not in {1, *left_out} for rank in range(7)], "of the second write"


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_rank_0_is_lost_while_the_run_is_set_up(blow: signal.Signals, tmp_path: Path) -> None:
    """It reads names of files out of a pipe in which there are none yet. Nobody else could take its part."""
    pipe = tmp_path / "targets"
    os.mkfifo(pipe)
    held_open = os.open(pipe, os.O_RDWR)  # so that it has no end
    words = ["--targets", pipe, "--objects", "1", "--wait", "yield", "--timeout", "2s", "--output", "r.h5"]
    with program.Run(POSIX.command(3, *words), tmp_path) as run:
        program.await_that(lambda: readers_of(pipe, run) != [])
        os.kill(*readers_of(pipe, run), blow)
        done = run.finish()
    os.close(held_open)
    assert done.status == 4, done.err
    how = "died" if blow == signal.SIGKILL else "has been silent for 2 s"
    assert done.complaints[0].startswith(f"leadline: rank 0 on {os.uname().nodename} {how} ("), done.complaints
    assert not (tmp_path / "r.h5").exists()


def readers_of(pipe: Path, run: program.Run) -> list[int]:
    """The processes of the run that have it open."""
    with contextlib.suppress(OSError):  # one may end
        return [
            pid for pid in run.processes() if any(one.resolve() == pipe for one in Path(f"/proc/{pid}/fd").iterdir())
        ]
    return []


@pytest.mark.parametrize("result", ["r.h5", "r.json"])
def test_a_signal_in_the_middle_of_a_phase(result: str, leadline: Leadline, tmp_path: Path, files: Path) -> None:
    """What was moved until then is kept and told, and nothing takes it for a whole phase."""
    words = ("--object-size", "4KiB", "--objects", "1000000", "--time-limit", "50", "--output", result)
    command = small(POSIX, files, *words)
    with program.Run(command, tmp_path) as run:
        program.await_that(lambda: [file.stat().st_size > SIZE for file in files.glob("f.*")] == [True, True])
        run.send(signal.SIGTERM)
        done = run.finish()
    assert done.status == 4
    written = [(files / f"f.{rank}").stat().st_size for rank in range(2)]
    if result == "r.json":
        (phase,) = document(tmp_path)["phases"]
    else:
        with h5py.File(tmp_path / result) as file:
            assert list(file["io/phases/state"]) == [2, 0]
            phase = json.loads(text_of(file["io/phases/summary"][0]))
            assert list(file["io/ranks/bytes"][0]) == [one["bytes"] for one in phase["at_interruption"]]
            assert list(file["io/ranks/end_ns"][0]) == [one["time_ns"] for one in phase["at_interruption"]]
        assert "interrupted: the run was told to stop" in leadline("info", result).out
        report = leadline("report", result)
        assert (report.status, report.err) == (0, "")
    assert phase["is_interrupted"]
    assert not phase["is_complete"]
    assert phase["error"] == "interrupted: " + done.complaint.removeprefix("leadline: ")
    assert phase["bytes_per_s"] is None
    for rank, one in enumerate(phase["at_interruption"]):
        assert one["rank"] == rank
        assert SIZE <= one["bytes"] <= written[rank]
        assert 0 < one["time_ns"] < 50e9
    assert phase["bytes"] == sum(one["bytes"] for one in phase["at_interruption"])
    assert done.out.startswith("INCOMPLETE: the run was told to stop")
    assert "write 0 was interrupted: what 2 of 2 ranks had moved until then; no rate\n" in done.out
    assert not re.search(r"^write: ", done.out, re.MULTILINE)


@pytest.mark.parametrize("result", ["r.h5", "r.json"])
def test_a_signal_in_the_second_phase(result: str, tmp_path: Path, files: Path) -> None:
    words = ("--objects", "2", "--repeat", "2", "--sleep", "9", "--output", result)
    with program.Run(small(POSIX, files, *words), tmp_path) as run:
        run.await_err("leep")
        run.send(signal.SIGINT)
        done = run.finish()
    assert done.status == 4
    assert "told to stop" in done.complaint
    if result == "r.json":
        assert [rate is not None for rate in rates(tmp_path)] == [True]
        assert document(tmp_path)["incomplete_reason"] == done.complaint.removeprefix("leadline: ")
        return
    assert status_of(tmp_path / result) == (
        False,
        done.complaint.removeprefix("leadline: "),
    )
    with h5py.File(tmp_path / result) as file:
        assert list(file["io/phases/state"]) == [1, 0, 0, 0]
        assert (file["io/ranks/bytes"][0] == 2 * SIZE).all()
