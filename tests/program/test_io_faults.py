# SPDX-License-Identifier: Apache-2.0
"""Full disks, short writes, errors, damaged files, lost ranks: the parallel file test says what happened, ends in time,
keeps what it measured, and reports nothing as done that was not."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import hanging_files as hanging
import program
import pytest
from result import status_of, text_of

pytestmark = pytest.mark.slow

SIZE = 1 << 16


@dataclass(frozen=True)
class Stack:
    """What does the I/O, and how ranks are started for it."""

    name: str
    start: tuple[str, ...]
    words: tuple[str, ...]
    passed_on: tuple[str, ...] = field(default=())  # how its launcher hands a variable on: words before NAME VALUE

    def command(self, num_ranks: int, *words: str | Path) -> list[str | Path]:
        if not self.start:
            return [program.PROGRAM, "io", "--local", str(num_ranks), *self.words, *words]
        if shutil.which(self.start[0]) is None:
            pytest.skip(f"{self.start[0]} is not installed")
        return [*self.start, "-n", str(num_ranks), program.PROGRAM, "io", *self.words, *words]


POSIX = Stack("posix", (), ("--backend", "posix"))
OPEN_MPI = ("mpirun.openmpi", "--oversubscribe")
OMPIO = Stack("ompio", OPEN_MPI, ("--backend", "mpi-io:ompio"))
ROMIO = Stack("romio", OPEN_MPI, ("--backend", "mpi-io:romio"))
MPICH = Stack("mpich", ("mpiexec.hydra",), ("--backend", "mpi-io"))
STACKS = (POSIX, OMPIO, ROMIO, MPICH)


@pytest.fixture(params=STACKS, ids=lambda stack: stack.name)
def stack(request: pytest.FixtureRequest) -> Stack:
    return request.param


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


def small(stack: Stack, files: Path, *words: str | Path, ranks: int = 2) -> list[str | Path]:
    """Eight objects of 64 KiB a rank."""
    usual = {"--objects": "8", "--object-size": "64KiB", "--target": files / "f.%r", "--output": "r.json"}
    added = [word for name, value in usual.items() if name not in words for word in (name, value)]
    return stack.command(ranks, "--wait", "yield", *added, *words)


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


def with_fault(library: Path, kind: str, call: int) -> dict[str, str]:
    variables = {"FAULTY_FILE": "/files/f", "FAULTY_KIND": kind, "FAULTY_CALL": str(call)}
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


def test_an_error_while_reading(faulty: Path, tmp_path: Path, files: Path) -> None:
    done = program.complete(small(POSIX, files), tmp_path, env=with_fault(faulty, "eio-read", 4))
    assert done.status == 4
    assert "Input/output error" in done.complaint
    write, read = rates(tmp_path)
    assert write is not None, "what was measured before stays"
    assert read is None


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
    with program.Run(long(POSIX, files, "--movement", movement, *more), tmp_path, timeout=90) as run:
        program.await_that(lambda: any(file.stat().st_size > SIZE for file in files.glob("f.*")))
        with h5py.File(tmp_path / "r.h5", "r", locking=False) as file:
            victim = int(file["ranks/pid"][1])
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
        assert text_of(file["io/phases/summary"][0]) == "" or "null" in text_of(file["io/phases/summary"][0])


# File systems that do not answer


@pytest.fixture
def frozen(files: Path) -> Iterator[hanging.HangingFiles]:
    """The folder of the files, whose server stops answering when it is told to."""
    try:
        mounted = hanging.HangingFiles(files)
    except hanging.UnavailableError as why:
        pytest.skip(str(why))
    with mounted:
        yield mounted


@dataclass(frozen=True)
class End:
    """How a run ended whose processes may still be there."""

    status: int
    err: str

    @property
    def lines(self) -> list[str]:
        return [line.removeprefix("leadline: ") for line in self.err.splitlines() if line.startswith("leadline: ")]

    @property
    def reason(self) -> str:
        """Why the run failed; without what was told while it lasted, and which processes are left."""
        reasons = [line for line in self.lines if "; the run ends after" not in line and "is still there" not in line]
        assert len(reasons) == 1, self.err
        return reasons[0]


def until_it_gives_up(command: list[str | Path], tmp_path: Path) -> End:
    """The pipes stay open as long as a process is inside the kernel, so what it prints goes to a file."""
    with (tmp_path / "err").open("w") as err, program.Run(command, tmp_path, stdout=err, stderr=err) as run:
        return End(run.await_status(), (tmp_path / "err").read_text(encoding="utf-8"))


HANGS = {
    "looking": (hanging.LOOKUP, (), "looking at"),
    "creating": (hanging.CREATE, (), "opening"),
    "writing": (hanging.WRITE, (), r"writing 64 KiB at \d+ of"),
    "non-blocking": (
        hanging.WRITE,
        ("--calls", "non-blocking"),
        r"waiting for a write of 64 KiB at \d+ of",
    ),
    "syncing": (hanging.FSYNC, (), "syncing"),
    "closing": (hanging.FLUSH, (), "closing"),
    "reading": (hanging.READ, (), r"reading 64 KiB at \d+ of"),
    "deleting": (hanging.UNLINK, ("--delete",), "deleting"),
}


@pytest.mark.parametrize("call", HANGS)
def test_a_call_that_never_returns(call: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    operation, words, doing = HANGS[call]
    frozen.freeze(operation, "f.1")
    end = until_it_gives_up(small(POSIX, files, "--timeout", "2s", "--output", "r.h5", *words), tmp_path)
    assert end.status == 4, end.err
    place = re.escape(str(files / "f.1"))
    assert re.match(
        rf"rank 1 on \S+ has waited for a file system for .* {doing} {place} since [\d:]{{8}} UTC \(",
        end.reason,
    )
    assert frozen.num_frozen > 0
    assert any(re.match(r"rank 1 \(process \d+\) was killed and is still there", line) for line in end.lines), end.err
    if call == "looking":
        return  # there is no result file yet
    complete, reason = status_of(tmp_path / "r.h5")
    assert not complete
    assert reason == end.reason
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["io/phases/state"][0] == (1 if call in ("reading", "deleting") else 0), "what was measured is kept"


def test_a_rank_that_writes_for_others_never_returns(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    """Those that wait for it notice no later than it does, and are not named."""
    frozen.freeze(hanging.WRITE, "f.", after=1)
    words = ("--movement", "N-M-M", "--io-ranks", "1", "--buffer-size", "64KiB", "--timeout", "2s", "--output", "r.h5")
    end = until_it_gives_up(small(POSIX, files, *words, ranks=3), tmp_path)
    told = re.match(
        r"rank 0 on \S+ has waited for a file system for ([\d.]+) s in write .*, writing 64 KiB", end.reason
    )
    assert told, end.err
    assert float(told[1]) >= 2, "since it began, not until somebody first heard of it"


def test_a_stall_is_told_while_it_lasts(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    """Rank 0 waits for rank 1, and its file system is the one that does not answer."""
    frozen.freeze(hanging.WRITE, "f.1", after=3)
    with program.Run(small(POSIX, files, "--timeout", "20s"), tmp_path) as run:
        told = run.await_err(
            r"leadline: rank 1 on \S+ has waited for a file system for .*; the run ends after 20 s without progress\n"
        )
        assert "write phase 1 of 2, object 3 of 8, writing 64 KiB at 196608 of" in told[0]
        frozen.answer()
        done = run.finish()
    assert done.status == 0, done.err
    assert re.search(r"leadline: rank 1 on \S+ goes on\n", done.err)


def test_a_signal_while_a_call_never_returns(frozen: hanging.HangingFiles, tmp_path: Path, files: Path) -> None:
    frozen.freeze(hanging.WRITE, "f.", after=3)
    with (tmp_path / "err").open("w") as err:
        command = small(POSIX, files, "--output", "r.h5", "--timeout", "600s")
        with program.Run(command, tmp_path, stdout=err, stderr=err) as run:
            program.await_that(lambda: frozen.num_frozen > 0)
            run.send(signal.SIGINT)
            assert run.await_status() == 4
            end = End(4, (tmp_path / "err").read_text(encoding="utf-8"))
            frozen.answer()
    assert re.search(
        r"told to stop in write phase 1 of 2, .* \(rank \d on \S+ received SIGINT\)",
        end.reason,
    )
    assert status_of(tmp_path / "r.h5") == (False, end.reason)


@pytest.mark.parametrize("benchmark", ["io", "link"])
def test_a_result_file_that_is_never_written(
    benchmark: str, frozen: hanging.HangingFiles, tmp_path: Path, files: Path
) -> None:
    """The run ends though its file cannot be marked."""
    frozen.freeze(hanging.WRITE, "r.h5")
    command: list[str | Path] = [
        program.PROGRAM,
        benchmark,
        "--local",
        "2",
        "--timeout",
        "2s",
        "--wait",
        "yield",
    ]
    command += ["--output", files / "r.h5"]
    words = {
        "io": [
            "--target",
            tmp_path / "f.%r",
            "--object-size",
            "64KiB",
            "--time-limit",
            "100",
            "--objects",
            "1",
        ]
    }
    end = until_it_gives_up(command + list(words.get(benchmark, ["--message-size", "1KiB"])), tmp_path)
    assert end.status == 4, end.err
    place = re.escape(str(files / "r.h5"))
    assert re.match(
        rf"rank \d on \S+ has waited for a file system for .*writing \S+ \S+ at \d+ of {place} since",
        end.reason,
    )


@pytest.mark.parametrize("result", ["r.h5", "r.json"])
def test_a_signal_in_the_second_phase(result: str, tmp_path: Path, files: Path) -> None:
    words = ("--objects", "2", "--repeat", "2", "--sleep", "1", "--output", result)
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
